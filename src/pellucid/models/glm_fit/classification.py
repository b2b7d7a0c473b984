"""Classification as problems of a kernel model: one of two classes, one of several, or one per class."""

from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from pellucid.data.by_blocks import in_blocks, read_as_table
from pellucid.data.labels import check_labels, check_ordered_labels, class_probabilities, winner
from pellucid.data.targets import check_offset
from pellucid.losses import Logistic, Loss, Multinomial, Ordinal, as_loss
from pellucid.losses.convert import losses_of
from pellucid.models.common.scoring import AccuracyScore
from pellucid.models.glm_fit.base import KernelGLMBase, Stated
from pellucid.solvers import GLMProblem


def has_probabilities(model: Any) -> bool:
    """Whether the loss of a classifier is a likelihood."""
    return getattr(model.loss, "name", model.loss) in ("logistic", "multinomial", "ordinal")


class KernelGLMClassification(AccuracyScore, KernelGLMBase):
    """Kernel models of classes: what :class:`KernelClassifier` and its interpretable twin share.

    Parameters
    ----------
    loss : {"logistic", "hinge", "squared_hinge"}, default="logistic"
        Logistic gives probabilities, multinomial for more than two classes. The hinge losses are support
        vector machines, one against the rest.
    """

    classes_: np.ndarray
    _kinds: tuple[str, ...] = ("classification",)

    @read_as_table
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Training rows.
        y : array-like of shape (n,)
            Classes.
        sample_weight : array-like of shape (n,), optional
            What each row counts for, as ``weights`` says; zero leaves a row out.
        offset : array-like of shape (n,), optional
            Known part of the score of the second of two classes, or of the position of ordinal ones.

        Returns
        -------
        self : estimator
        """
        self._fit_problems(*self._problems_of(X, y, sample_weight, offset=offset))
        return self

    def _problems_of(self, X: Any, y: Any, sample_weight: Any, offset: Any = None) -> Stated:
        loss = as_loss(self.loss, among=losses_of(*self._kinds))
        rows, weight = self._enter(X, sample_weight)
        ordered = loss.kind == "ordinal"
        self.classes_, labels = (check_ordered_labels if ordered else check_labels)(y, rows, weight)
        n_classes = len(self.classes_)
        if offset is not None and n_classes > 2 and not ordered:
            raise ValueError(f"offset is for two classes, but y has {n_classes}.")
        known = check_offset(offset, None, len(rows), log_link=False)
        self.loss_ = _loss_of(loss, n_classes)
        if self.loss_.multiclass:
            targets, known = [labels], np.zeros((len(rows), n_classes))
        elif self.loss_.kind == "ordinal":
            targets = [labels.astype(float)]
        else:
            targets = [(labels == c).astype(float) for c in ([1] if n_classes == 2 else range(n_classes))]
        intercept = bool(self.fit_intercept)
        return rows, labels, [GLMProblem(t, weight, known, self.loss_, intercept) for t in targets]

    @in_blocks
    def decision_function(self, X: Any, *, offset: Any = None) -> np.ndarray:
        """Scores: one per class, or for two classes one that is positive for the second.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New rows.
        offset : array-like of shape (m,), optional
            As in :meth:`fit`.

        Returns
        -------
        scores : ndarray of shape (m,) or (m, n_classes)
            For ordinal classes, logarithms of their probabilities.
        """
        scores = self._moved(self._scores(X), offset)
        if isinstance(self.loss_, Ordinal):
            with np.errstate(divide="ignore"):
                return np.maximum(np.log(self.loss_.probabilities(scores)), -1e3)
        return scores

    def _moved(self, scores: np.ndarray, offset: Any) -> np.ndarray:
        if scores.shape[1] > 1:
            return scores
        return scores[:, 0] + check_offset(offset, None, len(scores), log_link=False)

    @in_blocks
    def predict(self, X: Any, *, offset: Any = None) -> np.ndarray:
        """Predicted classes, of shape (m,); parameters as in :meth:`decision_function`."""
        index = winner(self.decision_function(X, offset=offset))
        return self.classes_[index]

    @available_if(has_probabilities)
    @in_blocks
    def predict_proba(self, X: Any, *, offset: Any = None) -> np.ndarray:
        """Class probabilities of shape (m, n_classes), logistic loss only; see :meth:`decision_function`."""
        scores = self._moved(self._scores(X), offset)
        if isinstance(self.loss_, Ordinal):
            return self.loss_.probabilities(scores)
        return class_probabilities(self.loss_.mean(scores))


def _loss_of(loss: Loss, n_classes: int) -> Loss:
    """Logistic and multinomial are one: which of the two depends on the classes; ordinal needs thresholds."""
    if loss.kind == "ordinal":
        return Ordinal.of_classes(n_classes) if n_classes > 2 else Logistic()
    if loss.name not in ("logistic", "multinomial"):
        return loss
    if n_classes > 2:
        return Multinomial()
    return loss if loss.name == "logistic" else Logistic()
