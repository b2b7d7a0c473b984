r"""Ordered classes: proportional odds.

With thresholds :math:`\theta_0 < \dots < \theta_{C-2}` the odds of a class at or below k are
:math:`\exp(\theta_k - \eta)`, so :math:`P(y \le k) = \sigma(\theta_k - \eta)` with the logistic function
σ. For :math:`a > b` the difference :math:`\sigma(a) - \sigma(b)` is
:math:`\sigma(a) \sigma(-b) (1 - e^{b - a})`, which splits the loss of a row of class k into two logistic
losses and a term of the thresholds alone,

.. math:: \log(1 + e^{\eta - \theta_k}) + \log(1 + e^{\theta_{k-1} - \eta})
          - \log(1 - e^{\theta_{k-1} - \theta_k}) ,

without the terms that have no threshold for the first and the last class. It is convex in η and θ together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from scipy.special import expit

from pellucid.losses.base import Loss
from pellucid.losses.constant import check_weight

_ABSENT = 1e-6  # share of the rows that a class without rows is taken to have


class Ordinal(Loss):
    r"""Negative log-likelihood of ordered classes with proportional odds (see the module's formula).

    Targets are class numbers ``y`` = 0, ..., C − 1. ``η`` is the position of a row on the scale along which
    the classes follow each other; raising it by one multiplies the odds of being above any class by e. The
    thresholds between classes take the intercept's place. A solver fits them together with ``η``: they are
    found by :meth:`profiled`, and :meth:`coupling` says how they give way.

    Parameters
    ----------
    thresholds : sequence of C − 1 increasing floats, default=(0.0,)
        Thresholds between neighbouring classes. A single one at zero makes the loss the logistic one.

    References
    ----------
    P. McCullagh, "Regression models for ordinal data", Journal of the Royal Statistical Society B 42 (1980).

    Examples
    --------
    >>> from pellucid.losses import Ordinal
    >>> Ordinal((-1.0, 1.0)).probabilities([0.0, 3.0]).round(2)
    array([[0.27, 0.46, 0.27],
           [0.02, 0.1 , 0.88]])
    """

    name = "ordinal"
    kind = "ordinal"
    link = "none"
    joint = True

    def __init__(self, thresholds: Sequence[float] | np.ndarray = (0.0,)) -> None:
        self.thresholds = tuple(float(t) for t in thresholds)
        if (
            not self.thresholds
            or not np.all(np.diff(self.thresholds) > 0)
            or not np.all(np.isfinite(thresholds))
        ):
            raise ValueError(f"thresholds must be one or more increasing numbers, got {thresholds!r}.")

    @classmethod
    def of_classes(cls, n_classes: int) -> Ordinal:
        """The loss for a number of classes, with thresholds to start from."""
        return cls(np.arange(n_classes - 1) - 0.5 * (n_classes - 2))

    @property
    def n_classes(self) -> int:
        """Number of classes C."""
        return len(self.thresholds) + 1

    def bound(self) -> float:
        """Return one half: a quarter for either threshold."""
        return 0.5

    def _ends(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Upper and lower threshold of each row, infinite at the ends of the scale."""
        if y.size and (y.min() < 0 or y.max() >= self.n_classes):
            raise ValueError(
                f"Class numbers must be 0 to {self.n_classes - 1}, got {y.min():g} to {y.max():g}."
            )
        edges = np.concatenate([[-np.inf], self.thresholds, [np.inf]])
        k = y.astype(np.intp)
        return edges[k + 1], edges[k]

    def _value(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        upper, lower = self._ends(y)
        return (
            np.logaddexp(0.0, eta - upper) + np.logaddexp(0.0, lower - eta) - np.log(-np.expm1(lower - upper))
        )

    def _gradient(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        upper, lower = self._ends(y)
        return expit(eta - upper) - expit(lower - eta)

    def _curvature(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        upper, lower = self._ends(y)
        return _bell(eta - upper) + _bell(eta - lower)

    def _deviance(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        upper, lower = self._ends(y)
        inside = np.isfinite(upper) & np.isfinite(lower)
        gap = np.where(inside, upper - lower, 1.0)
        # the best η of an inner class is midway; it costs log of the probability that is outside
        least = np.where(inside, 2.0 * np.log1p(np.exp(-0.5 * gap)) - np.log(-np.expm1(-gap)), 0.0)
        return 2.0 * np.maximum(self._value(y, eta) - least, 0.0)

    def _mean(self, eta: np.ndarray) -> np.ndarray:
        return expit(eta[..., None] - np.array(self.thresholds)).sum(axis=-1)

    def probabilities(self, eta: ArrayLike) -> np.ndarray:
        """Probability of each class, of shape (n, C) for ``η`` of shape (n,)."""
        eta = np.asarray(eta, dtype=np.float64)
        edges = np.concatenate([[-np.inf], self.thresholds, [np.inf]])
        upper, lower = edges[1:], edges[:-1]
        return expit(upper - eta[:, None]) * expit(eta[:, None] - lower) * -np.expm1(lower - upper)

    def _allowed(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        wrong = y[(y < 0) | (y != np.rint(y)) | (y >= self.n_classes)]
        if y.ndim != 1 or wrong.size:
            got = f"{wrong.flat[0]:g}" if wrong.size else f"shape {y.shape}"
            raise ValueError(
                f"The ordinal loss with {len(self.thresholds)} thresholds needs class numbers 0 to "
                f"{self.n_classes - 1} of shape (n,), got {got}."
            )
        return y

    def total_deviance(self, y: ArrayLike, eta: ArrayLike, weight: ArrayLike) -> float:
        """Twice the log-likelihood lost against probabilities of one: comparable between thresholds."""
        return 2.0 * float(np.asarray(weight) @ self.value(y, eta))

    # ------------------------------------------------------------ thresholds
    def profiled(self, y: ArrayLike, eta: ArrayLike, weight: ArrayLike | None = None) -> Ordinal:
        """The loss with the thresholds that are best beside ``eta``, by damped Newton steps."""
        y, eta = self._pair(y, eta)
        s = check_weight(weight, len(y))
        C, total = self.n_classes, float(s.sum())
        share = np.bincount(y.astype(np.intp), weights=s, minlength=C)
        if not share.all():  # keep a class without rows from taking all its room
            y, eta = np.append(y, np.arange(C)), np.append(eta, np.full(C, s @ eta / total))
            s = np.append(s, np.where(share > 0, 0.0, _ABSENT * total))
        theta = np.array(self.thresholds)
        value = float(s @ Ordinal(theta)._value(y, eta))
        for _ in range(100):
            slope, H = _threshold_derivatives(theta, y, eta, s)
            step = -cho_solve(cho_factor(H), slope)
            if -float(slope @ step) <= 1e-26 * total:
                break
            t = 1.0
            while t > 1e-10:
                trial = theta + t * step
                if np.all(np.diff(trial) > 0):
                    found = float(s @ Ordinal(trial)._value(y, eta))
                    if found <= value + 1e-15 * abs(value):
                        break
                t *= 0.5
            else:
                break
            theta, value = trial, found
        return Ordinal(theta)

    def coupling(self, y: np.ndarray, eta: np.ndarray, weight: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Matrix ``M`` by which thresholds that give way flatten the Hessian: ``ZᵀWZ − MᵀM``."""
        theta = np.array(self.thresholds)
        _, H = _threshold_derivatives(theta, y, eta, weight)
        k = y.astype(np.intp)
        bells = weight[:, None] * _bell(eta[:, None] - theta)
        touches = (k[:, None] == np.arange(len(theta))) | (k[:, None] == np.arange(len(theta)) + 1)
        cross = np.where(touches, -bells, 0.0).T @ Z
        return solve_triangular(cholesky(H, lower=True), cross, lower=True)


def _threshold_derivatives(
    theta: np.ndarray, y: np.ndarray, eta: np.ndarray, s: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and Hessian of the weighted loss by the thresholds."""
    K = len(theta)
    k = y.astype(np.intp)
    x = eta[:, None] - theta
    below, above = k[:, None] == np.arange(K), k[:, None] == np.arange(K) + 1
    slope = s @ (np.where(above, expit(-x), 0.0) - np.where(below, expit(x), 0.0))
    H = np.diag(s @ np.where(below | above, _bell(x), 0.0))
    count = np.bincount(k, weights=s, minlength=K + 1)[1:-1]  # of the inner classes
    gap = np.diff(theta)
    pull = count / np.expm1(gap)
    slope[1:] -= pull
    slope[:-1] += pull
    bend = count * np.exp(-gap) / np.square(-np.expm1(-gap))
    for i in range(K - 1):
        H[i : i + 2, i : i + 2] += bend[i] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    H[np.diag_indices_from(H)] += 1e-12 * s.sum()
    return slope, H


def _bell(x: np.ndarray) -> np.ndarray:
    return expit(x) * expit(-x)
