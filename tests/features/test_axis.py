"""Axes of single features: points, places, and the laws of their eigenbases."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, make_smoothing_spline

from pellucid.data.table import UNKNOWN
from pellucid.features.axis import _REPEATS, CURVE, LEVEL, LINE, POINT, Axis

RNG = np.random.default_rng(0)
REPEATS = int(_REPEATS)
HEAVY = RNG.standard_cauchy(400)
COLUMNS = {
    "smooth": RNG.normal(size=400),
    "heavy": HEAVY,
    "outlier": np.append(RNG.normal(size=399), 1e12),
    "huge": np.append(RNG.normal(size=398), [-1.7e308, 1.7e308]),
    "integers": RNG.integers(0, 7, 400).astype(float),
    "two values": RNG.integers(0, 2, 400).astype(float),
    "missing": np.where(RNG.random(400) < 0.2, np.nan, HEAVY),
    "float32": RNG.normal(size=400).astype(np.float32),
    "mostly zero": np.where(RNG.random(400) < 0.9, 0.0, RNG.exponential(size=400)),
}


@pytest.fixture(params=COLUMNS, ids=str)
def column(request):
    return COLUMNS[request.param]


def test_interpolation_reproduces_what_is_linear(column):
    """Weights of the two points, applied to the knots, give the value back."""
    axis = Axis.numeric(column, np.ones(len(column)), 60)
    i, w = axis.locate(column)
    seen = ~np.isnan(column)
    assert np.all((w >= 0) & (w <= 1))
    i, w, x = i[seen], w[seen], column[seen]
    left, right = axis.knots[i], axis.knots[i + 1]
    value = (1 - w) * left + w * right
    assert np.all(
        np.abs(value / 4 - x / 4) <= 1e3 * np.finfo(x.dtype).eps * (np.abs(left) / 4 + np.abs(right) / 4)
    )
    assert np.all(axis.locate(np.array([np.nan]))[0] == len(axis.knots))


def test_mass(column):
    weight = RNG.uniform(0.1, 2, len(column))
    axis = Axis.numeric(column, weight, 60)
    assert len(axis.mass) == len(axis)
    assert axis.mass.sum() == pytest.approx(1)
    assert axis.mass.min() >= 0
    if axis.missing:
        assert axis.mass[-1] == pytest.approx(weight[np.isnan(column)].sum() / weight.sum())


def test_basis_laws(column):
    """Mean zero and variance one; curves are orthogonal, and have no straight line in them."""
    axis = Axis.numeric(column, np.ones(len(column)), 60)
    basis = axis.basis(200)
    Phi, mass = basis.table[:-1], axis.mass
    np.testing.assert_allclose(mass @ Phi, 0, atol=1e-12)
    np.testing.assert_allclose(mass @ Phi**2, 1, atol=1e-12)
    np.testing.assert_array_equal(basis.table[-1], 0)
    curves, line = Phi[:, basis.part == CURVE], Phi[:, basis.part == LINE]
    np.testing.assert_allclose((curves.T * mass) @ curves, np.eye(curves.shape[1]), atol=1e-9)
    np.testing.assert_allclose((curves.T * mass) @ line, 0, atol=1e-7)
    assert np.all(np.diff(basis.frequency[basis.part == CURVE]) >= 0)
    seen = len(axis.knots)
    slope = np.diff(line[:seen, 0]) / np.diff(axis.coordinate)  # straight in the warped coordinate
    np.testing.assert_allclose(slope, slope.mean(), rtol=1e-6)
    assert np.sum(basis.part == POINT) == axis.missing
    if not axis.missing:
        assert len(basis) == seen - 1  # all functions but constants


def test_curves_have_the_roughness_that_their_frequency_says():
    """The natural splines through the columns: ∫ f_i'' f_j'' is (πω)⁴ for i = j, or else zero."""
    x = np.sort(RNG.gamma(2.0, size=14))
    axis = Axis.numeric(x, RNG.uniform(0.5, 2, 14), 60)
    basis = axis.basis(60)
    second = CubicSpline(axis.coordinate, basis.table[:-1], bc_type="natural")(axis.coordinate, 2)
    a, b = second[:-1], second[1:]
    h = np.diff(axis.coordinate)[:, None, None]
    A, B = a[:, :, None], b[:, :, None]
    C, D = a[:, None, :], b[:, None, :]
    penalty = np.sum(h * (2 * A * C + 2 * B * D + A * D + B * C) / 6, axis=0)
    wanted = np.where(basis.part == LINE, 0.0, (np.pi * basis.frequency) ** 4)
    np.testing.assert_allclose(penalty, np.diag(wanted), rtol=1e-6, atol=1e-7 * wanted.max())


def test_shrunk_columns_are_a_smoothing_spline():
    x, weight = np.sort(RNG.normal(size=20)), RNG.uniform(0.5, 2, 20)
    y = np.sin(2 * x) + 0.3 * RNG.normal(size=20)
    axis = Axis.numeric(x, weight, 60)
    basis, lam = axis.basis(60), 1e-4
    ridge = np.where(basis.part == LINE, 0.0, lam * (np.pi * basis.frequency) ** 4)
    Phi = basis.table[:-1]
    fitted = axis.mass @ y + Phi @ ((Phi.T * axis.mass) @ y / (1 + ridge))
    spline = make_smoothing_spline(axis.coordinate, y, axis.mass, lam=lam)
    np.testing.assert_allclose(fitted, spline(axis.coordinate), atol=1e-7)


def test_frequencies_count_half_waves():
    axis = Axis.numeric(np.linspace(0, 1, 300), np.ones(300), 300)
    frequency = axis.basis(12).frequency
    np.testing.assert_allclose(frequency, [1, *(np.arange(1, 12) + 0.5)], rtol=0.03)


@pytest.mark.parametrize("unseen", [0, 1, 3])
def test_eigenfunctions_of_levels_make_up_the_exchangeable_kernel(unseen):
    """Levels that no row has are like nothing else, and have no column."""
    codes = np.repeat(np.arange(6.0), [1, 2, 3, 5, 8, 40])
    axis = Axis.of_levels(codes, np.ones(len(codes)), 6 + unseen)
    basis = axis.basis(50)
    assert len(basis) == 5
    assert set(basis.part) == {LEVEL}
    Phi, mass = basis.table[:6], axis.mass[:6]
    np.testing.assert_allclose(
        (Phi / basis.frequency**2) @ Phi.T, np.eye(6) - np.outer(mass, mass) / (mass @ mass), atol=1e-10
    )
    np.testing.assert_allclose(basis.table[6:], 0, atol=1e-14)


def test_ordered_levels_are_numbers_that_keep_to_themselves():
    codes = np.repeat(np.arange(5.0), [10, 20, 5, 30, 7])
    ordered = Axis.of_levels(codes, np.ones(72), 5, ordered=True)
    number = Axis.numeric(codes, np.ones(72), 60)
    assert not ordered.unordered
    np.testing.assert_allclose(ordered.coordinate, number.coordinate)
    np.testing.assert_allclose(ordered.basis(9).table, number.basis(9).table, atol=1e-10)
    np.testing.assert_array_equal(ordered.locate(np.array([3.0, 1.0]))[1], 0)


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("n", [5, 300])
def test_points_without_mass_bring_no_columns(ordered, n):
    codes = RNG.integers(0, n - 3, 4 * n).astype(float)
    codes[:3] = np.arange(3)
    weight = np.where(codes == 1, 1e-14, 1.0)  # nearly no mass
    axis = Axis.of_levels(codes, weight, n, ordered=ordered)
    basis = axis.basis(n)
    assert len(basis) <= len(np.unique(codes)) - 2
    assert np.abs(basis.table).max() < 10 * np.sqrt(4 * n)


@pytest.mark.parametrize(
    ("x", "weight", "repeats"),
    [
        (np.repeat(np.arange(10.0), REPEATS), 1.0, True),
        (np.repeat(np.arange(10.0), REPEATS)[1:], 1.0, False),
        (np.arange(10.0), float(REPEATS), True),  # weights are repeats
        (np.repeat(np.arange(60.0), REPEATS), 1.0, False),  # not every value is a knot
    ],
)
def test_repeats(x, weight, repeats):
    axis = Axis.numeric(x, np.full(len(x), weight), 50)
    assert axis.repeats is repeats
    assert axis.basis(5).repeats is repeats
    levels = Axis.of_levels(x, np.full(len(x), weight), len(np.unique(x)))
    assert levels.repeats is (len(x) * weight >= REPEATS * len(np.unique(x)))


def test_values_that_stand_out_have_a_column_where_others_are_too_few():
    x = np.where(RNG.random(500) < 0.5, 0.0, RNG.random(500))
    axis = Axis.numeric(x, np.ones(500), 64)
    np.testing.assert_array_equal(np.flatnonzero(axis.standing_out()), [0])
    few, all_of_them = axis.basis(20), axis.basis(64)
    (own,) = few.table[:, few.part == POINT].T
    share = axis.mass[0]
    np.testing.assert_allclose(own[0], np.sqrt((1 - share) / share))
    np.testing.assert_allclose(own[1:-1], -np.sqrt(share / (1 - share)))
    assert POINT not in all_of_them.part


def test_warped_scale_is_monotone_and_bounded(column):
    u = Axis.numeric(column, np.ones(len(column)), 60).coordinate
    assert np.all(np.diff(u) > 0)
    assert u.min() >= -0.2
    assert u.max() <= 1.2


def test_weights_are_repeats():
    x = COLUMNS["missing"]
    weight = RNG.integers(0, 4, len(x))
    a = Axis.numeric(x, weight.astype(float), 40)
    b = Axis.numeric(np.repeat(x, weight), np.ones(weight.sum()), 40)
    np.testing.assert_array_equal(a.knots, b.knots)
    np.testing.assert_allclose(a.mass, b.mass, atol=1e-14)
    np.testing.assert_allclose(a.coordinate, b.coordinate, atol=1e-14)


def test_beyond_the_knots_and_nowhere():
    axis = Axis.numeric(np.array([0.0, 1.0, 2.0]), np.ones(3), 10)
    i, w = axis.locate(np.array([-5.0, 7.0, np.nan]))
    np.testing.assert_array_equal(i, [0, 1, 3])
    np.testing.assert_array_equal(w, [0, 1, 0])
    basis = axis.basis(5)
    at = basis.at((i, w))
    np.testing.assert_array_equal(at[0], basis.table[0])
    np.testing.assert_allclose(at[1], basis.table[2], atol=1e-15)
    np.testing.assert_array_equal(at[2], 0)


def test_levels():
    codes = np.array([0.0, 1, 1, 2, np.nan, UNKNOWN])
    axis = Axis.of_levels(codes, np.ones(6), 3)
    i, w = axis.locate(codes)
    np.testing.assert_array_equal(i, [0, 1, 1, 2, 3, 4])
    np.testing.assert_array_equal(w, 0)
    np.testing.assert_allclose(axis.mass, np.array([1, 2, 1, 1]) / 5)
    Phi = axis.basis(9).table[:-1]
    assert Phi.shape[1] == 3  # one direction is the constant
    np.testing.assert_allclose(axis.mass @ Phi, 0, atol=1e-14)


@pytest.mark.parametrize("x", [[3.0, 3.0], [np.nan, np.nan], [1.0]])
def test_nothing_to_tell_apart(x):
    x = np.array(x)
    axis = Axis.numeric(x, np.ones(len(x)), 10)
    basis = axis.basis(5)
    assert len(basis) == 0
    assert basis.at(axis.locate(np.array([0.0, 3.0, np.nan]))).shape == (3, 0)


def test_one_value_and_missing():
    x = np.array([2.0, np.nan, 2.0, np.nan])
    axis = Axis.numeric(x, np.ones(4), 10)
    i, _ = axis.locate(np.array([-1.0, 2.0, 9.0, np.nan]))
    np.testing.assert_array_equal(i, [0, 0, 0, 1])
    assert len(axis.basis(5)) == 1


def test_single_precision_is_close():
    axis = Axis.numeric(COLUMNS["smooth"], np.ones(400), 60)
    basis = axis.basis(20)
    place = axis.locate(COLUMNS["smooth"])
    single = basis.at(place, np.float32)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, basis.at(place), atol=1e-5)


def test_the_first_columns_are_the_first_of_all():
    x = COLUMNS["smooth"]
    axis = Axis.numeric(x, np.ones(400), 60)
    basis = axis.basis(20)
    place = axis.locate(x)
    for dtype in (np.float64, np.float32):
        every = basis.at(place, dtype)
        np.testing.assert_array_equal(basis.at(place, dtype, 7), every[:, :7])
        assert basis.at(place, dtype, 0).shape == (400, 0)


def test_thinned():
    rng = np.random.default_rng(7)
    x = np.where(rng.random(2000) < 0.1, np.nan, rng.gamma(0.5, size=2000))
    axis = Axis.numeric(x, np.ones(2000), 256)
    thin = axis.thinned(32)
    assert 30 <= len(thin.knots) <= 34
    assert set(thin.knots) <= set(axis.knots)
    assert thin.missing
    np.testing.assert_array_equal(thin.knots[[0, -1]], axis.knots[[0, -1]])
    np.testing.assert_allclose(thin.mass.sum(), 1, atol=1e-12)
    np.testing.assert_allclose(thin.mass[-1], axis.mass[-1], atol=1e-12)
    np.testing.assert_allclose(
        thin.mass[:-1] @ thin.knots, axis.mass[:-1] @ axis.knots, rtol=1e-9
    )  # the mean
    few, many = (a.basis(6).at(a.locate(x)) for a in (thin, axis))
    for k in range(3):  # signs are free
        assert abs(np.corrcoef(few[:, k], many[:, k])[0, 1]) > 0.98
    assert axis.thinned(256 + 2) is axis
    levels = Axis.of_levels(np.arange(50.0), np.ones(50), 50)
    assert levels.thinned(10) is levels


@pytest.mark.parametrize(
    ("x", "weight", "flat"),
    [
        ([3.0, 3.0], [1, 1], True),
        ([np.nan], [1], True),
        ([3.0, np.nan], [1, 1], False),
        ([3.0, 4.0], [1, 0], True),
        ([3.0, 4.0], [1, 1], False),
    ],
)
def test_flat_axes_have_no_columns(x, weight, flat):
    axis = Axis.numeric(np.array(x), np.array(weight, float), 10)
    assert axis.flat is flat
    assert (len(axis.basis(5)) == 0) is flat
