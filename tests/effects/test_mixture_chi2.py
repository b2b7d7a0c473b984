"""Tails of weighted sums of χ² against exact cases and simulation; one p-value of several."""

import numpy as np
import pytest
from scipy.stats import chi2, norm

from pellucid.effects.mixture_chi2 import combined_p_value, mixture_tail
from pellucid.models.additive.reading import p_value


@pytest.mark.parametrize("dof", [1, 3, 20])
@pytest.mark.parametrize("q", [0.5, 5.0, 40.0])
def test_equal_weights_are_one_chi_square(dof, q):
    assert mixture_tail(2.5 * q, np.full(dof, 2.5)) == pytest.approx(chi2.sf(q, dof), rel=1e-8)


def test_scale_does_not_matter():
    weights = np.array([5.0, 1.0, 0.2])
    assert mixture_tail(7.0, weights) == pytest.approx(mixture_tail(7e12, weights * 1e12), rel=1e-9)


@pytest.mark.parametrize("weights", [[1, 0.5, 0.1, 0.01], [1, 1, 1, 0.001], list(0.8 ** np.arange(30))])
def test_against_simulation(weights):
    draws = np.random.default_rng(0).chisquare(1, (200_000, len(weights))) @ np.array(weights)
    for level in (0.1, 0.05, 0.01):
        q = np.quantile(draws, 1 - level)
        assert mixture_tail(q, np.array(weights)) == pytest.approx(level, rel=0.1)


@pytest.mark.parametrize(
    "weights", [np.append(1, np.arange(1, 30) + 0.5) ** -4.0, (np.arange(1, 30) + 0.5) ** -2.0, np.ones(4)]
)
def test_values_below_the_mean_have_tails_that_are_not_one(weights):
    """p-values of one would outweigh small ones of other tests of the same term."""
    draws = np.sort(np.random.default_rng(1).chisquare(1, (4000, len(weights))) @ weights)
    p = np.array([mixture_tail(q, weights) for q in draws[::4]])
    assert p.max() < 1.0
    assert np.all(np.diff(p) <= 1e-12)
    np.testing.assert_allclose(p, 1 - (np.arange(1000) + 0.1) / 1000, atol=0.1)


def test_nothing_to_test():
    assert mixture_tail(3.0, np.zeros(4)) == 1.0
    assert mixture_tail(3.0, np.empty(0)) == 1.0
    assert p_value([(6.0, np.ones(1)), (0.0, np.zeros(1))]) == pytest.approx(chi2.sf(6.0, 1))
    assert p_value([(0.0, np.zeros(1))]) == 1.0


@pytest.mark.parametrize("p", [1e-200, 1e-17, 1e-9, 0.04, 0.5, 0.97])
def test_equal_p_values_stay_as_they_are(p):
    assert combined_p_value([p]) == pytest.approx(p, rel=1e-6)
    assert combined_p_value([p, p, p]) == pytest.approx(p, rel=1e-6)


def test_one_small_p_value_counts_as_often_as_there_are_others():
    """And one that is one does not take it back."""
    assert combined_p_value([1e-8, 0.5, 0.5, 0.5]) == pytest.approx(4e-8, rel=1e-3)
    assert combined_p_value([1e-20, 1.0]) == pytest.approx(2e-20, rel=1e-3)
    assert combined_p_value([]) == 1.0
    assert combined_p_value([1.0, 1.0]) == pytest.approx(1.0, abs=1e-5)
    assert 0.0 <= combined_p_value([0.0, 0.3]) < 1e-290


@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_combined_p_values_keep_their_size(correlation):
    rng = np.random.default_rng(0)
    z = np.sqrt(correlation) * rng.normal(size=(20_000, 1))
    p = norm.sf(z + np.sqrt(1 - correlation) * rng.normal(size=(20_000, 3)))
    size = np.mean([combined_p_value(row) < 0.01 for row in p])
    assert size == pytest.approx(0.01, abs=0.003)
