"""A weight is how often a row counts: two for a row that stands twice, zero for one that is not there."""

import numpy as np
import pytest
from glm_oracles import BINARY, REGRESSION, sample

from pellucid import (
    InterpretableKernelClassifier,
    InterpretableKernelRegressor,
    KernelClassifier,
    KernelGLMRegressor,
)
from pellucid.kernels import RBF

N = 30
COPIES = np.random.default_rng(3).integers(0, 4, N)
INDEX = np.repeat(np.arange(N), COPIES)
LOSSES = (*REGRESSION, *BINARY, "multinomial")


def folds(row):
    """Three folds that keep copies of a row together."""
    return [(np.flatnonzero(row % 3 != f), np.flatnonzero(row % 3 == f)) for f in range(3)]


def pair(name, interpretable, p=3, kernel=None, **options):
    """The same model with weights, and with repeated rows."""
    X, y = sample(name, N, p=p)
    regression = name in REGRESSION
    kinds = {
        (True, True): InterpretableKernelRegressor,
        (True, False): InterpretableKernelClassifier,
        (False, True): KernelGLMRegressor,
        (False, False): KernelClassifier,
    }
    kind = kinds[interpretable, regression]
    options = {"loss": "logistic" if name == "multinomial" else name, "alpha": 0.3} | options
    if interpretable:
        options["certify"] = 0
    one = kind(kernel or RBF.from_gamma(0.2), **options)
    many = kind(kernel or RBF.from_gamma(0.2), **options)
    if options["alpha"] == "cv":
        many.set_params(cv=folds(INDEX))
    return X, one.fit(X, y, sample_weight=COPIES), many.fit(X[INDEX], y[INDEX])


def check(X, one, many, rtol=1e-7):
    assert one.alpha_ == pytest.approx(many.alpha_, rel=1e-9)
    method = "predict" if hasattr(one, "loss") and one.loss in REGRESSION else "decision_function"
    options = [{}, {"how": "kernel"}] if hasattr(one, "kaf_") else [{}]
    for how in options:
        first, second = getattr(one, method)(X, **how), getattr(many, method)(X, **how)
        np.testing.assert_allclose(first, second, rtol=rtol, atol=1e-7)
    if hasattr(one, "kaf_"):
        np.testing.assert_allclose(one.coef_, many.coef_, rtol=rtol, atol=1e-7)
        assert one.kaf_ == pytest.approx(many.kaf_, abs=1e-10)
        assert one.certificate_.exact == many.certificate_.exact
        np.testing.assert_allclose(one.feature_sd_, many.feature_sd_, rtol=1e-10)


@pytest.mark.parametrize("interpretable", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_given_alpha(name, interpretable):
    check(*pair(name, interpretable))


@pytest.mark.parametrize("name", ["squared", "logistic"])
def test_more_features_than_rows(name):
    check(*pair(name, True, p=40, kernel=RBF.from_gamma(0.02)))


@pytest.mark.parametrize("interpretable", [False, True])
@pytest.mark.parametrize("name", ["squared", "poisson", "gamma", "logistic"])
def test_alpha_by_leave_one_out(name, interpretable):
    check(*pair(name, interpretable, alpha="loo"))


@pytest.mark.parametrize("interpretable", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_alpha_by_folds(name, interpretable):
    check(*pair(name, interpretable, alpha="cv", cv=folds(np.arange(N)), alphas=[0.01, 0.1, 1.0]))


def test_length_scale_of_a_named_kernel():
    check(*pair("poisson", True, kernel="rbf", alpha="loo"))


@pytest.mark.parametrize("name", ["poisson", "logistic"])
def test_rows_of_weight_zero_are_not_there_for_a_splitter(name):
    X, y = sample(name, N)
    kept = COPIES > 0
    kind = KernelGLMRegressor if name == "poisson" else KernelClassifier
    one = kind(RBF(), loss=name).fit(X, y, sample_weight=kept.astype(float))
    other = kind(RBF(), loss=name).fit(X[kept], y[kept])
    assert one.alpha_ == other.alpha_
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_precomputed_kernel_with_weights_of_zero():
    X, y = sample("logistic", N)
    K, kept = RBF()(X, X), COPIES > 0
    one = KernelClassifier("precomputed", alpha=0.3).fit(K, y, sample_weight=kept.astype(float))
    other = KernelClassifier(RBF(), alpha=0.3).fit(X[kept], y[kept])
    np.testing.assert_allclose(one.decision_function(K), other.decision_function(X), atol=1e-9)
