"""Losses of residuals other than squared ones: Huber's, and those of expectiles and quantiles."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy.special import expit

from pellucid.losses.base import Loss
from pellucid.losses.constant import weighted_quantile

_EFFICIENT = (
    1.345  # threshold in standard deviations at which Huber's loss is 95 % efficient for normal errors
)
_START = 0.1  # threshold or bandwidth while none is known, in the unit of the targets


class _Residual(Loss):
    """Losses of the residual ``r = y − η``, with the identity as link."""

    kind = "regression"
    degree = 2

    def _mean(self, eta: np.ndarray) -> np.ndarray:
        return eta.copy()

    def _expected_curvature(self, y: np.ndarray, eta: np.ndarray, s: np.ndarray) -> np.ndarray:
        # with the noise alike in all rows, the mean over them: with it the variance of an estimate,
        # mean square of slopes / n curvature², is that of the sandwich
        return np.full(y.shape, float(s @ self._curvature(y, eta)) / float(s.sum()))


class Huber(_Residual):
    r"""Squared error up to a threshold ``c`` and linear beyond, so that no outlier pulls by more than ``c``.

    ``½ r²`` for ``|r| ≤ c`` and ``c |r| − ½ c²`` beyond, for the residual ``r = y − η``.

    Parameters
    ----------
    threshold : float, optional
        Residual from which a row counts as an outlier, in the unit of the targets. Raising it brings the
        loss nearer to the squared one. If not given, 1.345 times the robust standard deviation (median
        absolute residual / 0.6745) of held-out residuals; it keeps 95 % of the precision for normal errors.

    References
    ----------
    P. J. Huber, "Robust estimation of a location parameter", Annals of Mathematical Statistics 35 (1964).

    Examples
    --------
    >>> from pellucid.losses import Huber
    >>> Huber(1.0).value([0.5, 10.0], [0.0, 0.0])
    array([0.125, 9.5  ])
    """

    name = "huber"

    def __init__(self, threshold: float | None = None) -> None:
        self.threshold = _positive(threshold, "threshold")

    @property
    def _c(self) -> float:
        return _START if self.threshold is None else self.threshold

    def bound(self) -> float:
        """Return one, the curvature of rows that are no outliers."""
        return 1.0

    def _value(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        r = np.abs(y - eta)
        inner = np.minimum(r, self._c)
        return inner * (r - 0.5 * inner)

    def _gradient(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return np.clip(eta - y, -self._c, self._c)

    def _curvature(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return np.where(np.abs(y - eta) <= self._c, 1.0, 0.0)

    def _estimated(self, y: np.ndarray, eta: np.ndarray, s: np.ndarray) -> Loss:
        size = weighted_quantile(np.abs(y - eta), s, 0.5) / 0.6745
        return Huber(_EFFICIENT * _or_spread(size, y, eta, s))

    def in_unit(self, unit: float) -> Loss:
        """The loss for targets that were divided by ``unit``."""
        return self if self.threshold is None else Huber(self.threshold / unit)


class Expectile(_Residual):
    """Squared error that counts ``level`` above the prediction and ``1 − level`` below.

    ``level · r²`` for ``r = y − η > 0`` and ``(1 − level) r²`` for ``r < 0``: the squared loss for level one
    half. Its best constant is the expectile, which is to the mean what a quantile is to the median.

    Parameters
    ----------
    level : float, default=0.5
        Between 0 and 1; raising it raises predictions.

    References
    ----------
    W. K. Newey and J. L. Powell, "Asymmetric least squares estimation and testing", Econometrica 55 (1987).

    Examples
    --------
    >>> from pellucid.losses import Expectile
    >>> Expectile(0.9).best_constant([0.0, 1.0])
    0.9
    """

    name = "expectile"

    def __init__(self, level: float = 0.5) -> None:
        self.level = _level(level)

    def bound(self) -> float:
        """Return the curvature on the steeper side."""
        return 2.0 * max(self.level, 1.0 - self.level)

    def _side(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return np.where(y > eta, self.level, 1.0 - self.level)

    def _value(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return self._side(y, eta) * np.square(y - eta)

    def _gradient(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return 2.0 * self._side(y, eta) * (eta - y)

    def _curvature(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return 2.0 * self._side(y, eta)


class Quantile(_Residual):
    r"""Check loss of a quantile, its kink rounded off over a small bandwidth ``h``.

    With the residual ``r = y − η`` and the level τ, ``τ r + h log(1 + exp(−r/h))``: within ``h log 2`` of the
    check loss ``max(τ r, (τ − 1) r)``, and smooth. It is the check loss averaged over logistic noise of scale
    ``h``, and the slope ``1/(1 + exp(r/h)) − τ`` says that a smoothed share τ of the rows is below ``η``. The
    deviance is twice the value above its minimum.

    Parameters
    ----------
    level : float, default=0.5
        The level τ, between 0 and 1; one half is the median.
    bandwidth : float, optional
        ``h`` in the unit of the targets. Raising it makes fits smoother and faster, and pulls quantiles
        towards expectiles. If not given, ``σ √(τ(1 − τ)) n^(−1/3)`` with the robust standard deviation ``σ``
        of held-out residuals (interquartile range / 1.349), which vanishes faster than the error of the
        quantile itself.

    References
    ----------
    M. Fasiolo, S. N. Wood, M. Zaffran, R. Nedellec and Y. Goude, "Fast calibrated additive quantile
    regression", Journal of the American Statistical Association 116 (2021).

    Examples
    --------
    >>> from pellucid.losses import Quantile
    >>> Quantile(0.9, bandwidth=1e-6).value([10.0, 0.0], [0.0, 10.0])
    array([9., 1.])
    """

    name = "quantile"
    degree = 1

    def __init__(self, level: float = 0.5, bandwidth: float | None = None) -> None:
        self.level = _level(level)
        self.bandwidth = _positive(bandwidth, "bandwidth")

    @property
    def _h(self) -> float:
        return _START if self.bandwidth is None else self.bandwidth

    def bound(self) -> float:
        """Return the curvature at the kink."""
        return 0.25 / self._h

    def _value(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        r = y - eta
        # log(1 + exp(−r/h)) split where it is exact on either side
        return np.maximum(self.level * r, (self.level - 1.0) * r) + self._h * np.log1p(
            np.exp(-np.abs(r) / self._h)
        )

    def _gradient(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return expit((eta - y) / self._h) - self.level

    def _curvature(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        x = (eta - y) / self._h
        return expit(x) * expit(-x) / self._h

    def _deviance(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        tau = self.level
        least = -self._h * (tau * np.log(tau) + (1.0 - tau) * np.log1p(-tau))
        return 2.0 * np.maximum(self._value(y, eta) - least, 0.0)

    def _estimated(self, y: np.ndarray, eta: np.ndarray, s: np.ndarray) -> Loss:
        low, high = weighted_quantile(y - eta, s, 0.25), weighted_quantile(y - eta, s, 0.75)
        size = _or_spread((high - low) / 1.349, y, eta, s)
        shrink = np.sqrt(self.level * (1.0 - self.level)) * max(s.sum(), 1.0) ** (-1.0 / 3.0)
        return Quantile(self.level, size * shrink)

    def in_unit(self, unit: float) -> Loss:
        """The loss for targets that were divided by ``unit``."""
        return self if self.bandwidth is None else Quantile(self.level, self.bandwidth / unit)


def _or_spread(size: float, y: np.ndarray, eta: np.ndarray, s: np.ndarray) -> float:
    """A robust size of residuals; where most are alike, one that keeps the loss from having a kink."""
    if size > 0:
        middle = weighted_quantile(y, s, 0.75) - weighted_quantile(y, s, 0.25)
        return max(float(size), 1e-2 * middle)
    r = y - eta
    spread = float(np.sqrt(s @ np.square(r - s @ r / s.sum()) / s.sum()))
    return max(0.1 * spread, 1e-6 * (float(np.abs(y).max()) or 1.0))


def _positive(value: Any, name: str) -> float | None:
    if value is None:
        return None
    if not isinstance(value, Real) or not 0 < float(value) < np.inf:
        raise ValueError(
            f"{name} must be a positive number, or None to find it from the data; got {value!r}."
        )
    return float(value)


def _level(value: Any) -> float:
    if not isinstance(value, Real) or not 0 < float(value) < 1:
        raise ValueError(f"The level must be a number between 0 and 1, as 0.9; got {value!r}.")
    return float(value)
