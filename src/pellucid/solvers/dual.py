r"""Kernel ridge in the dual: one Cholesky factor for one ridge strength, or one spectrum for all of them.

Both start from the prepared matrix :math:`\tilde K` of :mod:`pellucid.linalg.centering` and the targets
:math:`z = P R y`. With

.. math:: B = (\tilde K + \alpha I)^{-1} \text{ on the complement of } q, \qquad \tilde a = B z,

the residuals are :math:`r = \alpha R^{-1} \tilde a` and the slack is :math:`1 - h_i = \alpha B_{ii}`.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh

from pellucid.linalg import (
    Prepared,
    cholesky_in_place,
    inverse_diagonal_in_place,
    positive_spectrum,
    prepare,
    rank_one_update,
    row_blocks,
    solve_cholesky,
)
from pellucid.solvers.fits import Fits
from pellucid.solvers.indefinite import check_spectrum


@dataclass(frozen=True)
class _DualSolver:
    """What is left of the kernel matrix after weighting and centring."""

    prepared: Prepared

    def intercept(self, Y: np.ndarray, dual_coef: np.ndarray) -> np.ndarray:
        """Return the intercept that belongs to ``dual_coef``."""
        return self.prepared.intercept(Y, dual_coef)


@dataclass(frozen=True)
class CholeskySolver(_DualSolver):
    """A Cholesky factor per ridge strength: about n³ operations each, and one matrix of memory."""

    name = "cholesky"

    @classmethod
    def start(cls, K: np.ndarray, weight: np.ndarray, *, fit_intercept: bool) -> "CholeskySolver":
        """Take over ``K``, which is overwritten."""
        return cls(prepare(K, weight, fit_intercept=fit_intercept))

    def fits(self, Y: np.ndarray, alphas: np.ndarray, *, consume: bool = False) -> Fits:
        """Solve for each of ``alphas``; ``consume`` lets the last one overwrite the kernel matrix."""
        p = self.prepared
        Z = p.project(Y)
        residuals, slacks, quadratics, log_dets = [], [], [], []
        for i, alpha in enumerate(alphas):
            last = consume and i == len(alphas) - 1
            A = p.matrix if last else p.matrix.copy()
            A[np.diag_indices_from(A)] += alpha
            L = cholesky_in_place(A)
            a = solve_cholesky(L, Z)
            log_det = 2.0 * np.log(np.diagonal(L)).sum()
            B_ii = inverse_diagonal_in_place(L)
            if p.q is not None:  # rounding must not leave anything along q
                pole = p.tau + alpha
                a -= np.outer(p.q, p.q @ a)
                B_ii = np.maximum(B_ii - p.q**2 / pole, 0.0)
                log_det += np.log((p.root**2).sum()) - np.log(pole)
            residuals.append(alpha * a / p.root[:, None])
            slacks.append(np.minimum(alpha * B_ii, 1.0))
            quadratics.append(np.einsum("nq,nq->q", Z, a))
            log_dets.append(log_det - 2.0 * np.log(p.root).sum())
        r, slack, quadratic, log_det = map(np.array, (residuals, slacks, quadratics, log_dets))
        alphas = np.asarray(alphas, dtype=float)
        return Fits(alphas, r, slack, quadratic, log_det, p.root**2, p.q is not None)


@dataclass(frozen=True)
class SpectralSolver(_DualSolver):
    r"""One eigendecomposition :math:`\tilde K = U D U^T` serves every ridge strength at O(n²) each.

    Directions of eigenvalue zero need no vectors: there the inverse is :math:`(I - U U^T - q q^T)/\alpha`.
    """

    values: np.ndarray  # (r,): eigenvalues, without the one of q; those left out are zero
    vectors: np.ndarray  # (n, r)
    name = "spectral"

    @classmethod
    def start(
        cls,
        K: np.ndarray,
        weight: np.ndarray,
        *,
        fit_intercept: bool,
        trusted: bool = True,
        tolerance: float = 1e-8,
        margin: float = 0.0,
    ) -> "SpectralSolver":
        """Decompose ``K``, which is overwritten.

        Eigenvalues above minus ``tolerance`` times the largest, minus ``margin``, are negative only by
        rounding and count as zero. Others raise, unless the matrix is ``trusted``, which spares the look.
        """
        p = prepare(K, weight, fit_intercept=fit_intercept)
        if not trusted and p.q is not None:  # positive or not, no eigenvalue may exceed that of q
            lift = float(np.linalg.norm(p.matrix))
            p = replace(p, matrix=rank_one_update(p.matrix, lift, p.q), tau=p.tau + lift)
        if trusted:
            values, vectors = positive_spectrum(p.matrix)
        else:
            values, vectors = eigh(p.matrix.T, driver="evd", overwrite_a=True, check_finite=False)
        if p.q is not None:  # q belongs to the largest eigenvalue by construction
            values, vectors = values[:-1], vectors[:, :-1]
        if not trusted:
            check_spectrum(values, tolerance, margin)
        return cls(p, np.maximum(values, 0.0), vectors)

    def fits(self, Y: np.ndarray, alphas: np.ndarray, *, consume: bool = False) -> Fits:
        """Solve for each of ``alphas``, by three matrix products for all of them."""
        p, U = self.prepared, self.vectors
        alphas = np.asarray(alphas, dtype=float)
        n, q, m = len(Y), Y.shape[1], len(alphas)
        Z = p.project(Y)
        z = U.T @ Z
        g = 1.0 / (self.values[:, None] + alphas)  # (r, m)
        B_ii = np.zeros((m, n))
        for columns in row_blocks(U.shape[1], 8.0 * n):
            B_ii += (U[:, columns] ** 2 @ g[columns]).T
        a = (U @ (g[:, :, None] * z[:, None, :]).reshape(-1, m * q)).reshape(n, m, q)
        quadratic = np.einsum("rm,rq->mq", g, z**2)
        log_det = np.log(self.values[:, None] + alphas).sum(axis=0) - 2.0 * np.log(p.root).sum()
        if p.q is not None:
            log_det += np.log((p.root**2).sum())
        null = n - int(p.q is not None) - len(self.values)
        if null:
            # what is tiny here is rounding error, but divided by a tiny alpha it would count: project twice,
            # and let no row have a share of the null space that is only the rest of a difference
            rest = Z - U @ z
            rest -= U @ (U.T @ rest)
            if p.q is not None:
                rest -= np.outer(p.q, p.q @ rest)
            outside = 1.0 - np.einsum("ij,ij->i", U, U) - (0.0 if p.q is None else p.q**2)
            outside[outside < 1e-14] = 0.0
            a += rest[:, None, :] / alphas[:, None]
            B_ii += outside / alphas[:, None]
            quadratic += np.einsum("nq,nq->q", rest, rest) / alphas[:, None]
            log_det += null * np.log(alphas)
        residuals = np.moveaxis(a, 0, 1) * alphas[:, None, None] / p.root[:, None]
        slack = np.minimum(alphas[:, None] * B_ii, 1.0)
        return Fits(alphas, residuals, slack, quadratic, log_det, p.root**2, p.q is not None)
