import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist

from pellucid.preprocessing import CenteredLogRatio, Closure, PowerTransform


def chi_power(training, rows, power):
    """The formula, word for word."""
    powers = [np.array([[x**power for x in row] for row in data]) for data in (training, rows)]
    train, new = (p / p.sum(axis=1, keepdims=True) for p in powers)
    return (np.sqrt(train.shape[1] / train.mean(axis=0)) * new - 1) / power


@pytest.mark.parametrize("power", [1e-3, 0.28, 0.5, 1.0])
def test_powers_of_shares(counts, power):
    expected = Closure().fit_transform(counts) ** power
    assert_allclose(PowerTransform(power).fit_transform(counts), expected, rtol=1e-12)
    assert_allclose(PowerTransform(power, closure=False).fit_transform(counts), counts**power, rtol=1e-12)


def test_hellinger_rows_have_length_one(counts):
    assert_allclose(np.linalg.norm(PowerTransform().fit_transform(counts), axis=1), 1.0)


def test_power_one_is_closure(counts):
    assert_array_equal(PowerTransform(1).fit_transform(counts), Closure().fit_transform(counts))


@pytest.mark.parametrize("power", [0.01, 0.28, 0.5, 1.0])
@pytest.mark.parametrize("closure", [True, False])
def test_chi_formula(counts, power, closure):
    fitted = PowerTransform(power, chi=True, closure=closure).fit(counts[:25])
    assert_allclose(fitted.transform(counts), chi_power(counts[:25], counts, power), rtol=1e-9, atol=1e-9)


def test_chi_square_distance(counts):
    profiles = counts / counts.sum(axis=1, keepdims=True)
    chi_square = pdist(profiles / np.sqrt(profiles.mean(axis=0)))
    found = pdist(PowerTransform(1.0, chi=True).fit_transform(counts))
    assert_allclose(found, np.sqrt(counts.shape[1]) * chi_square)


@pytest.mark.parametrize("power", [1e-3, 1e-6, 1e-9, 1e-12, 1e-100])
def test_small_powers_give_distances_of_log_ratios(positive, power):
    limit = pdist(CenteredLogRatio().fit_transform(positive))
    found = pdist(PowerTransform(power, chi=True).fit_transform(positive))
    assert_allclose(found, limit, rtol=20 * power + 1e-10)


def test_the_limit_is_approached_in_proportion_to_the_power(positive):
    limit = pdist(CenteredLogRatio().fit_transform(positive))
    errors = [
        np.abs(pdist(PowerTransform(power, chi=True).fit_transform(positive)) - limit).max()
        for power in (1e-2, 1e-3, 1e-4)
    ]
    assert_allclose(errors[1] / errors[0], 0.1, rtol=0.2)
    assert_allclose(errors[2] / errors[1], 0.1, rtol=0.02)


@settings(deadline=None)
@given(st.floats(0.01, 1.0), st.integers(0, 1000))
def test_chi_columns_know_zeros(power, seed):
    counts = np.random.default_rng(seed).poisson(1.0, size=(10, 4)) + np.eye(10, 4, dtype=int)
    counts[:, 0] += 1
    found = PowerTransform(power, chi=True).fit_transform(counts)
    assert_allclose(found[counts == 0], -1 / power)
    assert (found[counts > 0] > -1 / power).all()


def test_column_means_come_from_training_rows(counts):
    fitted = PowerTransform(1.0, chi=True).fit(counts[:20])
    assert_allclose(fitted.column_means_, Closure().fit_transform(counts[:20]).mean(axis=0))
    assert not hasattr(PowerTransform().fit(counts), "column_means_")


def test_shares_too_small_for_a_number():
    parts = np.array([[1e-300, 1e300], [1.0, 1.0]])
    assert_allclose(PowerTransform(0.01).fit_transform(parts)[0], [1e-6, 1.0])
    assert np.isfinite(PowerTransform(0.01, chi=True).fit_transform(parts)).all()


def test_columns_of_zeros(counts, soils):
    counts[:, [1, 4]] = 0
    with pytest.raises(ValueError, match=r"column\(s\) 1, 4 have only zeros. Drop these columns"):
        PowerTransform(chi=True).fit(counts)
    assert_array_equal(PowerTransform().fit_transform(counts)[:, [1, 4]], 0.0)
    soils["clay"] = 0.0
    with pytest.raises(ValueError, match=r"column\(s\) 'clay' have only zeros"):
        PowerTransform(chi=True).fit(soils)


def test_zero_rows_without_closure(counts):
    counts[3] = 0
    assert_array_equal(PowerTransform(closure=False).fit_transform(counts)[3], 0.0)


@pytest.mark.parametrize("power", [0, -0.5, 1.5, np.nan, np.inf, "half", None, True, [0.5]])
def test_impossible_powers(counts, power):
    with pytest.raises(ValueError, match="power must be a number above 0 and at most 1"):
        PowerTransform(power).fit(counts)


def test_names(soils):
    assert list(PowerTransform().fit(soils).get_feature_names_out()) == ["sand", "silt", "clay"]
