r"""The inverse of the bordered system, applied without ever being formed.

In the notation of :mod:`pellucid.linalg.centering`, the dual coefficients are linear in the targets,
:math:`a = B y` with :math:`B = R A^{-1} P R`. One Cholesky factor of :math:`A` then gives posterior
variances, predictions without a row, and the covariance of the coefficients.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from pellucid.linalg import Prepared, cholesky_in_place, prepare, solve_cholesky


@dataclass(frozen=True)
class Posterior:
    """A factored ridge system at one ridge strength."""

    prepared: Prepared
    factor: np.ndarray
    alpha: float
    grand_mean: float  # weighted mean of the whole kernel matrix, zero without an intercept

    @classmethod
    def start(cls, K: np.ndarray, weight: np.ndarray, alpha: float, *, fit_intercept: bool) -> "Posterior":
        """Factor ``K``, which is overwritten."""
        p = prepare(K, weight, fit_intercept=fit_intercept)
        grand_mean = 0.0 if p.column_mean is None else float(weight @ p.column_mean / weight.sum())
        A = p.matrix
        A[np.diag_indices_from(A)] += alpha
        return cls(p, cholesky_in_place(A), alpha, grand_mean)

    @property
    def share(self) -> np.ndarray:
        """Weights as shares of one."""
        s = self.prepared.root**2
        return s / s.sum()

    def apply(self, V: np.ndarray) -> np.ndarray:
        """Return ``B V`` for ``V`` of shape (n, k)."""
        a = solve_cholesky(self.factor, self.prepared.project(V))
        return self.prepared.root[:, None] * a

    def deletion_weights(self, K_new: np.ndarray) -> np.ndarray:
        r"""Return :math:`\partial f(x_j)/\partial y_i`, of shape (new rows, n).

        Leaving row ``i`` out moves the prediction at ``x_j`` by minus this times the leave-one-out residual
        of row ``i``.
        """
        weights = self.apply(K_new.T).T
        p = self.prepared
        if p.column_mean is not None:
            weights -= self.apply(p.column_mean[:, None])[:, 0]
            weights += self.share
        return weights

    def variance(self, K_new: np.ndarray, k_diag: np.ndarray) -> np.ndarray:
        """Posterior variance of the function at new rows, in units of the process scale.

        The intercept, where there is one, has a flat prior.
        """
        p = self.prepared
        prior = np.array(k_diag, dtype=float)
        k = K_new
        if p.column_mean is not None:
            means = K_new @ self.share
            prior = prior - 2.0 * means + self.grand_mean
            k = K_new - p.column_mean - (means - self.grand_mean)[:, None]
        explained = solve_triangular(self.factor, (k * p.root).T, lower=True, check_finite=False)
        variance = prior - np.einsum("ij,ij->j", explained, explained)
        if p.column_mean is not None:
            variance += self.alpha / (p.root**2).sum()
        return np.maximum(variance, 0.0)
