"""Purification: the sum stays, and what is left in a surface has mean zero along each axis."""

import numpy as np
import pytest

from pellucid.effects import Effect, Grid, purify_effects, purify_surface

OUTPUTS = np.random.default_rng(0).normal(size=(5, 4, 3))
VALUES = OUTPUTS[:, :, 0]
JOINT = np.random.default_rng(1).uniform(0.1, 1.0, size=(5, 4))
PRODUCT = np.outer(JOINT.sum(axis=1), JOINT.sum(axis=0))


@pytest.mark.parametrize("density", [JOINT, PRODUCT], ids=["joint", "product"])
@pytest.mark.parametrize("values", [VALUES, OUTPUTS], ids=["one", "outputs"])
def test_surface(density, values):
    surface, first, second, constant = purify_surface(values, density)
    np.testing.assert_allclose(surface + first[:, None] + second[None] + constant, values, atol=1e-12)
    np.testing.assert_allclose(np.einsum("ij,ij...->i...", density, surface), 0.0, atol=1e-10)
    np.testing.assert_allclose(np.einsum("ij,ij...->j...", density, surface), 0.0, atol=1e-10)
    np.testing.assert_allclose(np.tensordot(density.sum(1), first, 1), 0.0, atol=1e-10)
    np.testing.assert_allclose(np.tensordot(density.sum(0), second, 1), 0.0, atol=1e-10)


def test_purifying_twice_changes_nothing():
    once = purify_surface(VALUES, JOINT)[0]
    again, first, second, constant = purify_surface(once, JOINT)
    np.testing.assert_allclose(again, once, atol=1e-10)
    for part in (first, second, constant):
        np.testing.assert_allclose(part, 0.0, atol=1e-10)


def test_brute_force_projection():
    """The pure surface is the residual of the weighted regression on row and column dummies."""
    rows, columns = np.indices((5, 4)).reshape(2, -1)
    A = np.column_stack([rows[:, None] == np.arange(5), columns[:, None] == np.arange(4)]).astype(float)
    root = np.sqrt(JOINT.ravel())
    coef = np.linalg.lstsq(root[:, None] * A, root * VALUES.ravel(), rcond=None)[0]
    expected = (VALUES.ravel() - A @ coef).reshape(5, 4)
    np.testing.assert_allclose(purify_surface(VALUES, JOINT)[0], expected, atol=1e-9)


def test_points_without_rows():
    density = JOINT.copy()
    density[2] = 0.0
    surface, first, second, constant = purify_surface(VALUES, density)
    assert np.all(np.isfinite(surface))
    np.testing.assert_allclose(surface + first[:, None] + second + constant, VALUES, atol=1e-12)


def model():
    grids = [Grid(name, np.arange(m, dtype=float)) for name, m in (("a", 5), ("b", 4), ("c", 3))]
    marginals = {j: np.full(len(grid), 1.0 / len(grid)) for j, grid in enumerate(grids)}
    rng = np.random.default_rng(2)
    curve = rng.normal(size=5)
    effects = [
        Effect((0,), "a", (grids[0],), curve - curve.mean(), marginals[0]),
        Effect((0, 1), "a × b", (grids[0], grids[1]), VALUES, JOINT / JOINT.sum()),
        Effect((1, 2), "b × c", (grids[1], grids[2]), rng.normal(size=(4, 3)), np.full((4, 3), 1 / 12)),
    ]
    return effects, grids, marginals


def total(effects):
    out = np.zeros((5, 4, 3))
    for e in effects:
        shape = [len(g) if j in e.term else 1 for j, g in enumerate(model()[1])]
        out += e.values.reshape(shape)
    return out


@pytest.mark.parametrize("against", ["marginals", "joint"])
def test_the_sum_of_a_model_changes_by_a_constant(against):
    effects, grids, marginals = model()
    pure = purify_effects(effects, grids, marginals, against=against)
    assert [e.term for e in pure] == [(0,), (1,), (2,), (0, 1), (1, 2)]
    shift = total(effects) - total(pure)
    np.testing.assert_allclose(shift, shift[0, 0, 0], atol=1e-10)
    for e in pure[:3]:
        assert marginals[e.term[0]] @ e.values == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("against", ["marginals", "joint"])
def test_surfaces_are_pure_under_the_distribution_asked_for(against):
    effects, grids, marginals = model()
    for e in purify_effects(effects, grids, marginals, against=against)[3:]:
        mass = e.density if against == "joint" else np.outer(*(marginals[j] for j in e.term))
        np.testing.assert_allclose((mass * e.values).sum(axis=0), 0.0, atol=1e-10)
        np.testing.assert_allclose((mass * e.values).sum(axis=1), 0.0, atol=1e-10)


def test_bad_distribution():
    with pytest.raises(ValueError, match="'marginals' or 'joint'"):
        purify_effects(*model(), against="uniform")


def test_no_terms():
    assert purify_effects([], [], {}) == []
