"""The logistic loss of two classes."""

import numpy as np
from scipy.special import expit

from pellucid.losses.base import Loss
from pellucid.losses.constant import zero_of_slope


def check_binary(y: np.ndarray, name: str) -> np.ndarray:
    """Raise unless all targets are 0 or 1."""
    wrong = y[(y != 0) & (y != 1)]
    if wrong.size:
        raise ValueError(
            f"The {name} loss needs targets 0 and 1, got {wrong.flat[0]:g}. Encode the classes first, for "
            f"example as (y == positive_class).astype(float); for more than two classes use "
            f"loss='multinomial'."
        )
    return y


class Logistic(Loss):
    """Negative log-likelihood of a yes or no, ``log(1 + exp(η)) − y η`` for ``y`` in {0, 1}.

    ``η`` is the log-odds of class 1; the inverse link ``1 / (1 + exp(−η))`` gives its probability. Both tails
    are computed without cancellation: at ``η = 40`` a row of class 1 still costs ``exp(−40)``, not zero.

    Examples
    --------
    >>> from pellucid.losses import Logistic
    >>> Logistic().value([0, 1], [0.0, 40.0])
    array([6.93147181e-01, 4.24835426e-18])
    >>> Logistic().mean([0.0, 2.0])
    array([0.5       , 0.88079708])
    """

    name = "logistic"
    kind = "classification"
    link = "logit"

    def bound(self) -> float:
        """Return one quarter, the curvature at even odds."""
        return 0.25

    def _value(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return y * np.logaddexp(0.0, -eta) + (1.0 - y) * np.logaddexp(0.0, eta)

    def _gradient(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return (1.0 - y) * expit(eta) - y * expit(-eta)

    def _curvature(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return np.broadcast_to(expit(eta) * expit(-eta), np.broadcast_shapes(y.shape, eta.shape)).copy()

    def _mean(self, eta: np.ndarray) -> np.ndarray:
        return expit(eta)

    def _allowed(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        return check_binary(y, self.name)

    def _best_constant(self, y: np.ndarray, s: np.ndarray, o: np.ndarray) -> float:
        ones, zeros = s @ y, s @ (1.0 - y)
        if ones == 0 or zeros == 0:
            return self._one_sided(1.0 if ones else -1.0, o)
        log_odds = np.log(ones) - np.log(zeros)
        # at these ends no row, or every row, is at or above the log-odds: exact bounds of the answer
        low, high = log_odds - o.max(), log_odds - o.min()
        if low == high:
            return low
        return zero_of_slope(lambda b: float(s @ self._gradient(y, o + b)), float(low), float(high))
