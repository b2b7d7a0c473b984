"""Conformal scores: ranks, bands, and sets of counts and amounts by going through all of them."""

import numpy as np
import pytest

from pellucid.effects.conformal import conformal_reach, deviance_residual, outside, targets_within, widened
from pellucid.losses import Gamma, Poisson


def test_the_reach_is_an_order_statistic():
    scores = np.random.default_rng(0).normal(size=99)
    for coverage in (0.5, 0.9, 0.99):
        assert conformal_reach(scores, coverage) == np.sort(scores)[round(coverage * 100) - 1]
    with pytest.raises(ValueError, match="at least 99 rows"):
        conformal_reach(scores[:50], 0.99)


def test_a_band_is_widened_or_narrowed_until_it_covers():
    rng = np.random.default_rng(0)
    y, low, high = rng.normal(size=(3, 99))
    low, high = np.minimum(low, high) - 0.1, np.maximum(low, high) + 0.1
    scores = outside(y, low, high, 2.0)
    reach = conformal_reach(scores, 0.8)
    ends = widened(low, high, 2.0, reach)
    assert np.sum((ends[0] <= y) & (y <= ends[1])) == 80
    turned = widened(np.zeros(2), np.ones(2), 1.0, -3.0)
    assert np.all(turned[0] == turned[1])


@pytest.mark.parametrize("loss", [Poisson(), Gamma()])
def test_the_targets_within_are_all_that_have_a_small_residual(loss):
    eta, reach = np.array([-3.0, 0.0, 0.0, 2.5]), np.array([0.8, 0.3, 2.0, 1.5])
    lower, upper = targets_within(loss, eta, reach, whole=False)
    for k in range(4):
        inside = np.linspace(lower[k] + 1e-9, upper[k] - 1e-9, 50)
        assert np.all(np.abs(deviance_residual(loss, inside, np.full(50, eta[k]))) <= reach[k] + 1e-6)
        beyond = deviance_residual(loss, np.array([upper[k] * 1.001 + 1e-6]), eta[[k]])
        assert beyond[0] > reach[k]
        if lower[k] > 1e-6:
            assert deviance_residual(loss, np.array([lower[k] * 0.999]), eta[[k]])[0] < -reach[k]


def test_whole_targets_are_whole():
    eta, reach = np.log(np.array([0.2, 3.4, 40.0])), np.array([0.05, 1.0, 2.0])
    lower, upper = targets_within(Poisson(), eta, reach, whole=True)
    counts = np.arange(200.0)
    for k in range(3):
        near = counts[np.abs(deviance_residual(Poisson(), counts, np.full(200, eta[k]))) <= reach[k]]
        wanted = {round(np.exp(eta[k])), *near.astype(int).tolist()}
        assert (lower[k], upper[k]) == (min(wanted), max(wanted))
