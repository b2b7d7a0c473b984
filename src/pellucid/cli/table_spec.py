"""What has to be known beside a model to use it on a new table; it travels in the notes of the model file."""

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self, get_type_hints

import numpy as np
import pandas as pd

from pellucid.cli.errors import UserError
from pellucid.cli.kinds import convert
from pellucid.cli.tables import Source
from pellucid.data.unseen import listening
from pellucid.export.model_file.fields import fits

MISSING = "(missing)"
_MOST_LEVELS = 50  # indicator columns of one category


@dataclass(frozen=True)
class TableSpec:
    """From columns of a table to what the model takes.

    ``columns`` are the features with their kinds, in order. ``fill`` has what stands in for missing values,
    and ``levels`` the levels of categories that are given to the model as columns of zeros and ones; both are
    empty for models that take tables as they come.
    """

    model: str = ""
    task: str = ""
    target: str = ""
    columns: dict[str, str] = field(default_factory=dict)
    fill: dict[str, float] = field(default_factory=dict)
    levels: dict[str, list[str]] = field(default_factory=dict)
    takes: str = "all"
    """all: tables as they come; filled: without missing values; numbers: numbers alone."""
    weights: str | None = None
    weights_as: str | None = None
    exposure: str | None = None
    offset: str | None = None
    data: str = ""
    rows: int = 0
    held_out: dict[str, float] = field(default_factory=dict)
    split: float = 0.0
    kernel: str = ""
    """The formula of the kernel, if one was given."""

    # ------------------------------------------------------------- as notes
    def to_notes(self) -> str:
        """The spec as text for the model file."""
        return json.dumps({"pellucid fit": 1, **asdict(self)}, ensure_ascii=False)

    @classmethod
    def from_notes(cls, notes: str | None) -> Self | None:
        """The spec in a model file's notes, or ``None`` if the notes are of another kind."""
        try:
            content = json.loads(notes or "")
        except ValueError:
            return None
        if not isinstance(content, dict) or content.pop("pellucid fit", None) != 1:
            return None
        values = {f.name: content[f.name] for f in fields(cls) if f.name in content}
        hints = get_type_hints(cls)
        for key, value in values.items():
            if not fits(value, hints[key]):
                raise UserError(f"The model file's notes are damaged: {key} is not what it should be.")
        return cls(**values)

    # ---------------------------------------------------------------- learning
    def learn(self, X: pd.DataFrame) -> Self:
        """Learn from training rows what stands in for missing values, and which levels there are."""
        fill: dict[str, float] = {}
        levels: dict[str, list[str]] = {}
        for name, kind in self.columns.items():
            if self.takes == "all":
                break
            if kind == "text":
                continue
            if kind != "category":
                fill[name] = float(_number(X[name]).median())
            elif self.takes == "numbers":
                counts = _text(X[name]).value_counts()
                names = sorted(str(v) for v in counts.index[:_MOST_LEVELS])
                levels[name] = names[1:] if len(names) == 2 and len(counts) == 2 else names
        return replace(self, fill=fill, levels=levels)

    # ------------------------------------------------------------------- using
    def pick(self, source: Source, *, read: Collection[str] | None = None) -> pd.DataFrame:
        """The features of a new table, each of the kind that it had in training.

        Of those that are not among the columns ``read`` by the model any value will do, and they may be
        absent; by default all are read.
        """
        idle = set() if read is None else set(self.columns) - set(read)
        absent = [name for name in self.columns if name not in source.frame.columns and name not in idle]
        if absent:
            shown = ", ".join(repr(name) for name in absent[:5]) + (" ..." if len(absent) > 5 else "")
            raise UserError(
                f"{source.name!r} has no column {shown}, which the model needs."
                if len(absent) == 1
                else f"{source.name!r} lacks {len(absent)} columns that the model needs: {shown}."
            )
        return pd.DataFrame(
            {name: _column(source, name, kind, idle=name in idle) for name, kind in self.columns.items()}
        )

    def apply(self, X: pd.DataFrame) -> pd.DataFrame:
        """The features in the form in which the model takes them."""
        if self.takes == "all":
            return X
        made: dict[str, pd.Series] = {}
        for name, kind in self.columns.items():
            if kind == "text":  # strings and molecules, which kernels read as they are
                made[name] = X[name]
            elif kind != "category":
                made[name] = _number(X[name]).fillna(self.fill[name])
            elif self.takes == "filled":
                made[name] = _text(X[name])
            else:
                text = _text(X[name])
                made |= {f"{name}={level}": (text == level).astype(float) for level in self.levels[name]}
                self._note_unseen(name, text)
        return pd.DataFrame(made)

    def _note_unseen(self, name: str, text: pd.Series) -> None:
        """Note levels that have no column of their own, if somebody listens."""
        listener, levels = listening(), self.levels[name]
        if listener is None or not 1 < len(levels) < _MOST_LEVELS:  # of two only one has, rare ones have none
            return
        count = text[~text.isin([*levels, MISSING])].value_counts(sort=False)
        listener.add(name, {str(level): int(n) for level, n in count.items()})

    def known(self, source: Source) -> tuple[dict[str, np.ndarray], list[str]]:
        """Exposure and offset of a table, and the names of those that the model had and the table has not."""
        found, absent = {}, []
        for key, name in (("exposure", self.exposure), ("offset", self.offset)):
            if name is not None and name in source.frame.columns:
                found[key] = numbers_of(source, name, key)
            elif name is not None:
                absent.append(name)
        return found, absent


def _column(source: Source, name: str, kind: str, *, idle: bool) -> pd.Series:
    """A column of the kind that it had in training; where the model does not read it, it may be anything."""
    if name in source.frame.columns:
        try:
            return convert(source.frame[name], kind, comma=source.comma)
        except UserError:
            if not idle:
                raise
    n = len(source.frame)
    if kind == "date":
        return pd.Series(pd.to_datetime(["1970-01-01"] * n))
    return pd.Series([MISSING] * n, dtype=object) if kind in ("category", "text") else pd.Series(np.zeros(n))


def numbers_of(source: Source, name: str, role: str) -> np.ndarray:
    """A column of numbers without gaps, such as weights."""
    if name not in source.frame.columns:
        raise UserError(no_column(source, name))
    try:
        values = convert(source.frame[name], "number", comma=source.comma).to_numpy(dtype=float)
    except UserError:
        raise UserError(f"The {role} column {name!r} must hold numbers only.") from None
    if np.isnan(values).any():
        raise UserError(
            f"The {role} column {name!r} has a missing value in row {int(np.isnan(values).argmax()) + 1}."
        )
    return values


def no_column(source: Source, name: str) -> str:
    """Say that a column is not there, and which one may be meant."""
    from difflib import get_close_matches

    names: Sequence[str] = list(source.frame.columns)
    folded: dict[str, str] = {n.lower(): n for n in names}
    close = get_close_matches(name.lower(), list(folded), n=1)
    if close:
        return f"{source.name!r} has no column {name!r}; did you mean {folded[close[0]]!r}?"
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"{source.name!r} has no column {name!r}; it has {shown}."


def _text(column: pd.Series) -> pd.Series:
    """Levels, also those of ordered categories, with one for missing values."""
    return column.astype(object).fillna(MISSING)


def _number(column: pd.Series) -> pd.Series:
    """Numbers and truth values as floats, dates as days since 1970."""
    if pd.api.types.is_datetime64_any_dtype(column):
        days: Any = (column - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
        return days.astype(float)
    return column.astype(float)
