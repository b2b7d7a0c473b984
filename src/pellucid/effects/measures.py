"""How good predictions are: numbers, counts and classes, by the usual measures under one set of names."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn import metrics

from pellucid.linalg import power_of_two

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
    "concordance": "concordance",
    "pinball": "pinball loss",
    "expectile_loss": "asymmetric squared error",
}


def title(name: str) -> str:
    """A measure in words; shares below quantiles have their level in the name.

    Examples
    --------
    >>> title("rmse"), title("below 0.9")
    ('RMSE', 'share below the 90 % quantile')
    """
    if name.startswith("below "):
        return f"share below the {100 * float(name[6:]):g} % quantile"
    return TITLES.get(name, name)


def as_words(name: str, value: float) -> str:
    """A measure as text: shares in per cent."""
    if name in ("accuracy", "most_frequent", "explained") or name.startswith("below "):
        return f"{100 * value:.1f} %"
    return f"{value:.4f}" if name in ("r2", "log_loss", "auc", "concordance") else f"{value:.5g}"


def measures_of_numbers(y: np.ndarray, mu: np.ndarray, weight: np.ndarray) -> dict[str, float]:
    """R² (NaN if all targets are the same), root mean squared error and mean absolute error.

    Examples
    --------
    >>> measures_of_numbers(np.array([0.0, 2.0]), np.array([1.0, 2.0]), np.ones(2))
    {'r2': 0.5, 'rmse': 0.707..., 'mae': 0.5}
    """
    unit = float(power_of_two(float(np.abs(np.append(y, mu)).max(initial=0.0))))  # squares may overflow
    mse = float(np.average(((y - mu) / unit) ** 2, weights=weight))
    spread = float(np.average((y / unit - np.average(y / unit, weights=weight)) ** 2, weights=weight))
    return {
        "r2": 1.0 - mse / spread if spread > 0 else float("nan"),
        "rmse": unit * float(np.sqrt(mse)),
        "mae": float(np.average(np.abs(y - mu), weights=weight)),
    }


def measures_of_counts(
    y: np.ndarray, mu: np.ndarray, amount: np.ndarray, weight: np.ndarray
) -> dict[str, float]:
    """Poisson deviance, and its share explained beside a constant rate per ``amount`` (the exposure).

    The share is NaN where all counts are zero: the constant rate is then perfect.
    """
    rate = float(weight @ y) / float(weight @ amount)
    deviance, null = (
        float(metrics.mean_poisson_deviance(y, np.maximum(m, 1e-12), sample_weight=weight))
        for m in (mu, rate * amount)
    )
    return {"explained": 1.0 - deviance / null if rate > 0 and null > 0 else np.nan, "deviance": deviance}


def measures_of_classes(
    y: np.ndarray,
    predicted: np.ndarray,
    classes: Sequence[Any],
    weight: np.ndarray,
    P: np.ndarray | None = None,
    score: np.ndarray | None = None,
) -> dict[str, float]:
    """Measures of predicted classes, of probabilities ``P`` (n, classes), of scores of the second class."""
    y, seen = np.asarray(y), np.unique(y)
    made = {
        "accuracy": float(np.average(np.asarray(predicted) == y, weights=weight)),
        "most_frequent": max(float(weight[y == c].sum()) for c in seen) / float(weight.sum()),
    }
    if P is not None:
        place = {c: k for k, c in enumerate(classes)}
        truth = np.array([P[i, place[c]] if c in place else 0.0 for i, c in enumerate(y.tolist())])
        made["log_loss"] = float(-np.average(np.log(np.clip(truth, 1e-15, 1.0)), weights=weight))
        score = P[:, 1] if len(classes) == 2 else None
    if score is not None and len(classes) == 2 and set(seen.tolist()) == set(classes):
        made["auc"] = float(metrics.roc_auc_score(y == classes[1], score, sample_weight=weight))
    return made
