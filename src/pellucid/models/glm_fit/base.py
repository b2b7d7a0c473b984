"""Kernel models of any loss: from problems to a fitted model, whatever the problems are."""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from pellucid._callers import warn_caller
from pellucid._progress import Watch
from pellucid.data.folds import check_folds
from pellucid.data.parameters import check_alphas, check_count
from pellucid.effects import SolverReport, Summary
from pellucid.exceptions import SearchWarning
from pellucid.kernels import ALIASES, Kernel
from pellucid.linalg import limited_threads
from pellucid.losses import Loss
from pellucid.models.common.kernel_machine import KernelMachine
from pellucid.models.glm_fit import tall
from pellucid.models.glm_fit.centre import at_level, robust_centre
from pellucid.models.glm_fit.first_step import first_step
from pellucid.models.glm_fit.nuisance import settle, started
from pellucid.models.kernel_fit.kernel_features import (
    EXACT_ROWS,
    KernelFeatures,
    kernel_features,
    landmark_count,
)
from pellucid.models.kernel_fit.length_scale import choose_length_scale
from pellucid.models.kernel_fit.ridge_types import Settings
from pellucid.solvers import GLMProblem
from pellucid.solvers.alpha_search import (
    MOST,
    Folds,
    choose_by_folds,
    choose_by_loo,
    coefficient_columns,
    solve,
)

_SURE = 14.0  # score beyond which a probability is within 1e-6 of 0 or 1
_MANY = 1e6  # mean weight beyond which an alpha that is too small is one for that many observations

Stated = tuple[np.ndarray, np.ndarray, list[GLMProblem]]
"""Rows, targets by which folds may be drawn, and problems."""


class KernelGLMBase(KernelMachine):
    """Shared machinery: features of the kernel, alpha, solution.

    Parameters
    ----------
    alpha : float or {"cv", "loo"}, default="cv"
        Ridge strength; larger is smoother. ``"cv"`` takes the value of least held-out deviance over folds,
        ``"loo"`` that of least approximate leave-one-out deviance, which needs one fit per value instead of
        one per fold and is for smooth losses with one score per row.
    alphas : array-like, optional
        The values to choose among; by default two per decade over nine decades.
    cv : int, splitter or iterable of (train, test), default=5
        Folds, stratified where ``y`` holds classes; of fewer than five rows as many folds as rows. Pass the
        same to several models to compare them on equal terms.
    n_components : int, optional
        Number of landmarks of a low-rank approximation of the kernel. By default the kernel is exact up to
        4000 rows; beyond, landmarks are added until all but a millionth of the kernel's trace is kept, at
        most four times the root of the number of rows, between 1000 and 2500.
    max_iter : int, default=100
        Most Newton steps.
    solver : {"auto", "landmarks", "iterative"}, default="auto"
        ``"landmarks"`` restricts the function to the span of some rows, ``"iterative"`` goes on from there
        to the exact answer, with products of a kernel matrix that is formed block by block and never stored;
        for smooth losses with one score per row, and ``n_components`` is the rank of its preconditioner then.
        ``"auto"`` is exact up to 4000 rows and takes landmarks beyond.
    max_time : float, optional
        Seconds after which no further alpha is tried: the best so far is taken, with a
        :class:`~pellucid.exceptions.SearchWarning`. What has begun is finished, so a fit takes longer.
    verbose : int, default=0
        With 1, progress and the time left are told in log files and notebooks as well as on terminals.

    Attributes
    ----------
    alpha_ : float
        The ridge strength that was used.
    alpha_path_ : AlphaChoice
        The values tried and their held-out mean deviance; only when alpha was chosen.
    centre_alpha_ : float
        Ridge strength of the centre from which quantiles depart; of these only.
    dual_coef_ : ndarray of shape (n_centres,) or (n_centres, n_classes)
        Coefficients of the kernel at the rows ``X_fit_``.
    intercept_ : float or ndarray of shape (n_classes,)
        The intercept.
    X_fit_ : ndarray
        All training rows of positive weight, or the landmarks.
    kernel_accuracy_ : float
        Share of the kernel's trace that the landmarks keep; 1 when exact.
    loss_, losses_ : Loss, list of Loss
        The loss with what it left open, such as a dispersion, filled in; and one per output.
    solver_report_ : SolverReport
        For many rows: landmarks or rank, expected and measured cost, and the gap to the exact answer.
    n_iter_, optimality_ : int, float
        Newton steps, and the largest relative violation of the optimality conditions.
    """

    loss: Any
    alpha: Any
    alphas: Any
    cv: Any
    n_components: int | None
    max_iter: int
    max_time: float | None
    verbose: int
    solver: str = "auto"  # a parameter of those without coefficients
    solver_report_: SolverReport
    _store_features = False  # whether all features are needed at once
    _kinds: tuple[str, ...]  # of targets that the model takes
    loss_: Loss
    losses_: list[Loss]
    alpha_: float
    _departs: bool = False  # whether curves are those of levels, which depart from a common centre
    _unit: float = 1.0  # of the targets, a power of two by which they are divided; one where they have none

    # ------------------------------------------------------------ entry
    def _enter(self, X: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
        if self.n_components is not None:
            check_count(self.n_components, "n_components", 1)
        check_count(self.max_iter, "max_iter", 1)
        if self.solver not in ("auto", "landmarks", "iterative"):
            raise ValueError(f"solver must be 'auto', 'landmarks' or 'iterative', got {self.solver!r}.")
        self.__dict__.pop("solver_report_", None)
        return super()._enter(X, sample_weight)

    def _training_rows(self, X: np.ndarray, kept: np.ndarray) -> np.ndarray:
        if (
            kept.all() and not self._precomputed
        ):  # a copy in the order of the original: rounding depends on it
            return X.copy(order="K")
        return super()._training_rows(X, kept)

    def _resolve_kernel(self, rows: np.ndarray, problems: Sequence[GLMProblem]) -> Kernel:
        """The kernel with its parameters.

        A named one takes length-scales by leave-one-out of the first Newton step.
        """
        if not (isinstance(self.kernel, str) and self.kernel in ALIASES):
            return self._given_kernel(rows)
        target, weight = first_step(problems)
        sample = np.arange(len(rows))
        if len(rows) > EXACT_ROWS:  # always the same rows for the same data
            sample = np.sort(np.random.default_rng(0).choice(sample, EXACT_ROWS // 2, replace=False))
        part = rows[sample] if len(sample) < len(rows) else rows
        alias, settings = ALIASES[self.kernel], Settings("loo")
        return choose_length_scale(alias, part, target[sample], weight[sample], settings, None)[0]

    # ---------------------------------------------------------- stating
    def _problems_of(self, X: Any, y: Any, sample_weight: Any, offset: Any = None) -> Stated:
        """Checked rows, targets by which folds may be drawn, and one problem, or one per class or level."""
        raise NotImplementedError

    def working_ridge(
        self, X: Any, y: Any, sample_weight: Any, **known: Any
    ) -> tuple[Kernel | str, np.ndarray, np.ndarray, np.ndarray]:
        """The kernel, rows, targets and weights of the ridge problem by which to choose kernel parameters."""
        rows, _, problems = self._problems_of(X, y, sample_weight, **known)
        kept = problems[0].weight > 0
        rows = self._training_rows(rows, kept)
        if self.loss_.degree:  # all levels have the same targets
            problems = problems[:1]
        named = isinstance(self.kernel, str) and self.kernel in ALIASES
        kernel = self.kernel if named else self._given_kernel(rows)
        return kernel, rows, *first_step(started([p.rows(kept) for p in problems]))

    # ---------------------------------------------------------- fitting
    def _fit_problems(self, X: np.ndarray, y: np.ndarray, problems: Sequence[GLMProblem]) -> None:
        """Fit one problem, or one per class, on rows of positive weight; all share one alpha.

        ``y`` are targets by which folds may be drawn.
        """
        self._kept = kept = problems[0].weight > 0
        rows = self._training_rows(X, kept)
        watch = Watch("choosing alpha", self._most_steps(problems), self.max_time, self.verbose)
        with limited_threads(rows):
            _, fitted, _ = self._fit_rows(rows, [p.rows(kept) for p in problems], self._folds(y, kept), watch)
        watch.close()
        if watch.cut:
            warn_caller(
                "The time was up before all values of alpha were tried; the best so far is used.",
                SearchWarning,
            )
        self._publish([p.loss for p in fitted])

    def _most_steps(self, problems: Sequence[GLMProblem]) -> int:
        """How many values of alpha a fit tries, at most."""
        turns = 2 if any(p.loss.is_open for p in problems) else 1
        own = 0 if not isinstance(self.alpha, str) else MOST if self.alphas is None else np.size(self.alphas)
        return turns * own + (2 * MOST if self._departs else 0)

    def _publish(self, losses: list[Loss]) -> None:
        """Losses and ridge strengths in the unit of the targets."""
        unit = self._alpha_unit
        self.losses_ = [loss.in_unit(1.0 / self._unit) for loss in losses]
        self.loss_, self.alpha_ = self.losses_[0], self.alpha_ * unit

    def _fit_rows(
        self, rows: np.ndarray, problems: Sequence[GLMProblem], folds: Folds, watch: Watch
    ) -> tuple[KernelFeatures, list[GLMProblem], list[Any]]:
        """Fit rows that all count, and store.

        Returns the features of the kernel, the problems with all that losses left open, and their fits.
        """
        self.kernel_ = self._resolve_kernel(rows, started(problems))
        begin = perf_counter()
        features = self._features_of(rows, problems)
        cost = (0.0, 0.0) if features.landmarks is None else tall.expected_cost(features, len(problems))
        Z = features.Z

        def choose(problems: Sequence[GLMProblem]) -> float:
            return self._choose_alpha(Z, problems, folds, watch)

        def choose_by_loo_alone(problems: Sequence[GLMProblem]) -> float:
            sample, parts, _ = tall.on_sample(Z, problems)
            return choose_by_loo(sample, parts, None, watch.step).best

        def fit_at(problems: Sequence[GLMProblem], alpha: float) -> list[Any]:
            return self._solve(Z, problems, alpha)

        self.__dict__.pop("centre_alpha_", None)
        if self._departs:
            centre = robust_centre(Z, problems[0], choose_by_loo_alone, fit_at)
            problems = [centre.beneath(p) for p in problems]
            self.centre_alpha_ = centre.alpha
        self.alpha_, fitted, fits = settle(Z, problems, choose, fit_at)
        if self._departs:
            moved = [at_level(Z, p, fit) for p, fit in zip(fitted, fits, strict=True)]
            fits = [centre.plus(fit) for fit in (moved if self.fit_intercept else fits)]
        fitted = [p.beside(getattr(fit, "loss", p.loss)) for p, fit in zip(fitted, fits, strict=True)]
        self.n_iter_ = max(fit.n_iter for fit in fits)
        self.optimality_ = max(fit.optimality for fit in fits)
        self.kernel_accuracy_ = features.accuracy
        self._centres = features.landmarks
        self.X_fit_ = rows if features.landmarks is None else rows[features.landmarks]
        self.weight_fit_ = problems[0].weight
        delta, level = coefficient_columns(fits)
        self._dual, self._intercept = features.dual(delta) * self._unit, level * self._unit
        self._scores_fit = (features.Z @ delta + level) * self._unit
        if features.landmarks is not None:
            sampled = tall.Sampled(self.kernel_, rows, fitted)
            self._report(sampled, features, fits, cost, perf_counter() - begin)
        self.dual_coef_, self.intercept_ = self._shaped(self._dual), self._shaped(self._intercept)
        return features, fitted, fits

    def _features_of(self, rows: np.ndarray, problems: Sequence[GLMProblem]) -> KernelFeatures:
        """Features of the kernel, exact or of landmarks."""
        loss, wish = problems[0].loss, self.n_components
        by_blocks = loss.smooth and not loss.joint  # what can be fitted without all features at once
        if self.solver == "iterative":
            if not by_blocks or loss.multiclass or self._precomputed or not self.kernel_.mercer:
                raise ValueError(
                    f"solver='iterative' is for smooth losses with one score per row and positive "
                    f"semi-definite kernels that are not precomputed; the loss here is {loss.name}. Use "
                    f"solver='auto'."
                )
            wish = wish or min(len(rows), int(np.clip(len(rows) // 20, 200, 1000)))
        elif self.solver == "landmarks":
            wish = landmark_count(len(rows), wish)
        stored = self._store_features or not by_blocks
        return kernel_features(self.kernel_, rows, wish, stored=stored)

    def _report(
        self,
        sampled: tall.Sampled,
        features: KernelFeatures,
        fits: list[Any],
        cost: tuple[float, float],
        seconds: float,
    ) -> None:
        """Go on to the exact answer where that is asked for, and say what was done."""
        n, m = features.Z.shape
        asked = "asked for" if self.solver != "auto" or self.n_components else f"{n} rows"
        precision = "float32" if getattr(features.Z, "coarse", None) is not None else "float64"
        if self.solver == "iterative":
            begin = perf_counter()
            exact = [
                tall.fit_exact(self.kernel_, sampled.X, p, self.alpha_, features, fit, 1e-5)
                for p, fit in zip(sampled.problems, fits, strict=True)
            ]
            self._dual = np.column_stack([fit.dual for fit in exact]) * self._unit
            self._intercept = np.array([fit.intercept for fit in exact]) * self._unit
            self._scores_fit = np.column_stack([fit.scores + fit.intercept for fit in exact]) * self._unit
            self._centres, self.X_fit_ = None, sampled.X
            self.kernel_accuracy_, self.n_iter_ = 1.0, max(fit.n_steps for fit in exact)
            gap, steps = max(fit.residual for fit in exact), sum(fit.n_products for fit in exact)
            more = {"n_iter": steps, "residual": gap, "gap": gap}
            seconds += perf_counter() - begin
        else:
            more = {"gap": sampled.gap(features, self.alpha_, self.max_iter)}
        name = "iterative" if self.solver == "iterative" else "landmarks"
        self.solver_report_ = tall.report(name, asked, n, m, precision, cost, seconds=seconds, **more)

    def _solve(self, Z: Any, problems: Sequence[GLMProblem], alpha: float) -> list[Any]:
        """One fit per problem, with a warning if one did not converge."""
        fits = [solve(Z, p, alpha, max_iter=self.max_iter) for p in problems]
        if not all(fit.converged for fit in fits):
            worst = max(fit.optimality for fit in fits)
            warn_caller(
                f"The fit did not converge: optimality is violated by {worst:.2g}. Raise alpha or max_iter, "
                f"or check for features of very different scale.",
                ConvergenceWarning,
            )
        return fits

    def _choose_alpha(self, Z: Any, problems: Sequence[GLMProblem], folds: Folds, watch: Watch) -> float:
        self.__dict__.pop("alpha_path_", None)
        if isinstance(self.alpha, str):
            Z, problems, some = tall.on_sample(Z, problems)
            if some is not None:
                folds = [tuple(np.flatnonzero(np.isin(some, part)) for part in fold) for fold in folds]  # type: ignore[misc]
        if not isinstance(self.alpha, str):
            values = check_alphas(self.alpha, "alpha")
            if values.size != 1:
                raise ValueError(
                    f"alpha is one number, 'cv' or 'loo', got {self.alpha!r}. Values to choose among go into "
                    f"alphas=."
                )
            return float(values[0]) / self._alpha_unit
        if self.alpha not in ("cv", "loo"):
            raise ValueError(f"alpha must be a positive number, 'cv' or 'loo', got {self.alpha!r}.")
        loss = problems[0].loss
        if self.alpha == "loo" and (loss.multiclass or not loss.smooth):
            raise ValueError(
                f"Approximate leave-one-out is not available for the {loss.name} loss; use alpha='cv'."
            )
        alphas = None if self.alphas is None else check_alphas(self.alphas) / self._alpha_unit
        try:
            if self.alpha == "loo":
                choice = choose_by_loo(Z, problems, alphas, watch.step)
            else:
                choice = choose_by_folds(Z, problems, alphas, folds, watch.step)
        except ValueError as error:
            if alphas is not None or problems[0].weight.mean() < _MANY:
                raise
            raise ValueError(
                f"Weights with a mean of {problems[0].weight.mean():.1g} count so many observations that no "
                f"alpha tried leaves the equations regular. Divide sample_weight by its mean, or pass "
                f"weights='precision', which does."
            ) from error
        with np.errstate(over="ignore"):
            self.alpha_path_ = replace(
                choice,
                alphas=choice.alphas * self._alpha_unit,
                deviance=choice.deviance * np.float64(self._unit) ** loss.degree,
            )
        return choice.best

    @property
    def _alpha_unit(self) -> float:
        """What alpha is measured in, beside targets divided by their unit; one for squared errors."""
        return float(self._unit) ** (self.loss_.degree - 2) if self.loss_.degree else 1.0

    def _folds(self, y: np.ndarray, kept: np.ndarray) -> Folds:
        """Folds over the rows of positive weight; none where alpha needs none."""
        if not (isinstance(self.alpha, str) and self.alpha == "cv"):
            return []
        classes, instead = isinstance(self, ClassifierMixin), "alpha as a number"
        folds = check_folds(self.cv, y, kept, classifier=classes, instead=instead)
        if not folds or any(len(train) == 0 for train, _ in folds):
            raise ValueError("cv must give at least one fold, each with training rows of positive weight.")
        return folds

    # -------------------------------------------------------- predicting
    @property
    def _single(self) -> bool:  # type: ignore[override]
        return len(self._intercept) == 1

    def _scores(self, X: Any, how: str = "kernel") -> np.ndarray:
        """Scores of new rows, of shape (m, q), without offset; ``how`` is for models that have two ways."""
        return self._decision(self._check_new_rows(X))

    def _facts(self) -> list[tuple[str, object]]:
        how = f"chosen by {self.alpha}" if isinstance(self.alpha, str) else "given"
        facts: list[tuple[str, object]] = [
            ("rows", len(self._kept)),
            ("loss", self.loss_.name),
            ("kernel", str(self.kernel_)),
            ("alpha", f"{self.alpha_:.4g} ({how})"),
        ]
        if self._centres is not None:
            share = f"keep {100 * self.kernel_accuracy_:.4g} % of the kernel"
            facts.append(("landmarks", f"{len(self._centres)} ({share})"))
        if hasattr(self, "solver_report_"):
            facts.append(("gap to the exact answer", f"{self.solver_report_.gap:.2g} sd of the scores"))
        if isinstance(self.alpha, str):
            facts.append(("held-out mean deviance", float(np.min(self.alpha_path_.deviance))))
        if hasattr(self, "centre_alpha_"):
            facts.append(("centre", f"huber, alpha {self.centre_alpha_:.4g} (chosen by loo)"))
        facts.append(("iterations", self.n_iter_))
        probabilities = self.loss_.linked and self.loss_.kind == "classification"
        if probabilities and np.abs(self._scores_fit).max() > _SURE:
            facts.append(("separation", "some fitted probabilities are within 1e-6 of 0 or 1"))
        return facts

    def summary(self) -> Summary:
        """What was fitted, on half a screen; print it."""
        check_is_fitted(self)
        return Summary(type(self).__name__, self._facts())
