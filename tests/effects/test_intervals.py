"""Jackknife+ intervals against n refits and against their definition."""

import numpy as np
import pytest
from oracles import curve

from pellucid import KernelRidge
from pellucid.effects import jackknife_plus
from pellucid.kernels import RBF

X, Y = curve(24, 2, q=2)
X_NEW = curve(7, 2, seed=3)[0]


def by_refits(kernel, alpha, X, y, X_new, coverage, fit_intercept):
    n = len(y)
    low, high = np.empty((len(X_new), n)), np.empty((len(X_new), n))
    for i in range(n):
        rest = np.arange(n) != i
        model = KernelRidge(kernel, alpha=alpha, fit_intercept=fit_intercept).fit(X[rest], y[rest])
        error = abs(y[i] - model.predict(X[i : i + 1])[0])
        low[:, i], high[:, i] = model.predict(X_new) - error, model.predict(X_new) + error
    lower = np.sort(low, axis=1)[:, int(np.floor((1 - coverage) * (n + 1) + 1e-9)) - 1]
    upper = np.sort(high, axis=1)[:, int(np.ceil(coverage * (n + 1) - 1e-9)) - 1]
    return np.column_stack([lower, upper])


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.96])
def test_intervals_equal_n_refits(coverage, fit_intercept):
    model = KernelRidge(RBF(), alpha=0.1, fit_intercept=fit_intercept).fit(X, Y)
    found = model.predict_interval(X_NEW, coverage)
    assert found.shape == (7, 2, 2)
    for q in range(2):
        expected = by_refits(RBF(), 0.1, X, Y[:, q], X_NEW, coverage, fit_intercept)
        assert np.allclose(found[:, :, q], expected, rtol=1e-8)
    single = KernelRidge(RBF(), alpha=0.1, fit_intercept=fit_intercept).fit(X, Y[:, 0])
    assert np.allclose(single.predict_interval(X_NEW, coverage), found[:, :, 0])


def test_intervals_cover_new_targets():
    hits = []
    for seed in range(15):
        rows, targets = curve(80, 2, seed=seed, noise=0.4)
        model = KernelRidge("rbf").fit(rows[:40], targets[:40])
        low, high = model.predict_interval(rows[40:], 0.8).T
        hits.append(np.mean((low <= targets[40:]) & (targets[40:] <= high)))
    assert 0.72 < np.mean(hits) < 0.92


def test_whole_weights_count_rows():
    without, residuals = np.random.default_rng(0).normal(size=(3, 6)), np.arange(6.0)
    counts = np.array([1, 2, 3, 1, 4, 2])
    weighted = jackknife_plus(without, residuals, counts.astype(float), 0.8)
    rows = np.repeat(np.arange(6), counts)
    repeated = jackknife_plus(without[:, rows], residuals[rows], np.ones(13), 0.8)
    assert np.array_equal(weighted, repeated)


def test_shares_are_relative():
    without, residuals = np.random.default_rng(0).normal(size=(3, 20)), np.arange(20.0)
    whole = jackknife_plus(without, residuals, np.ones(20), 0.9)
    assert np.array_equal(jackknife_plus(without, residuals, np.full(20, 0.05), 0.9), whole)


def test_too_few_rows_for_the_coverage():
    with pytest.raises(ValueError, match=r"coverage 0\.9 needs at least 9 rows, got 8"):
        jackknife_plus(np.zeros((1, 8)), np.zeros(8), np.ones(8), 0.9)
    jackknife_plus(np.zeros((1, 9)), np.zeros(9), np.ones(9), 0.9)


@pytest.mark.parametrize("coverage", [0.0, 1.0, 90])
def test_impossible_coverage(coverage):
    with pytest.raises(ValueError, match="between 0 and 1"):
        jackknife_plus(np.zeros((1, 8)), np.zeros(8), np.ones(8), coverage)
