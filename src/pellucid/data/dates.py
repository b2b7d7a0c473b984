"""Moments and lapses of time as days: dates count from 1970, in UTC where they have a time zone."""

import re
from datetime import UTC, datetime
from typing import Any

import numpy as np

ISO = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?", re.ASCII
)
"""Dates of ISO 8601 as text, such as ``2024-02-29`` or ``2024-02-29T12:30:00Z``."""

_DAY = 86_400e6  # microseconds


def days(moments: np.ndarray) -> np.ndarray:
    """Dates as days since 1970, lapses of time as days; NaN where there is none.

    Examples
    --------
    >>> days(np.array(["1970-01-02T12", "NaT"], dtype="datetime64[h]"))
    array([1.5, nan])
    """
    kind = "datetime64[us]" if moments.dtype.kind == "M" else "timedelta64[us]"
    return np.where(np.isnat(moments), np.nan, moments.astype(kind).astype(np.int64) / _DAY)


def day_of(value: Any) -> float:
    """Days since 1970 of a date, a moment, or text in the form of ISO 8601.

    Examples
    --------
    >>> day_of("1970-01-02"), day_of("1970-01-02T01:00+01:00")
    (1.0, 1.0)
    """
    if isinstance(value, str):
        if not ISO.fullmatch(value.strip()):
            raise ValueError(f"{value!r} is no date.")
        value = datetime.fromisoformat(value.strip())
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return float(days(np.array(value, dtype="datetime64[us]"))[()])
