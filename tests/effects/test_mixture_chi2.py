"""Tails of weighted sums of χ² against exact cases and simulation."""

import numpy as np
import pytest
from scipy.stats import chi2

from pellucid.effects.mixture_chi2 import mixture_tail


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


def test_nothing_to_test():
    assert mixture_tail(3.0, np.zeros(4)) == 1.0
    assert mixture_tail(3.0, np.empty(0)) == 1.0
