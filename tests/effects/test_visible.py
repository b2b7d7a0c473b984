"""What of an effect is drawn: all that most rows have, and what is left out is named."""

import numpy as np
import pytest

from pellucid.effects import Effect, Grid
from pellucid.effects.visible import in_view, sentences, visible


def shares(n):
    return np.full(n, 1.0 / n)


@pytest.mark.parametrize("n", [20, 40, 120, 1000])
def test_one_row_far_out_is_left_out(n):
    x = np.append(np.linspace(0.0, 1.0, n - 1), 1e4)
    assert visible(x, shares(n)) == slice(0, n - 1)
    assert visible(-x[::-1], shares(n)) == slice(1, n)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.normal(size=1000),
        lambda rng: rng.uniform(size=1000),
        lambda rng: rng.exponential(size=1000),
        lambda rng: rng.standard_t(5, size=1000),
        lambda rng: np.append(rng.normal(size=995), rng.normal(12.0, 1.0, size=5)),
        lambda rng: np.arange(12.0),
    ],
)
def test_ordinary_columns_are_drawn_whole(draw):
    x = np.unique(draw(np.random.default_rng(0)))
    assert visible(x, shares(len(x))) == slice(0, len(x))


def test_little_is_left_out_of_heavy_tails_and_of_columns_that_are_mostly_one_value():
    rng = np.random.default_rng(0)
    for x in (np.sort(rng.lognormal(0.0, 2.0, 2000)), np.sort(rng.standard_cauchy(2000))):
        part = visible(x, shares(2000))
        assert 1 - (part.stop - part.start) / 2000 <= 0.0101
    positive = np.sort(rng.lognormal(3.0, 1.0, 60))
    x, density = np.append(0.0, positive), np.append(0.97, np.full(60, 0.03 / 60))
    part = visible(x, density)
    assert density[part].sum() >= 0.995 - 1e-12


def test_few_points_and_no_rows_are_left_alone():
    assert visible(np.array([0.0, 1.0, 1e6]), shares(3)) == slice(0, 3)
    assert visible(np.arange(20.0), np.zeros(20)) == slice(0, 20)


def curve(missing=False):
    x = np.append(np.linspace(0.0, 1.0, 98), [500.0, 900.0])
    values, density = np.append(np.zeros(98), [2.0, 3.0]), shares(100)
    if missing:
        x, values, density = np.append(x, np.nan), np.append(values, -1.0), np.append(0.9 * density, 0.1)
    return Effect((0,), "age", (Grid("age", x, missing=missing),), values, density, se=np.ones(len(x)))


def test_what_is_left_out_is_named():
    seen, (beyond,) = in_view(curve())
    assert len(seen.grids[0]) == len(seen.values) == len(seen.se) == 98
    assert (beyond.above, beyond.edge, beyond.to, beyond.values) == (True, 1.0, 900.0, (3.0,))
    assert beyond.share == pytest.approx(0.02)
    assert sentences([beyond]) == "2 % of the rows lie above 1, up to 900 (+3 there)."


def test_a_missing_value_stays():
    seen, (beyond,) = in_view(curve(missing=True))
    assert np.isnan(seen.grids[0].points[-1])
    assert seen.values[-1] == -1.0
    assert seen.density.sum() + beyond.share == pytest.approx(1.0)


def test_pairs_and_levels():
    one = curve()
    town = Grid("town", np.array(["Bonn", "Ulm"], dtype=object), levels=True)
    values = np.column_stack([one.values, -one.values])
    pair = Effect((0, 1), "age × town", (one.grids[0], town), values, np.outer(one.density, [0.5, 0.5]))
    seen, (beyond,) = in_view(pair)
    assert seen.values.shape == (98, 2)
    assert beyond.values == ()
    assert str(beyond) == "2 % of the rows lie above 1, up to 900"
    grids = one.grids[0], Grid("b", -one.grids[0].points[::-1])
    both = Effect((0, 2), "age × b", grids, np.zeros((100, 100)), np.outer(one.density, one.density))
    _, found = in_view(both)
    assert sentences(found).startswith("age: 2 % of the rows lie above 1, up to 900. b: 2 % of the rows lie")


def test_nothing_is_left_out_of_ordinary_effects():
    x = np.linspace(0.0, 1.0, 50)
    effect = Effect((0,), "a", (Grid("a", x),), x, shares(50))
    assert in_view(effect) == (effect, [])
    assert sentences([]) == ""
