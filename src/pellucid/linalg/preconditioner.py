r"""A low-rank preconditioner for ``K + αI``, made once and used for every α.

With a factor :math:`K \approx F F^T`, :math:`F = U \Sigma V^T` and its smallest singular value
:math:`\sigma_k`,

.. math:: M_\alpha^{-1} = U (\Sigma^2 + \alpha)^{-1} U^T + (\sigma_k^2 + \alpha)^{-1} (I - U U^T):

what the factor leaves out is taken to be as large as the least that it has, which also keeps rounding errors
of a tiny α out. The number of steps then goes with the root of the largest eigenvalue left out over α, rather
than of the largest of all [1]_.

References
----------
.. [1] M. Díaz, E. N. Epperly, Z. Frangella, J. A. Tropp, R. J. Webber. Robust, randomized preconditioning for
   kernel ridge regression. arXiv:2304.12465, 2023.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, svd

from pellucid.linalg.blocks import row_blocks

_TALL = 20_000  # rows from which the factor is decomposed by way of its inner products
_LEAST = 1e-11  # squares of singular values below this share of the largest are rounding error then


@dataclass(frozen=True, eq=False)
class LowRank:
    """Singular vectors and squared singular values of a factor of ``K``."""

    U: np.ndarray  # (n, r), orthonormal columns
    values: np.ndarray  # (r,): Σ², falling

    @classmethod
    def of(cls, F: np.ndarray) -> LowRank:
        """Decompose a factor of shape (n, r), which is overwritten."""
        if len(F) < _TALL:
            U, sigma, _ = svd(F, full_matrices=False, overwrite_a=True, check_finite=False)
            return cls(U, sigma**2)
        G = np.zeros((F.shape[1], F.shape[1]))
        for rows in row_blocks(len(F), 8.0 * F.shape[1]):
            part = np.asarray(F[rows], dtype=float)
            G += part.T @ part
        values, V = eigh(G, driver="evd", overwrite_a=True, check_finite=False)
        keep = np.flatnonzero(values > _LEAST * values[-1])[::-1]
        V = (V[:, keep] / np.sqrt(values[keep])).astype(F.dtype)
        for rows in row_blocks(len(F), 8.0 * F.shape[1]):
            F[rows, : len(keep)] = F[rows] @ V
        return cls(F[:, : len(keep)], values[keep])

    def inverse(self, alpha: float) -> Callable[[np.ndarray], np.ndarray]:
        r"""Return :math:`r \mapsto M_\alpha^{-1} r`, for ``r`` of shape (n,) or (n, k)."""
        rest, gain = self._parts(alpha)

        def apply(r: np.ndarray) -> np.ndarray:
            small = (self.U.T @ r.astype(self.U.dtype, copy=False)).T * gain.astype(self.U.dtype)
            return self.U @ small.T + rest * r

        return apply

    def inverse_diagonal(self, alpha: float) -> np.ndarray:
        r"""Diagonal of :math:`M_\alpha^{-1}`."""
        rest, gain = self._parts(alpha)
        out = np.full(len(self.U), rest)
        for rows in row_blocks(len(self.U), 8.0 * self.U.shape[1]):
            out[rows] += np.square(self.U[rows], dtype=float) @ gain
        return out

    def rest(self, alpha: float) -> float:
        r"""The eigenvalue of :math:`M_\alpha^{-1}` outside of the span of ``U``."""
        return 1.0 / (float(self.values[-1] if len(self.values) else 0.0) + alpha)

    def _parts(self, alpha: float) -> tuple[float, np.ndarray]:
        rest = self.rest(alpha)
        return rest, 1.0 / (self.values + alpha) - rest


def low_rank_preconditioner(F: np.ndarray, alpha: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return the preconditioner of one ``alpha`` for ``K ≈ F Fᵀ``; ``F`` is overwritten."""
    return LowRank.of(F).inverse(alpha)
