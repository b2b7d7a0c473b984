r"""Products of very wide matrices, summed over blocks of columns.

The standardised matrix :math:`Z = (X - 1\,\mathrm{mean}^T)\,\mathrm{diag}(\mathrm{scale})^{-1}` is never
formed. All that n × n algebra needs from it are sums over blocks :math:`b` of columns:

.. math:: Z Z^T = \sum_b Z_b Z_b^T, \qquad (Z^T A)_b = Z_b^T A, \qquad Z C = \sum_b Z_b C_b .

``X`` may be an array of any numeric type, a memory map, or sparse. It is read once, a block at a time, and
never copied whole. A block is cast to float64 and standardised before it is multiplied, so float32 input
costs no accuracy beyond its own rounding: an element ``G_ij`` of ``Z Zᵀ`` is off by a few ``eps ‖z_i‖ ‖z_j‖``
with eps = 2e-16. Products in float32 would be twice as fast, but their errors of 1e-7 hide every singular
value of ``X`` below some 1e-3 of the largest. The width of blocks shows in the last digits only.

How columns are read and standardised, also sparse ones, is in :mod:`pellucid.linalg.column_blocks`.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from pellucid.linalg.blocks import for_each_block
from pellucid.linalg.column_blocks import column_blocks, filled, measure, readable, shares, standardised
from pellucid.linalg.factor import mirror

_ROUNDING = 64 * np.finfo(float).eps  # squared distances below this share of ‖x‖² + ‖y‖² are rounding error

Scale = Literal["std"] | np.ndarray | None


class ByColumns(NamedTuple):
    """A matrix over pairs of rows, and the standardisation that new rows need to be compared with them."""

    matrix: np.ndarray  # (n, n)
    mean: np.ndarray  # (p,): subtracted from the columns, zeros without centring
    scale: np.ndarray  # (p,): divides the columns, ones without scaling


def gram_by_columns(
    X: Any,
    *,
    weight: np.ndarray | None = None,
    center: bool = True,
    scale: Scale = None,
    budget_bytes: int | None = None,
) -> ByColumns:
    r"""Gram matrix ``G = Z Zᵀ`` of the standardised rows, in one pass over the columns.

    .. math:: Z_{ij} = (x_{ij} - \mathrm{mean}_j) / \mathrm{scale}_j, \qquad
              \mathrm{mean}_j = \sum_i \mathrm{share}_i\, x_{ij}, \qquad \mathrm{share} = s / \sum_i s_i .

    Parameters
    ----------
    X : array, memory map or sparse matrix of shape (n, p)
        Any numeric type. Read block by block.
    weight : ndarray of shape (n,), optional
        Weights ``s`` of the rows in means and standard deviations. They do not weight the products.
    center : bool
        Whether to subtract the weighted means. A column that is constant becomes exactly zero.
    scale : {"std"}, ndarray of shape (p,) or None
        ``"std"`` divides by weighted standard deviations, 1 for a constant column, found in the same pass.
    budget_bytes : int, optional
        Memory for one block. More of it makes longer reads; the result stays the same up to rounding. By
        default 256 MiB or half the size of ``G``, whichever is more, so blocks have 4096 columns at least.

    Returns
    -------
    ByColumns
        ``G`` of shape (n, n), symmetric to the last digit; ``mean`` and ``scale`` of shape (p,).

    Examples
    --------
    >>> G, mean, scale = gram_by_columns(np.array([[1.0, 0.0, 5.0], [3.0, 0.0, 5.0]]))
    >>> G
    array([[ 1., -1.],
           [-1.,  1.]])
    >>> mean
    array([2., 0., 5.])
    """
    X = readable(X)
    n, p = X.shape
    mean, spread = filled(None, _given(scale), p)
    G = np.zeros((n, n), order="F")
    for index, block in column_blocks(X, n, budget_bytes, keep_sparse=True):
        measure(block, index, weight, mean if center else None, spread if isinstance(scale, str) else None)
        G = standardised(block, mean[index], spread[index]).add_gram(G)
    mirror(G, from_upper=False)
    if center:
        # A mean far from zero is rounded in units of its own size, which leaves Z = Zc + 1 δᵀ with a small δ.
        # What δ adds to the products is a function of i plus a function of j, and centring G takes it away.
        share = shares(weight, n)
        G -= share @ G
        G -= (G @ share)[:, None]
        mirror(G, from_upper=False)
    return ByColumns(G.T, mean, spread)


def column_moments(
    X: Any,
    *,
    weight: np.ndarray | None = None,
    center: bool = True,
    scale: Scale = None,
    budget_bytes: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Means and scales of the columns, those of :func:`gram_by_columns`, without the products."""
    X = readable(X)
    mean, spread = filled(None, _given(scale), X.shape[1])
    if center or isinstance(scale, str):
        for index, block in column_blocks(X, X.shape[0], budget_bytes, keep_sparse=True):
            measure(
                block, index, weight, mean if center else None, spread if isinstance(scale, str) else None
            )
    return mean, spread


def squared_distances_by_columns(
    X: Any, *, weight: np.ndarray | None = None, scale: Scale = None, budget_bytes: int | None = None
) -> ByColumns:
    """Squared distances ``D_ij = G_ii + G_jj − 2 G_ij`` between scaled rows, in one pass over the columns.

    The Gram matrix ``G`` is that of centred columns: a mean changes no distance, but left in it would cost
    digits. ``D`` is symmetric and non-negative with a zero diagonal. Its error is a few
    ``eps (G_ii + G_jj)``, and what lies below that is set to zero, so equal rows have distance zero.
    Parameters are those of :func:`gram_by_columns`.
    """
    D, mean, spread = gram_by_columns(X, weight=weight, scale=scale, budget_bytes=budget_bytes)
    squares = D.diagonal().copy()
    _to_distances(D, squares, squares)
    np.fill_diagonal(D, 0.0)
    return ByColumns(D, mean, spread)


def cross_gram_by_columns(
    X_new: Any,
    X: Any,
    mean: np.ndarray | None = None,
    scale: np.ndarray | None = None,
    *,
    budget_bytes: int | None = None,
) -> np.ndarray:
    """Products ``Z_new Zᵀ`` of new rows with old ones, both standardised by the given mean and scale.

    Parameters
    ----------
    X_new, X : arrays, memory maps or sparse matrices of shape (m, p) and (n, p)
    mean, scale : ndarray of shape (p,), optional
        As returned by :func:`gram_by_columns` for ``X``.
    budget_bytes : int, optional
        Memory for one block of both.

    Returns
    -------
    C : ndarray of shape (m, n)
    """
    return _cross(X_new, X, mean, scale, budget_bytes)[0]


def cross_squared_distances_by_columns(
    X_new: Any,
    X: Any,
    mean: np.ndarray | None = None,
    scale: np.ndarray | None = None,
    *,
    budget_bytes: int | None = None,
) -> np.ndarray:
    """Squared distances (m, n) of new rows from old ones; parameters as in :func:`cross_gram_by_columns`."""
    D, new_squares, squares = _cross(X_new, X, mean, scale, budget_bytes)
    _to_distances(D, new_squares, squares)
    return D


def apply_transpose(
    X: Any,
    A: np.ndarray,
    mean: np.ndarray | None = None,
    scale: np.ndarray | None = None,
    *,
    out: np.ndarray | None = None,
    budget_bytes: int | None = None,
) -> np.ndarray:
    """Return ``Zᵀ A``, of shape (p, k) for ``A`` of shape (n, k), written block by block.

    ``A`` of shape (n,) gives (p,). ``out`` receives the result where it should not live in memory.
    """
    X = readable(X)
    n, p = X.shape
    A = np.asarray(A, dtype=np.float64)
    mean, scale = filled(mean, scale, p)
    out = np.empty((p, *A.shape[1:])) if out is None else out
    for index, block in column_blocks(X, n, budget_bytes, keep_sparse=True):
        out[index] = standardised(block, mean[index], scale[index]).transpose_dot(A)
    return out


def apply(
    X_new: Any,
    coef: np.ndarray,
    mean: np.ndarray | None = None,
    scale: np.ndarray | None = None,
    *,
    budget_bytes: int | None = None,
) -> np.ndarray:
    """Return ``Z_new coef``, of shape (m, k) for ``coef`` of shape (p, k), or (m,) for (p,)."""
    X_new = readable(X_new)
    m, p = X_new.shape
    mean, scale = filled(mean, scale, p)
    result = np.zeros((m, *coef.shape[1:]))
    for index, block in column_blocks(X_new, m, budget_bytes, keep_sparse=True):
        result += standardised(block, mean[index], scale[index]).dot(
            np.asarray(coef[index], dtype=np.float64)
        )
    return result


def _cross(
    X_new: Any, X: Any, mean: np.ndarray | None, scale: np.ndarray | None, budget_bytes: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ``Z_new Zᵀ`` and the sums of squares of the rows of either."""
    X_new, X = readable(X_new), readable(X)
    (m, p), n = X_new.shape, X.shape[0]
    mean, scale = filled(mean, scale, p)
    C, new_squares, squares = np.zeros((m, n)), np.zeros(m), np.zeros(n)
    keep_sparse = sparse.issparse(X_new) and sparse.issparse(X)
    for index, block in column_blocks(X, m + n, budget_bytes, keep_sparse=keep_sparse):
        new_block = X_new[:, index]
        if sparse.issparse(block):
            new_block = sparse.csc_array(new_block, dtype=np.float64)
        else:
            new_block = new_block.toarray() if sparse.issparse(new_block) else new_block
            new_block = np.array(new_block, dtype=np.float64)
        Z = standardised(block, mean[index], scale[index])
        Z_new = standardised(new_block, mean[index], scale[index])
        C += Z_new.cross(Z)
        new_squares += Z_new.squares()
        squares += Z.squares()
    return C, new_squares, squares


def _to_distances(C: np.ndarray, squares: np.ndarray, other_squares: np.ndarray) -> None:
    """Turn products into squared distances, in place; what rounding may have left of zero becomes zero."""

    def work(rows: slice) -> None:
        size = squares[rows, None] + other_squares
        D = C[rows]
        D *= -2.0
        D += size
        size *= _ROUNDING
        D[size >= D] = 0.0

    for_each_block(work, len(C), 16.0 * C.shape[1])


def _given(scale: Scale) -> np.ndarray | None:
    if isinstance(scale, str):
        if scale != "std":
            raise ValueError(f"scale is 'std', an array with one element per column, or None; got {scale!r}.")
        return None
    return scale
