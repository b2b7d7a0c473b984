"""Kernel ridge regression that chooses its own parameters."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import Tags

from pellucid.data.targets import check_targets
from pellucid.effects import MarginalEffects, Summary, jackknife_plus
from pellucid.linalg import row_blocks
from pellucid.models.ridge.base import KernelRidgeBase, as_columns


class KernelRidge(MultiOutputMixin, RegressorMixin, KernelRidgeBase):
    r"""Kernel ridge regression with leave-one-out built in.

    Minimises :math:`\tfrac12 \sum_i s_i (y_i - f(x_i) - b)^2 + \tfrac{\alpha}{2} \|f\|^2` over functions
    ``f`` of the kernel's space and an unpenalised intercept ``b``. The solution is
    :math:`f(x) = \sum_i a_i k(x, x_i)`, and one decomposition of the kernel matrix gives it for every
    ``alpha``, together with the exact leave-one-out error.

    Parameters
    ----------
    kernel : str, Kernel, callable or scikit-learn Gaussian-process kernel, default="rbf"
        A name (``"rbf"``, ``"matern"``, ``"laplacian"``, ``"rational_quadratic"``, ``"linear"``,
        ``"polynomial"``, ``"ntk"``, ``"additive_pairs"``) takes its length-scale from the data: each column's
        standard deviation times one factor, which is chosen together with ``alpha``. So raw, unscaled data
        are welcome. A kernel from :mod:`pellucid.kernels` is used as it is. ``"precomputed"`` takes ``X`` as
        the kernel matrix.
    alpha : float, array of shape (n_outputs,), or {"loo", "gcv", "ml"}, default="loo"
        Ridge strength; larger is smoother. A name chooses it by exact leave-one-out error, generalised
        cross-validation or marginal likelihood. A number is also the noise variance in the Gaussian-process
        view.
    alphas : array-like, optional
        The values among which a named criterion chooses; by default four per decade from 1e-9 to 1e3 times
        the mean variance of the kernel.
    fit_intercept : bool, default=True
        Whether to fit an unpenalised intercept.
    solver : {"auto", "primal", "cholesky", "spectral"}, default="auto"
        ``"primal"`` works with explicit features, ``"cholesky"`` factors the kernel matrix once per alpha,
        ``"spectral"`` decomposes it once for all. ``"auto"`` takes the cheapest and says why in
        ``solver_reason_``.
    alpha_per_output : bool, default=False
        With several outputs, whether each chooses its own alpha.
    indefinite : {"raise", "clip"}, default="raise"
        What to do with a kernel matrix that has negative eigenvalues: refuse it, or drop its negative part.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with the parameters that were used.
    alpha_ : float or ndarray of shape (n_outputs,)
        The ridge strength that was used.
    dual_coef_ : ndarray of shape (n,) or (n, n_outputs)
        The coefficients ``a`` of the training rows ``X_fit_`` (rows of weight zero are not among them).
    coef_ : ndarray of shape (n_explicit_features,) or (n_explicit_features, n_outputs)
        Coefficients of the explicit features; only after a primal solution.
    intercept_ : float or ndarray of shape (n_outputs,)
        The intercept ``b``.
    loo_ : LeaveOneOut
        Leave-one-out predictions, residuals, leverages, mean squared error, and the path over alphas.
    effective_dof_ : float or ndarray of shape (n_outputs,)
        Effective degrees of freedom: the sum of the leverages, intercept included.
    log_marginal_likelihood_ : float or ndarray of shape (n_outputs,)
        Log likelihood of ``y`` under the Gaussian process (restricted when there is an intercept).
    scale_ : float or ndarray of shape (n_outputs,)
        Variance of the Gaussian process in units of the kernel: one when alpha was given, most likely when
        alpha was chosen.
    solver_, solver_reason_ : str
        The solver that was used, and why.
    X_fit_ : ndarray
        The training rows.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, where ``X`` had any.

    See Also
    --------
    LooSearch : Learns one length-scale per feature, or searches a grid, by leave-one-out.
    KernelRidgeClassifier : The same for classes.

    Notes
    -----
    *Weights.* ``sample_weight`` counts observations: a weight of 2 gives the same model, with the same
    choices and the same likelihood, as the row written twice. Only ``loo_`` leaves out whole rows; the
    criteria that choose alpha leave out one observation of a row whose weight exceeds one. A row of weight
    below one is an observation with more noise, of variance ``alpha / weight``.

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
        indefinite: str = "raise",
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.alpha_per_output = alpha_per_output
        self.indefinite = indefinite

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model, choosing alpha and the length-scale where they are to be chosen.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Training rows: an array, a pandas, polars or Arrow table; a square matrix with a precomputed
            kernel; a sequence of objects with a function of two objects as kernel.
        y : array-like of shape (n,) or (n, n_outputs)
            Targets.
        sample_weight : array-like of shape (n,), optional
            How often each row counts; zero leaves a row out.

        Returns
        -------
        self : KernelRidge
        """
        rows, Y, weight = self._problem(X, y, sample_weight)
        fit = self._fit_targets(rows, Y, weight, per_output=self.alpha_per_output)
        self.loo_ = self._leave_one_out(fit, rows, Y, weight)
        several = self.alpha_per_output or np.ndim(self.alpha) > 0
        self.alpha_ = self._alpha if several and not self._single else float(self._alpha[0])
        self.dual_coef_ = self._shaped(self._dual)
        if self._primal is not None:
            self.coef_ = self._shaped(self._primal)
        self.intercept_ = self._shaped(self._intercept)
        self.effective_dof_ = self._shaped(self._dof)
        self.log_marginal_likelihood_ = self._shaped(self._likelihood)
        self.scale_ = self._shaped(self._scale)
        return self

    def _problem(self, X: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        self.__dict__.pop("coef_", None)
        rows, weight = self._enter(X, sample_weight)
        targets = check_targets(y, rows)
        self._single = targets.ndim == 1
        return rows, as_columns(targets), weight

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
        std = np.empty((len(rows), len(self._intercept)))
        variances = self._prior_variances(rows)
        for block in row_blocks(len(rows), 8.0 * 4 * len(self.X_fit_)):
            K = self._cross_gram(rows[block])
            diagonal = variances[block]
            for q in range(std.shape[1]):
                std[block, q] = np.sqrt(self._scale[q] * self._get_posterior(q).variance(K, diagonal))
        return mean, self._like_input(self._shaped(std), rows)

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

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
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

        Returns
        -------
        interval : ndarray of shape (m, 2) or (m, 2, n_outputs)
            Lower and upper ends.
        """
        rows = self._check_new_rows(X)
        mean = self._decision(rows)
        ends = np.empty((len(rows), 2, mean.shape[1]))
        for block in row_blocks(len(rows), 8.0 * 6 * len(self.X_fit_)):
            K = self._cross_gram(rows[block])
            for q in range(mean.shape[1]):
                e = self._loo_residuals[:, q]
                without = mean[block, q, None] - self._get_posterior(q).deletion_weights(K) * e
                low, high = jackknife_plus(without, e, self.weight_fit_, coverage)
                ends[block, 0, q], ends[block, 1, q] = low, high
        return self._like_input(self._shaped(ends), rows)

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
        return self._marginal_effects(X, output)

    def summary(self) -> Summary:
        """What was fitted, on half a screen; print it."""
        facts: list[tuple[str, object]] = [("leave-one-out RMSE", np.asarray(self.loo_.rmse))]
        spread = self._spread_of_targets()
        facts.append(("leave-one-out R²", 1.0 - np.asarray(self.loo_.mse) / spread))
        facts.append(("log marginal likelihood", np.asarray(self.log_marginal_likelihood_)))
        facts.append(("noise standard deviation", np.sqrt(self.noise_variance_)))
        if not self._chosen:
            facts.append(("Gaussian process", "of scale 1, with alpha as its noise variance"))
        return self._summary(facts)

    def _spread_of_targets(self) -> np.ndarray:
        """Weighted variance of the training targets, zero replaced by one."""
        y = as_columns(self.loo_.predictions)[self._kept] + self._loo_residuals
        share = (self.weight_fit_ / self.weight_fit_.sum())[:, None]
        variance = np.sum(share * (y - np.sum(share * y, axis=0)) ** 2, axis=0)
        return np.where(variance > 0, variance, 1.0)

    def _like_input(self, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return float32 for float32 data, as long as the values fit."""
        both = rows.dtype == np.float32 and self.X_fit_.dtype == np.float32
        fits = both and np.abs(values).max(initial=0.0) < np.finfo(np.float32).max
        return values.astype(np.float32) if fits else values

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
