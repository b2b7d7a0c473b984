"""A table as it comes (numbers, categories, booleans, dates, missing values) read as one float64 matrix.

Levels of a categorical column become code numbers, a missing value is NaN, and a level that training did not
see is ``UNKNOWN``. What each column is gets decided once, in training.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
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
        seen: dict[Any, float] = {}
        out = np.empty(len(values))
        for i, v in enumerate(values):
            if _is_missing(v):
                out[i] = np.nan
                continue
            key = (type(v), v)  # 1, True and 1.0 are equal, but not the same level
            if key not in seen:
                seen[key] = known.get(_text(v), rest)
            out[i] = seen[key]
        return out


def learn_columns(X: Any, weight: np.ndarray, names: Sequence[str] | None) -> tuple[Column, ...]:
    """Decide what each column of the training table is; levels are ordered by name.

    Text, categories and enumerations are levels; numbers, booleans, dates and durations are numbers. Beyond
    :data:`MAX_LEVELS` levels the rarest are gathered under :data:`OTHER`.
    """
    columns = []
    for j, (values, dates) in enumerate(_raw_columns(X)):
        name = f"x{j}" if names is None else str(names[j])
        levels = None if values.dtype.kind == "f" else _levels(values, weight)
        columns.append(Column(name, levels, dates))
    return tuple(columns)


def read_plain(X: Any, columns: Sequence[Column], names: Sequence[str] | None) -> np.ndarray | None:
    """Return a table of nothing but numbers as :func:`read_table` does, without its detours, else ``None``.

    Such a table is an array, or a data frame of pandas with the names given, of finite numbers or NaN where
    training had numbers. It may be a view of the table, of any order in memory.
    """
    if any(column.levels is not None or column.dates for column in columns):
        return None
    pandas = sys.modules.get("pandas")
    if type(X) is np.ndarray:
        values = X
    elif pandas is not None and type(X) is pandas.DataFrame:
        if names is None or X.columns.tolist() != list(names):
            return None
        values = X.to_numpy()
    else:
        return None
    if values.ndim != 2 or values.shape[1] != len(columns) or not len(values):
        return None
    if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
        return None
    values = np.asarray(values, dtype=np.float64)
    return None if np.isinf(values).any() else values


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
    text = np.array([_text(v) for v in values[present]], dtype=object).astype(str)
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
    if X.dtype.kind in "mM":
        return [(_days(column), X.dtype.kind == "M") for column in X.T]
    return [_from_objects(column, j) for j, column in enumerate(np.asarray(X, dtype=object).T)]


def _from_series(column: Any, name: str) -> tuple[np.ndarray, bool]:
    kind = column.dtype
    if kind == nw.Duration:
        return _days(column.to_numpy().astype("timedelta64[us]")), False
    if kind in (nw.Date, nw.Datetime):
        if getattr(kind, "time_zone", None) is not None:
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return _days(column.cast(nw.Datetime("us")).to_numpy().astype("datetime64[us]")), True
    if kind.is_numeric() or kind == nw.Boolean:
        if column.is_null().any():
            return _as_numbers(np.array(column.to_list(), dtype=object), name), False
        return np.asarray(column.to_numpy(), dtype=np.float64), False
    values = _objects(column.to_list())
    if kind in (nw.Categorical, nw.Enum):  # levels, even if they look like numbers
        return _objects([None if _is_missing(v) else _text(v) for v in values]), False
    return _from_objects(values, name)


def _objects(values: list[Any]) -> np.ndarray:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _from_objects(values: np.ndarray, name: Any) -> tuple[np.ndarray, bool]:
    """Objects stay objects, unless they are all numbers or all dates."""
    kinds = {type(v) for v in values if not _is_missing(v)}
    if all(issubclass(kind, bool | int | float | np.number | np.bool_) for kind in kinds):
        return np.array([np.nan if _is_missing(v) else v for v in values], dtype=np.float64), False
    if all(issubclass(kind, date | np.datetime64) for kind in kinds):
        return _days(np.array([np.datetime64("NaT") if _is_missing(v) else _moment(v) for v in values])), True
    for kind in kinds:
        if not issubclass(kind, str | bytes | bool | int | float | np.generic) and not hasattr(kind, "value"):
            raise TypeError(
                f"Column {name!r} holds values of type {kind.__name__}: argument must be a string or a real "
                f"number."
            )
    return values, False


def _moment(value: Any) -> np.datetime64:
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")


def _days(moments: np.ndarray) -> np.ndarray:
    """Dates as days since 1970, durations as days; NaN where there is none."""
    gone = np.isnat(moments)
    kind = "datetime64[us]" if moments.dtype.kind == "M" else "timedelta64[us]"
    return np.where(gone, np.nan, moments.astype(kind).astype(np.int64) / (1e6 * _DAY))


def _text(value: Any) -> str:
    """Name of a level; a whole number has the same one as int and as float."""
    if isinstance(value, float | np.floating) and np.isfinite(value) and value == np.floor(value):
        return str(int(value))
    return str(value)


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
    if isinstance(value, float | np.generic):
        return bool(value != value)
    return type(value).__name__ in ("NAType", "NaTType")
