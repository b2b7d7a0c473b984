"""Amounts with zeros: the Tweedie family between Poisson and gamma."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, logsumexp

from pellucid.losses.base import Loss
from pellucid.losses.exponential import bent_exp, bent_exp_curvature, bent_exp_slope, excess
from pellucid.losses.loglink import _LogLink

_START = 1.5  # power while none is known
_RANGE = 1.02, 1.98  # in which the power is looked for: at the ends, densities degenerate
_ROWS = 4000  # on which the power is estimated, at most
_TERMS = 200_000  # rows times terms of the series at a time, at most


class Tweedie(_LogLink):
    r"""Negative quasi-likelihood of an amount that may be zero, with variance :math:`\phi \mu^p`, 1 < p < 2.

    ``exp((2 − p) η)/(2 − p) + y exp((1 − p) η)/(p − 1)`` for ``y ≥ 0``. ``η`` is the logarithm of the
    expected amount, a sum of a Poisson number of gamma amounts, as claims of a year are: zero with positive
    probability. The dispersion φ only scales the value, as for the gamma loss.

    Parameters
    ----------
    power : float, optional
        The power p, between 1 (Poisson) and 2 (gamma). Raising it makes large amounts count less. If not
        given, that of greatest likelihood, together with φ, beside held-out predictions.

    References
    ----------
    P. K. Dunn and G. K. Smyth, "Series evaluation of Tweedie exponential dispersion model densities",
    Statistics and Computing 15 (2005).

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.losses import Tweedie
    >>> float(np.exp(Tweedie(1.5).best_constant([0.0, 1.0, 5.0])))  # the average amount
    2.0
    """

    name = "tweedie"
    kind = "regression"

    def __init__(self, power: float | None = None) -> None:
        if not (power is None or 1 < power < 2):
            raise ValueError(
                f"The power must lie between 1 and 2, or be None to estimate it; got {power!r}. For 1 use "
                f"loss='poisson', for 2 loss='gamma'."
            )
        self.power = None if power is None else float(power)

    @property
    def _p(self) -> float:
        return _START if self.power is None else self.power

    def _value(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        p = self._p
        return bent_exp((2.0 - p) * eta) / (2.0 - p) + y * bent_exp((1.0 - p) * eta) / (p - 1.0)

    def _gradient(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        p = self._p
        return bent_exp_slope((2.0 - p) * eta) - y * bent_exp_slope((1.0 - p) * eta)

    def _curvature(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        p = self._p
        rise, fall = bent_exp_curvature((2.0 - p) * eta), bent_exp_curvature((1.0 - p) * eta)
        return (2.0 - p) * rise + (p - 1.0) * y * fall

    def _expected_curvature(self, y: np.ndarray, eta: np.ndarray, s: np.ndarray) -> np.ndarray:
        return bent_exp_curvature((2.0 - self._p) * eta)

    def _deviance(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        p, some = self._p, y > 0
        amount = np.where(some, y, 1.0)
        r = eta - np.log(amount)
        # exp(a r) − 1 − a r for a = 2 − p and 1 − p: what is left out cancels, and near r = 0 nothing does
        near = excess((2.0 - p) * r) / (2.0 - p) + excess((1.0 - p) * r) / (p - 1.0)
        return 2.0 * np.where(some, amount ** (2.0 - p) * near, bent_exp((2.0 - p) * eta) / (2.0 - p))

    def _allowed(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        if np.any(y < 0):
            raise ValueError(
                f"The tweedie loss needs amounts, which are not negative, got {y.min():g}. For targets of "
                f"any sign use loss='squared'."
            )
        return y

    def _best_constant(self, y: np.ndarray, s: np.ndarray, o: np.ndarray) -> float:
        some, p = y > 0, self._p
        if not some.any():
            return self._one_sided(-1.0, o)
        pull = logsumexp(np.log(y[some]) + (1.0 - p) * o[some], b=s[some])
        return float(pull - logsumexp((2.0 - p) * o, b=s))

    def _estimated(self, y: np.ndarray, eta: np.ndarray, s: np.ndarray) -> Loss:
        keep = s > 0
        y, eta, s = y[keep], eta[keep], s[keep]
        if len(y) < 3 or not np.any(y > 0):
            return Tweedie(_START)
        unit = float(s @ y / s.sum())  # the power does not depend on it
        log_mean = np.clip(eta - np.log(unit), -30.0, 30.0)
        return Tweedie(estimated_power(y / unit, log_mean, s))


def estimated_power(y: np.ndarray, log_mean: np.ndarray, s: np.ndarray) -> float:
    """Power of greatest likelihood, with the dispersion profiled out."""
    chosen = np.random.default_rng(0).permutation(len(y))[:_ROWS]  # the same rows for the same data
    y, log_mean, s = y[chosen], log_mean[chosen], s[chosen]

    def beside(p: float) -> float:
        pearson = s @ ((y - np.exp(log_mean)) ** 2 * np.exp(-p * log_mean)) / s.sum()
        start = np.log(max(float(pearson), 1e-8))

        def lost(log_phi: float) -> float:
            return -float(s @ log_density(y, log_mean, np.exp(log_phi), p))

        return _least(lost, start - 2.5, start + 2.5, 1e-2)[1]

    return _least(beside, *_RANGE, 2e-3)[0]


def _least(function: Callable[[float], float], low: float, high: float, within: float) -> tuple[float, float]:
    found = minimize_scalar(function, bounds=(low, high), method="bounded", options={"xatol": within})
    return float(found.x), float(found.fun)


def log_density(y: np.ndarray, log_mean: np.ndarray, phi: float, p: float) -> np.ndarray:
    r"""Logarithm of the Tweedie density for 1 < p < 2; of the probability where ``y`` is zero.

    With :math:`a = (2 - p)/(p - 1)`, a positive amount is the sum of j gamma amounts of shape a with
    probability :math:`\lambda^j e^{-\lambda}/j!`. The terms of that series rise to one near
    :math:`j = y^{2-p}/((2 - p)\phi)` and fall again; those within nine of its widths are summed.
    """
    a = (2.0 - p) / (p - 1.0)
    rate = np.exp((2.0 - p) * log_mean) / ((2.0 - p) * phi)
    out = -rate
    some = np.flatnonzero(y > 0)
    top = y[some] ** (2.0 - p) / ((2.0 - p) * phi)
    reach = 9.0 * np.sqrt(top / (1.0 + a)) + 9.0
    first = np.maximum(np.floor(top - reach), 1.0)
    width = int(np.minimum(np.ceil(2.0 * reach.max(initial=0.0)) + 2, 4000))
    log_y, step = np.log(y[some]), np.arange(width)
    series = np.empty(len(some))
    # log of (y / (scale of a gamma amount))^a times rate, in which the mean cancels
    each = a * log_y - a * np.log(p - 1.0) - (1.0 + a) * np.log(phi) - np.log(2.0 - p)
    rows = max(1, _TERMS // width)
    for k in range(0, len(some), rows):
        part = slice(k, k + rows)
        j = first[part, None] + step
        series[part] = logsumexp(j * each[part, None] - gammaln(j + 1.0) - gammaln(a * j), axis=1)
    mean = log_mean[some]
    linear = y[some] * np.exp((1.0 - p) * mean) / ((p - 1.0) * phi)
    out[some] = -linear - rate[some] + series - log_y
    return out
