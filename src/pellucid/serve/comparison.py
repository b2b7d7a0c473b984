"""The model before the session and now, beside each other on data."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.report.evidence import classes_of, scores
from pellucid.report.packing import rounded
from pellucid.report.response import Response
from pellucid.report.sample import Sample, read_sample
from pellucid.serve.answers import parts_of
from pellucid.serve.errors import RequestError
from pellucid.serve.features import Rows, numbers_of
from pellucid.serve.versions import Versions

_POINTS, _MOST_CHANGED, _BINS = 400, 12, 24


def compare_own(versions: Versions) -> dict[str, Any]:
    """On the data that the page was started with."""
    sample = versions.served.sample
    if sample is None:
        raise RequestError(422, "The page was started without data; upload a table to compare on.")
    return compare(versions, sample.X, sample.known, sample, sample.numbers)


def compare_rows(versions: Versions, rows: Rows) -> dict[str, Any]:
    """On the rows of a request, with scores if they bring targets."""
    served = versions.served
    X, known = served.table(rows), served.known_of(rows)
    if served.target not in rows.extra:
        return compare(versions, X, known, None, np.arange(len(rows)))
    y = _targets(versions.original.model, rows.extra[served.target], served.target)
    try:
        sample = read_sample(
            getattr(versions.now.model, "best_estimator_", versions.now.model), X, y, **known
        )
    except ValueError as error:
        raise RequestError(422, str(error)) from None
    return compare(versions, sample.X, sample.known, sample, sample.numbers)


def _targets(model: Any, values: list[Any], name: str) -> np.ndarray:
    classes = getattr(model, "classes_", None)
    if classes is None:
        return numbers_of(values, name)
    known = {str(c): c for c in classes.tolist()}
    strange = [v for v in values if str(v) not in known]
    if strange:
        raise RequestError(
            422, f"{name!r} holds {str(strange[0])[:60]!r}, which is none of the model's classes."
        )
    return np.array([known[str(v)] for v in values])


def compare(
    versions: Versions, X: Any, known: dict[str, np.ndarray], sample: Sample | None, numbers: np.ndarray
) -> dict[str, Any]:
    """Predictions, scores and contributions before the session and now."""
    models = versions.original.model, versions.now.model
    responses = [Response(model) for model in models]
    try:
        before, after = (response(X, **known) for response in responses)
    except (ValueError, TypeError) as error:
        raise RequestError(422, " ".join(str(error).split())[:400]) from None
    size = max(float(np.abs(before).max(initial=0.0)), 1e-300)
    change = after - before
    far = np.abs(change).max(axis=1)
    moved = far > 1e-12 * size
    column = np.argmax(np.abs(change), axis=1)
    signed = change[np.arange(len(change)), column]
    made: dict[str, Any] = {
        "version": versions.now.number,
        "rows": len(before),
        "what": "prediction" if responses[0].classes is None else responses[0].kind,
        "changed": int(moved.sum()),
        "mean_change": float(np.mean(signed)) if before.shape[1] == 1 else None,
        "mean_size": float(far.mean()),
        "largest": float(far.max(initial=0.0)),
        "reclassified": _reclassified(responses, before, after),
        "histogram": _histogram(signed[moved]),
        "scatter": _scatter(before, after, numbers) if before.shape[1] == 1 else None,
        "scores": [],
        "terms": _terms(models, X),
        "rows_changed": _largest(before, after, far, column, numbers, responses[0], moved),
    }
    if sample is not None:
        old, new = (scores(sample, a, r) for a, r in zip((before, after), responses, strict=True))
        now = {label: value for label, value in new}
        made["scores"] = [[label, value, now.get(label, "–")] for label, value in old]
    return made


def _reclassified(responses: list[Response], before: np.ndarray, after: np.ndarray) -> int | None:
    if responses[0].classes is None:
        return None
    return int(np.sum(classes_of(before, responses[0]) != classes_of(after, responses[1])))


def _histogram(values: np.ndarray) -> dict[str, Any] | None:
    if len(values) == 0:
        return None
    counts, edges = np.histogram(values, bins=_BINS if np.ptp(values) > 0 else 1)
    return {"counts": counts.tolist(), "edges": rounded(edges)}


def _scatter(before: np.ndarray, after: np.ndarray, numbers: np.ndarray) -> dict[str, Any]:
    some = np.sort(np.random.default_rng(0).permutation(len(before))[:_POINTS])
    return {
        "x": rounded(before[some, 0]),
        "y": rounded(after[some, 0]),
        "rows": (numbers[some] + 1).tolist(),
    }


def _terms(models: tuple[Any, Any], X: Any) -> list[dict[str, Any]]:
    """Mean size of the contributions of each term that changed."""
    parts = [parts_of(model, X) for model in models]
    if parts[0] is None or parts[1] is None:
        return []
    sizes = [
        dict(zip(p.names, np.abs(p.values).mean(axis=(0, 2)).tolist(), strict=True))
        for p in parts
        if p is not None
    ]
    values = [{n: p.values[:, t] for t, n in enumerate(p.names)} for p in parts if p is not None]
    made = []
    for name in dict.fromkeys([*sizes[0], *sizes[1]]):
        old, new = (v.get(name) for v in values)
        gap = np.abs((0.0 if new is None else new) - (0.0 if old is None else old))
        if gap.max(initial=0.0) > 0:
            made.append(
                {
                    "name": name,
                    "before": sizes[0].get(name, 0.0),
                    "after": sizes[1].get(name, 0.0),
                    "difference": float(gap.mean()),
                }
            )
    return sorted(made, key=lambda term: -term["difference"])[:40]


def _largest(
    before: np.ndarray,
    after: np.ndarray,
    far: np.ndarray,
    column: np.ndarray,
    numbers: np.ndarray,
    response: Response,
    moved: np.ndarray,
) -> list[dict[str, Any]]:
    """The rows whose answers changed most."""
    order = [i for i in np.argsort(-far, kind="stable")[:_MOST_CHANGED].tolist() if moved[i]]
    names = list(response.outputs)
    return [
        {
            "row": int(numbers[i]) + 1,
            "output": names[column[i]] if names else None,
            "before": float(before[i, column[i]]),
            "after": float(after[i, column[i]]),
        }
        for i in order
    ]
