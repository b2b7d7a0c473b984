r"""The hinge loss with its kink rounded off, and how far a fit to it is from one to the hinge loss itself.

.. math:: \ell_\mu(m) = \max_{0 \le a \le 1}\; a (1 - m) - \tfrac{\mu}{2} a^2 , \qquad m = t \eta,

is zero for margins above 1, a parabola on a stretch of length :math:`\mu` below it, and then a straight line;
:math:`0 \le \ell - \ell_\mu \le \mu / 2`. The maximising :math:`a` are feasible in the dual problem, so the
gap between the two problems at a fit is known exactly and does not have to be trusted to a small :math:`\mu`.
"""

import numpy as np

from pellucid.losses.hinge import _Margin


class _SmoothHinge(_Margin):
    """Hinge loss with a parabola of width ``mu`` at the kink."""

    name = "smooth_hinge"
    kind = "classification"

    def __init__(self, mu: float) -> None:
        self.mu = mu

    def bound(self, C: int | None = None) -> float:
        """Curvature within the parabola."""
        return 1.0 / self.mu

    def multiplier(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        """The maximising ``a`` of each row."""
        return np.clip((1.0 - self._sign(y) * eta) / self.mu, 0.0, 1.0)

    def _value(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        a = self.multiplier(y, eta)
        return a * (1.0 - self._sign(y) * eta) - 0.5 * self.mu * a**2

    def _gradient(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return -self._sign(y) * self.multiplier(y, eta)

    def _curvature(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        short = 1.0 - self._sign(y) * eta
        return np.where((short > 0) & (short < self.mu), 1.0 / self.mu, 0.0)
