"""Prediction intervals whose width follows the rows, calibrated on rows that the model has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, check_consistent_length

from pellucid.data.roles import table_in_memory
from pellucid.data.table import collected, without_roles
from pellucid.effects.conformal import (
    conformal_reach,
    deviance_residual,
    outside,
    targets_within,
    widened,
)
from pellucid.effects.outcome_measures import losses_of, takes_exposure
from pellucid.effects.summary import Summary
from pellucid.losses import Loss, Quantile
from pellucid.models.additive.regressor import AdditiveKernelRegressor

_FOLDS = 5
_LEAST = 0.05  # residuals below this share of their mean count as that
_SMALL = 0.4  # and, once sizes are known, below this share of their own size


@dataclass(frozen=True)
class ConformalIntervals:
    """Prediction intervals of a fitted model; what :func:`pellucid.conformal` returns."""

    model: Any
    """The model, or the two models of the lower and the upper end."""
    width: str
    """``"constant"``, ``"scaled"`` or ``"band"``."""
    scores: np.ndarray
    """Scores of the calibration rows."""
    scale: Any = None
    """The model of the size of residuals, where the width is scaled."""
    whole: bool = False
    """Whether targets are whole numbers."""

    def interval(
        self, X: Any, coverage: float = 0.9, *, offset: Any = None, exposure: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends of intervals for the targets of new rows.

        Parameters
        ----------
        X : array-like or data frame of shape (m, n_features)
            New rows.
        coverage : float, default=0.9
            Share of new targets that the intervals are to cover.
        offset, exposure : array-like of shape (m,), optional
            Passed to ``predict``.

        Returns
        -------
        lower, upper : ndarrays of shape (m,)
        """
        reach = conformal_reach(self.scores, coverage)
        known = _known(offset, exposure)
        if self.width == "band":
            return widened(*_ends(self.model, X, known), 1.0, reach)
        size = self.sizes(X)
        mean = np.asarray(self.model.predict(X, **known), dtype=float)
        loss = _deviance_loss(self.model)
        if loss is None:
            return widened(mean, mean, size, reach)
        return targets_within(loss, np.log(mean), reach * size, whole=self.whole)

    def sizes(self, X: Any) -> np.ndarray:
        """Expected size of the residuals of rows; ones where the width is constant."""
        X = without_roles(self.model, collected(X))
        return np.ones(len(X)) if self.scale is None else self.scale.predict(X)

    def summary(self) -> Summary:
        """What was calibrated; print it."""
        model = self.model[0] if isinstance(self.model, tuple) else self.model
        loss = None if self.width == "band" else _deviance_loss(model)
        facts: list[tuple[str, object]] = [
            ("model", type(model).__name__),
            ("calibrated on rows", len(self.scores)),
            ("width", self.width),
            ("score", "deviance residual" if loss is not None else "distance from the prediction"),
        ]
        if self.scale is not None:
            facts.append(("width depends on", ", ".join(self.scale.term_names_) or "nothing"))
        return Summary("ConformalIntervals", facts)


def conformal(
    model: Any,
    X: Any,
    y: Any,
    *,
    width: str = "scaled",
    offset: Any = None,
    exposure: Any = None,
    random_state: int = 0,
) -> ConformalIntervals:
    r"""Calibrate prediction intervals of a fitted regressor on rows that it has not seen.

    An interval holds the targets whose score is no larger than that of the given share of the calibration
    rows. The score is :math:`|y - f(x)| / \sigma(x)`, for counts and amounts with the deviance residual in
    the numerator.

    Parameters
    ----------
    model : fitted regressor or pipeline, or two of them
        What predicts; of a pair, the first predicts the lower and the second the upper end of a band. A model
        of several quantiles is a band from the lowest to the highest.
    X, y : array-like of shape (n, n_features), (n,)
        Calibration rows, which must not have taken part in the fit; ``y`` may name a column of ``X``, and so
        may offset and exposure.
    width : {"scaled", "constant"}, default="scaled"
        With "scaled" the size of residuals is modelled: an additive kernel machine of main effects predicts
        :math:`\sigma(x)` from the features, so that intervals are wide where residuals are large. With
        "constant" it is the same everywhere, in units of the target, or of the deviance residual.
    offset, exposure : array-like of shape (n,), optional
        Passed to ``predict``.
    random_state : int, default=0
        Seed of the folds by which calibration rows get sizes from a model that has not seen them.

    Returns
    -------
    ConformalIntervals
        Its ``interval(X, coverage)`` gives lower and upper ends.

    Notes
    -----
    With "constant", and for a band, intervals cover a new target with at least the probability
    asked for, for any model, if rows are exchangeable. With "scaled" each calibration row is scored by a size
    that it had no part in, so that this holds nearly. On average over rows, that is: no method covers exactly
    at each single row. Intervals for counts cover more where counts are small, as ends are whole numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import KernelRidge, conformal
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(900, 1))
    >>> y = X[:, 0] + (0.1 + 0.9 * (X[:, 0] > 0)) * rng.normal(size=900)
    >>> model = KernelRidge().fit(X[:300], y[:300])
    >>> low, high = conformal(model, X[300:], y[300:]).interval([[-0.5], [0.5]])
    >>> bool(high[1] - low[1] > 5 * (high[0] - low[0]))
    True
    """
    pair = isinstance(model, tuple | list)
    if width not in ("scaled", "constant"):
        raise ValueError(f"width must be 'scaled' or 'constant', got {width!r}.")
    if pair and len(model) != 2:
        raise ValueError(f"A band has two ends: pass two models, got {len(model)}.")
    losses = [loss for one in (model if pair else [model]) for loss in losses_of(one)]
    if any(hasattr(one, "classes_") for one in (model if pair else [model])):
        raise ValueError("Intervals are for numbers, counts and amounts; classes have probabilities.")
    if any(loss.kind == "survival" for loss in losses):
        raise ValueError(
            "Intervals are for numbers, counts and amounts. Of times that may be censored, predict_survival "
            "says how probable it is that nothing has happened yet."
        )
    X, given = table_in_memory(X, y=y, offset=offset, exposure=exposure)
    y, offset, exposure = given.values()
    y = np.asarray(collected(y, "y"), dtype=float)
    check_consistent_length(X, y)
    if y.ndim != 1 or not np.all(np.isfinite(y)):
        raise ValueError("y must hold one finite number per row.")
    known = _known(offset, exposure)
    if pair:
        return ConformalIntervals(tuple(model), "band", outside(y, *_ends(tuple(model), X, known)))
    X = without_roles(model, X)
    mean, loss = np.asarray(model.predict(X, **known), dtype=float), _deviance_loss(model)
    if mean.ndim == 2 and len(losses) == mean.shape[1] > 1 and isinstance(losses[0], Quantile):
        return ConformalIntervals(model, "band", outside(y, *_ends(model, X, known)))
    if mean.shape != y.shape:
        raise ValueError("Intervals are for one target at a time: this model predicts several.")
    if loss is not None:
        y = loss.check_targets(y)
    residual = np.abs(y - mean if loss is None else deviance_residual(loss, y, np.log(mean)))
    whole = loss is not None and bool(np.all(y == np.rint(y)))
    if width == "constant" or not residual.any():
        return ConformalIntervals(model, "constant", residual, whole=whole)
    fold = np.random.default_rng(random_state).permutation(len(y)) % min(_FOLDS, len(y))
    scores = np.empty(len(y))
    for k in range(fold.max() + 1):
        own = np.flatnonzero(fold == k)
        rest = np.flatnonzero(fold != k)
        scores[own] = residual[own] / _sizes(_safe_indexing(X, rest), residual[rest]).predict(
            _safe_indexing(X, own)
        )
    return ConformalIntervals(model, "scaled", scores, _sizes(X, residual), whole)


def _sizes(X: Any, residual: np.ndarray) -> AdditiveKernelRegressor:
    """A model of the size of residuals.

    Very small residuals say little of the size of others like them, but much on the scale of the deviance,
    which would smooth the differences away: they are raised, at last to a share of their own expected size.
    """
    model = AdditiveKernelRegressor(0, loss="gamma")
    residual = residual if residual.any() else np.ones(len(residual))
    first = model.fit(X, np.maximum(residual, _LEAST * residual.mean())).predict(X)
    return model.fit(X, np.maximum(residual, _SMALL * first))


def _ends(model: Any, X: Any, known: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper end of a band: of two models, or the lowest and highest quantile of one."""
    if isinstance(model, tuple):
        low, high = (np.asarray(one.predict(X, **known), dtype=float) for one in model)
        return low, high
    quantiles = np.asarray(model.predict(X, **known), dtype=float)
    return quantiles.min(axis=1), quantiles.max(axis=1)


def _known(offset: Any, exposure: Any) -> dict[str, Any]:
    return {key: v for key, v in (("offset", offset), ("exposure", exposure)) if v is not None}


def _deviance_loss(model: Any) -> Loss | None:
    """The loss whose deviance says how far a target is from its prediction; none for plain numbers."""
    losses = losses_of(model)
    return losses[0] if losses and takes_exposure(losses[0]) else None
