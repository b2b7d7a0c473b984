"""Kernel models for any of the losses: generalised regression and classification."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags, assert_all_finite
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from pellucid.data.targets import check_offset, check_targets
from pellucid.linalg import calm_threads
from pellucid.losses import Multinomial, as_loss
from pellucid.models.common.glm_base import KernelGLMBase
from pellucid.solvers import GLMProblem

_LOG_LINK = ("poisson", "gamma")


def is_logistic(model: Any) -> bool:
    """Whether a classifier has probabilities."""
    return as_loss(model.loss).name in ("logistic", "multinomial")


class KernelGLMRegressor(RegressorMixin, KernelGLMBase):
    r"""Kernel regression for counts, positive amounts and plain numbers: Poisson, gamma or squared loss.

    Minimises :math:`\sum_i s_i\, \ell(y_i, \eta_i) + \tfrac{\alpha}{2}\|f\|^2` with :math:`\eta_i = o_i +
    f(x_i) + b`, an unpenalised intercept ``b`` and offsets ``o``; for Poisson and gamma the prediction is
    :math:`e^{\eta}`.

    Parameters
    ----------
    kernel : str, Kernel, callable or scikit-learn Gaussian-process kernel, default="rbf"
        As in :class:`KernelRidge`. The length-scale of a named kernel is chosen by leave-one-out of the
        first Newton step.
    loss : {"poisson", "gamma", "squared"}, default="poisson"
        What a good fit means.
    alpha : float or {"cv", "loo"}, default="cv"
        Ridge strength; larger is smoother. ``"cv"`` takes the value of least held-out deviance over folds,
        ``"loo"`` that of least approximate leave-one-out deviance, which needs one fit per value instead of
        one per fold.
    alphas : array-like, optional
        The values to choose among; by default two per decade over nine decades.
    cv : int, splitter or iterable of (train, test), default=5
        Folds; pass the same to several models to compare them on equal terms.
    fit_intercept : bool, default=True
        Whether to fit an unpenalised intercept.
    n_components : int, optional
        Number of landmarks of a low-rank approximation of the kernel. By default the kernel is exact up to
        4000 rows; beyond, landmarks are added until all but a millionth of the kernel's trace is kept, 1000
        at most.
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
    array([2.7, 0.5])
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
            How often each row counts.
        offset : array-like of shape (n,), optional
            Known part of the linear predictor.
        exposure : array-like of shape (n,), optional
            Positive amount of time or size behind each row; its logarithm is added to the offset. Poisson
            and gamma only.

        Returns
        -------
        self : KernelGLMRegressor
        """
        rows, target, problem, kept = self._problem(X, y, sample_weight, offset, exposure)
        with calm_threads(rows):
            self._fit_problems(self._keep(rows, kept), [problem], self._folds(target, kept), kept)
        self.dual_coef_ = self._dual[:, 0]
        self.intercept_ = float(self._intercept[0])
        return self

    def _problem(
        self, X: Any, y: Any, sample_weight: Any, offset: Any, exposure: Any
    ) -> tuple[np.ndarray, np.ndarray, GLMProblem, np.ndarray]:
        self.loss_ = as_loss(self.loss)
        if self.loss_.kind == "classification":
            raise ValueError(f"The {self.loss_.name} loss is for classes: use KernelClassifier.")
        rows, weight = self._enter(X, sample_weight)
        target = check_targets(y, rows)
        if target.ndim != 1:
            target = column_or_1d(target, warn=True)
        kept = weight > 0
        target = self.loss_.check_targets(target, weight)
        known = self._known(offset, exposure, len(rows))
        problem = GLMProblem(target, weight, known, self.loss_, bool(self.fit_intercept)).rows(kept)
        return rows, target, problem, kept

    def _known(self, offset: Any, exposure: Any, n_rows: int) -> np.ndarray:
        return check_offset(offset, exposure, n_rows, log_link=self.loss_.name in _LOG_LINK)

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
        return self.loss_.mean(self._scores(rows)[:, 0] + self._known(offset, exposure, len(rows)))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = getattr(self.loss, "name", self.loss) in _LOG_LINK
        return tags


class KernelClassifier(ClassifierMixin, KernelGLMBase):
    r"""Kernel logistic regression and kernel support vector machines.

    Minimises :math:`\sum_i s_i\, \ell(y_i, \eta_i) + \tfrac{\alpha}{2}\|f\|^2` with :math:`\eta = f(x) + b`
    and an unpenalised intercept. In terms of scikit-learn's ``SVC`` and ``LogisticRegression``, alpha is
    ``1 / C``.

    Parameters
    ----------
    kernel : str, Kernel, callable or scikit-learn Gaussian-process kernel, default="rbf"
        As in :class:`KernelGLMRegressor`.
    loss : {"logistic", "hinge", "squared_hinge"}, default="logistic"
        Logistic gives probabilities, multinomial for more than two classes. The hinge losses are support
        vector machines, one against the rest.
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
            Known part of the score of the second of two classes.

        Returns
        -------
        self : KernelClassifier
        """
        rows, labels, problems, kept = self._problem(X, y, sample_weight, offset)
        with calm_threads(rows):
            self._fit_problems(self._keep(rows, kept), problems, self._folds(labels, kept), kept)
        single = len(self.classes_) == 2
        self.dual_coef_ = self._dual[:, 0] if single else self._dual
        self.intercept_ = float(self._intercept[0]) if single else self._intercept
        return self

    def _problem(
        self, X: Any, y: Any, sample_weight: Any, offset: Any
    ) -> tuple[np.ndarray, np.ndarray, list[GLMProblem], np.ndarray]:
        loss = as_loss(self.loss)
        if loss.name == "multinomial":  # logistic by another name: which of the two depends on the classes
            loss = as_loss("logistic")
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
                f"Found only one class ({self.classes_[0]!r}) with positive weight; a classifier needs at "
                f"least 2 classes."
            )
        labels = np.searchsorted(self.classes_, y)
        n_classes = len(self.classes_)
        if offset is not None and n_classes > 2:
            raise ValueError(f"offset is for two classes, but y has {n_classes}.")
        known = check_offset(offset, None, len(rows), log_link=False)
        intercept = bool(self.fit_intercept)
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
                GLMProblem((labels == c).astype(float), weight, known, loss, intercept)
                for c in range(n_classes)
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
