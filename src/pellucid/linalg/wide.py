r"""Products of very wide matrices, summed over blocks of columns.

The standardised matrix :math:`Z = (X - 1\,\mathrm{mean}^T)\,\mathrm{diag}(\mathrm{scale})^{-1}` is never
formed. All that n × n algebra needs from it are sums over blocks :math:`b` of columns:

.. math:: Z Z^T = \sum_b Z_b Z_b^T, \qquad (Z^T A)_b = Z_b^T A, \qquad X C = \sum_b X_b C_b .

``X`` may be an array of any numeric type, or a memory map. It is read once, a block at a time, and never
copied whole. A block is cast to float64 and standardised before it is multiplied, so float32 input costs no
accuracy beyond its own rounding: an element ``G_ij`` of ``Z Zᵀ`` is off by a few ``eps ‖z_i‖ ‖z_j‖`` with
eps = 2e-16. Products in float32 would be twice as fast, but their errors of 1e-7 hide every singular value of
``X`` below some 1e-3 of the largest. The width of blocks shows in the last digits only.
"""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from scipy.linalg.blas import dsyrk

from pellucid.linalg.blocks import for_each_block, row_blocks
from pellucid.linalg.factor import mirror
from pellucid.linalg.scale import column_scale
from pellucid.linalg.sparse_rows import is_sparse

# 256 MiB: blocks of 900 rows are then 37 000 columns wide. A memory map in C order is read in runs as long as
# a block is wide, and a run of float32 should span the 128 KiB that systems read ahead.
_BUDGET = 1 << 28
_ROUNDING = 64 * np.finfo(float).eps  # squared distances below this share of ‖x‖² + ‖y‖² are rounding error


def gram_by_columns(
    X: np.ndarray, *, weight: np.ndarray | None = None, center: bool = True, scale: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Gram matrix ``Z Zᵀ`` of the standardised rows, and the means, in one pass over the columns.

    Parameters
    ----------
    X : ndarray or memory map of shape (n, p)
        Any numeric type. Read block by block.
    weight : ndarray of shape (n,), optional
        Weights of the rows in the means. They do not weight the products.
    center : bool
        Whether to subtract the weighted means. A column that is constant becomes exactly zero.
    scale : ndarray of shape (p,), optional
        Divides the columns.

    Returns
    -------
    G : ndarray of shape (n, n)
        Symmetric to the last digit.
    mean : ndarray of shape (p,)
        What was subtracted from the columns; zeros without centring.

    Examples
    --------
    >>> G, mean = gram_by_columns(np.array([[1.0, 0.0, 5.0], [3.0, 0.0, 5.0]]))
    >>> G
    array([[ 1., -1.],
           [-1.,  1.]])
    >>> mean
    array([2., 0., 5.])
    """
    n, p = X.shape
    share, mean = shares(weight, n), np.zeros(p)
    G = np.zeros((n, n), order="F")
    for columns, Z in _column_blocks(X, n):
        if center:
            mean[columns] = column_mean(Z, share)
        _standardise(Z, columns, mean, scale)
        # added to the lower triangle in place: half the work of a product, and no second n × n matrix
        A, trans = (Z.T, 1) if Z.flags.c_contiguous else (Z, 0)
        G = dsyrk(1.0, A, beta=1.0, c=G, trans=trans, lower=1, overwrite_c=1)
    mirror(G, from_upper=False)
    if center:
        # A mean far from zero is rounded in units of its own size, which leaves Z = Zc + 1 δᵀ with a small δ.
        # What δ adds to the products is a function of i plus a function of j, and centring G takes it away.
        G -= share @ G
        G -= (G @ share)[:, None]
        mirror(G, from_upper=False)
    return G.T, mean


def squared_distances_by_columns(X: np.ndarray, Y: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Squared distances ``‖z_i‖² + ‖z_j‖² − 2 z_iᵀz_j`` between scaled rows, of shape (len(X), len(Y)).

    Their error is a few ``eps (‖z_i‖² + ‖z_j‖²)``, and what lies below that is set to zero, so equal rows
    have distance zero. Within one set of rows (``Y is X``) columns are centred: a mean changes no distance,
    but left in it would cost digits. The matrix is then symmetric with a zero diagonal.
    """
    if Y is X:
        D, _ = gram_by_columns(X, scale=scale)
        x_squares = y_squares = D.diagonal().copy()
    else:
        D, x_squares, y_squares = np.zeros((len(X), len(Y))), np.zeros(len(X)), np.zeros(len(Y))
        for columns, B in _column_blocks(Y, len(X) + len(Y)):
            A = np.array(X[:, columns], dtype=np.float64)
            _standardise(A, columns, None, scale)
            _standardise(B, columns, None, scale)
            D += A @ B.T
            x_squares += np.einsum("ij,ij->i", A, A)
            y_squares += np.einsum("ij,ij->i", B, B)

    def work(rows: slice) -> None:
        size = x_squares[rows, None] + y_squares
        block = D[rows]
        block *= -2.0
        block += size
        size *= _ROUNDING
        block[size >= block] = 0.0

    for_each_block(work, len(D), 16.0 * D.shape[1])
    if Y is X:
        np.fill_diagonal(D, 0.0)
    return D


def column_moments(X: np.ndarray, weight: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Weighted means and standard deviations of the columns; 1 for the deviation of a constant one."""
    n, p = X.shape
    if is_sparse(X):
        return X.moments(shares(weight, n))
    share, mean, deviation = shares(weight, n), np.empty(p), np.empty(p)
    for columns, block in _column_blocks(X, n):
        mean[columns] = column_mean(block, share)
        part = deviation[columns]

        def work(some: slice, block: np.ndarray = block, part: np.ndarray = part) -> None:
            part[some] = column_scale(block[:, some], share)

        for_each_block(work, block.shape[1], 8.0 * n, budget=1 << 20)
    return mean, deviation


def apply_transpose(X: Any, A: np.ndarray, mean: np.ndarray, scale: np.ndarray | None) -> np.ndarray:
    """Return ``Zᵀ A``, of shape (p, k) for ``A`` of shape (n, k), or (p,) for (n,)."""
    if is_sparse(X):
        return X.shifted(mean).scaled(1.0 if scale is None else scale).transposed_times(A)
    out = np.empty((X.shape[1], *A.shape[1:]))
    for columns, Z in _column_blocks(X, len(X)):
        _standardise(Z, columns, mean, scale)
        out[columns] = Z.T @ A
    return out


def apply(X: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """Return ``X coef``, of shape (n, k) for ``coef`` of shape (p, k), or (n,) for (p,)."""
    if is_sparse(X):
        return X @ coef
    out = np.zeros((len(X), *coef.shape[1:]))
    for columns, block in _column_blocks(X, len(X)):
        out += block @ coef[columns]
    return out


def shares(weight: np.ndarray | None, n: int) -> np.ndarray:
    """Weights of the rows that sum to one."""
    return np.full(n, 1.0 / n) if weight is None else weight / np.sum(weight)


def column_mean(block: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Weighted means of the columns, exact for constant ones."""
    low = block.min(axis=0)
    return np.where(low == block.max(axis=0), low, share @ block)


def _column_blocks(X: np.ndarray, n_rows: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield slices of columns, and those columns as float64, the caller's until the next step.

    ``n_rows`` are the rows that live in memory during a step, those of ``X`` and of what goes with it.
    """
    buffer = np.empty(0)
    order: Literal["C", "F"] = "F" if X.flags.f_contiguous and not X.flags.c_contiguous else "C"
    for columns in row_blocks(X.shape[1], 8.0 * n_rows, max(_BUDGET, 4 * n_rows**2)):
        values = X[:, columns]
        if buffer.size < values.size:  # the first block is the widest
            buffer = np.empty(values.size)
        block = buffer[: values.size].reshape(values.shape, order=order)
        block[...] = values
        yield columns, block


def _standardise(
    block: np.ndarray, columns: slice, mean: np.ndarray | None, scale: np.ndarray | None
) -> None:
    if mean is not None:
        block -= mean[columns]
    if scale is not None:
        block /= scale[columns]
