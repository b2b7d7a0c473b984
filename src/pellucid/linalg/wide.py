r"""Products of very wide matrices, summed over blocks of columns.

The standardised matrix :math:`Z = (X - 1\,\mathrm{mean}^T)\,\mathrm{diag}(\mathrm{scale})^{-1}` is never
formed. All that n × n algebra needs from it are sums over blocks :math:`b` of columns:

.. math:: Z Z^T = \sum_b Z_b Z_b^T, \qquad (Z^T A)_b = Z_b^T A, \qquad Z C = \sum_b Z_b C_b .

``X`` may be an array of any numeric type, a memory map, or sparse. It is read once, a block at a time, and
never copied whole. A block is cast to float64 and standardised before it is multiplied, so float32 input
costs no accuracy beyond its own rounding: an element ``G_ij`` of ``Z Zᵀ`` is off by a few ``eps ‖z_i‖ ‖z_j‖``
with eps = 2e-16. Products in float32 would be twice as fast, but their errors of 1e-7 hide every singular
value of ``X`` below some 1e-3 of the largest. The width of blocks shows in the last digits only.

Sparse columns with few stored entries stay sparse: with ``S = X / scale`` and ``m = mean / scale`` the
products are those of ``Z = S − 1 mᵀ``, expanded. Fuller columns, where this would cancel, are made dense in
blocks.
"""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg.blas import dsyrk

from pellucid.linalg.blocks import for_each_block, row_blocks
from pellucid.linalg.factor import mirror
from pellucid.linalg.scale import column_scale, power_of_two

# 256 MiB: blocks of 900 rows are then 37 000 columns wide. A memory map in C order is read in runs as long as
# a block is wide, and a run of float32 should span the 128 KiB that systems read ahead.
_BUDGET = 1 << 28
_FULL = 0.1  # a sparse column with a larger share of stored entries is treated as dense
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
    X = _readable(X)
    n, p = X.shape
    mean, spread = _filled(None, _given(scale), p)
    G = np.zeros((n, n), order="F")
    for index, block in _blocks(X, n, budget_bytes, keep_sparse=True):
        _measure(block, index, weight, mean if center else None, spread if isinstance(scale, str) else None)
        G = _standardised(block, mean[index], spread[index]).add_gram(G)
    mirror(G, from_upper=False)
    if center:
        # A mean far from zero is rounded in units of its own size, which leaves Z = Zc + 1 δᵀ with a small δ.
        # What δ adds to the products is a function of i plus a function of j, and centring G takes it away.
        share = _shares(weight, n)
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
    X = _readable(X)
    mean, spread = _filled(None, _given(scale), X.shape[1])
    if center or isinstance(scale, str):
        for index, block in _blocks(X, X.shape[0], budget_bytes, keep_sparse=True):
            _measure(
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
    X = _readable(X)
    n, p = X.shape
    A = np.asarray(A, dtype=np.float64)
    mean, scale = _filled(mean, scale, p)
    out = np.empty((p, *A.shape[1:])) if out is None else out
    for index, block in _blocks(X, n, budget_bytes, keep_sparse=True):
        out[index] = _standardised(block, mean[index], scale[index]).transpose_dot(A)
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
    X_new = _readable(X_new)
    m, p = X_new.shape
    mean, scale = _filled(mean, scale, p)
    result = np.zeros((m, *coef.shape[1:]))
    for index, block in _blocks(X_new, m, budget_bytes, keep_sparse=True):
        result += _standardised(block, mean[index], scale[index]).dot(
            np.asarray(coef[index], dtype=np.float64)
        )
    return result


# ------------------------------------------------------------------ blocks of columns


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


def _standardised(block: Any, mean: np.ndarray, scale: np.ndarray) -> _Dense | _Thin:
    """Standardise float64 columns: dense ones in place, sparse ones without filling them."""
    if sparse.issparse(block):
        return _Thin(block @ sparse.diags_array(1.0 / scale), mean / scale)
    block -= mean
    block /= scale
    return _Dense(block)


def _blocks(
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


def _cross(
    X_new: Any, X: Any, mean: np.ndarray | None, scale: np.ndarray | None, budget_bytes: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ``Z_new Zᵀ`` and the sums of squares of the rows of either."""
    X_new, X = _readable(X_new), _readable(X)
    (m, p), n = X_new.shape, X.shape[0]
    mean, scale = _filled(mean, scale, p)
    C, new_squares, squares = np.zeros((m, n)), np.zeros(m), np.zeros(n)
    keep_sparse = sparse.issparse(X_new) and sparse.issparse(X)
    for index, block in _blocks(X, m + n, budget_bytes, keep_sparse=keep_sparse):
        new_block = X_new[:, index]
        if sparse.issparse(block):
            new_block = sparse.csc_array(new_block, dtype=np.float64)
        else:
            new_block = new_block.toarray() if sparse.issparse(new_block) else new_block
            new_block = np.array(new_block, dtype=np.float64)
        Z = _standardised(block, mean[index], scale[index])
        Z_new = _standardised(new_block, mean[index], scale[index])
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


# ------------------------------------------------------------------ means and scales


def _measure(
    block: Any,
    index: slice | np.ndarray,
    weight: np.ndarray | None,
    mean: np.ndarray | None,
    scale: np.ndarray | None,
) -> None:
    """Write means and standard deviations of a block into ``mean`` and ``scale``, where given."""
    share = _shares(weight, block.shape[0])
    if mean is not None:
        mean[index] = _mean(block, share)
    if scale is not None:
        scale[index] = _deviation(block, share)


def _shares(weight: np.ndarray | None, n: int) -> np.ndarray:
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


def _filled(mean: np.ndarray | None, scale: np.ndarray | None, p: int) -> tuple[np.ndarray, np.ndarray]:
    mean = np.zeros(p) if mean is None else np.asarray(mean, dtype=np.float64)
    return mean, np.ones(p) if scale is None else np.asarray(scale, dtype=np.float64)


def _given(scale: Scale) -> np.ndarray | None:
    if isinstance(scale, str):
        if scale != "std":
            raise ValueError(f"scale is 'std', an array with one element per column, or None; got {scale!r}.")
        return None
    return scale


def _readable(X: Any) -> Any:
    """``X`` as something whose columns can be sliced without copying the rest."""
    if sparse.issparse(X):
        return X if X.format in ("csr", "csc") else X.tocsr()
    return np.asarray(X)
