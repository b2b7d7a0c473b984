import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import rbf_kernel

from pellucid.kernels import RBF, Matern, RationalQuadratic

SCALES = [0.8, np.array([0.5, 1.0, 2.0])]


@pytest.mark.parametrize("scale", SCALES)
def test_equals_scikit_learn(scale, X, Y):
    pairs = [
        (RBF(scale), gp.RBF(scale)),
        *((Matern(scale, nu=nu), gp.Matern(scale, nu=nu)) for nu in (0.5, 1.5, 2.5)),
    ]
    if np.ndim(scale) == 0:
        pairs.append((RationalQuadratic(scale, 1.7), gp.RationalQuadratic(scale, 1.7)))
    for ours, theirs in pairs:
        assert_allclose(ours(X), theirs(X), rtol=1e-12)
        assert_allclose(ours(X, Y), theirs(X, Y), rtol=1e-12)


@pytest.mark.parametrize("scale", SCALES)
def test_gradient_equals_scikit_learn(scale, X):
    W = np.random.default_rng(0).normal(size=(len(X), len(X)))
    for ours, theirs in [(RBF(scale), gp.RBF(scale)), (Matern(scale), gp.Matern(scale))]:
        _, gradient = theirs(X, eval_gradient=True)
        assert_allclose(ours.parameter_gradient(X, W), np.einsum("ij,ijk->k", W, gradient), rtol=1e-9)


def test_gamma(X, Y):
    assert_allclose(RBF.from_gamma(0.3)(X, Y), rbf_kernel(X, Y, gamma=0.3), rtol=1e-12)


def test_more_than_a_few_columns():
    X = np.random.default_rng(0).normal(size=(40, 50)) + 100.0
    assert_allclose(RBF(7.0)(X), rbf_kernel(X - 100.0, gamma=0.5 / 49.0), rtol=1e-12)


@pytest.mark.parametrize("n_columns", [3, 40])
def test_duplicates_have_value_one(n_columns):
    X = np.random.default_rng(0).normal(size=(10, n_columns)) + 5.0
    for kernel in (RBF(), Matern(nu=0.5), Matern(nu=1.5), Matern(nu=2.5), RationalQuadratic()):
        assert_array_equal(np.diag(kernel(X, X.copy())), 1.0)
        assert_array_equal(np.diag(kernel(np.vstack([X, X]))[:10, 10:]), 1.0)


@pytest.mark.parametrize("kernel_", [RBF(), Matern(nu=0.5), Matern(), Matern(nu=2.5), RationalQuadratic()])
def test_infinitely_far_apart(kernel_):
    X = np.array([[0.0], [1e200], [-1e200]])
    assert_array_equal(kernel_(X), np.eye(3))
    assert_array_equal(kernel_._slope(np.array([np.inf])), [0.0])


@pytest.mark.parametrize("kernel_", [RBF(), Matern(nu=0.5), Matern(), Matern(nu=2.5), RationalQuadratic()])
def test_nan_stays_nan(kernel_):
    K = kernel_(np.array([[0.0], [np.nan]]))
    assert_array_equal(np.isnan(K), [[False, True], [True, True]])


def test_gradient_of_the_rough_kernel_with_rows_equal_up_to_rounding():
    X = np.random.default_rng(0).normal(size=(8, 2))
    twins = np.vstack([X, X * (1.0 + 2e-16), X + 1e-170])
    exact = np.vstack([X, X, X])
    W = np.random.default_rng(1).normal(size=(24, 24))
    kernel = Matern(nu=0.5)
    assert_allclose(kernel.parameter_gradient(twins, W), kernel.parameter_gradient(exact, W), rtol=1e-9)


def test_blocks_do_not_show(monkeypatch):
    X = np.random.default_rng(0).normal(size=(50, 3))
    whole = Matern()(X)
    monkeypatch.setattr(
        "pellucid.kernels.stationary.for_each_block",
        lambda work, n, _: [work(slice(i, i + 7)) for i in range(0, n, 7)],
    )
    assert_array_equal(Matern()(X), whole)
