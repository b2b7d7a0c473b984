"""The factored system against the explicit inverse of the bordered matrix."""

import numpy as np
import pytest
from oracles import bordered, loo_residuals, solve, without

from pellucid.kernels import Matern
from pellucid.solvers import Posterior

X, X_NEW = (np.random.default_rng(n).normal(size=(n, 2)) for n in (15, 6))
Y = np.random.default_rng(0).normal(size=(15, 1))
WEIGHT = np.random.default_rng(3).uniform(0.3, 3.0, size=15)
KERNEL = Matern(0.8)
ALPHA = 0.15
CASES = pytest.mark.parametrize(
    ("weight", "fit_intercept"),
    [(w, b) for w in (np.ones(15), WEIGHT) for b in (True, False)],
    ids=["plain", "plain, no intercept", "weighted", "weighted, no intercept"],
)


def start(weight, fit_intercept):
    return Posterior.start(KERNEL(X), weight, ALPHA, fit_intercept=fit_intercept)


def inverse(weight, fit_intercept):
    return np.linalg.inv(bordered(KERNEL(X), weight, ALPHA, fit_intercept))


@CASES
def test_apply_is_the_corner_of_the_inverse(weight, fit_intercept):
    B = inverse(weight, fit_intercept)[:15, :15]
    assert np.allclose(start(weight, fit_intercept).apply(np.eye(15)), B)


@CASES
def test_variance_is_the_explicit_formula(weight, fit_intercept):
    K_new = KERNEL(X_NEW, X)
    k = np.column_stack([K_new, np.ones(6)]) if fit_intercept else K_new
    explicit = KERNEL.diag(X_NEW) - np.einsum("ij,jk,ik->i", k, inverse(weight, fit_intercept), k)
    assert np.allclose(start(weight, fit_intercept).variance(K_new, KERNEL.diag(X_NEW)), explicit)


@CASES
def test_deletion_weights_give_predictions_without_a_row(weight, fit_intercept):
    K, K_new = KERNEL(X), KERNEL(X_NEW, X)
    a, b = solve(K, Y, weight, ALPHA, fit_intercept)
    errors = loo_residuals(K, Y, weight, ALPHA, fit_intercept)[:, 0]
    predictions = (K_new @ a + b) - start(weight, fit_intercept).deletion_weights(K_new) * errors
    for i in range(15):
        expected = without(K, K_new, Y, weight, ALPHA, fit_intercept, i)[:, 0]
        assert np.allclose(predictions[:, i], expected)
