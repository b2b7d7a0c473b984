"""Scaling: increasing, flat outside the training range, unit variance, weights count rows."""

from dataclasses import replace

import numpy as np
import pytest

from pellucid.data.table import UNKNOWN, Column
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
    codes = np.repeat([0, 1, 2], 50)
    target = np.array([2.0, -1.0, 5.0])[codes][:, None]
    assert order_levels(codes, 3, target, np.ones(150)).tolist() == [1, 0, 2]


def test_levels_with_an_order_keep_it():
    codes = np.repeat([0.0, 1.0, 2.0], 50)[:, None]
    target = np.array([2.0, -1.0, 5.0])[codes[:, 0].astype(int)][:, None]
    column = Column("size", ("small", "medium", "large"))
    by_mean, declared = (
        fit_scaler(codes, "robust", np.ones(150), [what], target).columns[0].levels
        for what in (column, replace(column, ordered=True))
    )
    assert by_mean == {"small": 1, "medium": 0, "large": 2}
    assert declared == {"small": 0, "medium": 1, "large": 2}


def test_rare_levels_stay_near_the_middle():
    codes = np.repeat([0, 1, 2], [50, 50, 1])
    target = np.concatenate([np.zeros(50), np.ones(50), [1.5]])[:, None]
    assert order_levels(codes, 3, target, np.ones(101)).tolist() == [0, 2, 1]


def test_several_targets_order_along_their_main_direction():
    codes = np.array([0, 1, 2] * 40)
    profile = np.array([[0.0, 3.0], [1.0, 2.0], [2.0, 1.0]])[codes]
    assert order_levels(codes, 3, profile, np.ones(120)).tolist() in ([0, 1, 2], [2, 1, 0])


def test_a_level_not_seen_takes_the_mean_position():
    codes = np.repeat([0.0, 1.0], [25, 75])[:, None]
    scaler = fit_scaler(codes, "robust", np.ones(100), [Column("c", ("u", "v"))], codes)
    u, v, new = scaler.apply(np.array([[0.0], [1.0], [UNKNOWN]]))[:, 0]
    assert new == pytest.approx(u + 0.75 * (v - u))
