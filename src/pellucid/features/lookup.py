"""Sums of functions of one and of two columns, given as tables, at many rows.

All tables are laid out once for speed: each column is cut at the knots of all its tables at once, so that it
is located once, and what its piece of the line needs lies ready. With numba (extra ``fast``) the loops are
compiled; those of NumPy make the same steps in the same order, so that both give the same numbers, bit for
bit, whatever the blocks of rows and the number of threads.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np

from pellucid.data.table import UNKNOWN
from pellucid.features import fourier_loops
from pellucid.features.bucket_index import CELLS, MARK

_BLOCK = 12_288  # rows whose places stay in the cache
_MANY = 1024  # rows from which on NumPy takes one term at a time
_WORTH_LOADING = 1 << 21  # table entries: below, NumPy is done before compiled loops are loaded
_ROWS_PER_THREAD = 25_000

_Places = tuple[np.ndarray, np.ndarray, np.ndarray]


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
    start: np.ndarray  # (columns, CELLS) first piece in a cell, from the column's first, marked if crowded
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
        self._run(X, out, None)
        return out.T

    def total(self, X: np.ndarray) -> np.ndarray:
        """Sum of all terms at rows, added up in their order, of shape (n,)."""
        out = np.zeros(len(X))
        self._run(X, None, out)
        return out

    def both(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values and total in one pass, which takes little longer than one of them."""
        values, total = np.empty((len(self.terms), len(X))), np.zeros(len(X))
        self._run(X, values, total)
        return values.T, total

    def _run(self, X: np.ndarray, values: np.ndarray | None, total: np.ndarray | None) -> None:
        n = len(X)
        loops = fourier_loops.compiled_for(n * len(self.terms), _WORTH_LOADING)

        def some(start: int, stop: int) -> None:
            shape = (len(self.used), min(_BLOCK, stop - start))
            point = np.empty(shape, dtype=np.intp if loops is None else np.uint32)
            places = np.empty(shape), point, np.empty(shape)
            for at in range(start, stop, _BLOCK):
                rows = slice(at, min(at + _BLOCK, stop))
                part, sums = (None if v is None else v[..., rows] for v in (values, total))
                if loops is None:
                    self._by_numpy(X[rows], places, part, sums)
                else:
                    self._by_loops(loops, X[rows], places, part, sums)

        k = n_threads(n)
        if k == 1:
            some(0, n)
            return
        cuts = [n * i // k for i in range(k + 1)]
        with ThreadPoolExecutor(k) as pool:
            list(pool.map(some, cuts[:-1], cuts[1:]))

    def _by_loops(
        self, loops: Any, X: np.ndarray, places: _Places, values: np.ndarray | None, total: np.ndarray | None
    ) -> None:
        scales = (self.low, self.scale, self.lowest, self.highest)
        columns = (self.used, self.levels, *scales, self.start, self.first, self.missing, self.nowhere)
        pieces = (self.edge, self.left, self.value, self.slope, self.left2, self.inverse, self.point)
        loops.locate(X, columns, pieces, places)
        loops.look_up(len(X), places, self.terms, self.offset, self.width, self.flat, values, total)

    def _by_numpy(
        self, X: np.ndarray, places: _Places, values: np.ndarray | None, total: np.ndarray | None
    ) -> None:
        """Many rows column by column and term by term, so that all stays in the cache; few rows at once."""
        if len(X) < _MANY:
            found = self._locate(X, np.arange(len(self.used)))
            parts = np.empty((len(self.terms), len(X)))
            pair = self.terms[:, 1] >= 0
            parts[~pair] = found[0][self.terms[~pair, 0]]
            parts[pair] = self._across(np.flatnonzero(pair), *found[1:])
            if values is not None:
                values[:] = parts
            if total is not None:
                total += parts.cumsum(axis=0)[-1]  # not sum: its order depends on the number of rows
            return
        curve, point, share = (place[:, : len(X)] for place in places)
        for k in range(len(self.used)):
            curve[k], point[k], share[k] = self._locate(X, k)
        for t, (p, q) in enumerate(self.terms.tolist()):
            part = curve[p] if q < 0 else self._across(t, point, share)
            if values is not None:
                values[t] = part
            if total is not None:
                total += part

    def _across(self, t: Any, point: np.ndarray, share: np.ndarray) -> np.ndarray:
        """Value of a term of two columns, or of an array of them."""
        p, q, width = self.terms[t, 0], self.terms[t, 1], self.width[t][..., None]
        at = point[p] * width
        at += point[q]
        at += self.offset[t][..., None]
        flat, next_ = self.flat, self.flat[1:]
        low = _between(flat.take(at), next_.take(at), share[q])
        at += width
        high = _between(flat.take(at), next_.take(at), share[q])
        return _between(low, high, share[p])

    def _locate(self, X: np.ndarray, k: Any) -> _Places:
        """Value as a term of its own, point and share of a column, or of an array of them."""
        x = X.T[self.used[k]].astype(np.float64, order="C")  # a copy
        gone = np.isnan(x)
        unknown = (x == UNKNOWN) & self.levels[k][..., None] if self.levels[k].any() else None
        np.fmax(x, self.lowest[k][..., None], out=x)  # NaN becomes the lowest
        np.minimum(x, self.highest[k][..., None], out=x)
        at = x - self.low[k][..., None]
        at *= self.scale[k][..., None]
        np.maximum(at, 0.0, out=at)
        np.minimum(at, CELLS - 1.0, out=at)
        at += (CELLS * np.asarray(k))[..., None]
        piece = self.start.take(at.astype(np.intp)).astype(np.intp)
        crowded = piece >= MARK
        piece &= MARK - 1
        piece += self.first[k][..., None]
        piece += x >= self.edge.take(piece)
        if crowded.any():
            self._search(np.atleast_1d(k), np.atleast_2d(x), np.atleast_2d(crowded), np.atleast_2d(piece))
        if unknown is not None:
            piece = np.where(unknown, self.nowhere[k][..., None], piece)
        if gone.any():
            piece = np.where(gone, self.missing[k][..., None], piece)
        curve = x - self.left.take(piece)
        curve *= self.slope.take(piece)
        curve += self.value.take(piece)
        x -= self.left2.take(piece)
        x *= self.inverse.take(piece)
        return curve, self.point.take(piece).astype(np.intp), x

    def _search(self, k: np.ndarray, x: np.ndarray, crowded: np.ndarray, piece: np.ndarray) -> None:
        for j, x_j, crowded_j, piece_j in zip(k, x, crowded, piece, strict=True):
            rows = np.flatnonzero(crowded_j)
            first = self.first[j]
            entries = self.edge[first : self.missing[j] - 1]
            piece_j[rows] = first + np.searchsorted(entries, x_j[rows], "right")


def n_threads(n: int) -> int:
    """Threads for so many rows: one for few, at most as many as the process may use."""
    if n < 2 * _ROWS_PER_THREAD:
        return 1
    most = joblib.cpu_count()
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):  # limits that hold for other loops as well
        limit = os.environ.get(name, "")
        if limit.isdigit() and int(limit) > 0:
            most = min(most, int(limit))
    return max(1, min(most, n // _ROWS_PER_THREAD))


def _between(a: np.ndarray, b: np.ndarray, w: np.ndarray) -> np.ndarray:
    b -= a
    b *= w
    b += a
    return b
