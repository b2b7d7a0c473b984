"""Terms of a scoring model in ONNX."""

from typing import Any

import numpy as np

from pellucid.export.onnx.graph import Graph
from pellucid.export.scoring.model import ScoringModel
from pellucid.export.scoring.parts import Line, Products, ScoreAxis, Waves

MISSING_TEXT = ""
"""What stands for a missing value in a column of texts, unless it is a level itself."""


def contributions(g: Graph, scoring: ScoringModel, columns: list[str]) -> str:
    """Tensor of shape (n, n_terms, q) from columns of shape (n, 1): numbers, or texts for categories."""
    terms, q = scoring.terms, scoring.n_outputs
    shape = g.constant([-1, len(terms), q], np.int64)
    if isinstance(terms[0], Line):
        X = g("Concat", *(columns[term.feature] for term in terms if isinstance(term, Line)), axis=1)
        coef = np.array([term.coef for term in terms if isinstance(term, Line)])
        return g.times(g("Unsqueeze", X, g.constant([2], np.int64)), coef)
    if isinstance(terms[0], Waves):
        parts, weights, constant = _waves(g, scoring, columns)
        return g("Reshape", g.plus(g("MatMul", parts, g.constant(weights)), constant), shape)
    parts, weights = _products(g, scoring, columns)
    return g("Reshape", g("MatMul", parts, g.constant(weights)), shape)


def _products(g: Graph, scoring: ScoringModel, columns: list[str]) -> tuple[str, np.ndarray]:
    """All products side by side, and which term and output each belongs to."""
    values, start, width = [], {}, 0
    for a, axis in enumerate(scoring.axes):
        functions = scoring.functions(a)
        for t, side, F in functions:
            start[t, side] = width
            width += F.shape[1]
        tables = np.hstack([F for _, _, F in functions])
        values.append(_look_up(g, scoring, axis, columns[axis.feature], tables))
    first, second, rows = [], [], []
    for t, term in enumerate(scoring.terms):
        assert isinstance(term, Products)
        mine = np.arange(len(term.outputs))
        first.append(start[t, 0] + mine)
        # the last column is all ones
        second.append(start[t, 1] + mine if len(term.axes) == 2 else np.full(len(mine), width))
        rows.append(t * scoring.n_outputs + term.outputs)
    weights = np.eye(len(scoring.terms) * scoring.n_outputs)[np.concatenate(rows)]
    whole = g("Concat", *values, g.filled(values[0], 1, 1.0), axis=1)
    return g("Mul", g.column(whole, np.concatenate(first)), g.column(whole, np.concatenate(second))), weights


def _waves(g: Graph, scoring: ScoringModel, columns: list[str]) -> tuple[str, np.ndarray, np.ndarray]:
    """Cosines and sines of all phases side by side, their weights, and the constants of the terms."""
    warped = [
        _look_up(g, scoring, axis, columns[axis.feature], scoring.warps[a][:, None])
        for a, axis in enumerate(scoring.axes)
    ]
    terms = [term for term in scoring.terms if isinstance(term, Waves)]
    q, total = scoring.n_outputs, sum(len(term.omega) for term in terms)
    omega = np.zeros((len(warped), total))
    weights = np.zeros((2 * total, len(terms) * q))
    done = 0
    for t, term in enumerate(terms):
        rows = slice(done, done + len(term.omega))
        omega[list(term.axes), rows] = term.omega.T
        weights[rows, t * q : (t + 1) * q] = term.cos
        weights[rows.start + total : rows.stop + total, t * q : (t + 1) * q] = term.sin
        done = rows.stop
    phase = g("MatMul", g("Concat", *warped, axis=1), g.constant(omega))
    return g.circle(phase), weights, np.concatenate([term.constant for term in terms])


def _look_up(g: Graph, scoring: ScoringModel, axis: ScoreAxis, x: str, F: np.ndarray) -> str:
    """Values of the functions ``F`` on an axis, of shape (n, number of functions)."""
    levels = scoring.features[axis.feature].levels
    if axis.is_levels and levels is not None:
        return _at_levels(g, axis, levels, x, F)
    knots = axis.knots
    gone = g.flat(g("IsNaN", x))
    if len(knots) < 2:
        i = g.flat(g("Cast", g("IsNaN", x), to=g.onnx.TensorProto.INT64))
        here = 0 if len(knots) else axis.size
        absent = np.full(F.shape[1], np.nan) if axis.missing is None else F[axis.missing]
        return g("Gather", g.constant(np.vstack([F[here], absent])), i)
    above = g("GreaterOrEqual", x, g.constant(knots[None, 1:-1]))
    i = g.sum(g("Cast", above, to=g.onnx.TensorProto.INT64), 1)
    left, width = knots[:-1], np.diff(knots)
    way = g("Div", g("Sub", g.flat(x), g("Gather", g.constant(left), i)), g("Gather", g.constant(width), i))
    w = g.between(way, 0.0, 1.0)
    if axis.missing is not None:
        i = g("Where", gone, g.constant(axis.missing, np.int64), i)
    w = g("Where", gone, g.constant(np.nan if axis.missing is None else 0.0), w)
    step = np.vstack([np.diff(F[: len(knots)], axis=0), np.zeros((len(F) - len(knots) + 1, F.shape[1]))])
    w = g("Unsqueeze", w, g.constant([1], np.int64))
    return g("Add", g("Gather", g.constant(F), i), g("Mul", w, g("Gather", g.constant(step), i)))


def _at_levels(g: Graph, axis: ScoreAxis, levels: tuple[str, ...], x: str, F: np.ndarray) -> str:
    keys, places = list(levels), list(range(len(levels)))
    if MISSING_TEXT not in levels:
        keys.append(MISSING_TEXT)
        places.append(axis.size + 1 if axis.missing is None else axis.missing)
    table: dict[str, Any] = {"keys_strings": keys, "values_int64s": places, "default_int64": axis.other}
    i = g("LabelEncoder", g.flat(x), domain="ai.onnx.ml", **table)
    return g("Gather", g.constant(np.vstack([F, np.full(F.shape[1], np.nan)])), i)
