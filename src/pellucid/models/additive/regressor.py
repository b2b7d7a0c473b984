"""The additive kernel machine for numbers, quantiles, counts, amounts, proportions and times."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from pellucid._docs import store_parameters
from pellucid.data.by_blocks import in_blocks
from pellucid.data.coded import Reading
from pellucid.data.first_look import most_at_hand
from pellucid.data.roles import remembers_roles
from pellucid.data.source import Source
from pellucid.data.source_kinds import as_source
from pellucid.data.table import enter_table
from pellucid.data.targets import check_offset
from pellucid.data.unseen import tells_unseen
from pellucid.data.weights import check_weight
from pellucid.effects import jackknife_plus
from pellucid.effects.outcome_measures import takes_exposure
from pellucid.losses import REGISTRY, Loss, as_loss
from pellucid.losses.convert import losses_of
from pellucid.models.additive.base import AdditiveKernelBase
from pellucid.models.additive.engine.all_rows import adds_up
from pellucid.models.additive.engine.state import Problem
from pellucid.models.additive.targets import enter_targets, shape_of, units
from pellucid.models.additive.updating import Updating
from pellucid.models.common.levels import in_order, losses_at_levels
from pellucid.models.common.scoring import DevianceScore
from pellucid.models.common.survival import SurvivalCurves

_KINDS = ("regression", "counts", "proportions", "survival")


class AdditiveKernelRegressor(SurvivalCurves, DevianceScore, Updating, AdditiveKernelBase):
    r"""Additive kernel machine for numbers, quantiles, counts, amounts, proportions and times.

    .. math:: \eta(x) = b + \sum_p f_p(x_p) + \sum_{p<q} f_{pq}(x_p, x_q)

    Main effects have mean zero over the training rows, and a pair has mean zero along each of its features
    under the product of their distributions: it holds no main effect. A term is a Gaussian process on a
    warped scale of its features whose variance is a sum of shapes (a line, smooth, rough, from value to value
    where values repeat, single points; products of these for pairs), so each finds its own smoothness. How
    much terms vary is a draw from one distribution for main effects and one for pairs, which says that there
    is nothing in some of them and is learned from all terms together; see the user guide. Variances are those
    of the restricted likelihood: for squared loss of the model itself, for others of the quadratic that
    touches the loss, renewed at each Newton step. Nothing needs tuning, and there is no randomness.

    Parameters
    ----------
    interactions : "auto", int, list of pairs, default="auto"
        Which pairs of features may interact: as many as the data support, at most the given number of them,
        or the pairs named in a list such as ``[("age", "income")]``; 0 for main effects only.
    loss : str or Loss, default="squared"
        What a good fit means: ``"squared"``, ``"huber"``, ``"quantile"`` and ``"expectile"`` for numbers of
        any sign, ``"poisson"`` and ``"negative_binomial"`` for counts, ``"gamma"`` and ``"tweedie"`` for
        amounts (the latter with zeros), ``"binomial"`` for proportions, ``"cox"`` for times until an event,
        some of them censored. What a loss leaves open (a threshold, a dispersion, a power) is estimated
        beside predictions of rows without themselves; to fix it pass the loss itself, as
        ``pellucid.losses.Tweedie(1.5)``.
    monotone : dict, optional
        Features whose effect must rise or fall, such as ``{"age": "increasing", "price": "decreasing"}``, or
        1 and -1, or must be "convex" or "concave" over the values of training, or both as in "increasing
        concave"; numbers, and ordered categories in the order of their levels. The prediction is of that
        shape everywhere, whatever the other features. Such a feature takes part in no pair, unless it rises
        or falls and the pair is named in ``interactions``. A missing value is not ordered.
    weights : {"auto", "counts", "precision"}, default="auto"
        What ``sample_weight`` means: with "counts" a weight of 2 is the row twice, so larger weights leave
        less smoothing; with "precision" only ratios count, as for survey weights and inverse variances;
        "auto" counts unless their mean is below 0.1 or above 10, and then warns.
    updatable : bool, default=False
        Whether sums over the rows are kept, so that :meth:`update` and :func:`pellucid.merge` can add others:
        one more pass over the rows, and half of the square of the number of columns in numbers. For squared
        loss and one target.
    quantile : float or list of floats, default=0.5
        Level of the quantile or expectile, for these losses. Several at once share the axes; each has terms
        of its own, and predictions of a row are put in order where they would cross. Quantiles depart from
        one robust centre, and each has the constant with which that share of rows not seen is below it; see
        the user guide. Where ``monotone`` asks for a shape, or with ``loss=Quantile(level)``, there is no
        centre, and each level is fitted alone.
    max_time : float, optional
        Seconds after which steps that a fit can do without are left out, with a warning: folds, the second
        look at columns and smoothness, and pairs. Main effects are fitted however long it takes.
    verbose : int, default=0
        Whether the steps are told on standard error, with the time left.

    Attributes
    ----------
    terms_ : list of tuples of int
        The terms that are left, each one feature or a pair.
    term_names_ : list of str
        Their names.
    importances_ : Importances
        Share of each term in the sum of the terms' variances, with standard errors; for losses other than the
        squared one rows count by the curvature of their loss.
    effects_ : dict of Effect
        The fitted function of each term on a grid, with the density of the rows and a posterior band, which
        counts that the variance of the term is not known.
    receipt_ : Receipt
        What main effects explain, what pairs add, what a machine of all orders would add.
    intercept_ : float
        The constant b.
    tables_ : TermTables
        The whole model as tables.
    loo_ : LeaveOneOut
        Leave-one-out predictions of the rows ``loo_rows_``: exact for squared loss, else one Newton step.
        Terms and their variances are held fixed.
    fold_residuals_, fold_deviance_explained_ : ndarray of shape (n,), float, or None
        Of at most 1500 rows, fewer than ten for each term that might have entered: residuals of the training
        rows, and the share of deviance explained, by fits without each row's fold that choose terms and
        variances again (of quantiles, those of their centre). Otherwise None.
    edf_, scale_ : float
        Effective degrees of freedom, and the variance of the noise (dispersion).
    deviance_explained_, loo_deviance_explained_ : float
        Share of the deviance explained, on the training rows and leaving one row out.
    loss_, losses_ : Loss, list of Loss
        The loss with what it left open filled in; and one per output.
    outputs_ : list of str
        Names of the outputs where there are several: levels of quantiles, or targets.
    baseline_ : Baseline
        Of the Cox loss: the baseline hazard, that of a row with linear predictor zero.
    edits_ : list of Edit
        What :meth:`edit` did.
    columns_ : tuple of Column
        What each feature was taken for.
    roles_ : dict of str
        Columns that :meth:`fit` was told to take for targets, weights, offset and exposure, if it was told
        their names; they are no features, and tables of new rows may have them.
    sums_ : RowSums
        With ``updatable=True``: the sums over rows that determine the fit.

    Notes
    -----
    Categories (text, categorical columns) are levels of their own; a level not seen in training contributes
    nothing, as if the feature were average, and ``predict`` says so with an ``UnseenLevelWarning``. A missing
    value is a level of its own where training had some, and contributes nothing otherwise. Values beyond
    those of training get the effect of the nearest one.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import AdditiveKernelRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(500, 4))
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=500)
    >>> model = AdditiveKernelRegressor().fit(X, y)
    >>> model.importances_.top(2)
    ['x0', 'x1 × x2']
    >>> bool(
    ...     np.allclose(model.contributions(X).sum(axis=1) + model.intercept_, model.predict(X))
    ... )
    True
    """

    _known = ("offset", "exposure")

    def __init__(
        self,
        interactions: Any = "auto",
        *,
        loss: Any = "squared",
        monotone: Any = None,
        weights: str = "auto",
        updatable: bool = False,
        quantile: Any = 0.5,
        max_time: float | None = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    @remembers_roles
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features), or rows beyond memory
            Training rows: numbers, categories, dates, missing values. Rows beyond memory are a Parquet file
            or folder, a pyarrow dataset, a lazy frame of polars, a list of batches or a function that returns
            an iterator over them, a memory map, a Dask array or data frame; see the user guide.
        y : array-like of shape (n,), or (n, n_outputs), or str
            Targets. Several columns are several targets, for the squared loss and others that have one number
            per target. For binomial, two columns are numbers of successes and failures, one is proportions
            from 0 to 1. For Cox, two columns or a structured array are time and event (1, or 0 if the row
            left without one), one is times with a minus sign where there was no event. A text
            names the column of ``X`` that has the targets, and so for the next three.
        sample_weight : array-like of shape (n,), optional
            How many observations a row stands for.
        offset : array-like of shape (n,), optional
            Known part of the linear predictor.
        exposure : array-like of shape (n,), optional
            Time or amount at risk, for losses with a log link (Poisson, negative binomial, gamma, Tweedie):
            its logarithm is added to the offset.

        Returns
        -------
        AdditiveKernelRegressor
            Itself.
        """
        loss = as_loss(self.loss, among=losses_of(*_KINDS))
        losses_at_levels(loss, self.quantile, self.loss)
        many = most_at_hand if adds_up(loss) and len(shape_of(y)) < 2 else None
        known = {"sample_weight": sample_weight, "offset": offset, "exposure": exposure}
        source = as_source(X, y, most=many, **known)
        if source is not None:
            return self._fit_rows(source, loss)
        problems = self._prepare(X, y, sample_weight, reset=True, offset=offset, exposure=exposure)
        self._check_updatable(len(problems[0]))
        self._fit_problems(*problems)
        self._keep(self._sums_of_fit(problems[0][0], problems[2], sample_weight))
        return self

    def _fit_rows(self, source: Source, loss: Loss) -> Self:
        """Fit to rows that come in blocks."""
        self.loss_ = loss
        self._check_updatable(1)
        ready = self._from_source(source, Reading(loss, log_link=takes_exposure(loss)))
        if ready is None:
            return self
        self._keep(self._sums_of_fit(ready.problems[0], ready.unit, None))
        ready.passes.finished()
        return self

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool, offset: Any = None, exposure: Any = None
    ) -> tuple[list[Problem], list[str], Any]:
        if reset:
            stated = as_loss(self.loss, among=losses_of(*_KINDS))
            self.losses_ = losses_at_levels(stated, self.quantile, self.loss)
            self.loss_ = self.losses_[0]
        losses, loss = self.losses_, self.loss_
        table = enter_table(self, X, reset=reset)
        weight = check_weight(sample_weight, len(table), self.weights)
        levels = np.ndim(self.quantile) > 0
        targets = enter_targets(y, table, weight, losses, levels=levels, new=reset)
        known = check_offset(offset, exposure, len(targets), log_link=takes_exposure(loss))
        rows, seen = self._training_rows(table, targets.weight, reset=reset), targets.weight > 0
        known, weight = known[seen], targets.weight[seen]
        Y = targets.columns[seen]
        unit = units(Y, known, weight, loss)
        problems = [
            Problem(rows, y / u, weight, known / u, one.in_unit(float(u)))
            for y, u, one in zip(Y.T, unit, targets.losses, strict=True)
        ]
        names = targets.names
        return problems, names, unit if len(unit) > 1 else float(unit[0])

    @in_blocks
    def predict(self, X: Any, *, offset: Any = None, exposure: Any = None) -> np.ndarray:
        """Predict the mean of the target, its quantiles, or for Cox the hazard relative to the baseline.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows.
        offset, exposure : array-like of shape (n,), optional
            As in :meth:`fit`.

        Returns
        -------
        ndarray of shape (n,), or (n, n_outputs)
            Predictions: one column per target, or per level in the order of ``quantile``.
        """
        eta = self._predictor(X)
        if offset is not None or exposure is not None:
            known = check_offset(offset, exposure, len(eta), log_link=takes_exposure(self.loss_))
            eta = (eta.T + known).T
        mean = self.loss_.mean(eta)
        return mean if np.ndim(self.quantile) == 0 else self._in_order(mean)

    def _in_order(self, mean: np.ndarray) -> np.ndarray:
        """Several quantiles that do not cross."""
        return in_order(mean.reshape(len(mean), -1), [loss.level for loss in self.losses_])  # type: ignore[attr-defined]

    @tells_unseen
    def predict_interval(self, X: Any, *, coverage: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends of intervals that cover new targets with about the given probability.

        The interval reaches as far to either side of the prediction as the corresponding quantile of the
        leave-one-out residuals of the training rows, the jackknife; it has one width for all rows. Where
        there are fewer than ten rows for each term that might have entered, such residuals are too small, as
        terms and variances were chosen on the same rows: up to 1500 rows, those of folds count instead, for
        which terms and variances were chosen again without them. Squared and Huber loss.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows.
        coverage : float, default=0.9
            Probability, between 0 and 1.

        Returns
        -------
        lower, upper : ndarrays of the shape of predictions
        """
        check_is_fitted(self)
        if self.loss_.name not in ("squared", "huber"):
            raise ValueError(
                f"Intervals are for squared and Huber loss; this model has the {self.loss_.name} loss. "
                f"pellucid.conformal gives intervals for numbers, counts and amounts from rows held back."
            )
        reach = self._reach(self.loo_.residuals, self._loo_weight, coverage)
        if self.fold_residuals_ is not None:
            reach = np.maximum(reach, self._reach(self.fold_residuals_, self._fold_weight, coverage))
        centre = self.predict(X)
        return centre - reach, centre + reach

    @staticmethod
    def _reach(residuals: np.ndarray, weight: np.ndarray, coverage: float) -> np.ndarray:
        nothing = np.zeros((1, len(residuals)))
        ends = [
            jackknife_plus(nothing, column, weight, coverage)[1][0]
            for column in residuals.reshape(len(residuals), -1).T
        ]
        return np.array(ends) if residuals.ndim == 2 else ends[0]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        loss = REGISTRY.get(getattr(self.loss, "name", self.loss), Loss)
        tags.target_tags.positive_only = takes_exposure(loss)
        tags.target_tags.multi_output = self.loss == "squared" and not self.updatable
        return tags
