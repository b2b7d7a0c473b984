"""The rows that can be picked in the page, with what the model says of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from pellucid.report.decomposition import Decomposition
from pellucid.report.evidence import LeftOut
from pellucid.report.packing import rounded
from pellucid.report.page_model import PageModel
from pellucid.report.parts import why_parts
from pellucid.report.response import Response
from pellucid.report.sample import Sample, cells_of

_CARRIERS = 12  # training rows shown behind a prediction


def row_payload(
    model: Any,
    response: Response,
    shown: Decomposition,
    page_model: PageModel | None,
    sample: Sample,
    rows: np.ndarray,
    left: LeftOut | None,
) -> dict[str, Any]:
    """Values, predictions and observations of some rows; contributions unless the page computes them."""
    if len(rows) == 0:
        return {"index": [], "cells": [], "answers": [], "observed": [], "loo": None, "why": None}
    part = _safe_indexing(sample.X, rows)
    answers = response(part)
    amount = response.amount(sample)
    left_out = None
    if left is not None and left.answers is not None and response.classes is None:
        per = 1.0 if amount is None else amount[left.rows]
        known = dict(zip(left.rows.tolist(), rounded(left.answers[:, 0] / per), strict=True))
        left_out = [known.get(row) for row in rows.tolist()]
    in_page = page_model is not None and "kernel" not in page_model
    return {
        "index": sample.numbers[rows].tolist(),
        "cells": cells_of(sample.columns, rows) if sample.columns else [[] for _ in rows],
        "answers": answers.tolist(),
        "observed": [observed(v, response) for v in sample.y.reshape(len(sample), -1)[rows, 0]],
        "exposure": None if amount is None else rounded(amount[rows]),
        "loo": left_out,
        "why": None if in_page else _why(model, shown, part),
    }


def _why(model: Any, shown: Decomposition, part: Any) -> dict[str, Any] | None:
    """Contributions of terms, or the training rows that carry a prediction."""
    if shown.kind == "parts":
        return why_parts(model, part)
    if shown.kind == "terms":
        values = np.asarray(model.contributions(part), dtype=float)
        values = values.reshape(*values.shape[:2], -1)
        return {
            "what": "terms",
            "names": [str(name) for name in model.term_names_],
            "start": np.atleast_1d(np.asarray(model.intercept_, dtype=float)),
            "values": [[rounded(line) for line in row.T] for row in values],
        }
    try:
        deletion = np.asarray(model.influence(part).deletion)
    except (ValueError, AttributeError, NotImplementedError):
        return None
    values = -(deletion if deletion.ndim == 2 else deletion[:, :, 0])  # what the row's being there does
    order = np.argsort(-np.abs(values), axis=1, kind="stable")[:, :_CARRIERS]
    return {
        "what": "rows",
        "names": [[f"training row {j}" for j in line] for line in order],
        "values": [rounded(values[i, line]) for i, line in enumerate(order)],
    }


def observed(value: Any, response: Response) -> Any:
    """A target as it is shown; times at which a row left without event have a plus sign behind them."""
    if response.survival:
        return f"{-value:g}+" if np.signbit(value) else float(value)
    return _plain(value)


def _plain(value: Any) -> Any:
    """A number, or the name of a class."""
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, (bool, np.bool_))
    return float(value) if number else str(value)
