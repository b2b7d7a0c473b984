"""Dask arrays and data frames as sources of rows.

Work goes to where the partitions are, and what it makes of them is added up in a tree of a fixed shape: the
sum does not depend on which worker did what, or when. A worker that dies loses its partitions, and Dask
computes these again elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from typing import Any, TypeVar

import dask.array as da
import numpy as np
from dask.base import compute, is_dask_collection
from dask.delayed import delayed

from pellucid.data.source import (
    ROLES,
    Block,
    Source,
    aligned,
    block_rows,
    checked,
    joined,
    naming,
    split_roles,
    take_roles,
)

R = TypeVar("R")

_FAN_IN = 8  # sums that are added up at once


def as_source(X: Any, roles: Mapping[str, Any]) -> DaskSource:
    """The source that a Dask collection is, with what comes along with its rows."""
    if not (isinstance(X, da.Array) and X.ndim == 2) and not hasattr(X, "map_partitions"):
        raise TypeError(
            f"Of Dask, arrays of two dimensions and data frames are rows; this is {type(X).__name__}."
        )
    return DaskSource(X, roles)


class DaskSource(Source):
    """A Dask array or data frame; each of its partitions is worked on where it is."""

    keeps = False

    def __init__(self, X: Any, roles: Mapping[str, Any]) -> None:
        self._X = X.rechunk({1: -1}) if isinstance(X, da.Array) else X
        self.by_name, arrays = split_roles(roles, None)
        is_frame = not isinstance(X, da.Array)
        if self.by_name and not is_frame:
            raise ValueError("y and weights by name need a data frame; with an array, pass arrays.")
        if is_frame:
            for role, name in self.by_name.items():
                if name not in X.columns:
                    raise ValueError(f"There is no column {name!r} to be {role}.")
            aside = set(self.by_name.values())
            self.names = tuple(str(name) for name in X.columns if name not in aside)
            self._n_features = len(self.names)
        else:
            self._n_features = int(X.shape[1])
            self.n_rows = None if np.isnan(X.shape[0]) else int(X.shape[0])
        self._parts = _parts(self._X)
        self._arrays = {role: self._split(role, values) for role, values in arrays.items()}

    def _split(self, role: str, values: Any) -> list[Any]:
        """One piece of what comes with the rows for each partition."""
        if isinstance(values, da.Array) and isinstance(self._X, da.Array):
            rows = self._X.chunks[0]
            if not np.isnan([*rows, *values.chunks[0]]).any() and values.chunks[0] != rows:
                if sum(rows) != values.shape[0]:
                    raise ValueError(f"{role} has {values.shape[0]} entries for {sum(rows)} rows.")
                values = values.rechunk((rows, *values.chunks[1:]))
        if is_dask_collection(values):
            parts = _parts(values)
            if len(parts) != len(self._parts):
                raise ValueError(
                    f"{role} has {len(parts)} partitions and X has {len(self._parts)}: they must be alike."
                )
            return parts
        ends = np.cumsum([0, *self._lengths()])
        if len(values) != ends[-1]:
            raise ValueError(f"{role} has {len(values)} entries for {ends[-1]} rows.")
        values = np.asarray(values)
        return [values[a:b] for a, b in pairwise(ends)]

    def _lengths(self) -> list[int]:
        if isinstance(self._X, da.Array) and self.n_rows is not None:
            return [int(n) for n in self._X.chunks[0]]
        lengths = compute(*(delayed(len)(part) for part in self._parts))
        self.n_rows = int(sum(lengths))
        return list(lengths)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self._n_features

    @property
    def roles(self) -> tuple[str, ...]:
        """What comes with the rows."""
        return (*self.by_name, *self._arrays)

    def describe(self) -> str:
        """What the rows are."""
        return f"A Dask collection of {len(self._parts)} partitions and {self._n_features} features"

    def head(self) -> Any:
        """A table of the first few rows."""
        for k, part in enumerate(self._parts):
            (table,) = compute(delayed(_first)(part))
            if len(table):
                return take_roles(table, self.by_name, f"Partition {k}")[0]
        raise ValueError(f"{self.describe()} has no rows.")

    def first_rows(self, most: int) -> Block | None:
        """All rows as one block if there are at most so many, else ``None``."""
        if self.n_rows is None:
            self._lengths()
        assert self.n_rows is not None
        if self.n_rows > most:
            return None
        blocks = compute(*(delayed(_piece)(self._plan(k), *self._inputs(k)) for k in self._range()))
        some = [block for block in blocks if len(block)]
        if not some:
            raise ValueError(f"{self.describe()} has no rows.")
        return joined(some)

    def total(
        self,
        work: Callable[[Block], R],
        add: Callable[[R, R], R],
        tell: Callable[[int], None] = lambda n_rows: None,
    ) -> R:
        """Sum of what ``work`` makes of the blocks of all partitions, added up in a tree."""
        shared = delayed((work, add), traverse=False)
        level = [delayed(_sum_of_part)(shared, self._plan(k), *self._inputs(k)) for k in self._range()]
        while len(level) > 1:
            groups = [level[i : i + _FAN_IN] for i in range(0, len(level), _FAN_IN)]
            level = [delayed(_sum)(shared, group) for group in groups]
        ((total, n_rows),) = compute(level[0])
        if n_rows == 0:
            raise ValueError(f"{self.describe()} has no rows.")
        tell(n_rows)
        return total

    def mapped(self, work: Callable[[Block], np.ndarray]) -> da.Array:
        """What ``work`` makes of each row, computed when it is asked for."""
        shared = delayed(work, traverse=False)
        known = isinstance(self._X, da.Array) and self.n_rows is not None
        lengths = [float(n) for n in self._lengths()] if known else [np.nan] * len(self._parts)
        head = self.head()
        like = work(Block(head, {role: np.ones(len(head)) for role in self.roles}, "The first rows"))
        pieces = [
            da.from_delayed(
                delayed(_of_part)(shared, self._plan(k), like[:0], *self._inputs(k)),
                shape=(lengths[k] if np.isnan(lengths[k]) else int(lengths[k]), *like.shape[1:]),
                dtype=like.dtype,
            )
            for k in self._range()
        ]
        return da.concatenate(pieces, allow_unknown_chunksizes=True)

    def _range(self) -> range:
        return range(len(self._parts))

    def _plan(self, k: int) -> tuple[Any, ...]:
        return k, self.names, self._n_features, tuple(self.by_name.items()), tuple(self._arrays)

    def _inputs(self, k: int) -> list[Any]:
        return [self._parts[k], *(parts[k] for parts in self._arrays.values())]


def _parts(collection: Any) -> list[Any]:
    """One delayed piece per partition."""
    return list(np.ravel(np.array(collection.to_delayed(), dtype=object)))


def _first(table: Any) -> Any:
    return table[:5]


def _piece(plan: tuple[Any, ...], table: Any, *arrays: Any) -> Block:
    """A partition with what comes with its rows."""
    k, names, n_features, by_name, roles = plan
    where = f"Partition {k}"
    X, given = take_roles(table, dict(by_name), where)
    along = {role: np.asarray(values) for role, values in zip(roles, arrays, strict=True)}
    for role in ROLES:
        if role in along and len(along[role]) != len(X):
            raise ValueError(f"{where}: {role} has {len(along[role])} entries for {len(X)} rows.")
    block = Block(X, {**along, **given}, where, part=k)
    return checked(block, names, n_features) if len(X) else block


def _blocks_of(piece: Block, n_features: int) -> list[Block]:
    blocks = aligned([piece], block_rows(n_features)) if len(piece) else []
    starts = range(0, max(len(piece), 1), block_rows(n_features))
    return [replace(block, start=start) for block, start in zip(blocks, starts, strict=False)]


def _sum_of_part(shared: tuple[Any, Any], plan: tuple[Any, ...], *inputs: Any) -> tuple[Any, int]:
    work, add = shared
    piece = _piece(plan, *inputs)
    with naming(piece.where):
        done = [work(block) for block in _blocks_of(piece, plan[2])]
    return (reduce(add, done) if done else None), len(piece)


def _sum(shared: tuple[Any, Any], parts: Sequence[tuple[Any, int]]) -> tuple[Any, int]:
    some = [part for part, n in parts if n]
    return (reduce(shared[1], some) if some else None), sum(n for _, n in parts)


def _of_part(
    work: Callable[[Block], np.ndarray], plan: tuple[Any, ...], empty: np.ndarray, *inputs: Any
) -> Any:
    piece = _piece(plan, *inputs)
    return work(piece) if len(piece) else empty
