"""The rows that can be picked in the page, with what the model says of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from pellucid.data.cells import Cells
from pellucid.report.evidence import LeftOut, rounded
from pellucid.report.page_model import Machine
from pellucid.report.reading import Reading
from pellucid.report.response import Response

_CARRIERS = 12  # training rows shown behind a prediction


def row_payload(
    model: Any,
    response: Response,
    reading: Reading,
    machine: Machine | None,
    columns: Sequence[Cells],
    X: Any,
    y: np.ndarray,
    rows: np.ndarray,
    left: LeftOut | None,
) -> dict[str, Any]:
    """Values, predictions and observations of some rows; contributions where the page has no machine."""
    if len(rows) == 0:
        return {"index": [], "cells": [], "answers": [], "observed": [], "loo": None, "why": None}
    part = _safe_indexing(X, rows)
    answers = response(part)
    left_out = None
    if left is not None and left.answers is not None and response.classes is None:
        known = dict(zip(left.rows.tolist(), rounded(left.answers[:, 0]), strict=True))
        left_out = [known.get(row) for row in rows.tolist()]
    cells = [list(row) for row in zip(*(column.plain(rows) for column in columns), strict=True)]
    return {
        "index": rows.tolist(),
        "cells": cells if columns else [[] for _ in rows],
        "answers": answers.tolist(),
        "observed": [_plain(value) for value in y.reshape(len(y), -1)[rows, 0]],
        "loo": left_out,
        "why": None
        if machine is not None and "kernel" not in machine
        else _why(model, reading, part, answers),
    }


def _why(model: Any, reading: Reading, part: Any, answers: np.ndarray) -> dict[str, Any] | None:
    """Contributions of terms, or the training rows that carry a prediction."""
    if reading.kind == "terms":
        values = np.asarray(model.contributions(part), dtype=float)
        values = values if values.ndim == 3 else values[:, :, None]
        start = np.atleast_1d(np.asarray(model.intercept_, dtype=float))
        return {
            "what": "terms",
            "names": [str(name) for name in model.term_names_],
            "start": start.tolist(),
            "values": [
                [rounded(values[i, :, k]) for k in range(values.shape[2])] for i in range(len(values))
            ],
        }
    influence = getattr(model, "influence", None)
    if influence is None:
        return None
    try:
        found = influence(part)
    except (ValueError, AttributeError, NotImplementedError):
        return None
    values = -np.asarray(found.deletion)  # what the row's being there does to the prediction
    if values.ndim == 3:  # one output is explained
        values = values[:, :, 0]
    order = np.argsort(-np.abs(values), axis=1, kind="stable")[:, :_CARRIERS]
    return {
        "what": "rows",
        "names": [[f"training row {j}" for j in line] for line in order],
        "values": [rounded(values[i, line]) for i, line in enumerate(order)],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, (bool, np.bool_)):
        return str(value)
    if isinstance(value, (int, float, np.number)):
        return float(value) if np.isfinite(value) else None
    return str(value)
