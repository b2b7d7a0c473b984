import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.preprocessing import Closure

AMOUNTS = st.floats(0.0, 1e12, allow_subnormal=False)


def test_formula(counts):
    shares = Closure().fit_transform(counts)
    assert_allclose(shares, [[x / sum(row) for x in row] for row in counts], rtol=1e-14)
    assert_array_equal(shares == 0, counts == 0)


@settings(deadline=None)
@given(arrays(float, (4, 3), elements=AMOUNTS))
def test_totals_are_one(parts):
    parts[:, 0] += 1e-3
    shares = Closure().fit_transform(parts)
    assert_allclose(shares.sum(axis=1), 1.0)
    assert_allclose(Closure().fit_transform(shares), shares, rtol=1e-14)


def test_totals_beyond_the_largest_number():
    assert_allclose(Closure().fit_transform([[1e308, 1e308, 1e308]]), 1 / 3)


def test_smallest_numbers():
    assert_allclose(Closure().fit_transform([[5e-324, 5e-324]]), 0.5)


def test_names(soils):
    assert list(Closure().fit(soils).get_feature_names_out()) == ["sand", "silt", "clay"]
    assert list(Closure().fit(np.ones((2, 2))).get_feature_names_out()) == ["x0", "x1"]
