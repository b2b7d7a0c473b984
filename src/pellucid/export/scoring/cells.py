"""Cells of a table, as they come, as numbers: missing values, dates, levels as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np


def columns_of(rows: Any, names: Sequence[str]) -> list[list[Any]]:
    """Cells of each named column of a data frame, a list of dicts, a dict, or an array."""
    if isinstance(rows, Mapping):
        rows = [rows]
    if isinstance(rows, list | tuple) and rows and isinstance(rows[0], Mapping):
        return [[row.get(name) for row in rows] for name in names]
    frame = nw.from_native(rows, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        absent = [name for name in names if name not in frame.columns]
        if absent:
            if len(frame.columns) == len(names) and not set(names) & set(frame.columns):
                return [frame[name].to_list() for name in frame.columns]
            raise ValueError(f"The table lacks the columns {absent}.")
        return [frame[name].to_list() for name in names]
    array = np.asarray(rows)
    if array.ndim != 2 or array.shape[1] != len(names):
        raise ValueError(f"Rows need {len(names)} columns, got an array of shape {array.shape}.")
    return [column.tolist() for column in array.T]


def is_missing(value: Any) -> bool:
    """Whether a cell is empty: None, NaN, NaT or a data frame's own mark."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return not isinstance(value, str | bytes) and bool(value != value)


def numbers(values: Sequence[Any], name: str) -> np.ndarray:
    """Numbers as float64 with NaN for missing values; dates as days since 1970."""
    try:
        return np.array([np.nan if is_missing(v) else _number(v) for v in values], dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"Feature {name!r} needs numbers.") from None


def _number(value: Any) -> float:
    if hasattr(value, "toordinal"):
        day = float(value.toordinal() - 719163)  # of 1970-01-01
        if hasattr(value, "hour"):
            second = value.second + value.microsecond / 1e6
            day += (value.hour * 3600 + value.minute * 60 + second) / 86400.0
        return day
    return float(value)


def level_codes(values: Sequence[Any], levels: Sequence[str]) -> np.ndarray:
    """Numbers of levels by their text; -1 for other levels, NaN for missing values."""
    code = {level: float(k) for k, level in enumerate(levels)}
    return np.array([np.nan if is_missing(v) else code.get(str(v), -1.0) for v in values], dtype=float)
