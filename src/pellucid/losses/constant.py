"""Finding the best constant: the gate for its data, and the zero of a slope that only rises."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

ONE_SIDED = 30.0
"""Size of the linear predictor that stands for infinity: ``exp(-30)`` is about 1e-13."""


def check_weight(weight: ArrayLike | None, n_rows: int) -> np.ndarray:
    """Return row weights, scaled to a maximum of one, which does not move a minimum."""
    if weight is None:
        return np.ones(n_rows)
    s = np.asarray(weight, dtype=np.float64)
    if s.shape != (n_rows,):
        raise ValueError(f"weight must have shape ({n_rows},) like y, got {s.shape}.")
    if not np.all(np.isfinite(s)) or np.any(s < 0) or not np.any(s > 0):
        raise ValueError("Weights must be finite and not negative, and at least one must be positive.")
    return s / s.max()


def check_constant_data(
    y: ArrayLike, weight: ArrayLike | None, offset: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return targets, weights and offsets of the rows that have a weight above zero."""
    y = np.asarray(y, dtype=np.float64)
    if y.ndim != 1 or not len(y):
        raise ValueError(f"y must have shape (n,) with at least one row, got {y.shape}.")
    s = check_weight(weight, len(y))
    o = np.zeros(len(y)) if offset is None else np.asarray(offset, dtype=np.float64)
    if o.shape != y.shape or not np.all(np.isfinite(o)):
        raise ValueError(f"offset must be finite and of shape {y.shape} like y, got shape {o.shape}.")
    keep = s > 0
    return y[keep], s[keep], o[keep]


def zero_of_slope(slope: Callable[[float], float], low: float, high: float) -> float:
    """Return where a non-decreasing function changes sign within an interval.

    An end that is already on the wrong side, be it by rounding, is the answer itself.
    """
    if slope(low) >= 0:
        return low
    if slope(high) <= 0:
        return high
    return float(brentq(slope, low, high, xtol=1e-14, rtol=4 * np.finfo(float).eps, maxiter=500))


def expanding_bracket(slope: Callable[[float], float], centre: float) -> tuple[float, float] | float:
    """Return an interval on which a non-decreasing function changes sign.

    Without such an interval, return the sign of the direction in which the loss falls for ever.
    """
    down = slope(centre)
    if down == 0:
        return centre, centre
    sign = -float(np.sign(down))
    near, reach = centre, 1.0
    while reach < 2.0**100:
        far = centre + sign * reach
        if sign * slope(far) >= 0:
            return (near, far) if sign > 0 else (far, near)
        near, reach = far, 2 * reach
    return sign


def weighted_quantile(values: np.ndarray, weight: np.ndarray, level: float) -> float:
    """Smallest of the values at or below which a share ``level`` of the weight lies; the middle of a gap.

    Examples
    --------
    >>> weighted_quantile(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0]), 0.5)
    2.0
    """
    order = np.argsort(values, kind="stable")
    gained = np.cumsum(weight[order])
    needed = level * gained[-1]
    at = int(np.searchsorted(gained, needed * (1.0 - 1e-12)))
    level_gap = abs(gained[at] - needed) <= 1e-12 * gained[-1] and at + 1 < len(order)
    return float(0.5 * (values[order[at]] + values[order[at + 1]]) if level_gap else values[order[at]])
