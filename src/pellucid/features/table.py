"""A table as it comes (numbers, categories, booleans, dates, missing values) read as one float64 matrix.

Levels of a categorical column become code numbers, a missing value is NaN, and a level that training did not see is
``UNKNOWN``. What each column is gets decided once, in training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

UNKNOWN = -1.0
"""Code of a level that was not among the training rows."""

OTHER = "(other)"
"""Level that gathers the rare levels of a column with very many."""

MAX_LEVELS = 255
"""Levels of one column that are told apart; the most frequent ones are."""

_DAY = 86400.0


@dataclass(frozen=True)
class Column:
    """One column of the training table.

    Attributes
    ----------
    name : str
        Its name, or ``x0``, ``x1``, ... where the table had none.
    levels : tuple or None
        Levels of a categorical column in the order of their codes; ``None`` for numbers.
    dates : bool
        Whether the column came as dates; they are read as days since 1970.
    """

    name: str
    levels: tuple[Any, ...] | None = None
    dates: bool = False

    def code(self, values: np.ndarray) -> np.ndarray:
        """Codes of levels given as objects; the text form of a level is as good as the level itself."""
        assert self.levels is not None
        known: dict[Any, float] = {str(level): float(i) for i, level in enumerate(self.levels)}
        rest = known.get(OTHER, UNKNOWN)
        unique, inverse = np.unique(
            np.array(["" if _is_missing(v) else f"={v}" for v in values], dtype=object).astype(str),
            return_inverse=True,
        )
        codes = np.array([np.nan if u == "" else known.get(u[1:], rest) for u in unique])
        return codes[inverse] if len(values) else np.empty(0)


def learn_columns(X: Any, weight: np.ndarray, names: Sequence[str] | None) -> tuple[Column, ...]:
    """Decide what each column of the training table is; levels are ordered by name.

    Text, categories and enumerations are levels; numbers, booleans and dates are numbers. Beyond
    :data:`MAX_LEVELS` levels the rarest are gathered under :data:`OTHER`.
    """
    columns = []
    for j, (values, dates) in enumerate(_raw_columns(X)):
        name = f"x{j}" if names is None else str(names[j])
        levels = None if values.dtype.kind == "f" else _levels(values, weight)
        columns.append(Column(name, levels, dates))
    return tuple(columns)


def read_table(X: Any, columns: Sequence[Column]) -> np.ndarray:
    """Return ``X`` as a float64 matrix of shape (n, p): numbers, codes of levels, NaN for missing values."""
    raw = _raw_columns(X)
    out = np.empty((len(raw[0][0]) if raw else 0, len(columns)), order="F")
    for j, (column, (values, _)) in enumerate(zip(columns, raw, strict=True)):
        if column.levels is not None:
            out[:, j] = column.code(values)
        elif values.dtype.kind == "f":
            out[:, j] = values
        else:
            out[:, j] = _as_numbers(values, column.name)
    if np.isinf(out).any():
        bad = [c.name for c, v in zip(columns, out.T, strict=True) if np.isinf(v).any()]
        raise ValueError(f"Input X contains infinity or a value too large for dtype('float64') in {bad}.")
    return out


def _levels(values: np.ndarray, weight: np.ndarray) -> tuple[Any, ...]:
    present = np.array([not _is_missing(v) for v in values], dtype=bool)
    text = np.array([str(v) for v in values[present]], dtype=object).astype(str)
    unique, inverse = np.unique(text, return_inverse=True)
    mass = np.bincount(inverse, weight[present], len(unique)) if len(unique) else np.empty(0)
    unique = unique[mass > 0]
    if len(unique) <= MAX_LEVELS:
        return tuple(str(u) for u in unique)
    frequent = np.argsort(-mass[mass > 0], kind="stable")[: MAX_LEVELS - 1]
    return (*(str(u) for u in unique[np.sort(frequent)]), OTHER)


def _raw_columns(X: Any) -> list[tuple[np.ndarray, bool]]:
    """Columns as float64 or objects, each with whether it came as dates."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return [_from_series(column, column.name) for column in frame.iter_columns()]
    if X.dtype.kind in "biuf":
        return [(column, False) for column in np.asarray(X, dtype=np.float64).T]
    return [(_from_objects(column, j), False) for j, column in enumerate(np.asarray(X, dtype=object).T)]


def _from_series(column: Any, name: str) -> tuple[np.ndarray, bool]:
    if column.dtype.is_temporal() and column.dtype != nw.Duration:
        moments = column.cast(nw.Datetime("us")).to_numpy().astype("datetime64[us]")
        days = moments.astype(np.int64) / (1e6 * _DAY)
        return np.where(np.isnat(moments), np.nan, days), True
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        if column.is_null().any():
            return _as_numbers(np.array(column.to_list(), dtype=object), name), False
        return np.asarray(column.to_numpy(), dtype=np.float64), False
    return _from_objects(np.array(column.to_list(), dtype=object), name), False


def _from_objects(values: np.ndarray, name: Any) -> np.ndarray:
    """Objects stay objects, unless they are all numbers."""
    kinds = {type(v) for v in values if not _is_missing(v)}
    if all(issubclass(kind, bool | int | float | np.number | np.bool_) for kind in kinds):
        return np.array([np.nan if _is_missing(v) else v for v in values], dtype=np.float64)
    for kind in kinds:
        if not issubclass(kind, str | bytes | bool | int | float | np.generic) and not hasattr(kind, "value"):
            raise TypeError(
                f"Column {name!r} holds values of type {kind.__name__}: argument must be a string or a real "
                f"number."
            )
    return values


def _as_numbers(values: np.ndarray, name: str) -> np.ndarray:
    try:
        return np.array([np.nan if _is_missing(v) else float(v) for v in values], dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"could not convert string to float: column {name!r} was numeric in training and is not now."
        ) from None


def _is_missing(value: Any) -> bool:
    """Whether a cell is empty: None, NaN, NaT or a data frame's own mark."""
    if value is None:
        return True
    if isinstance(value, str | bytes):
        return False
    return bool(value != value) if isinstance(value, float | np.generic) else type(value).__name__ == "NAType"
