"""What the sparse additive models share: data in, strengths and smoothness chosen, effects out."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from pellucid._callers import warn_caller
from pellucid._docs import store_parameters
from pellucid.data.folds import Fold
from pellucid.data.parameters import check_alphas, check_count
from pellucid.effects import Effect, Grid, Importances, SparsePath, Summary
from pellucid.exceptions import NotEnoughMemoryError
from pellucid.linalg import available_memory, format_bytes, limited_threads
from pellucid.losses import Squared
from pellucid.models.common.terms import Targets, TermModel, squared_in
from pellucid.models.sparse_additive.basis import Smooth, smooth_columns
from pellucid.models.sparse_additive.design import AdditiveDesign, group_slices, interpolate, trim
from pellucid.models.sparse_additive.path import LossData, Search, SquaredData, default_alphas, search
from pellucid.solvers.sparse_glm import SparseModel

_SIZES = (4, 8, 16)  # functions per feature to choose among
_MOST_COLUMNS = 4000
_MOST_LEVELS = 64  # functions of a categorical feature; rarer levels beyond share the effect of the mean


class SparseAdditiveBase(TermModel):
    """Shared machinery of the regressor and the classifier.

    Parameters
    ----------
    alpha : float or "cv", default="cv"
        Strength of the penalty, on the scale of the linear predictor; larger leaves fewer features. ``"cv"``
        takes the value of least held-out loss over folds.
    n_basis : int or "cv", default="cv"
        Number of functions per numeric feature; more follow finer detail. ``"cv"`` chooses among 4, 8 and
        16 together with alpha.
    alphas : array-like, optional
        The values to choose among; by default 25 over three decades, down from the one that leaves no
        feature.
    n_knots : int, default=64
        Most knots per numeric feature.
    cv : int, splitter or iterable of (train, test), default=5
        Folds; stratified for classes.
    weights : {"auto", "counts", "precision"}, default="auto"
        What ``sample_weight`` says: "counts" of rows, or a "precision" that only compares rows; "auto" counts
        unless the mean weight is below 0.1 or above 10, and then says so. As the loss is a mean over the
        weights, both give the same model here.

    Attributes
    ----------
    alpha_, n_basis_ : float, int
        What was used.
    terms_, term_names_ : list
        The features in the model, as tuples of one column number, and their names.
    selected_ : ndarray of bool, shape (n_features,)
        Which features are in the model.
    importances_ : Importances
        Root mean square of the effect of each term over the training rows, and over the classes where there
        are several.
    effects_ : dict of str to Effect
        The fitted functions of the terms at their knots; with a column per class where there are several.
    path_ : SparsePath
        Features in the model at each strength, and the held-out loss.
    categorical_ : ndarray of bool, shape (n_features,)
        Which columns were taken as categories.
    optimality_ : float
        Largest violation of the optimality conditions, relative to the strength that leaves no feature for
        numbers.
    """

    _chosen = ("alpha", "n_basis")

    def __init__(
        self,
        alpha: Any = "cv",
        *,
        n_basis: Any = "cv",
        alphas: Any = None,
        n_knots: int = 64,
        cv: Any = 5,
        weights: str = "auto",
    ) -> None:
        store_parameters(self, locals())

    # ------------------------------------------------------------ entry
    def _check_parameters(self) -> None:
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
    def _fit(self, X: np.ndarray, weight: np.ndarray, targets: Targets, folds: list[Fold]) -> None:
        self.categorical_ = np.array([column.levels is not None for column in self.columns_])
        columns = list(X.T)
        with limited_threads(weight):
            smooths, sizes = self._smooths(columns, weight)
            data: SquaredData | LossData
            if isinstance(targets.loss, Squared):
                data = SquaredData(smooths, columns, targets.columns[0], weight, folds)
            else:
                design = AdditiveDesign.of(smooths, columns)
                data = LossData(design, targets.columns, weight, targets.loss, folds)
            size, models, alphas, found = self._choose(data, sizes, targets.unit)
            self._smooths_fit, self.n_basis_ = trim(smooths, size), size
            self._follow(models, alphas, found, data.tolerance, targets)

    def _choose(
        self, data: SquaredData | LossData, sizes: Sequence[int], unit: float
    ) -> tuple[int, list[SparseModel], np.ndarray, Search | None]:
        """Number of functions, models with so many, strengths to follow, and what the folds say of them."""
        given = not isinstance(self.alpha, str)
        best = None
        for size in sizes:
            models, on_folds = data.models(size)
            alphas = self._candidates(max(model.strongest() for model in models), unit)
            if given and len(sizes) == 1:
                return size, models, alphas, None
            found = search(on_folds, alphas[-1:] if given else alphas)
            error = float(np.nanmin(found.error))
            if best is None or error < (1 - 1e-9) * best[0]:
                best = (error, (size, models, alphas, None if given else found))
        assert best is not None
        return best[1]

    def _candidates(self, top: float, unit: float) -> np.ndarray:
        """Strengths in the unit, from strong to weak; on the way to a given one, a few to start from."""
        if not isinstance(self.alpha, str):
            alpha = float(check_alphas(self.alpha, "alpha")[0]) / unit
            return np.geomspace(top, alpha, 10) if top > alpha else np.array([alpha])
        return default_alphas(top) if self.alphas is None else check_alphas(self.alphas)[::-1] / unit

    def _follow(
        self,
        models: list[SparseModel],
        alphas: np.ndarray,
        found: Search | None,
        tolerance: float,
        targets: Targets,
    ) -> None:
        """Follow the path on all rows, and keep the model at the chosen strength in units of the target."""
        best, error, se, u = len(alphas) - 1, None, None, targets.unit
        if found is not None:
            tried = np.isfinite(found.error)
            best, alphas, error, se = found.best, alphas[tried], found.error[tried], found.se[tried]
            error, se = squared_in(error, u), squared_in(se, u)
        groups = group_slices(self._smooths_fit)
        norms = np.zeros((len(alphas), len(groups)))
        for k, alpha in enumerate(alphas):
            for model in models:
                model.solve(alpha, tol=tolerance if k == best else 1e-5)
            B = np.column_stack([model.coef for model in models])
            norms[k] = [np.sqrt(np.sum(B[g] ** 2) / B.shape[1]) for g in groups]
            if k == best:
                self._coef = B * u
                self._store_intercept(np.array([model.intercept for model in models]) * u + targets.origin)
                self.optimality_ = max(model.violation for model in models)
        if self.optimality_ > 100 * tolerance:
            warn_caller(
                f"The fit did not converge: optimality is violated by {self.optimality_:.2g}. Raise alpha.",
                ConvergenceWarning,
            )
        self.alpha_ = float(alphas[best] * u)
        names = self._names()
        self.path_ = SparsePath(alphas * u, norms * u, tuple(names), best, error, se)
        self.selected_ = norms[best] > 0
        self._kept = np.flatnonzero(self.selected_)
        self.terms_ = [(int(j),) for j in self._kept]
        self.term_names_ = [names[j] for j in self._kept]
        size = self.path_.norms[best][self._kept]
        self.importances_ = Importances(tuple(self.term_names_), size, measure="rms effect")
        self.effects_ = {names[j]: self._effect(int(j), names[j]) for j in self._kept}

    # ---------------------------------------------------------- effects
    def _effect(self, j: int, name: str) -> Effect:
        """The fitted function at its knots, between which it is straight."""
        smooth, group = self._smooths_fit[j], group_slices(self._smooths_fit)[j]
        values = smooth.table[:-1] @ self._coef[group]
        outputs = self._class_names()
        grid = Grid(name, smooth.knots, levels=smooth.levels)
        return Effect(
            (j,), name, (grid,), values if outputs else values[:, 0], smooth.density, outputs=outputs
        )

    def _levels(self) -> list[tuple[Any, ...] | None]:
        return [tuple(smooth.knots) if smooth.levels else None for smooth in self._smooths_fit]

    def _terms_at(self, X: np.ndarray) -> np.ndarray:
        out = np.empty((len(X), len(self._kept), self._coef.shape[1]))
        groups = group_slices(self._smooths_fit)
        for k, j in enumerate(self._kept):
            place = self._smooths_fit[j].locate(X[:, j])
            for c in range(out.shape[2]):
                out[:, k, c] = interpolate(self._smooths_fit[j].table @ self._coef[groups[j], c], *place)
        return out

    def summary(self) -> Summary:
        """What was fitted, on half a screen; print it."""
        check_is_fitted(self)
        facts: list[tuple[str, object]] = [
            ("features", self.n_features_in_),
            ("in the model", int(self.selected_.sum())),
            ("alpha", self._how("alpha")),
            ("functions per feature", self._how("n_basis")),
        ]
        if self.path_.error is not None:
            facts.append(("held-out loss", float(self.path_.error[self.path_.best])))
        top = self.importances_.order[:5]
        facts += [(self.term_names_[k], f"rms effect {self.importances_.values[k]:.4g}") for k in top]
        groups, coef = (
            group_slices(self._smooths_fit),
            self._coef / (np.abs(self._coef).max(initial=0.0) or 1.0),
        )
        sizes = [np.linalg.norm(coef[groups[j]], axis=0) for j in self._kept]
        facts += self._class_facts(np.reshape(sizes, (-1, coef.shape[1])))
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
