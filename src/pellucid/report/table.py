"""The data a report is about, column by column: numbers or levels, with what is missing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Column:
    """One feature."""

    name: str
    values: np.ndarray
    """Float64 with NaN for missing values, or objects: text with ``None`` for missing values."""
    dates: bool = False
    """Whether the column came as dates, which are read as days since 1970."""

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers."""
        return self.values.dtype != object

    @property
    def missing(self) -> np.ndarray:
        """Whether each value is missing."""
        if self.numeric:
            return np.isnan(self.values)
        return np.array([value is None for value in self.values], dtype=bool)

    @property
    def present(self) -> np.ndarray:
        """The values that are there."""
        return self.values[~self.missing]

    def levels(self) -> list[str]:
        """Distinct texts in order."""
        return sorted(set(self.present))

    def cells(self, rows: np.ndarray) -> list[Any]:
        """Values of some rows for JSON; ``None`` where missing."""
        chosen = self.values[rows]
        if self.numeric:
            return [None if np.isnan(v) else float(v) for v in chosen]
        return list(chosen)


def read_columns(X: Any, names: Sequence[str] | None = None) -> list[Column]:
    """Columns of a data frame, an array or a sparse matrix; nothing if ``X`` is no table.

    Examples
    --------
    >>> [column.numeric for column in read_columns([[1.0, "a"], [None, "b"]])]
    [True, False]
    """
    import narwhals as nw

    X = X.toarray() if hasattr(X, "toarray") else X
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        found = [str(name) for name in frame.columns]
        raw = [_from_series(frame[name]) for name in frame.columns]
        dates = [_is_date(frame[name]) for name in frame.columns]
    else:
        try:
            array = np.asarray(X)
        except ValueError:  # rows of different lengths
            return []
        if array.ndim != 2:
            return []
        if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
            array = np.asarray(X, dtype=object)
        found = [f"x{j}" for j in range(array.shape[1])]
        raw = [array[:, j] for j in range(array.shape[1])]
        dates = [False] * len(raw)
    if names is not None and len(names) == len(found):
        found = [str(name) for name in names]
    return [Column(name, _clean(v), date) for name, v, date in zip(found, raw, dates, strict=True)]


def _is_date(series: Any) -> bool:
    import narwhals as nw

    return bool(series.dtype.is_temporal()) and series.dtype in (nw.Date, nw.Datetime)


def _from_series(series: Any) -> np.ndarray:
    import narwhals as nw

    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=float)
    if _is_date(series):
        moments = series.cast(nw.Datetime("us")).to_numpy().astype("datetime64[us]")
        return np.where(np.isnat(moments), np.nan, moments.astype(np.int64) / 86_400e6)
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    if series.dtype in (nw.String, nw.Categorical, nw.Enum):  # levels stay levels, even if they are numbers
        values[:] = [None if _absent(value) else str(value) for value in values]
    return values


def _clean(values: np.ndarray) -> np.ndarray:
    """Float64 if that is possible, otherwise text with ``None``."""
    if values.dtype.kind in "fiub":
        return values.astype(float)
    present = [value for value in values if not _absent(value)]
    if present and all(isinstance(value, (int, float, np.number, np.bool_)) for value in present):
        return np.array([np.nan if _absent(value) else float(value) for value in values])
    cleaned = np.empty(len(values), dtype=object)
    cleaned[:] = [None if _absent(value) else str(value) for value in values]
    return cleaned


def _absent(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)  # NaN, NaT
    except (TypeError, ValueError):  # pandas.NA compares to nothing
        return True


def fingerprint(columns: Sequence[Column], y: Any) -> str:
    """SHA-256 of the data: names and values of the columns in their order, then the targets.

    Numbers enter as little-endian float64, other values as UTF-8 text, each after its length, so that the
    same data give the same digest whichever kind of table they come in.

    Examples
    --------
    >>> a = fingerprint(read_columns([[1, 2], [3, 4]]), [0, 1])
    >>> b = fingerprint(read_columns([[1.0, 2.0], [3.0, 4.0]]), [0.0, 1.0])
    >>> a == b, len(a)
    (True, 64)
    """
    digest = hashlib.sha256()
    target = np.asarray(y)
    target = target.reshape(len(target), -1)
    targets = [Column(f"y{k}", _clean(target[:, k])) for k in range(target.shape[1])]
    for column in [*columns, *targets]:
        _text(digest, column.name)
        if column.numeric:
            values = np.where(np.isnan(column.values), np.nan, column.values)  # one NaN for all
            digest.update(np.ascontiguousarray(values, dtype="<f8").tobytes())
        else:
            for value in column.values:
                _text(digest, "\0missing" if value is None else value)
    return digest.hexdigest()


def _text(digest: Any, text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    digest.update(len(data).to_bytes(8, "little"))
    digest.update(data)
