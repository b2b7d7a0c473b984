r"""A quadratic problem whose solution has to satisfy linear inequalities, from the solution without them.

With the minimiser β̂ of ½βᵀHβ - cᵀβ and H⁻¹ = RᵀR at hand, the minimiser subject to Aβ ≥ 0 is the point of
the cone that is nearest to β̂ in the metric of H. Its multipliers μ ≥ 0 solve a small least-squares problem:
only the block V = [H⁻¹]_cc of the columns c on which A acts enters, whose inverse is the Schur complement of
all other columns. With V = UᵀU and M = UA_cᵀ they minimise ‖Mμ + U⁻ᵀβ̂_c‖², and β = β̂ + H⁻¹Aᵀμ.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular
from scipy.optimize import nnls


@dataclass(frozen=True)
class ConeSolution:
    """Nearest point of a cone."""

    beta: np.ndarray  # (F,): solution
    multipliers: np.ndarray  # (m,): μ, zero for constraints that do not bind

    @property
    def binding(self) -> np.ndarray:
        """Numbers of the constraints that hold with equality and push."""
        return np.flatnonzero(self.multipliers > 0)


def nearest_in_cone(beta: np.ndarray, root: np.ndarray, A: np.ndarray) -> ConeSolution:
    """Minimise ½(b - β)ᵀH(b - β) subject to Ab ≥ 0.

    Parameters
    ----------
    beta : ndarray of shape (F,)
        Solution without constraints.
    root : ndarray of shape (k, F)
        R with H⁻¹ = RᵀR.
    A : ndarray of shape (m, F)
        One constraint per row. Rows may depend on each other.

    Examples
    --------
    >>> nearest_in_cone(
    ...     np.array([2.0, 1.0]), np.eye(2), np.array([[-1.0, 1.0]])
    ... ).beta  # second not below first
    array([1.5, 1.5])
    """
    acts = np.flatnonzero(np.any(A != 0, axis=0))
    none = np.zeros(len(A))
    if len(acts) == 0 or np.all(A @ beta >= 0):
        return ConeSolution(beta.copy(), none)
    # the columns differ in size by powers of ten: a unit for each keeps the triangle well conditioned
    R = root[:, acts]
    unit = np.sqrt(np.einsum("ij,ij->j", R, R))
    unit[unit == 0] = 1.0
    U = qr(R / unit, mode="r", check_finite=False)[0][: len(acts)]
    M = U @ (A[:, acts] * unit).T
    length = np.sqrt(np.einsum("ij,ij->j", M, M))
    rows = np.flatnonzero(length > 1e-14 * length.max(initial=0.0))
    if len(rows) == 0:
        return ConeSolution(beta.copy(), none)
    target = solve_triangular(U, beta[acts] / unit, trans="T", check_finite=False)
    found, _ = nnls(M[:, rows] / length[rows], -target, maxiter=30 * len(rows))
    multipliers = none
    multipliers[rows] = found / length[rows]
    push = R @ (A[:, acts].T @ multipliers)
    return ConeSolution(beta + root.T @ push, multipliers)


def held_by(root: np.ndarray, A: np.ndarray) -> np.ndarray:
    """R' with R'ᵀR' = H⁻¹ - H⁻¹Aᵀ(AH⁻¹Aᵀ)⁻¹AH⁻¹: what is left to move where all of Aβ = 0 is kept.

    Parameters
    ----------
    root : ndarray of shape (k, F)
        R with H⁻¹ = RᵀR.
    A : ndarray of shape (m, F)
        Constraints that hold with equality.
    """
    if len(A) == 0:
        return root
    M = root @ A.T
    Q, T, _ = qr(M, mode="economic", pivoting=True, check_finite=False)
    size = np.abs(np.diag(T))
    Q = Q[:, : int(np.sum(size > 1e-12 * size.max(initial=0.0)))]
    return root - Q @ (Q.T @ root)
