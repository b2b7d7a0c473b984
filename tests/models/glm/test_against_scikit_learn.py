"""Equal to scikit-learn's models where it has them, on features of the kernel or on the kernel matrix."""

import warnings

import numpy as np
import pytest
from glm_oracles import rbf, sample, side, spectral
from sklearn.linear_model import GammaRegressor, LogisticRegression, PoissonRegressor
from sklearn.svm import SVC

from pellucid import KernelClassifier, KernelGLMRegressor, KernelRidge

N = 80


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [0.01, 1.0])
@pytest.mark.parametrize("name", ["logistic", "multinomial"])
def test_logistic_regression(name, alpha, weighted):
    X, y = sample(name, N)
    K, weight = rbf(X), side(N)[0] if weighted else None
    Z = spectral(K)
    model = KernelClassifier("precomputed", alpha=alpha).fit(K, y, sample_weight=weight)
    other = LogisticRegression(C=1 / alpha, solver="newton-cg", tol=1e-12, max_iter=10_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its line search may give up at rounding error
        other.fit(Z, y, sample_weight=weight)
    np.testing.assert_allclose(model.predict_proba(K), other.predict_proba(Z), atol=1e-6)
    if name == "logistic":
        np.testing.assert_allclose(model.decision_function(K), other.decision_function(Z), atol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [0.01, 0.1, 10.0])
def test_support_vector_machine(alpha, weighted):
    X, y = sample("hinge", N)
    K, weight = rbf(X), side(N)[0] if weighted else None
    model = KernelClassifier("precomputed", loss="hinge", alpha=alpha).fit(K, y, sample_weight=weight)
    other = SVC(kernel="precomputed", C=1 / alpha, tol=1e-8).fit(K, y, sample_weight=weight)
    np.testing.assert_allclose(model.decision_function(K), other.decision_function(K), atol=1e-4)
    assert set(np.flatnonzero(np.abs(model.dual_coef_) > 1e-6)) <= set(other.support_)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_kernel_ridge(fit_intercept):
    X, y = sample("squared", N)
    K, weight = rbf(X), side(N)[0]
    options = {"alpha": 0.1, "fit_intercept": fit_intercept}
    model = KernelGLMRegressor("precomputed", loss="squared", **options).fit(K, y, sample_weight=weight)
    ridge = KernelRidge("precomputed", **options).fit(K, y, sample_weight=weight)
    np.testing.assert_allclose(model.predict(K), ridge.predict(K), atol=1e-9)
    np.testing.assert_allclose(model.dual_coef_, ridge.dual_coef_, atol=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [0.1, 10.0])
@pytest.mark.parametrize(("name", "other"), [("poisson", PoissonRegressor), ("gamma", GammaRegressor)])
def test_log_link(name, other, alpha, weighted):
    X, y = sample(name, N)
    K, weight = rbf(X), side(N)[0] if weighted else np.ones(N)
    Z = spectral(K)
    model = KernelGLMRegressor("precomputed", loss=name, alpha=alpha).fit(K, y, sample_weight=weight)
    # its objective is the mean of the half deviances plus alpha / 2 times the squared norm
    other = other(alpha=alpha / weight.sum(), solver="newton-cholesky", tol=1e-12, max_iter=1000)
    other.fit(Z, y, sample_weight=weight)
    np.testing.assert_allclose(model.predict(K), other.predict(Z), rtol=1e-6)


def test_one_against_the_rest():
    X, y = sample("multinomial", N)
    K = rbf(X)
    model = KernelClassifier("precomputed", loss="hinge", alpha=0.1).fit(K, y)
    for c in range(3):
        single = KernelClassifier("precomputed", loss="hinge", alpha=0.1).fit(K, y == c)
        np.testing.assert_allclose(model.decision_function(K)[:, c], single.decision_function(K), atol=1e-7)
