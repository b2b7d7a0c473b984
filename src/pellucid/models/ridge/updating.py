"""Kernel ridge that goes on without its old rows: sums over rows determine it where features are explicit."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import copy
from functools import reduce
from inspect import getattr_static
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from pellucid.data.roles import takes_roles
from pellucid.effects.linear import LinearView
from pellucid.exceptions import WeightWarning
from pellucid.linalg import is_sparse, limited_threads, require_memory
from pellucid.models.kernel_fit.ridge_fit import feature_count
from pellucid.models.ridge.base import KernelRidgeBase
from pellucid.models.ridge.feature_sums import FeatureSums
from pellucid.solvers import Posterior

_OF_ROWS = ("loo_", "log_marginal_likelihood_", "solver_report_", "_posterior")
_GONE = (
    "This model was made from sums by update or merge, so it knows no rows: there is no leave-one-out, no "
    "posterior and no influence of rows. Use refit(X, y) with all rows, or pellucid.conformal for intervals "
    "from rows held out."
)


class UpdatingRidge(KernelRidgeBase):
    """Kernel ridge whose kernel has explicit features, fewer than rows: ``update`` and ``merge``."""

    updatable: bool = False
    sums_: FeatureSums

    def __getattr__(self, name: str) -> Any:
        if name in _OF_ROWS and "X_fit_" in vars(self) and self._without_rows:
            raise AttributeError(_GONE)
        asked = getattr_static(type(self), name, None)
        if isinstance(asked, property):  # which raised an AttributeError: once more, for what it says
            return asked.__get__(self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def _without_rows(self) -> bool:
        return len(self.X_fit_) == 0

    def _require_rows(self) -> None:
        if self._without_rows:
            raise ValueError(_GONE)

    # ---------------------------------------------------------------------- sums
    def _keep_sums(self, rows: Any, Y: np.ndarray, weight: np.ndarray, sample_weight: Any) -> None:
        """Keep sums over the rows of a fit if the model is to be updatable."""
        self.__dict__.pop("sums_", None)
        if self.updatable:
            self.sums_ = self._sums_of(rows, Y, weight, sample_weight)

    def _sums_of(self, rows: Any, Y: np.ndarray, weight: np.ndarray, sample_weight: Any) -> FeatureSums:
        count = feature_count(self.kernel_, rows)
        if count is None:
            what = "on sparse rows only the linear kernel has one" if is_sparse(rows) else "this one has none"
            raise ValueError(
                f"updatable=True needs a kernel with a finite set of explicit features, such as 'linear' or "
                f"Polynomial(): {what} ({self.kernel_}). Leave updatable out, and fit again with all rows."
            )
        require_memory(count, 4.0, what="the sums of explicit features")
        given = np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        with limited_threads(rows):
            return FeatureSums.of(self.kernel_.features(rows), Y, np.broadcast_to(given, len(Y)))

    def refit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Return a new model of other rows, with the kernel and the alpha of this one.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`.
        """
        check_is_fitted(self)
        alpha = self._alpha if len(self._alpha) > 1 else float(self._alpha[0])
        return clone(self).set_params(kernel=self.kernel_, alpha=alpha).fit(X, y, sample_weight)

    @takes_roles
    def update(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add rows to those of the fit; the model becomes that of :meth:`refit` with all of them.

        The kernel, with its length-scales and origin, and alpha stay as they are. Needs ``updatable=True``
        and a kernel with explicit features, and takes one pass over the new rows. What only rows can tell,
        such as ``loo_``, intervals and standard deviations, is gone afterwards.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`: the new rows.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        sums = self._require_sums("update")
        probe = copy(self)
        probe.kernel = self.kernel_  # what is named by a string was settled by the first rows
        rows = probe._check_new_rows(X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WeightWarning)  # what weights mean is read off all rows together
            Y, weight = probe._new_targets(rows, y, sample_weight)
        if Y.shape[1] != len(self._alpha):
            raise ValueError(f"y must have {len(self._alpha)} outputs as in the fit, got {Y.shape[1]}.")
        self._solve_sums(sums.plus(self._sums_of(rows, Y, weight, sample_weight)), rows)
        return self

    def _new_targets(self, rows: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
        raise NotImplementedError

    def _require_sums(self, what: str) -> FeatureSums:
        if "sums_" not in vars(self):
            raise ValueError(
                f"This model keeps no sums over its rows, which {what} needs: fit with updatable=True and a "
                f"kernel with explicit features, such as 'linear'."
            )
        return self.sums_

    def _merged(self, others: Sequence[UpdatingRidge]) -> Self:
        """The model of the rows of this one and of others of one kernel and one alpha."""
        every: list[UpdatingRidge] = [self, *others]
        for k, model in enumerate(every):
            model._require_sums("merge")
            reason = _difference(self, model)
            if reason:
                raise ValueError(
                    f"Model {k} of those to merge is not like the first: {reason}. Fit one model, and let "
                    f"the other sites call its refit(X, y) with their rows."
                )
            if any(np.array_equal(model.sums_.lower, other.sums_.lower) for other in every[:k]):
                raise ValueError(f"Model {k} has the same sums as one before it: its rows would count twice.")
        new = copy(self)
        new._solve_sums(reduce(FeatureSums.plus, [model.sums_ for model in every]), self.X_fit_)
        return new

    def _solve_sums(self, sums: FeatureSums, rows: Any) -> None:
        """Become the model of these sums."""
        for name in _OF_ROWS:
            self.__dict__.pop(name, None)
        found = sums.solution(self._alpha, fit_intercept=bool(self.fit_intercept), reading=self.weights)
        free = max(sums.counted(self.weights) - int(bool(self.fit_intercept)), 1.0)
        self.sums_, self.X_fit_, self.weight_fit_ = sums, rows[:0].copy(), np.zeros(0)
        self._kept, self._centres = np.zeros(0, dtype=bool), None
        self._dual = np.zeros((0, len(self._alpha)))
        self._primal, self._intercept = found.coef, found.intercept
        self._dof, self._residual_square = found.dof, found.squares
        if self._chosen:  # yᵀ (K + α S⁻¹)⁻¹ y is the objective, twice, over α
            self._scale = (found.squares / self._alpha + found.size) / free
        self._likelihood = np.full(len(self._alpha), np.nan)
        self._criteria = {}
        self.solver_, self.solver_reason_ = "primal", "sums over rows are known, and no rows"
        self._publish_fit()

    def _publish_fit(self) -> None:
        raise NotImplementedError

    @property
    def _observations(self) -> float:
        if not self._without_rows:
            return super()._observations
        return self.sums_.counted(self.weights)

    @property
    def _n_rows(self) -> int:
        return self.sums_.n_rows if self._without_rows else super()._n_rows

    def _get_posterior(self, output: int = 0) -> Posterior:
        self._require_rows()
        return super()._get_posterior(output)

    def linear_view(self, X: Any = None) -> LinearView:
        """The fitted function as a linear one; see :meth:`KernelMachine.linear_view`."""
        check_is_fitted(self)
        if X is None:
            self._require_rows()
        return super().linear_view(X)


def _difference(one: UpdatingRidge, two: UpdatingRidge) -> str:
    """How two models differ in what they must share, empty if they do not."""
    if one.kernel_ != two.kernel_:
        return f"its kernel is {two.kernel_!r}, not {one.kernel_!r}"
    if not np.array_equal(one._alpha, two._alpha):
        return f"its alpha is {two._alpha.tolist()}, not {one._alpha.tolist()}"
    if bool(one.fit_intercept) != bool(two.fit_intercept) or one.weights != two.weights:
        return "fit_intercept or weights is another"
    if one._names != two._names:
        return "it has other features"
    return ""
