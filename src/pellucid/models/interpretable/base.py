"""What interpretable kernel models share: projection, coefficients, standard errors."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from pellucid._callers import warn_caller
from pellucid._progress import Watch
from pellucid.data.parameters import check_count
from pellucid.effects import Summary
from pellucid.effects.certificate import Reading
from pellucid.effects.inference import coefficient_errors
from pellucid.effects.linear import LinearView, WeightedColumns
from pellucid.exceptions import FidelityWarning
from pellucid.linalg import apply, column_moments
from pellucid.losses import Loss
from pellucid.models.glm_fit.base import KernelGLMBase
from pellucid.models.kernel_fit.kernel_features import KernelFeatures
from pellucid.solvers import GLMProblem
from pellucid.solvers.alpha_search import Folds, coefficient_columns

_POOR = 0.5  # held-out fidelity below which the linear predictor is another model altogether


class InterpretableBase(KernelGLMBase):
    """What the interpretable regressor and classifier share.

    Parameters
    ----------
    alpha : float or {"cv", "loo"}, default="cv"
        Ridge strength; larger is smoother. ``"cv"`` takes the value of least held-out deviance over folds,
        ``"loo"`` that of least approximate leave-one-out deviance (smooth losses with one score per row). It
        is chosen separately for the kernel model and the projected one.
    certify : int, default=5
        Number of folds for the out-of-sample part of the certificate; 0 leaves it out.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_features, n_classes)
        The coefficients γ of the linear predictor, or of each class's score.
    intercept_ : float or ndarray of shape (n_classes,)
        Intercept of the linear predictor.
    kaf_ : float
        Kernel accounted for, 1 in the exact case.
    certificate_ : Certificate
        Exact or projected, in-sample gap, KAF, held-out fidelity and scores.
    alpha_, kernel_alpha_ : float
        Ridge strength of the model behind the coefficients, and of the full kernel model.
    feature_sd_ : ndarray of shape (n_features,)
        Standard deviations of the features.
    """

    certify: int
    _store_features = True  # coefficients are read from all of them

    def _enter(self, X: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
        check_count(self.certify, "certify", 0)
        if self.certify == 1:
            raise ValueError("certify is a number of folds, 2 or more, or 0 for none; got 1.")
        rows, weight = super()._enter(X, sample_weight)
        if self._precomputed or rows.ndim != 2 or rows.dtype == object:
            raise ValueError(
                "Coefficients need numeric features, and kernel values or objects have none. Pass the "
                "features and a kernel for them, or use KernelGLMRegressor or KernelClassifier."
            )
        return rows, weight

    def _fit_rows(
        self, rows: np.ndarray, problems: Sequence[GLMProblem], folds: Folds, watch: Watch
    ) -> tuple[KernelFeatures, list[GLMProblem], list[Any]]:
        features, problems, fits = super()._fit_rows(rows, problems, folds, watch)  # the kernel model itself
        self.kernel_alpha_ = self.alpha_
        F, weight = features.Z, problems[0].weight
        columns = WeightedColumns.of(rows, weight, fit_intercept=bool(self.fit_intercept))
        exact = columns.exact or columns.hold(F)
        self._Z, self._fits = F, fits
        if not exact:
            self._Z = columns.projected_features(F)
            self.alpha_ = self._choose_alpha(self._Z, problems, folds, watch)
            self._fits = self._solve(self._Z, problems, self.alpha_)
        delta, level = coefficient_columns(self._fits)
        f = self._Z @ delta
        coef = columns.coefficients(f)
        self._linear_coef = coef * self._unit
        self._linear_intercept = (level + columns.share @ f - columns.mean @ coef) * self._unit
        self.coef_ = self._shaped(self._linear_coef)
        self.intercept_ = self._shaped(self._linear_intercept)
        self._columns, self._problems = columns, problems
        self.feature_sd_ = column_moments(rows, weight)[1]
        reading = Reading(F, columns, problems, exact, self.kernel_alpha_, self.alpha_, self.max_iter)
        self.certificate_ = reading.certificate(
            self._scores_fit / self._unit,
            columns.fitted(f) + level,
            self.certify,
            classes=isinstance(self, ClassifierMixin),
        )
        self.kaf_ = self.certificate_.kaf
        return features, problems, fits

    def _publish(self, losses: list[Loss]) -> None:
        self.kernel_alpha_ *= self._alpha_unit
        super()._publish(losses)

    def _scores(self, X: Any, how: str = "linear") -> np.ndarray:
        if how not in ("linear", "kernel"):
            raise ValueError(f"how must be 'linear' or 'kernel', got {how!r}.")
        if how == "kernel":
            return super()._scores(X)
        rows = self._check_new_rows(X)
        quality = self.certificate_.fidelity
        if quality is not None and quality < _POOR:
            warn_caller(
                f"The linear predictor follows the kernel model poorly on new rows (held-out fidelity R² "
                f"{quality:.2f}). The coefficients describe the fitted values; to predict new rows like the "
                f"kernel model, use how='kernel'.",
                FidelityWarning,
            )
        return apply(rows, self._linear_coef) + self._linear_intercept

    @property
    def coefficient_names_(self) -> list[str]:
        """Names of the features."""
        return self._names

    def linear_view(self, X: Any = None) -> LinearView:
        """The model as a linear one, with its certificate; with ``X``, the kernel model on those rows."""
        check_is_fitted(self)
        if X is not None:
            return super().linear_view(X)
        return LinearView(
            self.coef_,
            self.intercept_,
            self.certificate_,
            self._names,
            self.feature_sd_,
            self._outputs,
        )

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
        table = errors.table(self._linear_coef[:, output], self._unit, self.feature_sd_, level)
        return pd.DataFrame(table, index=pd.Index(self._names, name="feature"))

    def summary(self) -> Summary:
        """What was fitted, with the certificate; print it."""
        check_is_fitted(self)
        certificate = [tuple(line.split("  ", 1)) for line in str(self.certificate_).splitlines()]
        facts: list[tuple[str, object]] = [(label.strip(), text.strip()) for label, text in certificate]
        return Summary(type(self).__name__, self._facts() + facts)
