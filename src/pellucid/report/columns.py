"""The data a report is about, and the digest by which they are recognised."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.data.cells import Cells, cells_of
from pellucid.data.table import as_frame, read_table
from pellucid.report.parts import counts_parts, object_name


def read_columns(X: Any, model: Any = None) -> list[Cells]:
    """Columns of a data frame, an array or a sparse matrix; nothing if ``X`` is no table of the model's.

    Examples
    --------
    >>> [column.numeric for column in read_columns([[1.0, "a"], [None, "b"]])]
    [True, False]
    """
    if as_frame(X) is None:
        if counts_parts(model) and all(isinstance(item, str) for item in X):
            return [Cells.of_levels(object_name(model), X)]
        X = _as_array(X)
    if X is None:
        return []
    try:
        table = read_table(X)
    except TypeError:  # cells that are objects of their own
        return []
    names = getattr(model, "feature_names_in_", [column.name for column in table.cells])
    p = len(table.cells)
    if getattr(model, "n_features_in_", p) != p or len(names) != p:
        return []
    return list(table.named(names).cells)


def _as_array(X: Any) -> np.ndarray | None:
    """An array of two dimensions; of objects, if texts and numbers were mixed."""
    try:
        array = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    except ValueError:  # rows of different lengths
        return None
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        array = np.asarray(X, dtype=object)
    return array if array.ndim == 2 else None


def fingerprint(columns: Sequence[Cells], y: Any) -> str:
    """SHA-256 of the data: names and values of the columns in their order, then the targets.

    Numbers enter as little-endian float64, other values as UTF-8 text, each after its length, so that the
    same data give the same digest whichever kind of table they come in.

    Examples
    --------
    >>> a = fingerprint(read_columns([[1, 2], [3, 4]]), [0, 1])
    >>> b = fingerprint(read_columns([[1.0, 2.0], [3.0, 4.0]]), [0.0, 1.0])
    >>> a == b, len(a)
    (True, 64)
    """
    digest = hashlib.sha256()
    target = np.asarray(y)
    target = target.reshape(len(target), -1)
    targets = [cells_of(f"y{k}", column) for k, column in enumerate(target.T)]
    for column in [*columns, *targets]:
        _text(digest, column.name)
        if column.numeric:
            values = np.where(np.isnan(column.values), np.nan, column.values)  # one NaN for all
            digest.update(np.ascontiguousarray(values, dtype="<f8").tobytes())
        else:
            for value in column.values:
                _text(digest, "\0missing" if value is None else value)
    return digest.hexdigest()


def _text(digest: Any, text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    digest.update(len(data).to_bytes(8, "little"))
    digest.update(data)
