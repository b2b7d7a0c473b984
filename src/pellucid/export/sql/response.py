"""From scores to predictions in SQL."""

from collections.abc import Callable
from typing import Any

from pellucid.export.scoring.model import ScoringModel
from pellucid.export.sql import text as sql

Columns = list[tuple[str, str]]


def response_columns(
    scoring: ScoringModel, *, exponential: bool, add: Callable[[str, dict[str, str]], None]
) -> Columns:
    """Names and expressions of the columns of predictions; ``add`` makes a stage before them."""
    response, q = scoring.response, scoring.n_outputs
    scores = [f"r.y{c}" for c in range(q)]
    if response.classes is None:
        names = ["prediction"] if response.single else [f"prediction_{c}" for c in range(q)]
        if response.link not in ("exp", "expit"):
            return list(zip(names, scores, strict=True))
        if not exponential:
            raw = ["score"] if response.single else [f"score_{c}" for c in range(q)]
            return list(zip(raw, scores, strict=True))
        if response.link == "expit":
            return [(name, sql.logistic(score)) for name, score in zip(names, scores, strict=True)]
        means = [f"EXP({sql.clamped(score, -708.0, 709.0)})" for score in scores]
        return list(zip(names, means, strict=True))
    classes = [_literal(label) for label in response.classes]
    names = [f"probability_{label}" for label in response.classes]
    if response.link == "ordinal":
        if not exponential:
            return [("score", scores[0])]
        below = {
            f"b{k}": sql.logistic(f"({sql.number(at)} - {scores[0]})")
            for k, at in enumerate(response.thresholds)
        }
        add("below", below)
        edges = ["0.0", *(f"r.{b}" for b in below), "1.0"]
        add("shares", {f"e{k}": f"{edges[k + 1]} - {edges[k]}" for k in range(len(classes))})
        shares_of = [f"r.e{k}" for k in range(len(classes))]
        return [("prediction", sql.largest(shares_of, classes)), *zip(names, shares_of, strict=True)]
    raw = ["score"] if q == 1 else [f"score_{label}" for label in response.classes]
    if q == 1:
        label = f"CASE WHEN {scores[0]} > 0 THEN {classes[1]} WHEN {scores[0]} <= 0 THEN {classes[0]} END"
    else:
        label = sql.largest(scores, classes)
    made = [("prediction", label)]
    if not exponential or response.link == "none":
        return made + list(zip(raw, scores, strict=True))
    slope = "" if response.slope == 1.0 else f"{sql.number(response.slope)} * "
    if response.link == "logistic":
        return [*made, (names[1], sql.logistic(f"({slope}{scores[0]})"))]
    shares = {f"e{c}": sql.logistic(f"({slope}{score})") for c, score in enumerate(scores)}
    if response.link == "softmax":
        add("top", {"top": sql.largest(scores, scores)})
        shares = {f"e{c}": f"EXP({slope}({score} - r.top))" for c, score in enumerate(scores)}
    add("shares", shares)
    whole = sql.total([f"r.{e}" for e in shares])
    return made + [(name, f"r.{e} / ({whole})") for name, e in zip(names, shares, strict=True)]


def _literal(label: Any) -> str:
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    if isinstance(label, int):
        return str(label)
    return sql.number(label) if isinstance(label, float) else sql.quoted(str(label))
