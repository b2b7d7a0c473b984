"""From a fitted model and its data to a report."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from pellucid.data.unseen import collecting
from pellucid.effects.explanation import scale_of
from pellucid.effects.summary import counted
from pellucid.effects.terms import columns_read
from pellucid.report import evidence
from pellucid.report.beside import extra_sections
from pellucid.report.data import column_payload, data_notes, feature_payload
from pellucid.report.decomposition import Decomposition, decompose
from pellucid.report.diagnostics import charts
from pellucid.report.facts import data_facts, facts_of, model_facts, parameter_facts, version_facts
from pellucid.report.page import Report, write_page
from pellucid.report.page_model import PageModel, evaluate, find_link
from pellucid.report.parts import motif_payload, object_columns
from pellucid.report.response import Response
from pellucid.report.rows import row_payload
from pellucid.report.sample import Sample, cells_of, read_sample
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
    earlier: Any = None,
    groups: Any = None,
) -> Report:
    """Make one HTML page that shows a fitted model to people who do not write Python.

    The page opens from disk, needs no network and no other file. It says how good the model is and how that
    is known, which terms matter, draws each of them, and explains predictions: a row can be picked or typed
    in, and its contributions and prediction are computed in the page. What was fitted on what stands last.

    Parameters
    ----------
    model : fitted estimator
        A model with terms or coefficients is shown as such. Of kernels that count words, fragments or
        subtrees the page shows these, sequences with letters and molecules and graphs with atoms coloured by
        what they contribute; sequences can be typed in, molecules picked. Of any other model with ``predict``
        the page shows average predictions over one feature at a time, and rows can be picked but not typed
        in.
    X : array-like or data frame of shape (n, p)
        Rows, usually those on which the model was fitted: leave-one-out results are shown if they belong to
        these rows. Some of them are written into the page, see ``max_rows``.
    y : array-like of shape (n,), or str
        Targets of the rows; a text names a column of ``X``, and so for the next three. Rows without one are
        left out, and the page says how many.
    sample_weight : array-like of shape (n,), optional
        How much each row counts in the scores.
    offset, exposure : array-like of shape (n,), optional
        Passed to ``predict`` for the scores. Of a model of rates, calibration is shown per exposure.
        Predictions of single rows in the page are for offset 0 and exposure 1.
    title : str, optional
        Heading of the page.
    max_rows : int, default=200
        Number of rows that can be picked in the page, a random choice if there are more. These rows can be
        read by everybody who has the file; 0 leaves them out. A plain kernel model brings all its training
        rows along, unless this is 0. Scatter plots show predictions and targets of single rows in any case.
    random_state : int, default=0
        Seed of that choice.
    earlier : fitted estimator, optional
        The model that this one replaces: the page then says what changed, by :func:`pellucid.compare`.
    groups : str or array-like of shape (n,), optional
        Group of each row, or a column of ``X``: the page then has a table of measures by group, by
        :func:`pellucid.fairness`.

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
    inner = getattr(model, "best_estimator_", model)
    target = str(y if isinstance(y, str) else getattr(y, "name", None) or "the target")
    known = {"sample_weight": sample_weight, "offset": offset, "exposure": exposure}
    sample = read_sample(inner, X, y, **known)
    response = Response(model)
    _check_labels(sample.y, response)
    with collecting() as unseen:
        answers = response(sample.X, **sample.known)
    shown = decompose(inner, response, sample.columns, sample.X)
    rows = np.arange(len(sample))
    if len(rows) > max_rows:
        rows = np.sort(np.random.default_rng(random_state).permutation(len(rows))[: max(max_rows, 0)])
    secret = max_rows <= 0 and shown.kind in ("averages", "parts")  # kernels compute with training rows
    page_model, gap = _checked(None if secret else shown.page_model, response, sample, inner)
    left = evidence.loo_of(inner, sample.y, response)
    texts = object_columns(inner, len(sample.columns)) if shown.kind == "parts" else {}
    payload: dict[str, Any] = {
        "title": title or f"{type(inner).__name__} for {target}",
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "target": target,
        "task": {
            "kind": response.kind,
            "classes": None if response.classes is None else [str(c) for c in response.classes],
            "outputs": list(response.outputs),
            "known": sorted(sample.known),
        },
        "reading": shown.kind,
        "scale": "average prediction" if shown.kind == "averages" else scale_of(inner),
        "motifs": motif_payload(inner) if shown.kind == "parts" else None,
        "score": _score(sample, answers, response, left, inner),
        "importances": importance_payload(shown, inner),
        "terms": [term_payload(e, shown, inner) for e in shown.effects[:_MOST_TERMS]],
        "left_out": max(len(shown.effects) - _MOST_TERMS, 0),
        "absent": shown.absent,
        "features": feature_payload(sample.columns, page_model, texts),
        "page_model": page_model,
        "check": gap,
        "means": [c.present.mean() if c.numeric and len(c.present) else None for c in sample.columns],
        "rows": row_payload(inner, response, shown, page_model, sample, rows, left),
        "charts": charts(sample, answers, response, left, inner),
        "columns": column_payload(sample.columns, texts),
        "notes": data_notes(sample.columns, sample.y, response),
        "trust": _trust(inner),
        "fit": _fit(inner, sample, texts),
        "extra": extra_sections(model, sample, earlier, groups),
    }
    strange = unseen.message(columns_read(inner))
    payload["cautions"] = sample.notes + response.said + ([strange] if strange else [])
    payload["headline"] = _headline(payload, inner, len(sample), shown)
    return write_page(payload)


def _check_labels(y: np.ndarray, response: Response) -> None:
    """Raise if there are targets that the classifier cannot predict."""
    if response.classes is not None:
        strange = sorted({str(label) for label in y.tolist()} - {str(c) for c in response.classes})
        if strange:
            raise ValueError(f"y has labels that the model does not know: {', '.join(strange[:5])}.")


def _checked(
    page_model: PageModel | None, response: Response, sample: Sample, model: Any
) -> tuple[PageModel | None, float | None]:
    """The page model with its link, and the largest relative difference from the model; or nothing."""
    if page_model is None:
        return None, None
    some = np.sort(np.random.default_rng(1).permutation(len(sample))[:300])
    wanted = response(_safe_indexing(sample.X, some))
    try:
        _, eta = evaluate(page_model, cells_of(sample.columns, some))
    except (ValueError, TypeError):  # a value that the page model has no place for
        return None, None
    choices = {"number": ("identity", "log"), "score": ("identity",)}.get(response.kind)
    if choices is None:
        choices = ("logit",) if wanted.shape[1] == 1 else ("softmax", "each")
    slope = getattr(getattr(model, "calibration_", None), "slope", 1.0)  # of probabilities in the scores
    found = find_link(slope * eta, wanted, choices) if eta.shape == wanted.shape else None
    return (None, None) if found is None else ({**page_model, "link": found[0], "slope": slope}, found[1])


def _fit(model: Any, sample: Sample, texts: Collection[int]) -> dict[str, Any]:
    from pellucid import __version__

    seed = getattr(model, "random_state", None)
    return {
        "model": model_facts(model),
        "data": data_facts(sample, texts),
        "parameters": parameter_facts(model),
        "versions": [*version_facts(__version__), ["seed", "none" if seed is None else str(seed)]],
        "edits": facts_of(getattr(model, "edits_", None)),
    }


def _score(
    sample: Sample, answers: np.ndarray, response: Response, left: evidence.LeftOut | None, model: Any
) -> dict[str, Any]:
    classes = None
    if response.classes is not None:
        out = left is not None and left.answers is not None
        seen = (left.part(sample), left.answers) if out else (sample, answers)  # type: ignore[union-attr]
        classes = {"rows": evidence.class_breakdown(*seen, response), "loo": out}  # type: ignore[arg-type]
    return {
        "held_out": evidence.held_out_facts(model),
        "given": evidence.scores(sample, answers, response),
        "loo": [] if left is None else evidence.loo_facts(left, sample, response),
        "classes": classes,
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


def _headline(payload: dict[str, Any], model: Any, n: int, shown: Decomposition) -> list[list[str]]:
    """The numbers at the top of the page: value, label, and where it comes from."""
    score = payload["score"]
    evidence_of = "each row predicted by the model fitted without it"
    cards = [[value, label, evidence_of] for label, value in score["loo"][:2]]
    certificate = getattr(model, "certificate_", None)
    if certificate is not None and certificate.score_linear is not None:
        what = "accuracy" if payload["task"]["classes"] else "share of the deviance explained"
        detail = f"{what} on rows held out, {certificate.how}"
        cards.append([f"{certificate.score_linear:.3f}", "held-out score", detail])
    if not cards:
        given = score["given"][: 1 if payload["task"]["classes"] else 2]
        cards += [[value, label, "on the rows given, not on new ones"] for label, value in given]
    if certificate is not None and certificate.fidelity is not None:
        detail = "R² of the coefficients against the kernel model"
        cards.append([f"{certificate.fidelity:.3f}", "held-out fidelity", detail])
    if shown.kind == "terms" and shown.importances is not None:
        tiny = {shown.importances.names[i] for i in np.flatnonzero(shown.importances.minor)}
        minor = sum(effect.name in tiny for effect in shown.effects)
        detail = "functions that add up to the prediction"
        detail += f"; {counted(minor, 'term')} below 0.1 % besides" if minor else ""
        number, _, word = counted(len(shown.effects) - minor, "term").partition(" ")
        cards.append([number, word, detail])
    number, _, word = counted(n, "row").partition(" ")
    cards.append([number, word, "on which this page is based"])
    return cards[:4]
