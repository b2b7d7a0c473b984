"""From a model to JSON and arrays.

``None``, truth values, whole numbers, finite floats, texts and lists are themselves in JSON. Everything else
is an object with one key that says what it is: ``{"tuple": [...]}``, ``{"dict": [[key, value], ...]}``,
``{"array": 3}`` for the fourth array, ``{"object": {"class": "kernels.stationary.RBF", "state": {...}}}``,
and ``{"ref": 5}`` for an instance met before, the sixth in reading order. Arrays on the same memory are
stored once.
"""

from __future__ import annotations

import base64
import json
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any

import numpy as np

from pellucid.exceptions import ModelFileError
from pellucid.export.arrays import dtype_text
from pellucid.export.fields import misfit
from pellucid.export.registry import FIXED, TYPES, is_cache, is_named_tuple, name_of, objection

MAX_DEPTH = 100
"""Levels of nesting in a model, written and read."""

_PLAIN = (bool, int, float, complex, str, bytes)
_TYPE_NAMES = {kind: name for name, kind in TYPES.items()}


class Encoder:
    """Turns values into JSON; collects their arrays."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._places: dict[tuple[Any, ...], int] = {}  # number of an array by the memory it is on
        self._numbers: dict[int, int] = {}  # number of an instance by its identity
        self._open: set[int] = set()  # containers being written
        self._held: list[Any] = []  # keeps identities valid

    def encode(self, value: Any, path: str, depth: int = 0) -> Any:
        """JSON for a value; ``path`` says where in the model it is."""
        if depth > MAX_DEPTH:
            raise ModelFileError(f"{path} is nested more than {MAX_DEPTH} levels deep.")
        kind = type(value)
        if value is None or kind in (bool, str):
            return value
        if kind is int:
            if value.bit_length() > 8192:
                raise ModelFileError(f"{path} is a whole number with more digits than a model file holds.")
            return value
        if kind is float:
            return value if isfinite(value) else {"float": repr(value)}
        if kind is complex:
            return {"complex": [self.encode(part, path) for part in (value.real, value.imag)]}
        if kind is bytes:
            return {"bytes": base64.b64encode(value).decode()}
        if kind in (np.ndarray, np.memmap):
            return self._array(value, path)
        if kind is np.str_:
            return {"numpy.str_": str(value)}
        if kind is np.bytes_:
            return {"numpy.bytes_": base64.b64encode(value).decode()}
        if isinstance(value, np.generic):
            return {"scalar": {"dtype": _dtype(value.dtype, path), "bytes": value.tobytes().hex()}}
        if isinstance(value, np.dtype):
            return {"dtype": _dtype(value, path)}
        if isinstance(value, type) and value in _TYPE_NAMES:
            return {"type": _TYPE_NAMES[value]}
        if kind in (slice, range):
            return {kind.__name__: [self.encode(v, path) for v in (value.start, value.stop, value.step)]}
        if id(value) in self._open:
            raise ModelFileError(f"{path} contains itself, which a model file cannot hold.")
        self._open.add(id(value))
        encoded = self._container(value, path, depth)
        self._open.discard(id(value))
        return encoded

    def _container(self, value: Any, path: str, depth: int) -> Any:
        kind = type(value)
        if kind in (list, tuple):
            items = [self.encode(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(value)]
            return items if kind is list else {"tuple": items}
        if kind in (set, frozenset):  # their order differs from run to run
            items = [self.encode(item, f"{path}{{...}}", depth + 1) for item in value]
            return {kind.__name__: sorted(items, key=json.dumps)}
        if kind is dict:
            keys = [self.encode(key, f"a key of {path}", depth + 1) for key in value]
            values = [self.encode(item, f"{path}[{key!r}]", depth + 1) for key, item in value.items()]
            return {"dict": [list(pair) for pair in zip(keys, values, strict=True)]}
        return self._instance(value, path, depth)

    def _instance(self, value: Any, path: str, depth: int) -> Any:
        if id(value) in self._numbers:
            return {"ref": self._numbers[id(value)]}
        cls = type(value)
        name = name_of(cls)
        if name is None:
            raise ModelFileError(f"{path} {_why_not(value)}")
        self._numbers[id(value)] = len(self._numbers)
        self._held.append(value)
        state = state_of(value, path)
        for attribute, only in FIXED.get(name, {}).items():
            if state.get(attribute, only) != only:
                raise ModelFileError(f"{path}.{attribute} must be {only} in a model that is saved.")
        encoded = {key: self.encode(state[key], f"{path}.{key}", depth + 1) for key in sorted(state)}
        return {"object": {"class": name, "state": encoded}}

    def _array(self, array: np.ndarray, path: str) -> Any:
        if array.dtype == object:
            items = [self._item(item, path) for item in array.ravel()]
            return {"objects": {"shape": list(array.shape), "items": items}}
        _dtype(array.dtype, path)
        array = np.asarray(array)
        key = (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str)
        if key not in self._places:
            self._places[key] = len(self.arrays)
            self.arrays.append(array)
        return {"array": self._places[key]}

    def _item(self, item: Any, path: str) -> Any:
        if item is None or type(item) in _PLAIN or isinstance(item, np.generic):
            return self.encode(item, path)
        raise ModelFileError(
            f"{path} is an array of objects of type {type(item).__name__}; a model file holds arrays of "
            f"numbers and texts."
        )


def state_of(value: Any, path: str = "model") -> dict[str, Any]:
    """Attributes that make up an instance, without cached properties; ``__getstate__`` has its say."""
    cls = type(value)
    if is_named_tuple(cls):
        state = dict(zip(cls._fields, value, strict=True))
    else:
        given = value.__getstate__()
        if given is None:
            state = {}
        elif isinstance(given, dict):
            state = dict(given)
        elif isinstance(given, tuple):  # attributes, and slots
            state = {name: v for part in given if part for name, v in part.items()}
        elif is_dataclass(cls):  # those with slots return a list
            state = {field.name: getattr(value, field.name) for field in fields(cls)}
        else:
            raise ModelFileError(f"{path} gives its state as {type(given).__name__}, not as a dict.")
    state.pop("_sklearn_version", None)  # the header has it
    state = {name: v for name, v in state.items() if not is_cache(cls, name)}
    for name in state:
        reason = None if is_named_tuple(cls) else objection(cls, name)
        if reason is not None:
            raise ModelFileError(f"{path}.{name} cannot be saved: the name {reason}.")
    wrong = misfit(cls, state)
    if wrong is not None:
        raise ModelFileError(
            f"{path}.{wrong} cannot be saved: its type, {type(state[wrong]).__name__}, is not the one that "
            f"its class declares."
        )
    return state


def _dtype(dtype: np.dtype, path: str) -> str:
    text = dtype_text(dtype)
    if text is None:
        raise ModelFileError(f"{path} has the type {dtype}, which a model file does not hold.")
    return text


def _why_not(value: Any) -> str:
    cls = type(value)
    name = f"{cls.__module__}.{cls.__qualname__}"
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return "is a random generator, which a model file does not hold; give a whole number instead."
    if isinstance(value, type) or (callable(value) and not hasattr(value, "get_params")):
        return (
            "is a function or class, and a model file holds no code; use what pellucid offers instead, such "
            "as a kernel composed from pellucid.kernels, or keep the model with pickle."
        )
    return f"is an object of {name}, and a model file holds only objects that pellucid knows."
