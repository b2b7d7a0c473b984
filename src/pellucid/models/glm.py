"""Kernel models for any of the losses: generalised regression and classification."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils import Tags, assert_all_finite
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from pellucid._validation import check_alphas, check_offset, check_rows, check_square, check_targets, check_weight
from pellucid.effects import Summary
from pellucid.kernels import ALIASES, Kernel, Precomputed, as_kernel
from pellucid.linalg import row_blocks
from pellucid.losses import Loss, Multinomial, as_loss
from pellucid.models.autoscale import choose_length_scale
from pellucid.models.engine import Settings
from pellucid.models.glm_engine import (
    AlphaChoice,
    KernelFeatures,
    choose_by_folds,
    choose_by_loo,
    default_alphas,
    kernel_features,
    mean_choice,
    solve,
)
from pellucid.solvers import GLMProblem


class KernelGLMBase(BaseEstimator):
    """Shared machinery: data in, features of the kernel, alpha, solution, predictions."""

    kernel: Any
    loss: Any
    alpha: Any
    alphas: Any
    cv: Any
    fit_intercept: bool
    n_components: int | None
    max_iter: int

    # ------------------------------------------------------------ entry
    def _enter(self, X: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
        rows = check_rows(self, X, self.kernel, reset=True)
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            check_square(rows)
        return rows, check_weight(sample_weight, len(rows))

    def _resolve_kernel(self, rows: np.ndarray, problems: Sequence[GLMProblem]) -> Kernel:
        """The kernel with its parameters; a named one takes length-scales by leave-one-out of the first Newton step."""
        if isinstance(self.kernel, str) and self.kernel in ALIASES:
            target, weight = _first_step(problems)
            kernel, _ = choose_length_scale(ALIASES[self.kernel], rows, target, weight, Settings("loo"), None)
            return kernel
        names = getattr(self, "feature_names_in_", None)
        return as_kernel(self.kernel, rows).bind(None if names is None else list(names))

    def _features(self, rows: np.ndarray) -> KernelFeatures:
        return kernel_features(self.kernel_, rows, self.n_components)

    # ---------------------------------------------------------- fitting
    def _fit_problems(
        self, rows: np.ndarray, problems: Sequence[GLMProblem], y: np.ndarray, kept: np.ndarray
    ) -> None:
        """Fit one problem, or one per class, on rows of positive weight; all share one alpha."""
        self.kernel_ = self._resolve_kernel(rows, problems)
        features = self._features(rows)
        alpha = self._choose_alpha(features.Z, problems, y, kept)
        fits = [solve(features.Z, p, alpha, **self._options(p)) for p in problems]
        if not all(fit.converged for fit in fits):
            worst = max(fit.optimality for fit in fits)
            warnings.warn(
                f"The fit did not converge: optimality is violated by {worst:.2g}. Raise alpha or max_iter, or "
                f"check for features of very different scale.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self._kernel_features, self._kernel_fits = features, fits
        self.alpha_ = alpha
        self.n_iter_ = max(fit.n_iter for fit in fits)
        self.optimality_ = max(fit.optimality for fit in fits)
        self.kernel_accuracy_ = features.accuracy
        self._centres = features.landmarks
        self.X_fit_ = rows if features.landmarks is None else rows[features.landmarks]
        delta = np.column_stack([fit.delta for fit in fits])
        dual = np.column_stack([fit.dual_coef for fit in fits])
        self._dual = dual if features.transfer is None else features.transfer @ delta
        self._intercept = np.concatenate([np.atleast_1d(fit.intercept) for fit in fits])
        self._kept = kept
        self._scores_fit = features.Z @ delta + self._intercept

    def _options(self, problem: GLMProblem) -> dict[str, Any]:
        return {} if isinstance(problem.loss, Multinomial) else {"max_iter": self.max_iter}

    def _choose_alpha(
        self, Z: np.ndarray, problems: Sequence[GLMProblem], y: np.ndarray, kept: np.ndarray
    ) -> float:
        self.__dict__.pop("alpha_path_", None)
        if not isinstance(self.alpha, str):
            alpha = float(self.alpha)
            if not (np.isfinite(alpha) and alpha > 0):
                raise ValueError(f"alpha must be positive, got {self.alpha!r}.")
            return alpha
        if self.alpha not in ("cv", "loo"):
            raise ValueError(f"alpha must be a positive number, 'cv' or 'loo', got {self.alpha!r}.")
        alphas = None if self.alphas is None else check_alphas(self.alphas)
        if alphas is None and len(problems) > 1:  # classes share one alpha, so they try the same ones
            alphas = default_alphas(Z, problems[0])
        if self.alpha == "loo":
            loss = problems[0].loss
            if isinstance(loss, Multinomial) or not loss.smooth:  # type: ignore[attr-defined]
                raise ValueError(
                    f"Approximate leave-one-out is not available for the {loss.name} loss; use alpha='cv'."  # type: ignore[attr-defined]
                )
            choices = [choose_by_loo(Z, p, alphas) for p in problems]
        else:
            folds = self._folds(y, kept)
            choices = [choose_by_folds(Z, p, alphas, folds) for p in problems]
        self.alpha_path_ = choices[0] if len(choices) == 1 else mean_choice(choices)
        return self.alpha_path_.best

    def _folds(self, y: np.ndarray, kept: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Folds over the rows of positive weight, in their own numbering."""
        splitter = check_cv(self.cv, y, classifier=isinstance(self, ClassifierMixin))
        if isinstance(self.cv, int) or self.cv is None:  # rows often come sorted
            splitter.shuffle, splitter.random_state = True, 0
        position = np.cumsum(kept) - 1
        folds = []
        for train, test in splitter.split(np.zeros((len(y), 1)), y):
            folds.append((position[train[kept[train]]], position[test[kept[test]]]))
        return folds

    # -------------------------------------------------------- predicting
    def _check_new_rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return check_rows(self, X, self.kernel, reset=False)

    def _scores(self, rows: np.ndarray) -> np.ndarray:
        """Kernel scores of shape (m, q), without offset."""
        out = np.empty((len(rows), len(self._intercept)))
        for block in row_blocks(len(rows), 8.0 * 3 * len(self.X_fit_)):
            part = rows[block]
            if isinstance(self.kernel_, Precomputed):
                part = part[:, self._kept] if part.shape[1] == len(self._kept) else part
                K = self.kernel_._gram(part if self._centres is None else part[:, self._centres], part)
            else:
                K = self.kernel_._gram(part, self.X_fit_)
            out[block] = K @ self._dual
        return out + self._intercept

    def _facts(self) -> list[tuple[str, object]]:
        how = f"chosen by {self.alpha}" if isinstance(self.alpha, str) else "given"
        facts: list[tuple[str, object]] = [
            ("rows", len(self._kept)),
            ("loss", self.loss_.name),
            ("kernel", str(self.kernel_)),
            ("alpha", f"{self.alpha_:.4g} ({how})"),
        ]
        if self._centres is not None:
            facts.append(("landmarks", f"{len(self._centres)} (keep {100 * self.kernel_accuracy_:.4g} % of the kernel)"))
        if isinstance(self.alpha, str):
            facts.append(("held-out mean deviance", float(np.min(self.alpha_path_.deviance))))
        facts.append(("Newton steps", self.n_iter_))
        return facts

    def summary(self) -> Summary:
        """What was fitted, on half a screen; print it."""
        check_is_fitted(self)
        return Summary(type(self).__name__, self._facts())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse = False
        return tags


def is_logistic(model: Any) -> bool:
    """Whether a classifier has probabilities."""
    return as_loss(model.loss).name == "logistic"


def _first_step(problems: Sequence[GLMProblem]) -> tuple[np.ndarray, np.ndarray]:
    """Working targets and weights of the first Newton step from the null model, one column per problem."""
    targets = []
    weight = problems[0].weight
    for p in problems:
        if isinstance(p.loss, Multinomial):
            targets += [np.where(p.y == c, 1.0, -1.0) for c in range(p.offset.shape[1])]
        elif not p.loss.smooth or p.loss.name == "squared_hinge":  # type: ignore[attr-defined]
            targets.append(2.0 * p.y - 1.0)
        else:
            b = p.loss.best_constant(p.y, p.weight, p.offset)
            eta = p.offset + b
            w = np.maximum(p.loss.curvature(p.y, eta), 1e-10)
            targets.append(-p.loss.gradient(p.y, eta) / w)
            weight = p.weight * w / (w @ p.weight) * p.weight.sum()
    return np.column_stack(targets), weight


class KernelGLMRegressor(RegressorMixin, KernelGLMBase):
    r"""Kernel regression for counts, positive amounts and plain numbers: Poisson, gamma or squared loss.

    Minimises :math:`\sum_i s_i\, \ell(y_i, \eta_i) + \tfrac{\alpha}{2}\|f\|^2` with :math:`\eta_i = o_i + f(x_i) + b`, an unpenalised intercept
    ``b`` and offsets ``o``; for Poisson and gamma the prediction is :math:`e^{\eta}`.

    Parameters
    ----------
    kernel : str, Kernel, callable or scikit-learn Gaussian-process kernel, default="rbf"
        As in :class:`KernelRidge`. The length-scale of a named kernel is chosen by leave-one-out of the first Newton step.
    loss : {"poisson", "gamma", "squared"}, default="poisson"
        What a good fit means.
    alpha : float or {"cv", "loo"}, default="cv"
        Ridge strength; larger is smoother. ``"cv"`` takes the value of least held-out deviance over folds, ``"loo"`` that of least approximate
        leave-one-out deviance, which needs one fit per value instead of one per fold.
    alphas : array-like, optional
        The values to choose among; by default two per decade over nine decades.
    cv : int, splitter or iterable of (train, test), default=5
        Folds; pass the same to several models to compare them on equal terms.
    fit_intercept : bool, default=True
        Whether to fit an unpenalised intercept.
    n_components : int, optional
        Number of landmarks of a low-rank approximation of the kernel. By default the kernel is exact up to 4000 rows; beyond, landmarks
        are added until all but a millionth of the kernel's trace is kept, 1000 at most.
    max_iter : int, default=100
        Most Newton steps.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel that was used.
    alpha_ : float
        The ridge strength that was used.
    alpha_path_ : AlphaChoice
        The values tried and their held-out mean deviance; only when alpha was chosen.
    dual_coef_ : ndarray of shape (n_centres,)
        Coefficients of the kernel at the rows ``X_fit_``: all training rows, or the landmarks.
    intercept_ : float
        The intercept.
    kernel_accuracy_ : float
        Share of the kernel's trace that the landmarks keep; 1 when exact.
    n_iter_, optimality_ : int, float
        Newton steps, and the largest relative violation of the optimality conditions.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import KernelGLMRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(200, 1))
    >>> y = rng.poisson(np.exp(np.sin(2 * X[:, 0])))
    >>> model = KernelGLMRegressor(loss="poisson").fit(X, y)
    >>> model.predict([[np.pi / 4], [-np.pi / 4]]).round(1)
    array([2.9, 0.4])
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        loss: Any = "poisson",
        alpha: Any = "cv",
        alphas: Any = None,
        cv: Any = 5,
        fit_intercept: bool = True,
        n_components: int | None = None,
        max_iter: int = 100,
    ) -> None:
        self.kernel = kernel
        self.loss = loss
        self.alpha = alpha
        self.alphas = alphas
        self.cv = cv
        self.fit_intercept = fit_intercept
        self.n_components = n_components
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Training rows.
        y : array-like of shape (n,)
            Targets: counts for Poisson, positive numbers for gamma.
        sample_weight : array-like of shape (n,), optional
            How often each row counts.
        offset : array-like of shape (n,), optional
            Known part of the linear predictor.
        exposure : array-like of shape (n,), optional
            Positive amount of time or size behind each row; its logarithm is added to the offset. Poisson and gamma only.

        Returns
        -------
        self : KernelGLMRegressor
        """
        rows, problem, kept = self._problem(X, y, sample_weight, offset, exposure)
        self._fit_problems(_keep(self, rows, kept), [problem], np.zeros(len(rows)), kept)
        self.dual_coef_ = self._dual[:, 0]
        self.intercept_ = float(self._intercept[0])
        return self

    def _problem(
        self, X: Any, y: Any, sample_weight: Any, offset: Any, exposure: Any
    ) -> tuple[np.ndarray, GLMProblem, np.ndarray]:
        self.loss_: Loss = as_loss(self.loss)
        if self.loss_.kind == "classification":
            raise ValueError(f"The {self.loss_.name} loss is for classes: use KernelClassifier.")
        rows, weight = self._enter(X, sample_weight)
        target = check_targets(y, rows)
        if target.ndim != 1:
            target = column_or_1d(target, warn=True)
        kept = weight > 0
        target = self.loss_.check_targets(target)
        known = check_offset(offset, exposure, len(rows), log_link=self.loss_.name in ("poisson", "gamma"))
        problem = GLMProblem(target, weight, known, self.loss_, bool(self.fit_intercept)).rows(kept)
        return rows, problem, kept

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
        rows = self._check_new_rows(X)
        known = check_offset(offset, exposure, len(rows), log_link=self.loss_.name in ("poisson", "gamma"))
        return self.loss_.mean(self._scores(rows)[:, 0] + known)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.loss in ("poisson", "gamma")
        return tags


class KernelClassifier(ClassifierMixin, KernelGLMBase):
    r"""Kernel logistic regression and kernel support vector machines.

    Minimises :math:`\sum_i s_i\, \ell(y_i, \eta_i) + \tfrac{\alpha}{2}\|f\|^2` with :math:`\eta = f(x) + b` and an unpenalised intercept. In terms of
    scikit-learn's ``SVC`` and ``LogisticRegression``, alpha is ``1 / C``.

    Parameters
    ----------
    kernel : str, Kernel, callable or scikit-learn Gaussian-process kernel, default="rbf"
        As in :class:`KernelGLMRegressor`.
    loss : {"logistic", "hinge", "squared_hinge"}, default="logistic"
        Logistic gives probabilities, multinomial for more than two classes. The hinge losses are support vector machines, one against the rest.
    alpha : float or {"cv", "loo"}, default="cv"
        Ridge strength; larger is smoother. ``"loo"`` is for two classes and smooth losses.
    alphas, cv, fit_intercept, n_components, max_iter
        As in :class:`KernelGLMRegressor`; folds are stratified.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    dual_coef_ : ndarray of shape (n_centres,) or (n_centres, n_classes)
        Coefficients of the kernel at the rows ``X_fit_``.
    intercept_ : float or ndarray of shape (n_classes,)
        The intercept.
    kernel_, alpha_, alpha_path_, kernel_accuracy_, n_iter_, optimality_
        As in :class:`KernelGLMRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from pellucid import KernelClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = KernelClassifier(alpha="loo").fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.96
    True
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        loss: Any = "logistic",
        alpha: Any = "cv",
        alphas: Any = None,
        cv: Any = 5,
        fit_intercept: bool = True,
        n_components: int | None = None,
        max_iter: int = 100,
    ) -> None:
        self.kernel = kernel
        self.loss = loss
        self.alpha = alpha
        self.alphas = alphas
        self.cv = cv
        self.fit_intercept = fit_intercept
        self.n_components = n_components
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Training rows.
        y : array-like of shape (n,)
            Classes.
        sample_weight : array-like of shape (n,), optional
            How often each row counts.
        offset : array-like of shape (n,), optional
            Known part of the score of the second of two classes; smooth losses only.

        Returns
        -------
        self : KernelClassifier
        """
        rows, labels, problems, kept = self._problem(X, y, sample_weight, offset)
        self._fit_problems(_keep(self, rows, kept), problems, labels, kept)
        single = len(self.classes_) == 2
        self.dual_coef_ = self._dual[:, 0] if single else self._dual
        self.intercept_ = float(self._intercept[0]) if single else self._intercept
        return self

    def _problem(
        self, X: Any, y: Any, sample_weight: Any, offset: Any
    ) -> tuple[np.ndarray, np.ndarray, list[GLMProblem], np.ndarray]:
        loss = as_loss(self.loss)
        if loss.kind != "classification":
            raise ValueError(f"The {loss.name} loss is not for classes: use KernelGLMRegressor.")
        rows, weight = self._enter(X, sample_weight)
        if y is None:
            raise ValueError("This classifier requires y to be passed, but the target y is None.")
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        check_consistent_length(rows, y)
        kept = weight > 0
        self.classes_ = np.unique(y[kept])
        if len(self.classes_) < 2:
            raise ValueError(
                f"Found only one class ({self.classes_[0]!r}) with positive weight; a classifier needs at least 2 classes."
            )
        labels = np.searchsorted(self.classes_, y)
        n_classes = len(self.classes_)
        if offset is not None and (n_classes > 2 or not loss.smooth):
            raise ValueError("offset is for two classes and a smooth loss (logistic or squared_hinge).")
        known = check_offset(offset, None, len(rows), log_link=False)
        intercept = bool(self.fit_intercept)
        if not intercept and not loss.smooth:
            raise ValueError("The hinge loss is always fitted with an intercept: fit_intercept=False is not available.")
        if n_classes == 2:
            self.loss_ = loss
            problems = [GLMProblem((labels == 1).astype(float), weight, known, loss, intercept)]
        elif loss.name == "logistic":
            self.loss_ = Multinomial()
            zero = np.zeros((len(rows), n_classes))
            problems = [GLMProblem(labels, weight, zero, self.loss_, intercept)]
        else:
            self.loss_ = loss
            problems = [
                GLMProblem((labels == c).astype(float), weight, known, loss, intercept) for c in range(n_classes)
            ]
        return rows, labels, [p.rows(kept) for p in problems], kept

    def decision_function(self, X: Any, *, offset: Any = None) -> np.ndarray:
        """Scores: one per class, or for two classes one that is positive for the second.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        offset : array-like of shape (m,), optional

        Returns
        -------
        scores : ndarray of shape (m,) or (m, n_classes)
        """
        rows = self._check_new_rows(X)
        scores = self._scores(rows)
        if scores.shape[1] > 1:
            return scores
        return scores[:, 0] + check_offset(offset, None, len(rows), log_link=False)

    def predict(self, X: Any, *, offset: Any = None) -> np.ndarray:
        """Predicted classes.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        offset : array-like of shape (m,), optional

        Returns
        -------
        classes : ndarray of shape (m,)
        """
        return self._classes_of(self.decision_function(X, offset=offset))

    def _classes_of(self, scores: np.ndarray) -> np.ndarray:
        winner = (scores > 0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)
        return self.classes_[winner]

    @available_if(is_logistic)
    def predict_proba(self, X: Any, *, offset: Any = None) -> np.ndarray:
        """Class probabilities; logistic loss only.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        offset : array-like of shape (m,), optional

        Returns
        -------
        probabilities : ndarray of shape (m, n_classes)
        """
        return self._probabilities_of(self.decision_function(X, offset=offset))

    def _probabilities_of(self, scores: np.ndarray) -> np.ndarray:
        mean = self.loss_.mean(scores)
        return np.column_stack([1.0 - mean, mean]) if mean.ndim == 1 else mean


def _keep(model: KernelGLMBase, rows: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Rows of positive weight."""
    if kept.all():
        return rows
    return rows[np.ix_(kept, kept)] if isinstance(model.kernel, str) and model.kernel == "precomputed" else rows[kept]
