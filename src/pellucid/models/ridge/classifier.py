"""Kernel ridge classification with exact leave-one-out error rates and calibrated probabilities."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from pellucid.effects import LeaveOneOut, Summary
from pellucid.models.ridge.base import KernelRidgeBase, as_columns
from pellucid.solvers import calibrate


class LabelledRidge(ClassifierMixin, KernelRidgeBase):
    """Ridge estimators whose targets are codes of classes."""

    _alpha_floor = 1e-6  # labels are never measured so finely that a smaller one helps

    def _labels(self, X: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Check the data; return rows, the index of each row's class, and weights."""
        rows, weight = self._enter(X, sample_weight)
        if y is None:
            raise ValueError("This classifier requires y to be passed, but the target y is None.")
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        check_consistent_length(rows, y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        present = np.unique(labels[weight > 0])
        if len(present) < 2:
            raise ValueError(
                f"Found only one class ({self.classes_[present[0]]!r}) with positive weight; a classifier "
                f"needs at least 2 classes."
            )
        if len(present) < len(self.classes_):  # classes of weight zero cannot be learned
            keep = np.isin(labels, present)
            self.classes_ = self.classes_[present]
            labels = np.where(keep, np.searchsorted(present, labels), -1)
        return rows, labels, weight


class KernelRidgeClassifier(LabelledRidge):
    r"""Classification by kernel ridge on coded targets, one decomposition for all classes.

    One column of targets per class (a single one for two classes) is fitted by :class:`KernelRidge`, and the
    class with the largest score is predicted. Leave-one-out scores, and with them the leave-one-out error
    rate, are exact.

    Parameters
    ----------
    kernel : str, Kernel, callable or scikit-learn Gaussian-process kernel, default="rbf"
        As in :class:`KernelRidge`.
    alpha : float or {"loo", "gcv", "ml"}, default="loo"
        Ridge strength; larger is smoother. ``"loo"`` chooses it by the leave-one-out squared error of the
        coded targets, which is smoother and so a steadier guide than the error rate; both are in
        ``loo_.path``.
    alphas : array-like, optional
        The values among which a named criterion chooses.
    targets : {"signed", "fisher"}, default="signed"
        Codes of the classes: +1 and −1; or, for a class with :math:`n_k` of ``n`` rows, :math:`n/n_k` for its
        rows and :math:`-n/(n - n_k)` for the others. The latter gives Fisher's discriminant direction. Its
        scores are moved (where there is an intercept) so that zero is half-way between the mean leave-one-out
        scores within and outside of a class, a threshold that treats classes of different size alike.
    fit_intercept : bool, default=True
        Whether to fit an unpenalised intercept per score.
    solver : {"auto", "primal", "cholesky", "spectral"}, default="auto"
        As in :class:`KernelRidge`.
    indefinite : {"raise", "clip"}, default="raise"
        As in :class:`KernelRidge`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    kernel_, alpha_, dual_coef_, intercept_, effective_dof_, log_marginal_likelihood_, solver_,
    solver_reason_, X_fit_
        As in :class:`KernelRidge`; one column of ``dual_coef_`` per class where there are more than two.
    loo_ : LeaveOneOut
        Leave-one-out scores as ``predictions``, ``error_rate``, and the path over alphas with the error rate
        of each.
    calibration_ : Calibration
        The slope that turns scores into probabilities, fitted to leave-one-out scores.

    Notes
    -----
    ``predict_proba`` is a softmax of the scores whose slope is fitted to the leave-one-out scores, so the
    most probable class is the predicted one. With Fisher targets a score of zero means that a row is equally
    typical of both classes; probabilities are then those of a population in which all classes are equally
    frequent.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pellucid import KernelRidgeClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = KernelRidgeClassifier().fit(X, y)
    >>> round(model.loo_.error_rate, 3)
    0.006
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        alpha: Any = "loo",
        alphas: Any = None,
        targets: str = "signed",
        fit_intercept: bool = True,
        solver: str = "auto",
        indefinite: str = "raise",
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.alphas = alphas
        self.targets = targets
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.indefinite = indefinite

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Training rows, as in :class:`KernelRidge`.
        y : array-like of shape (n,)
            Classes.
        sample_weight : array-like of shape (n,), optional
            How often each row counts.

        Returns
        -------
        self : KernelRidgeClassifier
        """
        rows, labels, weight = self._labels(X, y, sample_weight)
        Y = self._codes(labels, weight)
        kept = weight > 0
        share = weight[kept] / weight[kept].sum()

        def error_rates(scores: np.ndarray) -> np.ndarray:
            middles = [self._middle(one, labels[kept], share) for one in scores]
            winners = [self._winner(one - middle) for one, middle in zip(scores, middles, strict=True)]
            return np.array([share @ (winner != labels[kept]) for winner in winners])

        self._single = Y.shape[1] == 1
        fit = self._fit_targets(rows, Y, weight, score=error_rates)
        middle = self._middle(Y[kept] - fit.held_out * self._unit, labels[kept], share)
        Y = Y - middle  # with an intercept, other codes by a constant give other scores by the same constant
        self._intercept = self._intercept - middle
        loo = self._leave_one_out(fit, rows, Y, weight)
        wrong = self._winner(as_columns(loo.predictions)) != labels
        self.loo_ = LeaveOneOut(
            loo.predictions,
            loo.residuals,
            loo.leverages,
            loo.mse,
            loo.path,
            error_rate=float(weight @ wrong / weight.sum()),
        )
        held_out = Y[kept] - fit.held_out * self._unit
        importance = weight[kept]
        if (
            self.targets == "fisher"
        ):  # these scores treat classes as equally frequent, and so do the probabilities
            importance = importance / np.bincount(labels[kept], importance)[labels[kept]]
            importance *= weight.sum() / importance.sum()
        observations = np.maximum(1.0, weight[kept])
        self.calibration_ = calibrate(self._columns(held_out), labels[kept], importance, observations)
        self.alpha_ = float(self._alpha[0])
        self.dual_coef_ = self._shaped(self._dual)
        self.intercept_ = self._shaped(self._intercept)
        self.effective_dof_ = float(self._dof[0])
        self.log_marginal_likelihood_ = self._shaped(self._likelihood)
        return self

    def _problem(self, X: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows, labels, weight = self._labels(X, y, sample_weight)
        return rows, self._codes(labels, weight), weight

    def _codes(self, labels: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Targets, one column per class, or a single one for the second of two classes."""
        if self.targets not in ("signed", "fisher"):
            raise ValueError(f"targets must be 'signed' or 'fisher', got {self.targets!r}.")
        member = self._members(labels)
        if self.targets == "signed":
            return np.where(member, 1.0, -1.0)
        inside = weight @ member
        return np.where(member, weight.sum() / inside, -weight.sum() / (weight.sum() - inside))

    def _members(self, labels: np.ndarray) -> np.ndarray:
        """Whether each row belongs to the class of each column of targets."""
        member = labels[:, None] == np.arange(len(self.classes_))
        return member[:, 1:] if len(self.classes_) == 2 else member

    def _middle(self, scores: np.ndarray, labels: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Half-way between the mean score within and outside of each class: where Fisher scores are zero."""
        if self.targets == "signed" or not self.fit_intercept:
            return np.zeros(scores.shape[1])
        weights = weight[:, None] * np.array([self._members(labels), ~self._members(labels)])
        means = np.sum(weights * scores, axis=1) / weights.sum(axis=1)
        return means.mean(axis=0)

    def _columns(self, scores: np.ndarray) -> np.ndarray:
        """One score per class, also for two classes."""
        return np.hstack([-scores, scores]) / 2.0 if scores.shape[1] == 1 else scores

    def _winner(self, scores: np.ndarray) -> np.ndarray:
        return (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else np.argmax(scores, axis=1)

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores: one per class, or for two classes one that is positive for the second.

        Parameters
        ----------
        X : array-like of shape (m, n_features)

        Returns
        -------
        scores : ndarray of shape (m,) or (m, n_classes)
        """
        scores = self._decision(self._check_new_rows(X))
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
        scores = self._decision(self._check_new_rows(X))
        return self.classes_[self._winner(scores)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, calibrated on leave-one-out scores.

        Parameters
        ----------
        X : array-like of shape (m, n_features)

        Returns
        -------
        probabilities : ndarray of shape (m, n_classes)
        """
        scores = self._decision(self._check_new_rows(X))
        return self.calibration_.probabilities(self._columns(scores))

    def summary(self) -> Summary:
        """What was fitted, on half a screen; print it."""
        return self._summary(
            [
                (
                    "classes",
                    ", ".join(str(c) for c in self.classes_[:8])
                    + (", ..." if len(self.classes_) > 8 else ""),
                ),
                ("targets", self.targets),
                ("leave-one-out error rate", self.loo_.error_rate),
                ("leave-one-out squared error", np.asarray(self.loo_.mse)),
            ]
        )
