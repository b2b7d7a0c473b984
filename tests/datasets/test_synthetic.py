"""Synthetic functions: the formulas of the paper, seeds, and the terms that are claimed."""

import math

import numpy as np
import pytest

from pellucid.datasets import make_synthetic


def first(x):
    return -2 * math.sin(2 * x[0]) + x[1] ** 2 + x[2] + math.exp(-x[3])


def second(x):
    return x[0] * math.exp(2 * x[1]) + x[2] ** 2


def third(x):
    return (
        math.pi ** (x[0] * x[1]) * math.sqrt(2 * x[2])
        - math.asin(x[3])
        + math.log(x[2] + x[4])
        - x[8] / x[9] * math.sqrt(x[6] / x[7])
        - x[1] * x[6]
    )


FUNCTIONS = {1: first, 2: second, 3: third}


@pytest.mark.parametrize("which", [1, 2, 3])
def test_signal_is_the_formula(which):
    data = make_synthetic(which, 50, random_state=3)
    np.testing.assert_allclose(data.signal, [FUNCTIONS[which](x) for x in data.data], rtol=1e-12)


@pytest.mark.parametrize("which", [1, 2, 3])
def test_features_are_drawn_as_described(which):
    data = make_synthetic(which, 20_000, random_state=0)
    X = data.data
    if which < 3:
        assert X.shape[1] == 5
        np.testing.assert_allclose(X.mean(axis=0), 0, atol=0.03)
        np.testing.assert_allclose(X.std(axis=0), 1, atol=0.03)
    else:
        assert X.shape[1] == 10
        low = np.where(np.isin(np.arange(10), [3, 4, 7, 9]), 0.6, 0.0)
        np.testing.assert_allclose(X.min(axis=0), low, atol=1e-2)
        np.testing.assert_allclose(X.mean(axis=0), (1 + low) / 2, atol=0.01)
    assert np.all(np.abs(np.corrcoef(X.T) - np.eye(X.shape[1])) < 0.04)


@pytest.mark.parametrize(("which", "noise"), [(1, 1.0), (2, 1.0), (3, 0.0)])
def test_noise(which, noise):
    data = make_synthetic(which, 20_000, random_state=0)
    assert (data.target - data.signal).std() == pytest.approx(noise, abs=0.02)
    louder = make_synthetic(which, 20_000, noise=3.0, random_state=0)
    assert (louder.target - louder.signal).std() == pytest.approx(3.0, abs=0.05)
    np.testing.assert_array_equal(louder.data, data.data)


@pytest.mark.parametrize("which", [1, 2, 3])
def test_pairs_are_the_ones_with_a_mixed_difference(which):
    """A pair is a term if and only if f changes with both features in a way that is not a sum."""
    data = make_synthetic(which, 40, random_state=1)
    f, p, X = FUNCTIONS[which], data.data.shape[1], data.data
    pairs = set()
    for a in range(p):
        for b in range(a + 1, p):
            for x, z in zip(X[:20], X[20:], strict=True):
                xa, xb, xab = x.copy(), x.copy(), x.copy()
                xa[a], xb[b], xab[a], xab[b] = z[a], z[b], z[a], z[b]
                if abs(f(x) - f(xa) - f(xb) + f(xab)) > 1e-9:
                    pairs.add((a, b))
    assert {t for t in data.terms if len(t) == 2} == pairs


@pytest.mark.parametrize("which", [1, 2, 3])
def test_main_effects_are_those_whose_mean_moves(which):
    data = make_synthetic(which, 4000, random_state=2)
    f = FUNCTIONS[which]
    mains = set()
    for j in range(data.data.shape[1]):
        means = []
        for value in np.quantile(data.data[:, j], [0.02, 0.5, 0.98]):
            X = data.data.copy()
            X[:, j] = value
            signal = np.array([f(x) for x in X])
            means.append((signal.mean(), signal.std() / math.sqrt(4000)))
        gap = max(m for m, _ in means) - min(m for m, _ in means)
        if gap > 5 * max(se for _, se in means):
            mains.add((j,))
    assert {t for t in data.terms if len(t) == 1} == mains


def test_seeds():
    a, b, c = (make_synthetic(1, 30, random_state=seed).target for seed in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


def test_rows_and_target_alone():
    X, y = make_synthetic(3, 7, random_state=0, return_X_y=True)
    data = make_synthetic(3, 7, random_state=0)
    np.testing.assert_array_equal(X, data.data)
    np.testing.assert_array_equal(y, data.target)
    assert data.feature_names[0] == "x1"
    assert len(data.feature_names) == 10


@pytest.mark.parametrize("options", [{"which": 4}, {"which": True}, {"which": "1"}])
def test_unknown_function(options):
    with pytest.raises(ValueError, match="which must be 1, 2 or 3"):
        make_synthetic(**options)


@pytest.mark.parametrize("n", [0, 2.5, "many"])
def test_bad_size(n):
    with pytest.raises(ValueError, match="n_samples must be a whole number of at least 1"):
        make_synthetic(1, n)


@pytest.mark.parametrize("noise", [-1.0, np.nan, np.inf, "loud"])
def test_bad_noise(noise):
    with pytest.raises(ValueError, match="noise must be a number of at least 0"):
        make_synthetic(1, 10, noise=noise)
