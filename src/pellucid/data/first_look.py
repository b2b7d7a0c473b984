"""One look at all rows: what columns hold, what targets are, and a sample that stands for all.

Looks at blocks add up, in any order: levels with their weights, extremes, the few values of columns that have
few, sums over the targets, and the rows of the smallest lots.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from pellucid.data.cells import Cells
from pellucid.data.coded import Given, Reading
from pellucid.data.source import Block
from pellucid.data.table import Column, learn_column, read_table
from pellucid.linalg.sample import lots

MOST_NAMES = 1 << 17  # levels of a column that are counted; beyond, the rarest are gathered
_CELLS, _LEAST, _MOST = 1 << 24, 50_000, 200_000  # of the sample; rows
_FEW = 256  # values up to which each of them counts


def most_at_hand(n_features: int) -> int:
    """Rows of the sample that stands for all; a table of no more is fitted as it is.

    Examples
    --------
    >>> most_at_hand(10), most_at_hand(1000)
    (200000, 50000)
    """
    return int(np.clip(_CELLS // max(n_features, 1), _LEAST, _MOST))


@dataclass(frozen=True)
class ColumnLook:
    """What a column holds: sums over rows of positive weight."""

    name: str
    where: str  # the first place that has a value
    low: float = np.inf
    high: float = -np.inf
    missing: bool = False
    values: np.ndarray | None = None  # increasing; None if there are many
    masses: np.ndarray | None = None
    dates: bool = False
    levels: dict[str, float] | None = None  # None for numbers
    order: tuple[str, ...] | None = None  # of the levels, if one is declared
    gathered: float = 0.0  # weight of levels too rare to be told apart

    @classmethod
    def of(cls, cells: Cells, weight: np.ndarray, where: str) -> ColumnLook:
        """The look at the cells of one block."""
        there = ~cells.missing
        missing = not bool(there.all())
        if cells.names is not None:
            mass = np.bincount(cells.codes[there], weight[there], len(cells.names))
            levels = {name: float(m) for name, m in zip(cells.names, mass, strict=True) if m > 0}
            order = cells.names if cells.ordered else None
            return cls(cells.name, where if levels else "", missing=missing, levels=levels, order=order)
        x, w = cells.codes[there], weight[there]
        if not len(x):
            return cls(cells.name, "", missing=missing, values=x, masses=w, dates=cells.dates)
        values, masses = _few(x, w)
        return cls(
            cells.name, where, float(x.min()), float(x.max()), missing, values, masses, dates=cells.dates
        )

    def plus(self, other: ColumnLook) -> ColumnLook:
        """The look at both."""
        if not self.where or not other.where:  # one has no value at all
            some, none = (self, other) if self.where else (other, self)
            return replace(some, missing=some.missing or none.missing)
        if (self.levels is None) != (other.levels is None) or self.dates != other.dates:
            raise ValueError(
                f"Column {self.name!r} holds {self.kind} in {self.where}, and {other.kind} in "
                f"{other.where}: make it one or the other."
            )
        missing = self.missing or other.missing
        if self.levels is not None and other.levels is not None:
            if self.order != other.order:
                raise ValueError(
                    f"Column {self.name!r} has its levels in another order in {other.where} than in "
                    f"{self.where}."
                )
            levels = dict(self.levels)
            for name, mass in other.levels.items():
                levels[name] = levels.get(name, 0.0) + mass
            gathered = self.gathered + other.gathered
            if len(levels) > MOST_NAMES and self.order is None:
                kept = sorted(levels, key=lambda name: (-levels[name], name))[: MOST_NAMES // 2]
                gathered += sum(levels.values()) - sum(levels[name] for name in kept)
                levels = {name: levels[name] for name in kept}
            return replace(self, missing=missing, levels=levels, gathered=gathered)
        values = masses = None
        if self.values is not None and other.values is not None:
            masses = np.concatenate([self.masses, other.masses])
            values, masses = _few(np.concatenate([self.values, other.values]), masses)
        low, high = min(self.low, other.low), max(self.high, other.high)
        return replace(self, low=low, high=high, missing=missing, values=values, masses=masses)

    @property
    def kind(self) -> str:
        """What the column holds, in a word."""
        return "categories" if self.levels is not None else "dates" if self.dates else "numbers"

    def column(self, total: float, most: int) -> Column:
        """What the column is."""
        if self.levels is None:
            return Column(self.name, None, self.dates)
        names = self.order if self.order is not None else tuple(self.levels)
        mass = np.array([self.levels.get(name, 0.0) for name in names])
        if self.gathered > 0.5 * total:  # nearly every row has a level of its own
            return Column(self.name, ())
        cells = Cells(self.name, np.arange(len(names)), names, ordered=self.order is not None)
        return learn_column(cells, mass, most, total)


def _few(x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Values with their weights, if there are few."""
    if len(x) > 4 * _FEW and len(np.unique(x[: 4 * _FEW])) > _FEW:
        return None, None
    values, inverse = np.unique(x, return_inverse=True)
    return (values, np.bincount(inverse, w, len(values))) if len(values) <= _FEW else (None, None)


@dataclass(frozen=True)
class Sample:
    """Rows of the smallest lots, with all that belongs to them."""

    most: int
    lots: np.ndarray
    part: np.ndarray
    place: np.ndarray  # in the part
    cells: tuple[Cells, ...]
    given: Given

    def plus(self, other: Sample) -> Sample:
        """The rows of the smallest lots of both."""
        both = Sample(
            self.most,
            np.concatenate([self.lots, other.lots]),
            np.concatenate([self.part, other.part]),
            np.concatenate([self.place, other.place]),
            tuple(map(_joined, self.cells, other.cells)),
            self.given.and_also(other.given),
        )
        return both.thinned() if len(both.lots) > 2 * self.most else both

    def thinned(self) -> Sample:
        """At most so many rows, in the order of their lots."""
        order = np.lexsort((self.place, self.part, self.lots))[: self.most]
        return Sample(
            self.most,
            self.lots[order],
            self.part[order],
            self.place[order],
            tuple(replace(c, codes=c.codes[order]) for c in self.cells),
            self.given.at(order),
        )


def _joined(a: Cells, b: Cells) -> Cells:
    if a.names is None and b.names is None:
        return replace(a, codes=np.concatenate([a.codes, b.codes]), dates=a.dates or b.dates)
    if a.names is None or b.names is None:  # one is without any value, or the looks at the columns will tell
        a, b = (
            Cells(c.name, np.full(len(c.codes), -1), (), ordered=d.ordered) if c.names is None else c
            for c, d in ((a, b), (b, a))
        )
    number = {name: k for k, name in enumerate(a.names or ())}
    codes = np.array([number.setdefault(name, len(number)) for name in b.names or ()] + [-1], dtype=np.intp)
    return replace(a, codes=np.concatenate([a.codes, codes[b.codes]]), names=tuple(number))


@dataclass(frozen=True)
class Look:
    """What one look at rows tells.

    Attributes
    ----------
    rows : dict from int to int
        Number of rows of each partition.
    n_rows : int
        Number of rows of positive weight.
    total : float
        Sum of their weights.
    columns : tuple of ColumnLook
        What the columns hold.
    target : Sums
        Of targets without their offsets.
    offset : bool
        Whether a row has an offset.
    sample : Sample
        Rows that stand for all.
    """

    rows: dict[int, int]
    n_rows: int
    total: float
    columns: tuple[ColumnLook, ...]
    target: Sums
    offset: bool
    sample: Sample
    labels: dict[object, float] = field(default_factory=dict)

    def plus(self, other: Look) -> Look:
        """The look at both."""
        labels = dict(self.labels)
        for label, mass in other.labels.items():
            labels[label] = labels.get(label, 0.0) + mass
        return Look(
            {**self.rows, **{k: self.rows.get(k, 0) + n for k, n in other.rows.items()}},
            self.n_rows + other.n_rows,
            self.total + other.total,
            tuple(a.plus(b) for a, b in zip(self.columns, other.columns, strict=True)),
            self.target.plus(other.target),
            self.offset or other.offset,
            self.sample.plus(other.sample),
            labels,
        )

    def classes(self) -> np.ndarray:
        """Labels with a positive weight, sorted."""
        classes = np.unique(np.array([label for label, mass in self.labels.items() if mass > 0]))
        if len(classes) < 2:
            raise ValueError(
                f"Found only one class ({classes[0]!r}) with positive weight; a classifier needs at least 2 "
                f"classes."
            )
        return classes

    def places(self) -> np.ndarray:
        """Place of each row of the sample among all rows."""
        parts = sorted(self.rows)
        first = dict(zip(parts, np.cumsum([0, *(self.rows[k] for k in parts)]).tolist(), strict=False))
        return self.sample.place + np.array([first[k] for k in self.sample.part.tolist()], dtype=np.intp)


@dataclass(frozen=True)
class Sums:
    """Weighted sums over numbers."""

    total: float = 0.0
    mean: float = 0.0
    square: Any = 0.0  # centred, a long double: squares of extreme numbers overflow a double
    low: float = np.inf
    high: float = -np.inf
    plain_low: float = np.inf  # of targets with their offsets
    plain_high: float = -np.inf

    @classmethod
    def of(cls, y: np.ndarray, offset: np.ndarray, weight: np.ndarray) -> Sums:
        """Sums of one block."""
        if not len(y):
            return cls()
        total, r = float(weight.sum()), y - offset
        top = float(np.abs(r).max())
        mean = top * float(weight @ (r / top)) / total if top > 0 else 0.0
        d: np.ndarray = (r - mean).astype(np.longdouble)
        square = np.longdouble(np.sum(weight * d * d))
        return cls(total, mean, square, float(r.min()), float(r.max()), float(y.min()), float(y.max()))

    def plus(self, other: Sums) -> Sums:
        """Sums of both."""
        if not self.total or not other.total:
            return self if self.total else other
        total, step = self.total + other.total, np.longdouble(other.mean) - np.longdouble(self.mean)
        return Sums(
            total,
            self.mean + float(step) * (other.total / total),
            self.square + other.square + step * step * (self.total * other.total / total),
            min(self.low, other.low),
            max(self.high, other.high),
            min(self.plain_low, other.plain_low),
            max(self.plain_high, other.plain_high),
        )

    @property
    def spread(self) -> float:
        """Standard deviation; the size of a constant, 1 for zero."""
        top = max(abs(self.low), abs(self.high))
        if self.high - self.low <= 2e-14 * top:
            return top or 1.0
        size = float(np.sqrt(self.square / np.longdouble(self.total)))
        return float(f"{size:.10g}")  # whatever the order in which it was summed up


def look(reading: Reading, most: int, names: Sequence[str], block: Block) -> Look:
    """The look at one block."""
    table = read_table(block.X).named(names)
    given = reading.given(block)
    used = given.weight > 0
    some = np.flatnonzero(used)
    cells = tuple(replace(c, codes=c.codes[used]) for c in table.cells)
    for c in cells:
        if c.names is None and np.isinf(c.codes).any():
            raise ValueError(f"column {c.name!r} holds infinity or a value too large: fill or drop it first.")
    given, weight = given.at(some), given.weight[used]
    numbers = [_numbers(c) for c in cells] + [target_numbers(given.y)]
    sample = Sample(
        most,
        lots(numbers, block.part * 1_000_003 + block.start),
        np.full(len(some), block.part),
        block.start + some,
        cells,
        given,
    )
    labels: dict[object, float] = {}
    sums = Sums()
    if reading.classes:
        found, inverse = np.unique(given.y, return_inverse=True)
        labels = dict(zip(found.tolist(), np.bincount(inverse, weight).tolist(), strict=True))
    else:
        sums = Sums.of(given.y, given.known, weight)
    return Look(
        {block.part: len(block)},
        len(some),
        float(weight.sum()),
        tuple(ColumnLook.of(c, weight, block.where) for c in cells),
        sums,
        bool(np.any(given.known)),
        sample.thinned() if len(some) > most else sample,
        labels,
    )


def looking(reading: Reading, most: int, names: Sequence[str]) -> partial[Look]:
    """The look as a function of a block."""
    return partial(look, reading, most, tuple(names))


def _numbers(cells: Cells) -> np.ndarray:
    """A number for each cell that its value has in every block."""
    if cells.names is None:
        return cells.codes
    return np.array([*map(_hashed, cells.names), np.nan])[cells.codes]


def target_numbers(y: np.ndarray) -> np.ndarray:
    """A number for each target or label that it has in every block."""
    if y.dtype.kind in "biuf":
        return y.astype(np.float64)
    found, inverse = np.unique(y.astype(str), return_inverse=True)
    return np.array([_hashed(label) for label in found.tolist()])[inverse]


def _hashed(name: str) -> float:
    return float(int.from_bytes(hashlib.blake2b(name.encode(), digest_size=6).digest(), "big"))
