"""Kernel ridge regression that chooses its own parameters."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from pellucid._docs import inherit_docs, store_parameters
from pellucid.data.by_blocks import in_blocks
from pellucid.data.coded import Reading
from pellucid.data.roles import remembers_roles, takes_roles
from pellucid.data.source import Source
from pellucid.data.targets import check_targets, unit_of
from pellucid.data.unseen import tells_unseen
from pellucid.data.weights import check_weight
from pellucid.effects import MarginalEffects, Summary, jackknife_plus, marginal_effects
from pellucid.linalg import row_blocks
from pellucid.losses import Squared
from pellucid.models.ridge.base import as_columns
from pellucid.models.ridge.from_source import enter_source, few_rows, source_of
from pellucid.models.ridge.updating import UpdatingRidge

_SMALL_RESIDUAL = 0.05  # of their mean size; its logarithm would tell of chance alone


@inherit_docs
class KernelRidge(MultiOutputMixin, RegressorMixin, UpdatingRidge):
    r"""Kernel ridge regression with leave-one-out built in.

    Minimises :math:`\tfrac12 \sum_i s_i (y_i - f(x_i) - b)^2 + \tfrac{\alpha}{2} \|f\|^2` over functions
    ``f`` of the kernel's space and an unpenalised intercept ``b``. The solution is
    :math:`f(x) = \sum_i a_i k(x, x_i)`, and one decomposition of the kernel matrix gives it for every
    ``alpha``, together with the exact leave-one-out error.

    Parameters
    ----------
    {kernel}
    alpha : float, array of shape (n_outputs,), or {"loo", "gcv", "ml"}, default="loo"
        Ridge strength; larger is smoother. A name chooses it by exact leave-one-out error, generalised
        cross-validation or marginal likelihood. A number is also the noise variance in the Gaussian-process
        view.
    {alphas, fit_intercept, solver}
    alpha_per_output : bool, default=False
        With several outputs, whether each chooses its own alpha.
    {n_components, tol, random_state, indefinite, weights}
    updatable : bool, default=False
        Keep sums over the rows, so that :meth:`update` can add rows without the old ones and
        :func:`pellucid.merge` can join models of sites that share none. For kernels with explicit features,
        such as ``"linear"`` and ``Polynomial``; takes ``f (f + 1) / 2`` numbers for ``f`` of them.

    Attributes
    ----------
    {kernel_}
    alpha_ : float or ndarray of shape (n_outputs,)
        The ridge strength that was used.
    {dual_coef_}
    coef_ : ndarray of shape (n_explicit_features,) or (n_explicit_features, n_outputs)
        Coefficients of the explicit features; only after a primal solution.
    {intercept_}
    loo_ : LeaveOneOut
        Leave-one-out predictions, residuals, leverages, mean squared error, and the path over alphas. Exact
        for the kernel and alpha that were used; where they were chosen on the same few rows, new rows will
        be predicted less well than this says.
    {effective_dof_, log_marginal_likelihood_}
    scale_ : float or ndarray of shape (n_outputs,)
        Variance of the Gaussian process in units of the kernel: one when alpha was given, most likely when
        alpha was chosen.
    {solver_, solver_report_, X_fit_, n_features_in_, feature_names_in_}

    See Also
    --------
    LooSearch : Learns one length-scale per feature, or searches a grid, by leave-one-out.
    KernelRidgeClassifier : The same for classes.

    Notes
    -----
    *Weights.* Read as counts, a weight of 2 gives the same model, with the same choices and the same
    likelihood, as the row written twice. Only ``loo_`` leaves out whole rows; the criteria that choose alpha
    leave out one observation of a row whose weight exceeds one. A row of weight below one is an observation
    with more noise, of variance ``alpha / weight``.

    *float32* input is kept as it is and predictions come back as float32; the equations are solved in double
    precision.

    References
    ----------
    Guyon (2005), Kernel ridge regression, Clopinet note. Rasmussen and Williams (2006), Gaussian processes
    for machine learning, chapter 2.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from pellucid import KernelRidge
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = KernelRidge().fit(X, y)
    >>> round(model.loo_.rmse, 1), round(model.effective_dof_, 1)
    (54.1, 18.5)
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        alpha: Any = "loo",
        alphas: Any = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        alpha_per_output: bool = False,
        n_components: int | None = None,
        tol: float = 1e-4,
        random_state: int = 0,
        indefinite: str = "raise",
        weights: str = "auto",
        updatable: bool = False,
    ) -> None:
        store_parameters(self, locals())

    @remembers_roles
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model, choosing alpha and the length-scale where they are to be chosen.

        Parameters
        ----------
        X : array-like of shape (n, n_features), or rows beyond memory
            Training rows: an array, a pandas, polars or Arrow table; a square matrix with a precomputed
            kernel; a sequence of objects with a function of two objects as kernel. Rows beyond memory are a
            Parquet file or folder, a pyarrow dataset, a lazy frame of polars, a list of batches or a function
            that returns an iterator over them, a memory map, a Dask array or data frame; see the user guide.
        y : array-like of shape (n,) or (n, n_outputs), or str
            Targets, or the name of the column of ``X`` that has them.
        sample_weight : array-like of shape (n,), or str, optional
            What each row counts for, as ``weights`` says; zero leaves a row out.

        Returns
        -------
        self : KernelRidge
        """
        source = source_of(self, X, y, sample_weight)
        if source is not None:
            return self._fit_source(source)
        rows, Y, weight = self._problem(X, y, sample_weight)
        fit = self._fit_targets(rows, Y, weight)
        self.loo_ = self._leave_one_out(fit, rows, Y, weight)
        self._keep_sums(rows, Y, weight, sample_weight)
        self._publish_fit()
        return self

    def _fit_source(self, source: Source) -> Self:
        """Fit to rows that come in blocks."""
        table = few_rows(self, source)
        if table is not None:
            return self.fit(table.X, **{"y": None, **table.given})
        sample = enter_source(self, source, Reading(Squared()))
        self.__dict__.pop("sums_", None)
        Y, self._single = as_columns(sample.y), True
        fit = self._fit_targets(sample.X, Y, sample.weight, beyond=sample.beyond)
        self.loo_ = self._leave_one_out(fit, sample.X, Y, sample.weight)
        self.loo_rows_ = sample.places
        self._publish_fit()
        sample.beyond.passes.finished()
        return self

    def _publish_fit(self) -> None:
        self._publish()
        if self._primal is not None:
            self.coef_ = self._shaped(self._primal)
        self.effective_dof_ = self._shaped(self._dof)
        self.scale_ = self._shaped(self._scale)

    def _new_targets(self, rows: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
        weight = check_weight(sample_weight, len(rows), self.weights)
        return as_columns(check_targets(y, rows)), weight

    def _problem(self, X: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows, weight = self._enter(X, sample_weight)
        targets = check_targets(y, rows)
        self._single = targets.ndim == 1
        return rows, as_columns(targets), weight

    @in_blocks
    def predict(self, X: Any, return_std: bool = False) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Predict, on request with the standard deviation of the Gaussian-process posterior.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New rows.
        return_std : bool, default=False
            Whether to return the posterior standard deviation of the function as well. It speaks of the
            function, not of a new target: for that, see :meth:`predict_interval`.

        Returns
        -------
        mean : ndarray of shape (m,) or (m, n_outputs)
        std : ndarray of the same shape
            Only with ``return_std=True``.
        """
        rows = self._check_new_rows(X)
        mean = self._like_input(self._shaped(self._decision(rows)), rows)
        if not return_std:
            return mean
        self._require_variances()
        self._require_rows()
        std = np.empty((len(rows), len(self._intercept)))
        variances = self._prior_variances(rows)
        for block in row_blocks(len(rows), 8.0 * 4 * len(self.X_fit_)):
            K = self._cross_gram(rows[block])
            diagonal = variances[block]
            for q in range(std.shape[1]):
                std[block, q] = np.sqrt(self._scale[q] * self._get_posterior(q).variance(K, diagonal))
        return mean, self._like_input(self._shaped(std), rows)

    @tells_unseen
    @takes_roles
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share R² of the variance explained, the mean over outputs, whatever the unit of the targets.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        y : array-like of shape (m,) or (m, n_outputs)
        sample_weight : array-like of shape (m,), optional

        Returns
        -------
        float
        """
        found = as_columns(np.asarray(self.predict(X)))
        Y = as_columns(check_targets(y, found))
        unit = np.array([unit_of(column) for column in Y.T])
        return float(r2_score(Y / unit, found / unit, sample_weight=sample_weight))

    def _prior_variances(self, rows: np.ndarray) -> np.ndarray:
        """Values ``k(x, x)``; of a precomputed kernel they are known for the training rows alone."""
        if not self._precomputed:
            return self.kernel_._diag(rows)
        n = len(self._kept)
        if rows.shape != (n, n) or not np.array_equal(rows[np.ix_(self._kept, self._kept)], self.X_fit_):
            raise ValueError(
                "With kernel='precomputed' the value k(x, x) of new rows is unknown, and so is their "
                "standard deviation."
            )
        return self.kernel_._diag(rows)

    @tells_unseen
    def predict_interval(self, X: Any, coverage: float = 0.9, *, width: str = "constant") -> np.ndarray:
        """Prediction intervals for new targets by the jackknife+, without refitting.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New rows.
        coverage : float, default=0.9
            Share of new targets that the intervals are to cover. At least ``2 * coverage - 1`` is guaranteed
            for exchangeable rows if kernel and alpha were fixed in advance. If they were chosen on the same
            rows, as by default, the models without a row keep that choice, and coverage can fall short, the
            more so the more parameters were chosen on the fewer rows.
        width : {"constant", "scaled"}, default="constant"
            With "scaled" residuals are divided by their expected size, which a second model of the same
            kernel predicts from the features, so that intervals are wide where residuals are large. That
            model is fitted at each call; see :func:`pellucid.conformal` for one that is fitted once, on rows
            held out.

        Returns
        -------
        interval : ndarray of shape (m, 2) or (m, 2, n_outputs)
            Lower and upper ends.
        """
        rows = self._check_new_rows(X)
        self._require_rows()
        mean = self._decision(rows)
        if width not in ("constant", "scaled"):
            raise ValueError(f"width must be 'constant' or 'scaled', got {width!r}.")
        sizes = [self._sizes(q, rows) if width == "scaled" else None for q in range(mean.shape[1])]
        ends = np.empty((len(rows), 2, mean.shape[1]))
        for block in row_blocks(len(rows), 8.0 * 6 * len(self.X_fit_)):
            K = self._cross_gram(rows[block])
            for q in range(mean.shape[1]):
                e = self._loo_residuals[:, q]
                without = mean[block, q, None] - self._get_posterior(q).deletion_weights(K) * e
                own = sizes[q]
                reach = e if own is None else np.outer(own[1][block], e / own[0])
                low, high = jackknife_plus(without, reach, self.weight_fit_, coverage)
                ends[block, 0, q], ends[block, 1, q] = low, high
        return self._like_input(self._shaped(ends), rows)

    def _sizes(self, output: int, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Expected sizes of leave-one-out residuals: of training rows, each without itself, and of others."""
        size = np.abs(self._loo_residuals[:, output])
        if self._precomputed or len(size) < 3 or not size.any():
            return np.ones(len(size)), np.ones(len(rows))
        unit = float(self._unit[output])
        target = np.log(np.maximum(size / unit, _SMALL_RESIDUAL * np.mean(size / unit)))
        kernel = self.kernel if isinstance(self.kernel, str) else self.kernel_
        model = KernelRidge(kernel, weights=self.weights).fit(self.X_fit_, target, self.weight_fit_)
        own, new = np.asarray(model.loo_.predictions), model._decision(rows)[:, 0]
        return np.exp(own - own.mean()), np.exp(new - own.mean())

    @tells_unseen
    def marginal_effects(self, X: Any = None, *, output: int = 0) -> MarginalEffects:
        """Derivatives of the prediction with respect to each feature, with standard errors.

        Parameters
        ----------
        X : array-like of shape (m, n_features), optional
            Where to take them; by default at the training rows.
        output : int, default=0
            Which output, where there are several.

        Returns
        -------
        MarginalEffects
            Standard errors take the penalised fit for what it is: shrinkage is not in them.
        """
        check_is_fitted(self)
        if self._precomputed:
            raise ValueError("A precomputed kernel has no derivatives with respect to features.")
        self._require_rows()
        rows = self.X_fit_ if X is None else self._check_new_rows(X)
        self._require_variances()
        noise, posterior = float(self.noise_variance_[output]), self._get_posterior(output)
        dual = self._dual[:, output]
        return marginal_effects(self.kernel_, rows, self.X_fit_, dual, posterior, noise, self._names)

    def summary(self) -> Summary:
        """What was fitted, on half a screen; print it."""
        check_is_fitted(self)
        if self._without_rows:
            return self._summary([("noise standard deviation", np.sqrt(self.noise_variance_))])
        facts: list[tuple[str, object]] = []
        lost, spread = self._loo_share()
        if len(self.X_fit_) > 1:
            facts.append(("leave-one-out RMSE", np.asarray(self.loo_.rmse)))
        if np.all(spread > 0):
            facts.append(("leave-one-out R²", 1.0 - lost / spread))
        if hasattr(self, "log_marginal_likelihood_"):
            facts.append(("log marginal likelihood", np.asarray(self.log_marginal_likelihood_)))
        if self._has_variances:
            facts.append(("noise standard deviation", np.sqrt(self.noise_variance_)))
        if not self._chosen:
            facts.append(("Gaussian process", "of scale 1, with alpha as its noise variance"))
        return self._summary(facts)

    def _loo_share(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean squared leave-one-out residual and variance of each target, both in units of ``_unit``."""
        e = self._loo_residuals / self._unit
        y = (as_columns(self.loo_.predictions)[self._kept] - self._shift) / self._unit + e
        share = self.weight_fit_ / self.weight_fit_.sum()
        return share @ e**2, share @ (y - share @ y) ** 2

    def _like_input(self, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return float32 for float32 data, as long as the values fit."""
        both = rows.dtype == np.float32 and self.X_fit_.dtype == np.float32
        fits = both and np.abs(values).max(initial=0.0) < np.finfo(np.float32).max
        return values.astype(np.float32) if fits else values

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
