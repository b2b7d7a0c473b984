"""A model as the source text of a Python module that scores rows and needs no other package."""

import os
from pathlib import Path
from typing import Any

from pellucid.export.document import document
from pellucid.export.scoring.model import ScoringModel
from pellucid.export.scoring.read import scoring_of


def to_python(model: Any, path: str | os.PathLike[str] | None = None) -> str:
    """Write a model of terms or coefficients as a Python module that needs no other package.

    The module has ``predict(row)`` for a dict from column names to values, ``contributions(row)``, a list of
    names and values of the terms, ``score(row)`` with the list of scores, and for classifiers with
    probabilities ``predict_proba(row)``, a dict from classes to probabilities. A missing value is ``None``,
    NaN, or a name that is not in the dict; a model that needs the value raises ``ValueError``.

    Parameters
    ----------
    model : estimator
        A fitted additive, sparse additive, ISK or interpretable model, or one with a linear kernel.
    path : str or path, optional
        File to write.

    Returns
    -------
    str
        The source text.

    Examples
    --------
    >>> import numpy as np, pellucid
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> model = pellucid.SparseAdditiveRegressor(0.01, n_basis=4).fit(X, X[:, 0] ** 2)
    >>> module = {}
    >>> exec(pellucid.to_python(model), module)
    >>> row = {"x0": 0.5, "x1": 0.0}
    >>> bool(np.isclose(module["predict"](row), model.predict([[0.5, 0.0]])[0]))
    True
    """
    text = source(scoring_of(model, "to_python"))
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text


def source(scoring: ScoringModel) -> str:
    """The module's text: data as literals, in which ``repr`` has made all texts harmless, then functions."""
    content, response = document(scoring), scoring.response
    features = [(f["name"], f["levels"], f["dates"]) for f in content["features"]]
    lists = {"FEATURES": features, "AXES": content["axes"], "TERMS": content["terms"]}
    names = ("intercept", "classes", "slope", "link", "single", "thresholds", "ranks")
    parts = [
        f'"""Scores of a model of the kind {scoring.model}. Written by pellucid; needs only Python."""\n',
        "import math\nfrom bisect import bisect_right\n",
        *("\n".join([f"{name} = [", *(f"    {item!r}," for item in lists[name]), "]"]) for name in lists),
        *(f"{name.upper()} = {content[name]!r}" for name in names),
        _SCORES,
        _PROBABILITIES if response.has_probabilities else "",
        _LABEL if response.classes is not None else _MEAN,
    ]
    return "\n".join(part for part in parts if part)


_SCORES = '''

def _value(row, j):
    """Value of a feature: None if it is missing, a text for a level, days since 1970 for a date."""
    name, levels, dates = FEATURES[j]
    value = row.get(name)
    if value is None or value != value:
        return None
    if levels is not None:
        return str(int(value) if isinstance(value, float) and value.is_integer() else value)
    if dates and hasattr(value, "toordinal"):
        second = getattr(value, "second", 0) + getattr(value, "microsecond", 0) / 1e6
        seconds = getattr(value, "hour", 0) * 3600 + getattr(value, "minute", 0) * 60 + second
        return value.toordinal() - 719163 + seconds / 86400
    return float(value)


def _place(axis, row):
    """Point of an axis to the left of a value, and how far the value is on the way to the next point."""
    value, levels = _value(row, axis["feature"]), FEATURES[axis["feature"]][1]
    if value is None:
        if axis["missing"] is None:
            raise ValueError("no value for %r" % FEATURES[axis["feature"]][0])
        return axis["missing"], 0.0
    if axis["knots"] is None:
        return (levels.index(value) if value in levels else axis["other"]), 0.0
    knots = axis["knots"]
    if len(knots) < 2:
        return (0 if knots else axis["size"]), 0.0
    i = min(max(bisect_right(knots, value) - 1, 0), len(knots) - 2)
    return i, min(max((value - knots[i]) / (knots[i + 1] - knots[i]), 0.0), 1.0)


def _between(table, place):
    i, w = place
    return table[i] + w * (table[i + 1] - table[i]) if w else table[i]


def _term(term, row):
    """What a term adds to each score."""
    if term["kind"] == "line":
        value = _value(row, term["features"][0])
        if value is None:
            raise ValueError("no value for %r" % FEATURES[term["features"][0]][0])
        return [c * value for c in term["coef"]]
    places = [_place(AXES[a], row) for a in term["axes"]]
    if term["kind"] == "products":
        values = [0.0] * len(INTERCEPT)
        for k, output in enumerate(term["outputs"]):
            values[output] += math.prod(_between(table[k], at) for table, at in zip(term["factors"], places))
        return values
    u = [_between(AXES[a]["warp"], place) for a, place in zip(term["axes"], places)]
    values = list(term["constant"])
    for omega, cos, sin in zip(term["omega"], term["cos"], term["sin"]):
        phase = sum(o * v for o, v in zip(omega, u))
        for c in range(len(values)):
            values[c] += cos[c] * math.cos(phase) + sin[c] * math.sin(phase)
    return values


def contributions(row):
    """Names and values of the terms; a list of values where there are several outputs."""
    parts = [(term["name"], _term(term, row)) for term in TERMS]
    return [(name, values[0] if len(values) == 1 else values) for name, values in parts]


def score(row):
    """The scores: intercept plus terms, one for each output."""
    return [sum(parts) for parts in zip(INTERCEPT, *(_term(term, row) for term in TERMS))]
'''

_PROBABILITIES = '''
def predict_proba(row):
    """Probability of each class."""
    x = [SLOPE * value for value in score(row)]
    if LINK == "ordinal":
        below = [1 / (1 + math.exp(min(max(x[0] - at, -700), 700))) for at in THRESHOLDS]
        return {c: b - a for c, a, b in zip(CLASSES, [0.0, *below], [*below, 1.0])}
    if LINK == "softmax":
        p = [math.exp(value - max(x)) for value in x]
    else:
        p = [1 / (1 + math.exp(-max(value, -700))) for value in x]
    if LINK == "logistic":
        return {CLASSES[0]: 1 - p[0], CLASSES[1]: p[0]}
    return {c: value / sum(p) for c, value in zip(CLASSES, p)}
'''

_LABEL = '''
def predict(row: dict):
    """Predicted class of a row, a dict from column names to values."""
    x = list(predict_proba(row).values()) if LINK == "ordinal" else score(row)
    return CLASSES[x.index(max(x)) if len(x) > 1 else int(x[0] > 0)]
'''

_MEAN = '''
def predict(row: dict):
    """Prediction for a row, a dict from column names to values; a list where there are several targets."""
    x = [SLOPE * value for value in score(row)]
    mean = [math.exp(min(max(value, -708.0), 709.0)) for value in x] if LINK == "exp" else x
    if LINK == "expit":
        mean = [1 / (1 + math.exp(-max(value, -700))) for value in x]
    if LINK == "ordered":
        mean = [sorted(x)[rank] for rank in RANKS]
    return mean[0] if SINGLE else mean
'''
