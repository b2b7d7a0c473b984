import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid.kernels import RBF
from pellucid.linalg import low_rank_eigh, positive_spectrum


def low_rank(n, rank, seed=0):
    F = np.random.default_rng(seed).normal(size=(n, rank))
    return F @ F.T


@pytest.mark.parametrize(("n", "rank"), [(1, 1), (5, 5), (40, 3), (300, 100), (300, 250), (300, 300)])
def test_rebuilds_the_matrix(n, rank):
    A = low_rank(n, rank)
    values, vectors = positive_spectrum(A.copy())
    assert_allclose((vectors * values) @ vectors.T, A, atol=1e-11 * np.abs(A).max())
    assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-12)
    assert np.all(np.diff(values) >= 0)


def test_low_rank_needs_few_vectors():
    values, vectors = positive_spectrum(low_rank(200, 7))
    assert len(values) == 7
    assert vectors.shape == (200, 7)


def test_agrees_with_the_full_decomposition_of_a_smooth_kernel():
    K = RBF(4.0)(np.random.default_rng(0).normal(size=(250, 2)))
    values, _ = positive_spectrum(K.copy())
    assert len(values) < 150
    expected = np.linalg.eigvalsh(K)[-len(values) :]
    assert_allclose(values, expected, atol=1e-12 * expected[-1])


def test_zero_matrix():
    values, vectors = positive_spectrum(np.zeros((4, 4)))
    assert_allclose(values, 0.0)
    assert vectors.shape == (4, 4)


def test_large_matrices_take_the_other_route(monkeypatch):
    A = low_rank(30, 30)
    expected, _ = positive_spectrum(A.copy())
    monkeypatch.setattr(low_rank_eigh, "_COPIES_UP_TO", 10)
    values, vectors = positive_spectrum(A.copy())
    assert_allclose(values, expected, rtol=1e-9)
    assert_allclose((vectors * values) @ vectors.T, A, atol=1e-11 * np.abs(A).max())
