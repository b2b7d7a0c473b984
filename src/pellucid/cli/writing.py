"""Tables to files, piece by piece: all of it or nothing; or to standard output as CSV."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from pellucid.cli.errors import UserError, need
from pellucid.cli.tables import BY_ENDING, ENDINGS

Put = Callable[[pd.DataFrame], None]
"""Writes some more rows."""


@contextmanager
def writing(place: str | None) -> Iterator[Put]:
    """Write a table whose rows come in pieces; the file is there when the last of them is written.

    CSV, TSV, Parquet and Arrow are written as pieces come; other kinds when all have come.
    """
    if place is None or place == "-":
        yield _to_text(sys.stdout, ",")
        return
    kind = BY_ENDING.get(Path(place).suffix.lower())
    if kind is None:
        raise UserError(f"{place!r} has an ending that is not known here; known are {ENDINGS}.")
    if kind == "excel":
        need("openpyxl", "Writing Excel workbooks")
    target = Path(place)
    if not target.parent.is_dir():
        raise UserError(f"There is no folder {str(target.parent)!r}.")
    handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.stem}.", suffix=target.suffix)
    os.close(handle)
    try:
        with _to_file(kind, beside) as put:
            yield put
        os.chmod(beside, 0o644)
        os.replace(beside, target)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def write_table(frame: pd.DataFrame, place: str | None) -> None:
    """Write a table to a file, all of it or nothing, or as CSV to standard output."""
    with writing(place) as put:
        put(frame)


@contextmanager
def _to_file(kind: str, path: str) -> Iterator[Put]:
    if kind in ("csv", "tsv"):
        with open(path, "w", encoding="utf-8", newline="") as file:
            yield _to_text(file, "\t" if kind == "tsv" else ",")
    elif kind in ("parquet", "arrow"):
        need("pyarrow", "Writing Parquet and Arrow files")
        with _to_columns(kind, path) as put:
            yield put
    else:
        held: list[pd.DataFrame] = []
        yield held.append
        frame = pd.concat(held, ignore_index=True)
        if kind == "excel":
            frame.to_excel(path, index=False)
        else:
            frame.to_json(path, orient="records", indent=2)


def _to_text(file: Any, separator: str) -> Put:
    first = True

    def put(frame: pd.DataFrame) -> None:
        nonlocal first
        frame.to_csv(file, index=False, header=first, sep=separator, lineterminator="\n")
        first = False

    return put


@contextmanager
def _to_columns(kind: str, path: str) -> Iterator[Put]:
    """Row groups of a Parquet file or batches of an Arrow file; the columns are of the kinds of the first."""
    import pyarrow as pa
    from pyarrow import ipc, parquet

    writer: Any = None

    def put(frame: pd.DataFrame) -> None:
        nonlocal writer
        table = pa.Table.from_pandas(frame, preserve_index=False, schema=writer and writer[1])
        if writer is None:
            empty = [k for k, field in enumerate(table.schema) if pa.types.is_null(field.type)]
            for k in empty:  # what has no value so far is text, if anything
                table = table.set_column(k, table.schema.field(k).name, table.column(k).cast(pa.string()))
            schema = table.schema
            made = parquet.ParquetWriter(path, schema) if kind == "parquet" else ipc.new_file(path, schema)
            writer = made, schema
        writer[0].write_table(table)

    try:
        yield put
    finally:
        if writer is not None:
            writer[0].close()
