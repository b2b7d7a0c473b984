"""Scaling: increasing, flat outside the training range, unit variance, weights count rows."""

import numpy as np
import pytest

from pellucid.features.scaling import SCALINGS, fit_scaler, order_levels

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(size=400), RNG.exponential(size=400) ** 3, RNG.integers(0, 3, 400)])
ONE = np.ones(400)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_increasing_and_flat_outside(scaling):
    scaler = fit_scaler(X, scaling, ONE)
    for j in range(3):
        new = np.zeros((400, 3))
        new[:, j] = np.linspace(X[:, j].min(), X[:, j].max(), 400)
        u = scaler.apply(new)[:, j]
        assert np.all(np.diff(u) >= 0)
        assert u[-1] > u[0]
    far = scaler.apply(np.array([[1e9] * 3, [-1e9] * 3]))
    np.testing.assert_allclose(far, scaler.apply(np.vstack([X.max(axis=0), X.min(axis=0)])))


@pytest.mark.parametrize("scaling", ["robust", "rank", "standard"])
def test_centred_with_unit_variance(scaling):
    U = fit_scaler(X, scaling, ONE).apply(X)
    # more than 257 distinct values are thinned to knots: equal up to what lies between them
    np.testing.assert_allclose(U.mean(axis=0), 0.0, atol=0.01)
    np.testing.assert_allclose(U.std(axis=0), 1.0, atol=0.01)


def test_minmax_fills_the_unit_interval_and_knows_its_spread():
    scaler = fit_scaler(X, "minmax", ONE)
    U = scaler.apply(X)
    assert U.min() == 0.0
    assert U.max() == 1.0
    assert scaler.unit == pytest.approx(np.sqrt(np.mean(U.var(axis=0))), rel=1e-9)


def test_robust_resists_a_gross_value():
    spoiled = X.copy()
    spoiled[0, 0] = 1e6
    before, after = (fit_scaler(A, "robust", ONE).apply(A)[1:, 0] for A in (X, spoiled))
    assert np.corrcoef(before, after)[0, 1] > 0.999
    assert np.ptp(fit_scaler(spoiled, "standard", ONE).apply(spoiled)[1:, 0]) < 0.01  # what it is there for


def test_rank_is_the_share_of_rows_below():
    x = np.array([[3.0], [1.0], [2.0], [2.0]])
    share = np.array([3.5, 0.5, 2.0, 2.0]) / 4
    np.testing.assert_allclose(
        fit_scaler(x, "rank", np.ones(4)).apply(x)[:, 0], (share - share.mean()) / share.std()
    )


@pytest.mark.parametrize("scaling", SCALINGS)
def test_weight_two_is_the_row_twice(scaling):
    copies = RNG.integers(1, 4, 400)
    weighted = fit_scaler(X, scaling, copies.astype(float))
    repeated = fit_scaler(np.repeat(X, copies, axis=0), scaling, np.ones(copies.sum()))
    np.testing.assert_allclose(weighted.apply(X), repeated.apply(X), atol=1e-12)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_constant_column_is_zero(scaling):
    scaler = fit_scaler(np.full((5, 2), 0.3), scaling, np.ones(5))
    np.testing.assert_array_equal(scaler.apply(np.array([[0.3, 7.0]])), 0.0)
    assert scaler.unit == 1.0


def test_levels_are_ordered_by_the_mean_target():
    levels = np.array(["a"] * 50 + ["b"] * 50 + ["c"] * 50, dtype=object)
    target = np.repeat([2.0, -1.0, 5.0], 50)[:, None]
    places, mean = order_levels(levels, target, np.ones(150))
    assert places == {"b": 0.0, "a": 1.0, "c": 2.0}
    assert mean == 1.0


def test_rare_levels_stay_near_the_middle():
    levels = np.array(["a"] * 50 + ["b"] * 50 + ["rare"], dtype=object)
    target = np.concatenate([np.zeros(50), np.ones(50), [1.5]])[:, None]
    places, _ = order_levels(levels, target, np.ones(101))
    assert places == {"a": 0.0, "rare": 1.0, "b": 2.0}


def test_several_targets_order_along_their_main_direction():
    levels = np.array([0, 1, 2] * 40, dtype=object)
    profile = np.array([[0.0, 3.0], [1.0, 2.0], [2.0, 1.0]])[levels.astype(int)]
    places, _ = order_levels(levels, profile, np.ones(120))
    assert list(places) in ([0, 1, 2], [2, 1, 0])


def test_a_level_not_seen_takes_the_mean_position():
    rows = np.empty((100, 1), dtype=object)
    rows[:, 0] = ["u"] * 25 + ["v"] * 75
    scaler = fit_scaler(rows, "robust", np.ones(100), [0], np.repeat([0.0, 1.0], [25, 75])[:, None])
    u, v, new = scaler.apply(np.array([["u"], ["v"], ["w"]], dtype=object))[:, 0]
    assert new == pytest.approx(u + 0.75 * (v - u))
