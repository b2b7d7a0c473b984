"""What a model answers: numbers, probabilities or scores, as one column per output."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.effects.outcome_measures import Outcome, losses_of, outcome_of, takes_exposure
from pellucid.losses import Loss
from pellucid.report.sample import Sample

_METHODS = {"number": "predict", "probability": "predict_proba", "score": "decision_function"}


@dataclass
class Response:
    """A fitted model as a function of rows, whatever its kind; warnings on the way are kept."""

    model: Any
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
        if classes is None:
            return tuple(getattr(getattr(self.model, "best_estimator_", self.model), "outputs_", None) or ())
        return () if len(classes) <= 2 else tuple(map(str, classes))

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses of a regression that has some of its own, such as Poisson; otherwise none."""
        losses = losses_of(self.model)
        return () if losses and losses[0].name == "squared" else losses

    @property
    def survival(self) -> bool:
        """Whether targets are times until an event, and answers hazards."""
        return bool(self.losses) and self.losses[0].kind == "survival"

    def outcome(self, sample: Sample, answers: np.ndarray) -> Outcome | None:
        """Targets beside answers, as losses have them; ``None`` without losses, or with several targets."""
        losses = self.losses
        if not losses or answers.shape[1] != len(losses) or sample.y.ndim > 1:
            return None
        return outcome_of(losses, sample.y, answers, sample.weight, **sample.known)

    def amount(self, sample: Sample) -> np.ndarray | None:
        """Exposure of each row where predictions are rates times exposure; otherwise ``None``."""
        rates = bool(self.losses) and takes_exposure(self.losses[0])
        return sample.amount if rates and sample.known else None

    def __call__(self, X: Any, **known: Any) -> np.ndarray:
        """Answers of shape (n, outputs): for two classes, of the second one."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            values = np.asarray(getattr(self.model, _METHODS[self.kind])(X, **known), dtype=float)
        self.said.extend(dict.fromkeys(t for w in caught if (t := str(w.message)) not in self.said))
        if self.kind == "probability" and values.shape[1] == 2:
            values = values[:, 1:]
        return values.reshape(len(values), -1)
