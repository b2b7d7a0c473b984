"""scikit-learn's own checks, for every estimator and for variants that take other paths through the code."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from pellucid import KernelFisherDiscriminant, KernelRidge, KernelRidgeClassifier, LooSearch
from pellucid.kernels import RBF, Linear

GRID = {"kernel__length_scale": [0.5, 2.0]}
ESTIMATORS = [
    KernelRidge(),
    KernelRidge("matern", alpha=0.1, fit_intercept=False, solver="cholesky"),
    KernelRidge("linear", alpha="gcv", alpha_per_output=True),
    KernelRidge(RBF() + Linear(), alpha="ml", solver="spectral"),
    KernelRidge("precomputed", indefinite="clip"),  # the checks round kernel matrices to whole numbers
    KernelRidgeClassifier(),
    KernelRidgeClassifier(targets="fisher"),
    KernelRidgeClassifier("linear", alpha=0.1, fit_intercept=False),
    KernelFisherDiscriminant(),
    LooSearch(KernelRidge(RBF()), GRID),
    LooSearch(KernelRidge(RBF())),
    LooSearch(KernelRidge("rbf"), ard=True),
    LooSearch(KernelRidgeClassifier(RBF()), GRID),
    LooSearch(KernelRidgeClassifier(RBF())),
    LooSearch(KernelFisherDiscriminant(RBF()), GRID),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
