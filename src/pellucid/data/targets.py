"""Numeric targets, their unit, and the known part of the linear predictor."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from pellucid._callers import warn_caller
from pellucid.data.table import as_frame
from pellucid.linalg import power_of_two

_TOO_LARGE = 1e300  # the unit itself must be a number, and so must sums of targets


def as_target(y: Any, *, one: bool) -> Any:
    """``y``, collected if it is lazy; a frame of several columns is refused where ``one`` is wanted."""
    frame = as_frame(y, "y")
    if frame is None:
        return y
    if one and len(frame.columns) != 1:
        raise ValueError(
            f"y has {len(frame.columns)} columns, {', '.join(map(repr, frame.columns))}: this model has one "
            f"target, so pass one of them."
        )
    if not hasattr(y, "shape") and len(frame.columns) == 1:  # a lazy frame is all that a series can be
        return frame.get_column(frame.columns[0]).to_native()
    return frame.to_native()


def check_targets(y: Any, X: Any, *, one: bool = False) -> np.ndarray:
    """Return numeric targets as float64 of shape (n,), or (n, outputs) unless ``one`` output is wanted."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    if isinstance(y, Real):
        raise ValueError("y must have one or two dimensions, got 0.")
    y = as_target(y, one=one)
    Y = check_array(y, ensure_2d=False, allow_nd=True, dtype=np.float64, input_name="y")
    if Y.ndim > 2:
        raise ValueError(f"y must have one or two dimensions, got {Y.ndim}.")
    check_consistent_length(X, Y)
    return one_column(Y) if one else Y


def one_column(y: Any) -> np.ndarray:
    """``y`` of shape (n,); says so where it comes as a column."""
    shape: tuple[int, ...] = np.shape(y) if isinstance(y, list | tuple) else getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] == 1:
        warn_caller(
            "A column-vector y was passed when a 1d array was expected: pass y of shape (n,), for example by "
            "y.ravel().",
            DataConversionWarning,
        )
    return column_or_1d(y)


def check_offset(offset: Any, exposure: Any, n_rows: int, *, log_link: bool) -> np.ndarray:
    """Return the known part of the linear predictor: the offset plus the logarithm of the exposure."""
    known = np.zeros(n_rows)
    if offset is not None:
        values = check_array(offset, ensure_2d=False, dtype=np.float64, input_name="offset")
        if values.shape != (n_rows,):
            raise ValueError(f"offset must have one entry per row ({n_rows}), got shape {values.shape}.")
        known = known + values
    if exposure is not None:
        if not log_link:
            raise ValueError(
                "exposure is for losses with a log link (poisson, gamma and their like); use offset instead."
            )
        values = check_array(exposure, ensure_2d=False, dtype=np.float64, input_name="exposure")
        if values.shape != (n_rows,):
            raise ValueError(f"exposure must have one entry per row ({n_rows}), got shape {values.shape}.")
        if np.any(values <= 0):
            raise ValueError(
                "exposure must be positive for every row: drop the rows that were never at risk."
            )
        known = known + np.log(values)
    return known


def unit_of(y: np.ndarray) -> float:
    """Power of two near the largest deviation of targets from the first: in this unit none is extreme.

    Dividing by it is exact, so a model of ``y / unit`` is that of ``y`` in another unit. Targets that are all
    equal have their own size as unit.

    Examples
    --------
    >>> unit_of(np.array([1e-200, 3e-200])) < 1e-199, unit_of(np.array([0.0, 0.0]))
    (True, 1.0)
    """
    with np.errstate(over="ignore"):
        spread = float(np.max(np.abs(y - y.flat[0]), initial=0.0))
    size = spread if spread > 0 else float(np.max(np.abs(y), initial=0.0))
    if not size < _TOO_LARGE:
        raise ValueError(
            f"Targets vary by {size:.1g}, so much that their variance overflows; choose a larger unit."
        )
    return float(power_of_two(size))
