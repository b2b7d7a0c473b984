"""Settings that many estimators share, checked: ridge strengths and whole numbers."""

from numbers import Integral
from typing import Any

import numpy as np


def check_alpha(alpha: Any, n_outputs: int) -> str | np.ndarray:
    """Return the name of a criterion, or positive ridge strengths, one per output."""
    if isinstance(alpha, str):
        if alpha not in ("loo", "gcv", "ml"):
            raise ValueError(f"alpha must be a positive number, 'loo', 'gcv' or 'ml', got {alpha!r}.")
        return alpha
    values = np.atleast_1d(np.asarray(alpha, dtype=float))
    if not np.all(np.isfinite(values)) or np.any(values <= 0):
        raise ValueError(
            f"alpha must be positive, got {alpha!r}. To follow the data closely, pass a small value such as "
            f"1e-10."
        )
    if values.shape not in ((1,), (n_outputs,)):
        raise ValueError(f"alpha has {values.size} entries, but y has {n_outputs} output(s).")
    return np.broadcast_to(values, (n_outputs,)).copy()


def check_alphas(alphas: Any, name: str = "alphas") -> np.ndarray:
    """Return candidate ridge strengths, positive and in increasing order."""
    try:
        values = np.unique(np.atleast_1d(np.asarray(alphas, dtype=float)))
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.size == 0 or not np.all(np.isfinite(values)) or values[0] <= 0:
        raise ValueError(f"{name} must be positive and finite, got {alphas!r}.")
    return values


def check_count(value: Any, name: str, least: int) -> None:
    """Raise unless ``value`` is a whole number of at least ``least``."""
    if not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}.")
