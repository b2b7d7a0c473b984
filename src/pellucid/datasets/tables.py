"""Tables as files: a dict of columns read from parquet, npz or csv, and written to a cache."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

Columns = dict[str, np.ndarray]

ENDINGS = (".parquet", ".npz", ".csv")


def find_table(folders: Iterable[Path], stem: str) -> Path | None:
    """Return the first file of that name in the folders, whatever its format."""
    for folder in folders:
        for ending in ENDINGS:
            path = folder / (stem + ending)
            if path.is_file():
                return path
    return None


def read_table(path: Path) -> Columns:
    """Return the columns of a file; text is an array of objects."""
    if path.suffix == ".npz":
        return _read_npz(path)
    if path.suffix == ".csv":
        return from_frame(_pandas(f"To read {path.name}").read_csv(path))
    try:
        from pyarrow import parquet
    except ImportError:
        raise ImportError(
            f"To read {path.name}, a parquet file, install pyarrow (pip install pyarrow), or convert the "
            f"file to csv or npz."
        ) from None
    table = parquet.read_table(path)
    return {
        name: _tidy(table.column(name).to_numpy(zero_copy_only=False))
        for name in table.column_names
        if not name.startswith("__index_level")
    }


def write_table(columns: Columns, path: Path) -> None:
    """Write columns as npz: text as text, numbers as they are. A file of this name is always whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    plain = {name: v.astype(str) if v.dtype == object else v for name, v in columns.items()}
    unfinished = path.with_name(f"{path.stem}.{os.getpid()}.part.npz")
    # numbered, as column names may hold anything, and the order is to be kept
    arrays: dict[str, Any] = {f"column{j:05d}": values for j, values in enumerate(plain.values())}
    np.savez_compressed(unfinished, names=np.array(list(plain), dtype=str), **arrays)
    unfinished.replace(path)


def _read_npz(path: Path) -> Columns:
    with np.load(path, allow_pickle=False) as held:
        if "names" not in held:
            raise ValueError(
                f"{path} is not a table: it needs an array 'names' and one array per column, column00000 on."
            )
        return {str(name): _tidy(held[f"column{j:05d}"]) for j, name in enumerate(held["names"].tolist())}


def from_frame(frame: Any) -> Columns:
    """Return the columns of a pandas data frame; categories become what they stand for."""
    return {str(name): _tidy(frame[name].to_numpy()) for name in frame.columns}


def to_frame(columns: Columns) -> Any:
    """Columns as a pandas data frame."""
    return _pandas("For data frames (or pass as_frame=False)").DataFrame(columns)


def to_matrix(columns: Columns) -> np.ndarray:
    """Columns side by side: float64 if all are numbers, else objects."""
    numeric = all(values.dtype.kind in "biuf" for values in columns.values())
    return np.column_stack([values.astype(float if numeric else object) for values in columns.values()])


def _tidy(values: np.ndarray) -> np.ndarray:
    """Numbers as they are; anything else as an array of objects."""
    values = np.asarray(values)
    return values if values.dtype.kind in "biuf" else values.astype(object)


def _pandas(what: str) -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError(f"{what}, install pandas (pip install pandas).") from None
    return pandas
