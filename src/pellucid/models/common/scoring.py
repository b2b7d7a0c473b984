"""The score of regressors of any loss: the share of the deviance explained."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from pellucid.data.targets import check_offset, check_targets, unit_of
from pellucid.data.weights import check_weight
from pellucid.exceptions import RateWarning
from pellucid.losses import Loss

LOG_LINK = ("poisson", "gamma")
"""Losses whose prediction is the exponential of the linear predictor, so that an exposure makes sense."""


class DevianceScore(RegressorMixin):
    """Regressors that are scored by D²: R² for squared loss, its like for counts and amounts."""

    loss_: Loss
    predict: Callable[..., np.ndarray]

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> float:
        """Share of the deviance explained, D²: R² for squared loss; 1 is perfect, 0 as good as a constant.

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
        target = check_targets(y, mean, one=True)
        if self.loss_.name == "poisson" and not np.any(target[weight > 0]):
            return float(not np.any(mean[weight > 0]))  # a rate of zero leaves no deviance to explain
        with warnings.catch_warnings():  # whether fractions are rates was asked when the model was fitted
            warnings.simplefilter("ignore", RateWarning)
            target = self.loss_.check_targets(target, weight)
        log_link = self.loss_.name in LOG_LINK
        known = check_offset(offset, exposure, len(mean), log_link=log_link)
        eta = np.log(np.maximum(mean, np.finfo(float).tiny)) if log_link else mean
        if (
            self.loss_.name == "squared"
        ):  # in the targets' own unit and from one of them, as squares may overflow
            unit, first = unit_of(target), target[0]
            target, eta, known = (target - first) / unit, (eta - first) / unit, known / unit
        return self.loss_.explained(target, eta, weight / weight.sum(), known)
