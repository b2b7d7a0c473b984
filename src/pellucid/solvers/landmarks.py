r"""Kernel ridge on the span of ``m`` landmarks, from sums over blocks of rows.

The function is :math:`f(x) = z(x)^T w + b` with features :math:`z(x) = T^T k(C, x)` of the landmarks ``C``,
scaled so that :math:`\|w\|` is the norm of ``f`` in the kernel's space. One pass over the rows gives the
weighted, centred sums

.. math:: G = \sum_i s_i (z_i - \bar z)(z_i - \bar z)^T = V D V^T, \qquad c = \sum_i s_i (z_i - \bar z) y_i ,

and with them the solution :math:`w = V (D + \alpha)^{-1} V^T c` of every α. These are the normal equations
that Falkon solves by iteration [1]_. Up to some thousand landmarks their matrix can be formed, at the
speed of matrix products, and its spectrum gives the whole path of α at once. A second pass gives residuals
and leverages: with :math:`G + \alpha I = L L^T` and :math:`u_i = L^{-1} (z_i - \bar z)`,

.. math:: \hat y_i = \bar y + u_i^T L^{-1} c, \qquad h_i = s_i / \textstyle\sum s + s_i \|u_i\|^2 ,

so leave-one-out is exact, for the landmarks as they are. Both ``T`` and :math:`T L^{-T}` are upper triangles,
which halves the work of both passes: three times ``n m²`` operations in all.

References
----------
.. [1] A. Rudi, L. Carratino, L. Rosasco. FALKON: an optimal large scale kernel method. NeurIPS 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import blas, cholesky, eigh, solve_triangular

from pellucid.linalg import row_blocks, times_upper
from pellucid.linalg.factor import mirror
from pellucid.solvers.fits import Fits

Columns = Callable[[np.ndarray], np.ndarray]  # from numbers of rows to k(x, C) of shape (k, m), C-contiguous
_RECENT = 8192  # rows whose products are summed up in single precision
_FACTORS = 4  # values of alpha up to which a factor for each costs less than one spectrum
_POWER_STEPS = 15


@dataclass(frozen=True)
class LandmarkSolver:
    """The sums over all rows."""

    columns: Columns
    transfer: np.ndarray  # (m, m): T, upper triangular
    weight: np.ndarray  # (n,)
    mean: np.ndarray  # (m,): z̄, zero without an intercept
    level: np.ndarray  # (q,): weighted mean of the targets, zero without an intercept
    G: np.ndarray  # (m, m)
    c: np.ndarray  # (m, q)
    fit_intercept: bool
    kind: np.dtype  # of the features, float32 or float64

    @classmethod
    def start(
        cls,
        columns: Columns,
        transfer: np.ndarray,
        Y: np.ndarray,
        weight: np.ndarray,
        *,
        fit_intercept: bool,
        step: Callable[[], None] = lambda: None,
    ) -> LandmarkSolver:
        """Walk the rows once, in blocks."""
        m = len(transfer)
        kind = columns(np.arange(min(1, len(Y)))).dtype
        T = np.asfortranarray(transfer, dtype=kind)
        share = weight / weight.sum()
        level = share @ Y if fit_intercept else np.zeros(Y.shape[1])
        centred = Y - level
        ones = bool(np.all(weight == 1.0))
        G, c, sums = np.zeros((m, m), order="F"), np.zeros((m, Y.shape[1])), np.zeros(m)
        recent: np.ndarray = G if kind == np.float64 else np.zeros((m, m), dtype=kind, order="F")
        squares = blas.dsyrk if kind == np.float64 else blas.ssyrk
        n_recent = 0
        for block in blocks_of(len(Y), m):
            Z = times_upper(columns(np.arange(block.start, block.stop)), T)
            root = np.sqrt(weight[block]).astype(Z.dtype)
            sums += (weight[block].astype(Z.dtype) @ Z).astype(float)
            if not ones:
                Z *= root[:, None]
            c += Z.T @ (root[:, None] * centred[block]).astype(Z.dtype)
            recent = squares(1.0, Z.T, beta=1.0, c=recent, lower=1, overwrite_c=1)
            n_recent += len(Z)
            if kind == np.float64:
                G = recent
            elif n_recent > _RECENT or block.stop == len(Y):
                G += recent
                recent[...] = 0.0
                n_recent = 0
            step()
        mirror(G, from_upper=False)
        mean = sums / weight.sum() if fit_intercept else np.zeros(m)
        G -= weight.sum() * np.outer(mean, mean)
        return cls(columns, transfer, weight, mean, level, G, c, fit_intercept, kind)

    @cached_property
    def spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues ``D`` and vectors ``V`` of ``G``."""
        values, vectors = eigh(self.G, driver="evd", check_finite=False)
        return np.maximum(values, 0.0), vectors

    @cached_property
    def largest(self) -> float:
        """About the largest eigenvalue of ``G``, by some steps of the power method."""
        v = np.ones(len(self.G))
        for _ in range(_POWER_STEPS):
            v = self.G @ (v / (np.linalg.norm(v) or 1.0))
        return float(np.linalg.norm(v))

    def factor(self, alpha: float) -> np.ndarray:
        """Lower factor ``L`` of ``G + αI``; what rounding took from a tiny alpha is put back."""
        A = self.G.copy()
        floor = 16.0 * np.finfo(self.kind).eps * self.largest
        for lift in (0.0, floor, 100.0 * floor):
            A[np.diag_indices_from(A)] = self.G.diagonal() + alpha + lift
            try:
                return cholesky(A, lower=True, check_finite=False)
            except np.linalg.LinAlgError:
                continue
        return cholesky(A + 1e4 * floor * np.eye(len(A)), lower=True, check_finite=False)

    def coefficients(self, alpha: float) -> np.ndarray:
        """Coefficients ``w`` of shape (m, q)."""
        L = self.factor(alpha)
        half = solve_triangular(L, self.c, lower=True, check_finite=False)
        return solve_triangular(L, half, lower=True, trans=1, check_finite=False)

    def intercept(self, coef: np.ndarray) -> np.ndarray:
        """Level ``b`` that goes with coefficients."""
        return self.level - self.mean @ coef

    def dof(self, alpha: float) -> float:
        """Effective degrees of freedom, intercept included."""
        values = self.spectrum[0]
        return float(np.sum(values / (values + alpha))) + float(self.fit_intercept)

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
        s, own = self.weight[rows], float(self.fit_intercept) / self.weight.sum()
        residuals, slack = np.empty((len(alphas), len(rows), q)), np.empty((len(alphas), len(rows)))
        at_once = self._by_factors(alphas) if len(alphas) <= _FACTORS else self._by_spectrum(alphas)
        for block in blocks_of(len(rows), len(self.G)):
            fitted, leverage = at_once(rows[block])
            residuals[:, block] = Y[rows[block]] - self.level - fitted
            slack[:, block] = np.clip(1.0 - s[block] * (leverage + own), 1e-10, 1.0)
            step()
        nothing = np.full((len(alphas), q), np.nan)
        return Fits(alphas, residuals, slack, nothing, nothing[:, 0], s, self.fit_intercept)

    def _by_factors(self, alphas: np.ndarray) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """Centred fitted values (a, k, q) and leverages (a, k) of some rows, by a factor for each alpha."""
        parts = []
        for alpha in alphas:
            L = self.factor(float(alpha))
            B = solve_triangular(L, self.transfer.T, lower=True, check_finite=False).T
            half = solve_triangular(L, np.column_stack([self.mean, self.c]), lower=True, check_finite=False)
            upper = np.asfortranarray(np.triu(B), dtype=self.kind)
            parts.append((upper, half[:, 0].astype(self.kind), half[:, 1:].astype(self.kind)))

        def block(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            K = self.columns(rows)
            fitted, leverage = [], []
            for k, (B, mean, loads) in enumerate(parts):
                U = times_upper(K if k == len(parts) - 1 else K.copy(), B)
                U -= mean
                fitted.append((U @ loads).astype(float))
                leverage.append(np.einsum("ij,ij->i", U, U).astype(float))
            return np.array(fitted), np.array(leverage)

        return block

    def _by_spectrum(self, alphas: np.ndarray) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """The same for many alphas, by one decomposition."""
        values, vectors = self.spectrum
        g = 1.0 / (values[:, None] + alphas)  # (m, a)
        w = (g[:, :, None] * (vectors.T @ self.c)[:, None, :]).reshape(len(g), -1).astype(self.kind)
        B, mean = (self.transfer @ vectors).astype(self.kind), (self.mean @ vectors).astype(self.kind)
        weights = g.astype(self.kind)

        def block(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            U = self.columns(rows) @ B - mean
            fitted = (U @ w).astype(float).reshape(len(rows), len(alphas), -1)
            U *= U
            return np.moveaxis(fitted, 1, 0), (U @ weights).astype(float).T

        return block


def blocks_of(n_rows: int, m: int) -> list[slice]:
    """Blocks of rows for features of ``m`` landmarks."""
    return list(row_blocks(n_rows, 8.0 * m))
