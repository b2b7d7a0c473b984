"""Predictions for rows that come in blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.data.source import ROLES, Block, LocalSource
from pellucid.data.source_kinds import as_source, is_source
from pellucid.data.table import as_frame

F = TypeVar("F", bound=Callable[..., Any])


def in_blocks(method: F) -> F:
    """Let a method that makes something of each row of ``X`` take rows that come in blocks.

    What it makes of the blocks is put together: as an array or, for Dask collections, as a Dask array that is
    computed when it is asked for. Columns that the model does not know are left aside.
    """

    @wraps(method)
    def by_block(self: Any, X: Any, *more: Any, **known: Any) -> Any:
        asked = more or not known.keys() <= set(ROLES)  # for more than one array
        if type(X) is np.ndarray or asked or not getattr(self, "_reads_vectors", True) or not is_source(X):
            return method(self, X, *more, **known)
        check_is_fitted(self)
        source = as_source(X, **known)
        assert source is not None
        work = _OfBlock(self, method.__name__)
        if isinstance(source, LocalSource):
            return np.concatenate([work(block) for block in source.blocks()])
        return source.mapped(work)  # type: ignore[attr-defined]

    return cast(F, by_block)


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
        return getattr(self.model, self.method)(X, **block.given)
