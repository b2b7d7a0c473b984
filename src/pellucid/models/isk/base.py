"""What both ISK estimators share: entry of data, the two phases, reading the model."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pellucid.data.parameters import check_count
from pellucid.data.table import Column, Table, enter_table
from pellucid.data.weights import check_weight
from pellucid.effects import Effect, Importances, Summary, term_name
from pellucid.features.fourier import resolve_kernel
from pellucid.features.scaling import SCALINGS, Scaler, fit_scaler
from pellucid.linalg import calm_threads, row_blocks
from pellucid.losses import Loss
from pellucid.models.isk.dense import Dense, fit_dense
from pellucid.models.isk.reading import Densities, grids_of, term_effects
from pellucid.models.isk.rows import Rows
from pellucid.models.isk.sparse import Sparse, Task, fit_sparse
from pellucid.models.isk.trial import Setup, check_memory

Term = tuple[int, ...]


class ISKBase(BaseEstimator):
    """Shared machinery of :class:`ISKRegressor` and :class:`ISKClassifier`."""

    sigma: Any
    n_components: int
    alpha: Any
    sparse_alpha: Any
    l1_ratio: Any
    scaling: str
    kernel: Any
    cv: Any
    max_iter: int
    random_state: Any
    _outputs: tuple[str, ...] = ()

    # ----------------------------------------------------------------- entry
    def _check_parameters(self) -> None:
        check_count(self.n_components, "n_components", 1)
        check_count(self.max_iter, "max_iter", 1)
        if self.scaling not in SCALINGS:
            raise ValueError(f"scaling must be one of {', '.join(SCALINGS)}; got {self.scaling!r}.")
        for name in ("sigma", "alpha", "sparse_alpha"):
            value = getattr(self, name)
            if isinstance(value, str) and value == "cv":
                continue
            if not _is_number(value) or not 0 < value < np.inf:
                raise ValueError(f"{name} must be a positive number or 'cv', got {value!r}.")
        ratio = self.l1_ratio
        if not (isinstance(ratio, str) and ratio == "cv") and not (_is_number(ratio) and 0 < ratio <= 1):
            raise ValueError(f"l1_ratio must be a number in (0, 1] or 'cv', got {ratio!r}.")

    def _learn_rows(self, table: Table, weight: np.ndarray) -> np.ndarray:
        self.columns_ = table.learn(weight)
        return table.rows(self.columns_, complete=True)

    def _new_rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return enter_table(self, X, reset=False).rows(self._columns(), complete=True)

    def _columns(self) -> Sequence[Column]:
        """What the columns are; the scaling knows the levels of a model that was stored without it."""
        if hasattr(self, "columns_"):
            return self.columns_
        warps = zip(self._feature_names(), self._scaler.columns, strict=True)
        return [Column(name, None if warp.levels is None else tuple(warp.levels)) for name, warp in warps]

    def _folds(self, y: np.ndarray, kept: np.ndarray) -> np.ndarray | None:
        """Number of the fold that holds each kept row out; ``None`` where nothing is chosen by folds.

        A splitter sees only the rows of positive weight; folds that were passed in number all rows.
        """
        if "cv" not in [
            v for v in (self.sigma, self.alpha, self.sparse_alpha, self.l1_ratio) if isinstance(v, str)
        ]:
            return None
        inside = self.cv is None or isinstance(self.cv, int) or hasattr(self.cv, "split")
        y, kept = (y[kept], np.ones(int(kept.sum()), dtype=bool)) if inside else (y, kept)
        splitter = check_cv(self.cv, y, classifier=isinstance(self, ClassifierMixin))
        if self.cv is None or isinstance(self.cv, int):  # rows often come sorted
            splitter.shuffle, splitter.random_state = True, 0
        try:
            tests = [test for _, test in splitter.split(np.zeros((len(y), 1)), y)]
        except ValueError as error:
            raise ValueError(f"{error} Pass fewer folds as cv, or numbers instead of 'cv'.") from None
        fold = np.full(len(y), -1, dtype=np.int16)
        for f, test in enumerate(tests):
            if np.any(fold[test] >= 0):
                raise ValueError("cv must hold each row out exactly once, but its folds overlap.")
            fold[test] = f
        fold = fold[kept]
        if np.any(fold < 0) or len(np.unique(fold)) < 2:
            raise ValueError("cv must hold each row out exactly once, in at least two folds.")
        return np.searchsorted(np.unique(fold), fold).astype(np.int16)

    # ------------------------------------------------------------------- fit
    def _fit(
        self,
        X: np.ndarray,
        y: Sequence[np.ndarray],
        signed: np.ndarray,
        loss: Loss,
        weight: np.ndarray,
        fold_of: np.ndarray | None,
    ) -> None:
        """Both phases, on rows of positive weight; ``signed`` are the targets of the squared loss (n, q)."""
        self._scaler: Scaler = fit_scaler(X, self.scaling, weight, self.columns_, signed)
        rows = Rows(X, self._scaler, weight, fold_of)
        kernel = resolve_kernel(self.kernel)
        rng = check_random_state(self.random_state)
        omega = kernel.sample_frequencies((self.n_components + 1) // 2, 2, rng)
        shift = weight @ signed / weight.sum()
        setup = Setup(rows, signed - shift, omega)
        check_memory(setup, rows.n_folds)
        with calm_threads(X):
            dense = fit_dense(setup, y, loss, self.sigma, self.alpha, self.max_iter)
            if not dense.converged:
                warnings.warn(
                    f"Phase 1 did not converge in {dense.n_iter} steps: raise max_iter or alpha.",
                    ConvergenceWarning,
                    stacklevel=3,
                )
            sparse = fit_sparse(Task(rows, y, loss, dense, self.max_iter), self.sparse_alpha, self.l1_ratio)
        self._store(rows, dense, sparse)

    def _store(self, rows: Rows, dense: Dense, sparse: Sparse) -> None:
        self.sigma_, self.alpha_ = dense.sigma, dense.alpha
        self.sparse_alpha_, self.l1_ratio_ = sparse.sparse_alpha, sparse.l1_ratio
        self.solver_ = dense.solver
        self.n_iter_ = dense.n_iter
        self.trials_ = dense.trials
        pairs = dense.pairs
        every: list[Term] = [(p,) for p in range(pairs.D)] + [tuple(pair) for pair in pairs.pairs]
        names = tuple(term_name(term, self._feature_names()) for term in every)
        self.path_ = replace(sparse.path, names=names)
        kept = np.flatnonzero(np.any(sparse.beta != 0, axis=1))
        self.terms_ = [every[k] for k in kept]
        self.term_names_ = [names[k] for k in kept]
        self._pairs = type(pairs)(pairs.omega, pairs.D, np.float64)
        self._W = dense.W
        self._beta = sparse.beta[kept]
        self._mean, self._sd = sparse.mean[kept], sparse.sd[kept]
        self._intercept = sparse.intercept
        size = np.abs(self._beta)
        self.importances_ = Importances(
            tuple(self.term_names_), size[:, 0] if size.shape[1] == 1 else size.max(axis=1), measure="|β|"
        )
        self.n_rows_ = len(rows)
        self._grids = grids_of(self._scaler, self._feature_names())
        self._densities = Densities.count(rows, self._grids, self.terms_)

    def _feature_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else [str(n) for n in names]

    # ----------------------------------------------------------- predictions
    def _contributions(self, X: np.ndarray) -> np.ndarray:
        """Contributions of checked rows, of shape (n, n_terms, q)."""
        out = np.empty((len(X), len(self.terms_), len(self._intercept)))
        for block in row_blocks(len(X), 4.0 * self._pairs.row_bytes):
            factors = self._pairs.factors(self._scaler.apply(X[block]))
            for c in range(len(self._intercept)):
                parts = self._pairs.components(factors, self._W[:, c], self.terms_)
                out[block, :, c] = self._beta[:, c] * (parts - self._mean[:, c]) / self._sd[:, c]
        return out

    def _predictor(self, X: Any) -> np.ndarray:
        """Linear predictor of shape (n, q), a block of rows at a time."""
        X = self._new_rows(X)
        out = np.empty((len(X), len(self._intercept)))
        for block in row_blocks(len(X), 8.0 * (1 + len(self.terms_)) * len(self._intercept)):
            out[block] = self._contributions(X[block]).sum(axis=1) + self._intercept
        return out

    def contributions(self, X: Any) -> np.ndarray:
        """What each term adds to the linear predictor of each row.

        Summed over the terms, and with ``intercept_`` added, they give the linear predictor.

        Parameters
        ----------
        X : array-like of shape (n, n_features)

        Returns
        -------
        contributions : ndarray of shape (n, n_terms), or (n, n_terms, n_classes) for more than two classes
        """
        parts = self._contributions(self._new_rows(X))
        return parts[:, :, 0] if parts.shape[2] == 1 else parts

    # --------------------------------------------------------------- reading
    def effects(self, *, purify: bool = False, against: str = "marginals") -> dict[str, Effect]:
        """The fitted function of each term on a grid, in the units of the data.

        Parameters
        ----------
        purify : bool, default=False
            The split of the published method leaves part of the main effects in the interactions. ``True``
            moves the conditional means of each surface into the curves: the sum stays the same, and each part
            is orthogonal to the others.
        against : {"marginals", "joint"}, default="marginals"
            The distribution under which surfaces get mean zero along each axis: the product of the two
            features' own distributions, or their joint one as far as the grid resolves it.

        Returns
        -------
        effects : dict from the name of a term to its Effect
        """
        check_is_fitted(self)
        return term_effects(
            self._pairs,
            self._scaler,
            self._grids,
            self._densities,
            self.terms_,
            (self._W, self._beta, self._mean, self._sd),
            self._outputs,
            against if purify else None,
        )

    @property
    def effects_(self) -> dict[str, Effect]:
        """Effects of the terms as the published method splits them; see :meth:`effects`."""
        return self.effects()

    def summary(self) -> Summary:
        """The model on half a screen: what was chosen, and the terms that matter most."""
        check_is_fitted(self)
        D = self.n_features_in_
        how = {
            name: "chosen by folds" if isinstance(getattr(self, name), str) else "given" for name in _CHOSEN
        }
        facts: list[tuple[str, object]] = [
            ("rows", self.n_rows_),
            ("features", D),
            ("kernel", str(resolve_kernel(self.kernel))),
            ("scaling", self.scaling),
            ("dense model", f"{self._pairs.F} features of {self._pairs.K} pairs, {self.solver_}"),
            *((name, f"{getattr(self, name + '_'):.4g} ({how[name]})") for name in _CHOSEN),
            ("terms", f"{len(self.terms_)} of {D + self._pairs.K}"),
            ("most important", ", ".join(self.importances_.top(6)) or "none: all terms were shrunk away"),
        ]
        return Summary(type(self).__name__, facts)


_CHOSEN = ("sigma", "alpha", "sparse_alpha", "l1_ratio")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def entered_weight(sample_weight: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights, and which rows count at all."""
    weight = check_weight(sample_weight, n)
    return weight, weight > 0
