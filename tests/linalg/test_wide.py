import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from pellucid.linalg.wide import (
    apply,
    apply_transpose,
    column_moments,
    cross_gram_by_columns,
    cross_squared_distances_by_columns,
    gram_by_columns,
    squared_distances_by_columns,
)

SHAPES = [(1, 1), (1, 7), (2, 1), (2, 9), (3, 3), (3, 40), (12, 5), (12, 12), (12, 301), (40, 6)]
SPARSE = [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_array]


def standardised(X, weight=None, center=True, scale=None):
    X = np.asarray(X, dtype=float)
    mean = np.average(X, axis=0, weights=weight)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    if scale is None:
        scale = np.ones(X.shape[1])
    elif isinstance(scale, str):
        scale = np.where(deviation <= 1e-14 * np.abs(X).max(axis=0), 1.0, deviation)
    return (X - (mean if center else 0.0)) / scale


def data(n, p, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p)) + 3.0


def thin(n, p, density=0.03, seed=0):
    """Sparse data with a column that is constant, one that is full with an offset, and one that is empty."""
    X = sparse.random_array((n, p), density=density, rng=np.random.default_rng(seed)).toarray()
    X[:, 0], X[:, 1] = 7.0, 1e4 + np.arange(n)
    X[:, 2] = 0.0
    return X


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("scale", [None, "std", "given"])
@pytest.mark.parametrize("weighted", [True, False])
def test_gram(shape, center, scale, weighted):
    n, p = shape
    X = data(n, p)
    weight = np.arange(1.0, n + 1) if weighted else None
    scale = np.linspace(0.5, 2.0, p) if scale == "given" else scale
    Z = standardised(X, weight, center, scale)
    G, mean, spread = gram_by_columns(X, weight=weight, center=center, scale=scale)
    assert_allclose(G, Z @ Z.T, rtol=1e-10, atol=1e-10)
    assert_array_equal(G, G.T)
    assert G.flags.c_contiguous
    assert_allclose((X - mean) / spread, Z, atol=1e-12)
    moments = column_moments(X, weight=weight, center=center, scale=scale)
    assert_array_equal(moments[0], mean)
    assert_array_equal(moments[1], spread)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [None, "std"])
def test_squared_distances(shape, scale):
    X = data(*shape)
    Z = standardised(X, scale=scale)
    D, mean, spread = squared_distances_by_columns(X, scale=scale)
    expected = np.sum((Z[:, None] - Z) ** 2, axis=2)
    assert_allclose(D, expected, rtol=1e-10, atol=1e-10)
    assert_array_equal(D, D.T)
    assert_array_equal(np.diag(D), 0.0)
    assert np.all(D >= 0)
    new = data(5, shape[1], seed=1)
    cross = cross_squared_distances_by_columns(new, X, mean, spread)
    assert_allclose(cross, np.sum(((new[:, None] - X) / spread) ** 2, axis=2), rtol=1e-10, atol=1e-10)


def test_equal_rows_have_distance_zero():
    X = data(20, 3000)
    X[5] = X[11]
    D, mean, _ = squared_distances_by_columns(X)
    assert D[5, 11] == 0.0
    assert np.sum(D == 0) == 22
    assert cross_squared_distances_by_columns(X[:6], X, mean)[5, 11] == 0.0


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
    for kind in SPARSE:
        yield kind.__name__, kind(X)


@pytest.mark.parametrize("maker", [data, thin])
@pytest.mark.parametrize("budget", [None, 1, 3000])
def test_storage_and_blocks_do_not_show(maker, budget, tmp_path):
    """Also for float32: elements are cast before anything is added up, so all agree as float64 does."""
    X, new = maker(30, 24), maker(8, 24, seed=1).astype(np.float32)
    Z = standardised(X.astype(np.float32), scale="std")
    rng = np.random.default_rng(2)
    A, coef = rng.normal(size=(30, 3)), rng.normal(size=(24, 3))
    size = np.sqrt(np.sum(Z**2))
    for name, stored in kinds(X, tmp_path):
        G, mean, scale = gram_by_columns(stored, scale="std", budget_bytes=budget)
        Z_new = (new - mean) / scale
        how = {"atol": 1e-12 * size**2, "rtol": 1e-11, "err_msg": name}
        assert_allclose(G, Z @ Z.T, **how)
        assert_allclose(apply_transpose(stored, A, mean, scale, budget_bytes=budget), Z.T @ A, **how)
        assert_allclose(apply(stored, coef, mean, scale, budget_bytes=budget), Z @ coef, **how)
        far = np.sum((Z_new[:, None] - Z) ** 2, axis=2)
        for new_kind in (np.asfortranarray, sparse.csr_matrix):
            C = cross_gram_by_columns(new_kind(new), stored, mean, scale, budget_bytes=budget)
            assert_allclose(C, Z_new @ Z.T, atol=1e-12 * np.abs(far).max(), err_msg=name)
            D = cross_squared_distances_by_columns(new_kind(new), stored, mean, scale, budget_bytes=budget)
            assert_allclose(D, far, atol=1e-12 * np.abs(far).max(), err_msg=name)


def test_integers_and_booleans():
    X = np.random.default_rng(0).integers(0, 3, size=(10, 50), dtype=np.int8)
    Z = standardised(X)
    assert_allclose(gram_by_columns(X).matrix, Z @ Z.T, atol=1e-12)
    assert_allclose(
        gram_by_columns(X > 1, center=False).matrix, (X > 1).astype(float) @ (X > 1).T, atol=1e-12
    )


def test_vectors_and_a_given_output():
    X, a, c = data(6, 20), np.arange(6.0), np.arange(20.0)
    mean, scale = column_moments(X, scale="std")
    Z = standardised(X, scale="std")
    assert_allclose(apply_transpose(X, a, mean, scale), Z.T @ a)
    assert_allclose(apply(X, c, mean, scale), Z @ c)
    assert_allclose(apply(sparse.csr_array(X), c, mean, scale), Z @ c)
    out = np.empty(20)
    assert apply_transpose(X, a, mean, scale, out=out) is out
    assert_allclose(out, Z.T @ a)
    assert_allclose(apply(X, c), X @ c)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_weights_are_repetitions(kind):
    X, weight = thin(30, 60, density=0.02), np.arange(30) % 4
    G, mean, scale = gram_by_columns(kind(X), weight=weight.astype(float), scale="std")
    again = gram_by_columns(kind(np.repeat(X, weight, axis=0)), scale="std")
    assert_allclose(mean, again.mean, rtol=1e-12)
    assert_allclose(scale, again.scale, rtol=1e-12)
    some = np.repeat(np.arange(30), weight)
    assert_allclose(G[np.ix_(some, some)], again.matrix, atol=1e-9)


@pytest.mark.parametrize("value", [0.1, 1e8, -3e-9])
def test_constant_columns_vanish_exactly(value):
    X = np.full((31, 5), value)
    weight = np.random.default_rng(0).uniform(size=31)
    G, mean, scale = gram_by_columns(X, weight=weight, scale="std")
    assert_array_equal(G, 0.0)
    assert_array_equal(mean, value)
    assert_array_equal(scale, 1.0)


def test_a_large_offset_does_not_drown_the_rest():
    X = np.random.default_rng(0).integers(-9, 9, size=(20, 300)).astype(float)
    far = 2.0**40 + X
    for kind in (np.asarray, sparse.csr_array):
        assert_allclose(gram_by_columns(kind(far)).matrix, gram_by_columns(X).matrix, atol=1e-8)
        assert_allclose(
            squared_distances_by_columns(kind(far)).matrix, squared_distances_by_columns(X).matrix
        )


@pytest.mark.parametrize("size", [1e-100, 1e100])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csc_array])
def test_extreme_scales(size, kind):
    X = thin(30, 50)
    for scale in (None, "std"):
        plain, extreme = gram_by_columns(kind(X), scale=scale), gram_by_columns(kind(size * X), scale=scale)
        unit = size**2 if scale is None else 1.0
        atol = 1e-12 * np.abs(plain.matrix).max()
        assert_allclose(extreme.matrix / unit, plain.matrix, rtol=1e-10, atol=atol)
        varies = np.ptp(X, axis=0) > 0
        if scale:
            assert_allclose(extreme.scale[varies] / size, plain.scale[varies], rtol=1e-12)
    D = squared_distances_by_columns(kind(size * X)).matrix
    assert_allclose(D / size**2, squared_distances_by_columns(X).matrix, rtol=1e-9)


def test_an_unknown_scale_is_refused():
    with pytest.raises(ValueError, match=r"scale is 'std', an array .* got 'max'"):
        gram_by_columns(data(3, 4), scale="max")


def test_no_columns():
    assert_array_equal(gram_by_columns(np.empty((3, 0))).matrix, np.zeros((3, 3)))
    assert apply_transpose(np.empty((3, 0)), np.ones((3, 2))).shape == (0, 2)
    assert_array_equal(gram_by_columns(sparse.csr_array((3, 4))).matrix, np.zeros((3, 3)))


def test_nan_stays_in_its_row():
    X = data(4, 30)
    X[2, 5] = np.nan
    G = gram_by_columns(X, center=False).matrix
    assert_array_equal(np.isnan(G), np.add.outer(np.arange(4) == 2, np.arange(4) == 2))


def test_memory_stays_within_the_budget(tmp_path):
    n, p, budget = 50, 200_000, 4_000_000  # 40 MB on disk, 80 MB in float64
    path = tmp_path / "X.f4"
    np.random.default_rng(0).random((n, p), dtype=np.float32).tofile(path)
    X = np.memmap(path, np.float32, "r", shape=(n, p))
    mean, scale, coef = np.full(p, 0.5), np.full(p, 2.0), np.ones(p)
    runs = {
        "gram": lambda: gram_by_columns(X, scale="std", budget_bytes=budget),
        "distances": lambda: squared_distances_by_columns(X, budget_bytes=budget),
        "cross": lambda: cross_gram_by_columns(X[:9], X, mean, scale, budget_bytes=budget),
        "transpose": lambda: apply_transpose(X, np.ones(n), mean, scale, budget_bytes=budget),
        "apply": lambda: apply(X, coef, mean, scale, budget_bytes=budget),
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
