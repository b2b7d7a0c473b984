"""The same numbers as scikit-learn where both have them: KernelRidge and GaussianProcessRegressor."""

import numpy as np
import pytest
from oracles import curve
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as gp
from sklearn.kernel_ridge import KernelRidge as SklearnKernelRidge

from pellucid import KernelRidge
from pellucid.kernels import RBF, Laplacian, Linear, Matern, Polynomial, RationalQuadratic

X, Y = curve(60, 3, q=2)
X_NEW = np.random.default_rng(9).uniform(-2.5, 2.5, size=(25, 3))
WEIGHT = np.random.default_rng(8).uniform(0.1, 4.0, size=60)
GAMMA = 0.7
PAIRS = {
    "rbf": (RBF.from_gamma(GAMMA), {"kernel": "rbf", "gamma": GAMMA}),
    "laplacian": (Laplacian.from_gamma(GAMMA), {"kernel": "laplacian", "gamma": GAMMA}),
    "polynomial": (
        Polynomial(3, 1 / np.sqrt(GAMMA), 0.5),
        {"kernel": "polynomial", "degree": 3, "gamma": GAMMA, "coef0": 0.5},
    ),
    "linear": (Linear(), {"kernel": "linear"}),
}
ALPHA = 0.3


@pytest.mark.parametrize("solver", ["auto", "cholesky", "spectral"])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", PAIRS)
def test_predictions_of_kernel_ridge(name, weight, solver):
    kernel, options = PAIRS[name]
    ours = KernelRidge(kernel, alpha=ALPHA, fit_intercept=False, solver=solver)
    theirs = SklearnKernelRidge(alpha=ALPHA, **options)
    ours.fit(X, Y, sample_weight=weight)
    theirs.fit(X, Y, sample_weight=weight)
    expected = theirs.predict(X_NEW)
    assert np.abs(ours.predict(X_NEW) - expected).max() < 1e-10 * max(1.0, np.abs(expected).max())
    one = KernelRidge(kernel, alpha=ALPHA, fit_intercept=False, solver=solver)
    one.fit(X, Y[:, 0], sample_weight=weight)
    assert np.allclose(
        one.predict(X_NEW), expected[:, 0], rtol=0, atol=1e-10 * max(1.0, np.abs(expected).max())
    )


GP_KERNELS = {
    "scikit-learn's": (1.5 * gp.RBF(0.9) + gp.DotProduct(0.4),) * 2,
    "RBF": (RBF(0.9), gp.RBF(0.9)),
    "Matern": (2.0 * Matern(0.9, nu=2.5), 2.0 * gp.Matern(0.9, nu=2.5)),
    "sum": (RationalQuadratic(0.8, 0.7) + 0.5, gp.RationalQuadratic(0.8, 0.7) + gp.ConstantKernel(0.5)),
    "with noise": (gp.RBF(0.9) + gp.WhiteKernel(0.2),) * 2,
}


@pytest.mark.parametrize("solver", ["cholesky", "spectral"])
@pytest.mark.parametrize("name", GP_KERNELS)
def test_gaussian_process(name, solver):
    kernel, theirs = GP_KERNELS[name]
    model = KernelRidge(kernel, alpha=0.05, fit_intercept=False, solver=solver).fit(X, Y[:, 0])
    process = GaussianProcessRegressor(theirs, alpha=0.05, optimizer=None).fit(X, Y[:, 0])
    mean, std = model.predict(X_NEW, return_std=True)
    expected_mean, expected_std = process.predict(X_NEW, return_std=True)
    assert np.allclose(mean, expected_mean, rtol=0, atol=1e-10)
    assert np.allclose(std, expected_std, rtol=1e-8, atol=1e-10)
    assert np.isclose(model.log_marginal_likelihood_, process.log_marginal_likelihood(), rtol=1e-10)
    assert model.scale_ == 1.0


def test_gaussian_process_of_several_outputs():
    model = KernelRidge(RBF(), alpha=0.05, fit_intercept=False).fit(X, Y)
    process = GaussianProcessRegressor(gp.RBF(), alpha=0.05, optimizer=None).fit(X, Y)
    mean, std = model.predict(X_NEW, return_std=True)
    expected_mean, expected_std = process.predict(X_NEW, return_std=True)
    assert np.allclose(mean, expected_mean, rtol=0, atol=1e-10)
    assert np.allclose(std, expected_std, rtol=1e-8)
    assert np.isclose(model.log_marginal_likelihood_.sum(), process.log_marginal_likelihood())


def test_a_weight_below_one_is_more_noise():
    share = WEIGHT / WEIGHT.max()
    model = KernelRidge(RBF(), alpha=0.05, fit_intercept=False).fit(X, Y[:, 0], sample_weight=share)
    process = GaussianProcessRegressor(gp.RBF(), alpha=0.05 / share, optimizer=None).fit(X, Y[:, 0])
    mean, std = model.predict(X_NEW, return_std=True)
    expected_mean, expected_std = process.predict(X_NEW, return_std=True)
    assert np.allclose(mean, expected_mean, rtol=0, atol=1e-10)
    assert np.allclose(std, expected_std, rtol=1e-8)
    assert np.isclose(model.log_marginal_likelihood_, process.log_marginal_likelihood())


def test_a_chosen_alpha_leaves_the_scale_to_the_likelihood():
    model = KernelRidge(RBF(), alpha="ml", fit_intercept=False).fit(X, Y[:, 0])
    kernel = gp.ConstantKernel(model.scale_) * gp.RBF()
    process = GaussianProcessRegressor(kernel, alpha=model.scale_ * model.alpha_, optimizer=None).fit(
        X, Y[:, 0]
    )
    expected_mean, expected_std = process.predict(X_NEW, return_std=True)
    mean, std = model.predict(X_NEW, return_std=True)
    assert np.allclose(mean, expected_mean)
    assert np.allclose(std, expected_std, rtol=1e-6)
    assert np.isclose(model.log_marginal_likelihood_, process.log_marginal_likelihood())
    assert np.isclose(process.log_marginal_likelihood_value_, model.loo_.path.log_marginal_likelihood.max())
