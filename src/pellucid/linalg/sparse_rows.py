r"""Rows of a sparse table, shifted, scaled and weighted without ever being filled in.

A matrix here is :math:`Z = S - u t^T` with a sparse :math:`S`. Scaling its columns scales :math:`S` and
:math:`t`, weighting its rows scales :math:`S` and :math:`u`, and centring only changes :math:`t`: zeros of
:math:`S` stay. All that kernels and column spaces ask of :math:`Z` follows from products with :math:`S` and
corrections of rank one,

.. math:: Z V = S V - u\,(t^T V), \qquad Z^T V = S^T V - t\,(u^T V), \qquad
          Z Z'^T = S S'^T - (S t') u'^T - u\,(S' t)^T + (t^T t')\, u u'^T .
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeGuard

import numpy as np
from scipy import sparse

from pellucid.linalg.blocks import row_blocks
from pellucid.linalg.counts import count_products

_EXACT = 1e-14  # deviations below this share of a column's largest value are rounding error


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows of ``S − u tᵀ``, with as much of an array as kernels and models ask of one.

    Examples
    --------
    >>> rows = SparseRows.of(sparse.csr_array(np.array([[0.0, 2.0], [4.0, 0.0]])))
    >>> len(rows), rows[:1].shape, (rows.shifted(np.array([2.0, 1.0])) @ np.ones(2)).tolist()
    (2, (1, 2), [-1.0, 1.0])
    """

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    n_columns: int
    u: np.ndarray | None = None  # (n,): None for ones
    t: np.ndarray | None = None  # (p,): None for zeros

    @classmethod
    def of(cls, X: Any) -> SparseRows:
        """Rows of any sparse matrix, or of a dense one; entries given twice are added up."""
        S = sparse.csr_array(X)
        if not S.has_canonical_format:
            S = S.copy()
            S.sum_duplicates()
        return cls._with(S)

    @classmethod
    def _with(cls, S: sparse.csr_array) -> SparseRows:
        return cls(S.data, S.indices, S.indptr, int(S.shape[1]))

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """The sparse part ``S``, in float64; what is damaged raises an error."""
        data = self.data.astype(float, copy=False)
        S = sparse.csr_array((data, self.indices, self.indptr), shape=(len(self), self.n_columns))
        S.check_format(full_check=True)
        return S

    # -------------------------------------------------- what an array would have
    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self), self.n_columns

    @property
    def ndim(self) -> int:
        """Two."""
        return 2

    @property
    def size(self) -> int:
        """Entries that are stored."""
        return len(self.data)

    @property
    def dtype(self) -> np.dtype:
        """Type of the entries as they came; products are in float64."""
        return self.data.dtype

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key != "matrix"}

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise TypeError(
            "This needs a dense table, and the rows are sparse: pass X.toarray() where memory allows, to fit "
            "and to predict."
        )

    def __getitem__(self, key: Any) -> SparseRows:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        if isinstance(columns, slice) and columns == slice(None) and isinstance(rows, slice):
            if rows == slice(None):
                return self
            if rows.step in (None, 1):  # neighbouring rows share the entries
                return self._slice(*rows.indices(len(self))[:2])
        part = self.matrix[rows]
        if not (isinstance(columns, slice) and columns == slice(None)):
            part = part[:, columns]
        part.sort_indices()
        u = None if self.u is None else self.u[rows]
        data = part.data.astype(self.dtype, copy=False)
        return replace(SparseRows._with(part), data=data, u=u, t=None if self.t is None else self.t[columns])

    def _slice(self, start: int, stop: int) -> SparseRows:
        stop = max(start, stop)
        first, last = self.indptr[start], self.indptr[stop]
        return replace(
            self,
            data=self.data[first:last],
            indices=self.indices[first:last],
            indptr=self.indptr[start : stop + 1] - first,
            u=None if self.u is None else self.u[start:stop],
        )

    def columns(self) -> Iterator[np.ndarray]:
        """The columns of the sparse part, filled in, one after another."""
        S = self.matrix.tocsc()
        for start, stop in pairwise(S.indptr.tolist()):
            column = np.zeros(len(self))
            column[S.indices[start:stop]] = S.data[start:stop]
            yield column

    def copy(self, order: str = "K") -> SparseRows:
        """A copy that shares nothing with the caller's matrix."""
        return replace(self, data=self.data.copy(), indices=self.indices.copy(), indptr=self.indptr.copy())

    # ----------------------------------------------------------- S − u tᵀ, moved
    def scaled(self, scale: float | np.ndarray) -> SparseRows:
        """Columns divided by ``scale``."""
        per_column = np.broadcast_to(np.asarray(scale, dtype=float), (self.n_columns,))
        data = self.data / per_column[self.indices]
        return replace(self, data=data, t=None if self.t is None else self.t / per_column)

    def shifted(self, by: float | np.ndarray) -> SparseRows:
        """Rows less ``by``, one number for each column."""
        if not np.any(by):
            return self
        t = np.broadcast_to(np.asarray(by, dtype=float), (self.n_columns,))
        return replace(self, t=t if self.t is None else self.t + t)

    def weighted(self, root: np.ndarray) -> SparseRows:
        """Rows times one number each."""
        root = np.asarray(root, dtype=float).ravel()
        data = self.data * np.repeat(root, np.diff(self.indptr))
        return replace(self, data=data, u=root if self.u is None else self.u * root)

    # -------------------------------------------------------------------- products
    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        out: np.ndarray = np.asarray(self.matrix @ V)
        return out if self.t is None else out - np.multiply.outer(self._left, self.t @ V)

    def transposed_times(self, V: np.ndarray) -> np.ndarray:
        """Return ``Zᵀ V``."""
        out: np.ndarray = np.asarray(self.matrix.T @ V)
        return out if self.t is None else out - np.multiply.outer(self.t, self._left @ V)

    def products(self, other: SparseRows) -> np.ndarray:
        """Return ``Z Z'ᵀ``, dense, of shape (n, m)."""
        out = count_products(self.matrix, self.matrix if other is self else other.matrix)
        if self.t is not None:
            out -= np.multiply.outer(self._left, other.matrix @ self.t)
        if other.t is not None:
            out -= np.multiply.outer(self.matrix @ other.t, other._left)
        if self.t is not None and other.t is not None:
            out += float(self.t @ other.t) * np.multiply.outer(self._left, other._left)
        return out

    def column_products(self) -> np.ndarray:
        """Return ``Zᵀ Z``, dense, of shape (p, p)."""
        S = self.matrix.T.tocsr()
        out = count_products(S, S)
        if self.t is not None:
            v = self.matrix.T @ self._left
            out -= np.outer(self.t, v) + np.outer(v, self.t)
            out += float(self._left @ self._left) * np.outer(self.t, self.t)
        return out

    def squares(self) -> np.ndarray:
        """Squared norms of the rows, of shape (n,)."""
        S = self.matrix
        out = np.asarray(S.power(2) @ np.ones(self.n_columns))
        if self.t is not None:
            out += self._left * (self._left * float(self.t @ self.t) - 2.0 * (S @ self.t))
        return np.maximum(out, 0.0)

    @property
    def _left(self) -> np.ndarray:
        return np.ones(len(self)) if self.u is None else self.u

    # --------------------------------------------------------------------- columns
    def moments(self, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means and standard deviations of the columns; 1 for the deviation of a constant one.

        The deviation of a zero is that of its column's mean, so zeros need no look.
        """
        S = self.matrix
        mean = np.asarray(S.T @ share)
        most = np.asarray(abs(S).max(axis=0).toarray()).ravel()
        unit = np.where(most > 0, most, 1.0)
        off = (S.data - mean[self.indices]) / unit[self.indices]
        own = share[np.repeat(np.arange(len(self)), np.diff(self.indptr))]
        total: np.ndarray = np.bincount(self.indices, own * off**2, self.n_columns).astype(float)
        empty = 1.0 - np.bincount(self.indices, own, self.n_columns)  # share of the rows without an entry
        filled = np.bincount(self.indices, minlength=self.n_columns) == len(self)
        total += np.where(filled, 0.0, np.maximum(empty, 0.0)) * (mean / unit) ** 2
        reach: np.ndarray = np.where(filled, 0.0, np.abs(mean) / unit)
        np.maximum.at(reach, self.indices, np.abs(off))
        deviation = np.sqrt(total) * unit
        return mean, np.where((reach <= _EXACT) | (deviation == 0), 1.0, deviation)

    def column_blocks(self, budget: int = 1 << 25) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield slices of columns and those columns of ``Z`` filled in, a few at a time."""
        S = self.matrix.tocsc()
        for columns in row_blocks(self.n_columns, 8.0 * max(len(self), 1), budget):
            block = S[:, columns].toarray()
            if self.t is not None:
                block -= np.multiply.outer(self._left, self.t[columns])
            yield columns, block


def is_sparse(X: object) -> TypeGuard[SparseRows]:
    """Whether rows are sparse, for a type checker too that takes them for an array."""
    return isinstance(X, SparseRows)


def sparse_pair(X: Any, Y: Any) -> tuple[SparseRows, SparseRows] | None:
    """Both sets of rows as sparse ones if either is, else ``None``."""
    if not isinstance(X, SparseRows) and not isinstance(Y, SparseRows):
        return None
    first = X if isinstance(X, SparseRows) else SparseRows.of(X)
    return first, first if Y is X else Y if isinstance(Y, SparseRows) else SparseRows.of(Y)


def sparse_squared_distances(X: SparseRows, Y: SparseRows, cancelled: float) -> np.ndarray:
    """Squared distances of rows by products; those below a share ``cancelled`` are differenced after all."""
    x, y = X.squares(), Y.squares()
    D = X.products(Y)
    for rows in row_blocks(len(X), 8.0 * 3 * max(len(Y), 1)):
        size = x[rows, None] + y
        block = D[rows]
        block *= -2.0
        block += size
        close = block < cancelled * size
        if Y is X:
            np.fill_diagonal(close[:, rows], False)
        i, j = np.nonzero(close)
        entries = float(len(X.data) + len(Y.data)) / max(len(X) + len(Y), 1)
        for some in row_blocks(len(i), 64.0 * max(entries, 1.0)):
            part = X.matrix[i[some] + rows.start] - Y.matrix[j[some]]
            block[i[some], j[some]] = part.power(2).sum(axis=1)
    if Y is X:
        np.fill_diagonal(D, 0.0)
    return D


def sparse_manhattan_distances(X: SparseRows, Y: SparseRows) -> np.ndarray:
    """Sums of absolute differences, a block of columns of both at a time."""
    from scipy.spatial.distance import cdist

    D = np.zeros((len(X), len(Y)))
    S, T = X.matrix.tocsc(), Y.matrix.tocsc()
    for columns in row_blocks(X.n_columns, 8.0 * max(len(X) + len(Y), 1)):
        D += cdist(S[:, columns].toarray(), T[:, columns].toarray(), "cityblock")
    return D
