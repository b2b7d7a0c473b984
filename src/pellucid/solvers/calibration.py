r"""Probabilities from scores: a softmax whose slope is fitted to leave-one-out scores.

Leave-one-out scores are honest, as no row helped to make its own score, so no part of the data has to be set
aside. Targets are smoothed as Platt proposed, :math:`(N_k + 1) / (N_k + 2)` for the own class, which keeps
the slope finite when the classes are separated.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax


@dataclass(frozen=True)
class Calibration:
    """``P(class | scores) = softmax(slope · scores)``: the largest score has the largest probability."""

    slope: float

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Class probabilities for scores of shape (n, classes)."""
        return softmax(self.slope * scores, axis=1)


def calibrate(
    scores: np.ndarray, labels: np.ndarray, weight: np.ndarray, observations: np.ndarray | None = None
) -> Calibration:
    """Fit a :class:`Calibration` to held-out scores by weighted maximum likelihood.

    Parameters
    ----------
    scores : ndarray of shape (n, classes)
        Held-out scores, the largest for the predicted class.
    labels : ndarray of shape (n,)
        Index of each row's class.
    weight : ndarray of shape (n,)
        Row weights.
    observations : ndarray of shape (n,), optional
        How many observations each row stands for, by default one: with more of them targets are smoothed
        less.
    """
    n_classes = scores.shape[1]
    counts = np.bincount(labels, observations, minlength=n_classes)
    own = (counts + 1.0) / (counts + 2.0)
    target = np.repeat((1.0 - own)[labels, None] / (n_classes - 1), n_classes, axis=1)
    target[np.arange(len(labels)), labels] = own[labels]
    spread = float(np.sqrt(np.average(np.var(scores, axis=1), weights=weight))) or 1.0
    unit = scores / spread
    share = weight / weight.sum()

    def loss(log_slope: float) -> float:
        return -float(np.sum(share[:, None] * target * log_softmax(np.exp(log_slope) * unit, axis=1)))

    found = minimize_scalar(loss, bounds=(-8.0, 8.0), method="bounded", options={"xatol": 1e-10})
    return Calibration(float(np.exp(found.x)) / spread)
