"""Samples of rows by content: order does not matter, shares are right."""

import numpy as np

from pellucid.linalg.sample import fold_rows, sample_rows

RNG = np.random.default_rng(0)


def test_order_does_not_matter():
    X = RNG.normal(size=(500, 3))
    X[RNG.random(500) < 0.1, 1] = np.nan
    X[:5, 2], X[5:10, 2] = 0.0, -0.0
    order = RNG.permutation(500)
    a, b = X[sample_rows(X.T, 90)], X[order][sample_rows(X[order].T, 90)]
    assert len(a) == 90
    np.testing.assert_array_equal(a[np.lexsort(a.T)], b[np.lexsort(b.T)])


def test_equal_rows_are_taken_by_their_share():
    x = (RNG.random(20_000) < 0.3).astype(float)
    some = sample_rows([x], 4000)
    assert len(np.unique(some)) == 4000
    assert abs(x[some].mean() - x.mean()) < 4 * np.sqrt(0.3 * 0.7 / 4000)


def test_looks_random():
    """Sorted values: every tenth of them gives about a tenth of the sample."""
    some = sample_rows([np.linspace(0, 1, 10_000)], 2000)
    count = np.bincount(some // 1000, minlength=10)
    assert np.all(np.abs(count - 200) < 5 * np.sqrt(200))
    assert np.all(np.diff(some) > 0)


def test_all_rows():
    np.testing.assert_array_equal(sample_rows([np.zeros(4)], 4), np.arange(4))
    np.testing.assert_array_equal(sample_rows([np.zeros(4)], 9), np.arange(4))


def test_folds_by_content():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    fold = fold_rows(list(X.T), 5)
    assert np.bincount(fold, minlength=5).min() > 80
    order = rng.permutation(600)
    np.testing.assert_array_equal(fold_rows(list(X[order].T), 5), fold[order])
    np.testing.assert_array_equal(fold_rows(list((3 * X + 1).astype(np.float32).T), 5), fold)
    twice = fold_rows(list(np.vstack([X, X]).T), 5)
    np.testing.assert_array_equal(twice, np.tile(fold, 2))


def test_folds_of_missing_values():
    x = np.array([np.nan, 1.0, np.nan, 2.0])
    fold = fold_rows([x], 7)
    assert fold[0] == fold[2]
