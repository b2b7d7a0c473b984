"""Regression as a problem of a kernel model: targets in their unit, offset, exposure, loss."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import Tags

from pellucid.data.targets import check_offset, check_targets, unit_of
from pellucid.losses import as_loss
from pellucid.models.common.glm_base import KernelGLMBase, losses_of
from pellucid.models.common.scoring import LOG_LINK, DevianceScore
from pellucid.solvers import GLMProblem


class KernelGLMRegression(DevianceScore, KernelGLMBase):
    """Kernel models of numbers: what :class:`KernelGLMRegressor` and its interpretable twin share."""

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Training rows.
        y : array-like of shape (n,)
            Targets: counts for Poisson, positive numbers for gamma.
        sample_weight : array-like of shape (n,), optional
            What each row counts for, as ``weights`` says; zero leaves a row out.
        offset : array-like of shape (n,), optional
            Known part of the linear predictor.
        exposure : array-like of shape (n,), optional
            Positive amount of time or size behind each row; its logarithm is added to the offset. Poisson
            and gamma only.

        Returns
        -------
        self : estimator
        """
        self.loss_ = as_loss(self.loss, among=losses_of(classes=False))
        rows, weight = self._enter(X, sample_weight)
        target = self.loss_.check_targets(check_targets(y, rows, one=True), weight)
        known = self._known(offset, exposure, len(rows))
        kept = weight > 0
        if self.loss_.name == "squared":  # the other losses have units of their own
            with np.errstate(over="ignore", invalid="ignore"):
                self._unit = unit_of((target - known)[kept])
        else:
            self._unit = 1.0
        own, given = (np.where(kept, values, 0.0) / self._unit for values in (target, known))
        self._fit_problems(
            rows, target, [GLMProblem(own, weight, given, self.loss_, bool(self.fit_intercept))]
        )
        return self

    def _known(self, offset: Any, exposure: Any, n_rows: int) -> np.ndarray:
        return check_offset(offset, exposure, n_rows, log_link=self.loss_.name in LOG_LINK)

    def predict(self, X: Any, *, offset: Any = None, exposure: Any = None) -> np.ndarray:
        """Predicted means, per unit of exposure unless exposures are given.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New rows.
        offset, exposure : array-like of shape (m,), optional
            As in :meth:`fit`.

        Returns
        -------
        mean : ndarray of shape (m,)
        """
        return self._mean(self._scores(X), offset, exposure)

    def _mean(self, scores: np.ndarray, offset: Any, exposure: Any) -> np.ndarray:
        return self.loss_.mean(scores[:, 0] + self._known(offset, exposure, len(scores)))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = getattr(self.loss, "name", self.loss) in LOG_LINK
        return tags
