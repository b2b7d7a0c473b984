"""scikit-learn's own checks for sparse additive models."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from pellucid import SparseAdditiveClassifier, SparseAdditiveRegressor

ESTIMATORS = [
    SparseAdditiveRegressor(cv=3),
    SparseAdditiveRegressor(0.1, n_basis=4),
    SparseAdditiveClassifier(n_basis=3, alphas=[0.2, 0.05, 0.01], cv=3),
    SparseAdditiveClassifier(0.05, loss="squared_hinge", n_basis=3),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
