"""Cells of a table, as they come, as numbers: missing values, dates, levels as text."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pellucid.data.cells import level_name
from pellucid.data.dates import day_of
from pellucid.data.table import as_frame
from pellucid.kernels.checks import is_missing


def columns_of(rows: Any, names: Sequence[str]) -> list[list[Any]]:
    """Cells of each named column of a data frame, a list of dicts, a dict, or an array."""
    if isinstance(rows, Mapping):
        rows = [rows]
    if isinstance(rows, list | tuple) and rows and isinstance(rows[0], Mapping):
        return [[row.get(name) for row in rows] for name in names]
    frame = as_frame(rows)
    if frame is not None:
        absent = [name for name in names if name not in frame.columns]
        if len(absent) == len(names) == len(frame.columns):  # the columns have names of their own
            return [frame[name].to_list() for name in frame.columns]
        if absent:
            raise ValueError(f"The table lacks the columns {absent}.")
        return [frame[name].to_list() for name in names]
    array = np.asarray(rows)
    if array.ndim != 2 or array.shape[1] != len(names):
        raise ValueError(f"Rows need {len(names)} columns, got an array of shape {array.shape}.")
    return [column.tolist() for column in array.T]


def numbers(values: Sequence[Any], name: str) -> np.ndarray:
    """Numbers as float64 with NaN for missing values; dates as days since 1970."""
    try:
        found = [day_of(v) if hasattr(v, "toordinal") and not is_missing(v) else v for v in values]
        return np.array([np.nan if is_missing(v) else float(v) for v in found], dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"Feature {name!r} needs numbers.") from None


def level_codes(values: Sequence[Any], levels: Sequence[str]) -> np.ndarray:
    """Numbers of levels by their text; -1 for other levels, NaN for missing values."""
    code = {level: float(k) for k, level in enumerate(levels)}
    return np.array([np.nan if is_missing(v) else code.get(level_name(v), -1.0) for v in values], dtype=float)
