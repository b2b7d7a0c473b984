r"""How far new rows are from those of the training, feature by feature.

A feature is cut into bins: numbers at tenths of the training rows, levels one by one, missing values and
values that training did not see by themselves. With shares :math:`p_b` in the training and :math:`q_b` now,

.. math::
    \mathrm{PSI} = \sum_b (q_b - p_b) \log \frac{q_b}{p_b}, \qquad
    H^2 = \tfrac12 \sum_b \bigl(\sqrt{q_b} - \sqrt{p_b}\bigr)^2

are the population stability index and the squared Hellinger distance. Half a row is added to each bin of the
index. Without drift :math:`n\, \mathrm{PSI}` is about :math:`\chi^2` with one degree of freedom less than
there are bins, so that small tables are not blamed for their size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from pellucid.data.cells import Cells, level_name
from pellucid.effects.html import html_table
from pellucid.effects.terms import MISSING, Effect

_BINS = 10
_LEVELS = 30  # levels with bins of their own
_NOTABLE = 0.1  # index from which a shift is worth a look, by convention


@dataclass(frozen=True)
class Bins:
    """Where the values of one feature lay in the training.

    Attributes
    ----------
    name : str
        Name of the feature.
    shares : ndarray of shape (b + 2,)
        Shares of the training rows in each bin, of missing values, and of all other values, none.
    cuts : ndarray of shape (b - 1,) or None
        Numbers between the bins.
    levels : tuple of str
        Names of the levels that are bins; empty for numbers.
    span : tuple of float
        Smallest and largest number.
    """

    name: str
    shares: np.ndarray
    cuts: np.ndarray | None = None
    levels: tuple[str, ...] = ()
    span: tuple[float, float] = (-np.inf, np.inf)

    @classmethod
    def of_points(cls, name: str, points: np.ndarray, mass: np.ndarray, missing: float = 0.0) -> Bins:
        """Bins of equal mass of a number that is known at increasing points."""
        total = mass.sum() or 1.0
        tenth = np.floor(_BINS * (np.cumsum(mass) - mass / 2) / total).clip(0, _BINS - 1)
        first = np.flatnonzero(np.diff(tenth)) + 1
        cuts = points[first - 1] / 2 + points[first] / 2
        shares = np.add.reduceat(mass, np.append(0, first)) if len(mass) else np.zeros(1)
        span = (points[0], points[-1]) if len(points) else (np.nan, np.nan)
        return cls(name, _shares([*shares, missing]), cuts, (), (float(span[0]), float(span[1])))

    @classmethod
    def of_levels(cls, name: str, levels: Sequence[str], mass: np.ndarray, missing: float = 0.0) -> Bins:
        """One bin for each of the frequent levels, and one for all others."""
        order = np.argsort(-mass, kind="stable")
        kept = np.sort(order[:_LEVELS])
        shares = [*mass[kept], float(mass[order[_LEVELS:]].sum())]
        names = tuple(str(levels[k]) for k in [*kept, *order[_LEVELS:]])
        return cls(name, _shares([*shares, missing]), None, names)

    @classmethod
    def of_cells(cls, name: str, cells: Cells, weight: np.ndarray) -> Bins:
        """Bins of a column of training rows."""
        gone = cells.missing
        missing = float(weight[gone].sum())
        if cells.names is None:
            points, place = np.unique(cells.codes[~gone], return_inverse=True)
            return cls.of_points(name, points, np.bincount(place, weight[~gone], len(points)), missing)
        mass = np.bincount(cells.codes[~gone], weight[~gone], len(cells.names))
        return cls.of_levels(name, cells.names, mass, missing)

    def place(self, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        """Bin of each cell, and whether training had no such value."""
        b = len(self.shares) - 2
        gone = cells.missing
        if self.cuts is None:
            values = [level_name(v) for v in cells.values.tolist()]
            known = {level: min(k, b - 1) for k, level in enumerate(self.levels)}
            at = np.array([known.get(v, b + 1) for v in values])
            strange = (at == b + 1) & ~gone
        else:
            each = zip(gone, cells.values, strict=True)
            try:
                x = np.array([np.nan if empty else v for empty, v in each], dtype=np.float64)
            except ValueError:
                told = f"Column {self.name!r} held numbers in training, and holds text now."
                raise ValueError(told) from None
            at = np.searchsorted(self.cuts, x, side="right")
            strange = ~gone & ((x < self.span[0]) | (x > self.span[1]))
            if b == 1:  # a constant: there is no first or last bin for what lies beyond
                at[strange] = b + 1
        at[gone] = b
        return at, strange | (gone & (self.shares[b] == 0))


def _shares(mass: Sequence[float]) -> np.ndarray:
    whole = np.array([*mass, 0.0])
    return whole / (whole.sum() or 1.0)


def bins_of_effects(effects: Sequence[Effect]) -> list[Bins]:
    """Training distributions of the features that occur in effects, in the order of their columns."""
    found: dict[int, Bins] = {}
    for effect in sorted(effects, key=lambda effect: len(effect.term)):
        for axis, (j, grid) in enumerate(zip(effect.term, effect.grids, strict=True)):
            if j in found:
                continue
            mass = effect.density.sum(axis=tuple(a for a in range(len(effect.term)) if a != axis))
            m = len(grid) - int(grid.missing)
            missing = float(mass[m]) if grid.missing else 0.0
            points = np.asarray(grid.points)[:m]
            if grid.levels:
                levels = [level_name(point) for point in points]
                if MISSING in levels:  # a model that takes it for a level
                    missing += float(mass[levels.index(MISSING)])
                found[j] = Bins.of_levels(grid.feature, levels, mass[:m], missing)
            else:
                found[j] = Bins.of_points(grid.feature, points.astype(float), mass[:m], missing)
    return [found[j] for j in sorted(found)]


@dataclass(frozen=True)
class Drift:
    """Distance of new rows from the training, one number per feature.

    Examples -------- >>> train = Cells("age", np.arange(100.0)) >>> print(measure_drift([Bins.of_cells("age",
    train, np.ones(100))], [Cells("age", np.arange(50, 100.0))])) feature   PSI  noise  Hellinger  not in
    training age      ...
    """

    names: tuple[str, ...]
    """Names of the features."""
    psi: np.ndarray
    """Population stability index."""
    limit: np.ndarray
    """What the index stays below in 99 of 100 tables of this size without drift."""
    hellinger: np.ndarray
    """Hellinger distance, from 0 to 1."""
    unseen: np.ndarray
    """Share of the rows whose value is beyond those of the training, or missing where training had none."""

    @property
    def shifted(self) -> np.ndarray:
        """Which features have an index above 0.1 that chance does not explain."""
        return (self.psi > _NOTABLE) & (self.psi > self.limit)

    @property
    def order(self) -> np.ndarray:
        """Positions of the features, the largest index first."""
        return np.argsort(-self.psi, kind="stable")

    def head_and_rows(self, n: int = 20) -> tuple[list[str], list[list[str]]]:
        """The features of largest index as text."""
        head = ["feature", "PSI", "noise", "Hellinger", "not in training"]
        rows = [
            [
                self.names[j] + (" (shifted)" if self.shifted[j] else ""),
                f"{self.psi[j]:.3f}",
                f"{self.limit[j]:.3f}",
                f"{self.hellinger[j]:.3f}",
                f"{100 * self.unseen[j]:.1f} %",
            ]
            for j in self.order[:n]
        ]
        return head, rows

    def __str__(self) -> str:
        return text_table(*self.head_and_rows())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table("Drift", *self.head_and_rows())


def measure_drift(bins: Sequence[Bins], cells: Sequence[Cells], n_train: float = np.inf) -> Drift:
    """Compare columns with the bins of their features."""
    psi, limit, hellinger, unseen = (np.zeros(len(bins)) for _ in range(4))
    for k, (one, column) in enumerate(zip(bins, cells, strict=True)):
        at, strange = one.place(column)
        n, p = len(at), one.shares
        q = np.bincount(at, minlength=len(p)) / n
        used = (p > 0) | (q > 0)
        p, q = p[used], q[used]
        hellinger[k] = np.sqrt(0.5 * np.sum((np.sqrt(q) - np.sqrt(p)) ** 2))
        half = 0.5 / n
        ps, qs = (p + half) / (1 + len(p) * half), (q + half) / (1 + len(p) * half)
        psi[k] = np.sum((qs - ps) * np.log(qs / ps))
        limit[k] = stats.chi2.ppf(0.99, max(len(p) - 1, 1)) * (1 / n + 1 / n_train)
        unseen[k] = strange.mean()
    return Drift(tuple(one.name for one in bins), psi, limit, hellinger, unseen)


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as text: the first column to the left, all others to the right.

    Examples
    --------
    >>> print(text_table(["term", "size"], [["age", "1.5"], ["dose", "10"]]))
    term  size
    age    1.5
    dose    10
    """
    width = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = []
    for first, *others in (head, *rows):
        cells = [f"{cell:>{w}}" for cell, w in zip(others, width[1:], strict=True)]
        lines.append("  ".join([f"{first:<{width[0]}}", *cells]).rstrip())
    return "\n".join(lines)
