"""A coarse check of the fields of dataclasses against their annotations.

Coarse on purpose: an array may be a number where there is one output, a sequence may be an array. It keeps
an object of another kind out, such as a model where an array belongs.
"""

from __future__ import annotations

import types
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from pellucid.export.registry import is_named_tuple, name_of

_NUMBERS = (bool, int, float, complex, np.generic, np.ndarray)
_SEQUENCES = (list, tuple, np.ndarray)
_ABSTRACT = (Sequence, Iterable, Collection)


@cache
def expected(cls: type) -> dict[str, tuple[type, ...]]:
    """Types that each field may have, for the fields whose annotation says so."""
    if is_named_tuple(cls):
        names = tuple(cls._fields)  # type: ignore[attr-defined]
    elif is_dataclass(cls):
        names = tuple(field.name for field in fields(cls))
    else:
        return {}
    try:
        hints = get_type_hints(cls)
    except (NameError, TypeError):  # names that only a type checker sees
        return {}
    found = {name: _types(hints[name]) for name in names if name in hints}
    return {name: kinds for name, kinds in found.items() if kinds is not None}


def _types(hint: Any) -> tuple[type, ...] | None:
    """Types that satisfy an annotation; ``None`` where anything does."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        parts = [_types(part) for part in get_args(hint)]
        return None if None in parts else tuple({kind for part in parts for kind in part or ()})
    if origin is Literal:
        return tuple({type(value) for value in get_args(hint)})
    cls = origin or hint
    if not isinstance(cls, type):
        return None
    if cls is types.NoneType:
        return (cls,)
    if cls in _NUMBERS:
        return _NUMBERS
    if cls is str:
        return (str, np.str_)
    if cls in (dict, Mapping):
        return (dict,)
    if cls in (list, tuple) or cls in _ABSTRACT:
        return (*_SEQUENCES, str) if cls in _ABSTRACT else _SEQUENCES
    return (cls,) if name_of(cls) else None


def misfit(cls: type, state: Mapping[str, Any]) -> str | None:
    """Name of the first field whose value is of the wrong type, or ``None``."""
    for name, kinds in expected(cls).items():
        if name in state and not isinstance(state[name], kinds):
            return name
    return None
