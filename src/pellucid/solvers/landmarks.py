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

**Precision.** These passes may be in float32. The gradient of the objective at the solution found, a pass of
``n m`` operations in float64, then gives a correction, so that float32 does not limit the answer.

References
----------
.. [1] A. Rudi, L. Carratino, L. Rosasco. FALKON: an optimal large scale kernel method. NeurIPS 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Self

import numpy as np
from scipy.linalg import cho_solve, cholesky, eigh, solve_triangular

from pellucid.linalg import times_upper
from pellucid.solvers.fits import Fits
from pellucid.solvers.landmark_sums import Columns, LandmarkSums, ResidualSums, blocks_of

ResidualsOf = Callable[[np.ndarray, np.ndarray], ResidualSums]  # of dual coefficients and levels
_FACTORS = 4  # values of alpha up to which a factor for each costs less than one spectrum
_POWER_STEPS = 15
_CORRECTIONS = 8
_CORRECTED = 1e-7  # share of the solution that a further correction would move


@dataclass(frozen=True)
class Solved:
    """The solution for one ridge strength."""

    L: np.ndarray  # (m, m): factor of G + αI
    w: np.ndarray  # (m, q)
    level: np.ndarray  # (q,): about which fitted values are centred
    squares: np.ndarray  # (q,): Σ s r² over all rows


@dataclass(frozen=True)
class LandmarkSolver:
    """The sums over all rows, and the rows at hand: all of them, or some."""

    columns: Columns  # of rows at hand
    weight: np.ndarray  # (n,): theirs
    transfer: np.ndarray  # (m, m): T, upper triangular
    n_rows: int
    total: float  # sum of the weights of all rows
    observations: float
    mean: np.ndarray  # (m,): z̄, zero without an intercept
    level: np.ndarray  # (q,): weighted mean of the targets, zero without an intercept
    G: np.ndarray  # (m, m)
    c: np.ndarray  # (m, q)
    square: np.ndarray  # (q,): Σ s (y − ȳ)²
    fit_intercept: bool
    kind: np.dtype  # of the features, float32 or float64
    fine: ResidualsOf | None  # where features are in float32
    _found: dict[float, Solved] = field(default_factory=dict)

    @classmethod
    def start(
        cls,
        columns: Columns,
        transfer: np.ndarray,
        Y: np.ndarray,
        weight: np.ndarray,
        *,
        fit_intercept: bool,
        fine: Columns | None = None,
        step: Callable[[], None] = lambda: None,
    ) -> Self:
        """Walk all rows, which are at hand, once, in blocks."""
        level = weight / weight.sum() @ Y if fit_intercept else np.zeros(Y.shape[1])
        sums = LandmarkSums.of(columns, transfer, Y - level, weight, step)
        residuals = None if fine is None else partial(_residuals, fine, Y, weight)
        return cls.of(
            sums, columns, transfer, weight, fit_intercept=fit_intercept, level=level, fine=residuals
        )

    @classmethod
    def of(
        cls,
        sums: LandmarkSums,
        columns: Columns,
        transfer: np.ndarray,
        weight: np.ndarray,
        *,
        fit_intercept: bool,
        level: np.ndarray,
        fine: ResidualsOf | None,
    ) -> Self:
        """Sums over all rows, of targets less ``level``, and columns and weights of the rows at hand."""
        kind = columns(np.arange(min(1, len(weight)))).dtype
        mean, rest = np.zeros(len(sums.z)), np.zeros(len(sums.y))
        if fit_intercept:
            mean, rest = sums.z / sums.weight, sums.y / sums.weight
        G = sums.zz - sums.weight * np.outer(mean, mean)
        c = sums.zy - np.outer(sums.z, rest)
        return cls(
            columns,
            weight,
            transfer,
            sums.n_rows,
            sums.weight,
            sums.observations,
            mean,
            level + rest,
            G,
            c,
            sums.yy - sums.weight * rest**2,
            fit_intercept,
            kind,
            fine,
        )

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

    def solution(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients ``w`` of shape (m, q) and levels ``b`` of shape (q,)."""
        found = self.solved(alpha)
        return found.w, found.level - self.mean @ found.w

    def solved(self, alpha: float) -> Solved:
        """The solution, corrected in float64 where sums are in float32."""
        if alpha not in self._found:
            L = self.factor(alpha)
            w, level = cho_solve((L, True), self.c, check_finite=False), self.level
            if self.fine is None:
                squares = self.square + np.einsum("mq,mq->q", w, self.G @ w - 2.0 * self.c)
            else:
                w, level, squares = self._corrected(self.fine, L, w, level, alpha)
            self._found[alpha] = Solved(L, w, level, np.maximum(squares, 0.0))
        return self._found[alpha]

    def _corrected(
        self, fine: ResidualsOf, L: np.ndarray, w: np.ndarray, level: np.ndarray, alpha: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coefficients, levels and squared residuals after steps along the gradient in float64.

        Each leaves a share of the error that goes with the rounding of sums in float32, relative to α; nearly
        always the first is enough.
        """
        size = before = float(np.linalg.norm(L.T @ w))
        squares = np.full(len(level), np.nan)
        for k in range(_CORRECTIONS):
            r = fine(self.transfer @ w, level - self.mean @ w)
            slope = self.transfer.T @ r.products - np.outer(self.mean, r.total)
            move = cho_solve((L, True), slope - alpha * w, check_finite=False)
            step = float(np.linalg.norm(L.T @ move))
            if k and step >= before:  # there is nothing left but rounding
                break
            squares = r.squares - 2.0 * np.einsum("mq,mq->q", move, slope)
            w = w + move
            level = level + r.total / self.total if self.fit_intercept else level
            if step * step <= _CORRECTED * before * size:
                break
            before = step
        return w, level, squares

    def dof(self, alpha: float) -> float:
        """Effective degrees of freedom, intercept included."""
        if "spectrum" not in vars(self):
            inverse = solve_triangular(
                self.solved(alpha).L, np.eye(len(self.G)), lower=True, check_finite=False
            )
            return len(self.G) - alpha * float(np.vdot(inverse, inverse)) + float(self.fit_intercept)
        values = self.spectrum[0]
        return float(np.sum(values / (values + alpha))) + float(self.fit_intercept)

    def fits(
        self,
        Y: np.ndarray,
        alphas: np.ndarray,
        rows: np.ndarray | None = None,
        step: Callable[[], None] = lambda: None,
    ) -> Fits:
        """Residuals and slack at some of the rows at hand (all by default) of the fits to all rows.

        ``quadratic`` and ``log_det`` are not those of the rows and are left at NaN.
        """
        rows = np.arange(len(self.weight)) if rows is None else rows
        alphas, q = np.asarray(alphas, dtype=float), Y.shape[1]
        s, own = self.weight[rows], float(self.fit_intercept) / self.total
        residuals, slack = np.empty((len(alphas), len(rows), q)), np.empty((len(alphas), len(rows)))
        at_once = self._by_factors(alphas) if len(alphas) <= _FACTORS else self._by_spectrum(alphas)
        for block in blocks_of(len(rows), len(self.G)):
            fitted, leverage = at_once(rows[block])
            residuals[:, block] = Y[rows[block]] - fitted
            slack[:, block] = np.clip(1.0 - s[block] * (leverage + own), 1e-10, 1.0)
            step()
        nothing = np.full((len(alphas), q), np.nan)
        return Fits(alphas, residuals, slack, nothing, nothing[:, 0], s, self.fit_intercept)

    def _by_factors(self, alphas: np.ndarray) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """Fitted values (a, k, q) and leverages (a, k) of some rows, by a factor for each alpha."""
        parts = []
        for alpha in alphas:
            found = self.solved(float(alpha))
            L, w, level = found.L, found.w, found.level
            both = np.column_stack([self.transfer.T, self.mean])
            half = solve_triangular(L, both, lower=True, check_finite=False)
            upper = np.asfortranarray(np.triu(half[:, :-1].T), dtype=self.kind)
            parts.append((upper, half[:, -1].astype(self.kind), (L.T @ w).astype(self.kind), level))

        def block(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            K = self.columns(rows)
            fitted, leverage = [], []
            for k, (B, mean, loads, level) in enumerate(parts):
                U = times_upper(K if k == len(parts) - 1 else K.copy(), B)
                U -= mean
                fitted.append((U @ loads).astype(float) + level)
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
            return np.moveaxis(fitted, 1, 0) + self.level, (U @ weights).astype(float).T

        return block


def _residuals(
    columns: Columns, Y: np.ndarray, weight: np.ndarray, dual: np.ndarray, level: np.ndarray
) -> ResidualSums:
    return ResidualSums.of(columns, dual, level, Y, weight)
