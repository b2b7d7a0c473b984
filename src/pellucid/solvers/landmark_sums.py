r"""Sums over rows that determine a ridge on features of landmarks, to which those of other rows can be added.

With features :math:`z_i = T^T k(C, x_i)`, weights :math:`s` and targets :math:`y`,

.. math:: S = \sum_i s_i, \quad \sum_i s_i z_i, \quad \sum_i s_i y_i, \quad \sum_i s_i z_i z_i^T, \quad
          \sum_i s_i z_i y_i^T, \quad \sum_i s_i y_i^2 .

They are not centred, so that sums of blocks that know nothing of each other can be added. Targets should be
nearly centred; those of a kernel's features that are not lose no more than the features have in common.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import blas

from pellucid.linalg import row_blocks, times_upper
from pellucid.linalg.factor import mirror

Columns = Callable[[np.ndarray], np.ndarray]  # from numbers of rows to k(x, C) of shape (k, m), C-contiguous
_BLOCK_BYTES = 1 << 23  # larger blocks leave the cache, and are new pages each time
_RECENT = 8192  # rows whose products are summed up in single precision


def blocks_of(n_rows: int, m: int) -> list[slice]:
    """Blocks of rows for features of ``m`` landmarks."""
    return list(row_blocks(n_rows, 8.0 * m, _BLOCK_BYTES))


@dataclass(frozen=True)
class LandmarkSums:
    """Sums over some rows."""

    n_rows: int
    weight: float  # S
    observations: float  # that the rows stand for: one each, or more where a weight counts more
    z: np.ndarray  # (m,)
    y: np.ndarray  # (q,)
    zz: np.ndarray  # (m, m)
    zy: np.ndarray  # (m, q)
    yy: np.ndarray  # (q,)

    @classmethod
    def of(
        cls,
        columns: Columns,
        transfer: np.ndarray,
        Y: np.ndarray,
        weight: np.ndarray,
        step: Callable[[], None] = lambda: None,
    ) -> Self:
        """Walk rows once, in blocks, in the precision of the columns."""
        n, m = len(Y), len(transfer)
        kind = columns(np.arange(min(1, n))).dtype if n else np.dtype(float)
        T = np.asfortranarray(transfer, dtype=kind)
        ones = bool(np.all(weight == 1.0))
        zz, zy, z = np.zeros((m, m), order="F"), np.zeros((m, Y.shape[1])), np.zeros(m)
        recent: np.ndarray = zz if kind == np.float64 else np.zeros((m, m), dtype=kind, order="F")
        squares = blas.dsyrk if kind == np.float64 else blas.ssyrk
        n_recent = 0
        for block in blocks_of(n, m):
            Z = times_upper(columns(np.arange(block.start, block.stop)), T)
            root = np.sqrt(weight[block]).astype(kind)
            z += (weight[block].astype(kind) @ Z).astype(float)
            if not ones:
                Z *= root[:, None]
            zy += Z.T @ (root[:, None] * Y[block]).astype(kind)
            recent = squares(1.0, Z.T, beta=1.0, c=recent, lower=1, overwrite_c=1)
            n_recent += len(Z)
            if kind == np.float64:
                zz = recent
            elif n_recent > _RECENT or block.stop == n:
                zz += recent
                recent[...] = 0.0
                n_recent = 0
            step()
        mirror(zz, from_upper=False)
        counted = float(np.maximum(1.0, weight).sum())
        return cls(n, float(weight.sum()), counted, z, weight @ Y, zz, zy, weight @ Y**2)

    def plus(self, other: Self) -> Self:
        """Sums over these rows and others."""
        return type(self)(
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            self.observations + other.observations,
            self.z + other.z,
            self.y + other.y,
            self.zz + other.zz,
            self.zy + other.zy,
            self.yy + other.yy,
        )


@dataclass(frozen=True)
class ResidualSums:
    """Sums over the residuals ``r`` of coefficients, in float64: the gradient of the objective there."""

    products: np.ndarray  # (m, q): Σ s k(C, x) r
    total: np.ndarray  # (q,): Σ s r
    squares: np.ndarray  # (q,): Σ s r²

    @classmethod
    def of(
        cls, columns: Columns, dual: np.ndarray, level: np.ndarray, Y: np.ndarray, weight: np.ndarray
    ) -> Self:
        """Residuals of ``k(x, C) dual + level``."""
        products, total, squares = np.zeros_like(dual), np.zeros_like(level), np.zeros_like(level)
        for block in blocks_of(len(Y), len(dual)):
            K = columns(np.arange(block.start, block.stop))
            r = Y[block] - K @ dual - level
            sr = weight[block, None] * r
            products += K.T @ sr
            total += sr.sum(axis=0)
            squares += np.einsum("nq,nq->q", sr, r)
        return cls(products, total, squares)

    def plus(self, other: Self) -> Self:
        """Sums over these rows and others."""
        return type(self)(
            self.products + other.products, self.total + other.total, self.squares + other.squares
        )
