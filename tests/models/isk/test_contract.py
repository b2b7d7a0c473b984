"""The scikit-learn contract of the ISK estimators and of the feature maps, with no expected failures."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from pellucid import ISKClassifier, ISKRegressor
from pellucid.features import PairwiseFourierFeatures, RandomFourierFeatures

ESTIMATORS = [
    ISKRegressor(n_components=4, cv=3),
    ISKClassifier(n_components=4, cv=3),
    ISKClassifier(loss="hinge", sigma=2.0, alpha=0.01, sparse_alpha=0.02, l1_ratio=0.5, n_components=10),
    PairwiseFourierFeatures(),
    RandomFourierFeatures(),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
