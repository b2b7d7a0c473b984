"""What a row is made of, and rows as they come in requests: JSON objects, or lines of a CSV table."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from pellucid.data.cells import level_name
from pellucid.data.dates import day_of
from pellucid.serve.errors import RequestError

NOTHING = ("", "na", "n/a", "nan", "null", "none", "nil", "?", "-", ".", "#n/a")
"""Words of a CSV table for a missing number or date, in lower case; a missing level is an empty cell."""

_MOST_TEXT = 1000  # letters of a level


@dataclass(frozen=True)
class Feature:
    """One value of a row.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"number", "date", "category"}
        What it holds.
    levels : tuple of str
        Levels that are known; others are allowed.
    low, high : float or None
        Range that was seen; dates as days since 1970.
    middle : float or str or None
        A usual value, where a form begins.
    used : bool
        Whether the model makes use of it, as far as that is known; if not, rows may come without it.
    """

    name: str
    kind: str = "number"
    levels: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    middle: float | str | None = None
    used: bool = True

    def read(self, value: Any, row: int) -> Any:
        """A value out of JSON as a number, a text or ``None``."""
        if value is None:
            return None
        if self.kind == "category":
            if not isinstance(value, str | bool | int | float):
                raise self._wrong(value, row, "a text")
            text = level_name(value)
            if len(text) > _MOST_TEXT:
                raise RequestError(422, f"Row {row}: {self.name!r} is longer than {_MOST_TEXT} letters.")
            return text
        if self.kind == "date" and isinstance(value, str):
            try:
                return day_of(value)
            except ValueError:
                raise self._wrong(value, row, "a date such as 2024-02-29") from None
        if not isinstance(value, bool | int | float):
            raise self._wrong(value, row, "a number")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self._wrong(value, row, "a finite number")
        return number

    def read_text(self, text: str, row: int, comma: bool) -> Any:
        """A cell of a CSV table as a number, a text or ``None``."""
        text = text.strip()
        if self.kind == "category":
            return self.read(text, row) if text else None
        if text.lower() in NOTHING:
            return None
        if self.kind == "date":
            return self.read(text, row)
        try:
            number = float(text.replace(",", ".") if comma else text)
        except ValueError:
            raise self._wrong(text, row, "a number") from None
        return self.read(number, row)

    def column(self, values: Sequence[Any]) -> Any:
        """Values as a column of a data frame."""
        if self.kind == "category":
            return pd.Series(values, dtype=object)
        numbers = np.array([np.nan if v is None else v for v in values], dtype=float)
        if self.kind == "number":
            return pd.Series(numbers)
        try:
            return pd.Series(pd.to_datetime(np.round(numbers * 86_400_000), unit="ms"))
        except (ValueError, OverflowError):
            raise RequestError(422, f"{self.name!r} holds a date that is too far away.") from None

    @property
    def anything(self) -> float | str:
        """A value that stands for one which the model does not read."""
        if self.middle is not None:
            return self.middle
        return "" if self.kind == "category" else 0.0

    def _wrong(self, value: Any, row: int, wanted: str) -> RequestError:
        shown = repr(value)
        shown = shown if len(shown) <= 60 else f"{shown[:59]}…"
        return RequestError(422, f"Row {row}: {self.name!r} holds {shown}, which is not {wanted}.")


@dataclass(frozen=True)
class Rows:
    """Rows of a request: the columns of the features, and what else was asked for by name."""

    frame: pd.DataFrame
    extra: dict[str, list[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.frame)


def rows_of_json(rows: Any, features: Sequence[Feature], extra: Sequence[str], most: int) -> Rows:
    """Rows given as a list of objects; features that the model reads must be there, null where missing."""
    if isinstance(rows, Mapping):
        rows = [rows]
    if not isinstance(rows, list) or not rows:
        raise RequestError(422, "rows must be a list of objects, one for each row.")
    _check_count(len(rows), most)
    known = {feature.name for feature in features} | set(extra)
    for i, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise RequestError(422, f"Row {i} is not an object of names and values.")
        strange = [name for name in row if name not in known]
        if strange:
            raise RequestError(422, f"Row {i} has {_short(strange[0])}, which the model does not know.")
        absent = [f.name for f in features if f.used and f.name not in row]
        if absent:
            raise RequestError(422, f"Row {i} lacks {_short(absent[0])}; give null where a value is missing.")
    columns = {
        f.name: f.column(
            [f.read(row[f.name], i) if f.name in row else f.anything for i, row in enumerate(rows, 1)]
        )
        for f in features
    }
    given = {name: [row.get(name) for row in rows] for name in extra if any(name in row for row in rows)}
    return Rows(pd.DataFrame(columns), given)


def rows_of_csv(content: bytes, features: Sequence[Feature], extra: Sequence[str], most: int) -> Rows:
    """Rows given as a CSV table with a line of names; columns that the model does not know are left out."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RequestError(422, "The table is not in UTF-8.") from None
    if "\0" in text:
        raise RequestError(422, "The table is not a text.")
    first = text.lstrip("\r\n").split("\n", 1)[0]
    separator = max(",;\t|", key=lambda c: (first.count(c), c == ","))
    try:
        lines = list(_lines(csv.reader(io.StringIO(text), delimiter=separator), most))
    except csv.Error as error:
        raise RequestError(422, f"The table cannot be read as CSV: {error}.") from None
    if len(lines) < 2:
        raise RequestError(422, "The table needs a line of names and at least one row.")
    head = [name.strip() for name in lines[0]]
    twice = [name for name, count in Counter(head).items() if name and count > 1]
    if twice:
        raise RequestError(422, f"The table has two columns called {_short(twice[0])}.")
    for i, line in enumerate(lines[1:], 1):
        if len(line) != len(head):
            raise RequestError(422, f"Row {i} has {len(line)} cells, and the line of names has {len(head)}.")
    place = {name: c for c, name in enumerate(head)}
    absent = [f.name for f in features if f.used and f.name not in place]
    if absent:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        raise RequestError(422, f"The table has no column {_short(absent[0])}{more}, which the model needs.")
    comma = separator != ","
    columns = {
        f.name: f.column([f.read_text(line[place[f.name]], i, comma) for i, line in enumerate(lines[1:], 1)])
        if f.name in place
        else f.column([f.anything] * (len(lines) - 1))
        for f in features
    }
    given = {name: [line[place[name]].strip() for line in lines[1:]] for name in extra if name in place}
    return Rows(pd.DataFrame(columns), given)


def _lines(reader: Iterator[list[str]], most: int) -> Iterator[list[str]]:
    """Lines that are not empty, and no more than are allowed."""
    count = 0
    for line in reader:
        if any(cell.strip() for cell in line):
            count += 1
            _check_count(count - 1, most)
            yield line


def _check_count(n: int, most: int) -> None:
    if n > most:
        raise RequestError(413, f"At most {most:,} rows are taken at a time.")


def _short(name: Any) -> str:
    shown = repr(name)
    return shown if len(shown) <= 60 else f"{shown[:59]}…'"


def numbers_of(values: Sequence[Any], name: str) -> np.ndarray:
    """An extra column, such as an exposure, as numbers without gaps."""
    feature = Feature(name)
    out = []
    for i, value in enumerate(values, 1):
        number = feature.read_text(value, i, False) if isinstance(value, str) else feature.read(value, i)
        if number is None:
            raise RequestError(422, f"Row {i}: {name!r} is missing.")
        out.append(number)
    return np.array(out, dtype=float)
