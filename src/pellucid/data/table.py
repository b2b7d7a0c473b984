"""The gate for tables: data frames of any library and arrays, read as one float64 matrix.

Levels of a categorical column become code numbers, a missing value is NaN, and a level that training did not
see is ``UNKNOWN``. What each column is gets decided once, in training.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import narwhals as nw
import numpy as np
from sklearn.utils.validation import validate_data

from pellucid.data.beyond import refuse_rows_beyond_memory
from pellucid.data.cells import Cells, cells_of
from pellucid.data.dates import day_of
from pellucid.data.unseen import listening

UNKNOWN = -1.0
"""Code of a level that was not among the training rows."""

OTHER = "(other)"
"""Level that gathers the rare levels of a column with very many."""

MAX_LEVELS = 255
"""Levels of one column that are told apart; the most frequent ones are."""


@dataclass(frozen=True)
class Column:
    """What a column of the training table is."""

    name: str  # ``x0``, ``x1``, ... where the table had none
    levels: tuple[Any, ...] | None = None
    """Levels of a categorical column in the order of their codes; ``None`` for numbers."""
    dates: bool = False  # whether the column came as dates; they are read as days since 1970
    ordered: bool = False  # whether the table declared an order of the levels, which is that of ``levels``

    def unseen(self, cells: Cells) -> dict[str, int]:
        """Levels of the cells that training did not have, with the number of their rows.

        There are none where the model keeps no levels, or gathers the rare ones.
        """
        if not self.levels or OTHER in self.levels:
            return {}
        if cells.names is None:
            cells = Cells.of_levels(cells.name, cells.codes.tolist())
        known = set(map(str, self.levels))
        strange = [k for k, name in enumerate(cells.names or ()) if name not in known]
        if not strange:
            return {}
        codes = np.asarray(cells.codes)
        count = np.bincount(codes[codes >= 0], minlength=len(cells.names or ()))
        return {(cells.names or ())[k]: int(count[k]) for k in strange if count[k]}

    def code(self, cells: Cells) -> np.ndarray:
        """Cells as the numbers or codes that training would have given them."""
        if self.levels is not None:
            if cells.names is None:
                cells = Cells.of_levels(cells.name, cells.codes.tolist())
            known = {str(level): float(k) for k, level in enumerate(self.levels)}
            rest = known.get(OTHER, UNKNOWN)
            return _look_up(cells, [known.get(name, rest) for name in cells.names or ()])
        if cells.names is not None:
            return _look_up(cells, [self._number(name) for name in cells.names])
        if cells.dates and not self.dates:
            raise ValueError(f"Column {self.name!r} held numbers in training, and holds dates now.")
        return cells.codes

    def _number(self, text: str) -> float:
        """A number, or a date, that comes as text."""
        try:
            return day_of(text) if self.dates else float(text)
        except ValueError:
            if self.dates:
                hint = f"held dates in training, and holds {text!r} now: give dates, or text like 2024-02-29."
            else:
                hint = f"held numbers in training, and holds {text!r} now: could not convert string to float."
            raise ValueError(f"Column {self.name!r} {hint}") from None


def _look_up(cells: Cells, numbers: Sequence[float]) -> np.ndarray:
    return np.array([*numbers, np.nan])[cells.codes]  # the last one is for the code -1 of missing cells


@dataclass(frozen=True)
class Table:
    """A table as it came, column by column; ``array`` is the whole of it if it is an array of numbers."""

    cells: tuple[Cells, ...]
    array: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.cells[0].codes)

    def named(self, names: Iterable[Any]) -> Self:
        """The table with other names."""
        return replace(
            self, cells=tuple(replace(c, name=str(n)) for c, n in zip(self.cells, names, strict=True))
        )

    def learn(self, weight: np.ndarray, *, most: int | None = None) -> tuple[Column, ...]:
        """Decide what each column is, from the rows of positive weight.

        Text, categories and enumerations are levels, ordered as declared, else by name; numbers, booleans,
        dates and durations are numbers. Beyond ``most`` levels the rarest are gathered under :data:`OTHER`; a
        column with more than one level for every two rows names the rows, and keeps no level then.
        """
        return tuple(learn_column(cells, weight, most) for cells in self.cells)

    def rows(self, columns: Sequence[Column], *, complete: bool = False) -> np.ndarray:
        """The table as a float64 matrix of shape (n, p): numbers, codes of levels, NaN for missing values.

        ``complete`` refuses missing values; a float64 array is not copied then.
        """
        if complete and self.array is not None and all(column.levels is None for column in columns):
            _refuse(np.isnan(self.array), "NaN or missing values", columns)
            return np.asarray(self.array, dtype=np.float64)
        out = np.empty((len(self), len(columns)), order="F")
        listener = listening()
        for j, (column, cells) in enumerate(zip(columns, self.cells, strict=True)):
            out[:, j] = column.code(cells)
            if listener is not None and column.levels:
                listener.add(column.name, column.unseen(cells))
        _refuse(np.isinf(out), "infinity or a value too large for dtype('float64')", columns)
        if complete:
            _refuse(np.isnan(out), "NaN or missing values", columns)
        return out


def _refuse(bad: np.ndarray, what: str, columns: Sequence[Column]) -> None:
    if bad.any():
        where = [columns[j].name for j in np.flatnonzero(bad.any(axis=0)).tolist()]
        raise ValueError(f"Input X contains {what} in columns {where}: fill or drop them first.")


def learn_column(cells: Cells, weight: np.ndarray, most: int | None, total: float | None = None) -> Column:
    """What one column is, see :meth:`Table.learn`; ``total`` is the weight of all rows, those missing too."""
    if cells.names is None:
        return Column(cells.name, None, cells.dates)
    there = cells.codes >= 0
    mass = np.bincount(cells.codes[there], weight[there], len(cells.names))
    found = [k for k in range(len(mass)) if mass[k] > 0]
    if not cells.ordered:
        found.sort(key=cells.names.__getitem__)
    if most is not None and 2 * len(found) > max(float(weight.sum()) if total is None else total, 4.0):
        return Column(cells.name, ())
    if most is None or len(found) <= most:
        return Column(cells.name, tuple(cells.names[k] for k in found), ordered=cells.ordered)
    frequent = np.sort(np.argsort(-mass[found], kind="stable")[: most - 1])
    return Column(cells.name, (*(cells.names[found[i]] for i in frequent), OTHER))


# ------------------------------------------------------------------------ entry
def check_names(names: Iterable[Any], what: str = "X") -> None:
    """Raise if two columns have the same name."""
    seen: set[str] = set()
    for name in map(str, names):
        if name in seen:
            raise ValueError(
                f"{what} has two columns called {name!r}: rename one of them, so that they can be told apart."
            )
        seen.add(name)


def as_frame(X: Any, what: str = "X") -> Any:
    """The data frame that ``X`` is, wrapped by narwhals and collected if it is lazy; ``None`` for others."""
    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError:
        check_names(getattr(X, "column_names", None) or X.columns, what)
        raise
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, nw.DataFrame):
        return None
    check_names(frame.columns, what)
    return frame


def feature_frame(estimator: Any, X: Any, *, reset: bool) -> Any:
    """The data frame that ``X`` is, without columns that a fit named for something else; ``None`` for arrays.

    A model of a formula sees the columns that this named and no others. One whose fit took targets or weights
    by their names does not see these columns. A new fit (``reset``) forgets what those before named.
    """
    frame = as_frame(X)
    if reset:
        vars(estimator).pop("formula_", None)
        vars(estimator).pop("roles_", None)
    if frame is None:
        return None
    aside = _columns_aside(estimator)
    if aside.intersection(frame.columns):
        frame = frame.select([name for name in frame.columns if name not in aside])
    if "formula_" not in vars(estimator):
        return frame
    names = [str(name) for name in estimator.feature_names_in_]
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise ValueError(f"The table has no column {absent[0]!r}, which {estimator.formula_!r} names.")
    return frame.select(names)


def without_roles(estimator: Any, X: Any) -> Any:
    """A table without the columns that the fit of a model named for something else than features."""
    frame, aside = as_frame(X), _columns_aside(estimator)
    if frame is None or not aside.intersection(frame.columns):
        return X
    return frame.select([name for name in frame.columns if name not in aside]).to_native()


def _columns_aside(estimator: Any) -> set[str]:
    roles = getattr(estimator, "roles_", None) or {}
    return set(roles.values()).difference(getattr(estimator, "feature_names_in_", ()))


def collected(X: Any, what: str = "X") -> Any:
    """``X`` itself, or the data frame that a lazy one is; column names that occur twice are refused."""
    frame = as_frame(X, what)
    return X if frame is None else frame.to_native()


def read_table(X: Any) -> Table:
    """Read a data frame or an array of two dimensions."""
    frame = as_frame(X)
    if frame is not None:
        return Table(tuple(cells_of(str(series.name), series) for series in frame.iter_columns()))
    array = X if X.dtype.kind == "f" else None
    return Table(tuple(cells_of(f"x{j}", column) for j, column in enumerate(X.T)), array)


def enter_table(estimator: Any, X: Any, *, reset: bool, least: int = 1) -> Table:
    """Check a table by scikit-learn's rules for names and shapes, and read it.

    In training (``reset``) it must have at least ``least`` columns.
    """
    refuse_rows_beyond_memory(estimator, X)
    frame = feature_frame(estimator, X, reset=reset)
    if frame is not None:
        X = frame.to_native()
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        for n, what, minimum in ((len(frame), "sample", 1), (len(frame.columns), "feature", least)):
            if n < minimum:
                raise ValueError(
                    f"Found array with {n} {what}(s) (shape={frame.shape}) while a minimum of {minimum} is "
                    f"required by {type(estimator).__name__}."
                )
    else:
        numeric = getattr(getattr(X, "dtype", None), "kind", "f") in "biufc"
        X = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=None,
            ensure_all_finite="allow-nan" if numeric else False,
            ensure_min_features=least if reset else 1,
        )
    table = read_table(X)
    names = getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(len(table.cells))])
    return table.named(names)


def with_value(X: Any, rows: np.ndarray, j: int, value: Any) -> Any:
    """Some rows of a table with one column set to a value, as a table of the same kind."""
    frame = as_frame(X)
    if frame is None:
        part = (X.toarray() if hasattr(X, "toarray") else np.asarray(X))[rows].copy()
        part[:, j] = value
        return part
    part = frame[rows.tolist()]
    name = part.columns[j]
    kind = part.get_column(name).dtype
    column = nw.new_series(name, [value] * len(rows), kind, backend=part.implementation)
    if part.implementation.is_pandas():  # keep the index in step
        column = nw.maybe_set_index(column, index=nw.maybe_get_index(part))
    return part.with_columns(column).to_native()


def read_plain(X: Any, columns: Sequence[Column], names: Sequence[str] | None) -> np.ndarray | None:
    """Return a table of nothing but numbers as rows, without detours, else ``None``.

    Such a table is an array, or a data frame of pandas with the names given, of finite numbers or NaN where
    training had numbers. It may be a view of the table, of any order in memory.
    """
    if any(column.levels is not None or column.dates for column in columns):
        return None
    pandas = sys.modules.get("pandas")
    if pandas is not None and type(X) is pandas.DataFrame and X.columns.tolist() == list(names or ()):
        X = X.to_numpy()
    if type(X) is not np.ndarray or X.ndim != 2 or X.shape[1] != len(columns) or not len(X):
        return None
    if X.dtype.kind not in "biuf" or X.dtype.itemsize > 8:
        return None
    X = np.asarray(X, dtype=np.float64)
    return None if np.isinf(X).any() else X
