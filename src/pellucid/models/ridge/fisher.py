r"""Kernel Fisher discriminant analysis by optimal scoring."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.linalg import eigh
from scipy.special import softmax
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.effects import Summary
from pellucid.models.ridge.classifier import LabelledRidge


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
    kernel : str, Kernel, callable or scikit-learn Gaussian-process kernel, default="rbf"
        As in :class:`KernelRidge`.
    alpha : float or {"loo", "gcv", "ml"}, default="loo"
        Ridge strength; larger is smoother.
    alphas : array-like, optional
        The values among which a named criterion chooses.
    n_components : int, optional
        Number of variates; by default one less than the number of classes.
    solver : {"auto", "primal", "cholesky", "spectral"}, default="auto"
        As in :class:`KernelRidge`.
    indefinite : {"raise", "clip"}, default="raise"
        As in :class:`KernelRidge`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
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
    kernel_, alpha_, effective_dof_, solver_, solver_reason_, X_fit_
        As in :class:`KernelRidge`.

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
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.alphas = alphas
        self.n_components = n_components
        self.solver = solver
        self.indefinite = indefinite

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the discriminant.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Training rows, as in :class:`KernelRidge`.
        y : array-like of shape (n,)
            Classes.
        sample_weight : array-like of shape (n,), optional
            How often each row counts.

        Returns
        -------
        self : KernelFisherDiscriminant
        """
        rows, labels, weight = self._labels(X, y, sample_weight)
        n_classes = len(self.classes_)
        most = n_classes - 1
        if self.n_components is not None and not 1 <= self.n_components <= most:
            raise ValueError(
                f"n_components must be between 1 and {most} for {n_classes} classes, got {self.n_components}."
            )
        Y = self._indicators(labels)
        self._single = False
        fit = self._fit_targets(rows, Y, weight)
        loo = self._leave_one_out(fit, rows, Y, weight)
        kept = weight > 0
        s, member = weight[kept], Y[kept]
        counts = s @ member
        self.priors_ = counts / counts.sum()
        held_out = member - fit.held_out * self._unit
        self._discriminate(held_out, labels[kept], s, self.n_components or most)
        wrong = np.argmax(self._densities(loo.predictions @ self.scalings_), axis=1) != labels
        self.loo_ = type(loo)(
            loo.predictions,
            loo.residuals,
            loo.leverages,
            loo.mse,
            loo.path,
            float(weight @ wrong / weight.sum()),
        )
        self.alpha_ = float(self._alpha[0])
        self.effective_dof_ = float(self._dof[0])
        self._n_features_out = self.scalings_.shape[1]
        return self

    def _problem(self, X: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows, labels, weight = self._labels(X, y, sample_weight)
        return rows, self._indicators(labels), weight

    def _indicators(self, labels: np.ndarray) -> np.ndarray:
        return (labels[:, None] == np.arange(len(self.classes_))).astype(float)

    def _discriminate(self, F: np.ndarray, labels: np.ndarray, s: np.ndarray, n_components: int) -> None:
        r"""Solve :math:`B\theta = \lambda (B + W)\theta` for held-out scores ``F`` of shape (n, classes)."""
        n_classes = F.shape[1]
        # the scores of a row sum to one: work in the complement of (1, ..., 1)
        basis = np.linalg.svd(np.ones((1, n_classes)))[2][1:].T
        F = F @ basis
        member = self._indicators(labels)
        means = (member * s[:, None]).T @ F / (s @ member)[:, None]
        center = self.priors_ @ means
        within = F - means[labels]
        W = (within * s[:, None]).T @ within / s.sum()
        W += (1e-4 * np.trace(W) / len(W) + np.finfo(float).tiny) * np.eye(len(W))
        B = ((means - center) * self.priors_[:, None]).T @ (means - center)
        ratio, theta = eigh(B, W)  # theta has unit variance within classes
        order = np.argsort(ratio)[::-1][:n_components]
        ratio = np.maximum(ratio[order], 0.0)
        self.explained_ = ratio / (1.0 + ratio)
        scalings = basis @ theta[:, order]
        # a sign that does not depend on the solver: the class with the largest score has a positive one
        sign = np.sign(scalings[np.argmax(np.abs(scalings), axis=0), np.arange(scalings.shape[1])])
        self.scalings_ = scalings * sign
        self.means_ = means @ (theta[:, order] * sign)

    def _densities(self, variates: np.ndarray) -> np.ndarray:
        """Log densities of the classes, up to a constant per row."""
        return variates @ self.means_.T - 0.5 * np.sum(self.means_**2, axis=1) + np.log(self.priors_)

    def transform(self, X: Any) -> np.ndarray:
        """Discriminant variates.

        Parameters
        ----------
        X : array-like of shape (m, n_features)

        Returns
        -------
        variates : ndarray of shape (m, n_components)
        """
        rows = self._check_new_rows(X)
        return self._decision(rows) @ self.scalings_

    def decision_function(self, X: Any) -> np.ndarray:
        """Log densities of the classes up to a constant, or for two classes their difference.

        Parameters
        ----------
        X : array-like of shape (m, n_features)

        Returns
        -------
        scores : ndarray of shape (m,) or (m, n_classes)
        """
        scores = self._densities(self.transform(X))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Predicted classes.

        Parameters
        ----------
        X : array-like of shape (m, n_features)

        Returns
        -------
        classes : ndarray of shape (m,)
        """
        winner = np.argmax(self._densities(self.transform(X)), axis=1)
        return self.classes_[winner]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities.

        Parameters
        ----------
        X : array-like of shape (m, n_features)

        Returns
        -------
        probabilities : ndarray of shape (m, n_classes)
        """
        return softmax(self._densities(self.transform(X)), axis=1)

    def summary(self) -> Summary:
        """What was fitted, on half a screen; print it."""
        check_is_fitted(self)
        return self._summary(
            [
                ("classes", ", ".join(str(c) for c in self.classes_)),
                ("variance between classes", self.explained_),
                ("leave-one-out error rate", self.loo_.error_rate),
            ]
        )
