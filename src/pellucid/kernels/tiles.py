r"""Rectangles of a Gram matrix in the precision asked for, from rows that were prepared once.

For a function of the scaled distance the rows are extended by their squared norms,

.. math:: s_{ij} = \begin{pmatrix} a_i & |a_i|^2 & 1 \end{pmatrix}
          \begin{pmatrix} -2 a_j & 1 & |a_j|^2 \end{pmatrix}^T ,

so that one matrix product makes a rectangle of squared distances, and the kernel's own profile the rest. In
float32 that takes about half the time that it takes in float64; errors are of the order of the
precision times the squared norms, which is why rows are centred first. Sums, products and constants are made
of their parts; any other kernel is evaluated as usual, in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from pellucid.kernels.algebra import Product, Sum
from pellucid.kernels.base import Kernel
from pellucid.kernels.discrete import Constant
from pellucid.kernels.stationary import Matern, _Stationary
from pellucid.linalg import is_sparse

_STRIP = 1 << 18  # bytes that stay in the cache while a profile is applied
Tile = Callable[[slice | np.ndarray, slice], np.ndarray]


def has_fast_tiles(kernel: Kernel, X: Any = None) -> bool:
    """Whether every part of the kernel can be evaluated in float32, on rows ``X`` that are not sparse.

    Examples
    --------
    >>> from pellucid.kernels import RBF, Constant, Laplacian
    >>> has_fast_tiles(RBF() + Constant(2.0)), has_fast_tiles(Laplacian())
    (True, False)
    """
    if is_sparse(X):
        return False
    if isinstance(kernel, Sum | Product):
        return all(map(has_fast_tiles, kernel.operands))
    return isinstance(kernel, Constant) or _by_profile(kernel)


def _by_profile(kernel: Kernel) -> bool:
    """Whether the kernel is its profile of the distance, and nothing that a subclass made of it."""
    return isinstance(kernel, _Stationary) and type(kernel)._gram is _Stationary._gram


def gram_tiles(kernel: Kernel, X: np.ndarray, Y: np.ndarray | None = None, *, single: bool = False) -> Tile:
    """Return a function of two slices that gives that rectangle of ``K(X, Y)``; ``Y`` is ``X`` by default.

    Parameters
    ----------
    kernel : Kernel
        Any kernel.
    X, Y : ndarray
        Rows, as the kernel takes them.
    single : bool
        Whether float32 will do; kernels that cannot give float64.

    Examples
    --------
    >>> from pellucid.kernels import RBF
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> tile = gram_tiles(RBF(2.0), X)
    >>> np.allclose(tile(slice(0, 2), slice(1, 3)), RBF(2.0)(X)[:2, 1:])
    True
    """
    same = Y is None
    Y = X if Y is None else Y
    numeric = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f"
    return _tiles(kernel, X, Y, same, np.float32 if single else np.float64, numeric)


def _tiles(kernel: Kernel, X: np.ndarray, Y: np.ndarray, same: bool, kind: type, numeric: bool) -> Tile:
    if isinstance(kernel, Sum | Product):
        parts = [_tiles(k, X, Y, same, kind, numeric) for k in kernel.operands]
        together = np.add if isinstance(kernel, Sum) else np.multiply
        return lambda i, j: reduce(lambda A, B: together(A, B, out=A), (part(i, j) for part in parts))
    if isinstance(kernel, Constant):
        return lambda i, j: np.full((len(X[i]), len(Y[j])), kernel.value, dtype=kind)
    # a kink at zero distance makes half the digits of a distance count
    sharp = isinstance(kernel, Matern) and kernel.nu == 0.5 and kind is np.float64
    if isinstance(kernel, _Stationary) and _by_profile(kernel) and numeric and not sharp:
        return _distance_tiles(kernel, X, Y, same, kind)
    return lambda i, j: kernel._gram(X[i], Y[j])


def _distance_tiles(kernel: _Stationary, X: np.ndarray, Y: np.ndarray, same: bool, kind: type) -> Tile:
    scale = np.broadcast_to(kernel.length_scale, X.shape[1:])
    middle = np.asarray(Y, dtype=float).mean(axis=0)

    def extended(rows: np.ndarray, left: bool) -> np.ndarray:
        A = (rows - middle) / scale
        squares, ones = np.einsum("ij,ij->i", A, A), np.ones(len(A))
        return np.column_stack([A, squares, ones] if left else [-2.0 * A, ones, squares]).astype(kind)

    L, R = extended(X, True), extended(Y, False)

    def tile(i: slice | np.ndarray, j: slice) -> np.ndarray:
        left, right = L[i], R[j]
        s: np.ndarray = np.empty((len(left), len(right)), dtype=kind)
        strip = max(1, _STRIP // max(s.itemsize * s.shape[1], 1))
        for start in range(0, len(left), strip):
            rows = slice(start, start + strip)
            part = np.matmul(left[rows], right.T, out=s[rows])
            np.maximum(part, 0.0, out=part)
            if same and isinstance(i, slice) and i == j:
                np.fill_diagonal(part[:, start:], 0.0)
            s[rows] = kernel._profile(part)
        return s

    return tile
