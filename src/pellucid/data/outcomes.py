"""Targets that are more than one number: successes and failures, times and events."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_consistent_length

from pellucid.data.targets import as_target, check_targets
from pellucid.losses import Loss


def enter_outcome(y: Any, rows: Any, weight: np.ndarray, loss: Loss) -> tuple[np.ndarray, np.ndarray]:
    """Return targets of shape (n,) in the form in which a loss takes them, and weights that go with them."""
    y, weight = pairs_as_one(y, weight, loss)
    target = loss.check_targets(check_targets(y, rows, one=True), weight)
    return target, weight


def pairs_as_one(y: Any, weight: np.ndarray, loss: Loss) -> tuple[Any, np.ndarray]:
    """Return proportions of successes and failures, signed times of times and events; others as they are."""
    if loss.kind == "proportions":
        y, trials = _share_of_trials(y, weight)
        weight = weight * trials
    if loss.kind == "survival":
        y = _signed_times(y, weight)
    return y, weight


def _share_of_trials(y: Any, rows: Any) -> tuple[Any, np.ndarray]:
    """Proportions and trials of two columns, successes and failures; proportions alone have one trial."""
    columns = as_target(y, one=False)
    columns = columns if hasattr(columns, "shape") else np.asarray(columns)
    if np.ndim(columns) != 2 or np.shape(columns)[1] != 2:
        return y, np.ones(len(rows))
    counts = check_array(columns, dtype=np.float64, input_name="y")
    check_consistent_length(rows, counts)
    trials = counts.sum(axis=1)
    if np.any(counts < 0) or not np.any(trials > 0):
        raise ValueError(
            f"Successes and failures must not be negative, nor all be zero; got {counts.min():g}."
        )
    return counts[:, 0] / np.maximum(trials, np.finfo(float).tiny), trials


def _signed_times(y: Any, rows: Any) -> Any:
    """Times of two columns, or of a structured array, of time and event; negative without an event."""
    if y is None:
        return y
    columns = as_target(y, one=False)
    columns = columns if hasattr(columns, "shape") else np.asarray(columns)
    fields = getattr(getattr(columns, "dtype", None), "names", None)
    if fields is not None:
        if len(fields) != 2:
            raise ValueError(f"y needs two fields, time and event; got {', '.join(fields)}.")
        parts = [np.asarray(columns[name]) for name in fields]
        time, event = parts[::-1] if parts[0].dtype.kind == "b" else parts
    elif np.ndim(columns) == 2 and np.shape(columns)[1] == 2:
        values = check_array(columns, dtype=np.float64, input_name="y")
        time, event = values.T
        if not np.all(np.isin(event, (0.0, 1.0))) and np.all(np.isin(time, (0.0, 1.0))):
            time, event = event, time
    else:
        return y
    check_consistent_length(rows, time)
    time, event = np.asarray(time, dtype=np.float64), np.asarray(event, dtype=np.float64)
    if not np.all(np.isin(event, (0.0, 1.0))):
        raise ValueError("The event column of y must say whether there was an event: 0 or 1, False or True.")
    if np.any(time < 0):
        raise ValueError(f"Times must not be negative, got {time.min():g}.")
    return np.where(event > 0, time, -time)
