import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.linalg import column_space
from pellucid.linalg.column_space import ColumnSpace

SHAPES = [(1, 1), (1, 4), (3, 2), (20, 6), (20, 19), (20, 90)]


@pytest.fixture(params=["direct", "gram"])
def route(request, monkeypatch):
    """Both decompositions of wide data; tall data have one."""
    if request.param == "gram":
        monkeypatch.setattr(column_space, "_DIRECT_ROWS", 0)
    return request.param


def data(n, p, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p)) + 2.0


def centred(X, weight=None):
    Z = X - np.average(X, axis=0, weights=weight)
    return np.where(np.abs(Z) < 1e-15 * np.abs(X), 0.0, Z)  # a single row leaves nothing but rounding


def kernel(n, weight=None, seed=5):
    """A centred kernel matrix that is nonlinear in the data."""
    x = np.random.default_rng(seed).normal(size=(n, 2))
    K = np.exp(-np.sum((x[:, None] - x) ** 2, axis=2))
    share = np.full(n, 1.0 / n) if weight is None else weight / weight.sum()
    J = np.eye(n) - np.outer(np.ones(n), share)
    return J @ K @ J.T


def factor(K):
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0.0))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_against_the_pseudo_inverse(shape, center, weighted, route):
    n, p = shape
    X = data(n, p)
    weight = np.random.default_rng(1).uniform(0.1, 2.0, size=n) if weighted else None
    Z = centred(X, weight) if center else X
    V = np.random.default_rng(2).normal(size=(n, 3))
    space = ColumnSpace.of(X, weight, center)
    pinv = np.linalg.pinv(Z, rcond=1e-12)
    assert space.rank == np.linalg.matrix_rank(Z, tol=1e-12) == min(n - center, p)
    assert_allclose(space.basis.T @ space.basis, np.eye(space.rank), atol=1e-12)
    assert_allclose(space.singular, np.linalg.svd(Z, compute_uv=False)[: space.rank], rtol=1e-8)
    assert_allclose(space.pinv_apply(V), pinv @ V, atol=1e-8 * max(1.0, np.abs(pinv).max()))
    assert_allclose(space.pinv_apply(V[:, 0]), pinv @ V[:, 0], atol=1e-8 * max(1.0, np.abs(pinv).max()))
    assert_allclose(space.project(V), Z @ (pinv @ V), atol=1e-9)
    assert space.exact == (p >= n - center)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weighted", [True, False])
def test_kernel_accounted_for(shape, weighted, route):
    n = shape[0]
    X = data(*shape)
    weight = np.random.default_rng(1).uniform(0.1, 2.0, size=n) if weighted else None
    K = kernel(n, weight)
    Z = centred(X, weight)
    P = Z @ np.linalg.pinv(Z, rcond=1e-12)
    space = ColumnSpace.of(X, weight)
    kaf = space.kaf(factor(K))
    assert (kaf == 1.0) == space.exact
    if n > 1:
        assert_allclose(kaf, np.sum((P @ K @ P) ** 2) / np.sum(K**2), rtol=1e-10)


def test_a_linear_kernel_is_accounted_for_by_its_columns():
    X = data(30, 4)
    F = centred(X)
    space = ColumnSpace.of(X)
    assert not space.exact
    assert_allclose(space.kaf(F), 1.0, rtol=1e-12)
    assert space.kaf(F) <= 1.0
    assert space.kaf(np.zeros((30, 2))) == 1.0
    assert ColumnSpace.of(np.ones((30, 3))).kaf(F) == 0.0


@pytest.mark.parametrize("shape", [(20, 8), (20, 60)])
def test_rank_deficient(shape, route):
    n, p = shape
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5)) @ rng.normal(size=(5, p))
    X[:, 0], X[:, 1] = 4.0, X[:, 2]  # constant, and duplicate
    space = ColumnSpace.of(X)
    V = rng.normal(size=(n, 2))
    assert space.rank == 5
    assert not space.exact
    assert_allclose(space.pinv_apply(V), np.linalg.pinv(centred(X), rcond=1e-10) @ V, atol=1e-8)
    assert_array_equal(space.pinv_apply(V)[0], 0.0)
    assert space.kaf(factor(kernel(n))) < 1.0


def test_duplicate_rows_make_wide_data_inexact(route):
    X = data(20, 100)
    X[7] = X[3]
    space = ColumnSpace.of(X)
    assert space.rank == 18
    assert not space.exact
    assert space.kaf(factor(kernel(20))) < 1.0


@pytest.mark.parametrize(("n", "p"), [(1, 1), (1, 5), (2, 1), (10, 5), (3, 30)])
def test_constant_data(n, p, route):
    space = ColumnSpace.of(np.full((n, p), 0.1))
    assert space.rank == 0
    assert space.exact == (n == 1)
    assert_array_equal(space.pinv_apply(np.ones((n, 2))), np.zeros((p, 2)))
    assert_array_equal(space.project(np.ones(n)), np.zeros(n))


def test_ill_conditioned_data_need_the_direct_route(monkeypatch):
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.normal(size=(12, 12)))
    W, _ = np.linalg.qr(rng.normal(size=(40, 12)))
    X = (Q * 10.0 ** -np.arange(12)) @ W.T
    space = ColumnSpace.of(X, center=False)
    assert space.rank == 12
    assert_allclose(space.singular, 10.0 ** -np.arange(12), rtol=1e-4)
    monkeypatch.setattr(column_space, "_DIRECT_ROWS", 0)
    through_gram = ColumnSpace.of(X, center=False)
    assert 6 <= through_gram.rank <= 8
    assert_allclose(through_gram.singular[:4], 10.0 ** -np.arange(4), rtol=1e-8)


@pytest.mark.parametrize("shape", [(40, 5), (20, 60)])
def test_float32_sums_do_not_count_as_new_directions(shape):
    n, p = shape
    X = data(n, p).astype(np.float32)
    X[:, -1] = X[:, 0] + X[:, 1] + X[:, 2]
    if n < p:
        X[-1] = X[0] + X[1] - X[2]
    space = ColumnSpace.of(X)
    assert space.rank == (p - 1 if p < n else n - 2)


@pytest.mark.parametrize("shape", [(20, 6), (20, 90)])
def test_storage_does_not_show(shape, route, tmp_path):
    X = data(*shape).astype(np.float32)
    X.tofile(tmp_path / "X.f4")
    V = np.random.default_rng(3).normal(size=(20, 2))
    mapped = np.memmap(tmp_path / "X.f4", np.float32, "r", shape=shape)
    expected = np.linalg.pinv(centred(X.astype(float)), rcond=1e-12) @ V
    for stored in (X, np.asfortranarray(X), mapped):
        assert_allclose(ColumnSpace.of(stored).pinv_apply(V), expected, atol=1e-8)


def test_scaled_columns(route):
    X = data(15, 40) * 10.0 ** np.linspace(-3, 3, 40)
    space = ColumnSpace.of(X, scale=X.std(axis=0))
    Z = centred(X) / X.std(axis=0)
    V = centred(np.random.default_rng(3).normal(size=(15, 2)))
    assert_allclose(space.pinv_apply(V), np.linalg.pinv(Z, rcond=1e-12) @ V, atol=1e-8)
    coef = space.pinv_apply(V) / space.scale[:, None]
    assert_allclose(centred(X) @ coef, V, atol=1e-8)


@pytest.mark.parametrize("size", [1e-100, 1e100])
@pytest.mark.parametrize("shape", [(20, 6), (20, 60)])
def test_extreme_scales(size, shape, route):
    X, V = data(*shape), np.random.default_rng(3).normal(size=(20, 2))
    plain, extreme = ColumnSpace.of(X), ColumnSpace.of(size * X)
    assert extreme.rank == plain.rank
    assert_allclose(extreme.singular / size, plain.singular, rtol=1e-9)
    assert_allclose(size * extreme.pinv_apply(V), plain.pinv_apply(V), atol=1e-9)
    assert_allclose(plain.kaf(size * X), plain.kaf(X), rtol=1e-12)


def test_a_large_offset():
    X = np.random.default_rng(0).integers(-9, 9, size=(30, 4)).astype(float)
    F = factor(kernel(30))
    assert_allclose(ColumnSpace.of(2.0**40 + X).kaf(F), ColumnSpace.of(X).kaf(F), rtol=1e-10)


def test_the_size_decides(monkeypatch):
    """Large wide data are not decomposed directly; tall data always are."""
    decomposed = []
    svd = np.linalg.svd
    monkeypatch.setattr(np.linalg, "svd", lambda Z, **how: decomposed.append(Z.shape) or svd(Z, **how))
    X = data(10, 50)
    ColumnSpace.of(X)
    assert len(decomposed) == 1
    monkeypatch.setattr(column_space, "_DIRECT_BYTES", 8 * 499)
    ColumnSpace.of(X)
    assert len(decomposed) == 1
    ColumnSpace.of(X.T)
    assert len(decomposed) == 2


def test_the_data_are_neither_copied_nor_changed():
    X = data(10, 50)
    kept = X.copy()
    space = ColumnSpace.of(X)
    space.pinv_apply(np.ones(10))
    assert space.X is X
    assert_array_equal(X, kept)
    assert "centered=True" in repr(space)


def test_whole_numbers():
    X = np.random.default_rng(0).integers(0, 5, size=(12, 4))
    assert_allclose(ColumnSpace.of(X).singular, ColumnSpace.of(X.astype(float)).singular, rtol=1e-14)
