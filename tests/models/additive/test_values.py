"""Main effects that jump from value to value: codes that only structure like numbers."""

import numpy as np
import pytest

from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor
from pellucid.losses import as_loss
from pellucid.models.additive.engine.state import Problem
from pellucid.models.additive.engine.structure import build_axes, fit_additive

RNG = np.random.default_rng(8)


def coded(n, n_values):
    """A column of codes, what each is worth, and a column that has nothing to do with it."""
    code = RNG.integers(0, n_values, n)
    worth = RNG.normal(size=n_values)
    return np.column_stack([code.astype(float), RNG.normal(size=n)]), worth, worth[code]


def test_codes_are_told_apart():
    X, worth, signal = coded(4000, 120)
    model = AdditiveKernelRegressor(interactions=0).fit(X, signal + 0.5 * RNG.normal(size=4000))
    new = np.column_stack([np.arange(120.0), np.zeros(120)])
    found = model.contributions(new)[:, model.terms_.index((0,))]
    assert np.corrcoef(found, worth)[0, 1] > 0.98
    error = found - (worth - signal.mean())
    assert np.sqrt(np.mean(error**2)) < 0.12  # the mean of 33 rows is off by 0.09


def test_codes_of_classes_are_told_apart():
    X, worth, signal = coded(6000, 60)
    y = RNG.random(6000) < 1 / (1 + np.exp(-2 * signal))
    model = AdditiveKernelClassifier(interactions=0).fit(X, y)
    found = model.contributions(np.column_stack([np.arange(60.0), np.zeros(60)]))
    assert np.corrcoef(found[:, model.terms_.index((0,))], worth)[0, 1] > 0.95


def _white_share(y, x, loss="squared"):
    """How much of the variance of a main effect goes from value to value."""
    rows = Problem(x, y, np.ones(len(y)), np.zeros(len(y)), as_loss(loss))
    axes = build_axes(rows.X, rows.weight)
    state = fit_additive(rows, axes, None, 0)
    names, shapes = axes.shapes((0,))
    share = state.prior.variances[0,] * shapes.sum(axis=1)
    return dict(zip(names, share / share.sum(), strict=True)).get("white", 0.0)


@pytest.mark.parametrize("loss", ["squared", "gamma"])
def test_jumps_are_told_from_smooth_curves(loss):
    X, _, signal = coded(3000, 60)
    smooth = np.sin(X[:, 0] / 10)
    if loss == "squared":
        jumps, curve = (s + 0.5 * RNG.normal(size=3000) for s in (signal, smooth))
    else:
        jumps, curve = (np.exp(0.6 * s) * RNG.gamma(4.0, 0.25, 3000) for s in (signal, smooth))
    assert _white_share(jumps, X, loss) > 0.7
    assert _white_share(curve, X, loss) < 0.1


def test_counts_of_a_wide_range_are_not_taken_for_jumps():
    shares = []
    for _ in range(5):
        X = np.column_stack([RNG.integers(0, 100, 1500).astype(float), RNG.normal(size=1500)])
        y = RNG.poisson(np.exp(2 * np.sin(X[:, 0] / 20) + 1.5 * X[:, 1])).astype(float)
        shares.append(_white_share(y, X, "poisson"))
    assert np.mean(shares) < 0.15


def test_rows_that_are_there_twice_are_not_taken_for_jumps():
    x = np.tile(RNG.uniform(size=(150, 1)), (2, 1))
    y = np.tile(np.sin(6 * x[:150, 0]) + 0.3 * RNG.normal(size=150), 2)
    model = AdditiveKernelRegressor().fit(x, y)
    assert 0.2 < np.std(y - model.predict(x)) < 0.35


def test_weak_main_effects_of_classes_stay_beside_pairs():
    X = RNG.normal(size=(5000, 8))
    eta = 2.0 * X[:, 0] + 1.5 * X[:, 0] * X[:, 1] + 0.2 * X[:, 2:].sum(axis=1)
    model = AdditiveKernelClassifier(interactions=3).fit(X, RNG.random(5000) < 1 / (1 + np.exp(-eta)))
    assert {(j,) for j in range(2, 8)} <= set(model.terms_)
