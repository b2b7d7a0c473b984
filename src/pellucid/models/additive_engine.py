"""The additive kernel machine as numbers: from a matrix of rows to terms, coefficients and variances.

The fit goes through stages. Each stage has a basis of columns, linearises the loss at the present predictor, sums up
moments in one pass over the rows, and lets the variances of all groups of columns choose themselves on the moments:

1. main effects alone, if there are too many pairs to take them all: their residuals rank the pairs;
2. main effects and pairs with a few columns each, on at most ``SAMPLE`` rows: which groups of columns carry signal;
3. columns shared out anew by what each group turned out to carry, on all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pellucid.features.axis import Axis
from pellucid.features.screening import rank_features, rank_pairs
from pellucid.features.term_basis import Axes, Group, Term, TermBasis, main_picks, pair_picks
from pellucid.linalg.moments import Design, Moments, blocks, weighted_moments
from pellucid.losses import Loss
from pellucid.solvers.variance_components import Components, fit_components

SAMPLE = 12_000  # rows that decide on the structure
_EXACT = 10_000  # rows up to which everything is float64
_KNOTS, _PAIR_KNOTS = 256, 96
_MAIN_COLUMNS, _AXIS_COLUMNS = 32, 64
_MAX_FEATURES = 300  # main effects that get columns
_MAX_PAIRS = 150
_PRUNE_FIRST, _PRUNE = 0.0, 0.5
_LEAST_SIGNAL = 0.1  # prior variance of a column in units of its sampling variance
_USUAL_SPREAD = 5.0  # prior mean of a group's standard deviation, in units of the predictor of counts and classes
_LENGTH_SCALE = 1.0  # of an axis whose bulk runs from 0 to 1; groups adapt it


@dataclass(frozen=True)
class Problem:
    """Rows as a float64 matrix, targets, weights, offset and loss."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    offset: np.ndarray
    loss: Loss

    def __len__(self) -> int:
        return len(self.y)

    @property
    def dtype(self) -> type:
        """Precision of features: float64 where it costs nothing."""
        return np.float64 if len(self) <= _EXACT else np.float32

    @property
    def quadratic(self) -> bool:
        """Whether one linear solve is the answer."""
        return self.loss.name == "squared"

    @property
    def scale(self) -> float | None:
        """Dispersion where the loss fixes it; None where it is estimated."""
        return None if self.loss.name in ("squared", "gamma") else 1.0

    def part(self, rows: np.ndarray | slice) -> Problem:
        """The problem on some of the rows."""
        return Problem(self.X[rows], self.y[rows], self.weight[rows], self.offset[rows], self.loss)

    def working(self, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights and targets of the quadratic that touches the loss at ``eta``; targets are without offset."""
        if self.quadratic:
            return self.weight, self.y - self.offset
        curvature = self.loss.curvature(self.y, eta)
        curvature = np.maximum(curvature, 1e-6 * max(float(curvature.max()), 1e-12))
        z = eta - self.offset - self.loss.gradient(self.y, eta) / curvature
        return self.weight * curvature, z

    def in_units(self, unit: float) -> Problem:
        """The problem with targets multiplied."""
        return replace(self, y=self.y * unit, offset=self.offset * unit)

    def value(self, eta: np.ndarray) -> float:
        """Sum of the losses."""
        return float(self.weight @ self.loss.value(self.y, eta))


@dataclass
class State:
    """Where a fit stands."""

    basis: TermBasis
    fit: Components
    moments: Moments
    intercept: float
    eta: np.ndarray
    converged: bool = True
    variance: dict[Group, float] = field(default_factory=dict)

    @property
    def term_edf(self) -> np.ndarray:
        """Effective degrees of freedom of each term."""
        return np.bincount(self.basis.owner, self.fit.edf, len(self.basis.terms))


    def in_units(self, unit: float) -> State:
        """The same fit of targets that were multiplied."""
        fit = replace(
            self.fit,
            beta=self.fit.beta * unit,
            scale=self.fit.scale * unit**2,
            rss=self.fit.rss * unit**2,
        )
        moments = replace(
            self.moments,
            c=self.moments.c * unit,
            square=self.moments.square * unit**2,
            target_mean=self.moments.target_mean * unit,
        )
        return replace(
            self, fit=fit, moments=moments, intercept=self.intercept * unit, eta=self.eta * unit
        )


def build_axes(X: np.ndarray, weight: np.ndarray, n_levels: Sequence[int | None]) -> Axes:
    """Axes and bases of all columns; ``n_levels`` is None for numbers."""
    fine, coarse = [], []
    for x, levels in zip(X.T, n_levels, strict=True):
        if levels is not None:
            axis = Axis.of_levels(x, weight, levels)
            fine.append(axis)
            coarse.append(axis)
            continue
        fine.append(Axis.numeric(x, weight, _KNOTS))
        small = len(fine[-1].knots) <= _PAIR_KNOTS * 4 // 3
        coarse.append(fine[-1] if small else Axis.numeric(x, weight, _PAIR_KNOTS))
    return with_bases(fine, coarse)


def with_bases(fine: Sequence[Axis], coarse: Sequence[Axis]) -> Axes:
    """Axes with their eigenbases, which follow from them."""
    main = [axis.basis(_LENGTH_SCALE, _AXIS_COLUMNS) for axis in fine]
    pair = [
        basis if axis is rough else rough.basis(_LENGTH_SCALE, _AXIS_COLUMNS)
        for axis, rough, basis in zip(fine, coarse, main, strict=True)
    ]
    return Axes(tuple(fine), tuple(coarse), tuple(main), tuple(pair))


# ---------------------------------------------------------------------- stages


def fit_additive(
    problem: Problem, axes: Axes, pairs: Sequence[Term] | None, most_pairs: int | None, alone: Sequence[int] = ()
) -> State:
    """Fit main effects and pairs.

    ``pairs`` names the pairs that may enter, ``None`` all; ``most_pairs`` of them stay at most. Features in ``alone``
    take part in no pair.
    """
    features = [j for j in range(problem.X.shape[1]) if len(axes.main[j])]
    small = problem
    if len(problem) > SAMPLE:
        small = problem.part(np.linspace(0, len(problem) - 1, SAMPLE).astype(np.intp))
    features = rank_features(small, axes, features, _MAX_FEATURES)
    columns = int(np.clip(1200 // max(len(features), 1), 8, _MAIN_COLUMNS))
    mains = main_picks(axes, features, columns)
    candidates = _candidates(features, pairs, alone)
    if most_pairs == 0 or not candidates:
        return run_stage(problem, _basis(axes, mains, {}), None, n_newton=8, n_iter=15, prune=None, final=True)
    state = None
    if len(candidates) > _MAX_PAIRS:
        state = run_stage(small, _basis(axes, mains, {}), None, n_newton=3, n_iter=6, prune=None)
        candidates = rank_pairs(small, axes, state.eta, candidates, _MAX_PAIRS)
    budget = _budget(small, state, len(problem) / len(small))
    first = pair_picks(axes, candidates, max(budget * 6 // 10, 8 * len(candidates)))
    state = run_stage(small, _basis(axes, mains, first), state, n_newton=6, n_iter=8, prune=_PRUNE_FIRST)
    chosen = _strongest(state, most_pairs)
    budget = _budget(small, state, len(problem) / len(small))
    second = pair_picks(axes, chosen, budget, state.variance, floor=_floor(problem, state))
    last = _basis(axes, mains, second)
    return run_stage(problem, last, state, n_newton=2, n_iter=8, prune=_PRUNE, final=True)


def _candidates(features: Sequence[int], pairs: Sequence[Term] | None, alone: Sequence[int]) -> list[Term]:
    free = [j for j in sorted(features) if j not in set(alone)]
    if pairs is None:
        return [(p, q) for i, p in enumerate(free) for q in free[i + 1 :]]
    return [pair for pair in pairs if set(pair) <= set(free)]


def _basis(axes: Axes, *picks: dict[Term, tuple[np.ndarray, ...]]) -> TermBasis:
    every = {term: pick for part in picks for term, pick in part.items()}
    return TermBasis(axes, tuple(every), tuple(every.values()))


def _strongest(state: State, most: int | None) -> list[Term]:
    """Pairs that kept some variance, the strongest first if only so many may stay."""
    edf = state.term_edf
    spread = np.array([_power(state, t) for t in range(len(edf))])
    alive = [t for t, term in enumerate(state.basis.terms) if len(term) == 2 and edf[t] > 0.1]
    if most is not None:
        alive = sorted(sorted(alive, key=lambda t: -spread[t])[:most])
    return [state.basis.terms[t] for t in alive]


def _power(state: State, t: int) -> float:
    s = state.basis.slices[t]
    return float(state.fit.beta[s] @ state.moments.G[s, s] @ state.fit.beta[s])


def _budget(problem: Problem, state: State | None, times: float) -> int:
    """Columns of pairs that the data can pay for, from the information in the rows.

    A row of squared loss counts fully, one of a class by how open it is: 4p(1 - p).
    """
    information = times * float(problem.weight.sum())
    if state is not None and problem.scale is not None:
        w, _ = problem.working(state.eta)
        information = min(information, 4.0 * times * float(w.sum()))
    return int(np.clip(20.0 * np.sqrt(information), 600, 4000))


def _floor(problem: Problem, state: State) -> float:
    """Prior variance below which a column would have less than a tenth of a degree of freedom."""
    return _LEAST_SIGNAL * state.fit.scale / float(problem.weight.sum())


def run_stage(
    problem: Problem,
    basis: TermBasis,
    before: State | None,
    *,
    n_newton: int,
    n_iter: int,
    prune: float | None,
    final: bool = False,
) -> State:
    """Fit one basis: Newton steps around the loss, variances chosen on the moments of each.

    Ridges start from those of the stage before. A step that does not lower the penalised loss is halved: the
    predictor in between is where the loss is linearised next.
    """
    n = len(problem)
    if before is not None and len(before.eta) == n:
        eta = before.eta.copy()
    elif before is not None:
        eta = predictor(problem, before.basis, before.fit.beta, before.intercept)
    else:
        start = problem.loss.best_constant(problem.y, problem.weight, problem.offset)
        eta = problem.offset + float(np.ravel(start)[0])
    known = {} if before is None else before.variance
    alive = np.array([v for v in known.values() if v > 0])
    typical = float(np.exp(np.mean(np.log(alive)))) if len(alive) else 1.0
    variance = np.array([known.get(key, typical) for key in basis.keys])
    with np.errstate(divide="ignore"):
        ridge = 1.0 / variance  # in units of the scale; infinite for groups that were dropped
    if problem.scale is None:
        ridge *= _first_scale(problem, eta) if before is None else before.fit.scale
    beta, state, dtype = None, None, problem.dtype
    steps = 1 if problem.quadratic else n_newton
    for step in range(steps):
        w, z = problem.working(eta)
        last = step == steps - 1
        how = {
            "scale": problem.scale,
            "n_iter": n_iter if problem.quadratic else 2,
            "prune": prune if last else None,
            "n": float(problem.weight.sum()),
        }
        moments = weighted_moments(_design(problem, basis, dtype), w, z, basis.size, dtype)
        try:
            fit = fit_components(moments, basis.group, ridge, spread=_spread(problem, basis, moments), **how)
        except FloatingPointError:  # so little noise that rounding to float32 is more
            moments = weighted_moments(_design(problem, basis, np.float64), w, z, basis.size)
            fit = fit_components(moments, basis.group, ridge, spread=_spread(problem, basis, moments), **how)
        intercept = moments.target_mean - float(moments.column_mean @ fit.beta)
        new = predictor(problem, basis, fit.beta, intercept)
        t = 1.0 if problem.quadratic else _halve(problem, basis, fit, eta, new, beta)
        if t == 1.0 or last:  # ridges of a step that went too far are not to be trusted
            ridge = fit.ridge
        change = float(np.max(np.abs(new - eta), initial=0.0))
        eta = eta + t * (new - eta)
        beta = fit.beta if beta is None else beta + t * (fit.beta - beta)
        state = State(basis, fit, moments, intercept, eta, t == 1.0 and change < 0.1)
    assert state is not None
    if final:
        state = compact(state)
        if not problem.quadratic:
            polish(problem, state)
    basis = state.basis
    with np.errstate(divide="ignore"):
        found = state.fit.scale / state.fit.ridge
    state.variance = dict(zip(basis.keys, found, strict=True))
    return state


def _first_scale(problem: Problem, eta: np.ndarray) -> float:
    """A tenth of the variance of the targets, where the scale is not known."""
    if problem.scale is not None:
        return problem.scale
    w, z = problem.working(eta)
    mean = float(w @ z) / float(w.sum())
    return max(0.1 * float(w @ (z - mean) ** 2) / float(problem.weight.sum()), 1e-300)


def _spread(problem: Problem, basis: TermBasis, moments: Moments) -> np.ndarray | None:
    """Variance of each group's contribution per unit of its prior variance, where the scale is fixed."""
    if problem.scale is None:
        return None
    variance = np.maximum(np.diag(moments.G), 0.0) / moments.total
    return np.bincount(basis.group, variance, len(basis.keys)) / _USUAL_SPREAD**2


def _design(problem: Problem, basis: TermBasis, dtype: type) -> Design:
    return lambda rows: basis.design(problem.X[rows], dtype)


def predictor(problem: Problem, basis: TermBasis, beta: np.ndarray, intercept: float) -> np.ndarray:
    """Linear predictor of all rows, offset included."""
    out = problem.offset + intercept
    used = np.flatnonzero([np.any(beta[s]) for s in basis.slices])
    lean = TermBasis(basis.axes, tuple(basis.terms[t] for t in used), tuple(basis.picks[t] for t in used))
    b = np.concatenate([beta[basis.slices[t]] for t in used]) if len(used) else np.empty(0)
    for rows in blocks(len(problem), max(lean.size, 1), problem.dtype):
        out[rows] += b.astype(problem.dtype) @ lean.design(problem.X[rows], problem.dtype)
    return out


def _halve(
    problem: Problem,
    basis: TermBasis,
    fit: Components,
    eta: np.ndarray,
    new: np.ndarray,
    beta: np.ndarray | None,
) -> float:
    """Largest of 1, ½, ¼, ... at which the penalised loss, with the ridges of the new fit, does not rise.

    In a basis of its own (``beta`` is None) the new fit has to be better than no fit at all.
    """
    ridge = np.where(np.isfinite(fit.ridge), fit.ridge, 0.0)[basis.group]
    if beta is None:
        null = problem.offset + float(
            np.ravel(problem.loss.best_constant(problem.y, problem.weight, problem.offset))[0]
        )
        start, beta = max(problem.value(null), problem.value(eta)), np.zeros(basis.size)
    else:
        start = problem.value(eta) + 0.5 * float(ridge @ beta**2)
    t = 1.0
    while t > 1e-3:
        at = problem.value(eta + t * (new - eta)) + 0.5 * float(ridge @ (beta + t * (fit.beta - beta)) ** 2)
        if np.isfinite(at) and at <= start + 1e-9 * abs(start):
            return t
        t /= 2
    return t


def compact(state: State) -> State:
    """The same state without the columns that were dropped."""
    basis, fit, m = state.basis, state.fit, state.moments
    kept = np.zeros(basis.size, dtype=bool)
    kept[fit.columns] = True
    picks: dict[Term, tuple[np.ndarray, ...]] = {}
    for term, pick, s in zip(basis.terms, basis.picks, basis.slices, strict=True):
        if kept[s].any():
            picks[term] = tuple(part[kept[s]] for part in pick)
    lean = _basis(basis.axes, picks)
    place = {key: g for g, key in enumerate(basis.keys)}
    groups = np.array([place[key] for key in lean.keys], dtype=np.intp)
    columns = np.flatnonzero(kept)
    return replace(
        state,
        basis=lean,
        fit=replace(
            fit,
            beta=fit.beta[columns],
            ridge=fit.ridge[groups],
            edf=fit.edf[groups],
            columns=np.arange(len(columns)),
        ),
        moments=replace(
            m, G=m.G[np.ix_(columns, columns)], c=m.c[columns], column_mean=m.column_mean[columns]
        ),
    )


def polish(problem: Problem, state: State) -> None:
    """Go to the minimum of the penalised loss for the ridges found, with the last second derivative throughout."""
    exact = problem.dtype is np.float64
    n_steps, tol = (50, 1e-13) if exact else (8, 1e-7)
    basis, fit = state.basis, state.fit
    ridge = np.where(np.isfinite(fit.ridge), fit.ridge, 0.0)[basis.group]
    beta, intercept = fit.beta.copy(), state.intercept
    eta = predictor(problem, basis, beta, intercept)
    value = problem.value(eta) + 0.5 * float(ridge @ beta**2)
    mean, total = state.moments.column_mean, state.moments.total
    for _ in range(n_steps):
        slope = problem.weight * problem.loss.gradient(problem.y, eta)
        g = np.zeros(basis.size)
        for rows in blocks(len(problem), max(basis.size, 1), problem.dtype):
            g += basis.design(problem.X[rows], problem.dtype) @ slope[rows].astype(problem.dtype)
        g0 = float(slope.sum())
        g_centred = (g - mean * g0 + ridge * beta)[fit.columns]
        step = np.zeros(basis.size)
        step[fit.columns] = -fit.root.T @ (fit.root @ g_centred)
        step0 = -g0 / total - float(mean @ step)
        direction = predictor(problem, basis, step, step0) - problem.offset
        decrease = float(g_centred @ step[fit.columns]) - g0 * g0 / total
        if decrease > -tol * max(abs(value), 1e-300):
            break
        t = 1.0
        while t > 1e-3:
            new = problem.value(eta + t * direction) + 0.5 * float(ridge @ (beta + t * step) ** 2)
            if new <= value + 1e-4 * t * decrease:
                break
            t /= 2
        else:
            break
        beta, intercept, eta, value = beta + t * step, intercept + t * step0, eta + t * direction, new
    state.fit = Components(beta, fit.ridge, fit.edf, fit.scale, fit.rss, fit.columns, fit.root)
    state.intercept, state.eta = intercept, eta
