r"""Kernel ridge on the span of ``m`` landmarks, from sums over blocks of rows.

The function is :math:`f(x) = z(x)^T w + b` with features :math:`z(x) = T^T k(C, x)` of the landmarks ``C``,
scaled so that :math:`\|w\|` is the norm of ``f`` in the kernel's space. One pass over the rows gives the
weighted, centred sums

.. math:: G = \sum_i s_i (z_i - \bar z)(z_i - \bar z)^T = V D V^T, \qquad c = \sum_i s_i (z_i - \bar z) y_i ,

and with them the solution :math:`w = V (D + \alpha)^{-1} V^T c` of every α. These are the normal equations
that Falkon solves by iteration [1]_. Up to some thousand landmarks their matrix can be formed, at the
speed of matrix products, and it gives the whole path of α at once. A second pass
gives residuals and leverages :math:`h_i = s_i / \sum s + s_i \|(D + \alpha)^{-1/2} V^T (z_i - \bar z)\|^2`:
leave-one-out is exact, for the landmarks as they are.

References
----------
.. [1] A. Rudi, L. Carratino, L. Rosasco. FALKON: an optimal large scale kernel method. NeurIPS 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from pellucid.linalg import row_blocks
from pellucid.solvers.fits import Fits

Features = Callable[[np.ndarray], np.ndarray]  # from numbers of rows to features (k, m), float32 or float64


@dataclass(frozen=True)
class LandmarkSolver:
    """The sums over all rows, decomposed."""

    features: Features
    weight: np.ndarray  # (n,)
    mean: np.ndarray  # (m,): z̄, zero without an intercept
    level: np.ndarray  # (q,): weighted mean of the targets, zero without an intercept
    values: np.ndarray  # (m,): D
    vectors: np.ndarray  # (m, m): V
    c: np.ndarray  # (m, q)
    total: float  # weighted sum of squares of the centred targets, over outputs
    fit_intercept: bool

    @classmethod
    def start(
        cls,
        features: Features,
        m: int,
        Y: np.ndarray,
        weight: np.ndarray,
        *,
        fit_intercept: bool,
        step: Callable[[], None] = lambda: None,
    ) -> LandmarkSolver:
        """Walk the rows once, in blocks, and decompose their sums."""
        share = weight / weight.sum()
        level = share @ Y if fit_intercept else np.zeros(Y.shape[1])
        centred = Y - level
        ones = bool(np.all(weight == 1.0))
        G, c, sums = np.zeros((m, m)), np.zeros((m, Y.shape[1])), np.zeros(m)
        for block in blocks_of(len(Y), m):
            Z = features(np.arange(block.start, block.stop))
            root = np.sqrt(weight[block]).astype(Z.dtype)
            sums += (weight[block].astype(Z.dtype) @ Z).astype(float)
            if not ones:
                Z = Z * root[:, None]
            c += Z.T @ (root[:, None] * centred[block]).astype(Z.dtype)
            G += Z.T @ Z
            step()
        mean = sums / weight.sum() if fit_intercept else np.zeros(m)
        G -= weight.sum() * np.outer(mean, mean)
        values, vectors = eigh(G, driver="evd", overwrite_a=True, check_finite=False)
        total = float(np.sum(weight[:, None] * centred**2))
        return cls(features, weight, mean, level, np.maximum(values, 0.0), vectors, c, total, fit_intercept)

    def coefficients(self, alpha: float) -> np.ndarray:
        """Coefficients ``w`` of shape (m, q)."""
        return self.vectors @ ((self.vectors.T @ self.c) / (self.values[:, None] + alpha))

    def intercept(self, coef: np.ndarray) -> np.ndarray:
        """Level ``b`` that goes with coefficients."""
        return self.level - self.mean @ coef

    def dof(self, alpha: float) -> float:
        """Effective degrees of freedom, intercept included."""
        return float(np.sum(self.values / (self.values + alpha))) + float(self.fit_intercept)

    def fits(
        self,
        Y: np.ndarray,
        alphas: np.ndarray,
        rows: np.ndarray | None = None,
        step: Callable[[], None] = lambda: None,
    ) -> Fits:
        """Residuals and slack at some rows (all by default) of the fits to all of them.

        ``quadratic`` and ``log_det`` are not those of the rows and are left at NaN.
        """
        rows = np.arange(len(self.weight)) if rows is None else rows
        alphas, q = np.asarray(alphas, dtype=float), Y.shape[1]
        g = 1.0 / (self.values[:, None] + alphas)  # (m, a)
        w = (g[:, :, None] * (self.vectors.T @ self.c)[:, None, :]).reshape(len(g), -1)
        s, own = self.weight[rows], float(self.fit_intercept) / self.weight.sum()
        residuals, slack = np.empty((len(alphas), len(rows), q)), np.empty((len(alphas), len(rows)))
        for block in blocks_of(len(rows), len(g)):
            Z = self.features(rows[block])
            U = (Z - self.mean.astype(Z.dtype)) @ self.vectors.astype(Z.dtype)
            fitted = (U @ w.astype(Z.dtype)).astype(float).reshape(-1, len(alphas), q) + self.level
            residuals[:, block] = np.moveaxis(Y[rows[block], None, :] - fitted, 1, 0)
            U *= U
            leverage = s[block, None] * ((U @ g.astype(Z.dtype)).astype(float) + own)
            slack[:, block] = np.clip(1.0 - leverage, 1e-10, 1.0).T
            step()
        nothing = np.full((len(alphas), q), np.nan)
        return Fits(alphas, residuals, slack, nothing, nothing[:, 0], s, self.fit_intercept)


def blocks_of(n_rows: int, m: int) -> list[slice]:
    """Blocks of rows for features of ``m`` landmarks."""
    return list(row_blocks(n_rows, 8.0 * m))
