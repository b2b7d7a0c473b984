r"""Intervals from the residuals of rows that a model has not seen, whatever the model.

Rows that were not used in the fit have scores, such as :math:`s_i = |y_i - f(x_i)| / \sigma(x_i)`. With
:math:`q` the :math:`\lceil c (n + 1) \rceil`-th smallest of them, the set of targets whose score is at most
:math:`q` covers a new target with probability at least :math:`c`, if rows are exchangeable and :math:`\sigma`
does not depend on them. What is asked of a score is only that it orders targets: for counts and amounts it is
the deviance residual, for a band of two predictors how far the target is outside of it.

References
----------
Vovk, Gammerman and Shafer (2005), Algorithmic learning in a random world. Romano,
Patterson and Candès (2019), Conformalized quantile regression. Lei et al. (2018), Distribution-free
predictive inference for regression.
"""

from __future__ import annotations

import numpy as np

from pellucid.effects.intervals import check_coverage
from pellucid.losses import Loss

_STEPS = 100  # halvings of an interval in which an end lies


def conformal_reach(scores: np.ndarray, coverage: float) -> float:
    """The score that the given share of targets does not exceed.

    Examples
    --------
    >>> conformal_reach(np.arange(1.0, 10.0), 0.9)
    9.0
    """
    n = len(scores)
    check_coverage(coverage, n)
    rank = int(np.ceil(coverage * (n + 1) - 1e-9))
    return float(np.sort(scores)[rank - 1])


def outside(
    y: np.ndarray, lower: np.ndarray, upper: np.ndarray, scale: np.ndarray | float = 1.0
) -> np.ndarray:
    """How far targets are outside of a band, in units of a scale; negative inside of it."""
    return np.maximum(lower - y, y - upper) / scale


def widened(
    lower: np.ndarray, upper: np.ndarray, scale: np.ndarray | float, reach: float
) -> tuple[np.ndarray, np.ndarray]:
    """The band of all targets that are outside by ``reach`` at most; it may not turn over."""
    low, high = lower - reach * scale, upper + reach * scale
    middle = (low + high) / 2
    return np.minimum(low, middle), np.maximum(high, middle)


def deviance_residual(loss: Loss, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
    """Root of the deviance with the sign of the error: nearly normal, of similar size for all means."""
    return np.sign(y - loss.mean(eta)) * np.sqrt(loss.deviance(y, eta))


def targets_within(
    loss: Loss, eta: np.ndarray, reach: np.ndarray, *, whole: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest positive targets whose deviance residual is of size ``reach`` at most.

    Parameters
    ----------
    loss : Loss
        A loss of counts or amounts.
    eta, reach : ndarrays of shape (m,)
        Linear predictors, and sizes.
    whole : bool
        Whether targets are whole numbers; the nearest one to the mean is always within.
    """
    mean, square = loss.mean(eta), reach**2
    low, high = np.full_like(mean, -60.0), np.zeros_like(mean)  # exponents relative to the mean
    for _ in range(_STEPS):
        middle = (low + high) / 2
        near = loss.deviance(mean * np.exp(middle), eta) <= square
        low, high = np.where(near, low, middle), np.where(near, middle, high)
    lower = np.where(_at_zero(loss, eta) <= square, 0.0, mean * np.exp(high))
    low, high = np.zeros_like(mean), np.full_like(mean, 60.0)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        near = loss.deviance(mean * np.exp(middle), eta) <= square
        low, high = np.where(near, middle, low), np.where(near, high, middle)
    upper = mean * np.exp(low)
    if whole:
        nearest = np.rint(mean)
        lower = np.minimum(np.ceil(lower - 1e-9), nearest) + 0.0  # no minus before zero
        upper = np.maximum(np.floor(upper + 1e-9), nearest)
    return lower, upper


def _at_zero(loss: Loss, eta: np.ndarray) -> np.ndarray:
    """Deviance of a target of zero, infinite where there is none."""
    try:
        loss.check_targets(np.zeros(1))
    except ValueError:
        return np.full_like(eta, np.inf)
    return loss.deviance(np.zeros_like(eta), eta)
