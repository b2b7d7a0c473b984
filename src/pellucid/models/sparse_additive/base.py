"""What the sparse additive models share: data in, strengths and smoothness chosen, effects out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from pellucid.data.parameters import check_alphas, check_count
from pellucid.data.table import Column, enter_table
from pellucid.data.weights import check_weight
from pellucid.effects import Effect, Grid, Importances, SparsePath, Summary
from pellucid.exceptions import NotEnoughMemoryError
from pellucid.linalg import available_memory, format_bytes, row_blocks
from pellucid.models.sparse_additive.basis import Smooth, smooth_columns
from pellucid.models.sparse_additive.design import group_slices, interpolate, trim
from pellucid.models.sparse_additive.path import Fold, Walker, default_alphas, search

Rows = tuple[np.ndarray, np.ndarray]
Walkers = Callable[[int], tuple[list[Walker], list[list[Fold]]]]

_SIZES = (4, 8, 16)  # functions per feature to choose among
_MOST_COLUMNS = 4000
_MOST_LEVELS = 64  # functions of a categorical feature; rarer levels beyond share the effect of the mean
_TIGHT = {True: 1e-9, False: 1e-7}  # of squared loss, which is solved by algebra alone, and of others


class SparseAdditiveBase(BaseEstimator):
    """Shared machinery of the regressor and the classifier."""

    alpha: Any
    n_basis: Any
    alphas: Any
    n_knots: int
    cv: Any

    # ------------------------------------------------------------ entry
    def _enter(self, X: Any, sample_weight: Any) -> tuple[list[np.ndarray], np.ndarray]:
        """Check parameters, columns and weights."""
        check_count(self.n_knots, "n_knots", 3)
        if not (isinstance(self.n_basis, str) and self.n_basis == "cv"):
            if isinstance(self.n_basis, str):
                raise ValueError(f"n_basis must be a whole number or 'cv', got {self.n_basis!r}.")
            check_count(self.n_basis, "n_basis", 1)
        if isinstance(self.alpha, str):
            if self.alpha != "cv":
                raise ValueError(f"alpha must be a positive number or 'cv', got {self.alpha!r}.")
        elif check_alphas(self.alpha, "alpha").size != 1:
            raise ValueError(f"alpha is one number or 'cv', got {self.alpha!r}. Candidates go into alphas=.")
        table = enter_table(self, X, reset=True)
        weight = check_weight(sample_weight, len(table))
        self.columns_ = table.learn(weight)
        self.categorical_ = np.array([column.levels is not None for column in self.columns_])
        return list(table.rows(self.columns_, complete=True).T), weight

    def _folds(self, y: np.ndarray, kept: np.ndarray) -> list[Rows]:
        """Folds over the rows of positive weight, in their own numbering; none where nothing is chosen."""
        if not (isinstance(self.alpha, str) or isinstance(self.n_basis, str)):
            return []
        splitter = check_cv(self.cv, y[kept], classifier=isinstance(self, ClassifierMixin))
        if isinstance(self.cv, int) or self.cv is None:  # rows often come sorted
            splitter.shuffle, splitter.random_state = True, 0
        if self.cv is None or isinstance(self.cv, int) or hasattr(self.cv, "split"):
            try:
                return list(splitter.split(np.zeros((int(kept.sum()), 1)), y[kept]))
            except ValueError as error:
                raise ValueError(f"{error} Pass fewer folds, or numbers for alpha and n_basis.") from None
        position = np.cumsum(kept) - 1  # folds that were passed in number all rows
        folds = [
            (position[train][kept[train]], position[test][kept[test]])
            for train, test in splitter.split(np.zeros((len(y), 1)), y)
        ]
        if not folds or any(len(train) == 0 or len(test) == 0 for train, test in folds):
            raise ValueError("cv must give folds with training and test rows of positive weight.")
        return folds

    def _smooths(self, columns: Sequence[np.ndarray], weight: np.ndarray) -> tuple[list[Smooth], list[int]]:
        """Functions of each feature, as many as the largest candidate wants, and the candidates."""
        numeric = max(1, int(np.sum(~self.categorical_)))
        if isinstance(self.n_basis, str):
            sizes = [r for r in _SIZES if r * numeric <= _MOST_COLUMNS and r < self.n_knots] or [2]
        else:
            sizes = [int(self.n_basis)]
        n_columns = sizes[-1] * numeric
        _check_memory(n_columns, numeric)
        smooths = [
            smooth_columns(
                column,
                weight,
                n_knots=int(self.n_knots),
                n_columns=sizes[-1] if what.levels is None else _MOST_LEVELS,
                levels=what.levels,
            )
            for what, column in zip(self.columns_, columns, strict=True)
        ]
        largest = max([s.size for s in smooths if not s.levels], default=0)
        distinct = [r for k, r in enumerate(sizes) if k == 0 or sizes[k - 1] < largest]
        return smooths, distinct

    # ---------------------------------------------------------- fitting
    def _fit_walkers(self, smooths: list[Smooth], sizes: list[int], walkers: Walkers, *, exact: bool) -> None:
        """Choose the number of functions and the strength on folds, then fit on all rows."""
        given = not isinstance(self.alpha, str)
        best_error, result = np.inf, None
        for size in sizes:
            full, folds = walkers(size)
            alphas = self._candidates(full)
            if given and len(sizes) == 1:
                chosen = (size, full, alphas)
                break
            found = search(folds, alphas[-1:] if given else alphas)
            error = float(np.nanmin(found.error))
            if error < (1 - 1e-9) * best_error:
                best_error, result, chosen = error, found, (size, full, alphas)
        self.n_basis_, full, alphas = chosen
        self._smooths_fit = trim(smooths, self.n_basis_)
        if given or result is None:
            self._walk(full, alphas, len(alphas) - 1, exact, None, None)
            return
        tried = np.isfinite(result.error)
        self._walk(full, alphas[tried], result.best, exact, result.error[tried], result.se[tried])

    def _candidates(self, full: Sequence[Walker]) -> np.ndarray:
        """Strengths from strong to weak; on the way to a given one, a few to start from."""
        top = max(walker.strongest() for walker in full)
        if not isinstance(self.alpha, str):
            alpha = float(check_alphas(self.alpha, "alpha")[0])
            return np.geomspace(top, alpha, 10) if top > alpha else np.array([alpha])
        return default_alphas(top) if self.alphas is None else check_alphas(self.alphas)[::-1]

    def _walk(
        self,
        full: list[Walker],
        alphas: np.ndarray,
        best: int,
        exact: bool,
        error: np.ndarray | None,
        se: np.ndarray | None,
    ) -> None:
        """Walk down the path on all rows and keep the model at the chosen strength."""
        groups = group_slices(self._smooths_fit)
        norms = np.zeros((len(alphas), len(groups)))
        for k, alpha in enumerate(alphas):
            for walker in full:
                walker.move(alpha, _TIGHT[exact] if k == best else 1e-5)
            B = np.column_stack([walker.coef for walker in full])
            norms[k] = [np.sqrt(np.sum(B[g] ** 2) / B.shape[1]) for g in groups]
            if k == best:
                self._coef, self._intercept = B, np.array([walker.intercept for walker in full])
                self.optimality_ = max(walker.violation for walker in full)
        if self.optimality_ > 100 * _TIGHT[exact]:
            warnings.warn(
                f"The fit did not converge: optimality is violated by {self.optimality_:.2g}. Raise alpha.",
                ConvergenceWarning,
                stacklevel=4,
            )
        self.alpha_ = float(alphas[best])
        names = self._names()
        self.path_ = SparsePath(alphas, norms, tuple(names), best, error, se)
        self.selected_ = norms[best] > 0
        self._kept = np.flatnonzero(self.selected_)
        self.terms_ = [(int(j),) for j in self._kept]
        self.term_names_ = [names[j] for j in self._kept]
        self.importances_ = Importances(
            tuple(self.term_names_), norms[best][self._kept], measure="rms effect"
        )
        self.effects_ = {names[j]: self._effect(int(j), names[j]) for j in self._kept}

    # ---------------------------------------------------------- reading
    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else [str(n) for n in names]

    def _columns(self) -> Sequence[Column]:
        """What the columns are; the functions know the levels of a model that was stored without it."""
        if hasattr(self, "columns_"):
            return self.columns_
        smooths = zip(self._names(), self._smooths_fit, strict=True)
        return [Column(name, tuple(smooth.knots) if smooth.levels else None) for name, smooth in smooths]

    def _outputs(self) -> tuple[str, ...]:
        return ()

    def _effect(self, j: int, name: str) -> Effect:
        """The fitted function at its knots, between which it is straight."""
        smooth, group = self._smooths_fit[j], group_slices(self._smooths_fit)[j]
        values = smooth.table[:-1] @ self._coef[group]
        outputs = self._outputs()
        grid = Grid(name, smooth.knots, levels=smooth.levels)
        return Effect(
            (j,), name, (grid,), values if outputs else values[:, 0], smooth.density, outputs=outputs
        )

    def _terms_at(self, X: Any) -> np.ndarray:
        """Effects of shape (m, n_terms, outputs)."""
        check_is_fitted(self)
        columns = enter_table(self, X, reset=False).rows(self._columns(), complete=True).T
        out = np.empty((len(columns[0]), len(self._kept), self._coef.shape[1]))
        groups = group_slices(self._smooths_fit)
        for rows in row_blocks(len(out), 8.0 * 4 * (1 + len(self._kept))):
            for k, j in enumerate(self._kept):
                smooth = self._smooths_fit[j]
                place = smooth.locate(columns[j][rows])
                for c in range(out.shape[2]):
                    out[rows, k, c] = interpolate(smooth.table @ self._coef[groups[j], c], *place)
        return out

    def _scores(self, X: Any) -> np.ndarray:
        """Linear predictor of shape (m, outputs)."""
        return self._terms_at(X).sum(axis=1) + self._intercept

    def contributions(self, X: Any) -> np.ndarray:
        """Effect of each term at each row; with ``intercept_`` they sum to the linear predictor.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (m, n_terms), or (m, n_terms, n_classes) for more than two classes
        """
        out = self._terms_at(X)
        return out if self._outputs() else out[:, :, 0]

    def summary(self) -> Summary:
        """What was fitted, on half a screen; print it."""
        check_is_fitted(self)

        def how(value: Any) -> str:
            return "chosen on folds" if isinstance(value, str) else "given"

        facts: list[tuple[str, object]] = [
            ("features", self.n_features_in_),
            ("in the model", int(self.selected_.sum())),
            ("alpha", f"{self.alpha_:.5g} ({how(self.alpha)})"),
            ("functions per feature", f"{self.n_basis_} ({how(self.n_basis)})"),
        ]
        if self.path_.error is not None:
            facts.append(("held-out loss", float(self.path_.error[self.path_.best])))
        top = self.importances_.order[:5]
        facts += [(self.term_names_[k], f"rms effect {self.importances_.values[k]:.4g}") for k in top]
        return Summary(type(self).__name__, facts)


def _check_memory(n_columns: int, n_features: int) -> None:
    """Raise if the Gram matrices of all rows and of the folds would not fit."""
    need, have = 8.0 * 16 * n_columns**2, available_memory()
    if need > 0.9 * have:
        fits = int(np.sqrt(0.9 * have / (8.0 * 16)))
        raise NotEnoughMemoryError(
            f"The Gram matrices of {n_columns} columns ({n_features} features) need about "
            f"{format_bytes(need)}, but only {format_bytes(have)} of memory is available. About {fits} "
            f"columns would fit: lower n_basis, or leave features out beforehand."
        )
