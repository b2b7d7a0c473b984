"""What all kernel ridge estimators share: entry of data, the fit, predictions, and reading the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from pellucid.data.parameters import check_alpha, check_alphas
from pellucid.data.rows import check_rows, check_square, is_precomputed
from pellucid.data.weights import check_weight
from pellucid.effects import AlphaPath, Influence, LeaveOneOut, MarginalEffects, Summary, marginal_effects
from pellucid.effects.linear import LinearView
from pellucid.kernels import ALIASES, as_kernel
from pellucid.linalg import calm_threads, power_of_two, require_memory, row_blocks
from pellucid.models.common.length_scale import choose_length_scale
from pellucid.models.common.linear_reading import output_names, read_linear
from pellucid.models.common.ridge_fit import RidgeFit, Score, Settings, fit_ridge, gram
from pellucid.solvers import Fits, Posterior


class KernelRidgeBase(BaseEstimator):
    """Shared machinery of estimators that fit one or more targets by kernel ridge."""

    kernel: Any
    alpha: Any
    alphas: Any
    fit_intercept: bool
    solver: str
    indefinite: str
    _single: bool  # whether targets have one dimension
    _alpha_floor = 1e-9  # smallest alpha tried, relative to the mean variance of the kernel

    # --------------------------------------------------------------- fitting
    def _enter(self, X: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
        """Check rows and weights."""
        if not isinstance(self.fit_intercept, bool | np.bool_):
            raise ValueError(f"fit_intercept must be True or False, got {self.fit_intercept!r}.")
        if self.indefinite not in ("raise", "clip"):
            raise ValueError(f"indefinite must be 'raise' or 'clip', got {self.indefinite!r}.")
        for name in ("X_fit_", "_posterior"):
            self.__dict__.pop(name, None)
        rows = check_rows(self, X, self.kernel, reset=True)
        if self._precomputed:
            check_square(rows)
        return rows, check_weight(sample_weight, len(rows))

    def _fit_targets(
        self,
        X: np.ndarray,
        Y: np.ndarray,
        weight: np.ndarray,
        *,
        score: Callable[[np.ndarray], np.ndarray] | None = None,
        per_output: bool = False,
    ) -> RidgeFit:
        """Fit targets of shape (n, q); stores everything but ``loo_``.

        ``score`` maps held-out predictions of shape (alphas, rows of positive weight, q) to a figure per
        alpha. Rows of weight zero are dropped, targets are shifted and scaled by powers of two, so neither an
        offset nor the unit of ``y`` costs accuracy.
        """
        kept = weight > 0
        rows = self._training_rows(X, kept)
        s = weight[kept]
        first = Y[kept][0]  # differences from it are exactly zero where targets are constant
        shift = first + s / s.sum() @ (Y[kept] - first) if self.fit_intercept else np.zeros(Y.shape[1])
        unit = power_of_two(np.abs(Y[kept] - shift).max(axis=0))
        targets = (Y[kept] - shift) / unit
        settings = Settings(
            check_alpha(self.alpha, Y.shape[1]),
            None if self.alphas is None else check_alphas(self.alphas),
            bool(self.fit_intercept),
            self.solver,
            per_output,
            self.indefinite,
            self._alpha_floor,
        )
        if settings.criterion is not None and len(targets) < 2:
            raise ValueError(
                f"Choosing alpha by {self.alpha!r} needs at least 2 rows, got n_samples = {len(targets)}. "
                f"Pass alpha as a number."
            )
        figure: Score | None = None
        if score is not None:

            def figure(fits: Fits) -> np.ndarray:
                return score((targets - fits.held_out_residuals) * unit + shift)

        with calm_threads(rows):
            path = None
            if isinstance(self.kernel, str) and self.kernel in ALIASES:
                kernel, path = choose_length_scale(ALIASES[self.kernel], rows, targets, s, settings, figure)
            else:
                names = getattr(self, "feature_names_in_", None)
                kernel = as_kernel(self.kernel, rows).bind(None if names is None else list(names))
            fit = fit_ridge(kernel, rows, targets, s, settings, score=figure, path=path)
        self._store(fit, rows, s, kept, shift, unit, settings)
        return fit

    def _training_rows(self, X: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Rows of positive weight; a copy, so that the caller may go on to change the array."""
        if not self._precomputed:
            return X[kept]
        return X if kept.all() else X[np.ix_(kept, kept)]

    def _store(
        self,
        fit: RidgeFit,
        rows: np.ndarray,
        weight: np.ndarray,
        kept: np.ndarray,
        shift: np.ndarray,
        unit: np.ndarray,
        settings: Settings,
    ) -> None:
        self.kernel_ = fit.kernel
        self.X_fit_ = rows
        self.weight_fit_ = weight
        self.solver_ = fit.choice.name
        self.solver_reason_ = fit.choice.reason
        self._alpha = fit.alpha
        self._dual = fit.dual_coef * unit
        self._primal = None if fit.primal_coef is None else fit.primal_coef * unit
        self._intercept = fit.intercept * unit + shift
        self._kept = kept
        self._unit, self._shift = unit, shift
        self._chosen = settings.criterion is not None
        # A given alpha is the noise variance of a Gaussian process of scale one; a chosen one only fixes the
        # ratio of noise to signal.
        self._scale = fit.scale * unit**2 if self._chosen else np.ones(len(unit))
        free = np.maximum(1.0, weight).sum() - int(settings.fit_intercept)
        likelihood = fit.log_likelihood(None if self._chosen else 1.0 / unit**2)
        self._likelihood = likelihood - free * np.log(unit)
        self._criteria = fit.criteria
        self._residual_square = np.einsum("n,nq->q", weight, fit.residuals**2) * unit**2
        self._dof = fit.slack.shape[0] - fit.slack.sum(axis=0)

    def _leave_one_out(self, fit: RidgeFit, X: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> LeaveOneOut:
        """Leave-one-out of every row in the units of ``Y``; rows of weight zero are left out anyway."""
        residuals = np.empty(Y.shape)
        leverages = np.zeros(Y.shape)
        kept = self._kept
        residuals[kept] = fit.loo_residuals * self._unit
        leverages[kept] = 1.0 - fit.slack
        if not kept.all():
            outside = X[np.ix_(~kept, kept)] if self._precomputed else X[~kept]
            residuals[~kept] = Y[~kept] - self._decision(outside)
        share = weight / weight.sum()
        mse = np.einsum("n,nq->q", share, (residuals / self._unit) ** 2) * self._unit**2
        return LeaveOneOut(
            self._shaped(Y - residuals),
            self._shaped(residuals),
            self._shaped(leverages),
            self._shaped(mse),
            self._path_in_units(fit.path),
        )

    def _path_in_units(self, path: AlphaPath | None) -> AlphaPath | None:
        if path is None:
            return None
        free = np.maximum(1.0, self.weight_fit_).sum() - int(self.fit_intercept)
        return AlphaPath(
            path.alphas,
            self._shaped(path.mse * self._unit**2),
            self._shaped(path.gcv * self._unit**2),
            self._shaped(path.log_marginal_likelihood - free * np.log(self._unit)),
            path.dof,
            path.error_rate,
        )

    def _shaped(self, values: np.ndarray) -> Any:
        """Results per output in the shape of ``y``: without the last axis where ``y`` has one dimension."""
        if not self._single:
            return values
        return float(values[0]) if values.ndim == 1 else values[..., 0]

    # ------------------------------------------------------------ predicting
    def _check_new_rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return check_rows(self, X, self.kernel, reset=False)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "X_fit_")

    @property
    def _precomputed(self) -> bool:
        """Whether the rows of ``X`` are rows of a kernel matrix."""
        return is_precomputed(self.kernel)

    def _cross_gram(self, X: np.ndarray) -> np.ndarray:
        if self._precomputed and X.shape[1] == len(self._kept):
            X = X[:, self._kept]  # columns are all training rows, those of weight zero included
        # kernels may take Y is X for a Gram matrix, which has the noise of noisy kernels on its diagonal
        return self.kernel_._gram(X, self.X_fit_[:])

    def _decision(self, X: np.ndarray) -> np.ndarray:
        """Predictions of shape (m, q) for checked rows, a block of rows at a time."""
        out = np.empty((len(X), len(self._intercept)))
        for block in row_blocks(len(X), 8.0 * 3 * len(self.X_fit_)):
            if self._primal is not None:
                out[block] = self.kernel_.features(X[block]) @ self._primal
            else:
                out[block] = self._cross_gram(X[block]) @ self._dual
        return out + self._intercept

    def _get_posterior(self, output: int = 0) -> Posterior:
        """The factored system of one output, made when first asked for and not stored with the model."""
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
        K = self._cross_gram(X)
        shape = (len(X), len(self._kept), len(self._intercept))
        contributions, deletion = np.zeros(shape), np.zeros(shape)
        for q in range(shape[2]):
            contributions[:, self._kept, q] = K * self._dual[:, q]
            deletion[:, self._kept, q] = (
                -self._get_posterior(q).deletion_weights(K) * self._loo_residuals[:, q]
            )
        return Influence(self._shaped(contributions), self._shaped(deletion), self._shaped(self._intercept))

    def linear_view(self, X: Any = None) -> LinearView:
        """Read the fitted function as a linear one: coefficients on the features, with a certificate.

        Parameters
        ----------
        X : array-like of shape (m, n_features), optional
            Rows on which to read it; by default the training rows.

        Returns
        -------
        LinearView
            Its coefficients are those of the linear function nearest to the model's scores on these rows. The
            held-out fidelity in its certificate is that of the reading; the model is not fitted again.
        """
        check_is_fitted(self)
        rows = self.X_fit_ if X is None else self._check_new_rows(X)
        return read_linear(
            self.kernel_,
            rows,
            self.weight_fit_ if X is None else np.ones(len(rows)),
            self._decision(rows),
            fit_intercept=bool(self.fit_intercept),
            names=getattr(self, "feature_names_in_", None),
            outputs=output_names(self, len(self._intercept)),
        )

    def _marginal_effects(self, X: Any, output: int) -> MarginalEffects:
        check_is_fitted(self)
        if self._precomputed:
            raise ValueError("A precomputed kernel has no derivatives with respect to features.")
        X = self.X_fit_ if X is None else self._check_new_rows(X)
        names = getattr(self, "feature_names_in_", None)
        names = [f"x{c}" for c in range(X.shape[1])] if names is None else list(names)
        return marginal_effects(
            self.kernel_,
            X,
            self.X_fit_,
            self._dual[:, output],
            self._get_posterior(output),
            float(self.noise_variance_[output]),
            names,
        )

    @property
    def noise_variance_(self) -> np.ndarray:
        """Noise variance of each output: weighted residual sum of squares over what the fit left free."""
        check_is_fitted(self)
        observations = np.maximum(1.0, self.weight_fit_).sum()
        free = np.maximum(observations - self._dof, np.finfo(float).eps)
        return self._residual_square / free

    @property
    def _loo_residuals(self) -> np.ndarray:
        return as_columns(self.loo_.residuals)[self._kept]

    def _facts(self) -> list[tuple[str, object]]:
        """Facts that every ridge model has."""
        chosen = f"chosen by {self.alpha}" if self._chosen else "given"
        alpha = f"{_show(self._alpha)} ({chosen})"
        if self.loo_.path is not None:
            edge = [
                name
                for name, end in (("smallest", 0), ("largest", -1))
                if np.all(self._alpha == self.loo_.path.alphas[end])
            ]
            alpha = alpha[:-1] + "".join(f", the {name} tried" for name in edge[:1]) + ")"
        return [
            ("rows", len(self.X_fit_)),
            ("kernel", str(self.kernel_)),
            ("alpha", alpha),
            ("solver", f"{self.solver_}: {self.solver_reason_}"),
            ("effective degrees of freedom", _show(self._dof)),
        ]

    def _summary(self, facts: list[tuple[str, object]]) -> Summary:
        return Summary(type(self).__name__, self._facts() + facts)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = False
        return tags


def as_columns(values: Any) -> np.ndarray:
    """Return values of shape (n,) or (n, q) as (n, q)."""
    values = np.asarray(values)
    return values[:, None] if values.ndim == 1 else values


def _show(values: np.ndarray) -> str:
    unique = np.unique(values)
    return ", ".join(f"{v:.4g}" for v in unique[:4]) + (", ..." if len(unique) > 4 else "")
