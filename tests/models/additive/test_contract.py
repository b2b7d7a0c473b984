"""scikit-learn's own checks for the additive kernel machine.

The checks give a Poisson model positive fractions, which it takes as rates with a ``RateWarning``.
"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor

ESTIMATORS = [
    AdditiveKernelRegressor(),
    AdditiveKernelRegressor(0, loss="gamma"),
    AdditiveKernelRegressor(monotone={0: "increasing"}),
    AdditiveKernelRegressor(0, loss="quantile", quantile=0.4),
    AdditiveKernelClassifier(),
    AdditiveKernelClassifier(0, class_weight="balanced"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::pellucid.exceptions.RateWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
