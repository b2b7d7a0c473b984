"""Factorisations of symmetric positive definite matrices, in place, with one jitter policy."""

import numpy as np
from scipy.linalg import eigh, lapack

from pellucid._callers import warn_caller
from pellucid.exceptions import IllConditionedWarning, IndefiniteKernelError
from pellucid.linalg.centering import rank_one_update

_PANEL = 256  # columns handled at a time by the loops over triangles


def cholesky_in_place(A: np.ndarray) -> np.ndarray:
    """Return the lower Cholesky factor ``L`` of ``A``, written over ``A``.

    **The jitter policy.** Should the factorisation fail, ``n · eps · mean(diag)`` is added to the diagonal,
    then a hundred times as much, and so on up to ``1e-8 · mean(diag)``; each success after the first try
    warns, and running out of tries raises an error that names the smallest eigenvalue. One triangle of
    ``A`` keeps the original matrix, so a retry needs no copy.

    Parameters
    ----------
    A : ndarray of shape (n, n)
        Symmetric, C-contiguous, float64. Overwritten.

    Returns
    -------
    L : ndarray of shape (n, n)
        Fortran-contiguous; only its lower triangle is meaningful.
    """
    n = len(A)
    diagonal = A.diagonal().copy()
    size = float(diagonal.mean())
    jitter = 0.0
    while True:
        L, info = lapack.dpotrf(A.T, lower=1, overwrite_a=1, clean=0)
        # NaN anywhere in the matrix reaches the diagonal of L, but not every LAPACK reports it
        if info == 0 and np.all(np.isfinite(L.diagonal())):
            break
        mirror(A.T, from_upper=True)
        np.fill_diagonal(A, diagonal)
        if not np.isfinite(A.sum()):
            raise IndefiniteKernelError("The kernel matrix contains NaN or infinity.")
        jitter = 100.0 * jitter if jitter else n * np.finfo(float).eps * size
        if not 0.0 < jitter <= 1e-8 * size:
            raise IndefiniteKernelError(
                f"The kernel matrix plus ridge is not positive definite: its smallest eigenvalue "
                f"is {smallest_eigenvalue(A):.3g}. A kernel must have no negative eigenvalues; raise alpha "
                f"above that size, or pass indefinite='clip' to drop the negative part knowingly."
            )
        np.fill_diagonal(A, diagonal + jitter)
    if jitter:
        warn_caller(
            f"The kernel matrix plus ridge is numerically singular; {jitter:.2g} was added to its diagonal. "
            f"Results are those of a slightly larger alpha: raise alpha to be rid of this warning.",
            IllConditionedWarning,
        )
    return L


def solve_cholesky(L: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Solve ``L Lᵀ x = B``."""
    return lapack.dpotrs(L, B, lower=1)[0]


def inverse_diagonal_in_place(L: np.ndarray) -> np.ndarray:
    """Return the diagonal of ``(L Lᵀ)⁻¹``, the sums of squares of the columns of ``L⁻¹``; overwrites ``L``.

    Inverting the triangle costs n³/3 operations, half of what the whole inverse costs after the factor, and
    no memory.
    """
    inverse, info = lapack.dtrtri(L, lower=1, overwrite_c=1)
    if info != 0:
        raise IndefiniteKernelError("The Cholesky factor of the kernel matrix is singular; raise alpha.")
    n = len(inverse)
    diagonal = np.empty(n)
    for start in range(0, n, _PANEL):
        stop = min(start + _PANEL, n)
        corner = np.tril(inverse[start:stop, start:stop])
        below = inverse[stop:, start:stop]
        diagonal[start:stop] = np.einsum("ij,ij->j", corner, corner) + np.einsum("ij,ij->j", below, below)
    return diagonal


def inverse_blocks_in_place(L: np.ndarray, m: int) -> np.ndarray:
    """Return the diagonal blocks of size m of ``(L Lᵀ)⁻¹``, of shape (n / m, m, m); overwrites ``L``.

    A block is ``PᵀP``, with ``P`` the m columns of ``L⁻¹`` that belong to it.
    """
    inverse, info = lapack.dtrtri(L, lower=1, overwrite_c=1)
    if info != 0:
        raise IndefiniteKernelError("The Cholesky factor of the kernel matrix is singular; raise alpha.")
    blocks = np.empty((len(inverse) // m, m, m))
    for k, block in enumerate(blocks):
        panel = inverse[k * m :, k * m : (k + 1) * m]
        corner = np.tril(panel[:m])
        block[:] = corner.T @ corner + panel[m:].T @ panel[m:]
    return blocks


def bordered_inverse(L: np.ndarray, q: np.ndarray | None, pole: float) -> np.ndarray:
    """Return ``B = (L Lᵀ)⁻¹ − q qᵀ / pole``, the inverse on the complement of ``q``; overwrites ``L``.

    ``pole`` is the eigenvalue of ``q``, so ``B q = 0``. Without ``q`` the plain inverse.
    """
    inverse, info = lapack.dpotri(L, lower=1, overwrite_c=1)
    if info != 0:
        raise IndefiniteKernelError("The Cholesky factor of the kernel matrix is singular; raise alpha.")
    mirror(inverse, from_upper=False)
    B = inverse.T  # symmetric, and C-contiguous this way round
    return B if q is None else rank_one_update(B, -1.0 / pole, q)


def smallest_eigenvalue(A: np.ndarray) -> float:
    """Smallest eigenvalue of a symmetric matrix."""
    return float(eigh(A, eigvals_only=True, subset_by_index=[0, 0])[0])


def mirror(A: np.ndarray, *, from_upper: bool) -> None:
    """Copy one strict triangle of ``A`` onto the other, in panels."""
    n = len(A)
    for start in range(0, n, _PANEL):
        stop = min(start + _PANEL, n)
        if from_upper:
            corner = np.triu(A[start:stop, start:stop], 1)
            A[stop:, start:stop] = A[start:stop, stop:].T
        else:
            corner = np.tril(A[start:stop, start:stop], -1)
            A[start:stop, stop:] = A[stop:, start:stop].T
        A[start:stop, start:stop] = corner + corner.T + np.diag(A.diagonal()[start:stop])
