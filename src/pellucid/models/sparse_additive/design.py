"""The columns of an additive model over rows of data, without laying them out; and their sums."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Self

import numpy as np

from pellucid.linalg import row_blocks
from pellucid.models.sparse_additive.basis import Smooth
from pellucid.solvers.fold_ridge import Sums


def trim(smooths: Sequence[Smooth], n_basis: int) -> list[Smooth]:
    """Keep the ``n_basis`` smoothest functions of each numeric feature; those of levels stay."""
    return [s if s.levels else Smooth(s.knots, s.levels, s.table[:, :n_basis], s.density) for s in smooths]


def group_slices(smooths: Sequence[Smooth]) -> list[slice]:
    """Where the columns of each feature stand."""
    edges = np.cumsum([0, *(s.size for s in smooths)])
    return [slice(int(a), int(b)) for a, b in pairwise(edges)]


class AdditiveDesign:
    """Rows located between the knots of each feature.

    Products cost one look-up per feature and row, however many functions a feature has. Only :meth:`gram`
    lays columns out, a block of rows at a time.
    """

    def __init__(self, smooths: Sequence[Smooth], places: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        self.smooths, self.places = list(smooths), list(places)
        self.groups = group_slices(smooths)
        self.n_rows = len(places[0][0])

    @classmethod
    def of(cls, smooths: Sequence[Smooth], columns: Sequence[np.ndarray]) -> Self:
        """Locate the rows of some columns."""
        return cls(smooths, [s.locate(column) for s, column in zip(smooths, columns, strict=True)])

    def rows(self, keep: np.ndarray | slice) -> Self:
        """Return the design of some of the rows."""
        return type(self)(self.smooths, [(index[keep], part[keep]) for index, part in self.places])

    def trimmed(self, n_basis: int) -> Self:
        """Return the design with fewer functions per feature."""
        return type(self)(trim(self.smooths, n_basis), self.places)

    def apply(self, beta: np.ndarray) -> np.ndarray:
        """Return ``Ψ β``, of shape (n,)."""
        out = np.zeros(self.n_rows)
        for smooth, group, place in zip(self.smooths, self.groups, self.places, strict=True):
            if beta[group].any():
                out += interpolate(smooth.table @ beta[group], *place)
        return out

    def transpose(self, v: np.ndarray) -> np.ndarray:
        """Return ``Ψᵀ v``, of shape (F,)."""
        out = np.empty(self.groups[-1].stop)
        for smooth, group, (index, part) in zip(self.smooths, self.groups, self.places, strict=True):
            m = len(smooth.table)
            right = part * v
            at_knots = np.bincount(index, v - right, m)
            at_knots[1:] += np.bincount(index, right, m)[:-1]
            out[group] = smooth.table.T @ at_knots
        return out

    def dense(self, rows: slice) -> np.ndarray:
        """Return the columns of some rows, laid out."""
        out = np.empty((rows.stop - rows.start, self.groups[-1].stop))
        for smooth, group, (index, part) in zip(self.smooths, self.groups, self.places, strict=True):
            i, w = index[rows], part[rows, None]
            after = np.minimum(i + 1, len(smooth.table) - 1)
            out[:, group] = (1.0 - w) * smooth.table[i] + w * smooth.table[after]
        return out

    def gram(self, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return ``Ψᵀ diag(w) Ψ`` and ``Ψᵀ w``."""
        n_columns = self.groups[-1].stop
        G, m = np.zeros((n_columns, n_columns)), self.transpose(weight)
        root = np.sqrt(weight)
        for rows in row_blocks(self.n_rows, 8.0 * 3 * n_columns):
            A = self.dense(rows)
            A *= root[rows, None]
            G += A.T @ A
        return G, m


def interpolate(values: np.ndarray, index: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Values between knots; see :meth:`Smooth.locate`."""
    step = np.append(np.diff(values), 0.0)
    return values[index] + part * step[index]


def column_sums(
    smooths: Sequence[Smooth], columns: Sequence[np.ndarray], y: np.ndarray, weight: np.ndarray
) -> Sums:
    """Weighted sums of the columns and the target, a block of rows at a time: all that squared loss needs."""
    F = group_slices(smooths)[-1].stop
    sums = Sums.zeros(F, 1)
    for rows in row_blocks(len(y), 8.0 * 4 * (F + len(columns))):
        part = AdditiveDesign.of(smooths, [column[rows] for column in columns])
        sums.add(part.dense(slice(0, part.n_rows)), y[rows, None], weight[rows])
    return sums
