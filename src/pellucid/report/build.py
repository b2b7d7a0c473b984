"""From a fitted model and its data to a report."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, check_consistent_length

from pellucid.data.cells import Cells
from pellucid.data.weights import check_weight
from pellucid.effects.explanation import scale_of
from pellucid.report import evidence
from pellucid.report.columns import fingerprint, read_columns
from pellucid.report.data import column_payload, data_notes, feature_payload
from pellucid.report.diagnostics import charts
from pellucid.report.facts import data_facts, facts_of, model_facts, parameter_facts, version_facts
from pellucid.report.page import Report, write_page
from pellucid.report.page_model import Machine, evaluate, find_link
from pellucid.report.reading import read_model
from pellucid.report.response import Response
from pellucid.report.rows import row_payload
from pellucid.report.terms import importance_payload, term_payload

_MOST_TERMS = 300


def build_report(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    offset: Any = None,
    exposure: Any = None,
    title: str | None = None,
    max_rows: int = 200,
    random_state: int = 0,
) -> Report:
    """Make one HTML page that shows a fitted model to people who do not write Python.

    The page opens from disk, needs no network and no other file. It says what was fitted on what, how good
    the model is and how that is known, which terms matter, draws each of them, and explains predictions: a
    row can be picked or typed in, and its contributions and prediction are computed in the page.

    Parameters
    ----------
    model : fitted estimator
        A model with terms or coefficients is shown as such. Of any other model with ``predict`` the page
        shows average predictions over one feature at a time, and rows can be picked but not typed in.
    X : array-like or data frame of shape (n, p)
        Rows, usually those on which the model was fitted: leave-one-out results are shown if they belong to
        these rows. Some of them are written into the page, see ``max_rows``.
    y : array-like of shape (n,)
        Targets of the rows.
    sample_weight : array-like of shape (n,), optional
        How often each row counts in the scores.
    offset, exposure : array-like of shape (n,), optional
        Passed to ``predict`` for the scores. Predictions in the page are for offset 0 and exposure 1.
    title : str, optional
        Heading of the page.
    max_rows : int, default=200
        Number of rows that can be picked in the page, a random choice if there are more. These rows can be
        read by everybody who has the file; 0 leaves them out. A plain kernel model brings all its training
        rows along, unless this is 0. Scatter plots show predictions and targets of single rows in any case.
    random_state : int, default=0
        Seed of that choice.

    Returns
    -------
    report : Report
        With ``html``, the page as text, and ``save(path)``.

    Notes
    -----
    What the page computes is checked against the model before it is written: on up to 300 of the rows given
    its predictions agree with ``predict`` to ten digits, or the page does not offer to compute.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from pellucid import InterpretableKernelRegressor, build_report
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = InterpretableKernelRegressor(alpha=1.0).fit(X, y)
    >>> report = build_report(model, X, y, title="Progression of diabetes")
    >>> report.html.startswith("<!doctype html>")
    True
    """
    if not hasattr(model, "predict"):
        raise ValueError(f"A report needs a fitted model with predict, got {type(model).__name__}.")
    y_values = np.asarray(y)
    check_consistent_length(X, y_values)
    weight = check_weight(sample_weight, len(y_values))
    inner = getattr(model, "best_estimator_", model)
    known = {key: v for key, v in (("offset", offset), ("exposure", exposure)) if v is not None}
    response = Response(model, known)
    _check_labels(y_values, response)
    columns = read_columns(X, inner)
    answers = response.observed_side(X)
    reading = read_model(inner, response, columns, X)
    rows = np.arange(len(y_values))
    if len(rows) > max_rows:
        rows = np.sort(np.random.default_rng(random_state).permutation(len(rows))[: max(max_rows, 0)])
    secret = max_rows <= 0 and reading.kind == "averages"  # a kernel model computes with its training rows
    machine, gap = _checked(None if secret else reading.machine, response, columns, X)
    left = evidence.loo_of(inner, y_values, response)
    target = str(getattr(y, "name", None) or "the target")
    payload: dict[str, Any] = {
        "title": title or f"{type(inner).__name__} for {target}",
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "target": target,
        "task": {
            "kind": response.kind,
            "classes": None if response.classes is None else [str(c) for c in response.classes],
            "outputs": list(response.outputs),
        },
        "reading": reading.kind,
        "scale": "average prediction" if reading.kind == "averages" else scale_of(inner),
        "fit": _fit(inner, columns, len(y_values), fingerprint(columns or _opaque(X), y_values)),
        "score": _score(y_values, answers, response, weight, left, inner),
        "trust": _trust(inner),
        "importances": importance_payload(reading.importances),
        "terms": [term_payload(e, reading, inner) for e in reading.effects[:_MOST_TERMS]],
        "left_out": max(len(reading.effects) - _MOST_TERMS, 0),
        "absent": reading.absent,
        "features": feature_payload(columns, machine),
        "machine": machine,
        "check": gap,
        "means": [float(column.present.mean()) if column.numeric else None for column in columns],
        "rows": row_payload(inner, response, reading, machine, columns, X, y_values, rows, left),
        "charts": charts(y_values, answers, response, left, inner, weight),
        "columns": column_payload(columns),
        "notes": data_notes(columns, y_values, response) + response.said,
    }
    payload["headline"] = _headline(payload, inner)
    return write_page(payload)


def _check_labels(y: np.ndarray, response: Response) -> None:
    """Raise if there are targets that the classifier cannot predict."""
    if response.classes is not None:
        strange = sorted({str(label) for label in y.tolist()} - {str(c) for c in response.classes})
        if strange:
            raise ValueError(f"y has labels that the model does not know: {', '.join(strange[:5])}.")


def _opaque(X: Any) -> list[Cells]:
    """Rows that are no table, by their text, so that their digest can be taken."""
    return [Cells.of_levels("rows", map(repr, X))]


def _checked(
    machine: Machine | None, response: Response, columns: list[Cells], X: Any
) -> tuple[Machine | None, float | None]:
    """The machine with its link, and the largest relative difference from the model; or nothing."""
    if machine is None:
        return None, None
    n = len(columns[0].values)
    some = np.sort(np.random.default_rng(1).permutation(n)[:300])
    cells = [list(row) for row in zip(*(column.plain(some) for column in columns), strict=True)]
    wanted = response(_safe_indexing(X, some))
    try:
        _, eta = evaluate(machine, cells)
    except (ValueError, TypeError):  # a value that the machine has no place for
        return None, None
    choices = {"number": ("identity", "log"), "score": ("identity",)}.get(response.kind)
    if choices is None:
        choices = ("logit",) if wanted.shape[1] == 1 else ("softmax", "each")
    found = find_link(eta, wanted, choices) if eta.shape == wanted.shape else None
    if found is None:
        return None, None
    return {**machine, "link": found[0]}, found[1]


def _fit(model: Any, columns: list[Cells], n: int, digest: str) -> dict[str, Any]:
    from pellucid import __version__

    seed = getattr(model, "random_state", None)
    return {
        "model": model_facts(model),
        "data": data_facts(columns, n, digest),
        "parameters": parameter_facts(model),
        "versions": [*version_facts(__version__), ["seed", "none" if seed is None else str(seed)]],
        "edits": facts_of(getattr(model, "edits_", None)),
    }


def _score(
    y: np.ndarray,
    answers: np.ndarray,
    response: Response,
    weight: np.ndarray,
    left: evidence.LeftOut | None,
    model: Any,
) -> dict[str, Any]:
    return {
        "held_out": evidence.held_out_facts(model),
        "given": evidence.scores(y, answers, response, weight),
        "loo": [] if left is None else evidence.loo_facts(left, y, response),
    }


def _trust(model: Any) -> dict[str, Any]:
    certificate = getattr(model, "certificate_", None)
    own = certificate is not None
    if not own and hasattr(model, "linear_view") and not hasattr(model, "effects_"):
        try:
            certificate = model.linear_view().certificate
        except ValueError:  # no numeric features, or only landmarks are kept
            certificate = None
    receipt = getattr(model, "receipt_", None)
    return {"certificate": facts_of(certificate), "own": own, "receipt": facts_of(receipt)}


def _headline(payload: dict[str, Any], model: Any) -> list[list[str]]:
    """The numbers at the top of the page: value, label, and where it comes from."""
    cards = []
    score = payload["score"]
    if score["loo"]:
        cards += [
            [v, label, "each row predicted by the model fitted without it"] for label, v in score["loo"][:2]
        ]
    certificate = getattr(model, "certificate_", None)
    if certificate is not None and certificate.score_linear is not None:
        what = "accuracy" if payload["task"]["classes"] else "share of the deviance explained"
        detail = f"{what} on rows held out, {certificate.how}"
        cards.append([f"{certificate.score_linear:.3f}", "held-out score", detail])
    if not cards:
        shown = score["given"][: 1 if payload["task"]["classes"] else 2]
        cards += [[value, label, "on the rows given, not on new ones"] for label, value in shown]
    if certificate is not None and certificate.fidelity is not None:
        cards.append(
            [
                f"{certificate.fidelity:.3f}",
                "held-out fidelity",
                "R² of the coefficients against the kernel model",
            ]
        )
    if payload["reading"] == "terms":
        cards.append(
            [
                str(len(payload["terms"]) + payload["left_out"]),
                "terms",
                "functions that add up to the prediction",
            ]
        )
    cards.append([payload["fit"]["data"][0][1], "rows", "on which this page is based"])
    return cards[:4]
