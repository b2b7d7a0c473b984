"""scikit-learn's own checks for kernel GLMs and interpretable models.

The checks give a Poisson model positive fractions, which it takes as rates with a ``RateWarning``, and they
predict from a few rows with more features, where coefficients rightly bring a ``FidelityWarning``. They know
neither proportions nor times: :mod:`foreign_targets` brings their targets into the form that a loss needs.
"""

import pytest
from foreign_targets import KernelShares, KernelTimes, unfit
from sklearn.utils.estimator_checks import parametrize_with_checks

from pellucid import (
    InterpretableKernelClassifier,
    InterpretableKernelRegressor,
    KernelClassifier,
    KernelGLMRegressor,
)
from pellucid.kernels import RBF
from pellucid.losses import Tweedie

ESTIMATORS = [
    KernelGLMRegressor(),
    KernelGLMRegressor(loss="gamma", alpha="loo"),
    KernelGLMRegressor(RBF(), loss="squared"),
    KernelGLMRegressor(RBF(5.0), loss="quantile", quantile=0.4, alpha=0.1),
    KernelGLMRegressor(RBF(), loss=Tweedie(1.5), alpha=0.1),
    KernelGLMRegressor(RBF(), loss="huber", alpha=0.1),
    KernelGLMRegressor(RBF(), loss="expectile", quantile=0.7, alpha=0.1),
    KernelGLMRegressor(RBF(), loss="negative_binomial", alpha=0.1),
    KernelShares(RBF(), loss="binomial", alpha=0.1),
    KernelTimes(RBF(), loss="cox", alpha=0.1),
    KernelClassifier(),
    KernelClassifier(RBF(), loss="ordinal", alpha=0.1),
    KernelClassifier(RBF(), loss="hinge", alpha=0.1),
    KernelClassifier(loss="squared_hinge", alpha="loo"),
    InterpretableKernelRegressor(),
    InterpretableKernelClassifier(RBF(), alpha=0.1),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::pellucid.exceptions.RateWarning")
@pytest.mark.filterwarnings("ignore::pellucid.exceptions.FidelityWarning")
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=unfit)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
