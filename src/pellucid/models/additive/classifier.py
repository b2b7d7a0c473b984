"""The additive kernel machine for classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from pellucid._docs import store_parameters
from pellucid.data.by_blocks import in_blocks
from pellucid.data.coded import Reading
from pellucid.data.first_look import most_at_hand
from pellucid.data.labels import (
    check_labels,
    check_ordered_labels,
    class_factors,
    class_probabilities,
    winner,
)
from pellucid.data.roles import remembers_roles
from pellucid.data.source_kinds import as_source
from pellucid.data.table import enter_table
from pellucid.data.targets import check_offset
from pellucid.data.weights import check_weight
from pellucid.losses import Logistic, Ordinal, as_loss
from pellucid.models.additive.base import AdditiveKernelBase
from pellucid.models.additive.engine.all_rows import adds_up
from pellucid.models.additive.engine.state import Problem
from pellucid.models.common.scoring import AccuracyScore


class AdditiveKernelClassifier(AccuracyScore, AdditiveKernelBase):
    r"""Additive kernel machine for classes: logistic, one model per class if there are more than two.

    The model is that of :class:`AdditiveKernelRegressor` with :math:`P(y = 1) = 1 / (1 + e^{-\eta})`. For
    more than two classes each is set against the rest and the probabilities are normalised. Ordered classes
    may share one model instead, with :math:`P(y \le k) = 1 / (1 + e^{\eta - \theta_k})` and thresholds
    :math:`\theta_k` between them (proportional odds).

    Parameters
    ----------
    interactions : "auto", int, list of pairs, default="auto"
        As in :class:`AdditiveKernelRegressor`.
    loss : {"logistic", "ordinal"}, default="logistic"
        What classes are: logistic has them in no order; ordinal takes them in the order of numbers, or of an
        ordered categorical, and needs only one function for all.
    class_weight : dict, "balanced" or None, default=None
        What rows of each class count for, on top of ``sample_weight``: a dict from classes to factors, or
        "balanced" for factors that give all classes the same weight and leave the sum of weights as it is.
        Probabilities are then those of a population in which classes are as frequent as their weights say.
    max_time, verbose : float or None, int
        As in :class:`AdditiveKernelRegressor`.
    monotone : dict, optional
        As in :class:`AdditiveKernelRegressor`: of the log odds of the second class, or of the position of
        ordered ones; not for more than two classes without order.
    weights : {"auto", "counts", "precision"}, default="auto"
        As in :class:`AdditiveKernelRegressor`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    terms_, term_names_, importances_, effects_, receipt_, tables_, edf_, scale_, edits_, columns_
        As in :class:`AdditiveKernelRegressor`; with more than two classes effects have one value per class.
    intercept_ : float, or ndarray of shape (n_classes,)
        The constant; zero for ordered classes, where ``loss_.thresholds`` take its place.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import AdditiveKernelClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(600, 3))
    >>> y = np.where(X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=600) > 0, "yes", "no")
    >>> model = AdditiveKernelClassifier().fit(X, y)
    >>> model.importances_.top(1)
    ['x0 × x1']
    >>> model.predict([[0.9, 0.9, 0.0], [0.9, -0.9, 0.0]])
    array(['yes', 'no'], dtype='<U3')
    """

    _known = ("offset",)

    def __init__(
        self,
        interactions: Any = "auto",
        *,
        monotone: Any = None,
        weights: str = "auto",
        loss: Any = "logistic",
        class_weight: Any = None,
        max_time: float | None = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    @remembers_roles
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features), or rows beyond memory
            Training rows, as in :class:`AdditiveKernelRegressor`.
        y : array-like of shape (n,), or str
            Classes; a text names the column of ``X`` that has them, and so for the next two.
        sample_weight : array-like of shape (n,), optional
            How many observations a row stands for.
        offset : array-like of shape (n,), optional
            Known part of the linear predictor; of two classes, or ordered ones.

        Returns
        -------
        AdditiveKernelClassifier
            Itself.
        """
        loss = as_loss(self.loss, among=("logistic", "ordinal"))
        many = most_at_hand if adds_up(loss) and self.class_weight is None else None
        source = as_source(X, y, most=many, sample_weight=sample_weight, offset=offset)
        if source is not None:
            self.loss_ = loss
            ready = self._from_source(source, Reading(loss, classes=True))
            if ready is not None:
                ready.passes.finished()
            return self
        self._fit_problems(*self._prepare(X, y, sample_weight, reset=True, offset=offset))
        return self

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool, offset: Any = None
    ) -> tuple[list[Problem], list[str], Any]:
        table = enter_table(self, X, reset=reset)
        weight = check_weight(sample_weight, len(table), self.weights)
        stated = as_loss(self.loss, among=("logistic", "ordinal"))
        ordered = stated.kind == "ordinal"
        classes, number = (check_ordered_labels if ordered else check_labels)(y, table, weight)
        if reset:
            self.classes_ = classes
            self.loss_ = Ordinal.of_classes(len(classes)) if ordered and len(classes) > 2 else Logistic()
        elif not np.array_equal(classes, self.classes_):
            raise ValueError(f"The model is of classes {self.classes_}; the targets hold {classes}.")
        known = check_offset(offset, None, len(number), log_link=False)
        single = len(classes) == 2 or self.loss_.kind == "ordinal"
        if offset is not None and not single:
            raise ValueError("offset is for two classes only, or for ordered ones.")
        weight = weight * class_factors(self.class_weight, classes, number, weight)
        rows = self._training_rows(table, weight, reset=reset)
        number, known, weight = (v[weight > 0] for v in (number, known, weight))
        if self.loss_.kind == "ordinal":
            return [Problem(rows, number.astype(float), weight, known, self.loss_)], [], 1.0
        positive = [1] if single else range(len(classes))
        problems = [Problem(rows, (number == k).astype(float), weight, known, self.loss_) for k in positive]
        return problems, [str(classes[k]) for k in positive], 1.0

    @in_blocks
    def decision_function(self, X: Any, *, offset: Any = None) -> np.ndarray:
        """Scores: log odds, of shape (n,), or (n, n_classes) of each class against the rest.

        For ordered classes, logarithms of their probabilities.
        """
        eta = self._moved(X, offset)
        if isinstance(self.loss_, Ordinal):
            with np.errstate(divide="ignore"):
                return np.maximum(np.log(self.loss_.probabilities(eta)), -1e3)
        return eta

    def _moved(self, X: Any, offset: Any) -> np.ndarray:
        eta = self._predictor(X)
        return eta if offset is None else eta + check_offset(offset, None, len(eta), log_link=False)

    @in_blocks
    def predict_proba(self, X: Any, *, offset: Any = None) -> np.ndarray:
        """Probabilities of the classes, of shape (n, n_classes)."""
        eta = self._moved(X, offset)
        if isinstance(self.loss_, Ordinal):
            return self.loss_.probabilities(eta)
        return class_probabilities(self.loss_.mean(eta))

    @in_blocks
    def predict(self, X: Any, *, offset: Any = None) -> np.ndarray:
        """Most probable class of each row."""
        scores = self.decision_function(X, offset=offset)
        return self.classes_[winner(scores)]
