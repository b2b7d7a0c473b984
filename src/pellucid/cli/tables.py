"""Tables from files and standard input: CSV, TSV, Parquet, Arrow (Feather), Excel, JSON."""

import csv
import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from pellucid.cli.console import say, working
from pellucid.cli.errors import UserError, need
from pellucid.data.table import check_names

BY_ENDING = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}
ENDINGS = ", ".join(BY_ENDING)
_LARGE = 2_000_000  # bytes from which reading is shown as work
_SPEED = 10_000_000  # bytes per second that are expected then


@dataclass(frozen=True)
class Source:
    """A table as it came: cells of text files are text, and their decimal sign may be a comma."""

    frame: pd.DataFrame
    name: str
    comma: bool = False


def read_table(place: str, *, sheet: str | None = None) -> Source:
    """Read the table in a file, or on standard input for ``-``."""
    if place == "-":
        content = sys.stdin.buffer.read()
        return _checked(_read(content, _sniff(content), "standard input", sheet))
    path = Path(place)
    if path.is_dir():
        raise IsADirectoryError(21, "is a folder", place)
    size = path.stat().st_size  # a missing file ends here
    if size == 0:
        raise UserError(f"{path.name!r} is empty.")
    kind = BY_ENDING.get(path.suffix.lower())
    if kind is None:
        raise UserError(f"{path.name!r} has an ending that is not known here; known are {ENDINGS}.")
    if size < _LARGE:
        return _checked(_read(path.read_bytes(), kind, path.name, sheet))
    with working(f"reading {path.name}", size / _SPEED):
        return _checked(_read(path.read_bytes(), kind, path.name, sheet))


def _sniff(content: bytes) -> str:
    """Kind of a table by its first bytes."""
    for start, kind in ((b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"PK\x03\x04", "excel")):
        if content.startswith(start):
            return kind
    return "json" if content.lstrip()[:1] in (b"{", b"[") else "csv"


def _read(content: bytes, kind: str, name: str, sheet: str | None) -> Source:
    if sheet is not None and kind != "excel":
        raise UserError(f"--sheet is for Excel workbooks, and {name!r} is none.")
    if kind in ("csv", "tsv"):
        return _read_text(content, name, "\t" if kind == "tsv" else None)
    if kind == "json":
        return Source(_read_json(content, name), name)
    try:
        if kind == "excel":
            need("openpyxl", "Reading Excel workbooks")
            return Source(_read_excel(content, name, sheet), name)
        need("pyarrow", "Reading Parquet and Arrow files")
        reader = pd.read_parquet if kind == "parquet" else pd.read_feather
        return Source(reader(io.BytesIO(content)), name)
    except UserError:
        raise
    except Exception as error:  # whatever a damaged file makes the readers raise
        raise UserError(f"{name!r} cannot be read as {kind}: {' '.join(str(error).split())[:120]}") from error


def _read_text(content: bytes, name: str, separator: str | None) -> Source:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace")
        say(f"{name} is not in UTF-8; it was read as Windows-1252.")
    start = text.lstrip("\r\n")
    if not start.strip():
        raise UserError(f"{name!r} is empty.")
    first = start.splitlines()[0]
    if "\0" in first:
        raise UserError(f"{name!r} is not a text file.")
    separator = separator or max(",;\t|", key=lambda c: (first.count(c), c == ","))
    header = next(csv.reader([first], delimiter=separator))
    check_names([title for title in map(str.strip, header) if title], repr(name))
    try:
        frame = pd.read_csv(
            io.StringIO(start),
            sep=separator,
            dtype=str,
            keep_default_na=False,
            na_filter=False,
            index_col=False,
        )
    except (pd.errors.ParserError, pd.errors.ParserWarning, csv.Error) as error:
        detail = str(error).rpartition("C error: ")[2].strip().rstrip(".")
        raise UserError(f"{name!r} is not a regular table: {detail}.") from error
    return Source(frame, name, comma=separator != ",")


def _read_json(content: bytes, name: str) -> pd.DataFrame:
    text = content.decode("utf-8-sig", errors="replace").strip()
    try:
        rows = json.loads(text)
    except json.JSONDecodeError as error:
        try:
            rows = [json.loads(line) for line in text.splitlines() if line.strip()]
        except json.JSONDecodeError:
            raise UserError(f"{name!r} is not valid JSON: {error}.") from None
    rows = [rows] if isinstance(rows, dict) else rows
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise UserError(f'{name!r} must hold one JSON object per row, such as {{"age": 61}}.')
    if any(isinstance(value, dict | list) for row in rows for value in row.values()):
        raise UserError(f"{name!r} holds lists or objects within a row; a table has one value per cell.")
    return pd.DataFrame(rows)


def _read_excel(content: bytes, name: str, sheet: str | None) -> pd.DataFrame:
    book = pd.ExcelFile(io.BytesIO(content), engine="openpyxl")
    if sheet is not None and sheet not in book.sheet_names:
        raise UserError(f"{name!r} has no sheet {sheet!r}; it has {', '.join(map(str, book.sheet_names))}.")
    if sheet is None and len(book.sheet_names) > 1:
        say(f"{name} has {len(book.sheet_names)} sheets; {book.sheet_names[0]!r} was read (--sheet).")
    return pd.read_excel(
        book, sheet_name=0 if sheet is None else sheet, keep_default_na=False, na_values=[""]
    )


def _checked(source: Source) -> Source:
    """The table with names for all columns and at least one row."""
    frame = source.frame
    frame.columns = [str(name).strip() for name in frame.columns]
    for name in [c for c in frame.columns if c == "" or c.startswith("Unnamed: ")]:
        if frame[name].astype(str).isin(["", "nan", "None"]).all():
            frame = frame.drop(columns=name)
        elif _counts_rows(frame[name]):
            say("The column without a name counts the rows; it was left out.")
            frame = frame.drop(columns=name)
    check_names(frame.columns, repr(source.name))
    if len(frame) == 0:
        raise UserError(f"{source.name!r} has column names but no rows.")
    return Source(frame.reset_index(drop=True), source.name, source.comma)


def _counts_rows(column: pd.Series) -> bool:
    numbers = pd.to_numeric(column, errors="coerce")
    return bool((numbers.diff().iloc[1:] == 1).all()) and numbers.iloc[0] in (0, 1)
