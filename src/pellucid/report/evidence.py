"""How good a model is: scores on the rows given, on rows held out, and by leave-one-out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import metrics

from pellucid.report.response import Response


def targets_as_numbers(y: np.ndarray, response: Response) -> np.ndarray:
    """Targets of shape (n, outputs) beside the answers: numbers, or 1 for the class and 0 otherwise."""
    classes = response.classes
    if classes is None:
        return np.asarray(y, dtype=float).reshape(len(y), -1)
    several = classes if len(classes) > 2 else classes[1:]
    return np.column_stack([(np.asarray(y) == c).astype(float) for c in several])


def scores(y: np.ndarray, answers: np.ndarray, response: Response, weight: np.ndarray) -> list[list[str]]:
    """Scores on the rows given, as labels and values."""
    if response.classes is None:
        return _regression_scores(np.asarray(y, dtype=float).reshape(len(y), -1), answers, weight)
    predicted = classes_of(answers, response)
    facts = [["accuracy", _percent(metrics.accuracy_score(np.asarray(y), predicted, sample_weight=weight))]]
    share = max(weight[np.asarray(y) == c].sum() for c in response.classes) / weight.sum()
    facts.append(["share of the most frequent class", _percent(share)])
    if response.kind == "probability":
        full = answers if answers.shape[1] > 1 else np.column_stack([1.0 - answers, answers])
        kept = np.clip(full, 1e-15, 1.0)
        places = [response.classes.index(c) for c in np.asarray(y).tolist()]
        loss = -np.average(np.log(kept[np.arange(len(kept)), places]), weights=weight)
        facts.append(["log-loss", f"{loss:.4g}"])
    if len(response.classes) == 2 and len(np.unique(np.asarray(y))) == 2:
        truth = np.asarray(y) == response.classes[1]
        auc = metrics.roc_auc_score(truth, answers[:, 0], sample_weight=weight)
        facts.append(["area under the ROC curve", f"{auc:.4f}"])
    return facts


def _regression_scores(y: np.ndarray, answers: np.ndarray, weight: np.ndarray) -> list[list[str]]:
    facts = []
    for q in range(y.shape[1]):
        which = f", output {q}" if y.shape[1] > 1 else ""
        error = y[:, q] - answers[:, q]
        mse = np.average(error**2, weights=weight)
        spread = np.average((y[:, q] - np.average(y[:, q], weights=weight)) ** 2, weights=weight)
        if spread > 0:
            facts.append([f"R²{which}", f"{1.0 - mse / spread:.4f}"])
        facts.append([f"RMSE{which}", f"{np.sqrt(mse):.5g}"])
        facts.append([f"mean absolute error{which}", f"{np.average(np.abs(error), weights=weight):.5g}"])
    return facts


def classes_of(answers: np.ndarray, response: Response) -> np.ndarray:
    """The classes that the answers stand for."""
    assert response.classes is not None
    if answers.shape[1] == 1:
        place = (answers[:, 0] > (0.5 if response.kind == "probability" else 0.0)).astype(int)
    else:
        place = np.argmax(answers, axis=1)
    return np.array(response.classes)[place]


@dataclass(frozen=True)
class LeftOut:
    """Leave-one-out results that belong to the rows of the report."""

    loo: Any
    rows: np.ndarray
    """The rows that were left out: all of them, or some of many."""
    answers: np.ndarray | None
    """Answers for these rows by models fitted without them; ``None`` where a classifier has other scores."""


def loo_of(model: Any, y: np.ndarray, response: Response) -> LeftOut | None:
    """The model's leave-one-out results, if they belong to these rows."""
    loo = getattr(model, "loo_", None)
    if loo is None or not hasattr(loo, "predictions"):
        return None
    predictions = np.asarray(loo.predictions, dtype=float)
    predictions = predictions.reshape(len(predictions), -1)
    rows = np.asarray(getattr(model, "loo_rows_", np.arange(len(y))))
    if len(rows) != len(predictions) or rows.max(initial=0) >= len(y):
        return None
    told = predictions + np.asarray(loo.residuals).reshape(predictions.shape)
    truth = targets_as_numbers(y, response)[rows]
    same = told.shape == truth.shape and np.allclose(told, truth, equal_nan=True)
    if not same and response.classes is None:
        return None
    return LeftOut(loo, rows, predictions if same else None)


def loo_facts(left: LeftOut, y: np.ndarray, response: Response) -> list[list[str]]:
    """Leave-one-out scores as labels and values."""
    loo, facts = left.loo, []
    if getattr(loo, "error_rate", None) is not None:
        facts.append(["leave-one-out accuracy", _percent(1.0 - loo.error_rate)])
    if response.classes is None:
        mse = np.atleast_1d(loo.mse)
        spread = np.atleast_1d(np.var(np.asarray(y, dtype=float)[left.rows], axis=0))
        for q, value in enumerate(mse):
            which = f", output {q}" if len(mse) > 1 else ""
            if spread[q] > 0:
                facts.append([f"leave-one-out R²{which}", f"{1.0 - value / spread[q]:.4f}"])
            facts.append([f"leave-one-out RMSE{which}", f"{np.sqrt(value):.5g}"])
    elif left.answers is not None and response.kind == "probability":
        weight = np.ones(len(left.rows))
        told = scores(np.asarray(y)[left.rows], left.answers, response, weight)
        facts += [[f"leave-one-out {label}", value] for label, value in told if label in _KEPT]
    if facts and len(left.rows) < len(y):
        facts.append(["rows left out", f"{len(left.rows)} of {len(y)}, one at a time"])
    return facts


_KEPT = ("log-loss", "area under the ROC curve")


def tried(model: Any, left: LeftOut | None) -> tuple[np.ndarray, np.ndarray, float, str] | None:
    """Strengths, errors, the strength in use, and what the errors are."""
    path = None if left is None else getattr(left.loo, "path", None)
    if path is not None:
        error = np.sqrt(np.asarray(path.mse).reshape(len(path.alphas), -1)[:, 0])
        chosen = float(np.ravel(getattr(model, "alpha_", path.alphas[np.argmin(error)]))[0])
        return np.asarray(path.alphas), error, chosen, "leave-one-out RMSE"
    path = getattr(model, "alpha_path_", None)
    if path is not None and hasattr(path, "deviance"):
        return np.asarray(path.alphas), np.asarray(path.deviance), float(path.best), "held-out deviance"
    path = getattr(model, "path_", None)
    if path is not None and getattr(path, "error", None) is not None:
        alphas = np.asarray(path.alphas)
        return alphas, np.asarray(path.error), float(alphas[path.best]), "held-out loss"
    return None


def held_out_facts(model: Any) -> list[list[str]]:
    """What folds said when the strength of smoothing was chosen, and the certificate's scores."""
    found = tried(model, None)
    facts = []
    if found is not None:
        alphas, error, mark, label = found
        at = int(np.argmin(np.abs(np.log(alphas) - np.log(mark))))
        facts.append([f"{label} at the chosen alpha", f"{error[at]:.5g}"])
        facts.append([f"{label} at the largest alpha tried", f"{error[int(np.argmax(alphas))]:.5g}"])
    certificate = getattr(model, "certificate_", None)
    if certificate is not None and certificate.score_linear is not None:
        facts.append([f"score of the coefficients ({certificate.how})", f"{certificate.score_linear:.4f}"])
        facts.append([f"score of the kernel model ({certificate.how})", f"{certificate.score_kernel:.4f}"])
    return facts


def rounded(values: np.ndarray, digits: int = 6) -> list[Any]:
    """Numbers for display only: some significant digits, ``None`` for what is not finite."""
    return [float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in np.ravel(values)]


def _percent(share: float) -> str:
    return f"{100 * float(share):.1f} %"
