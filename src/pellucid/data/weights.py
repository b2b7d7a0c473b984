"""What the rows count for: observations, or precisions that only compare rows with each other."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from pellucid._callers import warn_caller
from pellucid.exceptions import WeightWarning

READINGS = ("auto", "counts", "precision")
_FAR = 10.0  # a mean weight beyond this, or below its inverse, hardly counts observations


def check_weight(sample_weight: Any, n_rows: int, reading: str = "counts") -> np.ndarray:
    """Return weights as float64 in units of observations, ones where none were given.

    ``"counts"`` takes them as they are: a weight of 2 is the row given twice. ``"precision"`` divides them by
    their mean over the rows of positive weight, so that only their ratios matter, as those of survey weights
    or inverse variances. ``"auto"`` counts unless the mean is so far from one that they can hardly be counts,
    and then takes precisions and says so.

    Examples
    --------
    >>> check_weight([0.002, 0.006], 2, "precision"), check_weight([1, 3], 2)
    (array([0.5, 1.5]), array([1., 3.]))
    """
    if reading not in READINGS:
        raise ValueError(f"weights must be 'auto', 'counts' or 'precision', got {reading!r}.")
    if sample_weight is None:
        return np.ones(n_rows)
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_rows, float(sample_weight))
    weight = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got shape {weight.shape}.")
    if len(weight) != n_rows:
        raise ValueError(f"sample_weight has {len(weight)} entries, but X has {n_rows} rows.")
    if np.any(weight < 0):
        raise ValueError(
            "Negative values in data passed to `sample_weight`: a row cannot count less than nothing."
        )
    if not np.any(weight > 0):
        raise ValueError("All entries of sample_weight are zero: no row is left to fit.")
    mean = float(np.mean(weight[weight > 0]))
    return weight / mean if taken_for_precisions(mean, reading) else weight


def taken_for_precisions(mean: float, reading: str) -> bool:
    """Whether weights of this mean are divided by it; says so where that was not asked for."""
    if reading not in READINGS:
        raise ValueError(f"weights must be 'auto', 'counts' or 'precision', got {reading!r}.")
    if reading == "auto" and not counts_observations(mean, reading):
        warn_caller(
            f"sample_weight has a mean of {mean:.3g}, so it is taken for precisions: weights are divided by "
            f"their mean and only compare rows. Pass weights='precision' if this is meant, or "
            f"weights='counts' if a row stands for as many observations as its weight says "
            f"(--weights-as on the command line).",
            WeightWarning,
        )
        return True
    return reading == "precision"


def counts_observations(mean: float, reading: str) -> bool:
    """Whether weights of this mean, over rows of positive weight, count observations."""
    return reading == "counts" or (reading == "auto" and 1.0 / _FAR <= mean <= _FAR)
