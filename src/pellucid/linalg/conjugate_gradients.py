"""Conjugate gradients for one symmetric positive definite system, with a low-rank preconditioner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd


@dataclass(frozen=True, eq=False)
class Solution:
    """An approximate solution and how good it is."""

    x: np.ndarray
    residuals: np.ndarray  # norm of the residual relative to that of the right-hand side, before each step
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
    tol: float = 1e-6,
    max_iter: int = 1000,
    step: Callable[[float], None] = lambda residual: None,
) -> Solution:
    """Solve ``A x = b`` by preconditioned conjugate gradients.

    Parameters
    ----------
    product : callable
        Returns ``A p``.
    b : ndarray of shape (n,)
        Right-hand side.
    precondition : callable
        Returns ``M⁻¹ r`` for a symmetric positive definite ``M`` near ``A``.
    start : ndarray of shape (n,), optional
        Where to start, zero by default.
    tol : float
        Stop when the residual falls below this share of ``b``.
    max_iter : int
        Most steps. The residual is computed anew every fifty, as that of the recurrence drifts.
    step : callable
        Told the relative residual after every step.

    Examples
    --------
    >>> A = np.diag([1.0, 4.0])
    >>> conjugate_gradients(lambda p: A @ p, np.array([2.0, 4.0])).x.round(6)
    array([2., 1.])
    """
    size = float(np.linalg.norm(b))
    x = np.zeros_like(b) if start is None else start.copy()
    if size == 0:
        return Solution(np.zeros_like(b), np.zeros(1), True)
    r = b - product(x) if start is not None else b.copy()
    z = precondition(r)
    p, rho = z, float(r @ z)
    residuals = [float(np.linalg.norm(r)) / size]
    for k in range(1, max_iter + 1):
        if residuals[-1] <= tol:
            break
        q = product(p)
        x += (rho / float(p @ q)) * p
        r = b - product(x) if k % 50 == 0 else r - (rho / float(p @ q)) * q
        z = precondition(r)
        rho, before = float(r @ z), rho
        p = z + (rho / before) * p
        residuals.append(float(np.linalg.norm(r)) / size)
        step(residuals[-1])
    return Solution(x, np.array(residuals), residuals[-1] <= tol)


def low_rank_preconditioner(F: np.ndarray, alpha: float) -> Callable[[np.ndarray], np.ndarray]:
    r"""Return :math:`r \mapsto M^{-1} r` for ``A = K + αI`` with ``K ≈ F Fᵀ``; ``F`` is overwritten.

    With ``F = U Σ Vᵀ`` and its smallest singular value :math:`\sigma_k`,

    .. math:: M^{-1} = U (\Sigma^2 + \alpha)^{-1} U^\top + (\sigma_k^2 + \alpha)^{-1} (I - U U^\top):

    what the factor leaves out is taken to be as large as the least that it has, which also keeps rounding
    errors of a tiny alpha out.
    """
    U, sigma, _ = svd(F, full_matrices=False, overwrite_a=True, check_finite=False)
    rest = 1.0 / (sigma[-1] ** 2 + alpha)
    gain = 1.0 / (sigma**2 + alpha) - rest

    def apply(r: np.ndarray) -> np.ndarray:
        return U @ (gain * (U.T @ r)) + rest * r

    return apply
