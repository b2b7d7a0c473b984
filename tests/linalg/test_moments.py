"""Moments of a design made block by block against the dense formula."""

import numpy as np
import pytest

from pellucid.linalg import moments as module
from pellucid.linalg import threads
from pellucid.linalg.moments import blocks, weighted_moments

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(700, 9)) + 0.1
W = RNG.uniform(0.1, 3, 700)
T = RNG.normal(size=700) + 1e3


def compute(dtype=np.float64):
    return weighted_moments(lambda rows: np.ascontiguousarray(Z[rows].T, dtype=dtype), W, T, 9, dtype)


def test_against_the_dense_formula():
    m = compute()
    mean, target = W @ Z / W.sum(), W @ T / W.sum()
    C = Z - mean
    np.testing.assert_allclose(m.G, C.T @ (W[:, None] * C), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(m.c, C.T @ (W * (T - target)), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(m.column_mean, mean, rtol=1e-12)
    assert m.target_mean == pytest.approx(target, rel=1e-14)
    assert m.square == pytest.approx(W @ (T - target) ** 2, rel=1e-11)
    assert m.total == pytest.approx(W.sum())


@pytest.mark.parametrize("bytes_", [1, 9 * 8 * 300])
def test_block_size_does_not_matter(monkeypatch, bytes_):
    whole = compute()
    monkeypatch.setattr(module, "_BLOCK", bytes_)
    assert len(blocks(700, 9)) > 1
    parts = compute()
    np.testing.assert_allclose(parts.G, whole.G, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(parts.c, whole.c, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("n_threads", [2, 3, 50])
def test_number_of_threads_does_not_matter(monkeypatch, n_threads):
    whole = compute()
    monkeypatch.setattr(threads, "_blas_threads", lambda: n_threads)
    monkeypatch.setattr(module, "_FEW_ROWS", 20)
    assert len(blocks(700, 9)) >= min(n_threads, 35)
    parts = compute()
    np.testing.assert_allclose(parts.G, whole.G, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(parts.c, whole.c, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(parts.column_mean, whole.column_mean, rtol=1e-12)


def test_sums_of_many_threads_take_no_more_than_their_share(monkeypatch):
    monkeypatch.setattr(threads, "_blas_threads", lambda: 50)
    monkeypatch.setattr(module, "_FEW_ROWS", 20)
    monkeypatch.setattr(module, "_SUMS", 3 * 16 * 9 * 9 + 100)
    parts = []
    monkeypatch.setattr(module, "side_by_side", lambda work, some: parts.extend(some) or [*map(work, some)])
    np.testing.assert_allclose(compute().G, (Z - W @ Z / W.sum()).T @ (W[:, None] * (Z - W @ Z / W.sum())))
    assert len(parts) == 3


def test_single_precision_is_summed_in_double():
    m, exact = compute(np.float32), compute()
    assert m.G.dtype == np.float64
    np.testing.assert_allclose(m.G, exact.G, atol=1e-5 * np.abs(exact.G).max())


def test_blocks_cover_all_rows():
    assert [s.stop - s.start for s in blocks(1000, 10**9)] == [256, 256, 256, 232]
    assert blocks(0, 3) == []
    assert [blocks(10**6, F)[0].stop for F in (10**9, 1)] == [256, 16384]
    assert sum(s.stop - s.start for s in blocks(100_001, 50, np.float32)) == 100_001
