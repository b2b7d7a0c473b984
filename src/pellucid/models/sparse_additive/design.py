"""The columns of an additive model over rows of data, without laying them out; and their moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from pellucid.linalg import row_blocks
from pellucid.models.sparse_additive.basis import Smooth


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

    def rows(self, keep: np.ndarray | slice) -> AdditiveDesign:
        """Return the design of some of the rows."""
        return AdditiveDesign(self.smooths, [(index[keep], part[keep]) for index, part in self.places])

    def trimmed(self, n_basis: int) -> AdditiveDesign:
        """Return the design with fewer functions per feature."""
        return AdditiveDesign(trim(self.smooths, n_basis), self.places)

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


@dataclass(frozen=True)
class Moments:
    """Weighted sums over rows of the columns and the target: all that squared loss needs to know.

    ``total`` = Σs, ``mean`` = Σsψ, ``gram`` = Σsψψᵀ, ``cross`` = Σsyψ, ``y`` = Σsy, ``yy`` = Σsy².
    """

    total: float
    mean: np.ndarray
    gram: np.ndarray
    cross: np.ndarray
    y: float
    yy: float

    @classmethod
    def of(
        cls, smooths: Sequence[Smooth], columns: Sequence[np.ndarray], y: np.ndarray, weight: np.ndarray
    ) -> Self:
        """Accumulate over blocks of rows; memory does not grow with their number."""
        F = group_slices(smooths)[-1].stop
        mean, gram, cross = np.zeros(F), np.zeros((F, F)), np.zeros(F)
        for rows in row_blocks(len(y), 8.0 * 4 * (F + len(columns))):
            part = AdditiveDesign.of(smooths, [column[rows] for column in columns])
            s = weight[rows]
            gram += part.gram(s)[0]
            mean += part.transpose(s)
            cross += part.transpose(s * y[rows])
        return cls(float(weight.sum()), mean, gram, cross, float(weight @ y), float(weight @ y**2))

    def without(self, other: Moments) -> Moments:
        """Return the moments of the rows that are not in ``other``."""
        return Moments(*(a - b for a, b in zip(_parts(self), _parts(other), strict=True)))

    def columns(self, keep: np.ndarray) -> Moments:
        """Return the moments of some of the columns."""
        return Moments(
            self.total, self.mean[keep], self.gram[np.ix_(keep, keep)], self.cross[keep], self.y, self.yy
        )

    def centred(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the Gram matrix and the cross moments of centred columns, per unit of weight."""
        G = (self.gram - np.outer(self.mean, self.mean / self.total)) / self.total
        return G, (self.cross - self.mean * (self.y / self.total)) / self.total

    def intercept(self, beta: np.ndarray) -> float:
        """Return the best intercept for given coefficients."""
        return (self.y - float(self.mean @ beta)) / self.total

    def error(self, beta: np.ndarray, b: float) -> float:
        """Return the mean squared error over the rows."""
        square = self.yy - 2.0 * float(self.cross @ beta) + float(beta @ self.gram @ beta)
        square += b * (b * self.total - 2.0 * self.y + 2.0 * float(self.mean @ beta))
        return max(square, 0.0) / self.total


def _parts(m: Moments) -> tuple:
    return m.total, m.mean, m.gram, m.cross, m.y, m.yy
