"""Losses with the logarithm as link: Poisson counts and gamma amounts."""

import numpy as np
from scipy.special import logsumexp

from pellucid._callers import warn_caller
from pellucid.exceptions import RateWarning
from pellucid.losses.base import Loss
from pellucid.losses.exponential import bent_exp, bent_exp_curvature, bent_exp_slope, excess


def _is_whole(y: np.ndarray) -> bool:
    return bool(np.all(np.abs(y - np.rint(y)) <= 1e-9 * np.maximum(np.abs(y), 1.0)))


def whole_counts(y: np.ndarray, weight: np.ndarray | None, name: str) -> np.ndarray:
    """Counts, rounded where they differ from whole numbers by no more than rounding error."""
    if np.any(y < 0):
        raise ValueError(
            f"The {name} loss needs counts, which are not negative, got {y.min():g}. For targets of any "
            f"sign use loss='squared'."
        )
    whole = np.rint(y)
    if _is_whole(y):
        return whole
    if weight is None or not _is_whole(y * weight):
        warn_caller(
            f"The {name} loss is for whole counts, got {y[np.abs(y - whole) > 1e-9].flat[0]:g}. "
            f"Fractions are taken as rates per unit of weight. Pass counts as y and what they were "
            f"divided by as exposure=, or rates as y and the exposure as sample_weight=; for positive "
            f"amounts use loss='gamma'.",
            RateWarning,
        )
    return y


class _LogLink(Loss):
    """The inverse link shared by losses of counts and amounts."""

    link = "log"

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
        return bent_exp(eta) - y * eta

    def _gradient(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return bent_exp_slope(eta) - y

    def _curvature(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return np.broadcast_to(bent_exp_curvature(eta), np.broadcast_shapes(y.shape, eta.shape)).copy()

    def _deviance(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        some = y > 0
        counted = np.where(some, y, 1.0)
        return 2.0 * np.where(some, counted * excess(eta - np.log(counted)), bent_exp(eta))

    def _allowed(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        return whole_counts(y, weight, self.name)

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
        return eta + bent_exp(np.log(y) - eta)

    def _gradient(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return 1.0 - bent_exp_slope(np.log(y) - eta)

    def _curvature(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return bent_exp_curvature(np.log(y) - eta)

    def _expected_curvature(self, y: np.ndarray, eta: np.ndarray, s: np.ndarray) -> np.ndarray:
        return np.ones(np.broadcast_shapes(y.shape, eta.shape))

    def _deviance(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return 2.0 * excess(np.log(y) - eta)

    def _allowed(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        if np.any(y <= 0):
            raise ValueError(
                f"The gamma loss needs positive targets, got {y.min():g}. Drop or model apart the rows "
                f"without an amount, use loss='poisson' for counts, or loss='squared' for any sign."
            )
        return y

    def _best_constant(self, y: np.ndarray, s: np.ndarray, o: np.ndarray) -> float:
        return logsumexp(np.log(y) - o, b=s) - np.log(s.sum())
