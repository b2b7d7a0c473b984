"""Rows of a file at once, or those of a folder of Parquet files block by block."""

from collections.abc import Iterator
from pathlib import Path

from pellucid.cli.errors import UserError, need
from pellucid.cli.tables import Source, read_table
from pellucid.data.source_kinds import ParquetSource


def is_folder(place: str) -> bool:
    """Whether rows are those of a folder of files."""
    return place != "-" and Path(place).is_dir()


def row_blocks(place: str, *, sheet: str | None = None) -> tuple[int, Iterator[Source]]:
    """Number of rows of a file, of standard input or of a folder of Parquet files, and the rows in blocks."""
    if not is_folder(place):
        source = read_table(place, sheet=sheet)
        return len(source.frame), iter([source])
    if sheet is not None:
        raise UserError(f"--sheet is for Excel workbooks, and {place!r} is a folder of Parquet files.")
    need("pyarrow", "Reading Parquet files")
    folder = ParquetSource(place, {})
    if not folder.n_rows:
        raise UserError(f"The files in {place!r} have no rows.")
    return folder.n_rows, _of_folder(folder)


def _of_folder(folder: ParquetSource) -> Iterator[Source]:
    for block in folder.pieces():
        frame = block.X.to_pandas().reset_index(drop=True)
        frame.columns = [str(name) for name in frame.columns]
        yield Source(frame, block.where)
