"""Rows that come in blocks, for models that see a table: predictions by block, and fits that read all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid._settings import current
from pellucid.data.roles import from_columns, remembers_roles
from pellucid.data.source import ROLES, Block, LocalSource
from pellucid.data.source_kinds import as_source, is_source
from pellucid.data.table import as_frame
from pellucid.data.unseen import tells_unseen
from pellucid.exceptions import NotEnoughMemoryError

F = TypeVar("F", bound=Callable[..., Any])

_COPIES = 4  # of a table during a fit, at least
_KNOWN = ("offset", "exposure")  # known parts of the linear predictor, which new rows have too


def in_blocks(method: F) -> F:
    """Let a method that makes something of each row of ``X`` take rows that come in blocks.

    What it makes of the blocks is put together: as an array or, for Dask collections, as a Dask array that is
    computed when it is asked for. Columns that the model does not know are left aside. Offset and exposure
    may be names of columns. Levels that training did not have are told once, see
    :mod:`~pellucid.data.unseen`.
    """

    @wraps(method)
    def by_block(self: Any, X: Any, *more: Any, **known: Any) -> Any:
        asked = more or not known.keys() <= set(_KNOWN)  # for more than one array
        if type(X) is np.ndarray or asked or not getattr(self, "_reads_vectors", True) or not is_source(X):
            if any(isinstance(known.get(role), str) for role in _KNOWN):
                X, found = from_columns(X, {role: known.get(role) for role in _KNOWN})
                known |= found
            return method(self, X, *more, **known)
        check_is_fitted(self)
        source = as_source(X, **known)
        assert source is not None
        work = _OfBlock(self, method.__name__)
        if isinstance(source, LocalSource):
            return np.concatenate([work(block) for block in source.blocks()])
        return source.mapped(work)  # type: ignore[attr-defined]

    return cast(F, tells_unseen(by_block))


def read_as_table(fit: F) -> F:
    """Let a ``fit`` that needs a table take rows that come in blocks, which are read into memory.

    Rows on disk, batches and Dask collections are read; targets and weights may be names of columns. Rows
    that do not fit in memory are refused with what to do. A memory map is passed on as it is.
    """

    @wraps(fit)
    def of_table(self: Any, X: Any, y: Any = None, *more: Any, **known: Any) -> Any:
        named = any(isinstance(value, str) for value in (y, *more, *known.values()))
        blocks = type(X) is not np.memmap and getattr(self, "_reads_vectors", True) and is_source(X)
        if type(X) is np.ndarray or not (blocks or named):
            return fit(self, X, y, *more, **known)
        roles = dict(zip(ROLES[1:], more, strict=False))
        source = as_source(X, y, **roles, **known)
        assert source is not None
        row_bytes = _COPIES * 8 * (source.n_features + len(source.roles))
        most = int(current().most_memory // row_bytes)
        table = source.first_rows(most)
        if table is None:
            n_rows = "more" if source.n_rows is None else f"{source.n_rows:,}"
            raise NotEnoughMemoryError(
                f"{type(self).__name__} needs all rows in memory, where about {most:,} of "
                f"{source.n_features} features fit, and these are {n_rows}: fit to a sample of them. "
                f"AdditiveKernelRegressor, AdditiveKernelClassifier, KernelRidge and KernelRidgeClassifier "
                f"take any number."
            )
        return fit(self, table.X, table.given.get("y"), **{k: v for k, v in table.given.items() if k != "y"})

    return cast(F, remembers_roles(of_table))


@dataclass(frozen=True)
class _OfBlock:
    """What a method of a model makes of a block."""

    model: Any
    method: str

    def __call__(self, block: Block) -> np.ndarray:
        X, names = block.X, getattr(self.model, "feature_names_in_", None)
        frame = as_frame(X)
        if frame is not None and names is not None:
            absent = [name for name in names if name not in frame.columns]
            if absent:
                raise ValueError(f"{block.where}: there is no column {absent[0]!r}, which the model reads.")
            X = frame.select([str(name) for name in names]).to_native()
        known = {role: block.given[role] for role in _KNOWN if role in block.given}
        return getattr(self.model, self.method)(X, **known)
