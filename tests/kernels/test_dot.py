import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel

from pellucid.kernels import NTK, Linear, Polynomial


def test_equals_scikit_learn(X, Y):
    assert_allclose(Linear()(X, Y), linear_kernel(X, Y), rtol=1e-12)
    for degree in (1, 2, 3, 5):
        theirs = polynomial_kernel(X, Y, degree=degree, gamma=0.3, coef0=0.7)
        ours = Polynomial.from_gamma(0.3, degree, 0.7)
        assert_allclose(ours(X, Y), theirs, rtol=1e-12, atol=1e-14)


def test_units_and_origin(X, Y):
    scale, origin = np.array([0.5, 1.0, 2.0]), np.array([0.1, -0.2, 0.3])
    U, V = (X - origin) / scale, (Y - origin) / scale
    for make in (Linear, lambda *args: Polynomial(3, args[0], 1.0, *args[1:])):
        assert_allclose(make(scale, origin)(X, Y), make(1.0)(U, V), rtol=1e-12)
    assert_allclose(NTK(2, scale, 0.5, origin)(X, Y), NTK(2, 1.0, 0.5)(U, V), rtol=1e-9)


def test_ntk_of_identical_rows(X):
    """A row and itself: each of the depth + 1 layers of weights contributes ‖x‖²."""
    for depth in (1, 2, 4):
        assert_allclose(NTK(depth, bias=0.0).diag(X), (depth + 1) * np.sum(X**2, axis=1), rtol=1e-12)
        assert_allclose(NTK(depth, bias=0.6).diag(X), (depth + 1) * (np.sum(X**2, axis=1) + 0.6), rtol=1e-12)


def test_ntk_of_orthogonal_and_opposite_rows():
    x, y = np.array([2.0, 0.0]), np.array([0.0, 3.0])
    assert_allclose(NTK(1, bias=0.0)(x, y), 6.0 / np.pi)  # κ1(0) = 1/π, and θ₀ κ0 = 0
    sigma = 1 / np.pi
    kappa0 = (np.pi - np.arccos(sigma)) / np.pi
    kappa1 = sigma * kappa0 + np.sqrt(1 - sigma**2) / np.pi
    assert_allclose(NTK(2, bias=0.0)(x, y), 6.0 * (kappa1 + sigma * kappa0))
    assert_allclose(NTK(1, bias=0.0)(x, -x), 0.0, atol=1e-14)


def test_ntk_by_integration():
    """κ0 and κ1 are expectations over the direction of a Gaussian weight, here a mean over many angles."""
    angle = np.linspace(0, 2 * np.pi, 2_000_001)[:-1]
    for degrees in (10.0, 60.0, 120.0, 170.0):
        phi = np.radians(degrees)
        first, second = np.cos(angle), np.cos(angle - phi)
        both = (first > 0) & (second > 0)
        kappa0, kappa1 = (
            2 * np.mean(both),
            2 * np.mean(both * first * second) * 2,
        )  # E r² = 2, and E over direction
        x, y = np.array([1.0, 0.0]), np.array([np.cos(phi), np.sin(phi)])
        assert_allclose(NTK(1, bias=0.0)(x, y), kappa1 + np.cos(phi) * kappa0, atol=3e-6)


def test_ntk_is_the_limit_of_a_wide_network():
    """Gram matrix of the gradients of a random network with two hidden layers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4, 3))
    width = 3000
    inputs = np.column_stack([X, np.full(4, np.sqrt(0.5))])
    W1, W2, w3 = rng.normal(size=(width, 4)), rng.normal(size=(width, width)), rng.normal(size=width)
    root = np.sqrt(2.0 / width)
    h1 = inputs @ W1.T
    a1 = root * np.maximum(h1, 0)
    h2 = a1 @ W2.T
    a2 = root * np.maximum(h2, 0)
    d2 = root * w3 * (h2 > 0)
    d1 = root * (d2 @ W2) * (h1 > 0)
    gram = a2 @ a2.T + (d2 @ d2.T) * (a1 @ a1.T) + (d1 @ d1.T) * (inputs @ inputs.T)
    norms = np.sqrt(np.diag(gram))
    assert_allclose(NTK(2, bias=0.5)(X) / np.outer(norms, norms), gram / np.outer(norms, norms), atol=0.05)


@pytest.mark.parametrize("n_columns", [3, 300])
def test_ntk_of_duplicates_is_exact(n_columns):
    X = np.random.default_rng(0).normal(size=(30, n_columns)) + 1.0
    kernel = NTK(3)
    assert_allclose(np.diag(kernel(X, X.copy())), kernel.diag(X), rtol=1e-12)


def test_ntk_of_a_zero_row_without_bias():
    X = np.array([[0.0, 0.0], [1.0, 2.0]])
    K = NTK(bias=0.0)(X)
    assert_array_equal(K[0], [0.0, 0.0])
    for gradient in NTK(bias=0.0).input_gradients(X, X):
        assert np.all(np.isfinite(gradient))


def test_overflow_is_infinity_and_no_warning():
    X = np.full((2, 2), 1e60)
    assert np.all(np.isinf(Polynomial(3)(X)))
    assert np.all(np.isinf(Polynomial(3).diag(X)))
    assert np.all(np.isinf(Linear()(1e200 * X / 1e60)))
