"""What interpretable kernel models share: projection, certificate, standard errors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.data.parameters import check_count
from pellucid.data.rows import is_precomputed
from pellucid.effects import Summary
from pellucid.effects.inference import coefficient_errors
from pellucid.effects.linear import Certificate, LinearView, WeightedColumns, fidelity, in_sample_gap
from pellucid.exceptions import FidelityWarning
from pellucid.linalg import apply, column_moments
from pellucid.models.common.glm_base import KernelGLMBase
from pellucid.models.common.glm_fit import Folds, side_by_side, solve
from pellucid.models.common.linear_reading import output_names
from pellucid.solvers import GLMProblem

_POOR = 0.5  # held-out fidelity below which the linear predictor is another model altogether


class InterpretableBase(KernelGLMBase):
    """What the interpretable regressor and classifier share."""

    certify: int
    _exact: bool  # whether the kernel is linear in the features, as far as the training rows can tell

    def _enter(self, X: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
        check_count(self.certify, "certify", 0)
        if self.certify == 1:
            raise ValueError("certify is a number of folds, 2 or more, or 0 for none; got 1.")
        rows, weight = super()._enter(X, sample_weight)
        if is_precomputed(self.kernel) or rows.ndim != 2 or rows.dtype == object:
            raise ValueError(
                "Coefficients need numeric features, and kernel values or objects have none. Pass the "
                "features and a kernel for them, or use KernelGLMRegressor or KernelClassifier."
            )
        return rows, weight

    def _fit_problems(
        self, rows: np.ndarray, problems: Sequence[GLMProblem], folds: Folds, kept: np.ndarray
    ) -> None:
        super()._fit_problems(rows, problems, folds, kept)  # the kernel model itself
        self.kernel_alpha_ = self.alpha_
        weight = problems[0].weight
        F = self._kernel_features.Z
        columns = WeightedColumns.of(rows, weight, fit_intercept=bool(self.fit_intercept))
        self._columns, self._problems, self._weight = columns, problems, weight
        self._exact = columns.exact or columns.hold(F)
        if self._exact:
            self._Z, self._fits = F, self._kernel_fits
        else:
            self._Z = columns.projected_features(F)
            self.alpha_ = self._choose_alpha(self._Z, problems, folds)
            self._fits = self._solve(self._Z, problems, self.alpha_)
        delta, level = side_by_side(self._fits)
        f = self._Z @ delta
        self._linear_coef = columns.coefficients(f)
        self._linear_intercept = level + columns.share @ f - columns.mean @ self._linear_coef
        self.feature_sd_ = column_moments(rows, weight)[1]
        self.certificate_ = self._certify(columns.fitted(f) + level, F)
        self.kaf_ = self.certificate_.kaf

    def _certify(self, linear: np.ndarray, F: np.ndarray) -> Certificate:
        """Compare linear and kernel predictor, on the training rows and on rows held out of both."""
        weight = self._weight
        kernel = self._scores_fit
        gap = in_sample_gap(kernel, linear, weight)
        kaf = 1.0 if self._exact else self._columns.kaf(F)
        if not self.certify or len(F) < 2 * self.certify or self._columns.space.rank == 0:
            return Certificate(self._exact, kaf, gap, None, None, None, None, "not computed")
        held_linear, held_kernel = self._held_out(self._columns.coordinates, F)
        classes = isinstance(self, ClassifierMixin)
        agreement = None
        if classes:
            same = _winner(held_linear) == _winner(held_kernel)
            agreement = float(weight @ same / weight.sum())
        return Certificate(
            self._exact,
            kaf,
            gap,
            fidelity(held_kernel, held_linear, weight),
            agreement,
            self._held_out_score(held_linear),
            self._held_out_score(held_kernel),
            f"{self.certify}-fold",
        )

    def _held_out(self, rows: np.ndarray, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Linear and kernel predictors of each row by models that never saw it, at the alphas in use."""
        n = len(rows)
        order = np.random.default_rng(0).permutation(n)
        linear = np.empty((n, len(self._intercept)))
        kernel = np.empty_like(linear)
        for test in np.array_split(order, self.certify):
            train = np.setdiff1d(np.arange(n), test)
            problems = [p.rows(train) for p in self._problems]
            weight = self._weight[train]
            fits = [solve(F[train], p, self.kernel_alpha_, max_iter=self.max_iter) for p in problems]
            delta, level = side_by_side(fits)
            kernel[test] = F[test] @ delta + level
            columns = WeightedColumns.of(rows[train], weight, fit_intercept=bool(self.fit_intercept))
            Z = F[train]
            if not self._exact:
                Z = columns.projected_features(F[train])
                fits = [solve(Z, p, self.alpha_, max_iter=self.max_iter) for p in problems]
                delta, level = side_by_side(fits)
            f = Z @ delta
            coef = columns.coefficients(f)
            linear[test] = (rows[test] - columns.mean) @ coef + columns.share @ f + level
        return linear, kernel

    def _held_out_score(self, scores: np.ndarray) -> float:
        """Accuracy of classes, share of deviance explained otherwise."""
        weight = self._weight
        if isinstance(self, ClassifierMixin):
            p = self._problems[0]
            truth = p.y if len(self._problems) == 1 else np.argmax([p.y for p in self._problems], axis=0)
            known = p.offset if p.offset.ndim == 2 else p.offset[:, None]
            return float(weight @ (_winner(scores + known) == truth) / weight.sum())
        p = self._problems[0]
        null = p.offset + p.loss.best_constant(p.y, p.weight, p.offset)
        loss: Any = p.loss
        reached = weight @ loss.deviance(p.y, p.offset + scores[:, 0])
        worst = weight @ loss.deviance(p.y, null)
        return float(1.0 - reached / worst) if worst > 0 else 1.0

    def _linear_scores(self, rows: np.ndarray) -> np.ndarray:
        quality = self.certificate_.fidelity
        if quality is not None and quality < _POOR:
            warnings.warn(
                f"The linear predictor follows the kernel model poorly on new rows (held-out fidelity R² "
                f"{quality:.2f}). The coefficients describe the fitted values; to predict new rows like the "
                f"kernel model, use how='kernel'.",
                FidelityWarning,
                stacklevel=4,
            )
        return apply(rows, self._linear_coef) + self._linear_intercept

    def _scores_by(self, X: Any, how: str) -> np.ndarray:
        rows = self._check_new_rows(X)
        if how == "linear":
            return self._linear_scores(rows)
        if how == "kernel":
            return self._scores(rows)
        raise ValueError(f"how must be 'linear' or 'kernel', got {how!r}.")

    @property
    def coefficient_names_(self) -> list[str]:
        """Names of the features."""
        names = getattr(self, "feature_names_in_", None)
        return [f"x{c}" for c in range(self.n_features_in_)] if names is None else list(names)

    def linear_view(self, X: Any = None) -> LinearView:
        """The model as a linear one, with its certificate; with ``X``, the kernel model on those rows."""
        check_is_fitted(self)
        if X is not None:
            return super().linear_view(X)
        return LinearView(
            self.coef_,
            self._shaped(self._linear_intercept),
            self.certificate_,
            self.coefficient_names_,
            self.feature_sd_,
            output_names(self, len(self._intercept)),
        )

    def _shaped(self, values: np.ndarray) -> Any:
        if len(self._intercept) > 1:
            return values
        return float(values[0]) if values.ndim == 1 else values[:, 0]

    def coefficient_frame(
        self, *, level: float = 0.95, kind: str = "model", groups: Any = None, output: int = 0
    ) -> Any:
        """Coefficients with standard errors, intervals and p-values, as a pandas data frame.

        Parameters
        ----------
        level : float, default=0.95
            Coverage of the intervals.
        kind : {"model", "robust", "clustered"}, default="model"
            Standard errors that take the model's variance at its word; that allow any variance (HC3); or
            that allow rows of one group to hang together.
        groups : array-like of shape (n,), optional
            Group of each training row, for clustered errors.
        output : int, default=0
            Which class, for one-against-rest models.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``coefficient``, ``per_sd`` (in units of one standard deviation of the feature),
            ``standard_error``, ``low``, ``high``, ``p_value``.

        Notes
        -----
        Intervals are for the *penalised* estimand: what the fit at this alpha estimates on average.
        Shrinkage, and the choice of alpha, are not in them.
        """
        check_is_fitted(self)
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, got {level!r}.")
        if not 0 <= output < len(self._problems):
            raise ValueError(f"output must be below {len(self._problems)}, got {output!r}.")
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("coefficient_frame needs pandas: pip install pandas") from None
        problem, fit = self._problems[output], self._fits[output]
        if problem.loss.multiclass or not problem.loss.smooth:
            raise ValueError(
                f"Standard errors and p-values do not exist for the {self.loss_.name} loss; use "
                f"stability() to see how coefficients vary."
            )
        if groups is not None:
            groups = np.asarray(groups)
            if groups.shape != self._kept.shape:
                raise ValueError(
                    f"groups must have one label per training row ({len(self._kept)}), got shape "
                    f"{groups.shape}."
                )
            groups = groups[self._kept]
        errors = coefficient_errors(self._columns, self._Z, problem, fit, kind=kind, groups=groups)
        coef = self._linear_coef[:, output]
        se = errors.standard_error
        reach = stats.t.ppf(0.5 + level / 2.0, errors.free) * se
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(se > 0, coef / se, 0.0)
        return pd.DataFrame(
            {
                "coefficient": coef,
                "per_sd": coef * self.feature_sd_,
                "standard_error": se,
                "low": coef - reach,
                "high": coef + reach,
                "p_value": np.where(se > 0, 2.0 * stats.t.sf(np.abs(t), errors.free), 1.0),
            },
            index=pd.Index(self.coefficient_names_, name="feature"),
        )

    def summary(self) -> Summary:
        """What was fitted, with the certificate; print it."""
        check_is_fitted(self)
        certificate = [tuple(line.split("  ", 1)) for line in str(self.certificate_).splitlines()]
        facts: list[tuple[str, object]] = [(label.strip(), text.strip()) for label, text in certificate]
        return Summary(type(self).__name__, self._facts() + facts)


def _winner(scores: np.ndarray) -> np.ndarray:
    return (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else np.argmax(scores, axis=1)
