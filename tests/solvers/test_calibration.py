"""Probabilities from scores."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from pellucid.solvers import calibrate


def scores_of_slope(slope, n=4000):
    """Two-class scores whose labels have probability softmax(slope · scores)."""
    rng = np.random.default_rng(0)
    s = rng.normal(size=n)
    labels = (rng.uniform(size=n) < 1.0 / (1.0 + np.exp(-slope * s))).astype(int)
    return np.column_stack([-s, s]) / 2.0, labels


@pytest.mark.parametrize("slope", [0.5, 3.0])
def test_a_known_slope_is_found(slope):
    scores, labels = scores_of_slope(slope)
    assert calibrate(scores, labels, np.ones(len(labels))).slope == pytest.approx(slope, rel=0.1)


def test_it_is_the_weighted_maximum_of_the_smoothed_likelihood():
    labels = np.arange(30) % 3
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(30, 3)) + np.eye(3)[labels]
    weight = rng.uniform(0.5, 2.0, size=30)
    found = calibrate(scores, labels, weight).slope
    target = np.full((30, 3), (1.0 - 11.0 / 12.0) / 2.0)  # ten rows of each class
    target[np.arange(30), labels] = 11.0 / 12.0

    def loss(slope):
        log_p = slope * scores - np.log(np.exp(slope * scores).sum(axis=1, keepdims=True))
        return -np.sum(weight[:, None] * target * log_p)

    expected = minimize_scalar(loss, bounds=(1e-4, 10.0), method="bounded", options={"xatol": 1e-9})
    assert loss(found) <= expected.fun + 1e-9


def test_separated_classes_have_a_finite_slope():
    scores = np.array([[-1.0, 1.0], [1.0, -1.0]] * 10)
    p = calibrate(scores, np.array([1, 0] * 10), np.ones(20)).probabilities(scores)
    assert np.allclose(p.sum(axis=1), 1.0)
    assert 0.9 < p[0, 1] < 1.0


def test_the_unit_of_scores_and_of_weights_does_not_matter():
    scores, labels = scores_of_slope(1.0, n=100)
    once = calibrate(scores, labels, np.ones(100))
    scaled = calibrate(1e-6 * scores, labels, np.full(100, 1e-3))
    assert np.allclose(once.probabilities(scores), scaled.probabilities(1e-6 * scores), rtol=1e-6)


def test_repeated_rows_equal_whole_weights():
    scores, labels = scores_of_slope(1.0, n=40)
    counts = np.random.default_rng(2).integers(1, 4, size=40)
    repeated = calibrate(np.repeat(scores, counts, axis=0), np.repeat(labels, counts), np.ones(counts.sum()))
    weighted = calibrate(scores, labels, counts.astype(float), counts.astype(float))
    assert repeated.slope == pytest.approx(weighted.slope, rel=1e-6)


def test_scores_without_spread_are_no_accident():
    p = calibrate(np.zeros((6, 2)), np.array([0, 1] * 3), np.ones(6)).probabilities(np.zeros((1, 2)))
    assert np.allclose(p, 0.5)
