"""Scales that cannot overflow: the spread of columns, and the power of two nearest to a magnitude."""

import numpy as np


def column_scale(X: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """Weighted standard deviation of each column, 1 for a constant column.

    Each column is first divided by a power of two near its largest deviation, so values from 1e-150 to 1e150
    neither overflow nor vanish when squared.

    Examples
    --------
    >>> column_scale(np.array([[1e150, 3.0], [-1e150, 3.0]]))
    array([1.e+150, 1.e+000])
    """
    X = np.asarray(X, dtype=float)
    weight = np.ones(len(X)) if weight is None else weight
    share = weight / weight.sum()
    size = power_of_two(np.abs(X).max(axis=0))
    unit = X / size
    # from the first row, not from zero: in a long constant column the mean is off by rounding, a difference
    # is not
    shift = unit - unit[0]
    deviation = shift - share @ shift
    spread = np.abs(deviation).max(axis=0)
    inner = power_of_two(spread)
    scale = np.sqrt(share @ (deviation / inner) ** 2) * inner
    # values that differ by rounding alone, such as 0.3 and 0.1 + 0.2, make a constant column too
    constant = spread <= 1e-14 * np.abs(unit).max(axis=0, initial=0.0)
    return np.where(constant | (scale == 0), 1.0, scale * size)


def power_of_two(magnitude: np.ndarray | float) -> np.ndarray:
    """Power of two next above each magnitude (1 for zero): dividing by it is exact in floating point.

    Examples
    --------
    >>> power_of_two([3.0, 0.0, 0.25])
    array([4. , 1. , 0.5])
    """
    magnitude = np.abs(np.asarray(magnitude, dtype=float))
    exponent = np.clip(np.frexp(magnitude)[1], -1020, 1020)
    return np.where(magnitude > 0, np.ldexp(1.0, exponent), 1.0)
