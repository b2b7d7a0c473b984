"""From JSON and arrays back to a model, whose own code does not run: checked attributes are put in place.

What the JSON may say is in :mod:`pellucid.export.encode`. Instances come from ``object.__new__`` of a class
in the registry, never from a constructor; they get only attributes that their class lets them have.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from pellucid.exceptions import ModelFileError
from pellucid.export.arrays import dtype_from, shape_from
from pellucid.export.encode import MAX_DEPTH
from pellucid.export.fields import misfit
from pellucid.export.parse import damaged
from pellucid.export.registry import FIXED, TYPES, find, is_named_tuple, objection, required
from pellucid.kernels import Kernel

_SPECIAL = ("nan", "inf", "-inf")
_PLAIN = (bool, int, float, complex, str, bytes, np.generic)


class Decoder:
    """Turns JSON into values, given the arrays."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self.foreign = ""  # a class of scikit-learn that was met
        self._arrays = arrays
        self._instances: list[Any] = []  # in reading order; None while being built
        self._readers: dict[str, Callable[[Any, str, int], Any]] = {
            "tuple": lambda node, path, depth: tuple(self._items(node, path, depth)),
            "set": self._set,
            "frozenset": lambda node, path, depth: frozenset(self._set(node, path, depth)),
            "dict": self._dict,
            "float": _special,
            "complex": self._complex,
            "bytes": _bytes,
            "numpy.str_": _numpy_text,
            "numpy.bytes_": lambda node, path, depth: np.bytes_(_bytes(node, path, depth)),
            "scalar": _scalar,
            "dtype": lambda node, path, depth: dtype_from(node),
            "type": _type,
            "slice": lambda node, path, depth: slice(*self._bounds(node, path, depth)),
            "range": self._range,
            "array": lambda node, path, depth: self._numbered(self._arrays, node, path),
            "ref": self._ref,
            "objects": self._objects,
            "object": self._object,
        }

    def decode(self, node: Any, path: str, depth: int = 0) -> Any:
        """Value of some JSON; ``path`` says where in the model it is."""
        if depth > MAX_DEPTH:
            raise damaged(path, "is nested too deeply")
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if isinstance(node, list):
            return self._items(node, path, depth)
        if len(node) != 1:
            raise damaged(path, "is not a value")
        ((kind, content),) = node.items()
        reader = self._readers.get(kind)
        if reader is None:
            raise damaged(path, f"is of the unknown kind {kind[:40]!r}")
        return reader(content, path, depth)

    # ------------------------------------------------------------ containers
    def _items(self, node: Any, path: str, depth: int) -> list[Any]:
        if not isinstance(node, list):
            raise damaged(path, "is not a list")
        return [self.decode(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(node)]

    def _set(self, node: Any, path: str, depth: int) -> set[Any]:
        items = [_hashable(item, path) for item in self._items(node, path, depth)]
        if len(set(items)) != len(items):
            raise damaged(path, "has an element twice")
        return set(items)

    def _dict(self, node: Any, path: str, depth: int) -> dict[Any, Any]:
        if not isinstance(node, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in node):
            raise damaged(path, "is not a list of keys and values")
        found: dict[Any, Any] = {}
        for key_node, value_node in node:
            key = _hashable(self.decode(key_node, f"a key of {path}", depth + 1), path)
            if key in found:
                raise damaged(path, "has a key twice")
            found[key] = self.decode(value_node, f"{path}[{str(key)[:40]!r}]", depth + 1)
        return found

    # --------------------------------------------------------------- numbers
    def _complex(self, node: Any, path: str, depth: int) -> complex:
        parts = self._items(node, path, depth)
        if len(parts) != 2 or not all(type(part) is float for part in parts):
            raise damaged(path, "is not a complex number")
        return complex(*parts)

    def _bounds(self, node: Any, path: str, depth: int) -> list[Any]:
        bounds = self._items(node, path, depth)
        if len(bounds) != 3 or not all(bound is None or type(bound) is int for bound in bounds):
            raise damaged(path, "is not a range of positions")
        return bounds

    def _range(self, node: Any, path: str, depth: int) -> range:
        bounds = self._bounds(node, path, depth)
        if None in bounds or bounds[2] == 0:
            raise damaged(path, "is not a range of positions")
        return range(*bounds)

    def _objects(self, node: Any, path: str, depth: int) -> np.ndarray:
        if not isinstance(node, dict) or set(node) != {"shape", "items"}:
            raise damaged(path, "is not an array of objects")
        shape, items = shape_from(node["shape"]), self._items(node["items"], path, depth)
        if prod(shape) != len(items) or not all(v is None or isinstance(v, _PLAIN) for v in items):
            raise damaged(path, "is not an array of numbers and texts")
        array = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            array[i] = item
        return array.reshape(shape)

    # ------------------------------------------------------------- instances
    def _numbered(self, known: list[Any], node: Any, path: str) -> Any:
        if type(node) is not int or not 0 <= node < len(known):
            raise damaged(path, "refers to what is not in the file")
        return known[node]

    def _ref(self, node: Any, path: str, depth: int) -> Any:
        instance = self._numbered(self._instances, node, path)
        if instance is None:
            raise damaged(path, "contains itself")
        return instance

    def _object(self, node: Any, path: str, depth: int) -> Any:
        if not isinstance(node, dict) or set(node) != {"class", "state"}:
            raise damaged(path, "is not an object")
        name, attributes = node["class"], node["state"]
        if not isinstance(attributes, dict):
            raise damaged(path, "is not an object")
        cls = find(name) if isinstance(name, str) else None
        if cls is None:
            raise ModelFileError(
                f"The file holds an object of the class {str(name)[:60]!r} at {path[-200:]}, which is not "
                f"one that this version of pellucid loads."
            )
        if name.startswith("sklearn."):
            self.foreign = cls.__name__
        number = len(self._instances)
        self._instances.append(None)
        for attribute in attributes:
            reason = None if is_named_tuple(cls) else objection(cls, attribute)
            if reason is not None:
                raise damaged(path, f"has the attribute {attribute[:60]!r}, whose name {reason}")
        state = {key: self.decode(value, f"{path}.{key}", depth + 1) for key, value in attributes.items()}
        _check_state(cls, name, state, path)
        self._instances[number] = build(cls, state, path)
        return self._instances[number]


def _check_state(cls: type, name: str, state: dict[str, Any], path: str) -> None:
    missing = required(cls) - set(state)
    if missing:
        raise damaged(path, f"has no {min(missing)}")
    wrong = misfit(cls, state)
    if wrong is not None:
        raise damaged(f"{path}.{wrong}", f"is of the wrong type, {type(state[wrong]).__name__}")
    for attribute, only in FIXED.get(name, {}).items():
        if state.get(attribute, only) != only:
            raise damaged(f"{path}.{attribute}", f"must be {only}")


def build(cls: type, state: dict[str, Any], path: str) -> Any:
    """An instance with the given attributes; neither constructor nor ``__setattr__`` runs."""
    if is_named_tuple(cls):
        if set(state) != required(cls):
            raise damaged(path, "has other fields than it must have")
        return tuple.__new__(cls, (state[field] for field in cls._fields))  # type: ignore[attr-defined]
    instance: Any = object.__new__(cls)
    for attribute, value in state.items():
        object.__setattr__(instance, attribute, value)
    if isinstance(instance, Kernel):
        try:
            whole = all(isinstance(child, Kernel) for child in instance.children)
        except (AttributeError, TypeError):
            whole = False
        if not whole:
            raise damaged(path, "is composed of what is not a kernel")
    return instance


def _hashable(value: Any, path: str) -> Any:
    try:
        hash(value)
    except TypeError:
        raise damaged(path, "has a key that cannot be one") from None
    return value


def _type(node: Any, path: str, depth: int) -> type:
    if not isinstance(node, str) or node not in TYPES:
        raise damaged(path, "names a type that models do not have")
    return TYPES[node]


def _special(node: Any, path: str, depth: int) -> float:
    if node not in _SPECIAL:
        raise damaged(path, "is not a number")
    return float(node)  # each NaN its own: as keys of a dict they are not one


def _bytes(node: Any, path: str, depth: int) -> bytes:
    try:
        return base64.b64decode(node, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise damaged(path, "is not a string of bytes") from None


def _numpy_text(node: Any, path: str, depth: int) -> np.str_:
    if not isinstance(node, str):
        raise damaged(path, "is not a text")
    return np.str_(node)


def _scalar(node: Any, path: str, depth: int) -> Any:
    if not isinstance(node, dict) or set(node) != {"dtype", "bytes"} or not isinstance(node["bytes"], str):
        raise damaged(path, "is not a number of NumPy")
    dtype = dtype_from(node["dtype"])
    try:
        data = bytes.fromhex(node["bytes"])
    except ValueError:
        data = b""
    if dtype.kind in "SU" or len(data) != dtype.itemsize:
        raise damaged(path, "is not a number of NumPy")
    return np.frombuffer(data, dtype)[0]
