import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.linalg import column_scale, power_of_two


@pytest.mark.parametrize("unit", [1e-300, 1.0, 1e300])
def test_standard_deviation_in_any_unit(unit):
    X = np.random.default_rng(0).normal(loc=[0.0, 1.0, -5.0, 100.0], size=(50, 4))
    assert_allclose(column_scale(unit * X) / unit, X.std(axis=0), rtol=1e-12)


def test_a_large_offset():
    X = np.array([[1e8], [1e8 + 1.0], [1e8 + 2.0]])
    assert_allclose(column_scale(X), np.std([0.0, 1.0, 2.0]), rtol=1e-12)


def test_weights_count_rows():
    X = np.random.default_rng(0).normal(size=(20, 3))
    weight = np.random.default_rng(1).integers(0, 4, size=20)
    assert_allclose(
        column_scale(X, weight.astype(float)), np.repeat(X, weight, axis=0).std(axis=0), rtol=1e-12
    )


@pytest.mark.parametrize(("value", "n"), [(0.0, 1), (0.1, 7), (-3.0, 7), (1e150, 7), (1 / 3, 100_000)])
def test_constant_columns_have_scale_one(value, n):
    assert_array_equal(column_scale(np.full((n, 1), value)), [1.0])
    weight = np.random.default_rng(0).uniform(size=n)
    assert_array_equal(column_scale(np.full((n, 1), value), weight), [1.0])


def test_constant_up_to_rounding():
    assert_array_equal(column_scale(np.array([[0.3], [0.1 + 0.2], [0.3]])), [1.0])


def test_a_column_that_varies_only_where_weights_are_zero():
    assert_array_equal(column_scale(np.array([[1.0], [1.0], [5.0]]), np.array([1.0, 1.0, 0.0])), [1.0])


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_power_of_two(magnitude):
    power = float(power_of_two(magnitude))
    assert np.frexp(power)[0] == 0.5
    assert magnitude < power <= 2 * magnitude
    assert power_of_two(-magnitude) == power


def test_power_of_two_at_the_edges():
    assert_array_equal(power_of_two([0.0, 1.0, 3.0]), [1.0, 2.0, 4.0])
    for extreme in (5e-324, 1.7e308):
        assert np.isfinite(extreme / power_of_two(extreme))
        assert extreme / power_of_two(extreme) > 0
