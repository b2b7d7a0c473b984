"""What any fitted model says of a table: of its own columns, with what it takes beside them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.data.table import as_frame


def own_columns(model: Any, X: Any) -> Any:
    """The columns of a data frame that a model was fitted on; ``X`` as it is where it has not all of them."""
    frame, names = as_frame(X), getattr(model, "feature_names_in_", None)
    if frame is None or names is None or not set(names) <= set(frame.columns):
        return X
    return frame.select([str(name) for name in names]).to_native()


def answers_of(model: Any, X: Any, known: dict[str, Any]) -> np.ndarray:
    """Predictions, probabilities or scores, of shape (n, outputs): for two classes, of the second one."""
    if not hasattr(model, "classes_"):
        values = np.asarray(model.predict(X, **known), dtype=float)
        return values.reshape(len(values), -1)
    how = model.predict_proba if has_probabilities(model) else model.decision_function
    values = np.asarray(how(X, **known_to(model, known)), dtype=float)
    values = values.reshape(len(values), -1)
    return values[:, 1:] if values.shape[1] == 2 else values


def has_probabilities(model: Any) -> bool:
    """Whether a model has probabilities of classes."""
    return hasattr(model, "predict_proba")


def known_to(model: Any, known: dict[str, Any]) -> dict[str, Any]:
    """What may be passed to ``predict`` beside rows: classifiers take no exposure."""
    return {key: v for key, v in known.items() if key == "offset" or not hasattr(model, "classes_")}
