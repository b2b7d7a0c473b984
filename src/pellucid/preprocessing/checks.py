"""Refusing what is not a composition, in words that name the place and the remedy."""

from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np


def listed(items: Iterable[Any], most: int = 5) -> str:
    """Return items separated by commas, no more than ``most`` of them.

    >>> listed([3, 7])
    '3, 7'
    >>> listed(range(100))
    '0, 1, 2, 3, 4 and 95 more'
    """
    items = list(items)
    text = ", ".join(str(item) for item in items[:most])
    return text if len(items) <= most else f"{text} and {len(items) - most} more"


def check_parts(rows: np.ndarray, whom: str) -> None:
    """Raise if some part is negative."""
    negative = np.flatnonzero((rows < 0).any(axis=1))
    if negative.size:
        raise ValueError(
            f"Negative values in data passed to {whom}, in row(s) {listed(negative)}. Parts of a composition "
            f"are amounts: correct or drop these rows, or set to zero what is only noise below zero."
        )


def check_totals(parts: np.ndarray, whom: str) -> None:
    """Raise if some row has no positive part."""
    empty = np.flatnonzero(~parts.any(axis=1))
    if empty.size:
        raise ValueError(
            f"{whom} needs at least one positive part in each row, but row(s) {listed(empty)} sum to zero. "
            f"Drop these rows: they say nothing about the shares of the parts."
        )


def check_no_zeros(parts: np.ndarray, names: list[Any], whom: str) -> None:
    """Raise if some part is zero, for transformations that take logarithms."""
    zeros = (parts == 0).sum(axis=0)
    if zeros.any():
        where = [f"{names[c]!r} ({zeros[c]})" for c in np.flatnonzero(zeros)]
        raise ValueError(
            f"{whom} takes logarithms, but X has {zeros.sum()} zero(s), in column(s) {listed(where)}. "
            f"Replace them first with ReplaceZeros, or use PowerTransform, which allows zeros."
        )


def check_fraction(value: Any, name: str) -> float:
    """Return a number in (0, 1] as a float."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) <= 1:
        raise ValueError(f"{name} must be a number above 0 and at most 1, got {value!r}.")
    return float(value)
