"""The cells of one column as they came: numbers with NaN, or the names of levels."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Any, Self

import narwhals as nw
import numpy as np

from pellucid.data.dates import day_of, days
from pellucid.kernels.checks import is_missing

_NUMBERS = (bool, int, float, Decimal, np.number, np.bool_)


@dataclass(frozen=True)
class Cells:
    """One column of a table."""

    name: str
    codes: np.ndarray
    """Numbers as float64, NaN where one is missing; or whole numbers that say which of ``names`` each cell
    is, -1 where it is empty."""
    names: tuple[str, ...] | None = None
    """Names of the levels that occur, in declared or no particular order; ``None`` for numbers."""
    dates: bool = False  # whether the column came as dates, which are read as days since 1970
    ordered: bool = False
    """Whether the table declares an order of the levels; ``names`` has it, with all that are declared."""

    @classmethod
    def of_levels(cls, name: str, values: Iterable[Any], order: Iterable[Any] | None = None) -> Self:
        """Levels by their names; the text form of a level is as good as the level itself."""
        number: dict[str, int] = {level_name(v): k for k, v in enumerate(order or ())}
        seen: dict[Any, int] = {}
        codes = []
        for v in values:
            if is_missing(v):
                codes.append(-1)
                continue
            key = (type(v), v)  # 1, True and 1.0 are equal, but not the same level
            if key not in seen:
                seen[key] = number.setdefault(level_name(v), len(number))
            codes.append(seen[key])
        return cls(name, np.array(codes, dtype=np.intp), tuple(number), ordered=order is not None)

    @property
    def numeric(self) -> bool:
        """Whether the cells are numbers."""
        return self.names is None

    @cached_property
    def values(self) -> np.ndarray:
        """The numbers, or names of levels as objects with ``None`` for missing ones."""
        if self.names is None:
            return self.codes
        names = np.empty(len(self.names) + 1, dtype=object)
        names[: len(self.names)] = self.names
        return names[self.codes]

    @property
    def missing(self) -> np.ndarray:
        """Whether each cell is empty."""
        return np.isnan(self.codes) if self.names is None else self.codes < 0

    @property
    def present(self) -> np.ndarray:
        """The values that are there."""
        return self.values[~self.missing]

    def levels(self) -> list[str]:
        """Names that occur, in the order that was declared, else by name."""
        found = set(self.present.tolist())
        return [name for name in self.names or () if name in found] if self.ordered else sorted(found)

    def plain(self, rows: np.ndarray) -> list[Any]:
        """Values of some rows for JSON; ``None`` where missing."""
        chosen = self.values[rows].tolist()
        return [None if v != v else v for v in chosen] if self.numeric else chosen


def cells_of(name: str, column: Any) -> Cells:
    """Read a series of a data frame, or a column of an array."""
    if isinstance(column, nw.Series):
        return _from_series(name, column)
    if column.dtype.kind in "biuf":
        return Cells(name, np.asarray(column, dtype=np.float64))
    if column.dtype.kind in "mM":
        return Cells(name, days(column), dates=column.dtype.kind == "M")
    return _from_objects(name, np.asarray(column, dtype=object))


def _from_series(name: str, column: Any) -> Cells:
    kind = column.dtype
    if kind == nw.Duration:
        return Cells(name, days(column.to_numpy().astype("timedelta64[us]")))
    if kind in (nw.Date, nw.Datetime):
        if getattr(kind, "time_zone", None) is not None:
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        moments = column.cast(nw.Datetime("us")).to_numpy().astype("datetime64[us]")
        return Cells(name, days(moments), dates=True)
    if is_numeric(column):
        if column.is_null().any():
            return Cells(name, _each(float, column.to_list()))
        return Cells(name, np.asarray(column.to_numpy(), dtype=np.float64))
    if kind in (nw.Categorical, nw.Enum):  # levels, even if they look like numbers
        return Cells.of_levels(name, column.to_list(), _declared(column))
    return _from_objects(name, column.to_list())


def is_numeric(column: Any) -> bool:
    """Whether a series holds numbers or truth values."""
    return bool(column.dtype.is_numeric() or column.dtype == nw.Boolean)


def _declared(column: Any) -> Iterable[Any] | None:
    """Categories of an ordered column: of Enum, as of pandas's ordered categories, or of Arrow."""
    if isinstance(column.dtype, nw.Enum):
        return column.dtype.categories
    native = column.to_native()
    arrow = hasattr(getattr(native, "dtype", None), "pyarrow_dtype")  # in a data frame of pandas
    native = column.to_arrow() if arrow else native
    if not getattr(getattr(native, "type", None), "ordered", False):
        return None
    chunks = getattr(native, "chunks", [native])
    return dict.fromkeys(level for chunk in chunks for level in chunk.dictionary.to_pylist())


def _from_objects(name: str, values: Any) -> Cells:
    """Objects are levels, unless they are all numbers or all dates."""
    kinds = {type(v) for v in values if not is_missing(v)}
    if all(issubclass(kind, _NUMBERS) for kind in kinds):
        return Cells(name, _each(float, values))
    if all(issubclass(kind, date | np.datetime64) for kind in kinds):
        return Cells(name, _each(day_of, values), dates=True)
    for kind in kinds:
        if not issubclass(kind, str | bytes | bool | int | float | np.generic) and not hasattr(kind, "value"):
            raise TypeError(
                f"Column {name!r} holds values of type {kind.__name__}: argument must be a string or a real "
                f"number."
            )
    return Cells.of_levels(name, values)


def _each(number: Callable[[Any], float], values: Iterable[Any]) -> np.ndarray:
    return np.array([np.nan if is_missing(v) else number(v) for v in values], dtype=np.float64)


def level_name(value: Any) -> str:
    """Name of a level; a whole number has the same one as int and as float."""
    if isinstance(value, float | np.floating) and np.isfinite(value) and value == np.floor(value):
        return str(int(value))
    return str(value)
