"""Ridge estimators whose targets are codes of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.data.by_blocks import in_blocks
from pellucid.data.labels import check_labels, winner
from pellucid.models.common.scoring import AccuracyScore
from pellucid.models.ridge.base import KernelRidgeBase


class LabelledRidge(AccuracyScore, KernelRidgeBase):
    """What the classifier and the discriminant share: classes in, the class of the largest score out."""

    _alpha_floor = 1e-6  # labels are never measured so finely that a smaller one helps
    classes_: np.ndarray

    def _labels(self, X: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Check the data; return rows, the index of each row's class, and weights."""
        rows, weight = self._enter(X, sample_weight)
        self.classes_, labels = check_labels(y, rows, weight)
        return rows, labels, weight

    def _problem(self, X: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows, coded targets and weights."""
        rows, labels, weight = self._labels(X, y, sample_weight)
        return rows, self._codes(labels, weight), weight

    def _codes(self, labels: np.ndarray, weight: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _members(self, labels: np.ndarray) -> np.ndarray:
        """Whether each row belongs to each class, of shape (n, n_classes)."""
        return labels[:, None] == np.arange(len(self.classes_))

    @in_blocks
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores: one per class, or for two classes one that is positive for the second.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New rows.

        Returns
        -------
        scores : ndarray of shape (m,) or (m, n_classes)
        """
        return self._shaped(self._decision(self._check_new_rows(X)))

    @in_blocks
    def predict(self, X: Any) -> np.ndarray:
        """Predicted classes.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New rows.

        Returns
        -------
        classes : ndarray of shape (m,)
        """
        index = winner(self.decision_function(X))
        return self.classes_[index]

    def _class_facts(self) -> list[tuple[str, object]]:
        shown = ", ".join(str(c) for c in self.classes_[:8]) + (", ..." if len(self.classes_) > 8 else "")
        return [("classes", shown)]
