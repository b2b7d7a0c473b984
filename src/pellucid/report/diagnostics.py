"""Pictures in which one sees whether something is wrong with a model, as data with captions."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.effects.measures import measures_of_numbers
from pellucid.effects.outcome_measures import Outcome
from pellucid.effects.summary import counted
from pellucid.losses import Quantile
from pellucid.report.evidence import LeftOut, classes_of, targets_as_numbers, tried
from pellucid.report.packing import rounded
from pellucid.report.response import Response
from pellucid.report.sample import Sample

_POINTS = 800  # rows in a scatter plot
_GROUPS = 10  # of rows with similar predictions

_HOW = {
    True: "Each row is predicted by the model that was fitted without it.",
    False: "These are the rows given; if the model was fitted on them, it looks better here than it will on "
    "new ones.",
}

Chart = dict[str, Any]


def charts(
    sample: Sample, answers: np.ndarray, response: Response, left: LeftOut | None, model: Any
) -> list[Chart]:
    """Diagnostic pictures of a model on the rows given, by leave-one-out where it is there."""
    out = left is not None and left.answers is not None
    if left is not None and left.answers is not None:
        sample, answers = left.part(sample), left.answers
    made = []
    outcome = response.outcome(sample, answers)
    if outcome is not None and response.survival:
        made.append(_events(outcome))
    elif response.classes is None:
        y = sample.y.astype(float).reshape(len(sample), -1)[:, 0]
        middle = 0 if outcome is None else outcome.middle
        made += _regression(y, answers[:, middle], sample.numbers, left)
    else:
        made.append(_confusion(sample.y, answers, response, out))
    if outcome is not None and outcome.levels:
        made += _levels(outcome)
    elif response.kind != "score" and not response.survival:
        made.append(_groups(sample, answers[:, 0], response, out))
    path = _path(model, left)
    return made if path is None else [*made, path]


def _regression(y: np.ndarray, predicted: np.ndarray, index: np.ndarray, left: LeftOut | None) -> list[Chart]:
    how, left_out = "prediction", ""
    if left is not None:
        how, left_out = "prediction without the row", ", predicted by the model that was fitted without it"
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:_POINTS])
    residual = y - predicted
    spread = measures_of_numbers(y, predicted, np.ones(len(y)))["rmse"]
    large = float(np.mean(np.abs(residual) > 2 * spread)) if spread > 0 else 0.0
    sampled = f" {len(rows)} of {counted(len(y), 'row')} are shown." if len(rows) < len(y) else ""
    made = [
        _scatter("Predicted and observed", predicted[rows], y[rows], index[rows], how, "observed")
        | {
            "diagonal": True,
            "caption": f"Each point is a row{left_out}. On the dashed line prediction and observation agree; "
            f"the typical distance from it is {spread:.4g}.{sampled}",
        },
        _scatter("Residuals", predicted[rows], residual[rows], index[rows], how, "observed − predicted")
        | {
            "zero": True,
            "caption": "A good model leaves a cloud without shape around the line. A bend means that "
            "something is missed, a funnel that errors grow with the prediction. "
            f"{100 * large:.1f} % of the rows are further off than twice the typical error.",
        },
    ]
    if left is not None:
        leverage = np.asarray(left.loo.leverages).reshape(len(y), -1)[:, 0]
        label = "observed − predicted without the row"
        made.append(
            _scatter("Rows that pull hard", leverage[rows], residual[rows], index[rows], "leverage", label)
            | {
                "zero": True,
                "caption": "Leverage says how much a row decides its own fitted value. Rows at the right "
                f"with large residuals deserve a second look. The largest leverage is {leverage.max():.3g}.",
            }
        )
    return made


def _scatter(title: str, x: np.ndarray, y: np.ndarray, rows: np.ndarray, xlabel: str, ylabel: str) -> Chart:
    return {
        "type": "scatter",
        "title": title,
        "x": rounded(x),
        "y": rounded(y),
        "rows": rows.tolist(),
        "xlabel": xlabel,
        "ylabel": ylabel,
    }


def _confusion(y: np.ndarray, answers: np.ndarray, response: Response, out: bool) -> Chart:
    classes = response.classes
    assert classes is not None
    place = {c: i for i, c in enumerate(classes)}
    counts = np.zeros((len(classes), len(classes)), dtype=int)
    for truth, guess in zip(np.asarray(y).tolist(), classes_of(answers, response).tolist(), strict=True):
        counts[place[truth], place[guess]] += 1
    wrong = int(counts.sum() - np.trace(counts))
    return {
        "type": "confusion",
        "title": "Observed and predicted classes",
        "classes": [str(c) for c in classes],
        "counts": counts.tolist(),
        "caption": f"Rows of the table are observed classes, columns predicted ones: {wrong} of "
        f"{counts.sum()} rows are in the wrong class. {_HOW[out]}",
    }


def _groups(sample: Sample, answers: np.ndarray, response: Response, out: bool) -> Chart:
    """Mean prediction and mean observation in groups of similar predictions, per exposure if there is one."""
    truth, amount = targets_as_numbers(sample.y, response)[:, 0], response.amount(sample)
    what, weight = "value", sample.weight
    if amount is not None:
        what, weight = "value per exposure", weight * amount
        answers, truth = answers / amount, truth / amount
    if response.classes is not None:
        what = f"share of {response.classes[0] if len(response.classes) > 2 else response.classes[-1]}"
    order = np.argsort(answers, kind="stable")
    parts = [part for part in np.array_split(order, min(_GROUPS, len(order))) if weight[part].sum() > 0]
    x = np.array([np.average(answers[part], weights=weight[part]) for part in parts])
    seen = np.array([np.average(truth[part], weights=weight[part]) for part in parts])
    worst = int(np.argmax(np.abs(seen - x)))
    return {
        "type": "scatter",
        "title": "Are predictions right on average?",
        "x": rounded(x),
        "y": rounded(seen),
        "sizes": [len(part) for part in parts],
        "xlabel": f"mean predicted {what}",
        "ylabel": f"mean observed {what}",
        "diagonal": True,
        "joined": True,
        "caption": f"Rows are put into {counted(len(parts), 'group')} by their prediction. In a calibrated "
        f"model the points lie on the dashed line. The largest gap is between {x[worst]:.4g} predicted and "
        f"{seen[worst]:.4g} observed. {_HOW[out]}",
    }


def _levels(outcome: Outcome) -> list[Chart]:
    """Shares of rows below quantiles beside their levels; expectiles have no such share."""
    if not isinstance(outcome.loss, Quantile):
        return []
    below = np.array([np.average(outcome.y <= q, weights=outcome.weight) for q in outcome.mu.T])
    order = np.argsort(outcome.levels)
    return [
        {
            "type": "scatter",
            "title": "Do quantiles hold their level?",
            "x": rounded(np.array(outcome.levels)[order]),
            "y": rounded(below[order]),
            "sizes": [len(outcome.y)] * len(order),
            "xlabel": "level",
            "ylabel": "share of rows below",
            "diagonal": True,
            "joined": True,
            "caption": "On the dashed line as many rows are below a quantile as should be. " + _HOW[False],
        }
    ]


def _events(outcome: Outcome) -> Chart:
    """Events beside those expected, in groups of similar hazard, per unit of time."""
    time, event, w = np.abs(outcome.y), ~np.signbit(outcome.y), outcome.weight
    order = np.argsort(outcome.mu[:, 0], kind="stable")
    parts = [part for part in np.array_split(order, min(_GROUPS, len(order))) if w[part] @ time[part] > 0]
    x = np.array([w[part] @ outcome.expected_events()[part] / (w[part] @ time[part]) for part in parts])
    seen = np.array([w[part] @ event[part] / (w[part] @ time[part]) for part in parts])
    return {
        "type": "scatter",
        "title": "Do events come as often as expected?",
        "x": rounded(x),
        "y": rounded(seen),
        "sizes": [len(part) for part in parts],
        "xlabel": "expected events per unit of time",
        "ylabel": "observed events per unit of time",
        "diagonal": True,
        "joined": True,
        "caption": f"Rows are put into {counted(len(parts), 'group')} by their hazard. Expected is what "
        f"the baseline hazard and the model make of the time for which each row was seen. {_HOW[False]}",
    }


def _path(model: Any, left: LeftOut | None) -> Chart | None:
    """Error along the strengths of smoothing that were tried."""
    found = tried(model, left)
    if found is None:
        return None
    alphas, error, mark, label = found
    fine = np.isfinite(error) & (alphas > 0)
    if fine.sum() < 2:
        return None
    order = np.flatnonzero(fine)[np.argsort(alphas[fine])]
    return {
        "type": "path",
        "title": "How smooth? The choice of alpha",
        "x": rounded(alphas[order]),
        "y": rounded(error[order]),
        "mark": rounded(np.array([mark]))[0],
        "xlabel": "alpha (larger is smoother)",
        "ylabel": label,
        "caption": f"The model was tried at {int(fine.sum())} strengths of smoothing. The mark, alpha = "
        f"{mark:.3g}, is the one in use. A flat valley means that the choice hardly matters.",
    }
