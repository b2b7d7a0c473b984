r"""Ridge on explicit features, for kernels with fewer features than the data have rows.

With weighted, centred features :math:`\tilde\Phi = R(\Phi - 1\bar\phi^T)`,
:math:`\tilde\Phi^T\tilde\Phi = V D V^T` and :math:`T = \tilde\Phi V`,

.. math:: w = V (D + \alpha)^{-1} T^T z, \qquad h_i = \sum_j T_{ij}^2 / (D_j + \alpha) + q_i^2 ,

so again one decomposition, of the size of the features, serves every ridge strength.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from pellucid.solvers.fits import Fits


@dataclass(frozen=True)
class PrimalSolver:
    """One eigendecomposition of the features' Gram matrix, of size f × f."""

    weight: np.ndarray  # (n,)
    mean: np.ndarray  # (f,): weighted mean of the features, zero without an intercept
    values: np.ndarray  # (f,)
    vectors: np.ndarray  # (f, f)
    rotated: np.ndarray  # (n, f): T
    fit_intercept: bool
    name = "primal"

    @classmethod
    def start(cls, Phi: np.ndarray, weight: np.ndarray, *, fit_intercept: bool) -> "PrimalSolver":
        """Decompose the features ``Phi`` of shape (n, f)."""
        share = weight / weight.sum()
        mean = share @ Phi if fit_intercept else np.zeros(Phi.shape[1])
        T = np.sqrt(weight)[:, None] * (Phi - mean)
        values, V = eigh(T.T @ T, driver="evd", overwrite_a=True, check_finite=False)
        return cls(weight, mean, np.maximum(values, 0.0), V, T @ V, fit_intercept)

    def _targets(self, Y: np.ndarray) -> np.ndarray:
        center = self.weight @ Y / self.weight.sum() if self.fit_intercept else 0.0
        return np.sqrt(self.weight)[:, None] * (Y - center)

    def fits(self, Y: np.ndarray, alphas: np.ndarray, *, consume: bool = False) -> Fits:
        """Solve for each of ``alphas``."""
        alphas = np.asarray(alphas, dtype=float)
        n, f = self.rotated.shape
        root = np.sqrt(self.weight)
        Z = self._targets(Y)
        z = self.rotated.T @ Z
        g = 1.0 / (self.values[:, None] + alphas)  # (f, m)
        leverage = (self.rotated**2 @ g).T  # (m, n)
        fitted = self.rotated @ (g[:, :, None] * z[:, None, :]).reshape(f, -1)
        r = Z[:, None, :] - fitted.reshape(n, len(alphas), -1)  # (n, m, q), times the root of the weight
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
        z = self.rotated.T @ self._targets(Y)
        return self.vectors @ (z / (self.values[:, None] + alpha))

    def intercept(self, Y: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """Return the intercept that belongs to the primal coefficients."""
        if not self.fit_intercept:
            return np.zeros(Y.shape[1])
        return self.weight @ Y / self.weight.sum() - self.mean @ coef
