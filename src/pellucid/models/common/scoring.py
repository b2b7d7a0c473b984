"""The score of regressors of any loss: the share of the deviance explained."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from pellucid.data.outcomes import enter_outcome
from pellucid.data.targets import check_offset, unit_of
from pellucid.data.weights import check_weight
from pellucid.exceptions import RateWarning
from pellucid.losses import Loss

LOG_LINK = ("poisson", "gamma")
"""Losses whose prediction is the exponential of the linear predictor, so that an exposure makes sense."""


def takes_exposure(loss: Loss | type[Loss]) -> bool:
    """Whether the prediction is proportional to the time or size behind a row."""
    return loss.link == "log" and loss.kind != "survival"


class DevianceScore(RegressorMixin):
    """Regressors that are scored by D²: R² for squared loss, its like for other losses."""

    loss_: Loss
    predict: Callable[..., np.ndarray]

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> float:
        """Share of the deviance explained, D²: R² for squared loss; 1 is perfect, 0 as good as a constant.

        Several quantiles count alike.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Rows.
        y : array-like of shape (m,)
            Targets.
        sample_weight : array-like of shape (m,), optional
            What each row counts for.
        offset, exposure : array-like of shape (m,), optional
            As in :meth:`fit`; the constant that the model is compared with has them too.

        Returns
        -------
        float
        """
        mean = self.predict(X, offset=offset, exposure=exposure)
        weight = check_weight(sample_weight, len(mean))
        with warnings.catch_warnings():  # whether fractions are rates was asked when the model was fitted
            warnings.simplefilter("ignore", RateWarning)
            target, weight = enter_outcome(y, mean, weight, self.loss_)
        if self.loss_.name == "poisson" and not np.any(target[weight > 0]):
            return float(not np.any(mean[weight > 0]))  # a rate of zero leaves no deviance to explain
        loss, losses = self.loss_, getattr(self, "losses_", [self.loss_])
        known = check_offset(offset, exposure, len(mean), log_link=takes_exposure(loss))
        eta = loss.predictor(mean)
        if loss.degree:  # in the targets' own unit and from one of them, as squares may overflow
            unit, first = unit_of(target), target[0]
            target, eta, known = (target - first) / unit, (eta - first) / unit, known / unit
            losses = [loss.in_unit(unit) for loss in losses]
        columns = eta.reshape(len(eta), -1).T  # one per level of several quantiles
        shares = [
            each.explained(target, column, weight / weight.sum(), known)
            for each, column in zip(losses, columns, strict=True)
        ]
        return float(np.mean(shares))
