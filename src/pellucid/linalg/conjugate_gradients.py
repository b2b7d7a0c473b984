"""Conjugate gradients for symmetric positive definite systems, one or many right-hand sides at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Solution:
    """An approximate solution and how good it is."""

    x: np.ndarray
    residuals: (
        np.ndarray
    )  # largest norm of a residual relative to that of its right-hand side, before each step
    converged: bool

    @property
    def n_iter(self) -> int:
        """Number of steps."""
        return len(self.residuals) - 1


def conjugate_gradients(
    product: Callable[[np.ndarray], np.ndarray],
    b: np.ndarray,
    *,
    precondition: Callable[[np.ndarray], np.ndarray] = lambda r: r,
    start: np.ndarray | None = None,
    tol: float | np.ndarray = 1e-6,
    max_iter: int = 1000,
    step: Callable[[float], None] = lambda residual: None,
) -> Solution:
    """Solve ``A x = b`` by preconditioned conjugate gradients.

    Every column of ``b`` has steps of its own; they only share the products with ``A``, which for a matrix
    that is made anew each time cost hardly more for many columns than for one. A column that has converged
    rests, with ``p`` zero.

    Parameters
    ----------
    product : callable
        Returns ``A p`` for ``p`` of the shape of ``b``. Columns may have matrices of their own.
    b : ndarray of shape (n,) or (n, k)
        Right-hand sides.
    precondition : callable
        Returns ``M⁻¹ r`` for a symmetric positive definite ``M`` near ``A``.
    start : ndarray of the shape of b, optional
        Where to start, zero by default.
    tol : float or ndarray of shape (k,)
        Stop when the residual falls below this share of ``b``, for each column.
    max_iter : int
        Most steps. Residuals are computed anew every fifty, as those of the recurrence drift.
    step : callable
        Told the largest relative residual after every step.

    Returns
    -------
    Solution
        Not ``converged`` after ``max_iter`` steps, or where rounding has made ``A`` indefinite.

    Examples
    --------
    >>> A = np.diag([1.0, 4.0])
    >>> conjugate_gradients(lambda p: A @ p, np.array([2.0, 4.0])).x.round(6)
    array([2., 1.])
    >>> conjugate_gradients(lambda p: A @ p, np.eye(2)).x.round(6)
    array([[1.  , 0.  ],
           [0.  , 0.25]])
    """
    single = b.ndim == 1

    def times(P: np.ndarray) -> np.ndarray:
        return product(P[:, 0])[:, None] if single else product(P)

    def lifted(R: np.ndarray) -> np.ndarray:
        return precondition(R[:, 0])[:, None] if single else precondition(R)

    B = b[:, None] if single else b
    size = np.linalg.norm(B, axis=0)
    unit = np.where(size > 0, size, 1.0)
    X = np.zeros_like(B) if start is None else np.where(size > 0, start.reshape(B.shape), 0.0)
    R = B.copy() if start is None else B - times(X)
    off = np.linalg.norm(R, axis=0) / unit
    residuals = [float(off.max(initial=0.0))]
    going = off > tol
    Z = lifted(R) if going.any() else R
    P = np.where(going, Z, 0.0)
    rho = np.einsum("nk,nk->k", R, Z)
    for k in range(1, max_iter + 1):
        if not going.any():
            break
        Q = times(P)
        curvature = np.einsum("nk,nk->k", P, Q)
        if not np.all((curvature > 0) & (rho > 0), where=going):
            break
        length = np.divide(rho, curvature, out=np.zeros_like(rho), where=going)
        X += length * P
        R = B - times(X) if k % 50 == 0 else R - length * Q
        off = np.linalg.norm(R, axis=0) / unit
        residuals.append(float(off.max()))
        step(residuals[-1])
        going &= off > tol
        if going.any():
            Z = lifted(R)
            before, rho = rho, np.einsum("nk,nk->k", R, Z)
            P = np.where(going, Z + np.divide(rho, before, out=np.zeros_like(rho), where=going) * P, 0.0)
    return Solution(X[:, 0] if single else X, np.array(residuals), not going.any())
