"""Sparse additive classification: smooth main effects on log-odds or margins, most of them zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from pellucid.linalg import calm_threads
from pellucid.losses import Loss, as_loss
from pellucid.models.sparse_additive.base import Rows, SparseAdditiveBase
from pellucid.models.sparse_additive.basis import Smooth
from pellucid.models.sparse_additive.design import AdditiveDesign
from pellucid.models.sparse_additive.path import Fold, LossWalker, Walker


def _has_probabilities(model: Any) -> bool:
    return as_loss(model.loss).name == "logistic"


class SparseAdditiveClassifier(ClassifierMixin, SparseAdditiveBase):
    r"""Sparse additive classification: log-odds or margins as a sum of smooth functions, most of them zero.

    Minimises :math:`\frac1S\sum_i s_i\,\ell\big(y_i, b + \sum_j f_j(x_{ij})\big) + \alpha\sum_j\|f_j\|_n`,
    with functions and norms as in :class:`SparseAdditiveRegressor`. With the squared hinge loss it is a
    sparse additive machine.

    Parameters
    ----------
    alpha, n_basis, alphas, n_knots, cv
        As in :class:`SparseAdditiveRegressor`; folds are stratified, and held-out loss is that of the fit.
    loss : {"logistic", "squared_hinge"}, default="logistic"
        Logistic gives probabilities.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted. More than two are fitted one against the rest, with one alpha.
    intercept_ : float, or ndarray of shape (n_classes,) for more than two classes
        The intercept.
    alpha_, n_basis_, terms_, term_names_, selected_, importances_, effects_, path_, categorical_, optimality_
        As in :class:`SparseAdditiveRegressor`; over several classes importances are root mean squares, and
        effects have one column per class.

    References
    ----------
    Ravikumar et al. (2009), section 6; Zhao and Liu (2012), Sparse additive machine, AISTATS.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from pellucid import SparseAdditiveClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SparseAdditiveClassifier(alpha=0.01, n_basis=4).fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.94
    True
    """

    def __init__(
        self,
        alpha: Any = "cv",
        *,
        loss: Any = "logistic",
        n_basis: Any = "cv",
        alphas: Any = None,
        n_knots: int = 64,
        cv: Any = 5,
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.n_basis = n_basis
        self.alphas = alphas
        self.n_knots = n_knots
        self.cv = cv

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Training rows.
        y : array-like of shape (n,)
            Classes.
        sample_weight : array-like of shape (n,), optional
            How often each row counts.

        Returns
        -------
        self : SparseAdditiveClassifier
        """
        self.loss_ = as_loss(self.loss)
        if self.loss_.name not in ("logistic", "squared_hinge"):
            raise ValueError(f"loss must be 'logistic' or 'squared_hinge', got {self.loss_.name!r}.")
        columns, weight = self._enter(X, sample_weight)
        labels = self._labels(y, columns[0], weight)
        kept = weight > 0
        folds = self._folds(labels, kept)
        columns, labels, s = [column[kept] for column in columns], labels[kept], weight[kept]
        classes = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        targets = [(labels == c).astype(float) for c in classes]
        with calm_threads(s):
            smooths, sizes = self._smooths(columns, s)
            self._fit_rows(smooths, sizes, AdditiveDesign.of(smooths, columns), targets, s, folds)
        self.intercept_ = float(self._intercept[0]) if len(targets) == 1 else self._intercept
        return self

    def _labels(self, y: Any, rows: np.ndarray, weight: np.ndarray) -> np.ndarray:
        if y is None:
            raise ValueError("This classifier requires y to be passed, but the target y is None.")
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        check_consistent_length(rows, y)
        self.classes_ = np.unique(y[weight > 0])
        if len(self.classes_) < 2:
            raise ValueError(
                f"Found only one class ({self.classes_[0]!r}) with positive weight; a classifier needs at "
                f"least 2 classes."
            )
        return np.searchsorted(self.classes_, y)

    def _fit_rows(
        self,
        smooths: list[Smooth],
        sizes: list[int],
        design: AdditiveDesign,
        targets: list[np.ndarray],
        s: np.ndarray,
        folds: list[Rows],
    ) -> None:
        loss = self.loss_

        def walkers(size: int) -> tuple[list[Walker], list[list[Fold]]]:
            trimmed = design.trimmed(size)
            on_folds = []
            for train, test in folds:
                part, held = trimmed.rows(train), trimmed.rows(test)
                on_folds.append(
                    [
                        Fold(
                            LossWalker(part, y[train], s[train], loss),
                            _held_out(held, y[test], s[test], loss),
                            float(s[test].sum()),
                        )
                        for y in targets
                    ]
                )
            return [LossWalker(trimmed, y, s, loss) for y in targets], on_folds

        self._fit_walkers(smooths, sizes, walkers, exact=False)

    def _outputs(self) -> tuple[str, ...]:
        return () if len(self.classes_) == 2 else tuple(str(c) for c in self.classes_)

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores: one per class, or for two classes one that is positive for the second.

        Parameters
        ----------
        X : array-like or data frame of shape (m, n_features)

        Returns
        -------
        ndarray of shape (m,) or (m, n_classes)
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Predicted classes.

        Parameters
        ----------
        X : array-like or data frame of shape (m, n_features)

        Returns
        -------
        ndarray of shape (m,)
        """
        scores = self.decision_function(X)
        winner = (scores > 0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)
        return self.classes_[winner]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities; logistic loss only. More than two classes share out what each claims alone.

        Parameters
        ----------
        X : array-like or data frame of shape (m, n_features)

        Returns
        -------
        ndarray of shape (m, n_classes)
        """
        scores = self._scores(X)
        mean = self.loss_.mean(scores)
        if mean.shape[1] == 1:
            return np.column_stack([1.0 - mean[:, 0], mean[:, 0]])
        return mean / mean.sum(axis=1, keepdims=True)


def _held_out(
    design: AdditiveDesign, y: np.ndarray, s: np.ndarray, loss: Loss
) -> Callable[[np.ndarray, float], float]:
    def mean_loss(beta: np.ndarray, b: float) -> float:
        return float(s @ loss.value(y, design.apply(beta) + b)) / float(s.sum())

    return mean_loss
