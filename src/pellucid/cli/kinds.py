"""What a column of text holds: numbers, truth values, dates or categories, decided by one documented rule.

Every value counts, not a sample of them: a column is numeric if all that is not missing is a number. Empty
cells are missing. In a column of numbers (and in no other, as ``NA`` is also the code of Namibia) the usual
words for nothing are missing too. Codes with leading zeros, such as ``00734``, are categories. Dates are
those of ISO 8601.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pellucid.cli.errors import UserError

NOTHING = ("na", "n/a", "nan", "null", "none", "nil", "?", "-", ".", "#n/a")
"""Words for a missing number, in lower case."""

_ISO = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"

_CODE = r"\s*[+-]?0\d+\s*$"  # a number with leading zeros


@dataclass(frozen=True)
class Told:
    """A column as it was understood."""

    values: pd.Series
    kind: str
    """number, boolean, date or category."""
    strange: tuple[str, ...] = ()
    """Values for which a column of mostly numbers was not taken as numbers."""
    n_strange: int = 0


def understand(column: pd.Series, *, comma: bool = False) -> Told:
    """Decide what a column holds; ``comma`` allows decimal commas.

    Examples
    --------
    >>> understand(pd.Series(["1", "", "2.5"])).kind, understand(pd.Series(["1", "x"])).kind
    ('number', 'category')
    >>> (
    ...     understand(pd.Series(["2024-02-29", "NA"])).kind,
    ...     understand(pd.Series(["07", "11"])).kind,
    ... )
    ('category', 'category')
    """
    if pd.api.types.is_bool_dtype(column) and not column.isna().any():
        return Told(column.astype(bool), "boolean")
    if pd.api.types.is_numeric_dtype(column):
        return Told(_as_floats(column), "number")
    if pd.api.types.is_datetime64_any_dtype(column):
        return Told(_naive(column), "date")
    if isinstance(column.dtype, pd.CategoricalDtype):  # the table says so itself
        return Told(as_text(column), "category")
    if pd.api.types.is_timedelta64_dtype(column):
        return Told(column / pd.Timedelta(days=1), "number")
    quick = pd.to_numeric(column, errors="coerce") if isinstance(column.dtype, pd.StringDtype) else None
    if quick is not None and quick.notna().all() and not column.str.match(_CODE).any():
        return Told(_as_floats(quick), "number")
    text = as_text(column)
    present = text[text.notna()]
    if present.empty:
        return Told(pd.Series(np.nan, index=column.index, name=column.name), "number")
    numbers, strange = _numbers(present, comma)
    if not strange.any() and numbers.notna().any():
        if present.str.match(_CODE).any():
            return Told(text, "category")
        return Told(_as_floats(numbers.reindex(column.index)), "number")
    lower = present.str.lower()
    if lower.isin(["true", "false"]).all():
        truth = lower == "true"
        if len(present) == len(text):
            return Told(truth, "boolean")
        return Told(truth.astype(float).reindex(column.index), "number")
    if present.str.fullmatch(_ISO).all():
        dates = _dates(present)
        if dates is not None:
            return Told(dates.reindex(column.index), "date")
    mostly = strange.mean() <= 0.5
    examples = tuple(present[strange].unique()[:3]) if mostly else ()
    return Told(text, "category", examples, int(strange.sum()) if mostly else 0)


def convert(column: pd.Series, kind: str, *, comma: bool = False) -> pd.Series:
    """A column as the kind that it had in training, or an error that names the value in the way."""
    name = str(column.name)
    if kind == "category":
        return as_text(column)
    told = understand(column, comma=comma)
    if kind == "date":
        if told.kind == "date" or told.values.isna().all():
            return pd.to_datetime(told.values)
        raise UserError(f"Column {name!r} held dates in training, and holds {_example(told.values)!r} now.")
    if told.kind in ("number", "boolean"):
        return told.values.astype(float)
    bad = told.strange[0] if told.strange else _example(told.values)
    raise UserError(f"Column {name!r} held numbers in training, and holds {bad!r} now.")


def as_text(column: pd.Series) -> pd.Series:
    """Text as objects, blanks at either end removed, missing where nothing is left; 3.0 is written 3."""
    missing = column.isna()
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    if pd.api.types.is_bool_dtype(column):
        text = column.astype(str)
    elif pd.api.types.is_numeric_dtype(column):
        text = column.map(_number_text, na_action="ignore").astype(object)
    else:
        text = column.map(lambda v: _number_text(v) if isinstance(v, float) else str(v), na_action="ignore")
    text = text.astype(object).where(~missing, "").map(lambda v: str(v).strip())
    return text.astype(object).where(text != "", None)


def _number_text(value: Any) -> str:
    return str(int(value)) if float(value).is_integer() else str(value)


def _numbers(present: pd.Series, comma: bool) -> tuple[pd.Series, pd.Series]:
    """Numbers, and where there is neither a number nor a word for nothing."""
    if comma:
        decimal = present.str.fullmatch(r"[+-]?\d*,\d+")
        present = present.where(~decimal, present.str.replace(",", "."))
    nothing = present.str.lower().isin(NOTHING)
    numbers = pd.to_numeric(present.where(~nothing).astype("str"), errors="coerce")
    return numbers, numbers.isna() & ~nothing


def _as_floats(values: pd.Series) -> pd.Series:
    """Whole numbers as int64, everything else as float64 with NaN."""
    numbers = values.astype("float64") if values.isna().any() else values
    if pd.api.types.is_integer_dtype(numbers) and pd.api.types.is_signed_integer_dtype(numbers):
        return numbers.astype("int64")
    return numbers.astype("float64")


def _dates(present: pd.Series) -> pd.Series | None:
    try:
        return _naive(pd.to_datetime(present, format="ISO8601", utc=True))
    except (ValueError, TypeError):  # 2024-02-30
        return None


def _naive(dates: pd.Series) -> pd.Series:
    """Dates in UTC without saying so."""
    return dates.dt.tz_convert("UTC").dt.tz_localize(None) if dates.dt.tz is not None else dates


def _example(values: pd.Series) -> str:
    return str(next((v for v in values if not pd.isna(v)), ""))
