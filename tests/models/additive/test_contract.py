"""scikit-learn's own checks for the additive kernel machine.

The checks give a Poisson model positive fractions, which it takes as rates with a ``RateWarning``. They know
neither proportions nor times: :mod:`foreign_targets` brings their targets into the form that a loss needs.
"""

import pytest
from foreign_targets import AdditiveShares, AdditiveTimes, unfit
from sklearn.utils.estimator_checks import parametrize_with_checks

from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor
from pellucid.losses import NegativeBinomial, Tweedie

ESTIMATORS = [
    AdditiveKernelRegressor(),
    AdditiveKernelRegressor(0, loss="gamma"),
    AdditiveKernelRegressor(monotone={0: "increasing"}),
    AdditiveKernelRegressor(0, loss="quantile", quantile=0.4),
    AdditiveKernelRegressor(0, loss=NegativeBinomial(0.5)),
    AdditiveKernelRegressor(0, loss=Tweedie(1.5)),
    AdditiveShares(0, loss="binomial"),
    AdditiveTimes(0, loss="cox"),
    AdditiveKernelClassifier(),
    AdditiveKernelClassifier(0, class_weight="balanced"),
    AdditiveKernelClassifier(0, loss="ordinal"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::pellucid.exceptions.RateWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=unfit)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
