r"""Kernel matrices that nobody vouches for: is there a negative eigenvalue, and how to be rid of it.

Clipping replaces :math:`K` by :math:`K_+ = R^{-1} (RKR)_+ R^{-1}` with :math:`R = S^{1/2}`, where
:math:`(\cdot)_+` sets negative eigenvalues to zero; without weights that is the positive semi-definite matrix
nearest to :math:`K`. With the projector :math:`\Pi = U_+ U_+^T` on what is left,
:math:`K_+ = K R \Pi R^{-1}`, so kernel values between new rows and training rows are clipped by the same
factor: dual coefficients :math:`R \Pi R^{-1} a` give with the kernel as it is what :math:`a` gives with the
clipped one.
"""

import numpy as np
from scipy.linalg import eigh, lapack

from pellucid.exceptions import IndefiniteKernelError
from pellucid.linalg import Prepared, smallest_eigenvalue


def check_spectrum(values: np.ndarray, tolerance: float = 1e-8, margin: float = 0.0) -> None:
    """Raise :class:`IndefiniteKernelError` if some eigenvalue is negative beyond rounding.

    Rounding is ``tolerance`` times the largest eigenvalue plus ``margin``.
    """
    if len(values) == 0:
        return
    worst, largest = float(values.min()), float(np.abs(values).max())
    if worst < -tolerance * largest - margin:
        raise IndefiniteKernelError(
            f"The kernel matrix has negative eigenvalues: the worst is {worst:.4g}, against a largest of "
            f"{largest:.4g} (after centring, where an intercept is fitted). Such a matrix is not a kernel. "
            f"Check the kernel function, or pass indefinite='clip' to drop the negative part knowingly."
        )


def check_positive(prepared: Prepared, tolerance: float, margin: float = 0.0) -> None:
    """Raise unless a prepared matrix is positive semi-definite up to rounding; costs one Cholesky factor."""
    A = prepared.matrix
    size = _largest_eigenvalue(prepared)
    shifted = A.copy()
    shifted[np.diag_indices_from(shifted)] += tolerance * size + margin
    if lapack.dpotrf(shifted.T, lower=1, overwrite_a=1)[1] != 0:
        check_spectrum(np.array([smallest_eigenvalue(A), size]), tolerance, margin)


def _largest_eigenvalue(prepared: Prepared, n_steps: int = 12) -> float:
    """Largest eigenvalue in magnitude but for the intercept's, to a few per cent, by power iteration."""
    A, q = prepared.matrix, prepared.q
    v = np.random.default_rng(0).normal(size=len(A))
    size = 0.0
    for _ in range(n_steps):
        v = v if q is None else v - q * (q @ v)
        v /= np.linalg.norm(v) or 1.0
        v = A @ v
        size = float(np.linalg.norm(v if q is None else v - q * (q @ v)))
    return size


def clip(K: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the clipped kernel matrix and the vectors ``U₊`` of what is left; ``K`` is overwritten."""
    root = np.sqrt(weight)
    K *= root[:, None]
    K *= root
    values, vectors = eigh(K.T, driver="evd", overwrite_a=True, check_finite=False)
    keep = values > 0
    U = vectors[:, keep]
    half = U * np.sqrt(values[keep]) / root[:, None]
    return half @ half.T, U


def positive_part(dual_coef: np.ndarray, U: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Dual coefficients that give with the kernel as it is what ``dual_coef`` gives with the clipped one."""
    root = np.sqrt(weight)[:, None]
    return root * (U @ (U.T @ (dual_coef / root)))
