"""A guide to a sorted array: how many of its entries are at most a value, mostly without a search.

The line is cut into equal cells. A cell knows how many entries lie to its left, and a value needs one
comparison more if its cell holds at most one entry; only in crowded cells the entries are searched. Cells
of entries and of values come from the same rounded and therefore monotone formula, so that the counts are
exact, whatever the rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

CELLS = 8192  # few values lie in crowded cells, and as numbers of two bytes they stay in the cache
MARK = 1 << 15
"""Bit that tells, where guides are laid out for speed, that a cell is crowded."""

_TRIMS = (0.0, 0.01, 0.02, 0.04)  # share of the entries on either side that may go into the outermost cells


@dataclass(frozen=True)
class Guide:
    """Cells over a sorted array."""

    entries: np.ndarray  # (k,): the sorted array
    low: float
    """A value x lies in cell ⌊(x - low) scale⌋, cut off at the first and the last one; the scale is zero
    where there are no cells to speak of."""
    scale: float
    before: np.ndarray  # (CELLS,): number of entries in earlier cells
    crowded: np.ndarray  # (CELLS,): whether a cell holds more than one entry

    @classmethod
    def to(cls, entries: np.ndarray) -> Guide:
        """Guide to a sorted array of finite numbers, with the cells where they leave few entries crowded."""
        k = len(entries)
        best, least = _cells(entries, 0.0, 0.0), k + 1
        for trim in _TRIMS if k > 1 else ():
            cut = int(trim * k)
            low = float(entries[cut])
            with np.errstate(over="ignore", divide="ignore"):
                scale = float(CELLS / np.subtract(entries[k - 1 - cut], low))
            if not 0.0 < scale < np.inf:
                continue
            guide = _cells(entries, low, scale)
            crowd = int(guide.crowded[_cell(entries, low, scale)].sum())
            if crowd < least:
                best, least = guide, crowd
        return best

    def count(self, x: np.ndarray) -> np.ndarray:
        """Number of entries that are at most each value, as ``searchsorted`` counts them; NaN counts all."""
        k = len(self.entries)
        if self.scale == 0.0:  # no cells
            return np.searchsorted(self.entries, x, "right").astype(np.intp)
        gone = np.isnan(x)
        some = bool(gone.any())
        cell = _cell(np.where(gone, 0.0, x) if some else x, self.low, self.scale)
        count = self.before.take(cell)
        count += x >= np.append(self.entries, np.nan).take(count)  # no value is beyond the last
        crowded = np.flatnonzero(self.crowded.take(cell))
        if len(crowded):
            count[crowded] = np.searchsorted(self.entries, x[crowded], "right")
        if some:
            count[gone] = k
        return count


def _cell(x: np.ndarray, low: float, scale: float) -> np.ndarray:
    with np.errstate(over="ignore"):
        at = x - low
        at *= scale
    np.maximum(at, 0.0, out=at)
    np.minimum(at, CELLS - 1.0, out=at)
    return at.astype(np.intp)


def _cells(entries: np.ndarray, low: float, scale: float) -> Guide:
    held = np.bincount(_cell(entries, low, scale), minlength=CELLS)
    return Guide(entries, low, scale, np.cumsum(held) - held, held > 1)
