r"""Kernel Fisher discriminant analysis by optimal scoring."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from pellucid._docs import inherit_docs, store_parameters
from pellucid.data.by_blocks import in_blocks, read_as_table
from pellucid.data.labels import winner
from pellucid.effects import Summary
from pellucid.models.ridge.labelled import LabelledRidge
from pellucid.solvers.discriminant import discriminant


@inherit_docs
class KernelFisherDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, LabelledRidge):
    r"""Fisher's discriminant directions in a kernel's space, for any number of classes.

    Kernel ridge is fitted to one indicator column per class. Its scores ``f(x)`` span the space of Fisher's
    discriminants; in that space the directions that separate the classes best solve
    :math:`B\theta = \lambda (B + W)\theta`, with the covariance ``B`` between and ``W`` within classes, and
    the discriminant variates are :math:`\theta^T f(x)`. Rows are classified by Gaussian densities with common
    covariance in the space of the variates.

    Both covariances are those of *leave-one-out* scores, so a flexible kernel does not fool itself with its
    training data. With a linear kernel and alpha towards zero the variates approach those of linear
    discriminant analysis as rows are added, and for two classes they are the same.

    Parameters
    ----------
    {kernel, alpha, alphas}
    n_components : int, optional
        Number of variates; by default one less than the number of classes.
    {solver, indefinite, weights}

    Attributes
    ----------
    {classes_}
    scalings_ : ndarray of shape (n_classes, n_components)
        Coefficients of the class scores in each variate; leave-one-out variates have unit variance within
        classes.
    explained_ : ndarray of shape (n_components,)
        Share λ of each variate's leave-one-out variance that lies between classes, in decreasing order.
    means_ : ndarray of shape (n_classes, n_components)
        Means of the leave-one-out variates of each class.
    priors_ : ndarray of shape (n_classes,)
        Shares of the classes.
    loo_ : LeaveOneOut
        Leave-one-out of the indicator columns, and ``error_rate`` of the classification with scores and means
        held fixed.
    {kernel_, alpha_, effective_dof_, solver_, solver_report_, X_fit_, n_features_in_, feature_names_in_}

    References
    ----------
    Hastie, Buja and Tibshirani (1995), Penalized discriminant analysis, Annals of Statistics 23. Mika et al.
    (1999), Fisher discriminant analysis with kernels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import KernelFisherDiscriminant
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelFisherDiscriminant().fit(X, y)
    >>> model.transform(X).shape
    (150, 2)
    """

    fit_intercept = True  # indicator columns always need one; not a parameter

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        alpha: Any = "loo",
        alphas: Any = None,
        n_components: int | None = None,
        solver: str = "auto",
        indefinite: str = "raise",
        weights: str = "auto",
    ) -> None:
        store_parameters(self, locals())

    @read_as_table
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the discriminant; parameters as in :meth:`KernelRidgeClassifier.fit`."""
        rows, labels, weight = self._labels(X, y, sample_weight)
        n_classes = len(self.classes_)
        most = n_classes - 1
        if self.n_components is not None and not 1 <= self.n_components <= most:
            raise ValueError(
                f"n_components must be between 1 and {most} for {n_classes} classes, got {self.n_components}."
            )
        Y = self._codes(labels, weight)
        self._single = False
        fit = self._fit_targets(rows, Y, weight)
        loo = self._leave_one_out(fit, rows, Y, weight)
        kept = weight > 0
        self.priors_ = weight[kept] @ Y[kept] / weight.sum()
        held_out = Y[kept] - fit.held_out * self._unit
        found = discriminant(held_out, labels[kept], weight[kept], self.n_components or most)
        self.scalings_, self.explained_, self.means_ = found
        wrong = winner(self._densities(loo.predictions @ self.scalings_)) != labels
        self.loo_ = replace(loo, error_rate=float(weight @ wrong / weight.sum()))
        self._n_features_out = self.scalings_.shape[1]
        return self

    @property
    def _rank(self) -> int | None:
        return None  # n_components are variates here

    def _codes(self, labels: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Indicators of the classes."""
        return self._members(labels).astype(float)

    def _densities(self, variates: np.ndarray) -> np.ndarray:
        """Log densities of the classes, up to a constant per row."""
        return variates @ self.means_.T - 0.5 * np.sum(self.means_**2, axis=1) + np.log(self.priors_)

    @in_blocks
    def transform(self, X: Any) -> np.ndarray:
        """Discriminant variates.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New rows.

        Returns
        -------
        variates : ndarray of shape (m, n_components)
        """
        return self._decision(self._check_new_rows(X)) @ self.scalings_

    @in_blocks
    def decision_function(self, X: Any) -> np.ndarray:
        """Log densities of the classes up to a constant, of shape (m, n_classes); the difference of two."""
        scores = self._densities(self.transform(X))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    @in_blocks
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, of shape (m, n_classes)."""
        return softmax(self._densities(self.transform(X)), axis=1)

    def summary(self) -> Summary:
        """What was fitted, on half a screen; print it."""
        return self._summary(
            [
                *self._class_facts(),
                ("variance between classes", self.explained_),
                ("leave-one-out error rate", self.loo_.error_rate),
            ]
        )
