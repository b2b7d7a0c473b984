"""Levels of quantiles on rows that were not seen."""

import numpy as np
import pytest

from pellucid.models.common.levels import level_shift


@pytest.mark.parametrize("level", [0.1, 0.5, 0.93])
def test_a_share_of_new_targets_is_at_or_below(level):
    # mean share over many samples: its standard error is about 0.002
    rng = np.random.default_rng(0)
    shares = [np.exp(-np.exp(-level_shift(rng.gumbel(size=29), np.ones(29), level))) for _ in range(4000)]
    assert np.mean(shares) == pytest.approx(level, abs=0.006)


def test_a_weight_of_two_is_the_row_twice():
    r, s = np.array([0.3, -1.0, 2.0, 0.7]), np.array([1.0, 2.0, 1.0, 3.0])
    for level in np.linspace(0.05, 0.95, 19):
        twice = level_shift(np.repeat(r, s.astype(int)), np.ones(7), level)
        assert level_shift(r, s, level) == pytest.approx(twice)


def test_a_constant_is_taken_out_of_the_residuals():
    r, s = np.random.default_rng(1).normal(size=50), np.ones(50)
    assert level_shift(r + 3.0, s, 0.7) == pytest.approx(3.0 + level_shift(r, s, 0.7))
    assert level_shift(5.0 * r, s, 0.7) == pytest.approx(5.0 * level_shift(r, s, 0.7))
