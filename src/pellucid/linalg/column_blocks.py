"""Blocks of columns ``Z_b`` of a standardised matrix: how they are read, measured, and multiplied.

Sparse columns with few stored entries stay sparse: with ``S = X / scale`` and ``m = mean / scale`` the
products are those of ``Z = S − 1 mᵀ``, expanded. Fuller columns, where this would cancel, are made dense in
blocks.
"""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.linalg.blas import dsyrk

from pellucid.linalg.blocks import for_each_block, row_blocks
from pellucid.linalg.scale import column_scale, power_of_two

# 256 MiB: blocks of 900 rows are then 37 000 columns wide. A memory map in C order is read in runs as long as
# a block is wide, and a run of float32 should span the 128 KiB that systems read ahead.
_BUDGET = 1 << 28
_FULL = 0.1  # a sparse column with a larger share of stored entries is treated as dense


def readable(X: Any) -> Any:
    """``X`` as something whose columns can be sliced without copying the rest."""
    if sparse.issparse(X):
        return X if X.format in ("csr", "csc") else X.tocsr()
    return np.asarray(X)


def column_blocks(
    X: Any, n_rows: int, budget_bytes: int | None, *, keep_sparse: bool
) -> Iterator[tuple[slice | np.ndarray, Any]]:
    """Yield column numbers and those columns in float64, dense or sparse, the caller's until the next step.

    ``n_rows`` are the rows that live in memory during a step, those of ``X`` and of what goes with it.
    """
    p = X.shape[1]
    budget = max(_BUDGET, 4 * n_rows**2) if budget_bytes is None else budget_bytes
    if sparse.issparse(X) and keep_sparse:
        # a stored entry takes 12 to 16 bytes, and there are two copies of it
        for columns in row_blocks(p, 32.0 * X.nnz / max(p, 1), budget):
            yield from _thin_and_full(X, columns, n_rows, budget)
        return
    buffer = np.empty(0)
    order: Literal["C", "F"] = "C"
    if isinstance(X, np.ndarray) and X.flags.f_contiguous and not X.flags.c_contiguous:
        order = "F"
    for columns in row_blocks(p, 8.0 * n_rows, budget):
        values = X[:, columns].toarray() if sparse.issparse(X) else X[:, columns]
        if buffer.size < values.size:  # the first block is the widest
            buffer = np.empty(values.size)
        block = buffer[: values.size].reshape(values.shape, order=order)
        block[...] = values
        yield columns, block


def _thin_and_full(
    X: Any, columns: slice, n_rows: int, budget: int
) -> Iterator[tuple[slice | np.ndarray, Any]]:
    """Yield the thin columns of a sparse block together, and the full ones made dense within the budget."""
    block = sparse.csc_array(X[:, columns], dtype=np.float64, copy=True)
    block.sum_duplicates()
    is_full = np.diff(block.indptr) > _FULL * X.shape[0]
    numbers = np.arange(columns.start, columns.stop)
    yield numbers[~is_full], block[:, ~is_full]
    full = np.flatnonzero(is_full)
    for part in row_blocks(len(full), 8.0 * n_rows, budget):
        yield numbers[full[part]], block[:, full[part]].toarray()


# ------------------------------------------------------------------ columns that can be multiplied


class _Dense:
    """Columns ``Z_b`` of the standardised matrix."""

    def __init__(self, Z: np.ndarray) -> None:
        self.Z = Z

    def add_gram(self, G: np.ndarray) -> np.ndarray:
        """Add to the lower triangle, in place: half the work of a product, and no second n × n matrix."""
        if self.Z.flags.c_contiguous:
            return dsyrk(1.0, self.Z.T, beta=1.0, c=G, trans=1, lower=1, overwrite_c=1)
        return dsyrk(1.0, self.Z, beta=1.0, c=G, trans=0, lower=1, overwrite_c=1)

    def cross(self, other: Any) -> np.ndarray:
        return self.Z @ other.Z.T

    def squares(self) -> np.ndarray:
        return np.einsum("ij,ij->i", self.Z, self.Z)

    def dot(self, C: np.ndarray) -> np.ndarray:
        return self.Z @ C

    def transpose_dot(self, A: np.ndarray) -> np.ndarray:
        return self.Z.T @ A


class _Thin:
    """The same for sparse columns: ``Z_b = S − 1 mᵀ``."""

    def __init__(self, S: Any, m: np.ndarray) -> None:
        self.S, self.m = S, m

    def add_gram(self, G: np.ndarray) -> np.ndarray:
        G += self.cross(self)
        return G

    def cross(self, other: Any) -> np.ndarray:
        C = (self.S @ other.S.T).toarray()
        C -= (self.S @ self.m)[:, None]
        C -= other.S @ self.m - self.m @ self.m
        return C

    def squares(self) -> np.ndarray:
        return self.S.multiply(self.S).sum(axis=1) - 2.0 * (self.S @ self.m) + self.m @ self.m

    def dot(self, C: np.ndarray) -> np.ndarray:
        return self.S @ C - self.m @ C

    def transpose_dot(self, A: np.ndarray) -> np.ndarray:
        return self.S.T @ A - np.multiply.outer(self.m, A.sum(axis=0))


def standardised(block: Any, mean: np.ndarray, scale: np.ndarray) -> _Dense | _Thin:
    """Standardise float64 columns: dense ones in place, sparse ones without filling them."""
    if sparse.issparse(block):
        return _Thin(block @ sparse.diags_array(1.0 / scale), mean / scale)
    block -= mean
    block /= scale
    return _Dense(block)


# ------------------------------------------------------------------ means and scales


def measure(
    block: Any,
    index: slice | np.ndarray,
    weight: np.ndarray | None,
    mean: np.ndarray | None,
    scale: np.ndarray | None,
) -> None:
    """Write means and standard deviations of a block into ``mean`` and ``scale``, where given."""
    share = shares(weight, block.shape[0])
    if mean is not None:
        mean[index] = _mean(block, share)
    if scale is not None:
        scale[index] = _deviation(block, share)


def shares(weight: np.ndarray | None, n: int) -> np.ndarray:
    """Weights of the rows that sum to one."""
    return np.full(n, 1.0 / n) if weight is None else weight / np.sum(weight)


def _mean(block: Any, share: np.ndarray) -> np.ndarray:
    """Weighted means of the columns, exact for constant ones."""
    mean = share @ block
    if sparse.issparse(block):
        return mean
    low = block.min(axis=0)
    return np.where(low == block.max(axis=0), low, mean)


def _deviation(block: Any, share: np.ndarray) -> np.ndarray:
    """Weighted standard deviations of the columns, 1 for constant ones, safe from overflow."""
    if sparse.issparse(block):
        return _thin_deviation(block, share)
    deviation = np.empty(block.shape[1])

    def work(columns: slice) -> None:
        deviation[columns] = column_scale(block[:, columns], share)

    for_each_block(work, block.shape[1], 8.0 * len(block), budget=1 << 20)
    return deviation


def _thin_deviation(block: Any, share: np.ndarray) -> np.ndarray:
    """Return ``√(Σ share (x − m)² + (1 − Σ share) m²)``, with sums over stored entries."""
    size = power_of_two(np.ravel(abs(block).max(axis=0).toarray()))
    unit = block @ sparse.diags_array(1.0 / size)
    mean = share @ unit
    column = np.repeat(np.arange(block.shape[1]), np.diff(unit.indptr))
    weight = share[unit.indices]
    squares = np.bincount(column, weight * (unit.data - mean[column]) ** 2, minlength=len(size))
    absent = np.maximum(1.0 - np.bincount(column, weight, minlength=len(size)), 0.0)
    deviation = np.sqrt(squares + absent * mean**2) * size
    return np.where(deviation == 0, 1.0, deviation)


def filled(mean: np.ndarray | None, scale: np.ndarray | None, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and scale of p columns in float64, zeros and ones where not given."""
    mean = np.zeros(p) if mean is None else np.asarray(mean, dtype=np.float64)
    return mean, np.ones(p) if scale is None else np.asarray(scale, dtype=np.float64)
