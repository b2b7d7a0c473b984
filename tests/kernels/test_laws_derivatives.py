import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid.kernels import RBF, Categorical

STEP = 1e-5


def test_parameter_gradient(kernel, X):
    W = np.random.default_rng(3).normal(size=(len(X), len(X)))  # not symmetric, on purpose
    gradient = kernel.parameter_gradient(X, W)
    expected = []
    for i in range(kernel.theta.size):
        up, down = kernel.theta, kernel.theta
        up[i] += STEP
        down[i] -= STEP
        expected.append(np.sum(W * (kernel.with_theta(up)(X) - kernel.with_theta(down)(X))) / (2 * STEP))
    assert gradient.shape == kernel.theta.shape
    assert_allclose(gradient, expected, rtol=1e-6, atol=1e-6 * np.abs(W * kernel(X)).sum())


def test_input_gradients(smooth_kernel, X, Y):
    kernel = smooth_kernel
    gradients = list(kernel.input_gradients(X, Y + 0.05))
    assert len(gradients) == X.shape[1]
    for c, gradient in enumerate(gradients):
        step = STEP * np.eye(X.shape[1])[c]
        expected = (kernel(X + step, Y + 0.05) - kernel(X - step, Y + 0.05)) / (2 * STEP)
        assert gradient.shape == expected.shape
        assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7 * (1 + np.abs(expected).max()))
    assert all(np.all(np.isfinite(g)) for g in kernel.input_gradients(X, X))  # at the rows themselves


def test_missing_derivatives_say_so(rough_kernel, X, Y):
    if rough_kernel.reads_levels:  # categories: marked column by column
        assert any(np.all(np.isnan(g)) for g in rough_kernel.input_gradients(X, Y))
        return
    with pytest.raises(TypeError, match="no derivative"):
        list(rough_kernel.input_gradients(X, Y))


def test_numeric_columns_keep_their_derivative_beside_a_category(X, Y):
    mixed = Categorical().on([0]) * RBF(0.7).on([1])
    gradients = list(mixed.input_gradients(X, Y))
    alone = list(RBF(0.7).on([1]).input_gradients(X, Y))
    assert np.all(np.isnan(gradients[0]))
    assert_allclose(gradients[1], Categorical().on([0])(X, Y) * alone[1])
