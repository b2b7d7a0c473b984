"""What a column of text holds: numbers, truth values, dates or categories, decided by one documented rule.

Every value counts, not a sample of them: a column is numeric if all that is not missing is a number. Empty
cells are missing. In a column of numbers (and in no other, as ``NA`` is also the code of Namibia) the usual
words for nothing are missing too. Codes with leading zeros, such as ``00734``, are categories. Dates are
those of ISO 8601.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from pellucid.cli.errors import UserError
from pellucid.data.cells import Cells, level_name
from pellucid.data.dates import ISO
from pellucid.data.table import read_table

NOTHING = ("na", "n/a", "nan", "null", "none", "nil", "?", "-", ".", "#n/a")
"""Words for a missing number, in lower case."""

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
    if isinstance(column.dtype, pd.StringDtype):  # the way of most columns of large files
        quick = pd.to_numeric(column, errors="coerce")
        gaps = column[quick.isna()].fillna("").str.strip().str.lower()
        if gaps.isin(["", *NOTHING]).all() and quick.notna().any() and not column.str.match(_CODE).any():
            return Told(quick, "number")
    cells = _cells(column)
    if cells.dates:
        return Told(_naive(pd.to_datetime(column)), "date")
    if cells.names is None:
        if pd.api.types.is_bool_dtype(column) and not column.isna().any():
            return Told(column.astype(bool), "boolean")
        whole = pd.api.types.is_signed_integer_dtype(column) and not column.isna().any()
        numbers = pd.Series(cells.codes, column.index, name=column.name)
        return Told(numbers.astype("int64") if whole else numbers, "number")
    if cells.ordered:
        return Told(column.cat.rename_categories(level_name), "category")
    if isinstance(column.dtype, pd.CategoricalDtype):  # the table says so itself
        return Told(as_text(column), "category")
    return _understand_text(column, cells, comma)


def _understand_text(column: pd.Series, cells: Cells, comma: bool) -> Told:
    """Decide on the different texts of a column; what they are is then taken to all cells."""
    texts = pd.Series([name.strip() for name in cells.names or ()], dtype=object)
    count = np.bincount(cells.codes[cells.codes >= 0], minlength=len(texts))

    def everywhere(values: pd.Series) -> pd.Series:
        """Values of the different texts at all cells."""
        return values.reindex(cells.codes).set_axis(column.index).rename(column.name)

    present = texts[texts != ""]
    text = everywhere(present)
    text = text.where(text.notna(), None)
    if present.empty:
        return Told(text.astype("float64"), "number")
    numbers, strange = _numbers(present, comma)
    if not strange.any() and numbers.notna().any():
        if present.str.match(_CODE).any():
            return Told(text, "category")
        return Told(everywhere(numbers.astype("float64")), "number")
    lower = present.str.lower()
    if lower.isin(["true", "false"]).all():
        truth = everywhere((lower == "true").astype("float64"))
        return Told(truth, "number") if truth.isna().any() else Told(truth.astype(bool), "boolean")
    if present.map(lambda value: ISO.fullmatch(value) is not None).all():
        dates = _dates(present)
        if dates is not None:
            return Told(everywhere(dates), "date")
    n_strange = int(count[present.index] @ strange)
    if numbers.isna().all() or 2 * n_strange > count[present.index].sum():  # a number here and there at most
        return Told(text, "category")
    return Told(text, "category", tuple(present[strange].unique()[:3]), n_strange)


def convert(column: pd.Series, kind: str, *, comma: bool = False) -> pd.Series:
    """A column as the kind that it had in training, or an error that names the value in the way."""
    if kind in ("category", "text"):
        return as_text(column)
    told = understand(column, comma=comma)
    if kind == "date" and (told.kind == "date" or told.values.isna().all()):
        return pd.to_datetime(told.values)
    if kind != "date" and told.kind in ("number", "boolean"):
        return told.values.astype(float)
    bad = told.strange[0] if told.strange else next((v for v in told.values if not pd.isna(v)), "")
    held = "dates" if kind == "date" else "numbers"
    raise UserError(f"Column {str(column.name)!r} held {held} in training, and holds {str(bad)!r} now.")


def as_text(column: pd.Series) -> pd.Series:
    """Text as objects, blanks at either end removed, missing where nothing is left; 3.0 is written 3."""
    text = column.astype(object).map(lambda v: level_name(v).strip(), na_action="ignore").astype(object)
    return text.where(text.notna() & (text != ""), None)


def _cells(column: pd.Series) -> Cells:
    try:
        return read_table(column.to_frame("")).cells[0]
    except TypeError:  # times of day and the like, of a workbook: their text has to do
        return Cells.of_levels("", as_text(column))


def _numbers(present: pd.Series, comma: bool) -> tuple[pd.Series, pd.Series]:
    """Numbers, and where there is neither a number nor a word for nothing."""
    if comma:
        decimal = present.str.fullmatch(r"[+-]?\d*,\d+")
        present = present.where(~decimal, present.str.replace(",", "."))
    nothing = present.str.lower().isin(NOTHING)
    numbers = pd.to_numeric(present.where(~nothing).astype("str"), errors="coerce")
    return numbers, numbers.isna() & ~nothing


def _dates(present: pd.Series) -> pd.Series | None:
    try:
        return _naive(pd.to_datetime(present, format="ISO8601", utc=True))
    except (ValueError, TypeError):  # 2024-02-30
        return None


def _naive(dates: pd.Series) -> pd.Series:
    """Dates in UTC without saying so."""
    return dates.dt.tz_convert("UTC").dt.tz_localize(None) if dates.dt.tz is not None else dates
