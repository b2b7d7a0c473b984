"""Counts that vary more than Poisson counts do."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, gammaln

from pellucid.losses.base import Loss
from pellucid.losses.loglink import _LogLink, whole_counts

_START = 1.0  # dispersion while none is known
_RANGE = 1e-6, 1e3  # in which it is looked for: below, counts are Poisson to all digits that matter


class NegativeBinomial(_LogLink):
    r"""Negative log-likelihood of a count with variance :math:`\mu + \kappa \mu^2`.

    ``(y + 1/κ) log(1 + κ exp(η)) − y η`` for ``y`` = 0, 1, 2, ...: a Poisson count whose rate itself varies
    from row to row with squared coefficient of variation κ. ``η`` is the logarithm of the expected count;
    exposures are as for :class:`Poisson`.

    Parameters
    ----------
    dispersion : float, optional
        κ. Raising it makes large counts pull less; near zero, the loss is that of Poisson counts. If not
        given, that of greatest likelihood beside held-out predictions. In statsmodels it is ``alpha``, in R
        ``1 / theta``.

    References
    ----------
    J. M. Hilbe, Negative Binomial Regression, 2nd edition, Cambridge University Press (2011).

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.losses import NegativeBinomial
    >>> y = np.array([0, 0, 1, 0, 7, 2, 0, 11, 1, 3])
    >>> loss = NegativeBinomial().estimated(y, np.full(10, np.log(2.5)))
    >>> 1.0 < loss.dispersion < 2.0
    True
    """

    name = "negative_binomial"
    kind = "counts"

    def __init__(self, dispersion: float | None = None) -> None:
        if not (dispersion is None or 0 < dispersion < np.inf):
            raise ValueError(
                f"The dispersion must be positive, or None to estimate it; got {dispersion!r}. For none use "
                f"loss='poisson'."
            )
        self.dispersion = None if dispersion is None else float(dispersion)

    @property
    def _kappa(self) -> float:
        return _START if self.dispersion is None else self.dispersion

    def _value(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        kappa = self._kappa
        x = eta + np.log(kappa)
        # log(1 + e^x) = max(x, 0) + log(1 + e^−|x|), with y x taken out where it cancels
        common = (y + 1.0 / kappa) * np.log1p(np.exp(-np.abs(x)))
        return common + np.where(x > 0, x / kappa, -y * x) + y * np.log(kappa)

    def _gradient(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        kappa = self._kappa
        x = eta + np.log(kappa)
        return expit(x) / kappa - y * expit(-x)

    def _curvature(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        kappa = self._kappa
        x = eta + np.log(kappa)
        return (y + 1.0 / kappa) * expit(x) * expit(-x)

    def _expected_curvature(self, y: np.ndarray, eta: np.ndarray, s: np.ndarray) -> np.ndarray:
        return expit(eta + np.log(self._kappa)) / self._kappa

    def _deviance(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        kappa, some = self._kappa, y > 0
        count = np.where(some, y, 1.0)
        r, q = eta - np.log(count), kappa * count / (1.0 + kappa * count)
        # log(1 − q + q e^r) − q r, by expm1 near r = 0 and without overflow far from it
        near = np.log1p(q * np.expm1(np.clip(r, -1.0, 1.0)))
        far = np.logaddexp(np.log1p(-q), np.log(q) + r)
        lost = (count + 1.0 / kappa) * (np.where(np.abs(r) <= 1.0, near, far) - q * r)
        return 2.0 * np.where(some, np.maximum(lost, 0.0), np.logaddexp(0.0, eta + np.log(kappa)) / kappa)

    def _allowed(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        return whole_counts(y, weight, self.name)

    def _estimated(self, y: np.ndarray, eta: np.ndarray, s: np.ndarray) -> Loss:
        eta = np.clip(eta, -30.0, 30.0)
        mean = np.exp(eta)

        def lost(log_kappa: float) -> float:
            kappa = np.exp(log_kappa)
            k = 1.0 / kappa
            # Γ(y + k)/Γ(k) k^−y by Stirling where k is large: both tend to one
            rising = gammaln(y + k) - gammaln(k) - y * np.log(k) if k < 1e5 else 0.5 * kappa * y * (y - 1.0)
            return -float(s @ (rising + y * eta - (y + k) * np.log1p(kappa * mean)))

        low, high = np.log(_RANGE)
        found = minimize_scalar(lost, bounds=(low, high), method="bounded", options={"xatol": 1e-4})
        return NegativeBinomial(float(np.exp(found.x)))
