"""A model as the source text of a Python module that scores rows and needs no other package."""

from __future__ import annotations

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
    """The module's text: functions, and data as literals, in which ``repr`` has made all texts harmless."""
    content = document(scoring)
    kinds = {term["kind"] for term in content["terms"]}
    response = scoring.response
    parts = [
        f'"""Scores of a model of the kind {scoring.model}. Written by pellucid; needs only Python."""\n',
        "import math\nfrom bisect import bisect_right\n",
        _list("FEATURES", [(f["name"], f["levels"], f["dates"]) for f in content["features"]]),
        _list("AXES", content["axes"]),
        _list("TERMS", content["terms"]),
        f"INTERCEPT = {content['intercept']!r}",
        f"CLASSES = {content['classes']!r}",
        f"SLOPE = {content['slope']!r}\n",
        _CELLS,
        _PLACE if content["axes"] else "",
        _TERM_HEAD,
        *(_TERM_KINDS[kind] for kind in sorted(kinds)),
        _TERM_TAIL,
        _SCORES,
        _PROBABILITIES[response.link] if response.has_probabilities else "",
        _LABEL if response.classes is not None else _mean(response.link, response.single),
    ]
    return "\n".join(part for part in parts if part)


def _list(name: str, items: list[Any]) -> str:
    lines = "".join(f"    {item!r},\n" for item in items)
    return f"{name} = [\n{lines}]"


_CELLS = '''
def _value(row, j):
    """Value of a feature: None if it is missing, a text for a level, days since 1970 for a date."""
    name, levels, dates = FEATURES[j]
    value = row.get(name)
    if value is None or value != value:
        return None
    if levels is not None:
        return str(value)
    if dates and hasattr(value, "toordinal"):
        second = getattr(value, "second", 0) + getattr(value, "microsecond", 0) / 1e6
        seconds = getattr(value, "hour", 0) * 3600 + getattr(value, "minute", 0) * 60 + second
        return value.toordinal() - 719163 + seconds / 86400
    return float(value)
'''

_PLACE = '''
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
'''

_TERM_HEAD = '''
def _term(term, row):
    """What a term adds to each score."""
'''

_TERM_KINDS = {
    "line": """\
    if term["kind"] == "line":
        value = _value(row, term["features"][0])
        if value is None:
            raise ValueError("no value for %r" % FEATURES[term["features"][0]][0])
        return [c * value for c in term["coef"]]
""",
    "products": """\
    if term["kind"] == "products":
        places = [_place(AXES[a], row) for a in term["axes"]]
        values = [0.0] * len(INTERCEPT)
        for k, output in enumerate(term["outputs"]):
            product = 1.0
            for factors, place in zip(term["factors"], places):
                product *= _between(factors[k], place)
            values[output] += product
        return values
""",
    "waves": """\
    if term["kind"] == "waves":
        u = [_between(AXES[a]["warp"], _place(AXES[a], row)) for a in term["axes"]]
        values = list(term["constant"])
        for omega, cos, sin in zip(term["omega"], term["cos"], term["sin"]):
            phase = sum(o * v for o, v in zip(omega, u))
            for c in range(len(values)):
                values[c] += cos[c] * math.cos(phase) + sin[c] * math.sin(phase)
        return values
""",
}

_TERM_TAIL = """\
    raise ValueError("unknown term")
"""

_SCORES = '''
def contributions(row):
    """Names and values of the terms; a list of values where there are several outputs."""
    parts = [(term["name"], _term(term, row)) for term in TERMS]
    return [(name, values[0] if len(values) == 1 else values) for name, values in parts]


def score(row):
    """The scores: intercept plus terms, one for each output."""
    values = list(INTERCEPT)
    for term in TERMS:
        for c, part in enumerate(_term(term, row)):
            values[c] += part
    return values
'''

_PROBABILITIES = {
    "logistic": '''
def predict_proba(row):
    """Probability of each class."""
    x = SLOPE * score(row)[0]
    p = 1 / (1 + math.exp(-max(x, -700)))
    return {CLASSES[0]: 1 - p, CLASSES[1]: p}
''',
    "shares": '''
def predict_proba(row):
    """Probability of each class: logistic values, divided by their sum."""
    p = [1 / (1 + math.exp(-max(SLOPE * x, -700))) for x in score(row)]
    return {c: value / sum(p) for c, value in zip(CLASSES, p)}
''',
    "softmax": '''
def predict_proba(row):
    """Probability of each class."""
    x = [SLOPE * value for value in score(row)]
    e = [math.exp(value - max(x)) for value in x]
    return {c: value / sum(e) for c, value in zip(CLASSES, e)}
''',
}

_LABEL = '''
def predict(row: dict):
    """Predicted class of a row, a dict from column names to values."""
    x = score(row)
    if len(x) == 1:
        return CLASSES[1 if x[0] > 0 else 0]
    return CLASSES[x.index(max(x))]
'''


def _mean(link: str, single: bool) -> str:
    mean = "math.exp(min(max(SLOPE * x, -708.0), 709.0))" if link == "exp" else "SLOPE * x"
    if single:
        kind, what, body = "float", "Prediction for", f"x = score(row)[0]\n    return {mean}"
    else:
        kind, what, body = "list", "Predictions of all targets for", f"return [{mean} for x in score(row)]"
    return (
        f'\ndef predict(row: dict) -> {kind}:\n    """{what} a row, a dict from column names to values."""\n'
        f"    {body}\n"
    )
