"""Sparse additive models (SpAM): smooth main effects, most of them zero."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from pellucid._validation import check_targets
from pellucid.linalg import calm_threads
from pellucid.losses import Loss, as_loss
from pellucid.models.sparse_additive_base import Rows, SparseAdditiveBase
from pellucid.models.sparse_additive_basis import Smooth
from pellucid.models.sparse_additive_design import AdditiveDesign, Moments, group_slices, trim
from pellucid.models.sparse_additive_engine import Fold, LossWalker, SquaredWalker, Walker


def _has_probabilities(model: Any) -> bool:
    return as_loss(model.loss).name == "logistic"


class SparseAdditiveRegressor(RegressorMixin, SparseAdditiveBase):
    r"""Sparse additive regression (SpAM): a sum of smooth functions of single features, most of them zero.

    Minimises :math:`\frac{1}{2S}\sum_i s_i\big(y_i - b - \sum_j f_j(x_{ij})\big)^2 + \alpha\sum_j\|f_j\|_n`
    with :math:`S = \sum_i s_i` and :math:`\|f\|_n^2 = \frac1S\sum_i s_i f(x_{ij})^2`, the intercept ``b``
    unpenalised. Each :math:`f_j` is a combination of the leading eigenfunctions of a spline kernel under
    the distribution of its feature: centred, orthonormal over the training rows, straight between knots at
    quantiles and constant beyond the outer ones, so that heavy tails do no harm. A categorical feature of a
    data frame (text or category) has a function for its levels.

    Because the functions are orthonormal, the penalty is that of a group lasso. It is solved on the Gram
    matrix, which is accumulated over blocks of rows: memory does not grow with their number, and folds cost
    no further passes.

    Parameters
    ----------
    alpha : float or "cv", default="cv"
        Strength of the penalty, on the scale of the target; larger leaves fewer features. ``"cv"`` takes
        the value of least held-out error over folds.
    n_basis : int or "cv", default="cv"
        Number of functions per numeric feature; more follow finer detail. ``"cv"`` chooses among 4, 8 and
        16 together with alpha.
    alphas : array-like, optional
        The values to choose among; by default 40 over three decades, down from the one that leaves no
        feature.
    n_knots : int, default=64
        Most knots per numeric feature.
    cv : int, splitter or iterable of (train, test), default=5
        Folds.

    Attributes
    ----------
    alpha_, n_basis_ : float, int
        What was used.
    intercept_ : float
        The intercept.
    terms_, term_names_ : list
        The features in the model, as tuples of one column number, and their names.
    selected_ : ndarray of bool, shape (n_features,)
        Which features are in the model.
    importances_ : Importances
        Root mean square of the effect of each term over the training rows.
    effects_ : dict of str to Effect
        The fitted functions of the terms at their knots.
    path_ : SparsePath
        Features in the model at each strength, and the held-out error.
    categorical_ : ndarray of bool, shape (n_features,)
        Which columns were taken as categories.
    optimality_ : float
        Largest violation of the optimality conditions, relative to the strength that leaves no feature.

    References
    ----------
    Ravikumar, Lafferty, Liu and Wasserman (2009), Sparse additive models, JRSS B 71.

    Examples
    --------
    >>> from pellucid import SparseAdditiveRegressor
    >>> from pellucid.datasets import make_synthetic
    >>> X, y = make_synthetic(1, n_samples=500, random_state=0, return_X_y=True)
    >>> model = SparseAdditiveRegressor().fit(X, y)
    >>> sorted(model.importances_.top(4))
    ['x0', 'x1', 'x2', 'x3']
    >>> model.score(X, y) > 0.85
    True
    """

    def __init__(
        self,
        alpha: Any = "cv",
        *,
        n_basis: Any = "cv",
        alphas: Any = None,
        n_knots: int = 64,
        cv: Any = 5,
    ) -> None:
        self.alpha = alpha
        self.n_basis = n_basis
        self.alphas = alphas
        self.n_knots = n_knots
        self.cv = cv

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Training rows.
        y : array-like of shape (n,)
            Targets.
        sample_weight : array-like of shape (n,), optional
            How often each row counts.

        Returns
        -------
        self : SparseAdditiveRegressor
        """
        columns, weight = self._enter(X, sample_weight)
        target = check_targets(y, columns[0])
        if target.ndim != 1:
            target = column_or_1d(target, warn=True)
        kept = weight > 0
        folds = self._folds(target, kept)
        columns, s = [column[kept] for column in columns], weight[kept]
        centre = float(np.average(target[kept], weights=s))
        with calm_threads(s):
            smooths, sizes = self._smooths(columns, s)
            # sums of squares about the mean: nothing is lost to a large mean
            self._fit_moments(smooths, sizes, columns, target[kept] - centre, s, folds)
        self.intercept_ = float(self._intercept[0]) + centre
        self._intercept = np.array([self.intercept_])
        return self

    def _fit_moments(
        self,
        smooths: list[Smooth],
        sizes: list[int],
        columns: list[np.ndarray],
        y: np.ndarray,
        s: np.ndarray,
        folds: list[Rows],
    ) -> None:
        def moments(rows: np.ndarray) -> Moments:
            return Moments.of(smooths, [column[rows] for column in columns], y[rows], s[rows])

        total = Moments.of(smooths, columns, y, s)
        parts = []
        for train, test in folds:
            held = moments(test)
            rest = len(train) + len(test) == len(y) and len(np.union1d(train, test)) == len(y)
            parts.append((total.without(held) if rest else moments(train), held))

        def walkers(size: int) -> tuple[list[Walker], list[list[Fold]]]:
            keep = _columns_kept(smooths, size)
            groups = group_slices(trim(smooths, size))
            on_folds = [
                [Fold(SquaredWalker(train.columns(keep), groups), held.columns(keep).error, held.total)]
                for train, held in parts
            ]
            return [SquaredWalker(total.columns(keep), groups)], on_folds

        self._fit_walkers(smooths, sizes, walkers, exact=True)

    def predict(self, X: Any) -> np.ndarray:
        """Predicted targets.

        Parameters
        ----------
        X : array-like or data frame of shape (m, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (m,)
        """
        return self._scores(X)[:, 0]


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
        mean = self.loss_.mean(self._scores(X))
        if mean.shape[1] == 1:
            return np.column_stack([1.0 - mean[:, 0], mean[:, 0]])
        return mean / mean.sum(axis=1, keepdims=True)


def _columns_kept(smooths: list[Smooth], size: int) -> np.ndarray:
    """Positions, among all columns, of those that a smaller number of functions keeps."""
    pieces = [
        np.arange(group.start, group.stop if smooth.levels else min(group.stop, group.start + size))
        for smooth, group in zip(smooths, group_slices(smooths), strict=True)
    ]
    return np.concatenate(pieces)


def _held_out(design: AdditiveDesign, y: np.ndarray, s: np.ndarray, loss: Loss) -> Any:
    def mean_loss(beta: np.ndarray, b: float) -> float:
        return float(s @ loss.value(y, design.apply(beta) + b)) / float(s.sum())

    return mean_loss
