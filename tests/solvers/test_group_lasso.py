"""The group lasso on Gram matrices: optimality conditions, an independent solver, and awkward matrices."""

from itertools import pairwise

import numpy as np
import pytest

from pellucid.solvers.group_lasso import GroupLasso, optimality, shrink, strongest

SIZES = (3, 1, 4, 2, 5)


def slices(sizes):
    edges = np.cumsum([0, *sizes])
    return [slice(int(a), int(b)) for a, b in pairwise(edges)]


def problem(seed=0, sizes=SIZES, n=60, correlated=0.0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, sum(sizes))) + correlated * rng.normal(size=(n, 1))
    y = A[:, 0] - 2 * A[:, -1] + rng.normal(size=n)
    return A.T @ A / n, A.T @ y / n, slices(sizes)


def objective(G, c, groups, strength, b):
    return 0.5 * b @ G @ b - c @ b + strength * sum(np.linalg.norm(b[g]) for g in groups)


def proximal_gradient(G, c, groups, strength, steps=10_000):
    """Gradient steps and group-wise soft thresholding, nothing else."""
    b, rate = np.zeros(len(c)), 1.0 / np.linalg.eigvalsh(G)[-1]
    for _ in range(steps):
        b = b - rate * (G @ b - c)
        for g in groups:
            size = np.linalg.norm(b[g])
            b[g] *= max(0.0, 1.0 - rate * strength / size) if size > 0 else 0.0
    return b


@pytest.mark.parametrize("share", [0.9, 0.5, 0.1, 0.01])
@pytest.mark.parametrize("correlated", [0.0, 1.0])
def test_agrees_with_proximal_gradient(share, correlated):
    G, c, groups = problem(correlated=correlated)
    strength = share * strongest(c, groups)
    fit = GroupLasso(G, groups).solve(c, strength)
    np.testing.assert_allclose(fit.coef, proximal_gradient(G, c, groups, strength), atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.5, 0.05, 1e-4])
def test_optimality_conditions(seed, share):
    G, c, groups = problem(seed, correlated=2.0)
    strength = share * strongest(c, groups)
    fit = GroupLasso(G, groups).solve(c, strength)
    slope = G @ fit.coef - c
    for g in groups:
        size = np.linalg.norm(fit.coef[g])
        if size > 0:
            np.testing.assert_allclose(slope[g], -strength * fit.coef[g] / size, atol=1e-8)
        else:
            assert np.linalg.norm(slope[g]) <= strength + 1e-8
    assert fit.violation == pytest.approx(optimality(fit.coef, slope, groups, strength), abs=1e-12)


def test_no_small_change_is_better():
    G, c, groups = problem(3)
    strength = 0.3 * strongest(c, groups)
    b = GroupLasso(G, groups).solve(c, strength).coef
    best = objective(G, c, groups, strength, b)
    rng = np.random.default_rng(0)
    for _ in range(200):
        assert objective(G, c, groups, strength, b + 1e-3 * rng.normal(size=len(b))) > best


def test_strongest_is_where_groups_appear():
    G, c, groups = problem()
    top = strongest(c, groups)
    lasso = GroupLasso(G, groups)
    assert not lasso.solve(c, top).coef.any()
    assert lasso.solve(c, 0.999 * top).coef.any()


def test_no_penalty_is_least_squares():
    G, c, groups = problem()
    np.testing.assert_allclose(GroupLasso(G, groups).solve(c, 1e-12).coef, np.linalg.solve(G, c), rtol=1e-6)


def test_starts_do_not_matter():
    G, c, groups = problem(2, correlated=1.0)
    lasso, strength = GroupLasso(G, groups), 0.1 * strongest(c, groups)
    start = np.random.default_rng(0).normal(size=len(c))
    np.testing.assert_allclose(lasso.solve(c, strength, start).coef, lasso.solve(c, strength).coef, atol=1e-7)
    assert start[0] == np.random.default_rng(0).normal(size=len(c))[0]  # not overwritten


def test_groups_of_one_are_the_lasso():
    from sklearn.linear_model import Lasso

    rng = np.random.default_rng(0)
    A = rng.normal(size=(50, 8))
    y = A[:, 0] - A[:, 1] + rng.normal(size=50)
    fit = GroupLasso(A.T @ A / 50, slices([1] * 8)).solve(A.T @ y / 50, 0.1)
    lasso = Lasso(alpha=0.1, fit_intercept=False, tol=1e-12).fit(A, y)
    np.testing.assert_allclose(fit.coef, lasso.coef_, atol=1e-7)


def test_repeated_groups():
    """The same columns twice: the fitted function is that of one copy, and the search ends."""
    G, c, groups = problem(1, sizes=(3, 3))
    twice = np.block([[G, G], [G, G]])
    strength = 0.05 * strongest(c, groups)
    once = GroupLasso(G, groups).solve(c, strength)
    both = GroupLasso(twice, slices((3, 3, 3, 3))).solve(np.tile(c, 2), strength)
    np.testing.assert_allclose(both.coef[:6] + both.coef[6:], once.coef, atol=1e-6)
    assert both.violation < 1e-8


def test_empty_groups_and_no_groups():
    G, c, _ = problem(sizes=(3,))
    fit = GroupLasso(G, [slice(0, 0), slice(0, 3), slice(3, 3)]).solve(c, 0.1)
    np.testing.assert_allclose(fit.coef, GroupLasso(G, [slice(0, 3)]).solve(c, 0.1).coef)
    nothing = GroupLasso(np.zeros((0, 0)), [slice(0, 0)]).solve(np.zeros(0), 1.0)
    assert nothing.coef.shape == (0,)
    assert strongest(np.zeros(0), [slice(0, 0)]) == 0.0


@pytest.mark.parametrize("values", [[1.0, 1.0, 1.0], [4.0, 1.0, 0.01], [1.0, 1e-9, 0.0]])
def test_shrink_solves_its_equation(values):
    v, q = np.array(values), np.array([2.0, -1.0, 0.3])
    z = shrink(v, q, 0.7)
    np.testing.assert_allclose(v * z - q + 0.7 * z / np.linalg.norm(z), 0, atol=1e-10)


def test_shrink_without_penalty():
    np.testing.assert_allclose(shrink(np.array([2.0, 0.0]), np.array([1.0, 0.0]), 0.0), [0.5, 0.0])
