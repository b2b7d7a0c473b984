"""Weighted sums of squares and products of the columns of a design that is made block by block."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pellucid.linalg.factor import mirror
from pellucid.linalg.lapack import add_squares
from pellucid.linalg.threads import n_workers, side_by_side

_BLOCK = 1 << 25  # bytes of design in one block
_RECENT = 8192  # rows that may be summed up in single precision
_FEW_ROWS = 1024  # that are not worth a thread of their own
_SUMS = 1 << 30  # bytes that the sums of all threads may take

Design = Callable[[slice], np.ndarray]
"""Columns of some rows, transposed: of shape (F, rows)."""


@dataclass(frozen=True)
class Moments:
    """Sums over rows with weights w of a design Z and targets z, centred at their weighted means."""

    G: np.ndarray  # (F, F): (Z - 1z̄ᵀ)ᵀ diag(w) (Z - 1z̄ᵀ)
    c: np.ndarray  # (F,): (Z - 1z̄ᵀ)ᵀ diag(w) (z - mean of z)
    square: float  # weighted sum of squares of the centred targets
    column_mean: np.ndarray  # (F,): weighted means, as the next
    target_mean: float
    total: float  # sum of the weights

    def of(self, columns: np.ndarray) -> Self:
        """Moments of some of the columns."""
        G = self.G[np.ix_(columns, columns)]
        return replace(self, G=G, c=self.c[columns], column_mean=self.column_mean[columns])

    def plus(self, other: Self) -> Self:
        """Moments of these rows and others.

        With δ the difference of two means and k = ab/(a + b) of the two sums of weights, a centred sum of
        products is the sum of the two and kδδᵀ.
        """
        total = self.total + other.total
        k = self.total * other.total / total
        d, e = other.column_mean - self.column_mean, other.target_mean - self.target_mean
        return replace(
            self,
            G=self.G + other.G + k * np.outer(d, d),
            c=self.c + other.c + k * e * d,
            square=self.square + other.square + k * e * e,
            column_mean=self.column_mean + (other.total / total) * d,
            target_mean=self.target_mean + (other.total / total) * e,
            total=total,
        )

    def times(self, factor: float) -> Self:
        """Moments under weights that are all multiplied."""
        G, c, square = self.G * factor, self.c * factor, self.square * factor
        return replace(self, G=G, c=c, square=square, total=self.total * factor)

    def in_units(self, unit: float) -> Self:
        """Moments with targets that are multiplied."""
        c, square = self.c * unit, self.square * unit**2
        return replace(self, c=c, square=square, target_mean=self.target_mean * unit)


def weighted_moments(
    design: Design, w: np.ndarray, z: np.ndarray, F: int, dtype: type = np.float64
) -> Moments:
    """Accumulate moments in one pass; memory does not grow with the number of rows.

    Products of a few blocks are summed up in ``dtype``, sums over more in float64. Targets are centred first;
    columns are centred afterwards, which loses nothing if their means are small, as those of an eigenbasis
    are.
    """
    total = float(w.sum())
    target_mean = float(w @ z) / total
    r = z - target_mean

    def sums(some: list[slice]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        G, c, mean = np.zeros((F, F), order="F"), np.zeros(F), np.zeros(F)
        recent: np.ndarray = G if dtype is np.float64 else np.zeros((F, F), dtype=dtype, order="F")
        n_recent = 0
        for rows in some:
            Zt = design(rows)
            v: np.ndarray = w[rows].astype(dtype)
            mean += Zt @ v
            c += Zt @ (v * r[rows].astype(dtype))
            Zt *= np.sqrt(v)
            add_squares(recent, Zt)
            n_recent += len(v)
            if recent is not G and (n_recent > _RECENT or rows is some[-1]):
                G += recent
                recent[...] = 0.0
                n_recent = 0
        return G, c, mean

    every, n = blocks(len(w), F, dtype), min(n_workers(), max(_SUMS // (16 * F * F + 1), 1))
    (G, c, mean), *others = side_by_side(sums, [every[k::n] for k in range(min(n, max(len(every), 1)))])
    for G_k, c_k, mean_k in others:
        G += G_k
        c += c_k
        mean += mean_k
    mean /= total
    mirror(G, from_upper=False)
    at = np.sqrt(total) * mean
    G -= np.outer(at, at)
    c -= mean * float(w @ r)
    return Moments(G.T, c, float(w @ (r * r)), mean, target_mean, total)


def blocks(n: int, F: int, dtype: type = np.float64) -> list[slice]:
    """Slices of rows whose design fits one block, so many that all threads have some if there are enough."""
    fitting = int(np.clip(_BLOCK // max(np.dtype(dtype).itemsize * F, 1), 256, 16384))
    step = min(fitting, max(_FEW_ROWS, -(-n // n_workers())))
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
