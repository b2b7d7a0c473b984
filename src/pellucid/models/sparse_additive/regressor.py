"""Sparse additive regression (SpAM): smooth main effects, most of them zero."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d

from pellucid.data.targets import check_targets
from pellucid.linalg import calm_threads
from pellucid.models.sparse_additive.base import Rows, SparseAdditiveBase
from pellucid.models.sparse_additive.basis import Smooth
from pellucid.models.sparse_additive.design import Moments, group_slices, trim
from pellucid.models.sparse_additive.path import Fold, SquaredWalker, Walker


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
        The values to choose among; by default 25 over three decades, down from the one that leaves no
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


def _columns_kept(smooths: list[Smooth], size: int) -> np.ndarray:
    """Positions, among all columns, of those that a smaller number of functions keeps."""
    pieces = [
        np.arange(group.start, group.stop if smooth.levels else min(group.stop, group.start + size))
        for smooth, group in zip(smooths, group_slices(smooths), strict=True)
    ]
    return np.concatenate(pieces)
