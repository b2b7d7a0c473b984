"""The squared loss."""

import numpy as np

from pellucid.losses.base import Loss


class Squared(Loss):
    """Half the squared error, ``½ (y − η)²``, with the identity as link.

    The half makes the curvature one, so that ``alpha`` is that of scikit-learn's ``Ridge``. The deviance is
    the squared error itself.

    Examples
    --------
    >>> from pellucid.losses import Squared
    >>> Squared().value([1.0, 2.0], [0.0, 2.0])
    array([0.5, 0. ])
    >>> Squared().best_constant([1.0, 2.0, 6.0])
    3.0
    """

    name = "squared"
    kind = "regression"
    degree = 2

    def bound(self) -> float:
        """Return one, which is the curvature everywhere."""
        return 1.0

    def _value(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return 0.5 * np.square(y - eta)

    def _gradient(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return eta - y

    def _curvature(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return np.ones(np.broadcast_shapes(y.shape, eta.shape))

    def _mean(self, eta: np.ndarray) -> np.ndarray:
        return eta.copy()

    def _best_constant(self, y: np.ndarray, s: np.ndarray, o: np.ndarray) -> float:
        return s @ (y - o) / s.sum()
