"""Drift: the index by its formula, its limit by simulation, and values that training did not see."""

import numpy as np
import pytest

from pellucid.data.cells import Cells
from pellucid.effects.drift import Bins, bins_of_effects, measure_drift
from pellucid.effects.terms import Effect, Grid


def numbers(x):
    return Cells("x", np.asarray(x, dtype=float))


def test_the_index_is_that_of_its_formula():
    rng = np.random.default_rng(0)
    train, now = rng.normal(size=1000), rng.normal(0.5, 1.2, size=400)
    bins = Bins.of_cells("x", numbers(train), np.ones(1000))
    assert np.allclose(bins.shares[:10], 0.1, atol=0.002)
    cuts = np.quantile(train, np.arange(1, 10) / 10)
    assert np.allclose(bins.cuts, cuts, atol=0.02)
    p, q = (np.histogram(v, [-np.inf, *bins.cuts, np.inf])[0] / len(v) for v in (train, now))
    found = measure_drift([bins], [numbers(now)])
    p, q = (p + 0.5 / 400) / (1 + 5 / 400), (q + 0.5 / 400) / (1 + 5 / 400)
    assert found.psi[0] == pytest.approx(np.sum((q - p) * np.log(q / p)), rel=1e-6)
    assert found.unseen[0] == pytest.approx(np.mean((now < train.min()) | (now > train.max())))
    assert 0 < found.hellinger[0] < 1
    assert found.shifted[0]


def test_without_drift_the_limit_is_passed_once_in_a_hundred():
    rng = np.random.default_rng(1)
    passed = []
    for _ in range(400):
        bins = Bins.of_cells("x", numbers(rng.normal(size=500)), np.ones(500))
        found = measure_drift([bins], [numbers(rng.normal(size=200))], 500)
        passed.append(found.psi[0] > found.limit[0])
    assert np.mean(passed) < 0.03


def test_levels_missing_values_and_weights():
    train = Cells.of_levels("kind", ["a", "b", "b", None])
    bins = Bins.of_cells("kind", train, np.array([1.0, 1.0, 2.0, 1.0]))
    assert bins.shares.tolist() == [0.2, 0.6, 0.0, 0.2, 0.0]
    at, strange = bins.place(Cells.of_levels("kind", ["b", None, "c", "a"]))
    assert at.tolist() == [1, 3, 4, 0]
    assert strange.tolist() == [False, False, True, False]
    same = measure_drift([bins], [Cells.of_levels("kind", ["a", "b", "b", "b", None])])
    assert same.psi[0] == pytest.approx(0, abs=1e-12)
    assert measure_drift([bins], [Cells.of_levels("kind", ["c", "c"])]).unseen[0] == 1


def test_constants_and_text_where_numbers_were():
    bins = Bins.of_cells("x", numbers([3.0, 3.0]), np.ones(2))
    found = measure_drift([bins], [numbers([3.0, 4.0, np.nan])])
    assert found.unseen[0] == pytest.approx(2 / 3)
    assert found.psi[0] > 0.1
    with pytest.raises(ValueError, match="'x' held numbers in training"):
        bins.place(Cells.of_levels("x", ["much"]))


def test_features_that_are_only_in_pairs_are_found():
    grids = (Grid("a", np.array([0.0, 1.0])), Grid("b", np.array(["u", "v"], dtype=object), levels=True))
    density = np.array([[0.1, 0.2], [0.3, 0.4]])
    pair = Effect((0, 2), "a × b", grids, np.zeros((2, 2)), density)
    first, second = bins_of_effects([pair])
    assert np.allclose(first.shares[:2], [0.3, 0.7])
    assert first.cuts.tolist() == [0.5]
    assert np.allclose(second.shares[:2], [0.4, 0.6])
    assert second.levels == ("u", "v")
