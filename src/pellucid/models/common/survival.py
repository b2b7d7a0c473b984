"""What a model of times until an event can say beside its scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted

from pellucid.data.outcomes import enter_outcome
from pellucid.data.roles import takes_roles
from pellucid.data.unseen import tells_unseen
from pellucid.data.weights import check_weight
from pellucid.effects.concordance import concordance
from pellucid.losses import Baseline, Cox


def is_survival(model: Any) -> bool:
    """Whether a model is one of times until an event."""
    return getattr(model.loss, "name", model.loss) == "cox"


class SurvivalCurves:
    """Survival curves and concordance of models with the Cox loss."""

    loss: Any
    loss_: Any
    predict: Any

    @property
    def baseline_(self) -> Baseline:
        """Baseline hazard of a Cox model, that of a row with score zero."""
        if not isinstance(getattr(self, "loss_", None), Cox):
            raise AttributeError("Only fitted models with loss='cox' have a baseline_.")
        return self.loss_.baseline

    @available_if(is_survival)
    @tells_unseen
    def predict_survival(self, X: Any, times: Any = None, *, offset: Any = None) -> np.ndarray:
        """Probability of no event up to given times, ``exp(−H(t) exp(η))``; with the Cox loss only.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New rows.
        times : array-like of shape (k,), optional
            Times; by default all at which the training rows had events, ``baseline_.times``.
        offset : array-like of shape (m,), optional
            As in :meth:`fit`.

        Returns
        -------
        survival : ndarray of shape (m, k)
            Falls along each row. After the last event time there is no telling: it stays where it is.
        """
        check_is_fitted(self)
        at = self.baseline_.times if times is None else np.atleast_1d(np.asarray(times, dtype=float))
        at = check_array(at, ensure_2d=False, input_name="times")
        hazard = self.predict(X, offset=offset)
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(-np.minimum(np.outer(hazard, self.baseline_.at(at)), 700.0))

    @available_if(is_survival)
    @tells_unseen
    @takes_roles
    def concordance(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> float:
        """Harrell's concordance: share of comparable pairs that the predicted hazards put in the right order.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Rows.
        y : array-like
            Times and events, as in :meth:`fit`.
        sample_weight, offset : array-like of shape (m,), optional
            What each row counts for; known part of the score.

        Returns
        -------
        float
        """
        hazard = self.predict(X, offset=offset)
        target, weight = enter_outcome(y, hazard, check_weight(sample_weight, len(hazard)), self.loss_)
        return concordance(np.abs(target), ~np.signbit(target), hazard, weight)
