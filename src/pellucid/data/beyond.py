"""Rows beyond memory where a model needs them in memory: a refusal that says what to do."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

_MANY = 50_000


def refuse_rows_beyond_memory(estimator: Any, X: Any) -> None:
    """Raise for a path, a dataset, a Dask collection or an iterator, which are no table in memory.

    Examples
    --------
    >>> from pellucid import KernelRidge
    >>> KernelRidge("precomputed").fit("rows/", "y")
    Traceback (most recent call last):
        ...
    TypeError: KernelRidge needs rows in memory here, and a path is rows that come in blocks. Pass ...
    """
    what = _what(X)
    if what is not None:
        raise TypeError(
            f"{type(estimator).__name__} needs rows in memory here, and {what} is rows that come in blocks. "
            f"Pass a table of a sample of them, {_MANY} at most or so; fit and predict with kernels of "
            f"numbers, and of AdditiveKernelRegressor and AdditiveKernelClassifier, take all of them."
        )


def _what(X: Any) -> str | None:
    dataset = sys.modules.get("pyarrow.dataset")
    if isinstance(X, str | os.PathLike):
        return "a path"
    if type(X).__module__.partition(".")[0] == "dask":
        return "a Dask collection"
    if dataset is not None and isinstance(X, dataset.Dataset):
        return "a dataset"
    return "an iterator" if isinstance(X, Iterator) else None
