"""Group-sparse models of smooth losses: optimality from first principles and an independent solver."""

import numpy as np
import pytest

from pellucid.losses import as_loss
from pellucid.solvers.fold_ridge import Sums
from pellucid.solvers.group_lasso import GroupLasso
from pellucid.solvers.sparse_glm import SparseGLM, SparseSquares

GROUPS = [slice(0, 3), slice(3, 5), slice(5, 9)]


class Plain:
    """Columns laid out."""

    def __init__(self, A):
        self.A = A

    def apply(self, beta):
        return self.A @ beta

    def transpose(self, v):
        return self.A.T @ v

    def gram(self, weight):
        return self.A.T @ (weight[:, None] * self.A), self.A.T @ weight


def sample(seed=0, n=120, scale=1.0):
    rng = np.random.default_rng(seed)
    A = scale * rng.normal(size=(n, 9)) + rng.normal(size=(n, 1))
    y = (A[:, 0] - A[:, 6] + rng.normal(size=n) > 0.3).astype(float)
    return A, y, rng.integers(1, 4, size=n).astype(float)


def proximal_gradient(A, y, s, loss, strength, steps=10_000):
    """Gradient steps and soft thresholding; the last coordinate is the intercept."""
    B = np.column_stack([A, np.ones(len(A))])
    share = s / s.sum()
    rate = 1.0 / (loss.bound() * np.linalg.eigvalsh(B.T @ (share[:, None] * B))[-1])
    b = np.zeros(B.shape[1])
    for _ in range(steps):
        b = b - rate * (B.T @ (share * loss.gradient(y, B @ b)))
        for g in GROUPS:
            size = np.linalg.norm(b[g])
            b[g] *= max(0.0, 1.0 - rate * strength / size) if size > 0 else 0.0
    return b


@pytest.mark.parametrize("name", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("share", [0.5, 0.05])
def test_agrees_with_proximal_gradient(name, share):
    A, y, s = sample()
    loss = as_loss(name)
    problem = SparseGLM(Plain(A), GROUPS, y, s, loss)
    strength = share * problem.strongest()
    problem.solve(strength, tol=1e-9)
    oracle = proximal_gradient(A, y, s, loss, strength)
    np.testing.assert_allclose(problem.coef, oracle[:-1], atol=1e-6)
    assert problem.intercept == pytest.approx(oracle[-1], abs=1e-6)
    np.testing.assert_allclose(problem.eta, A @ problem.coef + problem.intercept, atol=1e-9)


@pytest.mark.parametrize("name", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("seed", range(3))
def test_optimality_along_a_path(name, seed):
    A, y, s = sample(seed, scale=2.0)
    loss = as_loss(name)
    problem = SparseGLM(Plain(A), GROUPS, y, s, loss)
    for strength in problem.strongest() * np.geomspace(1.0, 1e-3, 8):
        problem.solve(strength, tol=1e-8)
        v = s / s.sum() * loss.gradient(y, problem.eta)
        assert abs(v.sum()) < 1e-7
        slope = A.T @ v
        for g in GROUPS:
            size = np.linalg.norm(problem.coef[g])
            if size > 0:
                np.testing.assert_allclose(slope[g], -strength * problem.coef[g] / size, atol=1e-7)
            else:
                assert np.linalg.norm(slope[g]) <= strength + 1e-7
        assert problem.violation <= 5e-8  # what rounding of the objective leaves


def test_strongest_leaves_the_constant():
    A, y, s = sample()
    problem = SparseGLM(Plain(A), GROUPS, y, s, as_loss("logistic"))
    top = problem.strongest()
    problem.solve(1.0001 * top)
    assert not problem.coef.any()
    rate = s @ y / s.sum()
    assert problem.intercept == pytest.approx(np.log(rate / (1 - rate)))
    problem.solve(0.99 * top)
    assert problem.coef.any()
    assert problem.strongest() == top  # wherever the model stands


def test_squared_loss_is_one_group_lasso():
    A, _, s = sample()
    y = A[:, 0] + np.random.default_rng(5).normal(size=len(A))
    problem = SparseGLM(Plain(A), GROUPS, y, s, as_loss("squared"))
    share = s / s.sum()
    C = A - share @ A
    strength = 0.1 * problem.strongest()
    direct = GroupLasso(C.T @ (share[:, None] * C), GROUPS).solve(C.T @ (share * y), strength)
    problem.solve(strength, tol=1e-10)
    np.testing.assert_allclose(problem.coef, direct.coef, atol=1e-8)
    sums = Sums.zeros(9, 1)
    sums.add(A, y[:, None], s)
    from_sums = SparseSquares(sums, GROUPS)
    assert from_sums.strongest() == pytest.approx(problem.strongest())
    from_sums.solve(strength)
    np.testing.assert_allclose(from_sums.coef, direct.coef, atol=1e-8)
    assert from_sums.intercept == pytest.approx(problem.intercept)


@pytest.mark.parametrize("name", ["logistic", "squared_hinge"])
def test_separable_classes_stay_finite(name):
    A, _, s = sample()
    y = (A[:, 0] > 0).astype(float)
    problem = SparseGLM(Plain(A), GROUPS, y, s, as_loss(name))
    for strength in problem.strongest() * np.geomspace(1.0, 1e-5, 12):
        problem.solve(strength, tol=1e-8)
    assert np.all(np.isfinite(problem.coef))
    assert np.all((problem.eta > 0) == (y == 1))
    assert problem.violation <= 1e-8
