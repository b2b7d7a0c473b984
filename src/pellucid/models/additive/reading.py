"""From a fit to what users read: tables, effects, importances, tests."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import reduce

import numpy as np

from pellucid.data.table import Column
from pellucid.effects.mixture_chi2 import combined_p_value, mixture_tail
from pellucid.effects.tables import TermTables, stack_tables
from pellucid.effects.terms import Effect, Importances, Term, term_names
from pellucid.features.axis import Axis
from pellucid.features.term_basis import Axes
from pellucid.models.additive.engine.hierarchy import T
from pellucid.models.additive.engine.state import State, tests_of
from pellucid.models.additive.monotone_pairs import made_up
from pellucid.models.additive.monotonicity import exactly_monotone
from pellucid.solvers.variance_components import ScoreTest, evidence

_SHOWN = 32  # points along each feature of a surface that is shown


def live_terms(summands: Sequence[Sequence[State]]) -> set[Term]:
    """Terms with a function that is not zero in at least one output."""
    return {
        term
        for states in summands
        for state in states
        for term, s in zip(state.basis.terms, state.basis.slices, strict=True)
        if np.any(state.fit.beta[s])
    }


def compile_tables(
    summands: Sequence[Sequence[State]],
    columns: tuple[Column, ...],
    axes: Axes,
    directions: Mapping[int, int],
    frozen: Mapping[Term, np.ndarray],
) -> TermTables:
    """Tables of one model per output, the sum of its ``summands``.

    Main effects of the features in ``directions`` are made monotone to the last bit, and the tables in
    ``frozen`` are taken as they are.
    """
    parts = []
    for k, states in enumerate(summands):
        part: dict[Term, np.ndarray] = {}
        for state in states:
            beta, basis = state.fit.beta, state.basis
            for t, term in enumerate(basis.terms):
                table = basis.table(t, beta[basis.slices[t]])
                part[term] = part[term] + table if term in part else table
        for j in directions:
            if (j,) in part:
                part[(j,)] = exactly_monotone(part[(j,)], len(axes.fine[j].knots), directions[j])
        part |= {term: table[..., k] if len(summands) > 1 else table for term, table in frozen.items()}
        parts.append(made_up(part, axes, directions))
    shapes = {}
    for term in sorted({*live_terms(summands), *frozen}, key=lambda term: (len(term), term)):
        on = (axes.fine[term[0]],) if len(term) == 1 else tuple(axes.coarse[j] for j in term)
        shapes[term] = tuple(len(axis) + 1 for axis in on)
    terms, tables = stack_tables(parts, shapes)
    constants = [float(sum(state.intercept for state in states)) for states in summands]
    intercept = np.array(constants) if len(constants) > 1 else constants[0]
    return TermTables(columns, axes.fine, axes.coarse, terms, tables, intercept)


# --------------------------------------------------------------------- effects


def read_effects(
    tables: TermTables,
    summands: Sequence[Sequence[State]],
    masses: Mapping[Term, np.ndarray],
    outputs: Sequence[str],
) -> dict[str, Effect]:
    """Curves at all points, surfaces at some, with standard errors and where the rows are.

    Errors of ``summands`` of an output are taken for independent.
    ``masses`` are the sums of the weights of the rows nearest to the points, see :func:`row_masses`.
    """
    effects = {}
    for t, (term, name) in enumerate(zip(tables.terms, tables.names, strict=True)):
        axes = tables.axes(t)
        points = _points(axes)
        grids = tuple(tables.grid(j, a, p) for j, a, p in zip(term, axes, points, strict=True))
        values = tables.tables[t][np.ix_(*points)]
        se = np.stack([_errors_of_sum(states, term, points) for states in summands], axis=-1)
        effects[name] = Effect(
            term,
            name,
            grids,
            values,
            masses[term] / max(masses[term].sum(), np.finfo(float).tiny),
            se if len(summands) > 1 else se[..., 0],
            tuple(outputs) if len(summands) > 1 else (),
        )
    return effects


def row_masses(
    terms: Collection[Term], axes: Axes, X: np.ndarray, weight: np.ndarray
) -> dict[Term, np.ndarray]:
    """Sum of the weights of the rows nearest to each point at which a term is shown; of pairs, to both."""
    masses = {}
    for term in terms:
        on = [axes.fine[term[0]]] if len(term) == 1 else [axes.coarse[j] for j in term]
        masses[term] = _nearest(on, _points(on), X[:, list(term)], weight)
    return masses


def _points(axes: Sequence[Axis]) -> list[np.ndarray]:
    """The points of each axis of a term at which it is shown."""
    return [np.arange(len(a)) if len(axes) == 1 else _shown(a) for a in axes]


def _shown(axis: Axis) -> np.ndarray:
    """At most so many points of an axis: the outermost, and others at equal steps of mass."""
    if len(axis) <= _SHOWN or axis.levels:
        return np.arange(len(axis))
    k = len(axis.knots)
    middle = np.cumsum(axis.mass[:k]) - axis.mass[:k] / 2
    some = np.searchsorted(middle, np.linspace(0, 1, _SHOWN) * middle[-1]).clip(0, k - 1)
    some = np.unique(np.concatenate([[0], some, [k - 1]]))
    return np.append(some, k) if axis.missing else some


def _errors_of_sum(states: Sequence[State], term: Term, points: Sequence[np.ndarray]) -> np.ndarray:
    """Standard errors of a sum of functions whose errors are independent."""
    return reduce(np.hypot, [_errors(state, term, points) for state in states])


def _errors(state: State, term: Term, points: Sequence[np.ndarray]) -> np.ndarray:
    """Posterior standard errors of a term's function at points of its axes.

    They are those of the distribution of its variance, if there is something in it, around the function
    fitted; the variances of others are as expected.
    """
    shape = tuple(len(p) for p in points)
    if term not in state.basis.terms:
        return np.zeros(shape)
    t = state.basis.terms.index(term)
    s = state.basis.slices[t]
    functions = state.basis.functions(t, points)
    if term not in state.prior.posteriors:
        V = state.fit.covariance_block(s)
        variance = state.fit.scale * np.einsum("ij,ij->i", functions @ V, functions)
    else:
        fit, expected = state.if_there
        post = state.prior.posteriors[term]
        first, second = evidence(fit, s).function_moments(
            functions, np.exp(2.0 * T) / expected[term].sum(), post.weight
        )
        fitted = functions @ state.fit.beta[s]
        variance = second - 2.0 * first * fitted + fitted**2
    return np.sqrt(np.maximum(variance, 0.0)).reshape(shape)


def _nearest(
    axes: Sequence[Axis], points: Sequence[np.ndarray], X: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Sum of the weights of the rows nearest to each point, or to each pair of points."""
    place, keep = np.zeros(len(X), dtype=np.intp), weight > 0
    for axis, shown, x in zip(axes, points, X.T, strict=True):
        i, w = axis.locate(x)
        keep &= i < len(axis)
        nearest = np.minimum(i + (w > 0.5), len(axis) - 1)
        middle = (shown[1:] + shown[:-1]) / 2
        owner = np.searchsorted(middle, np.arange(len(axis)), "right")
        if axis.missing:  # is near to nothing but itself
            owner[len(axis) - 1] = len(shown) - 1
            owner[len(axis) - 2] = min(owner[len(axis) - 2], max(len(shown) - 2, 0))
        place = place * len(shown) + owner[nearest]
    shape = tuple(len(p) for p in points)
    return np.bincount(place[keep], weight[keep], int(np.prod(shape))).reshape(shape)


def read_importances(
    tables: TermTables, summands: Sequence[Sequence[State]], fixed: Sequence[Mapping[Term, float]]
) -> Importances:
    """Variance of each term over the rows as a share of the sum of all; the mean over outputs.

    ``fixed`` has the variances of terms that were not fitted, for each output, or are sums.

    With V_j = [H⁻¹]_jj the posterior variance of βᵀG_jjβ/n is about 4σ² βᵀG_jj V_j G_jj β / n², which gives
    the standard error.
    """
    power = np.zeros((len(summands), len(tables.terms)))
    error = np.zeros_like(power)
    for k, states in enumerate(summands):
        for t, term in enumerate(tables.terms):
            parts = np.array([_variance(state, term) for state in states])
            power[k, t], error[k, t] = parts[:, 0].sum(), np.hypot.reduce(parts[:, 1])
            power[k, t] = fixed[k].get(term, power[k, t])
    total = power.sum(axis=1, keepdims=True)
    share = np.divide(power, total, out=np.zeros_like(power), where=total > 0).mean(axis=0)
    se = np.divide(error, total, out=np.zeros_like(power), where=total > 0).mean(axis=0)
    return Importances(tuple(tables.names), share, se, measure="share of variance")


def _variance(state: State, term: Term) -> tuple[float, float]:
    """Variance of a term over the rows, and its standard error."""
    if term not in state.basis.terms:
        return 0.0, 0.0
    s = state.basis.slices[state.basis.terms.index(term)]
    g = state.moments.G[s, s] @ state.fit.beta[s]
    error = 2.0 * np.sqrt(state.fit.scale) * float(np.linalg.norm(state.fit.root[:, s] @ g))
    return max(float(state.fit.beta[s] @ g), 0.0) / state.moments.total, error / state.moments.total


def term_tests(
    tables: TermTables, states: Sequence[State], frozen: Collection[Term] = ()
) -> list[tuple[str, float, float]]:
    """Name, effective degrees of freedom and p-value of each term, of score tests that it is zero.

    Terms that are ``frozen`` were not fitted, so there is nothing to test. A term of a sum is zero if it is
    in all of its ``states``.
    """
    rows = []
    for name, term in zip(tables.names, tables.terms, strict=True):
        of_it = [state for state in states if term in state.basis.terms]
        if not of_it:
            rows.append((name, 0.0, np.nan if term in frozen else 1.0))
            continue
        edf = sum(float(state.term_edf[state.basis.terms.index(term)]) for state in of_it)
        rows.append((name, edf, p_value([test for state in of_it for test in tests_of(state, term)])))
    return rows


def p_value(tests: Sequence[ScoreTest]) -> float:
    """One p-value from score tests against several shapes, whatever the dependence between them.

    Shapes of which no column was fitted say nothing.
    """
    return combined_p_value([mixture_tail(Q, weights) for Q, weights in tests if weights.any()])


def names_of(terms: Sequence[Term], columns: Sequence[Column]) -> list[str]:
    """Names of terms."""
    return term_names(terms, [column.name for column in columns])
