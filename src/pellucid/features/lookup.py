"""Sums of functions of one and of two columns, given as tables, at many rows.

All tables are laid out once for speed: each column is cut at the knots of all its tables at once, so that it
is located once, and what its piece of the line needs lies ready. With numba (extra ``fast``) the loops are
compiled; those of NumPy make the same steps in the same order, so that both give the same numbers, bit for
bit, whatever the blocks of rows and the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np

from pellucid.features import fast
from pellucid.features.axis import Axis
from pellucid.features.guide import CELLS, Guide
from pellucid.features.table import UNKNOWN

_BLOCK = 4096  # rows whose places stay in the cache
_WORTH_LOADING = 1 << 21  # table entries: below, NumPy is done before compiled loops are loaded
_ROWS_PER_THREAD = 25_000
_LARGEST, _SMALLEST = 1e300, 1e-290  # spans of knots and gaps between them that need no special care


@dataclass(frozen=True)
class Lookup:
    """Tables laid out for many look-ups; made by :func:`lay_out`.

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
    start: np.ndarray  # (columns, CELLS) first piece in a cell
    crowded: np.ndarray
    first: np.ndarray  # first piece of a column, its number of pieces, and its pieces of no number
    missing: np.ndarray
    nowhere: np.ndarray
    edge: np.ndarray  # right end of a piece, infinite for the last
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
            _in_blocks(lambda rows: self._by_loops(loops, X, rows, places, values, total), start, stop, _BLOCK)

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
            self.crowded, self.first, self.missing, self.nowhere, self.edge, self.left, self.value,
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
        some_gone = bool(gone.any())
        if some_gone:
            x = np.where(gone, lowest, x)
        with np.errstate(over="ignore"):
            at = x - self.low[:, None]
            at *= self.scale[:, None]
        np.maximum(at, 0.0, out=at)
        np.minimum(at, CELLS - 1.0, out=at)
        cell = at.astype(np.intp)
        cell += CELLS * np.arange(len(cell))[:, None]
        piece = self.start.take(cell).astype(np.intp)
        piece += x >= self.edge.take(piece)
        crowded = self.crowded.take(cell)
        for j in np.flatnonzero(crowded.any(axis=1)):
            first, rows = self.first[j], crowded[j]
            piece[j, rows] = first + np.searchsorted(
                self.edge[first : self.missing[j] - 1], x[j, rows], "right"
            )
        if self.levels.any():
            unknown = (x == UNKNOWN) & self.levels[:, None]
            piece = np.where(unknown, self.nowhere[:, None], piece)
        if some_gone:
            piece = np.where(gone, self.missing[:, None], piece)
        np.maximum(x, lowest, out=x)
        np.minimum(x, highest, out=x)
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


# ------------------------------------------------------------------- lay out


def lay_out(
    fine: Sequence[Axis],
    coarse: Sequence[Axis],
    terms: Sequence[tuple[int, ...]],
    tables: Sequence[np.ndarray],
) -> Lookup | None:
    """Lay out tables: of one column on the points of its fine axis, of two on those of their coarse ones.

    Tables are of shape (m + 1,) or (m₁ + 1, m₂ + 1) for axes of m points, the last entries for values that
    are nowhere. ``None`` where knots are so far apart, or so close, that this arithmetic would overflow.
    """
    used = sorted({j for term in terms for j in term})
    if not used or any(np.ndim(table) != len(term) for term, table in zip(terms, tables, strict=True)):
        return None
    curves = {term[0]: table for term, table in zip(terms, tables, strict=True) if len(term) == 1}
    in_pairs = {j for term in terms if len(term) == 2 for j in term}
    columns = []
    for j in used:
        with np.errstate(over="ignore", invalid="ignore"):
            column = _column(fine[j] if j in curves else None, coarse[j] if j in in_pairs else None, curves.get(j))
        if column is None:
            return None
        columns.append(column)
    first = np.cumsum([0, *(len(c["edge"]) for c in columns)])[:-1]
    many = np.array([len(c["edge"]) - 2 for c in columns])
    guides = [c["guide"] for c in columns]
    position = {j: k for k, j in enumerate(used)}
    pairs = [np.asarray(table, dtype=np.float64) for table in tables]
    size = [t.size if t.ndim == 2 else 0 for t in pairs]
    widest = max([t.shape[1] for t in pairs if t.ndim == 2], default=0)
    if sum(size) >= 1 << 31:
        return None
    flat = [t.ravel() for t in pairs if t.ndim == 2]
    parts = {name: np.concatenate([c[name] for c in columns]) for name in _PARTS}
    if not all(np.isfinite(v).all() for name, v in parts.items() if name != "edge"):
        return None
    return Lookup(
        used=np.array(used),
        levels=np.array([c["levels"] for c in columns]),
        low=np.array([g.low for g in guides]),
        scale=np.array([g.scale for g in guides]),
        lowest=np.array([c["ends"][0] for c in columns], dtype=np.float64),
        highest=np.array([c["ends"][1] for c in columns], dtype=np.float64),
        start=np.stack([g.before + f for g, f in zip(guides, first, strict=True)]).astype(np.uint32),
        crowded=np.stack([g.crowded for g in guides]),
        first=first,
        missing=first + many,
        nowhere=first + many + 1,
        **{name: v for name, v in parts.items() if name != "point"},
        point=parts["point"].astype(np.uint32),
        terms=np.array([[position[t[0]], position[t[1]] if len(t) == 2 else -1] for t in terms]),
        offset=np.cumsum([0, *size])[:-1],
        width=np.array([t.shape[1] if t.ndim == 2 else 0 for t in pairs]),
        flat=np.concatenate([*flat, np.zeros(widest + 2)]),
    )


_PARTS = ("edge", "left", "value", "slope", "left2", "inverse", "point")


def _column(fine: Axis | None, coarse: Axis | None, curve: np.ndarray | None) -> dict[str, Any] | None:
    """Pieces of one column, and what they need; None if its knots are extraordinary."""
    axes = [axis for axis in (fine, coarse) if axis is not None]
    cut = [axis for axis in axes if not axis.levels and len(axis.knots) > 1]
    for axis in cut:
        gaps = np.diff(axis.knots)
        if not axis.knots[-1] - axis.knots[0] < _LARGEST or not gaps.min() > _SMALLEST:
            return None
    ends = {(float(axis.knots[0]), float(axis.knots[-1])) for axis in cut}
    if len(ends) > 1 or len({axis.levels for axis in axes}) > 1 or (cut and np.abs([*ends]).max() > _LARGEST):
        return None
    inner = np.unique(np.concatenate([_inner(axis) for axis in axes]))
    middle = np.concatenate([[-np.inf], inner])
    n = len(inner) + 3
    out: dict[str, Any] = {name: np.zeros(n) for name in _PARTS}
    out["edge"] = np.concatenate([inner, np.full(3, np.inf)])
    out |= {"levels": axes[0].levels, "ends": ends.pop() if ends else (0.0, 0.0), "guide": Guide.to(inner)}
    if fine is not None and curve is not None:
        point, left, inverse = _pieces(fine, middle)
        out["left"] = left
        out["value"] = curve[point]
        out["slope"] = (curve[np.minimum(point + 1, len(curve) - 1)] - out["value"]) * inverse
    if coarse is not None:
        out["point"], out["left2"], out["inverse"] = _pieces(coarse, middle)
    return out


def _inner(axis: Axis) -> np.ndarray:
    """Knots at which one point to the left follows another."""
    if axis.levels:
        return axis.knots[1:]
    return axis.knots[1:-1]


def _pieces(axis: Axis, middle: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Point, left end and inverse length of pieces, and of the two for a missing value and for nowhere."""
    k, m = len(axis.knots), len(axis)
    point = np.searchsorted(_inner(axis), middle, "right") if k else np.full(len(middle), m)
    point = np.concatenate([point, [k if axis.missing else m, m]])
    left, inverse = np.zeros(len(point)), np.zeros(len(point))
    if k > 1 and not axis.levels:
        left[:-2] = axis.knots[point[:-2]]
        inverse[:-2] = 1.0 / np.diff(axis.knots)[point[:-2]]
    return point, left, inverse
