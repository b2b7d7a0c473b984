"""Levels that training did not have: noted at the gate, and told once to the person who asked.

Where rows enter (:mod:`~pellucid.data.table`, :mod:`~pellucid.data.rows`) levels of a categorical column that
the model does not know are noted, if somebody listens. :func:`tells_unseen` listens around a method that a
person calls, and warns once when it is done, however many blocks it read; :func:`collecting` is for those who
tell it in another way. What the library calls by itself has no listener.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar, cast

from pellucid._callers import called_by_us, warn_caller
from pellucid.exceptions import UnseenLevelWarning

F = TypeVar("F", bound=Callable[..., Any])

_SHOWN = 3  # levels of a column that are named, and columns
_listener: ContextVar[Unseen | None] = ContextVar("unseen levels", default=None)


class Unseen:
    """Levels that training did not have, by column, each with the number of its rows."""

    def __init__(self) -> None:
        self.columns: dict[str, dict[str, int]] = {}

    def add(self, column: str, levels: Mapping[str, int]) -> None:
        """Note levels of a column, and how many rows have them."""
        noted = self.columns.setdefault(column, {})
        for level, count in levels.items():
            noted[level] = noted.get(level, 0) + count

    def message(self, read: frozenset[str] | None = None) -> str:
        """What to tell of the columns that a model reads, or of all; empty if there is nothing to tell.

        Examples
        --------
        >>> found = Unseen()
        >>> found.add("city", {"Oslo": 2, "Rome": 1})
        >>> found.message()
        "Column 'city' has levels in 3 rows that training did not have: 'Oslo', 'Rome'. ..."
        """
        told = [name for name, levels in self.columns.items() if levels and (read is None or name in read)]
        if not told:
            return ""
        sentences = [self._sentence(name) for name in told[:_SHOWN]]
        if len(told) > _SHOWN:
            sentences.append(f"So have {len(told) - _SHOWN} more columns.")
        return f"{' '.join(sentences)} Nothing is known of them: such rows count as average in that column."

    def _sentence(self, name: str) -> str:
        levels = self.columns[name]
        n, shown = sum(levels.values()), ", ".join(map(repr, list(levels)[:_SHOWN]))
        more = f" and {len(levels) - _SHOWN} more" if len(levels) > _SHOWN else ""
        rows, kind = "1 row" if n == 1 else f"{n} rows", "a level" if len(levels) == 1 else "levels"
        return f"Column {name!r} has {kind} in {rows} that training did not have: {shown}{more}."


@contextmanager
def collecting() -> Iterator[Unseen]:
    """Collect the levels that are noted meanwhile, instead of having them told."""
    found = Unseen()
    token = _listener.set(found)
    try:
        yield found
    finally:
        _listener.reset(token)


def listening() -> Unseen | None:
    """Who listens, if anybody does."""
    return _listener.get()


def tells_unseen(method: F) -> F:
    """Let a method of a model that a person calls warn, once, of unseen levels in its rows."""

    @wraps(method)
    def telling(self: Any, *given: Any, **known: Any) -> Any:
        if _listener.get() is not None or called_by_us():
            return method(self, *given, **known)
        with collecting() as found:
            result = method(self, *given, **known)
        if found.columns:
            message = found.message(_columns_in_terms(self))
            if message:
                warn_caller(message, UnseenLevelWarning)
        return result

    return cast(F, telling)


def _columns_in_terms(model: Any) -> frozenset[str] | None:
    """Names of the columns that the terms of a model read; ``None`` for models without terms."""
    terms, columns = getattr(model, "terms_", None), getattr(model, "columns_", None)
    if terms is None or columns is None:
        return None
    return frozenset(columns[j].name for term in terms for j in term)
