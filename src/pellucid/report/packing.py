"""Numbers in a page: arrays as base64 of float64, exact and half the size of digits; and plain JSON."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np

Packed = dict[str, Any]


def pack(values: Any) -> Packed:
    """An array as its shape and its little-endian bytes; the page makes nested lists of it.

    Examples
    --------
    >>> pack([[1.0, 2.0]])["shape"]
    [1, 2]
    """
    array = np.ascontiguousarray(values, dtype="<f8")
    return {"shape": list(array.shape), "f8": base64.b64encode(array.tobytes()).decode("ascii")}


def pack_surface(table: np.ndarray) -> Packed:
    """A table of shape (m₁, m₂, outputs) as products of thin matrices, where that is shorter.

    Surfaces of additive models are sums of a few products of functions of one feature, so their tables have a
    small rank. What is left out is below the rounding error of a float64.
    """
    factors = []
    for values in np.moveaxis(table, 2, 0):
        U, singular, V = np.linalg.svd(values, full_matrices=False)
        keep = singular > 1e-16 * singular.max(initial=0.0)
        keep[:1] = True  # also where an output has no such term: the shape is in the factors
        factors.append((U[:, keep] * singular[keep], V[keep]))
    if 2 * sum(left.size + right.size for left, right in factors) > table.size:
        return pack(table)
    return {"left": [pack(left) for left, _ in factors], "right": [pack(right) for _, right in factors]}


def unpack(packed: Packed) -> np.ndarray:
    """The array again."""
    if "left" in packed:
        pairs = zip(packed["left"], packed["right"], strict=True)
        return np.stack([unpack(left) @ unpack(right) for left, right in pairs], axis=-1)
    return np.frombuffer(base64.b64decode(packed["f8"]), dtype="<f8").reshape(packed["shape"])


def rounded(values: Any, digits: int = 6) -> list[Any]:
    """Numbers for display only: some significant digits, ``None`` for what is not finite."""
    return [float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in np.ravel(values)]


def plain(value: Any) -> Any:
    """A value made of what JSON knows; a number that is not finite becomes null.

    Examples
    --------
    >>> plain({"a": np.float64("nan"), "b": np.arange(2), 3: True})
    {'a': None, 'b': [0, 1], '3': True}
    """
    if isinstance(value, dict):
        return {str(key): plain(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
