"""What all kernel ridge estimators share: the fit, what is kept of it, and reading the model."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.data.parameters import check_alpha, check_alphas, check_count
from pellucid.data.targets import unit_of
from pellucid.effects import AlphaPath, Influence, LeaveOneOut, Summary
from pellucid.kernels import ALIASES
from pellucid.linalg import is_sparse, limited_threads, power_of_two, require_memory
from pellucid.linalg.sample import in_order_of_lots
from pellucid.models.common.kernel_machine import KernelMachine
from pellucid.models.kernel_fit.length_scale import choose_length_scale
from pellucid.models.kernel_fit.ridge_fit import fit_ridge, gram
from pellucid.models.kernel_fit.ridge_types import RidgeFit, RowsBeyond, Score, Settings
from pellucid.solvers import ITERATIVE_ROWS, Fits, Posterior

_OF_ONE_FIT = (
    "coef_",
    "_posterior",
    "solver_report_",
    "log_marginal_likelihood_",
    "loo_rows_",
    "_all_rows",
    "_all_observations",
)
_SQUARABLE = (
    1e153  # targets larger than this, or smaller than its inverse, have no variance in floating point
)


class KernelRidgeBase(KernelMachine):
    """Estimators that fit one or more targets by kernel ridge.

    Parameters
    ----------
    alpha : float or {"loo", "gcv", "ml"}, default="loo"
        Ridge strength; larger is smoother. A name chooses it by exact leave-one-out error, generalised
        cross-validation or marginal likelihood, of the coded targets where ``y`` holds classes: that is a
        steadier guide than the error rate, and ``loo_.path`` has both.
    alphas : array-like, optional
        The values among which a named criterion chooses; by default four per decade up to 1e3 times the mean
        variance of the kernel, from 1e-9 times it, or from 1e-6 times it for classes.
    solver : {"auto", "primal", "cholesky", "spectral", "iterative", "landmarks"}, default="auto"
        ``"primal"`` works with explicit features, ``"cholesky"`` factors the kernel matrix once per alpha,
        ``"spectral"`` decomposes it once for all. ``"iterative"`` multiplies with a kernel matrix that is
        formed block by block and never stored, ``"landmarks"`` restricts the function to the span of some
        rows; with these two ``loo_`` is an estimate, or that of the landmarks. ``"auto"`` takes the cheapest
        by the number of rows and says why in ``solver_reason_``.
    n_components : int, optional
        For many rows: the number of landmarks, or the rank of the preconditioner. More landmarks come nearer
        to the exact model; a larger rank means fewer steps. By default the number of rows decides.
    tol : float, default=1e-4
        For the iterative solver: how far fitted values may be from the exact ones, in root mean square, as a
        share of the target's standard deviation. Smaller takes longer, about in proportion to its logarithm.
    random_state : int, default=0
        Seed of everything drawn at random with many rows: pivots, landmarks, probes. The same seed gives the
        same model on the same number of threads.
    indefinite : {"raise", "clip"}, default="raise"
        What to do with a kernel matrix that has negative eigenvalues: refuse it, or drop its negative part.

    Attributes
    ----------
    alpha_ : float
        The ridge strength that was used.
    dual_coef_ : ndarray of shape (n,) or (n, n_outputs)
        The coefficients ``a`` of the training rows ``X_fit_``; one column per class, or per output, where
        there are several.
    intercept_ : float or ndarray of shape (n_outputs,)
        The intercept ``b``.
    effective_dof_ : float or ndarray of shape (n_outputs,)
        Effective degrees of freedom: the sum of the leverages, intercept included.
    log_marginal_likelihood_ : float or ndarray of shape (n_outputs,)
        Log likelihood of the targets under the Gaussian process (restricted when there is an intercept).
    solver_, solver_reason_ : str
        The solver that was used, and why.
    solver_report_ : SolverReport
        For many rows: rank, precision, expected and measured time, and the gap to the exact answer.
    """

    alpha: Any
    alphas: Any
    solver: str
    indefinite: str
    n_components: int | None = None
    tol: float = 1e-4
    random_state: int = 0
    alpha_per_output: bool = False  # a parameter of KernelRidge alone
    loo_: LeaveOneOut
    _all_rows: int | None = None  # number of rows, where those at hand are not all
    _all_observations: float  # that these stand for
    _alpha_floor = 1e-9  # smallest alpha tried, relative to the mean variance of the kernel

    # --------------------------------------------------------------- fitting
    def _begin(self) -> None:
        if self.indefinite not in ("raise", "clip"):
            raise ValueError(f"indefinite must be 'raise' or 'clip', got {self.indefinite!r}.")
        if self._rank is not None:
            check_count(self._rank, "n_components", 1)
        if not 0.0 < self.tol < 1.0:
            raise ValueError(f"tol must be between 0 and 1, got {self.tol!r}.")
        for name in _OF_ONE_FIT:
            self.__dict__.pop(name, None)
        super()._begin()

    def _fit_targets(
        self,
        X: np.ndarray,
        Y: np.ndarray,
        weight: np.ndarray,
        *,
        score: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
        key: np.ndarray | None = None,
        beyond: RowsBeyond | None = None,
    ) -> RidgeFit:
        """Fit targets of shape (n, q); stores everything but ``loo_``.

        ``score`` maps held-out predictions of shape (alphas, rows, q), and the numbers of these rows among
        those of positive weight, to a figure per alpha. Rows of weight zero are dropped, targets are shifted
        and scaled by powers of two, so neither an offset nor the unit of ``y`` costs accuracy. What
        is drawn at random follows from rows and ``key``, the targets by default. With rows ``beyond`` those
        given are a sample of all.
        """
        self._kept = kept = weight > 0
        rows, s, Y = self._training_rows(X, kept), weight[kept], Y[kept]
        for column in Y.T:
            unit_of(column)  # refuses what varies too much
        self._shift = shift = Y[0] + s / s.sum() @ (Y - Y[0]) if self.fit_intercept else np.zeros(Y.shape[1])
        self._unit = unit = power_of_two(np.abs(Y - shift).max(axis=0))
        targets = (Y - shift) / unit  # exactly zero where targets are constant
        settings = Settings(
            check_alpha(self.alpha, Y.shape[1]),
            None if self.alphas is None else check_alphas(self.alphas),
            bool(self.fit_intercept),
            self.solver,
            self.alpha_per_output,
            self.indefinite,
            self._alpha_floor,
            self._rank,
            float(self.tol),
            int(self.random_state),
        )
        if settings.criterion is not None and len(targets) < 2:
            raise ValueError(
                f"Choosing alpha by {self.alpha!r} needs at least 2 rows, got n_samples = {len(targets)}. "
                f"Pass alpha as a number."
            )
        figure: Score | None = None
        if score is not None:

            def figure(fits: Fits, rows: np.ndarray | None = None) -> np.ndarray:
                some = np.arange(len(targets)) if rows is None else rows
                return score((targets[some] - fits.held_out_residuals) * unit + shift, some)

        with limited_threads(rows):
            key = Y if key is None else key[kept]
            drawn = np.arange(len(rows)) if beyond is not None else self._drawn(rows, key)
            path = None
            if isinstance(self.kernel, str) and self.kernel in ALIASES:
                alias = ALIASES[self.kernel]
                part: Any = slice(None) if drawn is None or not alias.searched else drawn
                problem = rows[part], targets[part], s[part], settings
                kernel, path = choose_length_scale(alias, *problem, figure if drawn is None else None)
            else:
                kernel = self._given_kernel(rows)
            if beyond is not None:
                beyond = beyond.coded(shift, unit)
            fit = fit_ridge(
                kernel, rows, targets, s, settings, score=figure, path=path, drawn=drawn, beyond=beyond
            )
        self._centres = fit.centres
        self.X_fit_, self.weight_fit_ = rows if fit.centres is None else rows[fit.centres], s
        self._store(fit)
        return fit

    def _drawn(self, rows: Any, key: np.ndarray) -> np.ndarray | None:
        """Rows on which a fit by landmarks chooses, in an order that follows from what they hold."""
        if self.solver != "landmarks" and (self.solver != "auto" or len(rows) <= ITERATIVE_ROWS):
            return None
        if is_sparse(rows):
            return in_order_of_lots(chain(rows.columns(), key.T), ITERATIVE_ROWS)
        if rows.ndim != 2 or rows.dtype.kind != "f":
            return np.random.default_rng(0).permutation(len(rows))[:ITERATIVE_ROWS]
        return in_order_of_lots(chain(rows.T, key.T), ITERATIVE_ROWS)

    @property
    def _rank(self) -> int | None:
        """Landmarks, or rank of the preconditioner, where the user says so."""
        return self.n_components

    def _store(self, fit: RidgeFit) -> None:
        """Keep what a fit in units of ``_unit`` says, in units of ``y``."""
        unit, weight = self._unit, self.weight_fit_
        self.kernel_ = fit.kernel
        self.solver_, self.solver_reason_ = fit.choice.name, fit.choice.reason
        if fit.report is not None:
            self.solver_report_ = fit.report
        self._alpha = fit.alpha
        self._dual = fit.dual_coef * unit
        self._primal = None if fit.primal_coef is None else fit.primal_coef * unit
        self._intercept = fit.intercept * unit + self._shift
        self._chosen = isinstance(self.alpha, str)
        self._criteria = fit.criteria
        self._dof = fit.slack.shape[0] - fit.slack.sum(axis=0)
        squares = np.einsum("n,nq->q", weight, fit.residuals**2)
        if fit.of_all is not None:
            self._dof, squares = fit.of_all.dof, fit.of_all.squares
            self._all_rows, self._all_observations = fit.of_all.n_rows, fit.of_all.observations
        with np.errstate(over="ignore"):
            self._residual_square = squares * unit**2
            # A given alpha is the noise variance of a Gaussian process of scale one; a chosen one only fixes
            # the ratio of noise to signal.
            self._scale = fit.scale * unit**2 if self._chosen else np.ones(len(unit))
        self._likelihood = self._log_likelihood(fit)
        several = self.alpha_per_output or np.ndim(self.alpha) > 0
        self.alpha_ = self._alpha if several and not self._single else float(self._alpha[0])
        self.effective_dof_ = float(self._dof[0])

    def _log_likelihood(self, fit: RidgeFit) -> np.ndarray:
        """Log likelihood per output in units of ``y``; NaN where only its products with K are known."""
        unit = self._unit
        if fit.log_likelihood is None:
            return np.full(len(unit), np.nan)
        if self._chosen:
            likelihood = fit.log_likelihood(None)
        else:  # targets that are much smaller than the process say nothing, much larger ones are impossible
            near = np.clip(unit, 1.0 / _SQUARABLE, _SQUARABLE)
            likelihood = np.where(unit > near, -np.inf, fit.log_likelihood(1.0 / near**2))
            unit = near
        return likelihood - self._free * np.log(unit)

    def _publish(self) -> None:
        """Coefficients and likelihood in the shape of ``y``."""
        self.dual_coef_ = self._shaped(self._dual)
        self.intercept_ = self._shaped(self._intercept)
        if not np.isnan(self._likelihood).any():
            self.log_marginal_likelihood_ = self._shaped(self._likelihood)

    @property
    def _free(self) -> float:
        """Observations less the intercept."""
        return self._observations - int(bool(self.fit_intercept))

    @property
    def _observations(self) -> float:
        """Observations that the rows stand for."""
        if self._all_rows is not None:
            return self._all_observations
        return float(np.maximum(1.0, self.weight_fit_).sum())

    def _leave_one_out(self, fit: RidgeFit, X: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> LeaveOneOut:
        """Leave-one-out of every row in the units of ``Y``; rows of weight zero are left out anyway."""
        residuals = np.empty(Y.shape)
        leverages = np.zeros(Y.shape)
        kept, unit = self._kept, self._unit
        residuals[kept] = fit.loo_residuals * unit
        leverages[kept] = 1.0 - fit.slack
        if not kept.all():
            outside = X[np.ix_(~kept, kept)] if self._precomputed else X[~kept]
            residuals[~kept] = Y[~kept] - self._decision(outside)
        mse = np.einsum("n,nq->q", weight / weight.sum(), (residuals / unit) ** 2)
        with np.errstate(over="ignore"):
            return LeaveOneOut(
                self._shaped(Y - residuals),
                self._shaped(residuals),
                self._shaped(leverages),
                self._shaped(mse * unit**2),
                self._path_in_units(fit.path),
                root_mse=self._shaped(np.sqrt(mse) * unit),
            )

    def _path_in_units(self, path: AlphaPath | None) -> AlphaPath | None:
        if path is None:
            return None
        return AlphaPath(
            path.alphas,
            self._shaped(path.mse * self._unit**2),
            self._shaped(path.gcv * self._unit**2),
            self._shaped(path.log_marginal_likelihood - self._free * np.log(self._unit)),
            path.dof,
            path.error_rate,
        )

    # ------------------------------------------------------------ predicting
    def _get_posterior(self, output: int = 0) -> Posterior:
        """The factored system of one output, made when first asked for and not stored with the model."""
        if self._centres is not None:
            raise ValueError(
                "This model keeps only its landmarks, so it has no posterior and no influence of training "
                "rows: fit it with solver='iterative', or a sample of the rows with solver='cholesky'."
            )
        cache = self.__dict__.setdefault("_posterior", {})
        alpha = float(self._alpha[output])
        if alpha not in cache:
            if self.indefinite == "clip" and not self.kernel_.mercer:
                raise ValueError(
                    "With indefinite='clip' there is no Gaussian process: its covariance would be negative."
                )
            require_memory(len(self.X_fit_), 1.1)
            K = gram(self.kernel_, self.X_fit_)
            cache.clear()
            cache[alpha] = Posterior.start(K, self.weight_fit_, alpha, fit_intercept=bool(self.fit_intercept))
        return cache[alpha]

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {key: value for key, value in state.items() if key != "_posterior"}

    # --------------------------------------------------------------- reading
    def influence(self, X: Any) -> Influence:
        """Which training rows carry the predictions for ``X``, and how much they move when a row leaves.

        Both are exact: the contributions are the terms of the sum that is the prediction, and the effects of
        leaving a row out follow from the same algebra as the leave-one-out errors.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Rows to explain.

        Returns
        -------
        Influence
        """
        X = self._check_new_rows(X)
        self._get_posterior(0)
        K = self._cross_gram(X)
        shape = (len(X), len(self._kept), len(self._intercept))
        contributions, deletion = np.zeros(shape), np.zeros(shape)
        for q in range(shape[2]):
            contributions[:, self._kept, q] = K * self._dual[:, q]
            deletion[:, self._kept, q] = (
                -self._get_posterior(q).deletion_weights(K) * self._loo_residuals[:, q]
            )
        return Influence(self._shaped(contributions), self._shaped(deletion), self._shaped(self._intercept))

    def _part_deletion(self, output: int) -> Callable[[np.ndarray], np.ndarray]:
        def changes(G: np.ndarray) -> np.ndarray:
            weights = self._get_posterior(output).deletion_weights(np.vstack([G, np.zeros(G.shape[1])]))
            # the last row is the intercept's, which is no part
            return -(weights[:-1] - weights[-1]) * self._loo_residuals[:, output]

        return changes

    @property
    def noise_variance_(self) -> np.ndarray:
        """Noise variance of each output: weighted residual sum of squares over what the fit left free."""
        check_is_fitted(self)
        return self._residual_square / np.maximum(self._observations - self._dof, np.finfo(float).eps)

    @property
    def _has_variances(self) -> bool:
        """Whether squares of the targets are numbers."""
        return bool(np.all((self._unit < _SQUARABLE) & (self._unit > 1.0 / _SQUARABLE)))

    def _require_variances(self) -> None:
        if not self._has_variances:
            raise ValueError(
                f"Targets of the order of {self._unit.max():.0e} have no variance in floating point, and so "
                f"no standard deviations: give y in another unit."
            )

    @property
    def _loo_residuals(self) -> np.ndarray:
        return as_columns(self.loo_.residuals)[self._kept]

    def _summary(self, own: list[tuple[str, object]]) -> Summary:
        """Facts that every ridge model has, and those of its own."""
        check_is_fitted(self)
        chosen = f"chosen by {self.alpha}" if self._chosen else "given"
        if "loo_" in vars(self) and self.loo_.path is not None:
            ends = (("smallest", 0), ("largest", -1))
            edge = [name for name, end in ends if np.all(self._alpha == self.loo_.path.alphas[end])]
            chosen += "".join(f", the {name} tried" for name in edge[:1])
        facts: list[tuple[str, object]] = [
            ("rows", self._n_rows),
            ("kernel", str(self.kernel_)),
            ("alpha", f"{_show(self._alpha)} ({chosen})"),
            ("solver", f"{self.solver_}: {self.solver_reason_}"),
            *self._gap_fact(),
            ("effective degrees of freedom", _show(self._dof)),
        ]
        return Summary(type(self).__name__, facts + own)

    @property
    def _n_rows(self) -> int:
        return len(self.weight_fit_) if self._all_rows is None else self._all_rows

    def _gap_fact(self) -> list[tuple[str, object]]:
        report = getattr(self, "solver_report_", None)
        if report is None:
            return []
        how = f"rank {report.rank}" if report.solver == "iterative" else f"{report.rank} landmarks"
        return [("gap to the exact answer", f"{report.gap:.2g} sd of the target ({how}, {report.precision})")]


def as_columns(values: Any) -> np.ndarray:
    """Return values of shape (n,) or (n, q) as (n, q)."""
    values = np.asarray(values)
    return values[:, None] if values.ndim == 1 else values


def _show(values: np.ndarray) -> str:
    unique = np.unique(values)
    return ", ".join(f"{v:.4g}" for v in unique[:4]) + (", ..." if len(unique) > 4 else "")
