"""Pairwise distances, accurate for near-duplicates and safe from overflow."""

import numpy as np
from scipy.spatial.distance import cdist

from pellucid.linalg.blocks import for_each_block
from pellucid.linalg.sparse_rows import (
    is_sparse,
    sparse_manhattan_distances,
    sparse_pair,
    sparse_squared_distances,
)
from pellucid.linalg.wide import squared_distances_by_columns

# Up to here the direct sum of squares is about as fast as a matrix product, and it does not cancel.
_DIRECT_COLUMNS = 24
# From here on a scaled copy of the data would cost more memory than the kernel matrix.
_WIDE_COLUMNS = 8192
# A squared distance this small against ‖x‖² + ‖y‖² has lost more than six of its sixteen digits to
# cancellation.
_CANCELLED = 1e-6


def squared_distances(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Squared Euclidean distances ``D[i, j] = ‖x_i − y_j‖²`` in float64.

    Few columns are differenced directly. Many columns go through ``‖x‖² + ‖y‖² − 2 xᵀy`` on centred data,
    at the speed of a matrix product, and the entries that cancel there, those of near-duplicates, are
    differenced after all. So is everything should the product overflow.
    """
    X, Y = _pair(X, Y)
    if X.shape[1] > _DIRECT_COLUMNS and len(X) and len(Y):
        with np.errstate(over="ignore", invalid="ignore"):
            D = _expanded(X, Y)
            if np.isfinite(D.sum()):
                return D
    return _direct(X, Y, "sqeuclidean")


def scaled_squared_distances(X: np.ndarray, Y: np.ndarray, scale: float | np.ndarray) -> np.ndarray:
    """Squared distances of rows divided by ``scale``; very wide data are read by blocks, never copied."""
    few = sparse_pair(X, Y)
    if few is not None:
        S = few[0].scaled(scale)
        T = S if few[1] is few[0] else few[1].scaled(scale)
        return sparse_squared_distances(S, T, _CANCELLED)
    if X.shape[1] > _WIDE_COLUMNS:
        return squared_distances_by_columns(X, Y, np.broadcast_to(np.asarray(scale, float), X.shape[1:]))
    A = np.asarray(X, dtype=float) / scale
    return squared_distances(A, A if Y is X else np.asarray(Y, dtype=float) / scale)


def manhattan_distances(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Sums of absolute differences ``D[i, j] = Σ_c |x_ic − y_jc|`` in float64."""
    few = sparse_pair(X, Y)
    if few is not None:
        return sparse_manhattan_distances(*few)
    X, Y = _pair(X, Y)
    return _direct(X, Y, "cityblock")


def contract_squared_differences(M: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Sums ``Σ_ij M_ij (a_ic − a_jc)²`` for every column ``c`` of ``A``, by one matrix product for all.

    Parameters
    ----------
    M : ndarray of shape (n, n)
        Any square matrix.
    A : ndarray of shape (n, p)
        The columns.

    Returns
    -------
    sums : ndarray of shape (p,)

    Examples
    --------
    >>> M = np.array([[0.0, 2.0], [1.0, 0.0]])
    >>> contract_squared_differences(M, np.array([[0.0, 5.0], [3.0, 5.0]])).tolist()
    [27.0, 0.0]
    """
    if is_sparse(A):
        return np.concatenate([contract_squared_differences(M, block) for _, block in A.column_blocks()])
    A = A - A.mean(axis=0)  # differences do not mind, rounding error does
    totals = M.sum(axis=0) + M.sum(axis=1)
    return totals @ A**2 - 2.0 * np.einsum("ic,ic->c", A, M @ A)


def _pair(X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    same = Y is X
    X = np.ascontiguousarray(X, dtype=np.float64)
    return X, X if same else np.ascontiguousarray(Y, dtype=np.float64)


def _direct(X: np.ndarray, Y: np.ndarray, metric: str) -> np.ndarray:
    D = np.empty((len(X), len(Y)))

    def work(rows: slice) -> None:
        cdist(X[rows], Y, metric, out=D[rows])

    for_each_block(work, len(X), 8.0 * len(Y))
    return D


def _expanded(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    center = X.mean(axis=0)
    Xc = X - center
    Yc = Xc if Y is X else Y - center
    x_squares, y_squares = np.einsum("ij,ij->i", Xc, Xc), np.einsum("ij,ij->i", Yc, Yc)
    D = Xc @ Yc.T

    def work(rows: slice) -> None:
        size = x_squares[rows, None] + y_squares
        block = D[rows]
        block *= -2.0
        block += size
        size *= _CANCELLED
        cancelled = block < size
        if Y is X:
            np.fill_diagonal(cancelled[:, rows], False)
        i, j = np.nonzero(cancelled)
        if len(i) * X.shape[1] > block.size:  # gathering rows would cost more than differencing them all
            cdist(X[rows], Y, "sqeuclidean", out=block)
        elif len(i):
            block[i, j] = np.sum((X[rows][i] - Y[j]) ** 2, axis=1)

    for_each_block(work, len(X), 8.0 * len(Y))
    if Y is X:
        np.fill_diagonal(D, 0.0)
    return D
