"""Losses with the logarithm as link: Poisson counts and gamma amounts."""

import warnings

import numpy as np
from scipy.special import logsumexp

from pellucid.exceptions import RateWarning
from pellucid.losses.base import Loss

# Beyond this exponent the losses go on as the parabola that continues exp with the same value, slope and
# curvature: they stay convex, derivatives stay true, and squares of 1e130 still are numbers. No fit ends
# there.
EXPONENT_LIMIT = 300.0


def _split(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    inner = np.minimum(x, EXPONENT_LIMIT)
    return inner, x - inner


def _exp(x: np.ndarray) -> np.ndarray:
    inner, rest = _split(x)
    return np.exp(inner) * (1.0 + rest * (1.0 + 0.5 * rest))


def _exp_slope(x: np.ndarray) -> np.ndarray:
    inner, rest = _split(x)
    return np.exp(inner) * (1.0 + rest)


def _exp_curvature(x: np.ndarray) -> np.ndarray:
    return np.exp(np.minimum(x, EXPONENT_LIMIT))


def _excess(r: np.ndarray) -> np.ndarray:
    """``exp(r) − 1 − r``, which is never negative, accurate near zero."""
    inner, rest = _split(r)
    near = np.expm1(inner) - inner
    return np.maximum(near + rest * (np.exp(inner) * (1.0 + 0.5 * rest) - 1.0), 0.0)


def _is_whole(y: np.ndarray) -> bool:
    return bool(np.all(np.abs(y - np.rint(y)) <= 1e-9 * np.maximum(np.abs(y), 1.0)))


class _LogLink(Loss):
    """The inverse link shared by the losses of this module."""

    def _mean(self, eta: np.ndarray) -> np.ndarray:
        # the range of normal float64 numbers: a mean is never zero and never infinite
        return np.exp(np.clip(eta, -708.0, 709.0))


class Poisson(_LogLink):
    """Negative log-likelihood of a count, ``exp(η) − y η`` for ``y`` = 0, 1, 2, ...

    ``η`` is the logarithm of the expected count. Rows observed for different times or areas have the
    logarithm of that exposure as offset, so that ``exp(η − offset)`` is the rate. Equivalently, ``y`` may be
    the rate and the weight the exposure; fractions for which weight times rate is no whole count bring a
    warning. The term ``log y!`` is left out of the value; the deviance ``2 (y log(y/μ) − y + μ)`` is
    complete.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.losses import Poisson
    >>> float(np.exp(Poisson().best_constant([0, 1, 5])))  # the average count
    2.0
    >>> hours = np.array([1.0, 1.0, 10.0])
    >>> float(np.exp(Poisson().best_constant([0, 1, 5], offset=np.log(hours))))  # per hour
    0.5
    """

    name = "poisson"
    kind = "counts"

    def _value(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return _exp(eta) - y * eta

    def _gradient(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return _exp_slope(eta) - y

    def _curvature(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return np.broadcast_to(_exp_curvature(eta), np.broadcast_shapes(y.shape, eta.shape)).copy()

    def _deviance(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        some = y > 0
        counted = np.where(some, y, 1.0)
        return 2.0 * np.where(some, counted * _excess(eta - np.log(counted)), _exp(eta))

    def _allowed(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        if np.any(y < 0):
            raise ValueError(
                f"The poisson loss needs counts, which are not negative, got {y.min():g}. For targets of any "
                f"sign use loss='squared'."
            )
        whole = np.rint(y)
        if _is_whole(y):
            return whole
        if weight is None or not _is_whole(y * weight):
            warnings.warn(
                f"The poisson loss is for whole counts, got {y[np.abs(y - whole) > 1e-9].flat[0]:g}. "
                f"Fractions are taken as rates per unit of weight. Pass counts as y and what they were "
                f"divided by as exposure=, or rates as y and the exposure as sample_weight=; for positive "
                f"amounts use loss='gamma'.",
                RateWarning,
                stacklevel=4,
            )
        return y

    def _best_constant(self, y: np.ndarray, s: np.ndarray, o: np.ndarray) -> float:
        total = s @ y
        if total == 0:
            return self._one_sided(-1.0, o)
        return np.log(total) - logsumexp(o, b=s)


class Gamma(_LogLink):
    """Negative log-likelihood of a positive amount, ``η + y exp(−η)`` for ``y > 0``.

    ``η`` is the logarithm of the expected amount, and the standard deviation is proportional to it: errors
    count in per cent. The value is that of shape one (the shape only scales it) without its constant; the
    deviance is ``2 (y/μ − 1 − log(y/μ))``.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.losses import Gamma
    >>> Gamma().deviance([1.0, 100.0], np.log([2.0, 200.0]))  # both twice too high
    array([0.38629436, 0.38629436])
    """

    name = "gamma"
    kind = "regression"

    # With r = log y − η all is a function of r: value log y + exp(r) − r, slope 1 − exp(r), curvature exp(r).
    def _value(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return eta + _exp(np.log(y) - eta)

    def _gradient(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return 1.0 - _exp_slope(np.log(y) - eta)

    def _curvature(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return _exp_curvature(np.log(y) - eta)

    def _deviance(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return 2.0 * _excess(np.log(y) - eta)

    def _allowed(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        if np.any(y <= 0):
            raise ValueError(
                f"The gamma loss needs positive targets, got {y.min():g}. Drop or model apart the rows "
                f"without an amount, use loss='poisson' for counts, or loss='squared' for any sign."
            )
        return y

    def _best_constant(self, y: np.ndarray, s: np.ndarray, o: np.ndarray) -> float:
        return logsumexp(np.log(y) - o, b=s) - np.log(s.sum())
