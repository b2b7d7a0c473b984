"""Changes of a compiled additive model by hand: numbers in one of its tables are set, moved or smoothed.

Nothing is fitted here. A change is made to the numbers that the model predicts with, so what the page draws,
what is exported and what ``predict`` returns change together, at the points that were named and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.data.table import Column
from pellucid.effects.tables import TermTables
from pellucid.features.axis import Axis
from pellucid.linalg import smooth_curve


@dataclass(frozen=True)
class HandEdit:
    """One entry of the log of edits: a change by hand.

    Attributes
    ----------
    action : {"set", "move", "smooth", "remove"}
        What was done.
    term : str
        To which term.
    detail : str
        Where, and to what.

    Examples
    --------
    >>> print(HandEdit("set", "age", "from 20 to 30 to 0.5"))
    set age from 20 to 30 to 0.5, by hand
    """

    action: str
    term: str
    detail: str = ""

    def __str__(self) -> str:
        return " ".join(part for part in (self.action, self.term, self.detail) if part) + ", by hand"


def changed_since_fit(model: Any) -> bool:
    """Whether a model was changed by hand after its last fit: what it holds of held-out rows is old then."""
    edits = getattr(model, "edits_", None) or [None]
    return isinstance(edits[-1], HandEdit)


@dataclass(frozen=True)
class Segment:
    """Which points of one feature are meant; all of them if nothing is said.

    Attributes
    ----------
    low, high : float, optional
        Ends of a range of numbers, both included; ``None`` for no end.
    levels : tuple of str, optional
        Levels of a categorical feature.
    missing : bool
        Whether the point for missing values is meant: beside the range or the levels, or alone if
        ``only_missing``.
    only_missing : bool
        Whether nothing but that point is meant.
    """

    low: float | None = None
    high: float | None = None
    levels: tuple[str, ...] | None = None
    missing: bool = False
    only_missing: bool = False

    def points(self, axis: Axis, column: Column) -> np.ndarray:
        """Positions on an axis, in increasing order."""
        if self == Segment():
            return np.arange(len(axis))
        k = len(axis.knots)
        gap = self.missing or self.only_missing
        if gap and not axis.missing:
            raise ValueError(f"{column.name!r} had no missing values in training, so there is no such point.")
        found = np.empty(0, dtype=np.intp) if self.only_missing else self._known(axis, column)
        return np.append(found, k) if gap else found

    def _known(self, axis: Axis, column: Column) -> np.ndarray:
        if column.levels is not None:
            if self.low is not None or self.high is not None:
                raise ValueError(f"{column.name!r} has levels: name them, a range is for numbers.")
            names = [str(level) for level in column.levels]
            strange = [level for level in self.levels or () if level not in names]
            if strange:
                raise ValueError(f"{column.name!r} has no level {strange[0]!r}.")
            return np.array([i for i, name in enumerate(names) if self.levels is None or name in self.levels])
        if self.levels is not None:
            raise ValueError(f"{column.name!r} holds numbers: give a range, levels are for categories.")
        low = -np.inf if self.low is None else self.low
        high = np.inf if self.high is None else self.high
        if not low <= high:
            raise ValueError(f"A range of {column.name!r} goes from low to high, got {low:g} to {high:g}.")
        inside = np.flatnonzero((axis.knots >= low) & (axis.knots <= high))
        if len(inside) == 0:
            near = axis.knots[np.argsort(np.abs(axis.knots - (low if np.isfinite(low) else high)))[:2]]
            shown = " and ".join(f"{v:g}" for v in np.sort(near))
            raise ValueError(
                f"No point of {column.name!r} lies between {low:g} and {high:g}; the nearest are {shown}."
            )
        return inside

    def words(self, column: Column) -> str:
        """The segment as words, empty for all points."""
        if self.only_missing:
            return "where missing"
        text = ""
        if self.levels is not None:
            text = "at " + ", ".join(self.levels)
        elif self.low is not None or self.high is not None:
            low, high = ("" if v is None else f"{v:g}" for v in (self.low, self.high))
            text = f"from {low} to {high}" if low and high else f"from {low}" if low else f"up to {high}"
        return f"{text} and where missing".strip() if self.missing and text else text


def change_points(
    tables: TermTables,
    t: int,
    where: Sequence[Segment],
    change: Callable[[np.ndarray], np.ndarray],
    output: int | None = None,
) -> TermTables:
    """Change the numbers of term ``t`` where all its features are in their segments; one output, or all.

    Parameters
    ----------
    tables : TermTables
    t : int
        Position of the term.
    where : sequence of Segment
        One for each feature of the term.
    change : callable
        From the numbers there now to those that shall be there.
    output : int, optional
        Which output, where there are several.

    Returns
    -------
    TermTables
        New tables; the old ones stay as they are.
    """
    axes, term = tables.axes(t), tables.terms[t]
    if len(where) != len(term):
        raise ValueError(
            f"{tables.names[t]!r} has {len(term)} features, and {len(where)} segments were named."
        )
    places = [s.points(a, tables.columns[j]) for s, a, j in zip(where, axes, term, strict=True)]
    new = np.array(tables.tables[t], dtype=float)
    cells: Any = np.ix_(*places)
    if output is not None:
        cells = (*cells, output)
    new[cells] = change(new[cells])
    return _with_table(tables, t, new)


def smooth_term(tables: TermTables, t: int, width: float, output: int | None = None) -> TermTables:
    """Term ``t`` smoother along its numeric features: waves shorter than ``width`` flatten.

    ``width`` is a share of the range on the warped scale of the feature, on which its points stand for about
    equally many rows. The mean over the rows and the straight part of a curve stay; levels and the point for
    missing values stay too.
    """
    axes, term = tables.axes(t), tables.terms[t]
    if all(tables.columns[j].levels is not None for j in term):
        raise ValueError(f"{tables.names[t]!r} is of levels, which have no neighbours to be smoothed with.")
    new = np.array(tables.tables[t], dtype=float)
    picked = new if output is None else new[..., output]
    for side, (axis, j) in enumerate(zip(axes, term, strict=True)):
        k = len(axis.knots)
        if tables.columns[j].levels is not None or k < 3:
            continue
        moved = np.moveaxis(picked, side, 0)  # a view
        flat = moved[:k].reshape(k, -1)
        moved[:k] = smooth_curve(flat, axis.mass[:k], axis.coordinate, width).reshape(moved[:k].shape)
    for side in range(len(term)):  # what is nowhere contributes nothing all the same
        np.moveaxis(new, side, 0)[-1] = 0.0
    return _with_table(tables, t, new)


def _with_table(tables: TermTables, t: int, table: np.ndarray) -> TermTables:
    if not np.all(np.isfinite(table)):
        raise ValueError(f"The change of {tables.names[t]!r} leads to numbers that are not finite.")
    every = (*tables.tables[:t], table, *tables.tables[t + 1 :])
    return replace(tables, tables=every)
