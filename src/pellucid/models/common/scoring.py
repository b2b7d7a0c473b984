"""Scores: the share of the deviance explained, whatever the loss, and the share of right classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score

from pellucid.data.roles import takes_roles
from pellucid.data.targets import check_targets
from pellucid.data.unseen import tells_unseen
from pellucid.effects.outcome_measures import outcome_of
from pellucid.losses import Loss


class DevianceScore(RegressorMixin):
    """Regressors that are scored by D²: R² for squared loss, its like for other losses."""

    loss_: Loss
    predict: Callable[..., np.ndarray]

    @tells_unseen
    @takes_roles
    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> float:
        """Share of the deviance explained, D²: R² for squared loss; 1 is perfect, 0 as good as a constant.

        Several quantiles count alike, and so do several targets.

        Parameters
        ----------
        X : array-like of shape (m, n_features), or rows beyond memory
            Rows.
        y : array-like of shape (m,), or (m, n_outputs), or str
            Targets; a text names the column of ``X`` that has them, and so for the next three.
        sample_weight : array-like of shape (m,), optional
            What each row counts for.
        offset, exposure : array-like of shape (m,), optional
            As in :meth:`fit`; the constant that the model is compared with has them too.

        Returns
        -------
        float
        """
        mean = self.predict(X, offset=offset, exposure=exposure)
        losses = getattr(self, "losses_", [self.loss_])
        if mean.ndim == 2 and np.shape(y) == mean.shape:
            shares = [
                outcome_of([loss], target, column, sample_weight, offset, exposure).explained()
                for loss, target, column in zip(losses, check_targets(y, mean).T, mean.T, strict=True)
            ]
            return float(np.mean(shares))
        return outcome_of(losses, y, mean, sample_weight, offset, exposure).explained()


class AccuracyScore(ClassifierMixin):
    """Classifiers that are scored by the share of rows whose class they predict."""

    predict: Callable[..., np.ndarray]

    @tells_unseen
    @takes_roles
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows whose class is predicted.

        Parameters
        ----------
        X : array-like of shape (m, n_features), or rows beyond memory
            Rows.
        y : array-like of shape (m,), or str
            Classes; a text names the column of ``X`` that has them, and so for the next.
        sample_weight : array-like of shape (m,), or str, optional
            What each row counts for.

        Returns
        -------
        float
        """
        return float(accuracy_score(y, np.asarray(self.predict(X)), sample_weight=sample_weight))
