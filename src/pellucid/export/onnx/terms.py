"""Terms of a scoring model in ONNX."""

from __future__ import annotations

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
        tables = []
        for t, term in enumerate(scoring.terms):
            for side, own in enumerate(term.axes if isinstance(term, Products) else ()):
                if own == a and isinstance(term, Products):
                    start[t, side] = width
                    tables.append(term.factors[side])
                    width += term.factors[side].shape[1]
        values.append(_look_up(g, scoring, axis, columns[axis.feature], np.hstack(tables)))
    q = scoring.n_outputs
    products = [(t, term) for t, term in enumerate(scoring.terms) if isinstance(term, Products)]
    total = sum(len(term.outputs) for _, term in products)
    first, second = np.zeros(total, dtype=int), np.full(total, width)  # the last column is all ones
    weights = np.zeros((total, len(scoring.terms) * q))
    done = 0
    for t, term in products:
        mine = np.arange(len(term.outputs))
        first[done + mine] = start[t, 0] + mine
        if len(term.axes) == 2:
            second[done + mine] = start[t, 1] + mine
        weights[done + mine, t * q + term.outputs] = 1.0
        done += len(mine)
    whole = g("Concat", *values, g.filled(values[0], 1, 1.0), axis=1)
    return g("Mul", g.column(whole, first), g.column(whole, second)), weights


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
    # runtimes have no cosine of double precision, but a sine
    both = g("Concat", g("Sin", g.plus(phase, np.float64(np.pi / 2))), g("Sin", phase), axis=1)
    return both, weights, np.concatenate([term.constant for term in terms])


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
        i = g("Where", gone, g.constant(np.int64(axis.missing), np.int64), i)
        w = g("Where", gone, g.constant(np.float64(0.0)), w)
    else:
        w = g("Where", gone, g.constant(np.float64(np.nan)), w)
    step = np.vstack([np.diff(F[: len(knots)], axis=0), np.zeros((len(F) - len(knots) + 1, F.shape[1]))])
    w = g("Unsqueeze", w, g.constant([1], np.int64))
    return g("Add", g("Gather", g.constant(F), i), g("Mul", w, g("Gather", g.constant(step), i)))


def _at_levels(g: Graph, axis: ScoreAxis, levels: tuple[str, ...], x: str, F: np.ndarray) -> str:
    keys, places = list(levels), list(range(len(levels)))
    if MISSING_TEXT not in levels:
        keys.append(MISSING_TEXT)
        places.append(axis.size + 1 if axis.missing is None else axis.missing)
    i = g(
        "LabelEncoder",
        g.flat(x),
        domain="ai.onnx.ml",
        keys_strings=keys,
        values_int64s=places,
        default_int64=axis.other,
    )
    return g("Gather", g.constant(np.vstack([F, np.full(F.shape[1], np.nan)])), i)
