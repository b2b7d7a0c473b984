"""Targets, weights, offsets and exposures by the names of their columns, in fits and ever after.

A fit that takes them by name remembers the names in ``roles_``: tables of new rows may have these columns or
not, as they are no features (:func:`~pellucid.data.table.feature_frame` leaves them aside). Methods that take
rows with targets, such as ``score``, take both from one table, a folder of files or a lazy frame likewise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from pellucid.data.source import ROLES, Block, Source, take_roles
from pellucid.data.source_kinds import as_source, is_source
from pellucid.data.table import as_frame, collected

F = TypeVar("F", bound=Callable[..., Any])


def remembers_roles(fit: F) -> F:
    """Let a ``fit`` remember the columns that it was told to take for targets, weights and the like."""

    @wraps(fit)
    def remembering(self: Any, X: Any, y: Any = None, *more: Any, **known: Any) -> Any:
        fitted = fit(self, X, y, *more, **known)
        given = {"y": y, **dict(zip(ROLES[1:], more, strict=False)), **known}
        names = dict(X.by_name) if isinstance(X, Source) else {}
        names |= {role: name for role, name in given.items() if isinstance(name, str)}
        if names:
            self.roles_ = names
        return fitted

    return cast(F, remembering)


def from_columns(X: Any, given: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Rows without the columns that ``given`` names for a role, and what has these roles, as arrays.

    Rows that come in blocks stay as they are, as a prediction leaves aside what is no feature; batches bring
    targets along.
    """
    given = {role: value for role, value in given.items() if value is not None}
    names = {role: value for role, value in given.items() if isinstance(value, str)}
    if is_source(X):
        if type(X) is np.memmap or not (names or "y" not in given):
            return X, given
        source = as_source(X, **given)
        assert source is not None
        parts = source.total(_given_of, _both)
        return X, {role: np.concatenate(arrays) for role, arrays in parts.items()}
    if not names:
        return X, given
    frame = as_frame(X)
    table, found = take_roles(X if frame is None else frame.to_native(), names, "The table")
    return table, {**given, **found}


def table_in_memory(X: Any, **given: Any) -> tuple[Any, dict[str, Any]]:
    """A table, collected if it is lazy, and what is given with its rows, taken from columns by their names.

    A column that is named leaves the table; what is not given stays ``None``.
    """
    X, found = from_columns(collected(X), given)
    return X, {role: found.get(role) for role in given}


def _given_of(block: Block) -> dict[str, list[np.ndarray]]:
    return {role: [np.asarray(values)] for role, values in block.given.items()}


def _both(a: dict[str, list[np.ndarray]], b: dict[str, list[np.ndarray]]) -> dict[str, list[np.ndarray]]:
    return {role: parts + b[role] for role, parts in a.items()}


def takes_roles(method: F) -> F:
    """Let a method of rows and their targets take these, and weights and the like, as names of columns."""

    @wraps(method)
    def by_name(self: Any, X: Any, y: Any = None, *more: Any, **known: Any) -> Any:
        roles = {"y": y, **dict(zip(ROLES[1:], more, strict=False))}
        roles |= {role: known[role] for role in ROLES if role in known}
        named = any(isinstance(value, str) for value in roles.values())
        blocks = y is None and getattr(self, "_reads_vectors", True) and is_source(X)
        if type(X) is np.ndarray or not (named or blocks):
            return method(self, X, y, *more, **known)
        X, found = from_columns(X, roles)
        rest = {name: value for name, value in known.items() if name not in ROLES}
        return method(self, X, found.pop("y", None), **found, **rest)

    return cast(F, by_name)
