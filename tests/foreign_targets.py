"""For scikit-learn's checks: models of proportions and times that take the numbers which the checks have."""

import numpy as np
from scipy.special import expit

from pellucid import AdditiveKernelRegressor, KernelGLMRegressor


class _OtherTargets:
    """Changes targets on their way in; those that are no finite numbers are left for the model to refuse."""

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X, self._changed(y), sample_weight)

    def score(self, X, y, sample_weight=None):
        return super().score(X, self._changed(y), sample_weight)

    def _changed(self, y):
        if getattr(y, "dtype", None) is not None and y.dtype.kind == "c":
            return y
        try:
            numbers = np.asarray(y, dtype=float)
        except (TypeError, ValueError):
            return y
        return self._change(numbers) if np.all(np.isfinite(numbers)) else y

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # it is not the targets of the checks that are fitted
        return tags


class _Shares(_OtherTargets):
    @staticmethod
    def _change(y):
        return expit(y / 10.0)


class _Times(_OtherTargets):
    """After all of which something happens."""

    @staticmethod
    def _change(y):
        return np.exp(y / 50.0)


class AdditiveShares(_Shares, AdditiveKernelRegressor):
    pass


class AdditiveTimes(_Times, AdditiveKernelRegressor):
    pass


class KernelShares(_Shares, KernelGLMRegressor):
    pass


class KernelTimes(_Times, KernelGLMRegressor):
    pass


def unfit(estimator):
    """Checks that a loss cannot pass, and why."""
    if estimator.loss == "cox":
        why = "a row given twice is a tie, which Efron's method takes apart"
        return {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in ("dense", "sparse")}
    if estimator.loss == "ordinal":
        return {"check_classifiers_classes": "text has no order, and the model refuses to guess one"}
    return {}
