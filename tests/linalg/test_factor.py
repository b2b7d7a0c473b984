import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.exceptions import IllConditionedWarning, IndefiniteKernelError
from pellucid.linalg import (
    bordered_inverse,
    cholesky_in_place,
    factor,
    inverse_blocks_in_place,
    inverse_diagonal_in_place,
    smallest_eigenvalue,
    solve_cholesky,
)

SIZES = [1, 5, 255, 256, 257, 600]  # around the width of a panel


def definite(n, seed=0):
    Z = np.random.default_rng(seed).normal(size=(n, n + 5))
    return Z @ Z.T / n + 0.1 * np.eye(n)


def with_eigenvalues(values):
    Q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(len(values), len(values))))
    A = (Q * values) @ Q.T
    return (A + A.T) / 2


@pytest.mark.parametrize("n", SIZES)
def test_cholesky(n):
    A = definite(n)
    matrix = A.copy()
    L = cholesky_in_place(matrix)
    assert np.shares_memory(L, matrix)
    assert L.flags.f_contiguous
    assert_allclose(np.tril(L) @ np.tril(L).T, A, atol=1e-12)


@pytest.mark.parametrize("n", SIZES)
def test_solve(n):
    A = definite(n)
    B = np.random.default_rng(1).normal(size=(n, 3))
    kept = B.copy()
    L = cholesky_in_place(A.copy())
    assert_allclose(A @ solve_cholesky(L, B), B, atol=1e-10)
    assert_array_equal(B, kept)
    assert_allclose(A @ solve_cholesky(L, B[:, 0]), B[:, 0], atol=1e-10)


@pytest.mark.parametrize("n", SIZES)
def test_inverse_diagonal(n):
    A = definite(n)
    L = cholesky_in_place(A.copy())
    assert_allclose(inverse_diagonal_in_place(L), np.diag(np.linalg.inv(A)), rtol=1e-10)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (12, 3), (12, 12), (300, 5)])
def test_inverse_blocks(n, m):
    A = definite(n)
    blocks = inverse_blocks_in_place(cholesky_in_place(A.copy()), m)
    inverse = np.linalg.inv(A)
    assert blocks.shape == (n // m, m, m)
    for k, block in enumerate(blocks):
        own = slice(k * m, (k + 1) * m)
        assert_allclose(block, inverse[own, own], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("n", SIZES)
def test_inverse(n):
    A = definite(n)
    B = bordered_inverse(cholesky_in_place(A.copy()), None, 1.0)
    assert_allclose(B, np.linalg.inv(A), rtol=1e-9, atol=1e-11)
    assert_array_equal(B, B.T)
    assert B.flags.c_contiguous


@pytest.mark.parametrize("n", SIZES)
def test_inverse_on_the_complement(n):
    pole = 7.0
    q = np.random.default_rng(1).uniform(0.5, 1.5, size=n)
    q /= np.linalg.norm(q)
    P = np.eye(n) - np.outer(q, q)
    A = P @ definite(n) @ P + pole * np.outer(q, q)
    B = bordered_inverse(cholesky_in_place(A.copy()), q, pole)
    assert_allclose(B @ q, 0.0, atol=1e-10)
    assert_allclose(B, np.linalg.pinv(P @ A @ P, hermitian=True), atol=1e-9)


@pytest.mark.parametrize("n", [5, 256, 300])
def test_singular_matrices_are_jittered_with_a_warning(n):
    values = np.linspace(1.0, 2.0, n)
    values[0] = -1e-13
    A = with_eigenvalues(values)
    matrix = A.copy()
    with pytest.warns(IllConditionedWarning, match="numerically singular; .* was added to its diagonal"):
        L = cholesky_in_place(matrix)
    assert np.shares_memory(L, matrix)
    difference = np.tril(L) @ np.tril(L).T - A
    jitter = np.diag(difference).mean()
    assert 0 < jitter <= 1e-8 * np.diag(A).mean()
    assert_allclose(difference, jitter * np.eye(n), atol=1e-12)


def test_the_jitter_grows_until_it_is_enough():
    A = with_eigenvalues(np.array([-1e-10, 1.0, 2.0, 3.0, 4.0]))
    with pytest.warns(IllConditionedWarning):
        L = np.tril(cholesky_in_place(A.copy()))
    assert 1e-10 < np.diag(L @ L.T - A).mean() < 1e-7


@pytest.mark.parametrize("n", [2, 256, 300])
def test_indefinite_matrices_are_refused(n):
    values = np.linspace(1.0, 2.0, n)
    values[0] = -0.25
    with pytest.raises(IndefiniteKernelError, match=r"its smallest eigenvalue is -0.25\b.*raise alpha"):
        cholesky_in_place(with_eigenvalues(values))


@pytest.mark.parametrize("A", [np.zeros((3, 3)), -np.eye(3)])
def test_no_positive_diagonal(A):
    with pytest.raises(IndefiniteKernelError, match="not positive definite"):
        cholesky_in_place(A.copy())


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize(("i", "j"), [(0, 0), (4, 4), (4, 1), (1, 0)])
def test_nan_and_infinity(bad, i, j):
    A = definite(5)
    A[i, j] = A[j, i] = bad
    with pytest.raises(IndefiniteKernelError, match="contains NaN or infinity"):
        cholesky_in_place(A)


def test_nan_behind_a_negative_pivot():
    A = definite(5)
    A[0, 0] = -1.0
    A[4, 3] = A[3, 4] = np.nan
    with pytest.raises(IndefiniteKernelError, match="contains NaN or infinity"):
        cholesky_in_place(A)


def test_a_singular_factor():
    for invert in (
        inverse_diagonal_in_place,
        lambda L: inverse_blocks_in_place(L, 1),
        lambda L: bordered_inverse(L, None, 1.0),
    ):
        with pytest.raises(IndefiniteKernelError, match="singular; raise alpha"):
            invert(np.zeros((3, 3), order="F"))


@pytest.mark.parametrize("n", SIZES)
def test_mirror(n):
    A = np.random.default_rng(0).normal(size=(n, n))
    lower, upper = A.copy(), A.copy()
    factor.mirror(lower, from_upper=False)
    factor.mirror(upper, from_upper=True)
    assert_array_equal(lower, np.tril(A) + np.tril(A, -1).T)
    assert_array_equal(upper, np.triu(A) + np.triu(A, 1).T)


@pytest.mark.parametrize("n", [1, 4, 50])
def test_smallest_eigenvalue(n):
    A = definite(n)
    A = A - 0.5 * np.eye(n)
    kept = A.copy()
    assert_allclose(smallest_eigenvalue(A), np.linalg.eigvalsh(A)[0])
    assert_array_equal(A, kept)


def test_no_warning_for_a_sound_matrix():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cholesky_in_place(definite(20))
