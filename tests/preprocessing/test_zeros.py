import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.preprocessing import CenteredLogRatio, Closure, ReplaceZeros


def replaced(rows, limits, fraction):
    """The formula, word for word."""
    result = []
    for row in rows:
        total, added = sum(row), sum(fraction * d for x, d in zip(row, limits, strict=True) if x == 0)
        result.append(
            [total * fraction * d if x == 0 else x * (1 - added) for x, d in zip(row, limits, strict=True)]
        )
    return np.array(result)


def smallest_shares(rows):
    shares = rows / rows.sum(axis=1, keepdims=True)
    return [column[column > 0].min() for column in shares.T]


@pytest.mark.parametrize("fraction", [0.1, 0.65, 1.0])
def test_formula(counts, fraction):
    fitted = ReplaceZeros(fraction).fit(counts[:25])
    limits = smallest_shares(counts[:25])
    assert_allclose(fitted.detection_limit_, limits)
    assert_allclose(fitted.transform(counts), replaced(counts, limits, fraction))


@pytest.mark.parametrize("limit", [0.01, [0.01, 0.02, 0.001, 0.1, 0.05, 0.03]])
def test_given_limits(counts, limit):
    fitted = ReplaceZeros(detection_limit=limit).fit(counts)
    assert_array_equal(fitted.detection_limit_, np.broadcast_to(limit, 6))
    assert_allclose(fitted.transform(counts), replaced(counts, np.broadcast_to(limit, 6), 0.65))


@settings(deadline=None)
@given(st.integers(0, 10_000), st.floats(0.01, 0.65))
def test_laws(seed, fraction):
    counts = np.random.default_rng(seed).poisson(4.0, size=(12, 5)) + np.eye(12, 5)
    counts[:, 0] += 20
    found = ReplaceZeros(fraction).fit_transform(counts)
    assert (found > 0).all()
    assert_allclose(found.sum(axis=1), counts.sum(axis=1))
    whole = (counts > 0).all(axis=1)
    assert_array_equal(found[whole], counts[whole])
    for row, new in zip(counts, found, strict=True):
        kept = row > 0
        assert_allclose(new[kept] / new[0], row[kept] / row[0])
    shares = Closure().fit_transform(found)
    assert (shares <= np.where(counts == 0, smallest_shares(counts), 1.0) + 1e-12).all()


def test_replaced_rows_have_logarithms(counts):
    assert np.isfinite(CenteredLogRatio().fit_transform(ReplaceZeros().fit_transform(counts))).all()


def test_limits_come_from_training_rows(counts):
    fitted = ReplaceZeros().fit(counts[:20])
    before = fitted.detection_limit_.copy()
    new = counts[20:].copy()
    new[:, 1] = 0
    assert_allclose(Closure().fit_transform(fitted.transform(new))[:, 1], 0.65 * before[1])
    assert_array_equal(fitted.detection_limit_, before)


def test_totals_do_not_matter_for_limits(counts):
    totals = np.random.default_rng(4).lognormal(sigma=3.0, size=(len(counts), 1))
    assert_allclose(
        ReplaceZeros().fit(totals * counts).detection_limit_, ReplaceZeros().fit(counts).detection_limit_
    )
    assert_allclose(
        ReplaceZeros().fit_transform(totals * counts), totals * ReplaceZeros().fit_transform(counts)
    )


def test_columns_of_zeros(counts, soils):
    counts[:, [1, 4]] = 0
    with pytest.raises(ValueError, match=r"column\(s\) 1, 4 have only zeros. Drop these columns, or give"):
        ReplaceZeros().fit(counts)
    assert (ReplaceZeros(detection_limit=1e-3).fit_transform(counts) > 0).all()
    soils["silt"] = 0.0
    with pytest.raises(ValueError, match=r"column\(s\) 'silt' have only zeros"):
        ReplaceZeros().fit(soils)


def test_replacements_that_leave_nothing():
    with pytest.raises(ValueError, match=r"row\(s\) 0, 1, 2 the replacements .* Use a smaller fraction"):
        ReplaceZeros().fit(np.eye(3))
    fitted = ReplaceZeros().fit([[1.0, 1.0, 1.0], [2.0, 2.0, 1.0]])
    assert_allclose(fitted.transform([[1.0, 0.0, 1.0]]).sum(), 2.0)
    greedy = ReplaceZeros(1.0, detection_limit=0.5).fit([[1.0, 1.0, 1.0]])
    with pytest.raises(ValueError, match=r"row\(s\) 1 the replacements"):
        greedy.transform([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])


@pytest.mark.parametrize("fraction", [0, -1, 1.1, np.nan, "some", None, True])
def test_impossible_fractions(counts, fraction):
    with pytest.raises(ValueError, match="fraction must be a number above 0 and at most 1"):
        ReplaceZeros(fraction).fit(counts)


@pytest.mark.parametrize("limit", [0.0, 1.0, -0.1, np.nan, [0.1, 0.1], [[0.1] * 6]])
def test_impossible_limits(counts, limit):
    with pytest.raises(ValueError, match="detection_limit must be"):
        ReplaceZeros(detection_limit=limit).fit(counts)


def test_names(soils):
    assert list(ReplaceZeros().fit(soils).get_feature_names_out()) == ["sand", "silt", "clay"]
