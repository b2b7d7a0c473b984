"""Losses of the support vector machine: no cost for rows on the right side of the margin."""

import numpy as np

from pellucid.losses.base import Loss
from pellucid.losses.constant import zero_of_slope
from pellucid.losses.logistic import check_binary


class _Margin(Loss):
    """Losses of the shortfall ``m = max(0, 1 − t η)``, with ``t = 2y − 1`` the target as -1 or 1."""

    kind = "classification"
    linked = False

    @staticmethod
    def _sign(y: np.ndarray) -> np.ndarray:
        return 2.0 * y - 1.0

    def _shortfall(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return np.maximum(1.0 - self._sign(y) * eta, 0.0)

    def _allowed(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        return check_binary(y, self.name)


class Hinge(_Margin):
    """Distance to the right side of the margin, ``max(0, 1 − t η)`` with ``t = 2y − 1`` for ``y`` in {0, 1}.

    Piecewise linear: there is no curvature, and the fit is a quadratic programme in which most rows may get a
    coefficient of exactly zero. There is no likelihood either; the deviance stands for twice the value.

    Examples
    --------
    >>> from pellucid.losses import Hinge
    >>> Hinge().value([1, 1, 0], [2.0, 0.5, 0.5])
    array([0. , 0.5, 1.5])
    """

    name = "hinge"
    smooth = False

    def _value(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return self._shortfall(y, eta)

    def _gradient(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        t = self._sign(y)
        return np.where(t * eta < 1.0, -t, 0.0)

    def _best_constant(self, y: np.ndarray, s: np.ndarray, o: np.ndarray) -> float:
        # The sum is piecewise linear in b with kinks at t − o. Its slope starts at minus the weight of class
        # 1 and gains s_i at kink i: the answer is a weighted quantile of the kinks.
        t = self._sign(y)
        order = np.argsort(t - o, kind="stable")
        kinks = (t - o)[order]
        gained, needed = np.cumsum(s[order]), s[t > 0].sum()
        rounding = 1e-12 * gained[-1]
        if needed <= rounding:  # one class only: the end of the half-line without loss
            return kinks[0]
        first = int(np.searchsorted(gained, needed - rounding))
        level = abs(gained[first] - needed) <= rounding and first + 1 < len(kinks)
        return 0.5 * (kinks[first] + kinks[first + 1]) if level else kinks[first]


class SquaredHinge(_Margin):
    """Square of the hinge loss, ``max(0, 1 − t η)²`` with ``t = 2y − 1`` for ``y`` in {0, 1}.

    Smooth enough for Newton steps: the curvature is 2 for rows short of the margin and 0 for the others. As
    for the hinge loss there is no likelihood; the deviance stands for twice the value.

    Examples
    --------
    >>> from pellucid.losses import SquaredHinge
    >>> SquaredHinge().value([1, 1, 0], [2.0, 0.5, 0.5])
    array([0.  , 0.25, 2.25])
    """

    name = "squared_hinge"

    def bound(self) -> float:
        """Return two, the curvature of every row short of the margin."""
        return 2.0

    def _value(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return np.square(self._shortfall(y, eta))

    def _gradient(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return -2.0 * self._sign(y) * self._shortfall(y, eta)

    def _curvature(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return np.where(self._shortfall(y, eta) > 0, 2.0, 0.0)

    def _best_constant(self, y: np.ndarray, s: np.ndarray, o: np.ndarray) -> float:
        # below all kinks only class 1 pulls, above all of them only class 0
        kinks = self._sign(y) - o
        low, high = float(kinks.min()), float(kinks.max())
        return zero_of_slope(lambda b: float(s @ self._gradient(y, o + b)), low, high)
