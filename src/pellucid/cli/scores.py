"""How good predictions are, by the measures that go with each task."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import metrics

from pellucid.cli.catalog import predict

MAIN = {"regression": "rmse", "classification": "log_loss", "counts": "deviance"}
"""The measure by which models are ranked; smaller is better."""

TITLES = {
    "r2": "R²",
    "rmse": "RMSE",
    "mae": "mean absolute error",
    "accuracy": "accuracy",
    "most_frequent": "share of the most frequent class",
    "log_loss": "log loss",
    "auc": "area under the ROC curve",
    "explained": "share of the deviance explained",
    "deviance": "mean Poisson deviance",
}


def measure(
    model: Any, X: Any, y: np.ndarray, task: str, weight: Any = None, known: dict[str, Any] | None = None
) -> dict[str, float]:
    """Measures of a fitted model on rows that it has not seen."""
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    if task == "classification":
        return _classes(model, X, y, weight, {k: v for k, v in (known or {}).items() if k == "offset"})
    return of_numbers(np.asarray(y, dtype=float), predict(model, X, known), task, weight, known)


def of_numbers(
    y: np.ndarray, mu: np.ndarray, task: str, weight: np.ndarray, known: dict[str, Any] | None = None
) -> dict[str, float]:
    """Measures of predicted numbers.

    Examples
    --------
    >>> of_numbers(np.array([0.0, 2.0]), np.array([1.0, 2.0]), "regression", np.ones(2))
    {'r2': 0.5, 'rmse': 0.707..., 'mae': 0.5}
    """
    if task == "counts":
        exposure = np.asarray((known or {}).get("exposure", np.ones(len(y))), dtype=float)
        exposure = exposure * np.exp(np.asarray((known or {}).get("offset", np.zeros(len(y)))))
        rate = float(weight @ y) / float(weight @ exposure)
        deviance = _poisson(y, np.maximum(mu, 1e-12), weight)
        null = _poisson(y, np.maximum(rate * exposure, 1e-12), weight)
        explained = 1.0 - deviance / null if null > 0 else float("nan")
        return {"explained": explained, "deviance": deviance}
    mse = float(np.average((y - mu) ** 2, weights=weight))
    spread = float(np.average((y - np.average(y, weights=weight)) ** 2, weights=weight))
    return {
        "r2": 1.0 - mse / spread if spread > 0 else float("nan"),
        "rmse": float(np.sqrt(mse)),
        "mae": float(np.average(np.abs(y - mu), weights=weight)),
    }


def _classes(
    model: Any, X: Any, y: np.ndarray, weight: np.ndarray, known: dict[str, Any]
) -> dict[str, float]:
    hit = predict(model, X, known) == y
    made = {"accuracy": float(np.average(hit, weights=weight))}
    made["most_frequent"] = max(float(weight[y == c].sum()) for c in np.unique(y)) / float(weight.sum())
    if not hasattr(model, "predict_proba"):
        return made
    P = np.asarray(predict(model, X, known, "predict_proba"), dtype=float)
    place = {c: k for k, c in enumerate(model.classes_.tolist())}
    truth = np.array([P[i, place[c]] if c in place else 0.0 for i, c in enumerate(y.tolist())])
    made["log_loss"] = float(-np.average(np.log(np.clip(truth, 1e-15, 1.0)), weights=weight))
    if P.shape[1] == 2 and len(np.unique(y)) == 2:
        made["auc"] = float(metrics.roc_auc_score(y == model.classes_[1], P[:, 1], sample_weight=weight))
    return made


def _poisson(y: np.ndarray, mu: np.ndarray, weight: np.ndarray) -> float:
    return float(metrics.mean_poisson_deviance(y, mu, sample_weight=weight))


def as_words(name: str, value: float) -> str:
    """A measure as text: shares in per cent."""
    if name in ("accuracy", "most_frequent", "explained"):
        return f"{100 * value:.1f} %"
    return f"{value:.4f}" if name in ("r2", "log_loss", "auc") else f"{value:.5g}"
