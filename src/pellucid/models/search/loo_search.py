"""Search for kernel parameters by exact leave-one-out and its rivals: over a grid, or by descent."""

from collections.abc import Callable, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from pellucid._callers import warn_caller
from pellucid._docs import store_parameters
from pellucid._progress import Deadline, track
from pellucid.data.roles import from_columns, remembers_roles, takes_roles
from pellucid.data.source_kinds import is_source
from pellucid.data.unseen import tells_unseen
from pellucid.effects import Motifs, Summary
from pellucid.exceptions import SearchWarning
from pellucid.kernels import Kernel
from pellucid.linalg import limited_threads
from pellucid.models.glm_fit.base import KernelGLMBase
from pellucid.models.ridge.base import KernelRidgeBase
from pellucid.models.ridge.classifier import KernelRidgeClassifier
from pellucid.models.ridge.fisher import KernelFisherDiscriminant
from pellucid.models.ridge.regressor import KernelRidge
from pellucid.models.search.glm_search import first_ridge, held_out_deviance
from pellucid.models.search.gradient_search import MOST_ROWS, Data, Learned, learn_parameters, sample_rows
from pellucid.solvers import CRITERIA

# Up to so many rows per length-scale, leave-one-out alone would fit the rows at hand too well.
_PER_SCALE = 100
# A share of the variance too small to learn from; the likelihood has no bound where it is zero.
_PERFECT = 1e-12


def _has(method: str) -> Any:
    def check(search: "LooSearch") -> bool:
        getattr(getattr(search, "best_estimator_", search.estimator), method)
        return True

    return check


def _of_best(method: Callable[..., Any]) -> Any:
    """A method of an estimator as one of the search: of its best estimator, where that has it."""

    @tells_unseen
    @wraps(method)
    def of_best(self: "LooSearch", *arguments: Any, **options: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.best_estimator_, method.__name__)(*arguments, **options)

    return available_if(_has(method.__name__))(of_best)


class LooSearch(MetaEstimatorMixin, BaseEstimator):
    """Choose kernel parameters by the exact leave-one-out error, or by another criterion.

    With a grid, every combination is fitted once, each with its whole path over alphas, and the best is kept.
    Without a grid, the parameters of the kernel and alpha are learned by descent on the same criterion, whose
    gradient is closed form; then alpha is chosen once more, as the estimator chooses it.

    Parameters
    ----------
    estimator : KernelRidge, KernelRidgeClassifier, KernelFisherDiscriminant or a kernel model of another loss
        What to fit. Its ``alpha`` says how alpha is chosen for the parameters that were found: by ``"loo"``,
        ``"gcv"`` or ``"ml"``; a number stays fixed. With another loss, as in ``KernelGLMRegressor``, a grid
        is compared by held-out deviance, and a descent works on the ridge problem of the first Newton step.
    param_grid : dict or list of dict, optional
        Parameters and the values to try, named as for ``set_params``, such as ``{"kernel__length_scale":
        [0.5, 1, 2]}``. Without it, parameters are learned by descent.
    ard : bool, default=False
        Whether to learn one length-scale per feature (automatic relevance determination); without a grid
        only. Otherwise the length-scales of a kernel named by a string keep their ratios, which are those of
        the spreads of the columns, and a kernel from :mod:`pellucid.kernels` learns what it has. A prior
        holds length-scales near the shared one (a factor of e per standard deviation), so that few rows do
        not scatter them; it fades as rows are added.
    criterion : {"auto", "loo", "gcv", "ml", "mixed"}, default="auto"
        By which criterion to search: leave-one-out, generalised cross-validation, the marginal likelihood, or
        the likelihood and leave-one-out together (minus the log likelihood per row plus half the log error).
        ``"auto"`` is the estimator's criterion for alpha, ``"loo"`` if alpha is a number. With ``ard=True``
        leave-one-out alone would overfit on few rows, so up to 100 rows per feature ``"auto"`` takes
        ``"mixed"`` in its place.
    n_jobs : int, optional
        Combinations of the grid fitted at the same time. Each then uses one thread for linear algebra.
    max_time : float, optional
        Seconds after which no new combination, or step of the descent, is begun: the best so far is taken,
        with a :class:`~pellucid.exceptions.SearchWarning`. What has begun is finished, so the search takes
        somewhat longer.
    verbose : int, default=0
        With 1, progress and the time left are told in log files and notebooks as well as on terminals.

    Attributes
    ----------
    best_estimator_ : estimator
        The estimator fitted with the best parameters.
    best_params_ : dict
        The best parameters.
    best_score_ : float
        Its leave-one-out mean squared error (averaged over outputs), or held-out mean deviance.
    results_ : dict of lists
        For a grid: ``params``, ``value``, ``loo_mse``, ``alpha`` and, for classifiers, ``loo_error_rate`` of
        each combination. For a descent: ``criterion``, its ``value``, ``n_evaluations`` and ``converged``.
        ``value`` is what decides, smaller is better: the error relative to the variance of the targets,
        averaged over outputs, for ``"ml"`` minus the log likelihood per row, or the sum for ``"mixed"``.
    n_features_in_, feature_names_in_, classes_
        As in the estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from pellucid import KernelRidge, LooSearch
    >>> from pellucid.kernels import RBF
    >>> X, y = load_diabetes(return_X_y=True)
    >>> search = LooSearch(KernelRidge(RBF()), {"kernel__length_scale": [0.1, 0.3, 1.0]}).fit(
    ...     X, y
    ... )
    >>> search.best_params_
    {'kernel__length_scale': 0.3}
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any = None,
        *,
        ard: bool = False,
        criterion: str = "auto",
        n_jobs: int | None = None,
        max_time: float | None = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    @remembers_roles
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **known: Any) -> Self:
        """Search, then fit the best.

        Parameters
        ----------
        X, y, sample_weight
            As for the estimator; texts name columns of ``X``.
        **known
            ``offset`` and ``exposure``, for estimators that take them.

        Returns
        -------
        self : LooSearch
        """
        if not isinstance(self.estimator, KernelRidgeBase | KernelGLMBase):
            raise TypeError(
                f"LooSearch needs a kernel model: KernelRidge, KernelRidgeClassifier, "
                f"KernelFisherDiscriminant, KernelGLMRegressor, KernelClassifier or an interpretable one, "
                f"got {type(self.estimator).__name__}."
            )
        given = {"y": y, "sample_weight": sample_weight, **known}
        names = {role: value for role, value in given.items() if isinstance(value, str)}
        if names and not is_source(X):
            X, known = from_columns(X, given)
            y, sample_weight = known.pop("y", None), known.pop("sample_weight", None)
        known = {name: value for name, value in known.items() if value is not None}
        other_loss = isinstance(self.estimator, KernelGLMBase)
        if known and not other_loss:
            raise ValueError(f"{next(iter(known))} is for kernel models of losses that take it.")
        if self.criterion not in ("auto", "mixed", *CRITERIA):
            raise ValueError(
                f"criterion must be 'auto', 'loo', 'gcv', 'ml' or 'mixed', got {self.criterion!r}."
            )
        if self.param_grid is not None:
            if self.ard:
                raise ValueError("ard=True learns length-scales by descent; leave param_grid out.")
            self._sweep(X, y, sample_weight, known)
        elif other_loss:
            self._descend_on_first_step(X, y, sample_weight, known)
        else:
            self._descend(X, y, sample_weight)
        best = self.best_estimator_
        self.best_score_ = held_out_deviance(best) if other_loss else float(np.mean(best.loo_.mse))
        if names:
            best.roles_ = names
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            self.__dict__.pop(name, None)
            if hasattr(best, name):
                setattr(self, name, getattr(best, name))
        return self

    @property
    def _criterion(self) -> str:
        if self.criterion != "auto":
            return self.criterion
        return self.estimator.alpha if isinstance(self.estimator.alpha, str) else "loo"

    # ------------------------------------------------------------------ grid
    def _sweep(self, X: Any, y: Any, sample_weight: Any, known: dict[str, Any]) -> None:
        grid = list(ParameterGrid(self.param_grid))
        named = isinstance(self.estimator.kernel, str)
        if named and any(key.startswith("kernel__") and "kernel" not in g for g in grid for key in g):
            raise ValueError(
                f"The kernel {self.estimator.kernel!r} was named by a string and has no parameters to "
                f"search. Pass a kernel from pellucid.kernels, such as RBF()."
            )
        deadline = Deadline(self.max_time)
        # threads share the data, and linear algebra lets go of the interpreter lock; one BLAS thread for each
        with threadpool_limits(None if self.n_jobs in (None, 1) else 1):
            work = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
                delayed(_fit_one)(self.estimator, params, X, y, sample_weight, known, self._criterion)
                for params in grid
            )
            rows: list[dict[str, Any]] = []
            for row, model in track(work, "leave-one-out search", len(grid), self.verbose):
                if not rows or row["value"] < min(other["value"] for other in rows):
                    self.best_params_, self.best_estimator_ = grid[len(rows)], model
                rows.append(row)
                if deadline.over and len(rows) < len(grid):
                    _warn_of_time(f"after {len(rows)} of {len(grid)} combinations")
                    break
            work.close()
        self.results_ = {"params": grid[: len(rows)]} | {key: [row[key] for row in rows] for key in rows[0]}

    # --------------------------------------------------------------- descent
    def _descend(self, X: Any, y: Any, sample_weight: Any) -> None:
        first = clone(self.estimator)
        rows, Y, weight = first._problem(X, y, sample_weight)
        kept = np.flatnonzero(weight)
        sample = sample_rows(len(kept)) if self.ard else None
        if sample is None:
            first = _fitted(self.estimator, {}, X, y, sample_weight)  # a good start
        else:  # many length-scales will move far from one start or the other
            first._fit_targets(*(part[kept[sample]] for part in (rows, Y, weight)))
        kernel = first.kernel_
        if self.ard:
            if rows.ndim != 2:
                raise ValueError("ard=True learns one length-scale per column, but the rows have no columns.")
            kernel = kernel.with_ard(rows.shape[1])
        if kernel.theta.size == 0:
            raise ValueError(
                f"The kernel {kernel} has no parameters to learn. Pass a param_grid, or another kernel."
            )
        by = self._criterion
        if self.ard and self.criterion == "auto" and by == "loo" and len(kept) <= _PER_SCALE * rows.shape[1]:
            by = "mixed"
        found = self._learn(kernel, by, first, rows[kept], Y[kept], weight[kept])
        if not found.converged:
            warn_caller(
                "The search for kernel parameters stopped before it converged; the best parameters seen are "
                "used.",
                SearchWarning,
            )
        best = self._polish(found, by, X, y, sample_weight, thorough=sample is None)
        if sample is None and _value(first, by) < _value(best, by):
            best = first
        self.best_estimator_ = best
        self.best_params_ = {"kernel": best.kernel_}
        self.results_ = {
            "criterion": [by],
            "value": [_value(best, by)],
            "n_evaluations": [found.n_evaluations],
            "converged": [found.converged],
        }

    def _descend_on_first_step(self, X: Any, y: Any, sample_weight: Any, known: dict[str, Any]) -> None:
        ridge, *data = first_ridge(self.estimator, X, y, sample_weight, known)
        criterion = "auto" if self.criterion == "auto" else self._criterion
        inner = LooSearch(
            ridge, ard=self.ard, criterion=criterion, max_time=self.max_time, verbose=self.verbose
        ).fit(*data)
        kernel = inner.best_estimator_.kernel_
        best = _fitted(self.estimator, {"kernel": kernel}, X, y, sample_weight, known)
        self.best_estimator_, self.best_params_ = best, {"kernel": kernel}
        self.results_ = inner.results_ | {"value": [held_out_deviance(best)]}

    def _learn(
        self, kernel: Kernel, by: str, first: Any, X: np.ndarray, Y: np.ndarray, weight: np.ndarray
    ) -> Learned:
        """Descend from the kernel and the alpha of the first fit, each output in units of its spread."""
        targets = (Y - first._shift) / first._unit
        share = weight / weight.sum()
        spread = np.sqrt(share @ (targets - share @ targets) ** 2)
        alpha = float(np.exp(np.mean(np.log(first._alpha))))
        perfect = self.ard and first._criteria["loo"] < _PERFECT
        if perfect or not np.any(spread > 0):  # copies of rows tell all, or targets are constant
            return Learned(kernel, alpha, 0, True)
        targets = targets[:, spread > 0] / spread[spread > 0]
        with limited_threads(X):
            return learn_parameters(
                kernel,
                alpha,
                Data(X, targets, weight, bool(self.estimator.fit_intercept)),
                criterion=by,
                learn_alpha=isinstance(self.estimator.alpha, str),
                tied=isinstance(self.estimator.kernel, str) and not self.ard,
                ard=self.ard,
                max_time=self.max_time,
                verbose=self.verbose,
            )

    def _polish(self, found: Learned, by: str, X: Any, y: Any, sample_weight: Any, *, thorough: bool) -> Any:
        """Fit with the learned kernel, alpha chosen anew: near the learned one if that has the same aim."""
        params: dict[str, Any] = {"kernel": found.kernel}
        near = self.estimator.alpha == by
        given = not isinstance(self.estimator.alpha, str) or self.estimator.alphas is not None
        many = found.n_rows > MOST_ROWS  # whose alpha may be far from that of a sample
        if given or thorough > near or many:
            return _fitted(self.estimator, params, X, y, sample_weight)
        reach = 8 if thorough else 1 if near else 3
        factors = 10.0 ** (np.arange(-reach, reach + 1) / 4.0)
        best = _fitted(self.estimator, params | {"alphas": found.alpha * factors}, X, y, sample_weight)
        chosen = float(best._alpha[0])
        if not thorough and np.isclose(chosen / found.alpha, factors[[0, -1]]).any():  # look further, once
            best = _fitted(self.estimator, params | {"alphas": chosen * factors}, X, y, sample_weight)
        return best

    # ------------------------------------------------------------ delegation
    predict = _of_best(KernelRidge.predict)
    predict_proba = _of_best(KernelRidgeClassifier.predict_proba)
    decision_function = _of_best(KernelRidgeClassifier.decision_function)
    transform = _of_best(KernelFisherDiscriminant.transform)
    predict_interval = _of_best(KernelRidge.predict_interval)
    marginal_effects = _of_best(KernelRidge.marginal_effects)
    influence = _of_best(KernelRidge.influence)
    linear_view = _of_best(KernelRidge.linear_view)
    part_contributions = _of_best(KernelRidge.part_contributions)

    @available_if(_has("transform"))
    def fit_transform(self, X: Any, y: Any, sample_weight: Any = None) -> np.ndarray:
        """Search, then return the variates of ``X``."""
        return self.fit(X, y, sample_weight).transform(X)

    @property
    def motifs_(self) -> Motifs:
        """Parts that matter most in the best estimator."""
        check_is_fitted(self)
        return self.best_estimator_.motifs_

    @tells_unseen
    @takes_roles
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score of the best estimator on new rows: R² or accuracy."""
        check_is_fitted(self)
        return float(self.best_estimator_.score(X, y, sample_weight=sample_weight))

    @property
    def loo_(self) -> Any:
        """Leave-one-out results of the best estimator."""
        check_is_fitted(self)
        return self.best_estimator_.loo_

    def summary(self) -> Summary:
        """What was found, on half a screen; print it."""
        check_is_fitted(self)
        inner = self.best_estimator_.summary()
        how = "descent" if self.param_grid is None else f"grid of {len(self.results_['params'])}"
        return Summary(f"LooSearch({inner.title})", [("search", how), *inner.facts])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.target_tags = inner.target_tags
        tags.input_tags = inner.input_tags
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.transformer_tags = inner.transformer_tags
        return tags


def _warn_of_time(when: str) -> None:
    warn_caller(f"The search was out of time {when}; the best so far is used.", SearchWarning)


def _fitted(
    estimator: Any,
    params: dict[str, Any],
    X: Any,
    y: Any,
    sample_weight: Any,
    known: Mapping[str, Any] = MappingProxyType({}),
) -> Any:
    # kernels in a grid stay as they are
    own = {key: clone(value, safe=False) for key, value in params.items()}
    return clone(estimator).set_params(**own).fit(X, y, sample_weight=sample_weight, **known)


def _value(model: Any, criterion: str) -> float:
    """Criterion of a fitted model, smaller is better."""
    if "ml" not in model._criteria:  # of many rows only errors are known
        return model._criteria["loo" if criterion in ("ml", "mixed") else criterion]
    if criterion != "mixed":
        return model._criteria[criterion]
    error = max(model._criteria["loo"], np.finfo(float).tiny)
    return model._criteria["ml"] + 0.5 * float(np.log(error))


def _fit_one(
    estimator: Any,
    params: dict[str, Any],
    X: Any,
    y: Any,
    sample_weight: Any,
    known: Mapping[str, Any],
    criterion: str,
) -> tuple[dict[str, Any], Any]:
    """One combination: its figures, and the fitted model."""
    model = _fitted(estimator, params, X, y, sample_weight, known)
    if isinstance(model, KernelGLMBase):
        return {"value": held_out_deviance(model), "alpha": model.alpha_}, model
    row = {"value": _value(model, criterion), "loo_mse": model.loo_.mse, "alpha": model.alpha_}
    if model.loo_.error_rate is not None:
        row["loo_error_rate"] = model.loo_.error_rate
    return row, model
