import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.linalg import wide
from pellucid.linalg.wide import (
    apply,
    apply_transpose,
    column_moments,
    gram_by_columns,
    squared_distances_by_columns,
)

SHAPES = [(1, 1), (1, 7), (2, 9), (12, 5), (12, 12), (12, 301)]


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few columns, as data that are too large for one block have."""
    monkeypatch.setattr(wide, "_BUDGET", 1)


def moments(X, weight=None):
    mean = np.average(X, axis=0, weights=weight)
    return mean, np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))


def data(n, p, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p)) + 3.0


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_gram(shape, center, weighted, small_blocks):
    n, p = shape
    X, scale = data(n, p), np.linspace(0.5, 2.0, p)
    weight = np.arange(1.0, n + 1) if weighted else None
    mean, deviation = moments(X, weight)
    Z = (X - (mean if center else 0.0)) / scale
    G, subtracted = gram_by_columns(X, weight=weight, center=center, scale=scale)
    assert_allclose(G, Z @ Z.T, rtol=1e-10, atol=1e-10)
    assert_array_equal(G, G.T)
    assert G.flags.c_contiguous
    assert_allclose(subtracted, mean if center else np.zeros(p), atol=1e-12)
    found = column_moments(X, weight)
    assert_allclose(found[0], mean, atol=1e-12)
    assert_allclose(found[1], np.where(deviation == 0, 1.0, deviation), rtol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_squared_distances(shape, small_blocks):
    X, scale = data(*shape), np.linspace(0.5, 2.0, shape[1])
    D = squared_distances_by_columns(X, X, scale)
    assert_allclose(D, np.sum(((X[:, None] - X) / scale) ** 2, axis=2), rtol=1e-10, atol=1e-10)
    assert_array_equal(D, D.T)
    assert_array_equal(np.diag(D), 0.0)
    assert np.all(D >= 0)
    new = data(5, shape[1], seed=1)
    cross = squared_distances_by_columns(new, X, scale)
    assert_allclose(cross, np.sum(((new[:, None] - X) / scale) ** 2, axis=2), rtol=1e-10, atol=1e-10)


def test_equal_rows_have_distance_zero():
    X, one = data(20, 3000), np.ones(3000)
    X[5] = X[11]
    D = squared_distances_by_columns(X, X, one)
    assert D[5, 11] == 0.0
    assert np.sum(D == 0) == 22
    assert squared_distances_by_columns(X[:6], X, one)[5, 11] == 0.0


def kinds(X, tmp_path):
    """The same numbers in every storage."""
    X = X.astype(np.float32)
    path = tmp_path / "X.f4"
    X.tofile(path)
    n, p = X.shape
    yield "C", X.astype(float)
    yield "F", np.asfortranarray(X.astype(float))
    yield "strided", np.repeat(X, 2, axis=1)[:, ::2]
    yield "float32", X
    yield "memmap", np.memmap(path, np.float32, "r", shape=(n, p))
    X.T.copy().tofile(path := tmp_path / "XF.f4")
    yield "memmap F", np.memmap(path, np.float32, "r", shape=(n, p), order="F")


@pytest.mark.parametrize("budget", [1 << 28, 3000])
def test_storage_and_blocks_do_not_show(budget, tmp_path, monkeypatch):
    """Also for float32: elements are cast before anything is added up, so all agree as float64 does."""
    monkeypatch.setattr(wide, "_BUDGET", budget)
    X, new = data(20, 90).astype(np.float32), data(8, 90, seed=1).astype(np.float32)
    X[:, 0], X[:, 1] = 7.0, 1e4 + np.arange(20)
    rng = np.random.default_rng(2)
    A, coef = rng.normal(size=(20, 3)), rng.normal(size=(90, 3))
    mean, scale = moments(X.astype(float))
    scale[0] = 1.0
    Z = (X - mean) / scale
    far = np.sum(((new[:, None] - X.astype(float)) / scale) ** 2, axis=2)
    for name, stored in kinds(X, tmp_path):
        how = {"rtol": 1e-10, "atol": 1e-9, "err_msg": name}
        assert_allclose(column_moments(stored), [mean, scale], **how)
        assert_allclose(gram_by_columns(stored, scale=scale)[0], Z @ Z.T, **how)
        assert_allclose(apply_transpose(stored, A, mean, scale), Z.T @ A, **how)
        assert_allclose(apply(stored, coef), X.astype(float) @ coef, **how)
        assert_allclose(squared_distances_by_columns(new, stored, scale), far, atol=1e-6, err_msg=name)


def test_integers_and_booleans():
    X = np.random.default_rng(0).integers(0, 3, size=(10, 50), dtype=np.int8)
    Z = X - X.mean(axis=0)
    assert_allclose(gram_by_columns(X)[0], Z @ Z.T, atol=1e-12)
    assert_allclose(gram_by_columns(X > 1, center=False)[0], (X > 1).astype(float) @ (X > 1).T, atol=1e-12)


def test_vectors():
    X, a, c = data(6, 20), np.arange(6.0), np.arange(20.0)
    assert_allclose(apply_transpose(X, a, X.mean(axis=0), None), (X - X.mean(axis=0)).T @ a)
    assert_allclose(apply(X, c), X @ c)


def test_weights_are_repetitions():
    X, weight = data(30, 60), np.arange(30) % 4
    G, mean = gram_by_columns(X, weight=weight.astype(float))
    again, same_mean = gram_by_columns(np.repeat(X, weight, axis=0))
    assert_allclose(mean, same_mean, rtol=1e-12)
    some = np.repeat(np.arange(30), weight)
    assert_allclose(G[np.ix_(some, some)], again, atol=1e-9)
    repeated = column_moments(np.repeat(X, weight, axis=0))
    assert_allclose(column_moments(X, weight.astype(float)), repeated, rtol=1e-12)


@pytest.mark.parametrize("value", [0.1, 1e8, -3e-9])
def test_constant_columns_vanish_exactly(value):
    X = np.full((31, 5), value)
    weight = np.random.default_rng(0).uniform(size=31)
    G, mean = gram_by_columns(X, weight=weight)
    assert_array_equal(G, 0.0)
    assert_array_equal(mean, value)
    assert_array_equal(column_moments(X, weight)[1], 1.0)


def test_a_large_offset_does_not_drown_the_rest():
    X, one = np.random.default_rng(0).integers(-9, 9, size=(20, 300)).astype(float), np.ones(300)
    far = 2.0**40 + X
    assert_allclose(gram_by_columns(far)[0], gram_by_columns(X)[0], atol=1e-8)
    assert_allclose(squared_distances_by_columns(far, far, one), squared_distances_by_columns(X, X, one))


@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_extreme_scales(size):
    X, one = data(30, 50), np.ones(50)
    G = gram_by_columns(X)[0]
    assert_allclose(gram_by_columns(size * X)[0] / size**2, G, rtol=1e-10, atol=1e-12 * np.abs(G).max())
    assert_allclose(column_moments(size * X)[1] / size, X.std(axis=0), rtol=1e-12)
    D = squared_distances_by_columns(size * X, size * X, one)
    assert_allclose(D / size**2, squared_distances_by_columns(X, X, one), rtol=1e-9)


def test_no_columns():
    assert_array_equal(gram_by_columns(np.empty((3, 0)))[0], np.zeros((3, 3)))
    assert apply_transpose(np.empty((3, 0)), np.ones((3, 2)), np.empty(0), None).shape == (0, 2)


def test_nan_stays_in_its_row():
    X = data(4, 30)
    X[2, 5] = np.nan
    G = gram_by_columns(X, center=False)[0]
    assert_array_equal(np.isnan(G), np.add.outer(np.arange(4) == 2, np.arange(4) == 2))


def test_memory_stays_within_the_budget(tmp_path, monkeypatch):
    n, p, budget = 50, 200_000, 4_000_000  # 40 MB on disk, 80 MB in float64
    monkeypatch.setattr(wide, "_BUDGET", budget)
    path = tmp_path / "X.f4"
    np.random.default_rng(0).random((n, p), dtype=np.float32).tofile(path)
    X = np.memmap(path, np.float32, "r", shape=(n, p))
    mean, scale, coef = np.full(p, 0.5), np.full(p, 2.0), np.ones(p)
    runs = {
        "gram": lambda: gram_by_columns(X, scale=scale),
        "moments": lambda: column_moments(X),
        "distances": lambda: squared_distances_by_columns(X, X, scale),
        "cross": lambda: squared_distances_by_columns(X[:9], X, scale),
        "transpose": lambda: apply_transpose(X, np.ones(n), mean, scale),
        "apply": lambda: apply(X, coef),
    }
    tracemalloc.start()
    try:
        for name, run in runs.items():
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            run()
            # beyond the block: mean and scale, and the panels of which standard deviations are taken
            assert tracemalloc.get_traced_memory()[1] - before < 2 * budget + 16 * p + (8 << 20), name
    finally:
        tracemalloc.stop()
