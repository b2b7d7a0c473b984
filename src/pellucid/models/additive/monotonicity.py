"""Main effects that must rise or fall: what users ask for, and the constraints on coefficients that it means.

A function is linear between the knots of its feature and constant beyond them, so it is monotone everywhere
if it is at the knots. The knots of an ordered category are its levels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pellucid.data.table import Column
from pellucid.features.term_basis import TermBasis

_WORDS = {"increasing": 1, "decreasing": -1}


def monotone_directions(
    monotone: Any, columns: Sequence[Column], feature: Callable[[Any], int]
) -> dict[int, int]:
    """Directions by feature number, +1 for rising, from what a user gave; ``feature`` finds a feature."""
    if monotone is None:
        return {}
    if not isinstance(monotone, Mapping):
        raise ValueError(
            f"monotone must be a dict from features to 'increasing' or 'decreasing', got {monotone!r}."
        )
    found: dict[int, int] = {}
    for key, wish in monotone.items():
        j = feature(key)
        direction = _WORDS.get(wish) if isinstance(wish, str) else wish
        if isinstance(direction, bool | np.bool_) or direction not in (1, -1):
            raise ValueError(
                f"monotone asks for {wish!r} of {columns[j].name!r}; it must be 'increasing' or "
                f"'decreasing', or 1 or -1."
            )
        if columns[j].levels is not None and not columns[j].ordered:
            raise ValueError(
                f"monotone names {columns[j].name!r}, which holds categories without an order. Make it an "
                f"ordered category, such as pandas.Categorical(values, categories=[...], ordered=True) or "
                f"polars.Enum, from the lowest level to the highest."
            )
        if found.get(j, direction) != direction:
            raise ValueError(f"monotone names {columns[j].name!r} twice, with different directions.")
        found[j] = int(direction)
    return found


def monotone_rows(basis: TermBasis, directions: Mapping[int, int]) -> np.ndarray:
    """Constraints Aβ ≥ 0: differences of neighbouring knots of the main effects of features, +1 for rising.

    The point of missing values is not among the knots: it is free.
    """
    rows = [np.zeros((0, basis.size))]
    for term, pick, s in zip(basis.terms, basis.picks, basis.slices, strict=True):
        if len(term) > 1 or term[0] not in directions:
            continue
        k = len(basis.axes.fine[term[0]].knots)
        step = np.diff(basis.axes.main[term[0]].table[:k, pick[0]], axis=0)
        part = np.zeros((len(step), basis.size))
        part[:, s] = directions[term[0]] * step
        rows.append(part)
    return np.vstack(rows)


def exactly_monotone(table: np.ndarray, n_knots: int, direction: int) -> np.ndarray:
    """A table of a main effect that is monotone up to rounding, made monotone to the last bit."""
    out = table.copy()
    out[:n_knots] = direction * np.maximum.accumulate(direction * out[:n_knots], axis=0)
    return out
