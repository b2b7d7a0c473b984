"""Compiled tables: look-up, interpolation, what lies nowhere, receipts, purification on grids."""

import pickle

import numpy as np
import pytest

from pellucid.data.table import Column
from pellucid.effects.purify_grids import purify_jointly
from pellucid.effects.receipt import Receipt
from pellucid.effects.tables import TermTables, stack_tables
from pellucid.effects.terms import Effect, Grid
from pellucid.features.axis import Axis

X = np.array([[0.0, 0, np.nan], [1.0, 1, 0.0], [3.0, 2, 2.0]])
AXES = (
    Axis.numeric(X[:, 0], np.ones(3), 10),
    Axis.of_levels(X[:, 1], np.ones(3), 3),
    Axis.numeric(X[:, 2], np.ones(3), 10),
)
CURVE = np.array([1.0, 2.0, 6.0, 0.0])
LEVELS = np.array([10.0, 20.0, 30.0, 0.0])
SURFACE = np.arange(16.0).reshape(4, 4)
SURFACE[-1] = SURFACE[:, -1] = 0
COLUMNS = (Column("a"), Column("b", ("u", "v", "w")), Column("c"))


def tables(*more, intercept=0.5):
    terms, values = ((0,), (1,), (0, 2)), (CURVE, LEVELS, SURFACE)
    return TermTables(COLUMNS, AXES, AXES, terms, values, intercept)


def test_values_at_points_and_between():
    rows = np.array([[0.0, 0, 0.0], [2.0, 2, 1.0], [9.0, -1, np.nan], [np.nan, np.nan, 2.0]])
    got = tables().contributions(rows)
    np.testing.assert_allclose(
        got,
        [
            [1, 10, SURFACE[0, 0]],
            [4, 30, (SURFACE[1, 0] + SURFACE[1, 1] + SURFACE[2, 0] + SURFACE[2, 1]) / 4],
            [6, 0, SURFACE[2, 2]],  # beyond the last knot; unknown level; missing, which is a point of c
            [0, 0, 0],  # missing where training had none
        ],
    )
    np.testing.assert_allclose(tables().predictor(rows), got.sum(axis=1) + 0.5)


def test_several_outputs_are_tables_side_by_side():
    one, two = {(0,): CURVE}, {(0,): 2 * CURVE, (0, 2): SURFACE}
    terms, values = stack_tables([one, two], {(0,): (4,), (0, 2): (4, 4)})
    both = TermTables(COLUMNS, AXES, AXES, terms, values, np.array([1.0, 2.0]))
    got = both.contributions(X)
    assert got.shape == (3, 2, 2)
    alone = TermTables(COLUMNS, AXES, AXES, ((0,),), (CURVE,), 1.0).contributions(X)
    np.testing.assert_array_equal(got[:, 0, 0], alone[:, 0])
    np.testing.assert_array_equal(got[:, 0, 1], 2 * alone[:, 0])
    np.testing.assert_array_equal(got[:, 1, 0], 0)
    np.testing.assert_array_equal(both.predictor(X)[:, 0], alone[:, 0] + 1)


@pytest.mark.parametrize("outputs", [1, 2])
def test_contributions_and_predictor_at_once(outputs):
    t = tables()
    if outputs > 1:
        stacked = tuple(np.stack([table, 3 * table], axis=-1) for table in t.tables)
        t = TermTables(COLUMNS, AXES, AXES, t.terms, stacked, np.array([1.0, 2.0]))
    values, predictor = t.contributions_and_predictor(X)
    np.testing.assert_array_equal(values, t.contributions(X))
    np.testing.assert_array_equal(predictor, t.predictor(X))


def test_blocks_of_rows(monkeypatch):
    from pellucid.effects import tables as module

    rows = np.random.default_rng(0).uniform(-1, 4, (50, 3))
    rows[:, 1] = np.floor(rows[:, 1]).clip(0, 2)
    twice = tuple(np.stack([t, 2 * t], axis=-1) for t in tables().tables)
    several = TermTables(COLUMNS, AXES, AXES, tables().terms, twice, np.array([1.0, 2.0]))
    whole = several.contributions(rows)
    monkeypatch.setattr(module, "_BLOCK", 7)
    np.testing.assert_array_equal(several.contributions(rows), whole)
    np.testing.assert_allclose(tables().contributions(rows), whole[..., 0], rtol=1e-14)
    assert several.contributions(rows[:0]).shape == (0, 3, 2)
    assert tables().contributions(rows[:0]).shape == (0, 3)


def test_knots_too_far_apart_for_plain_arithmetic():
    far = np.array([-1.7e308, 0.0, 1.7e308])
    axis = Axis.numeric(far, np.ones(3), 10)
    t = TermTables((Column("a"),), (axis,), (axis,), ((0,),), (np.array([1.0, 2.0, 4.0, 0.0]),), 1.0)
    np.testing.assert_allclose(t.predictor(np.array([[-8.5e307], [8.5e307], [np.nan]])), [2.5, 4.0, 1.0])


def test_the_layout_is_not_stored():
    t = tables()
    size = len(pickle.dumps(t))
    right = t.predictor(X)
    assert len(pickle.dumps(t)) == size
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(t)).predictor(X), right)


def test_grids():
    t = tables()
    assert t.names == ["a", "b", "a × c"]
    assert list(t.grid(1, AXES[1]).points) == ["u", "v", "w"]
    c = t.grid(2, AXES[2])
    assert c.missing
    assert np.isnan(c.points[-1])
    assert c.labels()[-1] == "(missing)"
    some = t.grid(2, AXES[2], np.array([0, 1]))
    assert not some.missing
    assert len(some) == 2


def test_receipt_sums_to_one():
    r = Receipt(0.5, 0.2, 0.1, "here")
    assert r.explained == pytest.approx(0.7)
    assert r.explained + r.beyond + r.unexplained == pytest.approx(1)
    assert "20.0 %" in str(r)


# ------------------------------------------------------------------ purification


def effects(rng, outputs=()):
    """A curve on a fine grid, none for the second feature, a surface on coarse grids with missing values."""
    extra = (len(outputs),) if outputs else ()
    a_fine, a = Grid("a", np.linspace(0, 1, 9)), Grid("a", np.array([0.0, 0.3, 1.0]))
    b = Grid("b", np.array([0.0, 1.0, 2.0, np.nan]), missing=True)
    density = rng.dirichlet(np.ones(9))
    joint = rng.dirichlet(np.ones(12)).reshape(3, 4)
    return {
        "a": Effect((0,), "a", (a_fine,), rng.normal(size=(9, *extra)), density, outputs=outputs),
        "a × b": Effect((0, 1), "a × b", (a, b), rng.normal(size=(3, 4, *extra)), joint, outputs=outputs),
    }


@pytest.mark.parametrize("outputs", [(), ("yes", "no", "maybe")], ids=["one", "three"])
def test_purified_surfaces_hold_no_curve(outputs):
    found = purify_jointly(effects(np.random.default_rng(0), outputs))
    assert list(found) == ["a", "b", "a × b"]
    surface = found["a × b"]
    P = surface.density if not outputs else surface.density[..., None]
    np.testing.assert_allclose(np.sum(P * surface.values, axis=1), 0, atol=1e-10)
    np.testing.assert_allclose(np.sum(P * surface.values, axis=0), 0, atol=1e-10)
    for name in "ab":
        np.testing.assert_allclose(np.tensordot(found[name].density, found[name].values, 1), 0, atol=1e-12)
        assert found[name].density.sum() == pytest.approx(1)


def test_purified_sum_changes_by_a_constant():
    before = effects(np.random.default_rng(1))
    after = purify_jointly(before)
    a, b = before["a × b"].grids

    def total(found):
        grid = found["a"].grids[0]
        at_a = np.interp(a.points, grid.points, found["a"].values)
        at_b = found["b"].values if "b" in found else np.zeros(len(b))
        return at_a[:, None] + at_b + found["a × b"].values

    difference = total(after) - total(before)
    np.testing.assert_allclose(difference, difference[0, 0], atol=1e-10)
    assert len(after["a"].grids[0]) == 10  # the points of both grids


def test_purified_levels():
    rng = np.random.default_rng(2)
    a = Grid("a", np.array(["u", "v"], dtype=object), levels=True)
    b = Grid("b", np.array(["x", "y", "z"], dtype=object), levels=True)
    found = purify_jointly(
        {
            "a": Effect((0,), "a", (a,), rng.normal(size=2), np.array([0.5, 0.5])),
            "a × b": Effect(
                (0, 1), "a × b", (a, b), rng.normal(size=(2, 3)), rng.dirichlet(np.ones(6)).reshape(2, 3)
            ),
        }
    )
    np.testing.assert_allclose(np.sum(found["a × b"].density * found["a × b"].values, axis=1), 0, atol=1e-10)
    assert len(found["a"].values) == 2
    assert len(found["b"].values) == 3
