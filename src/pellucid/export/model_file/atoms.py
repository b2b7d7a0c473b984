"""Single values that JSON lacks: each kind written and read by one line of a table.

What was read is written again and compared, so that a kind has no check of its own: there is one way to
write a value, and a file that has another is damaged.
"""

import base64
import json
from collections.abc import Callable
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from pellucid.export.model_file.arrays import dtype_from, dtype_text
from pellucid.export.model_file.parse import damaged

_NUMBERS: tuple[type, ...] = (
    *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
    *(np.float16, np.float32, np.float64, np.complex64, np.complex128),
)
TYPES: dict[str, type] = {
    **{kind.__name__: kind for kind in (bool, int, float, complex, str, object)},
    **{f"numpy.{kind.__name__}": kind for kind in (np.bool_, *_NUMBERS)},
}
"""Types that an attribute may name, such as the ``dtype`` of an encoder."""
_TYPE_NAMES = {kind: name for name, kind in TYPES.items()}


class Atom(NamedTuple):
    """How values of one kind are written and read."""

    type: type
    what: str  # for messages
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def _text_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _float(value: float) -> Any:
    return value if isfinite(value) else {"float": repr(value)}


def _part(node: Any) -> float:
    return float(node["float"]) if isinstance(node, dict) else float(node)


def _ends(value: slice | range) -> list[int | None]:
    return [value.start, value.stop, value.step]


def _whole(node: list[Any]) -> list[Any]:
    if not all(bound is None or type(bound) is int for bound in node):
        raise ValueError("bounds are whole numbers")
    return node


ATOMS: dict[str, Atom] = {
    "float": Atom(float, "a number", repr, float),  # NaN and infinities; each NaN its own, as keys of dicts
    "complex": Atom(
        complex,
        "a complex number",
        lambda value: [_float(value.real), _float(value.imag)],
        lambda node: complex(*map(_part, node)),
    ),
    "bytes": Atom(bytes, "a string of bytes", _text_of, lambda node: base64.b64decode(node, validate=True)),
    "numpy.str_": Atom(np.str_, "a text", str, np.str_),
    "numpy.bytes_": Atom(
        np.bytes_, "a string of bytes", _text_of, lambda node: np.bytes_(base64.b64decode(node))
    ),
    "slice": Atom(slice, "a range of positions", _ends, lambda node: slice(*_whole(node))),
    "range": Atom(range, "a range of positions", _ends, lambda node: range(*_whole(node))),
    "scalar": Atom(
        np.generic,
        "a number of NumPy",
        lambda value: {"dtype": dtype_text(value.dtype), "bytes": value.tobytes().hex()},
        lambda node: np.frombuffer(bytes.fromhex(node["bytes"]), dtype_from(node["dtype"]))[0],
    ),
    "dtype": Atom(np.dtype, "a type of array that models have", dtype_text, dtype_from),
    "type": Atom(type, "a type that models have", _TYPE_NAMES.get, lambda node: TYPES[node]),
}
_EXACT = {atom.type: kind for kind, atom in ATOMS.items() if kind not in ("scalar", "dtype", "type")}


def written(value: Any) -> dict[str, Any] | None:
    """JSON for a value of one of these kinds, ``None`` for other values."""
    kind = _EXACT.get(type(value))
    if kind is None:
        kind = next((k for k in ("scalar", "dtype", "type") if isinstance(value, ATOMS[k].type)), None)
    if kind is None or (kind == "type" and value not in _TYPE_NAMES):
        return None
    return {kind: ATOMS[kind].write(value)}


def read(kind: str, node: Any, path: str) -> Any:
    """The value that some JSON stands for."""
    atom = ATOMS[kind]
    try:
        value = atom.read(node)
        same = _float(value) if kind == "float" else written(value)
    except (ValueError, TypeError, KeyError, IndexError):  # binascii.Error is a ValueError
        same = None
    if json.dumps(same) != json.dumps({kind: node}):
        raise damaged(path, f"is not {atom.what}")
    return value
