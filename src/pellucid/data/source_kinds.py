"""Sources of rows on one machine, and what is one."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from pellucid.data.source import (
    ROLES,
    Block,
    LocalSource,
    Source,
    block_rows,
    split_roles,
    take_roles,
)
from pellucid.data.table import as_frame, check_names

_KINDS = {".arrow": "ipc", ".ipc": "ipc", ".feather": "feather"}
"""Formats of files by their endings; all others are Parquet."""

_ELSEWHERE = {"dask": "pellucid.distributed"}
"""Packages whose collections are sources by a module that is imported when one of them comes."""


def as_source(
    X: Any, y: Any = None, *, most: Callable[[int], int] | None = None, **given: Any
) -> Source | None:
    """The source that ``X`` is; ``None`` for a table that a fit takes as it is.

    A table in memory is a source where ``y`` names a column of it, or where it has more rows than ``most``
    says for its number of columns.

    Parameters
    ----------
    X : anything
        A path, a pyarrow dataset, a lazy frame, batches, a memory map, a Dask collection, or a table.
    y, **given : str or array-like
        Targets, ``sample_weight``, ``offset`` and ``exposure``: names of columns, or arrays.
    most : callable, optional
        Rows that a fit takes as they are, for a number of columns.
    """
    if isinstance(X, Source):
        return X
    roles = {"y": y, **given}
    unknown = roles.keys() - set(ROLES)
    if unknown:
        raise TypeError(f"A source has no {', '.join(sorted(unknown))}.")
    roles = {role: value for role, value in roles.items() if value is not None}
    package = type(X).__module__.partition(".")[0]
    if package in _ELSEWHERE:
        source: Source = import_module(_ELSEWHERE[package]).as_source(X, roles)
        return source
    if isinstance(X, str | os.PathLike) or _is_dataset(X):
        return ParquetSource(X, roles)
    if _is_lazy(X):
        return LazySource(X, roles)
    if is_batches(X):
        return BatchSource(X, roles)
    if hasattr(X, "toarray"):  # models say what becomes of sparse rows
        return None
    named = any(isinstance(value, str) for value in roles.values())
    shape: tuple[int, ...] = tuple(getattr(X, "shape", ()))
    many = len(shape) == 2 and (isinstance(X, np.memmap) or (most is not None and shape[0] > most(shape[1])))
    return TableSource(X, roles) if named or many else None


def is_source(X: Any) -> bool:
    """Whether rows come in blocks rather than as a table in memory."""
    return (
        isinstance(X, str | os.PathLike | np.memmap | Source)
        or type(X).__module__.partition(".")[0] in _ELSEWHERE
        or _is_dataset(X)
        or _is_lazy(X)
        or is_batches(X)
    )


def _is_dataset(X: Any) -> bool:
    dataset = sys.modules.get("pyarrow.dataset")
    return dataset is not None and isinstance(X, dataset.Dataset)


def _is_lazy(X: Any) -> bool:
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(X, polars.LazyFrame)


def is_batches(X: Any) -> bool:
    """Whether ``X`` is batches: a list of tables, or a function that returns an iterator over them."""
    if isinstance(X, Iterator):
        raise TypeError(
            "Batches are walked through several times, and this is an iterator, which ends after once. Pass "
            "a list of batches, or a function that returns a new iterator each time, such as "
            "lambda: read_batches(path)."
        )
    if isinstance(X, list | tuple) and X:
        first = X[0][0] if isinstance(X[0], tuple) and X[0] else X[0]
        if hasattr(first, "toarray"):
            raise TypeError(
                "Batches are dense. Put sparse rows together with scipy.sparse.vstack, or fill them in."
            )
        return _is_batch(X[0])
    return callable(X) and not hasattr(X, "shape") and not isinstance(X, type)


def _is_batch(item: Any) -> bool:
    if isinstance(item, tuple) and item:
        item = item[0]
    return np.ndim(item) == 2 if isinstance(item, np.ndarray) else _is_frame(item)


def _is_frame(X: Any) -> bool:
    return isinstance(nw.from_native(X, pass_through=True), nw.DataFrame)


class TableSource(LocalSource):
    """A table in memory, or a matrix on disk (``numpy.memmap``), of which blocks are slices."""

    def __init__(self, X: Any, roles: Mapping[str, Any]) -> None:
        frame = as_frame(X)
        if frame is None and not (hasattr(X, "shape") and len(X.shape) == 2):
            raise ValueError("y by name needs a table with named columns.")
        self._X, self.n_rows = (X, len(X)) if frame is None else (frame.to_native(), len(frame))
        self.by_name, self._arrays = split_roles(roles, self.n_rows)
        head, _ = take_roles(self._piece(0, min(5, self.n_rows)).X, self.by_name, "The table")
        self._head = head
        wrapped = as_frame(head)
        self.names = None if wrapped is None else tuple(map(str, wrapped.columns))

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self._head.shape[1]

    @property
    def roles(self) -> tuple[str, ...]:
        """What comes with the rows."""
        return (*self.by_name, *self._arrays)

    def describe(self) -> str:
        """What the rows are."""
        return f"A table of shape {self._X.shape}"

    def _piece(self, start: int, stop: int) -> Block:
        return Block(self._X, self._arrays, "The table").rows(start, stop)

    def pieces(self) -> Iterator[Block]:
        """Slices of the table."""
        assert self.n_rows is not None
        size = block_rows(self.n_features)
        for start in range(0, self.n_rows, size):
            stop = min(start + size, self.n_rows)
            piece, where = self._piece(start, stop), f"Rows {start} to {stop - 1}"
            X, given = take_roles(piece.X, self.by_name, where)
            X = np.asarray(X) if isinstance(X, np.memmap) else X
            yield Block(X, {**piece.given, **given}, where)


class _Pieced(LocalSource):
    """Tables that come one after another, each with the columns of the first."""

    def __init__(self, roles: Mapping[str, Any]) -> None:
        self.by_name, self._arrays = split_roles(roles, self.n_rows)
        first = next(iter(self.pieces()), None)
        if first is None:
            raise ValueError(f"{self.describe()} has no rows.")
        self._given = tuple(first.given)
        frame = as_frame(first.X)
        self.names = None if frame is None else tuple(map(str, frame.columns))
        if frame is not None:
            check_names(frame.columns)
        self._n_features = first.X.shape[1]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self._n_features

    @property
    def roles(self) -> tuple[str, ...]:
        """What comes with the rows."""
        return self._given

    def _tables(self) -> Iterator[tuple[Any, Mapping[str, Any], str]]:
        """Tables, with arrays that come along and where they are from."""
        raise NotImplementedError

    def pieces(self) -> Iterator[Block]:
        """The tables, without the columns that have a role."""
        start = 0
        for table, along, where in self._tables():
            X, given = take_roles(table, self.by_name, where)
            stop = start + len(X)
            arrays = {role: values[start:stop] for role, values in self._arrays.items()}
            yield Block(X, {**arrays, **along, **given}, where)
            start = stop


class BatchSource(_Pieced):
    """Batches: data frames, matrices, or tuples ``(X, y)`` or ``(X, y, sample_weight)``."""

    def __init__(self, batches: Any, roles: Mapping[str, Any]) -> None:
        self._batches = batches
        super().__init__(roles)

    def describe(self) -> str:
        """What the rows are."""
        n = len(self._batches) if hasattr(self._batches, "__len__") else "a function that returns"
        return f"{n} batches"

    def _tables(self) -> Iterator[tuple[Any, Mapping[str, Any], str]]:
        batches = self._batches() if callable(self._batches) else self._batches
        if batches is self._batches and isinstance(batches, Iterator):
            is_batches(batches)
        for k, batch in enumerate(batches):
            table, *rest = batch if isinstance(batch, tuple) else (batch,)
            if not (_is_frame(table) or np.ndim(table) == 2):
                raise ValueError(f"Batch {k} is no table: a batch is a data frame, a matrix, or (X, y).")
            along = dict(zip(ROLES, map(np.asarray, rest), strict=False))
            for role, values in along.items():
                if len(values) != len(table):
                    raise ValueError(f"Batch {k}: {role} has {len(values)} entries for {len(table)} rows.")
            yield table if _is_frame(table) else np.asarray(table), along, f"Batch {k}"


class LazySource(_Pieced):
    """A lazy frame of polars, collected in batches."""

    def __init__(self, frame: Any, roles: Mapping[str, Any]) -> None:
        self._frame = frame
        check_names(frame.collect_schema().names())
        super().__init__(roles)

    def describe(self) -> str:
        """What the rows are."""
        return f"A lazy frame with the columns {', '.join(self._frame.collect_schema().names()[:10])}"

    def _tables(self) -> Iterator[tuple[Any, Mapping[str, Any], str]]:
        start = 0
        size = block_rows(len(self._frame.collect_schema().names()))
        for table in self._frame.collect_batches(chunk_size=size, maintain_order=True):
            yield table, {}, f"Rows {start} to {start + len(table) - 1}"
            start += len(table)


class ParquetSource(_Pieced):
    """Parquet or Arrow files: one, a folder of them, or a dataset of pyarrow.

    Columns in which pandas wrote the index of a data frame are no features, as they are none of the frame; a
    target or weight may be one.
    """

    def __init__(self, place: Any, roles: Mapping[str, Any], without: Sequence[str] = ()) -> None:
        try:
            import pyarrow
            from pyarrow import dataset
        except ImportError:
            raise ImportError(
                "Reading Parquet files needs pyarrow: pip install 'pellucid[parquet]'."
            ) from None
        self._errors = (pyarrow.ArrowException, OSError)
        if isinstance(place, str | os.PathLike):
            path = Path(place)
            if not path.exists():
                raise FileNotFoundError(f"There is no file or folder {str(path)!r}.")
            if path.is_file():
                kind = _KINDS.get(path.suffix.lower(), "parquet")
            else:
                kind = "parquet"
            try:
                self._dataset = dataset.dataset(str(path), format=kind, partitioning="hive")
                found = list(self._dataset.get_fragments())
            except self._errors as error:
                raise ValueError(f"{path} cannot be read as Parquet: {_line(error)}") from error
            if not found:
                raise ValueError(f"There is no Parquet file in {str(path)!r}.")
            self._name = str(path)
        else:
            self._dataset, self._name = place, "The dataset"
        for name in without:
            if name not in self._dataset.schema.names:
                raise ValueError(f"{self._name} has no column {name!r} to leave out.")
        named = {value for value in roles.values() if isinstance(value, str)}
        aside = (_index_names(self._dataset.schema) - named) | set(without)
        self._read = [name for name in self._dataset.schema.names if name not in aside]
        self._fragments = sorted(self._dataset.get_fragments(), key=lambda f: getattr(f, "path", ""))
        self.n_rows = sum(self._counted(fragment) for fragment in self._fragments)
        super().__init__(roles)

    def describe(self) -> str:
        """What the rows are."""
        return f"{self._name}, {len(self._fragments)} files of {self.n_rows} rows"

    def _counted(self, fragment: Any) -> int:
        """Rows of a file, whose columns are those of all."""
        where, schema = _path(fragment), self._dataset.schema
        try:
            have = fragment.physical_schema
            n = fragment.count_rows()
        except self._errors as error:
            raise ValueError(
                f"{where} is damaged or no Parquet file; it was perhaps cut off while it was written: "
                f"{_line(error)}"
            ) from error
        first = self._fragments[0].physical_schema if getattr(self, "_fragments", None) else schema
        for field in first:
            if field.name not in have.names:
                raise ValueError(f"{where} has no column {field.name!r}, which the first file has.")
            mine, usual = _sort(have.field(field.name).type), _sort(field.type)
            if mine != usual and "nothing" not in (mine, usual):
                raise ValueError(f"{where}: column {field.name!r} holds {mine}, in the first file {usual}.")
        for name in have.names:
            if name not in first.names:
                raise ValueError(f"{where} has a column {name!r}, which the first file does not have.")
        return int(n)

    def _tables(self) -> Iterator[tuple[Any, Mapping[str, Any], str]]:
        import pyarrow

        schema = self._dataset.schema
        size = block_rows(len(schema.names))
        for fragment in self._fragments:
            where = _path(fragment)
            try:
                batches = fragment.to_batches(
                    schema=schema,
                    columns=self._read,
                    batch_size=size,
                    batch_readahead=1,
                    fragment_readahead=1,
                )
                for batch in batches:
                    if batch.num_rows:
                        yield pyarrow.Table.from_batches([batch]), {}, where
            except self._errors as error:
                raise ValueError(f"{where} cannot be read to its end: {_line(error)}") from error


def _index_names(schema: Any) -> set[str]:
    """Columns that were the index of the data frame from which pandas wrote a file."""
    written = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    return {name for name in written.get("index_columns", ()) if isinstance(name, str)}


def _path(fragment: Any) -> str:
    return str(getattr(fragment, "path", "The table in the dataset"))


def _sort(kind: Any) -> str:
    """What a column of a Parquet file holds, in a word."""
    from pyarrow import types

    if types.is_null(kind):
        return "nothing"
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    if types.is_temporal(kind):
        return "dates"
    return "numbers" if types.is_primitive(kind) or types.is_decimal(kind) else str(kind)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
