"""Checks of kernel parameters, made when a kernel is built so that the error points at the right line."""

from numbers import Real
from typing import Any

import numpy as np

Floats = float | np.ndarray
"""One number for all columns, or one for each."""


def positive(value: Any, name: str) -> float:
    """Return ``value`` as a float, insisting that it is finite and above zero."""
    number = _number(value, name)
    if not 0 < number < np.inf:
        raise ValueError(f"{name} must be a positive finite number, got {value!r}.")
    return number


def not_negative(value: Any, name: str) -> float:
    """Return ``value`` as a float, insisting that it is finite and not below zero."""
    number = _number(value, name)
    if not 0 <= number < np.inf:
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}.")
    return number


def positive_or_vector(value: Any, name: str) -> Floats:
    """Return a positive float, or a 1-D array of positive floats, one per column."""
    if np.ndim(value) == 0:
        return positive(value, name)
    vector = _vector(value, name)
    if not np.all(vector > 0):
        raise ValueError(f"{name} must be positive for every column, got {value!r}.")
    return vector


def finite_or_vector(value: Any, name: str) -> Floats:
    """Return a finite float, or a 1-D array of finite floats, one per column."""
    if np.ndim(value) == 0:
        number = _number(value, name)
        if not np.isfinite(number):
            raise ValueError(f"{name} must be finite, got {value!r}.")
        return number
    return _vector(value, name)


def whole(value: Any, name: str, minimum: int = 1) -> int:
    """Return ``value`` as an int of at least ``minimum``."""
    is_whole = not isinstance(value, bool) and isinstance(value, Real) and value == value // 1
    if not is_whole or value < minimum:
        raise ValueError(f"{name} must be a whole number of at least {minimum}, got {value!r}.")
    return int(value)


def matches_columns(value: Floats, name: str, X: np.ndarray) -> None:
    """Raise if ``value`` has one entry per column, but not of this ``X``."""
    if np.ndim(value) and np.size(value) != X.shape[1]:
        raise ValueError(f"{name} has {np.size(value)} entries, but X has {X.shape[1]} columns.")


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {value!r}.") from None


def _vector(value: Any, name: str) -> np.ndarray:
    try:
        vector = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number or a 1-D array of numbers, got {value!r}.") from None
    if vector.ndim != 1 or vector.size == 0 or not np.all(np.isfinite(vector)):
        raise ValueError(f"{name} must be a number or a 1-D array of finite numbers, got {value!r}.")
    return vector


def is_missing(value: Any) -> bool:
    """Whether a cell is empty: None, NaN, NaT or a data frame's own mark."""
    if value is None:
        return True
    if isinstance(value, str | bytes):
        return False
    if isinstance(value, float | np.generic):
        return bool(value != value)
    return type(value).__name__ in ("NAType", "NaTType")
