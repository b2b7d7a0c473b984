"""Main effects of a wished shape: what users ask for, and the constraints on coefficients that it means.

A function is linear between the knots of its feature and constant beyond them, so it is monotone everywhere
if it is at the knots, and convex between the first and the last if its slopes do not fall from knot to knot.
The knots of an ordered category are its levels, at steps of one. Of the functions that a few columns span
hardly any is convex at all knots: features whose effect must bend have fewer knots, and all columns of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.data.table import Column
from pellucid.features.term_basis import TermBasis

_MOVES = {"increasing": 1, "decreasing": -1}
_BENDS = {"convex": 1, "concave": -1}


@dataclass(frozen=True)
class Shapes:
    """Wished shapes by feature number.

    Attributes
    ----------
    moves : dict from int to int
        +1 for features whose effect must rise, -1 where it must fall.
    bends : dict from int to int
        +1 for features whose effect must be convex, -1 for concave ones.
    """

    moves: Mapping[int, int] = field(default_factory=dict)
    bends: Mapping[int, int] = field(default_factory=dict)

    @property
    def features(self) -> list[int]:
        """Features of which anything is wished."""
        return sorted({*self.moves, *self.bends})


def wished_shapes(monotone: Any, columns: Sequence[Column], feature: Callable[[Any], int]) -> Shapes:
    """Shapes from what a user gave; ``feature`` finds a feature."""
    if monotone is None:
        return Shapes()
    if not isinstance(monotone, Mapping):
        raise ValueError(
            f"monotone must be a dict from features to words such as 'increasing', got {monotone!r}."
        )
    found: dict[int, tuple[int, int]] = {}
    for key, wish in monotone.items():
        j = feature(key)
        shape = _shape(wish)
        if shape is None:
            raise ValueError(
                f"monotone asks for {wish!r} of {columns[j].name!r}; it must be 'increasing' or "
                f"'decreasing' (or 1 or -1), 'convex' or 'concave', or one of each as in "
                f"'increasing concave'."
            )
        if columns[j].levels is not None and not columns[j].ordered:
            raise ValueError(
                f"monotone names {columns[j].name!r}, which holds categories without an order. Make it an "
                f"ordered category, such as pandas.Categorical(values, categories=[...], ordered=True) or "
                f"polars.Enum, from the lowest level to the highest."
            )
        if found.get(j, shape) != shape:
            raise ValueError(f"monotone names {columns[j].name!r} twice, with different wishes.")
        found[j] = shape
    moves, bends = ({j: shape[k] for j, shape in found.items() if shape[k]} for k in range(2))
    return Shapes(moves, bends)


def _shape(wish: Any) -> tuple[int, int] | None:
    """Direction and bend that are meant, 0 where nothing is said; None if nothing at all is understood."""
    if not isinstance(wish, str):
        return (int(wish), 0) if not isinstance(wish, bool | np.bool_) and wish in (1, -1) else None
    words = wish.replace(",", " ").replace(" and ", " ").split()
    moves, bends = ([kind[word] for word in words if word in kind] for kind in (_MOVES, _BENDS))
    if not words or len(moves) + len(bends) < len(words) or len(moves) > 1 or len(bends) > 1:
        return None
    return (moves[0] if moves else 0), (bends[0] if bends else 0)


def shape_rows(basis: TermBasis, shapes: Shapes) -> np.ndarray:
    """Constraints Aβ ≥ 0 on main effects: differences of neighbouring knots, and of neighbouring slopes.

    The point of missing values is not among the knots: it is free.
    """
    rows = [np.zeros((0, basis.size))]
    for term, pick, s in zip(basis.terms, basis.picks, basis.slices, strict=True):
        if len(term) > 1:
            continue
        j, axis = term[0], basis.axes.fine[term[0]]
        k = len(axis.knots)
        step = np.diff(basis.axes.main[j].table[:k, pick[0]], axis=0)
        where: np.ndarray = np.arange(k) if axis.levels else axis.knots
        slope = step / np.diff(where)[:, None]
        wished = [shapes.moves[j] * step] if j in shapes.moves else []
        wished += [shapes.bends[j] * np.diff(slope, axis=0)] if j in shapes.bends else []
        for values in wished:
            part = np.zeros((len(values), basis.size))
            part[:, s] = values
            rows.append(part)
    return np.vstack(rows)


def exactly_monotone(table: np.ndarray, n_knots: int, direction: int) -> np.ndarray:
    """A table of a main effect that is monotone up to rounding, made monotone to the last bit."""
    out = table.copy()
    out[:n_knots] = direction * np.maximum.accumulate(direction * out[:n_knots], axis=0)
    return out
