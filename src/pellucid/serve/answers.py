"""Predictions of a model, taken apart into contributions as far as the model has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.effects.explanation import scale_of
from pellucid.effects.stability import features_first
from pellucid.report.response import Response
from pellucid.serve.errors import RequestError
from pellucid.serve.features import Feature, Rows
from pellucid.serve.served import Served

_MOST_NUMBERS = 2_000_000  # contributions in one answer


@dataclass(frozen=True)
class Parts:
    """Predictions as sums: ``intercept + values.sum(axis=1)`` is the linear predictor.

    ``values`` has the shape (n, terms, outputs).
    """

    names: list[str]
    values: np.ndarray
    intercept: np.ndarray


def parts_of(model: Any, X: Any) -> Parts | None:
    """Contributions of terms or of coefficients at rows; ``None`` if a model has neither."""
    inner = getattr(model, "best_estimator_", model)
    if hasattr(inner, "contributions") and hasattr(inner, "term_names_"):
        values = np.asarray(inner.contributions(X), dtype=float)
        return Parts([*map(str, inner.term_names_)], values.reshape(*values.shape[:2], -1), _start(inner))
    if getattr(inner, "coef_", None) is None or not hasattr(inner, "intercept_"):
        return None
    rows = np.asarray(X, dtype=float)
    coef = inner.coef_.toarray() if hasattr(inner.coef_, "toarray") else np.asarray(inner.coef_, dtype=float)
    ours = type(inner).__module__.split(".")[0] == "pellucid"
    coef = features_first(np.atleast_1d(coef), rows.shape[1], rows=ours).reshape(rows.shape[1], -1)
    centre = np.asarray(getattr(inner, "feature_mean_", np.zeros(rows.shape[1])), dtype=float)
    names = getattr(inner, "feature_names_in_", [f"x{j}" for j in range(rows.shape[1])])
    return Parts([*map(str, names)], (rows - centre)[:, :, None] * coef, _start(inner) + centre @ coef)


def _start(model: Any) -> np.ndarray:
    return np.atleast_1d(np.asarray(model.intercept_, dtype=float))


def why_none(model: Any) -> str:
    """A sentence for models whose predictions are no sums."""
    name = type(getattr(model, "best_estimator_", model)).__name__
    return f"{name} is not a sum of terms, so its predictions have no exact contributions."


_MOVES = (
    "Asked for one row, 'moves' says how far the answer moves when one value is put at a usual one; moves do "
    "not add up."
)


def predict(
    model: Any, served: Served, rows: Rows, *, contributions: bool = True, moves: bool = False
) -> dict[str, Any]:
    """Predictions of rows as they go out of the endpoint."""
    response = Response(model)
    X, known = served.table(rows), served.known_of(rows)
    if contributions:
        _check_size(getattr(model, "best_estimator_", model), len(rows), max(len(response.outputs), 1))
    try:
        answers = response(X, **known)
        parts = parts_of(model, X) if contributions else None
    except (ValueError, TypeError) as error:
        raise RequestError(422, " ".join(str(error).split())[:400]) from None
    if not np.all(np.isfinite(answers)):
        raise RequestError(422, "The model has no finite prediction for some of these rows.")
    outputs = list(response.outputs)
    made: dict[str, Any] = {
        "target": served.target,
        "kind": "classes" if response.classes is not None else "number",
        "classes": None if response.classes is None else [str(c) for c in response.classes],
        "scale": scale_of(getattr(model, "best_estimator_", model)),
        "outputs": outputs or None,
        "predictions": [_one(response, line) for line in answers],
        "warnings": list(dict.fromkeys(response.said)),
    }
    if contributions and parts is None:
        made["note"] = f"{why_none(model)} {_MOVES}"
    if parts is not None:
        _add_parts(made["predictions"], parts, outputs, known)
    for i, far in _outside(served.features, rows):
        made["predictions"][i].setdefault("outside", []).append(far)
    if moves and len(rows) == 1 and parts is None:
        made["predictions"][0]["moves"] = _moves(response, served, rows, known, answers)
    return made


def _check_size(model: Any, n: int, outputs: int) -> None:
    """Refuse what would be too many contributions, before they are computed."""
    size = n * outputs * len(getattr(model, "term_names_", range(model.n_features_in_)))
    if size > _MOST_NUMBERS:
        raise RequestError(
            413,
            f"{n:,} rows have {size:,} contributions, and at most {_MOST_NUMBERS:,} are sent at a time: ask "
            f"for fewer rows, or for no contributions.",
        )


def _one(response: Response, line: np.ndarray) -> dict[str, Any]:
    """One answer: the prediction, with probabilities or scores for classes."""
    classes = response.classes
    if classes is None:
        return {"prediction": float(line[0]) if len(line) == 1 else line.tolist()}
    names = [str(c) for c in classes]
    if len(line) == 1:
        top = int(line[0] > (0.5 if response.kind == "probability" else 0.0))
        values = (
            [1.0 - float(line[0]), float(line[0])] if response.kind == "probability" else [float(line[0])]
        )
    else:
        top, values = int(np.argmax(line)), [float(v) for v in line]
    what = "probabilities" if response.kind == "probability" else "scores"
    return {"prediction": names[top], what: dict(zip(names[-len(values) :], values, strict=True))}


def _add_parts(
    made: list[dict[str, Any]], parts: Parts, outputs: list[str], known: dict[str, np.ndarray]
) -> None:
    """Contributions and sums; an offset or the log of an exposure is named beside the terms."""
    offset = known.get("offset", 0.0) + np.log(known.get("exposure", 1.0))
    total = parts.intercept + parts.values.sum(axis=1) + np.reshape(offset * np.ones(len(made)), (-1, 1))
    for i, one in enumerate(made):
        if parts.values.shape[2] == 1:
            one["intercept"] = float(parts.intercept[0])
            one["contributions"] = dict(zip(parts.names, parts.values[i, :, 0].tolist(), strict=True))
            one["sum"] = float(total[i, 0])
        else:
            labels = outputs or [str(k) for k in range(parts.values.shape[2])]
            one["intercept"] = dict(zip(labels, parts.intercept.tolist(), strict=True))
            one["contributions"] = {
                name: dict(zip(labels, line, strict=True))
                for name, line in zip(parts.names, parts.values[i].tolist(), strict=True)
            }
            one["sum"] = dict(zip(labels, total[i].tolist(), strict=True))
        if known:
            one["offset"] = float(np.ravel(offset * np.ones(len(made)))[i])


def _outside(features: list[Feature], rows: Rows) -> list[tuple[int, str]]:
    """Rows with names of features whose values training has not seen."""
    found = []
    for f in features:
        if not f.used:
            continue
        column = rows.frame[f.name]
        if f.kind == "category":
            known = set(f.levels)
            bad = [bool(known) and v is not None and v not in known for v in column]
        elif f.low is None or f.high is None or f.kind == "date":
            continue
        else:
            bad = list((column < f.low) | (column > f.high))
        found += [(i, f.name) for i in np.flatnonzero(bad).tolist()]
    return found


def _moves(
    response: Response, served: Served, rows: Rows, known: dict[str, np.ndarray], answers: np.ndarray
) -> dict[str, Any]:
    """How far the answers are from those of the row with one value after the other put at a usual one."""
    names = [f.name for f in served.features if f.middle is not None]
    if not names:
        return {}
    frame = rows.frame.iloc[[0] * len(names)].reset_index(drop=True)
    middles = {f.name: f.column([f.middle])[0] for f in served.features if f.name in names}
    for i, name in enumerate(names):
        frame.loc[i, name] = middles[name]
    many = {key: np.repeat(values, len(names)) for key, values in known.items()}
    moved = answers - response(served.table(Rows(frame)), **many)
    moved[np.abs(moved) <= 1e-9 * np.abs(answers).max()] = 0.0  # a row among others is rounded differently
    if moved.shape[1] == 1:
        return dict(zip(names, moved[:, 0].tolist(), strict=True))
    labels = list(response.outputs) or [str(k) for k in range(moved.shape[1])]
    return {n: dict(zip(labels, line, strict=True)) for n, line in zip(names, moved.tolist(), strict=True)}
