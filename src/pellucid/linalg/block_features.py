r"""Features of rows that are made a block at a time, whenever they are needed, and never stored together.

Features are :math:`Z = K T` with columns :math:`K` of a kernel matrix, at landmarks, and a small matrix
:math:`T`. Products with vectors take :math:`T` to them, :math:`Z V = K (T V)` and
:math:`Z^T V = T^T (K^T V)`, so that a pass over the rows costs little more than making :math:`K`. They are in
float64. Weighted sums of squares and products may be in float32: they steer the steps of a solver, while
gradients say where these end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import blas

from pellucid.linalg.blocks import row_blocks
from pellucid.linalg.factor import mirror
from pellucid.linalg.triangular import times_upper

_BYTES = 1 << 26  # of a block, in float64
_RECENT = 8192  # rows whose products are summed up in single precision

Columns = Callable[[np.ndarray], np.ndarray]  # from numbers of rows to (k, m)


@dataclass(frozen=True, eq=False)
class BlockFeatures:
    """Features ``K T`` of some rows.

    Examples
    --------
    >>> K = np.arange(6.0).reshape(3, 2)
    >>> Z = BlockFeatures(
    ...     lambda rows: K[rows], None, np.array([[1.0, 1.0], [0.0, 1.0]]), np.arange(3), 5.0
    ... )
    >>> (Z @ np.array([1.0, 0.0])).tolist(), Z.transposed_times(np.ones(3)).tolist()
    ([0.0, 2.0, 4.0], [6.0, 15.0])
    """

    columns: Columns
    coarse: Columns | None  # the same in float32, where the kernel has it
    transfer: np.ndarray  # (m, r): T; upper triangular if square
    rows: np.ndarray  # (n,): numbers of the rows that these are
    largest: float  # a bound on the size of features

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return len(self.rows), self.transfer.shape[1]

    def __getitem__(self, rows: Any) -> BlockFeatures:
        return replace(self, rows=self.rows[rows])

    def _blocks(self) -> Iterator[slice]:
        return row_blocks(len(self.rows), 8.0 * 2 * len(self.transfer), _BYTES)

    def stored(self) -> np.ndarray:
        """The features themselves, of shape (n, r)."""
        out = np.empty(self.shape)
        for block in self._blocks():
            out[block] = self.columns(self.rows[block]) @ self.transfer
        return out

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        W = self.transfer @ V
        out = np.empty((len(self), *V.shape[1:]))
        for block in self._blocks():
            out[block] = self.columns(self.rows[block]) @ W
        return out

    def transposed_times(self, V: np.ndarray) -> np.ndarray:
        """Return ``Zᵀ V``."""
        total = np.zeros((len(self.transfer), *V.shape[1:]))
        for block in self._blocks():
            total += self.columns(self.rows[block]).T @ V[block]
        return self.transfer.T @ total

    def weighted_products(self, w: np.ndarray, *, center: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return ``Σ w (z − z̄)(z − z̄)ᵀ`` and the weighted means ``z̄``, zero without centring."""
        columns, kind = (self.columns, np.float64) if self.coarse is None else (self.coarse, np.float32)
        r, T = self.transfer.shape[1], np.asfortranarray(self.transfer, dtype=kind)
        squares = blas.dsyrk if kind is np.float64 else blas.ssyrk
        A, sums = np.zeros((r, r), order="F"), np.zeros(r)
        recent: np.ndarray = A if kind is np.float64 else np.zeros((r, r), dtype=kind, order="F")
        n_recent = 0
        for block in self._blocks():
            Z = times_upper(np.ascontiguousarray(columns(self.rows[block])), T)
            s = w[block].astype(kind)
            sums += s @ Z
            Z *= np.sqrt(s)[:, None]
            recent = squares(1.0, Z.T, beta=1.0, c=recent, lower=1, overwrite_c=1)
            n_recent += len(s)
            if kind is np.float64:
                A = recent
            elif n_recent > _RECENT or block.stop >= len(self):
                A += recent
                recent[...] = 0.0
                n_recent = 0
        mirror(A, from_upper=False)
        if not center:
            return A, np.zeros(r)
        mean = sums / w.sum()
        A -= np.outer(mean, sums)
        return A, mean
