"""Rows that come in blocks: one notion for whatever is too large to be a table in memory.

A source has rows with named or numbered columns, and can be walked through as often as a fit needs: memory
maps, Parquet files and folders, lazy frames, batches, and Dask collections (``pellucid.distributed``). What
is asked of it is always a sum over its blocks. Targets, weights, offsets and exposures are columns of it, by
name, or arrays of one number per row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from numbers import Real
from types import MappingProxyType
from typing import Any, TypeVar

import narwhals as nw
import numpy as np

R = TypeVar("R")

ROLES = ("y", "sample_weight", "offset", "exposure")
"""What may come with rows besides their features."""

_BLOCK_ROWS = 1 << 16  # rows of a block of few columns
_BLOCK_CELLS = 1 << 22  # cells of a block of many


def block_rows(n_columns: int) -> int:
    """Rows of a block: a power of two that depends on the number of columns alone."""
    fitting = _BLOCK_CELLS // max(n_columns, 1)
    return max(min(_BLOCK_ROWS, 1 << max(fitting, 1).bit_length() - 1), 256)


@dataclass(frozen=True)
class Block:
    """Rows that follow one another.

    Attributes
    ----------
    X : data frame or matrix
        Features.
    given : dict from roles to arrays
        What comes with them: ``y``, ``sample_weight``, ``offset``, ``exposure``.
    where : str
        Where they are from, for messages.
    part : int
        The partition that they are from.
    start : int
        Place of the first row in its partition.
    """

    X: Any
    given: Mapping[str, Any]
    where: str
    part: int = 0
    start: int = 0

    def __len__(self) -> int:
        return len(self.X)

    def rows(self, start: int, stop: int) -> Block:
        """Some of the rows."""
        if start == 0 and stop == len(self):
            return self
        some = slice(start, stop)
        given = {role: _some(values, some) for role, values in self.given.items()}
        return replace(self, X=_some(self.X, some), given=given, start=self.start + start)


def _some(values: Any, rows: slice) -> Any:
    native = nw.from_native(values, allow_series=True, pass_through=True)
    return native[rows].to_native() if isinstance(native, nw.DataFrame | nw.Series) else values[rows]


def _together(parts: Sequence[Any]) -> Any:
    """Tables, or columns, one below the other."""
    if len(parts) == 1:
        return parts[0]
    frames = [nw.from_native(part, allow_series=True, pass_through=True) for part in parts]
    if any(isinstance(frame, nw.Series) for frame in frames):  # others are such that were joined before
        return np.concatenate([f.to_numpy() if isinstance(f, nw.Series) else np.asarray(f) for f in frames])
    if isinstance(frames[0], nw.DataFrame):
        return nw.concat(frames, how="vertical").to_native()
    return np.concatenate(parts)


def joined(blocks: Sequence[Block]) -> Block:
    """Blocks that follow one another as one."""
    first = blocks[0]
    if len(blocks) == 1:
        return first
    last = blocks[-1].where
    where = first.where if last == first.where else f"{first.where} to {last}"
    with naming(where):
        given = {role: _together([block.given[role] for block in blocks]) for role in first.given}
        return replace(first, where=where, X=_together([block.X for block in blocks]), given=given)


def aligned(pieces: Iterable[Block], size: int) -> Iterator[Block]:
    """The same rows in blocks of one size, whatever the sizes of the pieces that they come in."""
    held: list[Block] = []
    room = size
    for piece in pieces:
        at = 0
        while at < len(piece):
            take = min(room, len(piece) - at)
            held.append(piece.rows(at, at + take))
            at, room = at + take, room - take
            if room == 0:
                yield joined(held)
                held, room = [], size
    if held:
        yield joined(held)


@contextmanager
def naming(where: str) -> Iterator[None]:
    """Say in errors about data which rows they are about."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if "_named" in vars(error):
            raise
        if type(error) not in (ValueError, TypeError):
            raise
        named = type(error)(f"{where}: {error}")
        vars(named)["_named"] = True
        raise named from error


class Source(ABC):
    """Rows that come in blocks, as often as they are asked for."""

    n_rows: int | None = None
    """Number of rows, where it is known before they are read."""
    names: tuple[str, ...] | None = None
    """Names of the features; ``None`` for matrices."""
    keeps: bool = True
    """Whether rows that fit in memory may be kept from one pass to the next."""
    by_name: Mapping[str, str] = MappingProxyType({})
    """Names of the columns that are no features, by their roles."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of features."""

    @property
    @abstractmethod
    def roles(self) -> tuple[str, ...]:
        """What comes with the rows: some of :data:`ROLES`."""

    @abstractmethod
    def head(self) -> Any:
        """A table of the first few rows."""

    @abstractmethod
    def describe(self) -> str:
        """What the rows are, for messages and to know them again."""

    @abstractmethod
    def total(
        self,
        work: Callable[[Block], R],
        add: Callable[[R, R], R],
        tell: Callable[[int], None] = lambda n_rows: None,
    ) -> R:
        """Sum of what ``work`` makes of each block; ``tell`` is told of rows that are done."""

    @abstractmethod
    def first_rows(self, most: int) -> Block | None:
        """All rows as one block if there are at most so many, else ``None``."""


class LocalSource(Source):
    """Rows that this process reads one block after another."""

    _roles: Mapping[str, Any]

    @abstractmethod
    def pieces(self) -> Iterator[Block]:
        """The rows in pieces of any size, each with what comes with it."""

    def blocks(self) -> Iterator[Block]:
        """The rows in blocks of one size."""
        start = 0
        for block in aligned(self._checked(), block_rows(self.n_features)):
            yield replace(block, part=0, start=start)
            start += len(block)

    def _checked(self) -> Iterator[Block]:
        for piece in self.pieces():
            if len(piece):
                yield checked(piece, self.names, self.n_features)

    def total(
        self,
        work: Callable[[Block], R],
        add: Callable[[R, R], R],
        tell: Callable[[int], None] = lambda n_rows: None,
    ) -> R:
        """Sum of what ``work`` makes of each block, one after another."""
        parts = _worked(work, self.blocks(), tell)
        try:
            return reduce(add, parts)
        except TypeError as error:
            if "reduce()" in str(error):
                raise ValueError(f"{self.describe()} has no rows.") from None
            raise

    def first_rows(self, most: int) -> Block | None:
        """All rows as one block if there are at most so many, else ``None``."""
        if self.n_rows is not None and self.n_rows > most:
            return None
        held, n = [], 0
        for block in self.blocks():
            held.append(block)
            n += len(block)
            if n > most:
                return None
        if not held:
            raise ValueError(f"{self.describe()} has no rows.")
        return joined(held)

    def head(self) -> Any:
        """A table of the first few rows."""
        for piece in self._checked():
            return piece.rows(0, min(len(piece), 5)).X
        raise ValueError(f"{self.describe()} has no rows.")


def _worked(work: Callable[[Block], R], blocks: Iterable[Block], tell: Callable[[int], None]) -> Iterator[R]:
    for block in blocks:
        with naming(block.where):
            yield work(block)
        tell(len(block))


def checked(piece: Block, names: tuple[str, ...] | None, n_features: int) -> Block:
    """A piece with the columns that the first one has, in their order, and with some value at least."""
    with naming(piece.where):
        frame = nw.from_native(piece.X, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            have = list(frame.columns)
            for name in names or ():
                if name not in have:
                    raise ValueError(f"there is no column {name!r}, which the rows before it have.")
            for name in have:
                if names is not None and name not in names:
                    raise ValueError(f"there is a column {name!r}, which the rows before it do not have.")
            if names is not None and tuple(have) != names:
                piece = replace(piece, X=frame.select(list(names)).to_native())
            empty = len(frame) > 1 and all(_empty(frame.get_column(name)) for name in have)
        else:
            shape = np.shape(piece.X)
            if len(shape) != 2 or shape[1] != n_features:
                raise ValueError(f"the rows have the shape {shape}; {n_features} columns are expected.")
            empty = len(piece) > 1 and piece.X.dtype.kind == "f" and bool(np.isnan(piece.X).all())
        if empty:
            raise ValueError("all features are missing in all rows: leave these rows out, or mend them.")
        y = piece.given.get("y")
        if y is not None:
            values = np.asarray(y)
            if values.dtype.kind == "f" and len(values) and bool(np.isnan(values).all()):
                raise ValueError("the target is missing in all rows: leave these rows out, or mend them.")
    return piece


def _empty(column: Any) -> bool:
    if bool(column.is_null().all()):
        return True
    return bool(column.dtype.is_float() and column.is_nan().fill_null(True).all())


def take_roles(table: Any, roles: Mapping[str, str], where: str) -> tuple[Any, dict[str, Any]]:
    """A data frame without the columns that have a role, and these."""
    frame = nw.from_native(table, pass_through=True)
    if not roles:
        return table, {}
    if not isinstance(frame, nw.DataFrame):
        raise ValueError(f"{where}: y and weights by name need rows with named columns.")
    for role, name in roles.items():
        if name not in frame.columns:
            raise ValueError(
                f"{where}: there is no column {name!r} to be {role}; there are "
                f"{', '.join(frame.columns[:20])}."
            )
    given = {role: frame.get_column(name).to_numpy() for role, name in roles.items()}
    aside = set(roles.values())
    return frame.select([name for name in frame.columns if name not in aside]).to_native(), given


def split_roles(given: Mapping[str, Any], n_rows: int | None) -> tuple[dict[str, str], dict[str, Any]]:
    """Roles by name of a column, and roles as arrays, whose lengths are checked."""
    names = {role: value for role, value in given.items() if isinstance(value, str)}
    arrays = {role: value for role, value in given.items() if value is not None and role not in names}
    if n_rows is not None:
        arrays = {r: np.full(n_rows, float(v)) if isinstance(v, Real) else v for r, v in arrays.items()}
    for role, values in arrays.items():
        if n_rows is not None and np.shape(values)[:1] != (n_rows,):
            raise ValueError(f"{role} has the shape {np.shape(values)}, but there are {n_rows} rows.")
    return names, arrays
