r"""Eigendecomposition of positive semi-definite matrices, faster where the rank is low.

Smooth kernels give matrices whose eigenvalues fall below rounding error long before the last one. Cholesky
with pivoting notices: it stops after :math:`r` columns, when no diagonal element of what is left exceeds
rounding,
:math:`A = F F^T` with :math:`F` of shape (n, r). With :math:`F = Q R` and :math:`R R^T = W D W^T` the
decomposition is :math:`A = (QW) D (QW)^T`. It costs of the order of :math:`n r^2`, its error is that of
rounding
:math:`A` itself, and the n − r eigenvalues that it leaves out are zero to the same accuracy.
"""

import numpy as np
from scipy.linalg import eigh, lapack, qr

from pellucid.linalg.factor import mirror

_WORTH_IT = 0.6  # up to this share of n, the detour through the factor is the shorter way
_COPIES_UP_TO = 3000  # rows up to which a few copies of the matrix do not matter


def positive_spectrum(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, increasing, and eigenvectors of a positive semi-definite ``A``, which is overwritten.

    Parameters
    ----------
    A : ndarray of shape (n, n)
        Symmetric, C-contiguous, float64.

    Returns
    -------
    values : ndarray of shape (r,)
    vectors : ndarray of shape (n, r)
        With ``r < n`` where the other eigenvalues are zero up to rounding.
    """
    n = len(A)
    diagonal = A.diagonal().copy()
    tolerance = 0.25 * n * np.finfo(float).eps * diagonal.max(initial=0.0)
    L, pivots, rank, _ = lapack.dpstrf(A.T, tol=tolerance, lower=1, overwrite_a=1)
    if rank > _WORTH_IT * n or rank == 0:
        mirror(A.T, from_upper=True)
        np.fill_diagonal(A, diagonal)
        return _eigh(A)
    F = np.empty((n, rank), order="F")
    F[pivots - 1] = np.tril(L[:, :rank])
    Q, R = qr(F, mode="economic", overwrite_a=True, check_finite=False)
    values, W = _eigh(R @ R.T)
    return values, Q @ W


def _eigh(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigendecomposition: NumPy lets other threads run meanwhile, SciPy needs fewer copies."""
    if len(A) <= _COPIES_UP_TO:
        values, vectors = np.linalg.eigh(A)
        return values, vectors
    return eigh(A.T, driver="evd", overwrite_a=True, check_finite=False)
