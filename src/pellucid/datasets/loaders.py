"""Loading a table: from a folder, the cache, scikit-learn, or OpenML."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets as bundled
from sklearn.utils import Bunch

from pellucid.datasets.catalog import Entry, find_entry, plain
from pellucid.datasets.tables import (
    Columns,
    find_table,
    from_frame,
    read_table,
    to_frame,
    to_matrix,
    write_table,
)


def load_dataset(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    return_X_y: bool = False,
    as_frame: bool = True,
    download: bool = True,
) -> Any:
    """Load a public table by name.

    It is looked for as ``<file>.parquet``, ``.npz`` or ``.csv`` in ``folder``, then in the folder that the
    environment variable ``PELLUCID_DATA`` names, then in the cache (``PELLUCID_CACHE``, or
    ``~/.cache/pellucid``). What scikit-learn bundles comes from there. Else it is downloaded from OpenML,
    where it is, and kept in the cache.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`; other spellings, such as ``"Cod-RNA"``, are understood.
    folder : path, optional
        Folder of data files. If given, the environment and the cache are not looked at, and nothing is
        downloaded.
    return_X_y : bool, default=False
        Whether to return only the features and the target.
    as_frame : bool, default=True
        Features as a pandas data frame, else as an array: of floats, or of objects if some are text.
    download : bool, default=True
        Whether the network may be used.

    Returns
    -------
    Bunch, or (X, y)
        ``data``, ``target`` (numbers, or the classes as they stand in the table), ``feature_names``,
        ``target_name``, ``task``, ``name``, ``source`` (the file, or the service) and ``DESCR``. Names of
        columns are those of the source.

    Examples
    --------
    >>> from pellucid.datasets import load_dataset
    >>> wine = load_dataset("wine", as_frame=False)
    >>> wine.data.shape, wine.task
    ((178, 13), 'classification')
    """
    entry = find_entry(name)
    columns, source = _columns(entry, folder, download)
    target = _named(columns, entry.target, entry, source)
    y = columns.pop(target)
    for other in entry.drop:
        columns.pop(_named(columns, other, entry, source))
    if not entry.classes:
        y = y.astype(np.float64)
    data = to_frame(columns) if as_frame else to_matrix(columns)
    if return_X_y:
        return data, y
    return Bunch(
        data=data,
        target=y,
        feature_names=list(columns),
        target_name=target,
        task=entry.task,
        name=entry.name,
        source=source,
        DESCR=f"{entry.title}. {len(y)} rows, {len(columns)} features, {entry.task}; target {target!r}.",
    )


def cache_folder() -> Path:
    """Folder of downloaded tables: PELLUCID_CACHE, or ~/.cache/pellucid."""
    named = os.environ.get("PELLUCID_CACHE")
    return Path(named).expanduser() if named else Path.home() / ".cache" / "pellucid"


def _columns(entry: Entry, folder: Any, download: bool) -> tuple[Columns, str]:
    """All columns of a table, target included, and where they came from."""
    folders = _folders(folder)
    path = find_table(folders, entry.stem)
    if path is not None:
        return read_table(path), str(path)
    if folder is not None:
        raise FileNotFoundError(f"The folder {folders[0]} has no {entry.stem}.parquet, .npz or .csv.")
    if entry.bundled is not None and entry.bundled.startswith("load_"):
        return _bundled(entry), "scikit-learn"
    if not download or (entry.openml is None and entry.bundled is None):
        why = "downloads are switched off" if not download else "it is not on OpenML"
        raise FileNotFoundError(_absent(entry, folders, why))
    try:
        columns = _bundled(entry) if entry.bundled else _openml(entry)
    except OSError as error:  # URLError, timeouts and refused connections are all of this kind
        raise FileNotFoundError(_absent(entry, folders, f"the download failed ({error})")) from error
    shape = (len(next(iter(columns.values()))), len(columns) - 1 - len(entry.drop))
    if shape != (entry.rows, entry.features):
        raise ValueError(
            f"The table found online for {entry.name!r} has {shape[0]} rows and {shape[1]} features instead "
            f"of {entry.rows} and {entry.features}: it is another version of the data."
        )
    write_table(columns, cache_folder() / f"{entry.stem}.npz")
    return columns, "scikit-learn" if entry.bundled else f"OpenML {entry.openml}"


def _folders(folder: Any) -> list[Path]:
    if folder is not None:
        path = Path(folder).expanduser()
        if not path.is_dir():
            raise NotADirectoryError(f"folder={str(path)!r} is not a folder.")
        return [path]
    named = os.environ.get("PELLUCID_DATA")
    return ([Path(named).expanduser()] if named else []) + [cache_folder()]


def _absent(entry: Entry, folders: Iterable[Path], why: str) -> str:
    places = ", ".join(str(folder) for folder in folders)
    return (
        f"No data for {entry.name!r}: no {entry.stem}.parquet, .npz or .csv in {places}, and {why}. Put "
        f"the file into a folder and pass it as folder=, or name the folder in the environment variable "
        f"PELLUCID_DATA."
    )


def _bundled(entry: Entry) -> Columns:
    found = getattr(bundled, str(entry.bundled))()
    columns = {str(n): found.data[:, j] for j, n in enumerate(found.feature_names)}
    return columns | {entry.target: np.asarray(found.target)}


def _openml(entry: Entry) -> Columns:
    found = bundled.fetch_openml(data_id=entry.openml, as_frame=True, parser="auto")
    columns = from_frame(found.data)
    columns = {name: values for name, values in columns.items() if plain(name) not in ("id", "rownumber")}
    if found.target is not None:
        name = str(getattr(found.target, "name", None) or entry.target)
        if not any(plain(known) == plain(entry.target) for known in columns):
            name = entry.target  # OpenML calls many a target "class"
        columns[name] = from_frame(found.target.to_frame(name))[name]
    return columns


def _named(columns: Columns, wanted: str, entry: Entry, source: str) -> str:
    """Return the name of a column as the table spells it."""
    for name in columns:
        if name == wanted or plain(name) == plain(wanted):
            return name
    raise ValueError(f"The table of {entry.name!r} from {source} has no column {wanted!r}: {list(columns)}.")
