import numpy as np
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import ExpSineSquared
from sklearn.metrics.pairwise import laplacian_kernel

from pellucid.kernels import RBF, Laplacian, Periodic


def test_laplacian_equals_scikit_learn(X, Y):
    assert_allclose(Laplacian.from_gamma(0.3)(X, Y), laplacian_kernel(X, Y, gamma=0.3), rtol=1e-12)
    assert_allclose(Laplacian.from_gamma(0.3)(X), laplacian_kernel(X, gamma=0.3), rtol=1e-12)


def test_laplacian_is_a_product_over_columns(X, Y):
    product = Laplacian(0.5).on([0]) * Laplacian(1.0).on([1]) * Laplacian(2.0).on([2])
    assert_allclose(Laplacian([0.5, 1.0, 2.0])(X, Y), product(X, Y), rtol=1e-12)


def test_periodic_equals_scikit_learn_in_one_column(X, Y):
    theirs = ExpSineSquared(length_scale=1.3, periodicity=0.9)
    ours = Periodic(period=0.9, length_scale=1.3)
    assert_allclose(ours(X[:, :1], Y[:, :1]), theirs(X[:, :1], Y[:, :1]), rtol=1e-12)


def test_periodic_is_a_product_over_columns(X, Y):
    product = Periodic(2.0, 0.5).on([0]) * Periodic(2.0, 1.0).on([1]) * Periodic(2.0, 2.0).on([2])
    assert_allclose(Periodic(2.0, [0.5, 1.0, 2.0])(X, Y), product(X, Y), rtol=1e-12)


def test_periodic_repeats(X, Y):
    assert_allclose(Periodic(1.7)(X + 1.7, Y - 3.4), Periodic(1.7)(X, Y), rtol=1e-12)


def test_a_long_period_is_a_gaussian(X, Y):
    period = 1e4
    gaussian = RBF(period / (2 * np.pi))
    assert_allclose(Periodic(period, 1.0)(1e2 * X, 1e2 * Y), gaussian(1e2 * X, 1e2 * Y), rtol=1e-3)
