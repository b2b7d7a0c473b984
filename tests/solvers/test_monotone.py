"""Quadratic problems with linear inequalities: optimality conditions, a general solver, limits."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from pellucid.solvers.monotone import held_by, nearest_in_cone


def problem(seed, F=9, m=6, acts=4):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(3 * F, F)) * 10.0 ** rng.uniform(-2, 2, F)
    H = Z.T @ Z + np.diag(10.0 ** rng.uniform(-2, 2, F))
    root = np.linalg.inv(np.linalg.cholesky(H))
    A = np.zeros((m, F))
    A[:, rng.permutation(F)[:acts]] = rng.normal(size=(m, acts))
    beta = root.T @ (root @ (Z.T @ rng.normal(size=3 * F)))
    return H, root, A, beta


@pytest.mark.parametrize("seed", range(8))
def test_optimality_conditions(seed):
    H, root, A, beta = problem(seed)
    found = nearest_in_cone(beta, root, A)
    slack, mu = A @ found.beta, found.multipliers
    unit = np.abs(A) @ np.abs(beta)  # what the slack is small against
    assert np.all(mu >= 0)
    assert np.all(slack >= -1e-10 * unit)
    assert np.all(np.abs(slack[found.binding]) <= 1e-9 * unit[found.binding])
    gradient = H @ (found.beta - beta)
    np.testing.assert_allclose(gradient, A.T @ mu, atol=1e-8 * max(np.abs(gradient).max(), 1e-12))


@pytest.mark.parametrize("seed", range(3))
def test_general_solver_finds_nothing_better(seed):
    H, root, A, beta = problem(seed, F=5, m=4)
    found = nearest_in_cone(beta, root, A)
    s = np.sqrt(np.diag(np.linalg.inv(H)))  # in units in which a general solver can work

    def value(u):
        d = s * u - beta
        return 0.5 * d @ H @ d, s * (H @ d)

    other = minimize(
        value,
        np.zeros(5),
        jac=True,
        method="SLSQP",
        constraints=LinearConstraint(A * s, 0, np.inf),
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert other.success
    d = found.beta - beta
    assert 0.5 * d @ H @ d <= other.fun * (1 + 1e-6) + 1e-9


def test_constraints_that_hold_already_change_nothing():
    _, root, A, beta = problem(1)
    A = A * np.sign(A @ beta)[:, None]
    found = nearest_in_cone(beta, root, A)
    np.testing.assert_array_equal(found.beta, beta)
    assert len(found.binding) == 0


def test_no_constraints():
    _, root, A, beta = problem(1)
    np.testing.assert_array_equal(nearest_in_cone(beta, root, A[:0]).beta, beta)
    np.testing.assert_array_equal(nearest_in_cone(beta, root, 0 * A).beta, beta)
    assert held_by(root, A[:0]) is root


def test_many_constraints_on_few_columns():
    """A decreasing line under increasing constraints at many points is pushed to the constant."""
    x = np.linspace(0, 1, 200)
    Phi = np.column_stack([np.cos(np.pi * k * x) for k in range(1, 6)])
    A = np.diff(Phi, axis=0)
    found = nearest_in_cone(np.array([1.0, 0, 0, 0, 0]), np.eye(5), A)
    np.testing.assert_allclose(found.beta, 0, atol=1e-12)


def test_isotonic_regression():
    """With the identity as basis the solution is the pooling of adjacent violators."""
    from sklearn.isotonic import isotonic_regression

    y = np.random.default_rng(4).normal(size=30) + np.linspace(0, 2, 30)
    w = np.random.default_rng(5).uniform(0.5, 2, 30)
    A = np.diff(np.eye(30), axis=0)
    found = nearest_in_cone(y, np.diag(w**-0.5), A)
    np.testing.assert_allclose(found.beta, isotonic_regression(y, sample_weight=w), atol=1e-12)


def test_covariance_with_equalities_held():
    H, root, A, _ = problem(2)
    V = np.linalg.inv(H)
    A = A[:3]
    V = V - V @ A.T @ np.linalg.inv(A @ V @ A.T) @ A @ V
    R = held_by(root, np.vstack([A, A[:1]]))  # one of them twice
    np.testing.assert_allclose(R.T @ R, V, atol=1e-10 * np.abs(V).max())
