"""From a model to JSON and arrays.

``None``, truth values, whole numbers, finite floats, texts and lists are themselves in JSON. Everything else
is an object with one key that says what it is: ``{"tuple": [...]}``, ``{"dict": [[key, value], ...]}``,
``{"array": 3}`` for the fourth array, ``{"object": {"class": "kernels.stationary.RBF", "state": {...}}}``,
``{"ref": 5}`` for an instance met before, the sixth in reading order, and the kinds of
:mod:`~pellucid.export.model_file.atoms`. Arrays on the same memory are stored once.
"""

import json
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any

import numpy as np

from pellucid.exceptions import ModelFileError
from pellucid.export.model_file.arrays import dtype_text
from pellucid.export.model_file.atoms import written
from pellucid.export.model_file.fields import fault
from pellucid.export.model_file.parse import MAX_DEPTH
from pellucid.export.model_file.registry import is_cache, is_named_tuple, name_of, objection

_PLAIN = (bool, int, float, complex, str, bytes, np.generic, type(None))
"""What an array of objects may hold."""


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
        if value is None or kind in (bool, str) or (kind is float and isfinite(value)):
            return value
        if kind is int:
            if value.bit_length() > 8192:
                raise ModelFileError(f"{path} is a whole number with more digits than a model file holds.")
            return value
        if kind in (np.ndarray, np.memmap):
            return self._array(value, path)
        if isinstance(value, np.generic | np.dtype) and kind not in (np.str_, np.bytes_):
            _check_dtype(value if isinstance(value, np.dtype) else value.dtype, path)
        atom = written(value)
        if atom is not None:
            return atom
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
        name = name_of(type(value))
        if name is None:
            raise ModelFileError(f"{path} {_why_not(value)}")
        self._numbers[id(value)] = len(self._numbers)
        self._held.append(value)
        state = state_of(value, path)
        encoded = {key: self.encode(state[key], f"{path}.{key}", depth + 1) for key in sorted(state)}
        return {"object": {"class": name, "state": encoded}}

    def _array(self, array: np.ndarray, path: str) -> Any:
        if array.dtype == object:
            for item in array.ravel():
                if not in_object_arrays(item):
                    raise ModelFileError(
                        f"{path} is an array of objects of type {type(item).__name__}; a model file holds "
                        f"arrays of numbers, texts, graphs and bags of vectors."
                    )
            items = [self.encode(item, path, 1) for item in array.ravel()]
            return {"objects": {"shape": list(array.shape), "items": items}}
        _check_dtype(array.dtype, path)
        array = np.asarray(array)
        key = (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str)
        if key not in self._places:
            self._places[key] = len(self.arrays)
            self.arrays.append(array)
        return {"array": self._places[key]}


def in_object_arrays(item: Any) -> bool:
    """Whether an array of objects may hold this: texts and numbers, graphs, bags of vectors."""
    if isinstance(item, _PLAIN) or getattr(type(item), "_in_object_arrays", False):
        return True
    return type(item) is np.ndarray and item.dtype.kind in "biuf"


def state_of(value: Any, path: str = "model") -> dict[str, Any]:
    """Attributes that make up an instance, without cached properties; ``__getstate__`` has its say."""
    cls = type(value)
    if is_named_tuple(cls):
        state = dict(zip(cls._fields, value, strict=True))
    else:
        given = value.__getstate__()
        if given is None or isinstance(given, dict):
            state = dict(given or {})
        elif isinstance(given, tuple):  # attributes, and slots
            state = {name: v for part in given if part for name, v in part.items()}
        elif is_dataclass(cls):  # those with slots return a list
            state = {field.name: getattr(value, field.name) for field in fields(cls)}
        else:
            raise ModelFileError(f"{path} gives its state as {type(given).__name__}, not as a dict.")
    state.pop("_sklearn_version", None)  # the header has it
    state = {name: v for name, v in state.items() if not is_cache(cls, name)}
    reasons = ((name, objection(cls, name)) for name in state)
    named = next((f".{name}, whose name {reason}" for name, reason in reasons if reason), None)
    wrong = named or fault(cls, state)
    if wrong is not None:
        raise ModelFileError(f"{path}{wrong}, so it cannot be saved.")
    return state


def _check_dtype(dtype: np.dtype, path: str) -> None:
    if dtype_text(dtype) is None:
        raise ModelFileError(f"{path} has the type {dtype}, which a model file does not hold.")


def _why_not(value: Any) -> str:
    cls = type(value)
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return "is a random generator, which a model file does not hold; give a whole number instead."
    if isinstance(value, type) or (callable(value) and not hasattr(value, "get_params")):
        return (
            "is a function or class, and a model file holds no code; use what pellucid offers instead, such "
            "as a kernel composed from pellucid.kernels, or keep the model with pickle."
        )
    name = f"{cls.__module__}.{cls.__qualname__}"
    return f"is an object of {name}, and a model file holds only objects that pellucid knows."
