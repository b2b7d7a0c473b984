"""How good a model is: scores on the rows given, on rows held out, and by leave-one-out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.metrics import precision_recall_fscore_support

from pellucid.effects.hand_edits import changed_since_fit
from pellucid.effects.measures import TITLES, as_words, measures_of_classes, measures_of_numbers, title
from pellucid.report.response import Response
from pellucid.report.sample import Sample

Facts = list[list[str]]


def targets_as_numbers(y: np.ndarray, response: Response) -> np.ndarray:
    """Targets of shape (n, outputs) beside the answers: numbers, or 1 for the class and 0 otherwise."""
    classes = response.classes
    if classes is None:
        return np.asarray(y, dtype=float).reshape(len(y), -1)
    several = classes if len(classes) > 2 else classes[1:]
    return np.column_stack([(np.asarray(y) == c).astype(float) for c in several])


def scores(sample: Sample, answers: np.ndarray, response: Response) -> Facts:
    """Scores of answers for the rows, as labels and values."""
    y, weight = sample.y, sample.weight
    if response.classes is not None:
        full = answers if answers.shape[1] > 1 else np.column_stack([1.0 - answers, answers])
        found = measures_of_classes(
            y,
            classes_of(answers, response),
            response.classes,
            weight,
            full if response.kind == "probability" else None,
            answers[:, 0],
        )
        return [[TITLES[name], as_words(name, value)] for name, value in found.items()]
    outcome = response.outcome(sample, answers)
    y = y.astype(float).reshape(len(y), -1)
    facts = []
    if outcome is not None:
        found = outcome.measures()
        facts = [[title(name), as_words(name, value)] for name, value in found.items()]
    for q in range(y.shape[1]) if outcome is None else ():
        found = measures_of_numbers(y[:, q], answers[:, q], weight)
        if np.isnan(found["r2"]):
            del found["r2"]
        name_of = response.outputs[q] if len(response.outputs) == y.shape[1] else f"output {q}"
        which = f", {name_of}" if y.shape[1] > 1 else ""
        facts += [[TITLES[name] + which, as_words(name, value)] for name, value in found.items()]
    amount = response.amount(sample)
    if amount is not None:
        whole = float(weight @ amount)
        facts.append(["observed per exposure", f"{float(weight @ y[:, 0]) / whole:.5g}"])
        facts.append(["predicted per exposure", f"{float(weight @ answers[:, 0]) / whole:.5g}"])
    if response.survival:
        assert outcome is not None
        facts.append(["events observed", f"{float(weight @ ~np.signbit(y[:, 0])):.5g}"])
        facts.append(["events expected", f"{float(weight @ outcome.expected_events()):.5g}"])
    return facts


def classes_of(answers: np.ndarray, response: Response) -> np.ndarray:
    """The classes that the answers stand for."""
    assert response.classes is not None
    if answers.shape[1] == 1:
        place = (answers[:, 0] > (0.5 if response.kind == "probability" else 0.0)).astype(int)
    else:
        place = np.argmax(answers, axis=1)
    return np.array(response.classes)[place]


def class_breakdown(sample: Sample, answers: np.ndarray, response: Response) -> list[list[str]]:
    """Of each class: its rows, how many of them are found, and how often its prediction is right."""
    assert response.classes is not None
    predicted, labels = classes_of(answers, response), [str(c) for c in response.classes]
    right, found, _, _ = precision_recall_fscore_support(
        sample.y.astype(str),
        predicted.astype(str),
        labels=labels,
        sample_weight=sample.weight,
        zero_division=np.nan,
    )
    rows = [int(np.sum(sample.y.astype(str) == label)) for label in labels]
    texts = [
        [f"{100 * v:.0f} %" if np.isfinite(v) else "–" for v in pair]
        for pair in zip(found, right, strict=True)
    ]
    return [[label, f"{n:,}", *pair] for label, n, pair in zip(labels, rows, texts, strict=True)]


@dataclass(frozen=True)
class LeftOut:
    """Leave-one-out results that belong to the rows of the report."""

    loo: Any
    rows: np.ndarray
    """The rows that were left out: all of them, or some of many."""
    answers: np.ndarray | None
    """Answers for these rows by models fitted without them; ``None`` where a classifier has other scores."""

    def part(self, sample: Sample) -> Sample:
        """The rows that were left out."""
        known = {key: values[self.rows] for key, values in sample.known.items()}
        y, weight, numbers = (a[self.rows] for a in (sample.y, sample.weight, sample.numbers))
        return replace(sample, y=y, weight=weight, known=known, numbers=numbers)


def loo_of(model: Any, y: np.ndarray, response: Response) -> LeftOut | None:
    """The model's leave-one-out results, if they belong to these rows and to the model as it is."""
    loo = getattr(model, "loo_", None)
    if loo is None or not hasattr(loo, "predictions") or changed_since_fit(model):
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


def loo_facts(left: LeftOut, sample: Sample, response: Response) -> Facts:
    """Leave-one-out scores as labels and values."""
    rate, facts = getattr(left.loo, "error_rate", None), []
    if left.answers is not None and response.kind != "score":
        facts = scores(left.part(sample), left.answers, response)
    if rate is not None:  # the model's own, of its own decisions
        own = ["accuracy", as_words("accuracy", 1.0 - rate)]
        facts = [own, *(fact for fact in facts if fact[0] != "accuracy")]
    facts = [fact for fact in facts if fact[0] not in (TITLES["most_frequent"], "observed per exposure")]
    facts = [[f"leave-one-out {label}", value] for label, value in facts]
    if facts and len(left.rows) < len(sample):
        facts.append(["rows left out", f"{len(left.rows)} of {len(sample)}, one at a time"])
    return facts


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


def held_out_facts(model: Any) -> Facts:
    """What folds said when the strength of smoothing was chosen, and the certificate's scores."""
    found = tried(model, None)
    facts = []
    if found is not None:
        alphas, error, mark, label = found
        at = int(np.argmin(np.abs(np.log(alphas) - np.log(mark))))
        facts.append([f"{label} at the chosen alpha", f"{error[at]:.5g}"])
        facts.append([f"{label} at the largest alpha tried", f"{error[int(np.argmax(alphas))]:.5g}"])
    again = getattr(
        model, "fold_deviance_explained_", None
    )  # where rows are few for the terms to choose from
    if again is not None and not changed_since_fit(model):
        facts.append(["deviance explained in folds, terms chosen again", as_words("explained", again)])
    certificate = getattr(model, "certificate_", None)
    if certificate is not None and certificate.score_linear is not None:
        facts.append([f"score of the coefficients ({certificate.how})", f"{certificate.score_linear:.4f}"])
        facts.append([f"score of the kernel model ({certificate.how})", f"{certificate.score_kernel:.4f}"])
    return facts
