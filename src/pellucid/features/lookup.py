"""Sums of functions of one and of two columns, given as tables, at many rows.

All tables are laid out once for speed: each column is cut at the knots of all its tables at once, so that it
is located once, and what its piece of the line needs lies ready. With numba (extra ``fast``) the loops are
compiled; those of NumPy make the same steps in the same order, so that both give the same numbers, bit for
bit, whatever the blocks of rows and the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np

from pellucid.features import fast
from pellucid.features.guide import CELLS, MARK
from pellucid.features.table import UNKNOWN

_BLOCK = 8192  # rows whose places stay in the cache
_WORTH_LOADING = 1 << 21  # table entries: below, NumPy is done before compiled loops are loaded
_ROWS_PER_THREAD = 25_000


@dataclass(frozen=True)
class Lookup:
    """Tables laid out for many look-ups; made by :func:`pellucid.features.lookup_layout.lay_out`.

    A column's line is cut into pieces; two more stand for a missing value and for a value that is nowhere.
    Pieces of all columns are numbered through. On a piece a function of one column is value + slope (x -
    left), and x is the share (x - left2) inverse of the way from point number ``point`` to the next one in
    tables of two columns.
    """

    used: np.ndarray  # columns of X that matter; what follows is by position among them
    levels: np.ndarray
    low: np.ndarray
    scale: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    start: np.ndarray  # (columns, CELLS) first piece in a cell, with a mark if it is crowded
    first: np.ndarray  # first piece of a column
    missing: np.ndarray  # its pieces for missing values and for what is nowhere, after all others
    nowhere: np.ndarray
    edge: np.ndarray  # right end of a piece, NaN for the last
    left: np.ndarray
    value: np.ndarray
    slope: np.ndarray
    left2: np.ndarray
    inverse: np.ndarray
    point: np.ndarray
    terms: np.ndarray  # (n_terms, 2) positions of the columns, the second -1 for one column
    offset: np.ndarray  # of tables of two columns in ``flat``
    width: np.ndarray
    flat: np.ndarray

    def values(self, X: np.ndarray) -> np.ndarray:
        """Value of every term at rows, of shape (n, n_terms)."""
        out = np.empty((len(self.terms), len(X)))
        self._run(X, out, np.empty(0))
        return out.T

    def total(self, X: np.ndarray) -> np.ndarray:
        """Sum of all terms at rows, added up in their order, of shape (n,)."""
        out = np.zeros(len(X))
        self._run(X, np.empty((0, 0)), out)
        return out

    def _run(self, X: np.ndarray, values: np.ndarray, total: np.ndarray) -> None:
        n = len(X)
        loops = fast.compiled_for(n * len(self.terms), _WORTH_LOADING)
        if loops is None:
            block = max(256, min(_BLOCK, (1 << 17) // max(len(self.terms), 1)))
            _in_blocks(lambda rows: self._by_numpy(X, rows, values, total), 0, n, block)
            return

        def some(start: int, stop: int) -> None:
            places = self._room(min(_BLOCK, stop - start))
            _in_blocks(
                lambda rows: self._by_loops(loops, X, rows, places, values, total), start, stop, _BLOCK
            )

        k = n_threads(n)
        if k == 1:
            some(0, n)
            return
        cuts = [n * i // k for i in range(k + 1)]
        with ThreadPoolExecutor(k) as pool:
            list(pool.map(some, cuts[:-1], cuts[1:]))

    def _room(self, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        shape = (len(self.used), n)
        return np.empty(shape), np.empty(shape, dtype=np.uint32), np.empty(shape)

    def _by_loops(
        self, loops: Any, X: np.ndarray, rows: slice, places: Any, values: np.ndarray, total: np.ndarray
    ) -> None:
        curve, point, share = places
        # fmt: off
        loops.locate(
            X[rows], self.used, self.levels, self.low, self.scale, self.lowest, self.highest, self.start,
            self.first, self.missing, self.nowhere, self.edge, self.left, self.value,
            self.slope, self.left2, self.inverse, self.point, curve, point, share,
        )
        # fmt: on
        what = (rows.stop - rows.start, curve, point, share, self.terms, self.offset, self.width, self.flat)
        if len(values):
            loops.write_terms(*what, values[:, rows])
        elif len(total):
            loops.add_terms(*what, total[rows])

    def _by_numpy(self, X: np.ndarray, rows: slice, values: np.ndarray, total: np.ndarray) -> None:
        curve, point, share = self._locate(X[rows])
        pair = self.terms[:, 1] >= 0
        p, q = self.terms[pair].T
        some = np.empty((len(self.terms), rows.stop - rows.start))
        some[~pair] = curve[self.terms[~pair, 0]]
        if len(p):
            width = self.width[pair][:, None]
            at = point[p] * width
            at += point[q]
            at += self.offset[pair][:, None]
            u, v = share[p], share[q]
            low = _between(self.flat.take(at), self.flat.take(at + 1), v)
            at += width
            high = _between(self.flat.take(at), self.flat.take(at + 1), v)
            some[pair] = _between(low, high, u)
        if len(values):
            values[:, rows] = some
        elif len(total):
            for row in some:  # not sum: it adds in an order that depends on the number of rows
                total[rows] += row

    def _locate(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Value as a term of its own, point and share of each column, of shape (columns, n)."""
        x = np.ascontiguousarray(X.T[self.used])
        gone = np.isnan(x)
        lowest, highest = self.lowest[:, None], self.highest[:, None]
        unknown = (x == UNKNOWN) & self.levels[:, None] if self.levels.any() else None
        np.fmax(x, lowest, out=x)  # NaN becomes the lowest
        np.minimum(x, highest, out=x)
        at = x - self.low[:, None]
        at *= self.scale[:, None]
        np.maximum(at, 0.0, out=at)
        np.minimum(at, CELLS - 1.0, out=at)
        cell = at.astype(np.intp)
        cell += CELLS * np.arange(len(cell))[:, None]
        piece = self.start.take(cell).astype(np.intp)
        crowded = piece >= MARK
        piece &= MARK - 1
        piece += x >= self.edge.take(piece)
        for j in np.flatnonzero(crowded.any(axis=1)):
            first, rows = self.first[j], crowded[j]
            piece[j, rows] = first + np.searchsorted(
                self.edge[first : self.missing[j] - 1], x[j, rows], "right"
            )
        if unknown is not None:
            piece = np.where(unknown, self.nowhere[:, None], piece)
        if gone.any():
            piece = np.where(gone, self.missing[:, None], piece)
        curve = x - self.left.take(piece)
        curve *= self.slope.take(piece)
        curve += self.value.take(piece)
        x -= self.left2.take(piece)
        x *= self.inverse.take(piece)
        return curve, self.point.take(piece).astype(np.intp), x


def n_threads(n: int) -> int:
    """Threads for so many rows: one for few, at most as many as the process may use."""
    if n < 2 * _ROWS_PER_THREAD:
        return 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    most = joblib.cpu_count()
    if limit.isdigit() and int(limit) > 0:
        most = min(most, int(limit))
    return max(1, min(most, n // _ROWS_PER_THREAD))


def _in_blocks(work: Callable[[slice], None], start: int, stop: int, block: int) -> None:
    for at in range(start, stop, block):
        work(slice(at, min(at + block, stop)))


def _between(a: np.ndarray, b: np.ndarray, w: np.ndarray) -> np.ndarray:
    b -= a
    b *= w
    b += a
    return b
