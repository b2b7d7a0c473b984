"""How good a model is on rows that it has not seen, by the measures that go with each task."""

from typing import Any

import numpy as np

from pellucid.cli.catalog import predict
from pellucid.effects.measures import (
    as_words,
    measures_of_classes,
    measures_of_counts,
    measures_of_numbers,
    title,
)
from pellucid.effects.outcome_measures import losses_of, outcome_of

MAIN = {"regression": "rmse", "classification": "log_loss", "counts": "deviance"}
"""The measure by which models are ranked; smaller is better."""


def measure(
    model: Any, X: Any, y: np.ndarray, task: str, weight: Any = None, known: dict[str, Any] | None = None
) -> dict[str, float]:
    """Measures of a fitted model on some rows."""
    known, P = known or {}, None
    if task == "classification":
        known = {key: values for key, values in known.items() if key == "offset"}
        P = predict(model, X, known, "predict_proba") if hasattr(model, "predict_proba") else None
    return measure_answers(model, y, (predict(model, X, known), P), task, weight, known)


def measure_answers(
    model: Any,
    y: np.ndarray,
    answers: tuple[np.ndarray, np.ndarray | None],
    task: str,
    weight: Any = None,
    known: dict[str, Any] | None = None,
) -> dict[str, float]:
    """Measures of what a fitted model said of some rows."""
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    known, (mu, P) = known or {}, answers
    if task == "classification":
        return measures_of_classes(y, mu, model.classes_.tolist(), weight, P)
    y = np.asarray(y, dtype=float)
    losses = losses_of(model)
    if losses and losses[0].name not in ("squared", "poisson"):
        return outcome_of(losses, y, mu, weight, **known).measures()
    if task == "counts":
        return measures_of_counts(y, mu, amount_of(known, len(y)), weight)
    return measures_of_numbers(y, mu, weight)


def amount_of(known: dict[str, Any], n: int) -> np.ndarray:
    """By what a rate is multiplied in each row: exposure times the exponential of the offset."""
    return np.asarray(known.get("exposure", np.ones(n))) * np.exp(known.get("offset", np.zeros(n)))


def in_words(found: dict[str, float]) -> str:
    """All measures in one line."""
    return ", ".join(f"{title(name)} {as_words(name, value)}" for name, value in found.items())
