"""What a model answers: numbers, probabilities or scores, as one column per output."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Response:
    """A fitted model as a function of rows, whatever its kind; warnings on the way are kept."""

    model: Any
    known: dict[str, Any] = field(default_factory=dict)
    """``offset`` and ``exposure`` of the rows, for :meth:`observed_side` only."""
    said: list[str] = field(default_factory=list)
    """What the model warned of, once each."""

    @property
    def classes(self) -> list[Any] | None:
        """The classes, or nothing for a regression."""
        classes = getattr(self.model, "classes_", None)
        return None if classes is None else list(classes)

    @property
    def kind(self) -> str:
        """``"number"``, ``"probability"`` or ``"score"``."""
        if self.classes is None:
            return "number"
        return "probability" if hasattr(self.model, "predict_proba") else "score"

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the columns where there are several."""
        classes = self.classes
        return () if classes is None or len(classes) <= 2 else tuple(map(str, classes))

    def __call__(self, X: Any, **known: Any) -> np.ndarray:
        """Answers of shape (n, outputs): for two classes, of the second one."""
        method = {"number": "predict", "probability": "predict_proba", "score": "decision_function"}[
            self.kind
        ]
        values = np.asarray(self._quietly(method, X, known), dtype=float)
        if self.kind == "probability" and values.shape[1] == 2:
            values = values[:, 1:]
        return values.reshape(len(values), -1)

    def predict(self, X: Any) -> np.ndarray:
        """What ``predict`` says."""
        return np.asarray(self._quietly("predict", X, {}))

    def observed_side(self, X: Any) -> np.ndarray:
        """Answers for the rows of the report, with what is known of them."""
        return self(X, **self.known)

    def _quietly(self, method: str, X: Any, known: dict[str, Any]) -> Any:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            values = getattr(self.model, method)(X, **known)
        for warning in caught:
            text = str(warning.message)
            if text not in self.said:
                self.said.append(text)
        return values
