"""ISK for classes: pairwise Fourier features, a dense model, and a sparse model of its components."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d

from pellucid.data.table import enter_table
from pellucid.losses import as_loss
from pellucid.models.isk.base import ISKBase, entered_weight

_LOSSES = ("logistic", "squared_hinge", "hinge")


def _is_logistic(model: Any) -> bool:
    if getattr(model, "loss", None) != "logistic":
        raise AttributeError(
            f"predict_proba needs loss='logistic'; the {model.loss} loss has scores, not probabilities. Fit "
            f"with loss='logistic', or calibrate this model with sklearn.calibration.CalibratedClassifierCV."
        )
    return True


class ISKClassifier(ClassifierMixin, ISKBase):
    r"""Interpretable, scalable kernel classification: main effects and pairwise interactions, sparse.

    The two phases of :class:`ISKRegressor` with a loss for classes,
    :math:`\sum_i s_i\, \ell(y_i, \eta_i) + \tfrac{\alpha}{2}\|w\|^2` in phase 1. More than two classes are
    fitted one against the rest, on shared features.

    Parameters
    ----------
    sigma : float or "cv", default="cv"
        Length-scale of the kernel, in units of scaled features. Larger is smoother.
    n_components : int, default=20
        Number d of Fourier features per pair.
    loss : {"logistic", "squared_hinge", "hinge"}, default="logistic"
        The published method has the hinge loss. The logistic loss is the default as it is smooth, which makes
        it the fastest to fit, and gives probabilities; error rates hardly differ.
    alpha : float or "cv", default="cv"
        Ridge strength of phase 1; larger is smoother.
    sparse_alpha, l1_ratio, scaling, kernel, cv, max_iter, random_state
        As in :class:`ISKRegressor`; folds are stratified.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    terms_, term_names_, effects_, sigma_, alpha_, sparse_alpha_, l1_ratio_, path_, trials_, solver_
        As in :class:`ISKRegressor`. Effects are on the linear predictor: log-odds, or the score of the hinge
        losses.
    importances_ : Importances
        :math:`|\beta|` of the terms; with more than two classes the largest over the classes.
    intercept_ : float or ndarray of shape (n_classes,)
        Constant part of the linear predictor.

    Notes
    -----
    *Choice of sigma and alpha*: by the folds' squared error of a ridge fit to targets ±1, which is linear
    algebra alone. Near the decision boundary the loss is about a multiple of the squared one, and alpha is
    multiplied by the same number (¼ for the logistic, 2 for the squared hinge, ½ for the hinge loss). The
    parameters of phase 2 are chosen by the folds' own loss.

    *Hinge loss*: small problems are solved as a quadratic programme. Larger ones go through ever less
    smoothed losses until the duality gap is below 0.1 % of the objective (a gap above 1 % brings a warning);
    phase 2 rounds the kink off on a stretch of 0.02.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from pellucid import ISKClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> X = X.iloc[:, :6]
    >>> model = ISKClassifier(sigma=2.0, alpha=0.01, cv=3).fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.9
    True
    """

    def __init__(
        self,
        sigma: Any = "cv",
        *,
        n_components: int = 20,
        loss: str = "logistic",
        alpha: Any = "cv",
        sparse_alpha: Any = "cv",
        l1_ratio: Any = "cv",
        scaling: str = "robust",
        kernel: Any = "rbf",
        cv: Any = 5,
        max_iter: int = 200,
        random_state: Any = 0,
    ) -> None:
        self.sigma = sigma
        self.n_components = n_components
        self.loss = loss
        self.alpha = alpha
        self.sparse_alpha = sparse_alpha
        self.l1_ratio = l1_ratio
        self.scaling = scaling
        self.kernel = kernel
        self.cv = cv
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit both phases.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            At least two features.
        y : array-like of shape (n,)
            Classes.
        sample_weight : array-like of shape (n,), optional
            How often each row counts.

        Returns
        -------
        self : ISKClassifier
        """
        self._check_parameters()
        if self.loss not in _LOSSES:
            raise ValueError(f"loss must be one of {', '.join(_LOSSES)}; got {self.loss!r}.")
        table = enter_table(self, X, reset=True, least=2)
        if y is None:
            raise ValueError("This classifier requires y to be passed, but the target y is None.")
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        check_consistent_length(table, y)
        weight, kept = entered_weight(sample_weight, len(table))
        rows = self._learn_rows(table, weight)
        self.classes_ = np.unique(y[kept])
        if len(self.classes_) < 2:
            raise ValueError(
                f"Found only one class ({self.classes_[0]!r}) with positive weight; a classifier needs at "
                f"least 2 classes."
            )
        fold = self._folds(y, kept)
        if not kept.all():
            rows, y, weight = rows[kept], y[kept], weight[kept]
        several = len(self.classes_) > 2
        members = [(y == c).astype(float) for c in (self.classes_ if several else self.classes_[1:])]
        signed = 2.0 * np.column_stack(members) - 1.0
        self._outputs = tuple(str(c) for c in self.classes_) if several else ()
        self._fit(rows, members, signed, as_loss(self.loss), weight, fold)
        self.intercept_ = self._intercept.copy() if several else float(self._intercept[0])
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Linear predictor: a column per class, or for two classes a score that is positive for the second.

        Parameters
        ----------
        X : array-like of shape (m, n_features)

        Returns
        -------
        scores : ndarray of shape (m,) or (m, n_classes)
        """
        scores = self._predictor(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Predicted classes.

        Parameters
        ----------
        X : array-like of shape (m, n_features)

        Returns
        -------
        classes : ndarray of shape (m,)
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)]

    @available_if(_is_logistic)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities; logistic loss only. Those of more than two classes are scaled to sum to one.

        Parameters
        ----------
        X : array-like of shape (m, n_features)

        Returns
        -------
        probabilities : ndarray of shape (m, n_classes)
        """
        mean = as_loss("logistic").mean(self.decision_function(X))
        if mean.ndim == 1:
            return np.column_stack([1.0 - mean, mean])
        return mean / mean.sum(axis=1, keepdims=True)
