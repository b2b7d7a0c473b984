r"""Ridge on explicit features, for kernels with fewer features than the data have rows.

With weighted, centred features :math:`\tilde\Phi = R(\Phi - 1\bar\phi^T)`,
:math:`\tilde\Phi^T\tilde\Phi = V D V^T` and :math:`T = \tilde\Phi V`,

.. math:: w = V (D + \alpha)^{-1} T^T z, \qquad h_i = \sum_j T_{ij}^2 / (D_j + \alpha) + q_i^2 ,

so again one decomposition, of the size of the features, serves every ridge strength.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import eigh

from pellucid.linalg import SparseRows, row_blocks
from pellucid.solvers.fits import Fits

_BUDGET = 1 << 27  # bytes of a block of rows


@dataclass(frozen=True)
class PrimalSolver:
    """One eigendecomposition of the features' Gram matrix, of size f × f."""

    weight: np.ndarray  # (n,)
    mean: np.ndarray  # (f,): weighted mean of the features, zero without an intercept
    values: np.ndarray  # (f,)
    vectors: np.ndarray  # (f, f)
    rows: np.ndarray | SparseRows  # (n, f): T, or sparse features from which it is made block by block
    fit_intercept: bool
    name = "primal"

    @classmethod
    def start(cls, Phi: np.ndarray | SparseRows, weight: np.ndarray, *, fit_intercept: bool) -> Self:
        """Decompose the features ``Phi`` of shape (n, f)."""
        share = weight / weight.sum()
        if isinstance(Phi, SparseRows):
            mean = Phi.transposed_times(share) if fit_intercept else np.zeros(Phi.n_columns)
            Z = Phi.shifted(mean).weighted(np.sqrt(weight))
            values, V = eigh(Z.column_products(), driver="evd", overwrite_a=True, check_finite=False)
            return cls(weight, mean, np.maximum(values, 0.0), V, Z, fit_intercept)
        mean = share @ Phi if fit_intercept else np.zeros(Phi.shape[1])
        T = np.sqrt(weight)[:, None] * (Phi - mean)
        values, V = eigh(T.T @ T, driver="evd", overwrite_a=True, check_finite=False)
        return cls(weight, mean, np.maximum(values, 0.0), V, T @ V, fit_intercept)

    def _rotated(self, block: slice) -> np.ndarray:
        """Rows of ``T``."""
        return self.rows[block] @ self.vectors if isinstance(self.rows, SparseRows) else self.rows[block]

    def _loads(self, Y: np.ndarray) -> np.ndarray:
        """Return ``Tᵀ z``, of shape (f, q)."""
        Z = self._targets(Y)
        if isinstance(self.rows, SparseRows):
            return self.vectors.T @ self.rows.transposed_times(Z)
        return self.rows.T @ Z

    def _targets(self, Y: np.ndarray) -> np.ndarray:
        center = self.weight @ Y / self.weight.sum() if self.fit_intercept else 0.0
        return np.sqrt(self.weight)[:, None] * (Y - center)

    def fits(self, Y: np.ndarray, alphas: np.ndarray, *, consume: bool = False) -> Fits:
        """Solve for each of ``alphas``."""
        alphas = np.asarray(alphas, dtype=float)
        n, f = self.rows.shape
        root = np.sqrt(self.weight)
        Z = self._targets(Y)
        z = self._loads(Y)
        g = 1.0 / (self.values[:, None] + alphas)  # (f, m)
        w = (g[:, :, None] * z[:, None, :]).reshape(f, -1)
        leverage = np.empty((len(alphas), n))
        r = np.empty((n, len(alphas), Y.shape[1]))  # times the root of the weight
        for block in row_blocks(n, 8.0 * 2 * max(f, 1), _BUDGET):
            T = self._rotated(block)
            r[block] = Z[block, None, :] - (T @ w).reshape(len(T), len(alphas), -1)
            leverage[:, block] = (T**2 @ g).T
        log_det = np.log(self.values[:, None] + alphas).sum(axis=0) + (n - self.fit_intercept - f) * np.log(
            alphas
        )
        log_det -= np.log(self.weight).sum()
        if self.fit_intercept:
            leverage += self.weight / self.weight.sum()
            log_det += np.log(self.weight.sum())
        quadratic = np.einsum("nq,nmq->mq", Z, r) / alphas[:, None]
        residuals = np.moveaxis(r, 0, 1) / root[:, None]
        slack = np.clip(1.0 - leverage, np.finfo(float).eps, 1.0)  # a difference is not known any better
        return Fits(alphas, residuals, slack, quadratic, log_det, self.weight, self.fit_intercept)

    def coefficients(self, Y: np.ndarray, alpha: np.ndarray) -> np.ndarray:
        """Return ``w`` of shape (f, q) for one ridge strength per output."""
        return self.vectors @ (self._loads(Y) / (self.values[:, None] + alpha))

    def intercept(self, Y: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """Return the intercept that belongs to the primal coefficients."""
        if not self.fit_intercept:
            return np.zeros(Y.shape[1])
        return self.weight @ Y / self.weight.sum() - self.mean @ coef
