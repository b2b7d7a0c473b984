"""Products and minima of sparse tables of counts, such as those of words in documents."""

import numpy as np
from scipy import sparse

from pellucid.linalg.blocks import row_blocks

_BUDGET = 1 << 28  # bytes of columns filled in at a time
_DENSE = 0.05  # columns filled by more than this share of the rows are multiplied by BLAS
_CELLS = 16  # cells of a table per value, up to which summing them in place is faster than sorting
_FEW = 2e6  # multiplications that BLAS has done before a product of sparse matrices has begun


def count_table(
    row: np.ndarray, column: np.ndarray, value: np.ndarray, shape: tuple[int, int]
) -> sparse.csr_array:
    """Sum the positive ``value`` over equal (row, column); columns of each row are in increasing order."""
    if 0 < shape[0] * shape[1] <= _CELLS * len(row):  # a table of all cells is faster than sorting
        cells = np.bincount(row * np.int64(shape[1]) + column, value, shape[0] * shape[1])
        filled = np.flatnonzero(cells)
        of, indices = np.divmod(filled, shape[1])
        indptr = np.searchsorted(of, np.arange(shape[0] + 1))
        return sparse.csr_array((cells[filled], indices, indptr), shape=shape)
    table = sparse.csr_array(sparse.coo_array((value, (row, column)), shape=shape, dtype=float))
    table.sum_duplicates()
    return table


def count_products(A: sparse.csr_array, B: sparse.csr_array) -> np.ndarray:
    """Return ``A Bᵀ`` as a dense matrix: frequent columns by BLAS, rare ones as sparse matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> A = sparse.csr_array(np.array([[1.0, 2.0], [0.0, 1.0]]))
    >>> count_products(A, A)
    array([[5., 2.],
           [2., 1.]])
    """
    filled = np.bincount(A.indices, minlength=A.shape[1]) + np.bincount(B.indices, minlength=A.shape[1])
    often = filled > _DENSE * (A.shape[0] + B.shape[0])
    if (~often).sum() * float(A.shape[0]) * B.shape[0] < _FEW:
        often[:] = True
    columns = np.flatnonzero(often)
    blocks = list(row_blocks(len(columns), 8.0 * (A.shape[0] + B.shape[0]), _BUDGET))
    if often.all() and len(blocks) == 1:
        a = A.toarray()
        return np.asarray(a @ (a if B is A else B.toarray()).T)
    out = np.zeros((A.shape[0], B.shape[0]))
    for block in blocks:
        a = A[:, columns[block]].toarray()
        out += a @ (a if B is A else B[:, columns[block]].toarray()).T
    if not often.all():
        rare = sparse.coo_array(A[:, ~often] @ B[:, ~often].T)
        out[rare.row, rare.col] += rare.data
    return out


def unary(A: sparse.csr_array) -> sparse.csr_array:
    """Whole counts as rows of ones: column ``(p, c)`` is one where the count of ``p`` is at least ``c``.

    The product of two such rows is the sum of the smaller counts, ``Σ_p min(a_p, b_p)``.
    """
    times = A.data.astype(np.intp)
    most = int(times.max(initial=1))
    row = np.repeat(np.repeat(np.arange(A.shape[0]), np.diff(A.indptr)), times)
    step = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    column = np.repeat(A.indices.astype(np.int64), times) * most + step
    known, column = np.unique(column, return_inverse=True)
    return count_table(row, column, np.ones(len(row)), (A.shape[0], len(known)))
