"""From JSON and arrays back to a model, whose own code does not run: checked attributes are put in place.

What the JSON may say is in :mod:`~pellucid.export.model_file.encode`. Instances come from ``object.__new__``
of a class in the registry, never from a constructor; they get only attributes that their class lets them
have, and all of those that it needs.
"""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from pellucid.exceptions import ModelFileError
from pellucid.export.model_file.arrays import shape_from
from pellucid.export.model_file.atoms import ATOMS, read
from pellucid.export.model_file.encode import in_object_arrays
from pellucid.export.model_file.fields import fault, with_later_parameters
from pellucid.export.model_file.parse import MAX_DEPTH, damaged
from pellucid.export.model_file.registry import find, is_named_tuple, objection


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
            "array": lambda node, path, depth: _numbered(self._arrays, node, path),
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
        if kind in ATOMS:
            return read(kind, content, path)
        if kind not in self._readers:
            raise damaged(path, f"is of the unknown kind {kind[:40]!r}")
        return self._readers[kind](content, path, depth)

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

    def _objects(self, node: Any, path: str, depth: int) -> np.ndarray:
        if not isinstance(node, dict) or set(node) != {"shape", "items"}:
            raise damaged(path, "is not an array of objects")
        shape, items = shape_from(node["shape"]), self._items(node["items"], path, depth)
        if prod(shape) != len(items) or not all(map(in_object_arrays, items)):
            raise damaged(path, "is not an array of numbers and texts")
        array = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):  # of which some may be arrays themselves
            array[i] = item
        return array.reshape(shape)

    # ------------------------------------------------------------- instances
    def _ref(self, node: Any, path: str, depth: int) -> Any:
        instance = _numbered(self._instances, node, path)
        if instance is None:
            raise damaged(path, "contains itself")
        return instance

    def _object(self, node: Any, path: str, depth: int) -> Any:
        match node:
            case {"class": name, "state": dict(attributes)} if len(node) == 2:
                cls = find(name) if isinstance(name, str) else None
            case _:
                raise damaged(path, "is not an object")
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
            reason = objection(cls, attribute)
            if reason is not None:
                raise damaged(path, f"has the attribute {attribute[:60]!r}, whose name {reason}")
        state = {key: self.decode(value, f"{path}.{key}", depth + 1) for key, value in attributes.items()}
        state = with_later_parameters(cls, state)
        wrong = fault(cls, state)
        if wrong is not None:
            raise damaged(f"{path}{wrong}")
        self._instances[number] = build(cls, state)
        return self._instances[number]


def build(cls: type, state: dict[str, Any]) -> Any:
    """An instance with the given attributes; neither constructor nor ``__setattr__`` runs."""
    if is_named_tuple(cls):
        return tuple.__new__(cls, (state[field] for field in cls._fields))  # type: ignore[attr-defined]
    instance: Any = object.__new__(cls)
    for attribute, value in state.items():
        object.__setattr__(instance, attribute, value)
    return instance


def _numbered(known: list[Any], node: Any, path: str) -> Any:
    if type(node) is not int or not 0 <= node < len(known):
        raise damaged(path, "refers to what is not in the file")
    return known[node]


def _hashable(value: Any, path: str) -> Any:
    try:
        hash(value)
    except TypeError:
        raise damaged(path, "has a key that cannot be one") from None
    return value
