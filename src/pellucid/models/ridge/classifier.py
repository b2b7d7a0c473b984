"""Kernel ridge classification with exact leave-one-out error rates and calibrated probabilities."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np

from pellucid._docs import inherit_docs, store_parameters
from pellucid.data.by_blocks import in_blocks
from pellucid.data.coded import Reading
from pellucid.data.first_look import target_numbers
from pellucid.data.labels import winner
from pellucid.data.roles import remembers_roles
from pellucid.data.source import Source
from pellucid.effects import Summary
from pellucid.losses import Logistic
from pellucid.models.kernel_fit.ridge_types import RowsBeyond
from pellucid.models.ridge.base import as_columns
from pellucid.models.ridge.from_source import enter_source, few_rows, source_of
from pellucid.models.ridge.labelled import LabelledRidge
from pellucid.solvers import calibrate


@inherit_docs
class KernelRidgeClassifier(LabelledRidge):
    r"""Classification by kernel ridge on coded targets, one decomposition for all classes.

    One column of targets per class (a single one for two classes) is fitted by :class:`KernelRidge`, and the
    class with the largest score is predicted. Leave-one-out scores, and with them the leave-one-out error
    rate, are exact.

    Parameters
    ----------
    {kernel, alpha, alphas}
    targets : {"signed", "fisher"}, default="signed"
        Codes of the classes: +1 and −1; or, for a class with :math:`n_k` of ``n`` rows, :math:`n/n_k` for its
        rows and :math:`-n/(n - n_k)` for the others. The latter gives Fisher's discriminant direction. Its
        scores are moved (where there is an intercept) so that zero is half-way between the mean leave-one-out
        scores within and outside of a class, a threshold that treats classes of different size alike.
    {fit_intercept, solver, n_components, tol, random_state, indefinite, weights}

    Attributes
    ----------
    {classes_, kernel_, alpha_, dual_coef_, intercept_}
    loo_ : LeaveOneOut
        Leave-one-out scores as ``predictions``, ``error_rate``, and the path over alphas with the error rate
        of each. Where kernel and alpha were chosen on the same few rows, expect more errors on new ones.
    calibration_ : Calibration
        The slope that turns scores into probabilities, fitted to leave-one-out scores.
    {effective_dof_, log_marginal_likelihood_, solver_, solver_report_, X_fit_, n_features_in_}
    {feature_names_in_}

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
        n_components: int | None = None,
        tol: float = 1e-4,
        random_state: int = 0,
        indefinite: str = "raise",
        weights: str = "auto",
    ) -> None:
        store_parameters(self, locals())

    @remembers_roles
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n, n_features), or rows beyond memory
            Training rows, as in :class:`KernelRidge`.
        y : array-like of shape (n,), or str
            Classes, or the name of the column of ``X`` that has them.
        sample_weight : array-like of shape (n,), or str, optional
            What each row counts for, as ``weights`` says; zero leaves a row out.

        Returns
        -------
        self : KernelRidgeClassifier
        """
        source = source_of(self, X, y, sample_weight)
        if source is not None:
            return self._fit_source(source)
        rows, labels, weight = self._labels(X, y, sample_weight)
        return self._fit_labels(rows, labels, weight, np.bincount(labels, weight))

    def _fit_source(self, source: Source) -> Self:
        """Fit to rows that come in blocks."""
        table = few_rows(self, source)
        if table is not None:
            return self.fit(table.X, **{"y": None, **table.given})
        sample = enter_source(self, source, Reading(Logistic(), classes=True))
        assert sample.classes is not None
        assert sample.masses is not None
        self.classes_, labels = sample.classes, sample.y.astype(np.intp)
        codes = partial(_coded, masses=sample.masses, targets=self.targets)
        beyond = replace(sample.beyond, codes=codes)
        self._fit_labels(sample.X, labels, sample.weight, sample.masses, beyond)
        self.loo_rows_ = sample.places
        beyond.passes.finished()
        return self

    def _fit_labels(
        self,
        rows: np.ndarray,
        labels: np.ndarray,
        weight: np.ndarray,
        masses: np.ndarray,
        beyond: RowsBeyond | None = None,
    ) -> Self:
        """Fit to numbers of classes; ``masses`` are the weights of these, over all rows."""
        if self.targets not in ("signed", "fisher"):
            raise ValueError(f"targets must be 'signed' or 'fisher', got {self.targets!r}.")
        Y = _coded(labels, masses, self.targets)
        kept = weight > 0
        s, known = weight[kept], labels[kept]
        share = s / s.sum()

        def error_rates(scores: np.ndarray, some: np.ndarray) -> np.ndarray:
            there, part = known[some], share[some] / share[some].sum()
            winners = [winner(one - self._middle(one, there, part)) for one in scores]
            return np.array([part @ (w != there) for w in winners])

        self._single = Y.shape[1] == 1
        key = target_numbers(self.classes_)[labels, None]
        fit = self._fit_targets(rows, Y, weight, score=error_rates, key=key, beyond=beyond)
        middle = self._middle(Y[kept] - fit.held_out * self._unit, known, share)
        Y = Y - middle  # with an intercept, other codes by a constant give other scores by the same constant
        self._intercept = self._intercept - middle
        self._publish()
        loo = self._leave_one_out(fit, rows, Y, weight)
        wrong = winner(as_columns(loo.predictions)) != labels
        self.loo_ = replace(loo, error_rate=float(weight @ wrong / weight.sum()))
        importance = s
        if self.targets == "fisher":  # scores treat classes as equally frequent, and so do probabilities
            importance = s / np.bincount(known, s)[known]
            importance *= s.sum() / importance.sum()
        scores = self._per_class(Y[kept] - fit.held_out * self._unit)
        self.calibration_ = calibrate(scores, known, importance, np.maximum(1.0, s))
        return self

    def _codes(self, labels: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Targets, one column per class, or a single one for the second of two classes."""
        return _coded(labels, np.bincount(labels, weight), self.targets)

    def _members(self, labels: np.ndarray) -> np.ndarray:
        member = super()._members(labels)
        return member[:, 1:] if len(self.classes_) == 2 else member

    def _middle(self, scores: np.ndarray, labels: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Half-way between the mean score within and outside of each class: where Fisher scores are zero."""
        if self.targets == "signed" or not self.fit_intercept:
            return np.zeros(scores.shape[1])
        weights = weight[:, None] * np.array([self._members(labels), ~self._members(labels)])
        means = np.sum(weights * scores, axis=1) / weights.sum(axis=1)
        return means.mean(axis=0)

    def _per_class(self, scores: np.ndarray) -> np.ndarray:
        """One score per class, also for two classes."""
        return np.hstack([-scores, scores]) / 2.0 if scores.shape[1] == 1 else scores

    @in_blocks
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, calibrated on leave-one-out scores.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New rows.

        Returns
        -------
        probabilities : ndarray of shape (m, n_classes)
        """
        scores = self._decision(self._check_new_rows(X))
        return self.calibration_.probabilities(self._per_class(scores))

    def summary(self) -> Summary:
        """What was fitted, on half a screen; print it."""
        return self._summary(
            [
                *self._class_facts(),
                ("targets", self.targets),
                ("leave-one-out error rate", self.loo_.error_rate),
                ("leave-one-out squared error", np.asarray(self.loo_.mse)),
            ]
        )


def _coded(labels: np.ndarray, masses: np.ndarray, targets: str) -> np.ndarray:
    """Codes of classes whose weights are ``masses``: one column per class, or one for two classes."""
    member = labels[:, None] == np.arange(len(masses))
    member, inside = (member[:, 1:], masses[1:]) if len(masses) == 2 else (member, masses)
    if targets == "signed":
        return np.where(member, 1.0, -1.0)
    total = masses.sum()
    return np.where(member, total / inside, -total / (total - inside))
