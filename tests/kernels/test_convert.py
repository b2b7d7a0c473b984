import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from pellucid.kernels import ALIASES, RBF, GramFunction, Linear, PairFunction, Precomputed, as_kernel

MATRIX = [
    rbf_kernel,
    polynomial_kernel,
    lambda X, Y: X @ Y.T,
    lambda X, Y: np.exp(-np.abs(X[:, None] - Y[None]).sum(axis=2)),
    lambda X, Y: [[float(x @ y) for y in Y] for x in X],
]
PAIR = [
    lambda x, y: x @ y,
    lambda x, y: float(x @ y),
    lambda x, y: np.exp(-np.sum((x - y) ** 2)),
    lambda x, y: float(np.dot(x, y)) ** 2,
    lambda x, y: x[0] * y[0] + 1.0,
]


def test_kernels_pass_unchanged():
    kernel = RBF() + Linear()
    assert as_kernel(kernel) is kernel


@pytest.mark.parametrize("shape", [(5, 3), (5, 2), (2, 2), (3, 3), (1, 1), (1, 3), (4, 1), (50, 7)])
def test_functions_are_recognised_whatever_the_shape(shape):
    X = np.random.default_rng(0).normal(size=shape)
    for function in MATRIX:
        assert_allclose(as_kernel(function, X)(X), function(X, X))
        assert isinstance(as_kernel(function, X), GramFunction)
    for function in PAIR:
        assert_allclose(as_kernel(function, X)(X), [[function(x, y) for y in X] for x in X])


def test_functions_of_single_rows_are_recognised():
    X = np.random.default_rng(0).normal(size=(5, 3))
    assert all(isinstance(as_kernel(function, X), PairFunction) for function in PAIR)


def test_rows_that_are_no_matrix():
    assert isinstance(as_kernel(lambda a, b: float(a == b), ["x", "y"]), PairFunction)
    assert isinstance(as_kernel(lambda a, b: float(len(a) == len(b)), [[1], [1, 2]]), PairFunction)
    assert isinstance(as_kernel(lambda a, b: 1.0), PairFunction)
    assert isinstance(as_kernel(rbf_kernel, [[1.0, 2.0], [3.0, 4.0]]), GramFunction)


def test_precomputed():
    assert as_kernel("precomputed") == Precomputed()


def test_unknown_name():
    with pytest.raises(ValueError, match=r"Unknown kernel 'rfb'. Known names: .*laplacian.*, precomputed"):
        as_kernel("rfb")


def test_a_class_instead_of_a_kernel():
    with pytest.raises(TypeError, match=r"Pass a kernel, not its class: RBF\(\) instead of RBF"):
        as_kernel(RBF)


def test_something_else():
    with pytest.raises(TypeError, match="Expected a kernel, a name, 'precomputed' or a function, got 3"):
        as_kernel(3)


@pytest.mark.parametrize("name", sorted(ALIASES))
def test_named_kernels_take_scales_and_centers(name, X):
    kernel = ALIASES[name].build(np.array([0.5, 1.0, 2.0]), np.zeros(3))
    assert kernel(X).shape == (12, 12)
    assert kernel == kernel.with_ard(3)
