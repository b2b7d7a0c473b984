"""Proportions: how many of a number of trials."""

import numpy as np

from pellucid.losses.logistic import Logistic


class Binomial(Logistic):
    """Negative log-likelihood of a proportion, ``log(1 + exp(η)) − y η`` for ``y`` from 0 to 1.

    ``η`` is the log-odds of a single trial; the weight of a row is its number of trials, so that the sum over
    rows is the likelihood of the numbers of successes. It is the logistic loss, open to all that lies between
    no and yes, less what a perfect fit costs in the deviance
    ``2 (y log(y/p) + (1 − y) log((1 − y)/(1 − p)))``. Proportions without trials, such as a share of land,
    are taken by quasi-likelihood, with weight one.

    References
    ----------
    P. McCullagh and J. A. Nelder, Generalized Linear Models, 2nd edition, Chapman and Hall (1989), chapter 4.

    Examples
    --------
    >>> from pellucid.losses import Binomial
    >>> Binomial().deviance([0.5, 0.5], [0.0, 1.0])
    array([0.        , 0.24022901])
    """

    name = "binomial"
    kind = "proportions"

    def _deviance(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        inside = (y > 0) & (y < 1)
        p = np.where(inside, y, 0.5)
        own = np.log(p) - np.log1p(-p)  # log-odds of a perfect fit
        r = eta - own
        # log(1 − p + p e^r) − p r, by expm1 near r = 0 and without overflow far from it
        near = np.log1p(p * np.expm1(np.clip(r, -1.0, 1.0)))
        far = np.logaddexp(np.log1p(-p), np.log(p) + r)
        lost = np.maximum(np.where(np.abs(r) <= 1.0, near, far) - p * r, 0.0)
        return 2.0 * np.where(inside, lost, self._value(y, eta))

    def _allowed(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        wrong = y[(y < 0) | (y > 1)]
        if wrong.size:
            raise ValueError(
                f"The binomial loss needs proportions from 0 to 1, got {wrong.flat[0]:g}. Pass numbers of "
                f"successes and failures as two columns of y, or proportions as y and the trials as "
                f"sample_weight=."
            )
        return y
