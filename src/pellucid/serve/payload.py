"""What the page shows of a model: effects as the report has them, the form for a row, the log of edits."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.effects.explanation import scale_of
from pellucid.effects.summary import counted
from pellucid.report.decomposition import Decomposition, decompose, features_without_effect, ranked_effects
from pellucid.report.facts import model_facts, parameter_facts
from pellucid.report.packing import rounded
from pellucid.report.response import Response
from pellucid.report.rows import observed
from pellucid.report.terms import importance_payload, term_payload
from pellucid.serve.answers import why_none
from pellucid.serve.downloads import downloads_of
from pellucid.serve.errors import RequestError
from pellucid.serve.served import Served
from pellucid.serve.versions import Versions

_MOST_TERMS = 300
_ROWS = 200  # rows of the data that can be picked


def page_payload(versions: Versions) -> dict[str, Any]:
    """Everything that the page needs, for the version in use."""
    version, served = versions.now, versions.served
    model = version.model
    inner = getattr(model, "best_estimator_", model)
    response = Response(model)
    shown = _shown(inner, response, served)
    return {
        "title": served.title,
        "version": version.number,
        "task": {
            "kind": response.kind,
            "classes": None if response.classes is None else [str(c) for c in response.classes],
            "outputs": list(response.outputs),
        },
        "target": served.target,
        "reading": shown.kind,
        "scale": "average prediction" if shown.kind == "averages" else scale_of(inner),
        "importances": importance_payload(shown, inner),
        "terms": [term_payload(effect, shown, inner) for effect in shown.effects[:_MOST_TERMS]],
        "left_out": max(len(shown.effects) - _MOST_TERMS, 0),
        "absent": shown.absent,
        "features": [_field(f) for f in served.features],
        "known": sorted(served.known.values()),
        "rows": _rows(served, response),
        "source": served.source,
        "size": 0 if served.sample is None else len(served.sample),
        "can": {"edit": versions.editable, "undo": versions.can_undo, "refit": versions.can_refit},
        "no_parts": None if _has_parts(inner) else why_none(model),
        "edits": [str(edit) for edit in getattr(inner, "edits_", [])],
        "edits_before": len(getattr(versions.original.model, "edits_", [])),
        "downloads": downloads_of(inner, served),
        "facts": model_facts(inner),
        "parameters": parameter_facts(inner),
        "headline": _headline(inner, served, shown),
    }


def _shown(model: Any, response: Response, served: Served) -> Decomposition:
    """The report's decomposition, without what only a page that computes by itself needs."""
    columns = served.columns
    if getattr(model, "effects_", None) is not None and hasattr(model, "contributions"):
        effects = ranked_effects(model)
        absent = features_without_effect(effects, columns)
        return Decomposition("terms", effects, model.importances_, None, absent)
    X = served.sample.X if served.sample is not None else served.background
    if not columns or X is None:
        return Decomposition("nothing", [], None, None, [])
    return decompose(model, response, columns, X)


def _has_parts(model: Any) -> bool:
    return hasattr(model, "contributions") or getattr(model, "coef_", None) is not None


def _field(feature: Any) -> dict[str, Any]:
    return {
        "name": feature.name,
        "kind": feature.kind,
        "levels": list(feature.levels[:1000]),
        "low": feature.low,
        "high": feature.high,
        "middle": feature.middle,
        "used": feature.used,
    }


def _rows(served: Served, response: Response) -> dict[str, Any]:
    """Some rows of the data, to begin with."""
    sample = served.sample
    if sample is None or not served.seen:
        return {"index": [], "cells": [], "observed": []}
    some = np.sort(np.random.default_rng(0).permutation(len(sample))[:_ROWS])
    by_name = {cells.name: cells for cells in served.seen}
    if any(f.name not in by_name for f in served.features):
        return {"index": [], "cells": [], "observed": []}
    numbers = sample.numbers[some]
    columns = [by_name[f.name].plain(numbers) for f in served.features]
    y = sample.y.reshape(len(sample), -1)[some, 0]
    return {
        "index": (numbers + 1).tolist(),
        "cells": [list(row) for row in zip(*columns, strict=True)],
        "observed": [observed(v, response) for v in y],
    }


def _headline(model: Any, served: Served, shown: Decomposition) -> list[list[str]]:
    """The numbers at the top: value, label, detail."""
    cards = []
    if shown.kind == "terms":
        number, _, word = counted(len(shown.effects), "term").partition(" ")
        cards.append([number, word, "functions that add up to the prediction"])
    number, _, word = counted(len(served.features), "feature").partition(" ")
    cards.append([number, word, "in a row"])
    if served.sample is not None:
        number, _, word = counted(len(served.sample), "row").partition(" ")
        cards.append([number, word, f"of {served.source}, to compare and to fit with"])
    if hasattr(model, "edits_"):
        number, _, word = counted(len(model.edits_), "edit").partition(" ")
        cards.append([number, word, "since the model was fitted"])
    return cards


def term_detail(versions: Versions, name: str) -> dict[str, Any]:
    """One term with all its points, before the session and now; surfaces at the points that are shown."""
    now, first = versions.now, versions.original
    if not versions.editable or name not in now.model.effects_:
        raise RequestError(404, "There is no such term.")
    served, model = versions.served, now.model
    shown = _shown(model, Response(model), served)
    effect = model.effects_[name]
    payload = term_payload(effect, shown, model)
    if len(effect.grids) == 2:
        return payload | {"version": now.number, "before": None, "axes": _axes(model, name)}
    tables, t = model.tables_, model.tables_.names.index(name)
    m = tables.tables[t].shape[0] - 1

    payload["thin"] = {"points": payload["grids"][0]["points"], "density": payload["density"]}

    def lines(table: np.ndarray) -> list[list[float | None]]:
        return [rounded(column, 8) for column in table[:m].reshape(m, -1).T]

    old = first.model.tables_
    payload["values"] = lines(tables.tables[t])
    payload["before"] = lines(old.tables[old.names.index(name)]) if name in old.names else None
    if payload["before"] is not None and len(payload["before"][0]) != m:
        payload["before"] = None
    grid = effect.grids[0]
    points = np.asarray(grid.points[: m - int(grid.missing)])
    payload["grids"][0]["points"] = [str(p) for p in points] if grid.levels else rounded(points, 12)
    payload["density"] = rounded(effect.density)
    se = None if effect.se is None else effect.se.reshape(m, -1)
    payload["se"] = None if se is None else [rounded(column) for column in se.T]
    return payload | {"version": now.number, "axes": _axes(model, name)}


def _axes(model: Any, name: str) -> list[dict[str, Any]]:
    """Features of a term with what can be chosen of them."""
    tables = model.tables_
    t = tables.names.index(name)
    made = []
    for j, axis in zip(tables.terms[t], tables.axes(t), strict=True):
        column = tables.columns[j]
        knots = np.asarray(axis.knots, dtype=float)
        made.append(
            {
                "feature": column.name,
                "levels": None if column.levels is None else [str(level) for level in column.levels],
                "low": None if column.levels is not None or not len(knots) else float(knots[0]),
                "high": None if column.levels is not None or not len(knots) else float(knots[-1]),
                "missing": bool(axis.missing),
            }
        )
    return made
