"""Axes of single features: points, places, and the laws of their eigenbases."""

import numpy as np
import pytest

from pellucid.data.table import UNKNOWN
from pellucid.features.axis import Axis

RNG = np.random.default_rng(0)
HEAVY = RNG.standard_cauchy(400)
COLUMNS = {
    "smooth": RNG.normal(size=400),
    "heavy": HEAVY,
    "outlier": np.append(RNG.normal(size=399), 1e12),
    "huge": np.append(RNG.normal(size=398), [-1.7e308, 1.7e308]),
    "integers": RNG.integers(0, 7, 400).astype(float),
    "two values": RNG.integers(0, 2, 400).astype(float),
    "missing": np.where(RNG.random(400) < 0.2, np.nan, HEAVY),
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
    assert np.all(np.abs(value / 4 - x / 4) <= 1e-12 * (np.abs(left) / 4 + np.abs(right) / 4))
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
    axis = Axis.numeric(column, np.ones(len(column)), 60)
    basis = axis.basis(1.0, 200)
    Phi, mass = basis.table[:-1], axis.mass
    np.testing.assert_allclose(mass @ Phi, 0, atol=1e-12)
    D = Phi.T @ (mass[:, None] * Phi)
    np.testing.assert_allclose(D, np.diag(basis.value), atol=1e-9 * basis.value[0])
    assert np.all(np.diff(basis.value) <= 0)
    np.testing.assert_array_equal(basis.table[-1], 0)


def test_basis_reproduces_the_centred_kernel():
    x = np.arange(12.0)
    axis = Axis.numeric(x, np.ones(12), 60)
    K = np.exp(-np.abs(axis.coordinate[:, None] - axis.coordinate) / 0.7)
    row = K @ axis.mass
    K -= np.outer(row, row) / (axis.mass @ row)
    Phi = axis.basis(0.7, 50).table[:-1]
    np.testing.assert_allclose(Phi @ Phi.T, K, atol=1e-7)


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
    basis = axis.basis(1.0, 5)
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
    Phi = axis.basis(1.0, 9).table[:-1]
    assert Phi.shape[1] == 3  # one direction is the constant
    np.testing.assert_allclose(axis.mass @ Phi, 0, atol=1e-14)


@pytest.mark.parametrize("x", [[3.0, 3.0], [np.nan, np.nan], [1.0]])
def test_nothing_to_tell_apart(x):
    x = np.array(x)
    axis = Axis.numeric(x, np.ones(len(x)), 10)
    basis = axis.basis(1.0, 5)
    assert len(basis) == 0
    assert basis.at(axis.locate(np.array([0.0, 3.0, np.nan]))).shape == (3, 0)


def test_one_value_and_missing():
    x = np.array([2.0, np.nan, 2.0, np.nan])
    axis = Axis.numeric(x, np.ones(4), 10)
    i, _ = axis.locate(np.array([-1.0, 2.0, 9.0, np.nan]))
    np.testing.assert_array_equal(i, [0, 0, 0, 1])
    assert len(axis.basis(1.0, 5)) == 1


def test_single_precision_is_close():
    axis = Axis.numeric(COLUMNS["smooth"], np.ones(400), 60)
    basis = axis.basis(1.0, 20)
    place = axis.locate(COLUMNS["smooth"])
    single = basis.at(place, np.float32)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, basis.at(place), atol=1e-5)


def test_the_first_columns_are_the_first_of_all():
    x = COLUMNS["smooth"]
    axis = Axis.numeric(x, np.ones(400), 60)
    basis = axis.basis(1.0, 20)
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
    few, many = (a.basis(1.0, 6).at(a.locate(x)) for a in (thin, axis))
    for k in range(3):  # signs are free
        assert abs(np.corrcoef(few[:, k], many[:, k])[0, 1]) > 0.99
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
    assert (len(axis.basis(1.0, 5)) == 0) is flat


@pytest.mark.parametrize("levels", [None, 7])
def test_sums_on_points_are_those_over_rows(levels):
    rng = np.random.default_rng(5)
    x = rng.normal(size=500) if levels is None else rng.integers(0, levels, 500).astype(float)
    x[::9] = np.nan
    made = Axis.numeric(x, np.ones(500), 40) if levels is None else Axis.of_levels(x, np.ones(500), levels)
    new = np.append(x, 99.0 if levels is None else -1.0)  # beyond the last knot, or an unknown level
    w, r = rng.uniform(size=501), rng.normal(size=501)
    A, b = made.sums(new, w, r)
    T = made.basis(1.0, 12).table
    Z = made.basis(1.0, 12).at(made.locate(new))
    np.testing.assert_allclose(T.T @ A @ T, Z.T @ (w[:, None] * Z), atol=1e-10)
    np.testing.assert_allclose(T.T @ b, Z.T @ r, atol=1e-10)
    np.testing.assert_allclose(A.sum(), w.sum())


@pytest.mark.parametrize("jumps", [True, False])
def test_a_value_that_stands_out_may_jump_unless_there_are_no_jumps(jumps):
    x = np.where(RNG.random(500) < 0.5, 0.0, RNG.random(500))
    axis = Axis.numeric(x, np.ones(500), 64)
    T = axis.basis(1.0, 64, jumps=jumps).table[:-1]
    u, mass = axis.coordinate, axis.mass
    K = np.exp(-np.abs(u[:, None] - u))
    K[0, 0] += 0.5 * jumps
    row = K @ mass
    np.testing.assert_allclose(T @ T.T, K - np.outer(row, row) / (mass @ row), atol=1e-6)
