"""Regression as a problem of a kernel model: targets in their unit, offset, exposure, loss."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import Tags

from pellucid.data.by_blocks import in_blocks, read_as_table
from pellucid.data.outcomes import enter_outcome
from pellucid.data.targets import check_offset, unit_of
from pellucid.effects.outcome_measures import takes_exposure
from pellucid.losses import REGISTRY, Loss, as_loss
from pellucid.losses.convert import losses_of
from pellucid.models.common.levels import in_order, losses_at_levels
from pellucid.models.common.scoring import DevianceScore
from pellucid.models.glm_fit.base import KernelGLMBase, Stated
from pellucid.solvers import GLMProblem


class KernelGLMRegression(DevianceScore, KernelGLMBase):
    """Kernel models of numbers: what :class:`KernelGLMRegressor` and its interpretable twin share.

    Parameters
    ----------
    loss : str or Loss, default="poisson"
        What a good fit means: ``"poisson"`` and ``"negative_binomial"`` for counts, ``"gamma"`` and
        ``"tweedie"`` for amounts (the latter with zeros), ``"squared"``, ``"huber"``, ``"expectile"`` and
        ``"quantile"`` for numbers of any sign, ``"binomial"`` for proportions. What a loss leaves open (a
        dispersion, a power, a threshold) is estimated; to fix it pass the loss itself, as
        ``pellucid.losses.Tweedie(1.5)``.
    quantile : float, default=0.5
        Level of the quantile or expectile, for these losses.
    """

    quantile: Any
    _kinds: tuple[str, ...] = ("regression", "counts", "proportions")

    @read_as_table
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Training rows.
        y : array-like of shape (n,)
            Targets: counts for Poisson and negative binomial, positive numbers for gamma, for binomial
            proportions from 0 to 1, or two columns with the numbers of successes and failures. For Cox two
            columns, time and event (1, or 0 if the row left without one), a structured array of the two, or
            times with a minus sign where there was no event.
        sample_weight : array-like of shape (n,), optional
            What each row counts for, as ``weights`` says; zero leaves a row out.
        offset : array-like of shape (n,), optional
            Known part of the linear predictor.
        exposure : array-like of shape (n,), optional
            Positive amount of time or size behind each row; its logarithm is added to the offset. For
            losses with a log link: Poisson, negative binomial, gamma and Tweedie.

        Returns
        -------
        self : estimator
        """
        self._fit_problems(*self._problems_of(X, y, sample_weight, offset=offset, exposure=exposure))
        return self

    def _problems_of(
        self, X: Any, y: Any, sample_weight: Any, offset: Any = None, exposure: Any = None
    ) -> Stated:
        losses = self._stated_losses()
        self.loss_ = losses[0]
        rows, weight = self._enter(X, sample_weight)
        target, weight = enter_outcome(y, rows, weight, self.loss_)
        known = self._known(offset, exposure, len(rows))
        kept = weight > 0
        if self.loss_.degree:  # the other losses have units of their own
            with np.errstate(over="ignore", invalid="ignore"):
                self._unit = unit_of((target - known)[kept])
        else:
            self._unit = 1.0
        own, given = (np.where(kept, values, 0.0) / self._unit for values in (target, known))
        intercept = bool(self.fit_intercept)
        problems = [GLMProblem(own, weight, given, l.in_unit(self._unit), intercept) for l in losses]  # noqa: E741
        return rows, target, problems

    def _stated_losses(self) -> list[Loss]:
        """The loss, or one per level of ``quantile``."""
        loss = as_loss(self.loss, among=losses_of(*self._kinds))
        return losses_at_levels(loss, self.quantile, self.loss)

    def _known(self, offset: Any, exposure: Any, n_rows: int) -> np.ndarray:
        return check_offset(offset, exposure, n_rows, log_link=takes_exposure(self.loss_))

    @in_blocks
    def predict(self, X: Any, *, offset: Any = None, exposure: Any = None) -> np.ndarray:
        """Predicted means or quantiles, per unit of exposure unless exposures are given.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New rows.
        offset, exposure : array-like of shape (m,), optional
            As in :meth:`fit`.

        Returns
        -------
        mean : ndarray of shape (m,) or (m, n_levels)
            For several quantiles one column per level, in the order of ``quantile``; where the fitted curves
            cross, the values of a row are put in order.
        """
        return self._mean(self._scores(X), offset, exposure)

    def _mean(self, scores: np.ndarray, offset: Any, exposure: Any) -> np.ndarray:
        mean = self.loss_.mean(scores + self._known(offset, exposure, len(scores))[:, None])
        return mean[:, 0] if np.ndim(self.quantile) == 0 else in_order(mean, self.quantile)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        loss = REGISTRY.get(getattr(self.loss, "name", self.loss), Loss)
        tags.target_tags.positive_only = takes_exposure(loss)
        return tags
