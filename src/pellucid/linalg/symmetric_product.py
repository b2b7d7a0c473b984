"""Products of a symmetric matrix that is made tile by tile and never stored."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pellucid.linalg.threads import n_workers, side_by_side

Tile = Callable[[slice, slice], np.ndarray]


def symmetric_product(tile: Tile, V: np.ndarray, *, step: int = 1024) -> np.ndarray:
    """Return ``A V`` for a symmetric ``A`` of which ``tile(rows, columns)`` gives any rectangle.

    Only tiles on and below the diagonal are asked for; each one serves its mirror image as well. Tiles may be
    float32: products are then taken in that precision, and added up in float64. Rows of tiles are dealt out
    to as many threads as linear algebra has, the longest with the shortest, and their sums are added in a
    fixed order, so the result depends on the number of threads only through rounding.

    Parameters
    ----------
    tile : callable
        The rectangle of ``A`` in some rows and columns, given as slices; called from several threads.
    V : ndarray of shape (n, k)
        The columns to multiply.
    step : int
        Rows and columns of a tile: large enough for matrix products, small enough for the cache.

    Returns
    -------
    ndarray of shape (n, k), float64

    Examples
    --------
    >>> A = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> symmetric_product(lambda i, j: A[i, j], np.ones((2, 1)), step=1).ravel().tolist()
    [3.0, 4.0]
    """
    n = len(V)
    bounds = [slice(start, min(start + step, n)) for start in range(0, n, step)]
    copies: dict[str, np.ndarray] = {}

    def cast(kind: np.dtype) -> np.ndarray:
        if kind.str not in copies:
            copies[kind.str] = np.ascontiguousarray(V, dtype=kind)
        return copies[kind.str]

    def work(mine: list[int]) -> np.ndarray:
        out = np.zeros(V.shape)
        for i in mine:
            rows = bounds[i]
            for columns in bounds[: i + 1]:
                A = tile(rows, columns)
                W = cast(A.dtype)
                out[rows] += A @ W[columns]
                if columns != rows:
                    out[columns] += A.T @ W[rows]
        return out

    workers = max(1, min(n_workers(), len(bounds)))
    shares: list[list[int]] = [[] for _ in range(workers)]
    loads = [0] * workers
    for i in reversed(range(len(bounds))):
        least = loads.index(min(loads))
        shares[least].append(i)
        loads[least] += i + 1
    parts = side_by_side(work, shares)
    total = parts[0]
    for part in parts[1:]:
        total += part
    return total
