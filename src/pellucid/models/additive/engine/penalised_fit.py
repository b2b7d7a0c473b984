"""One stage of the fit of an additive model: Newton steps around the loss, variances chosen at each."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from pellucid.features.term_basis import TermBasis
from pellucid.linalg.moments import Moments
from pellucid.models.additive.engine.design import Design, moments_at, predictor, solved
from pellucid.models.additive.engine.held_out import loosened
from pellucid.models.additive.engine.state import Problem, State, compact, information
from pellucid.solvers.variance_components import Components, fit_components

_USUAL_SPREAD = 5.0  # prior mean of a group's standard deviation, in units of the linear predictor
_CLOSE = 1e-3  # what the last step may still have hoped to gain, per row or as a share of the loss
_CLOSER = 1e-9  # the same where it costs nothing
_SETTLINGS = 4  # second derivatives that the way to the minimum may take
_NOTHING = -1.0  # standard deviations below the mean of noise: there is nothing in a main effect
_MANY_COLUMNS = 1500  # from which on variances are updated half as often
_POOL = 1.0  # degrees of freedom by which groups of one kind pull each other together, where scale is fixed


End = Literal["minimum", "settled", "loosened"]
"""How a last stage ends, for a loss that is not quadratic: at the minimum for the ridges found; with moments
taken there; and with all variances of classes and counts doubled, if rows left out say so."""


def run_stage(
    problem: Problem,
    basis: TermBasis,
    before: State | None,
    *,
    n_newton: int,
    n_iter: int = 0,
    prune: float | None,
    sparse: bool = True,
    end: End | None = None,
    variance: float | None = None,
    first: Moments | None = None,
) -> State:
    """Fit one basis: Newton steps around the loss, variances chosen on the moments of each.

    Ridges start from those of the stage before. A step that does not lower the penalised loss is halved: the
    predictor in between is where the loss is linearised next. Groups of pairs are dropped whose score is less
    than ``prune`` standard deviations above noise, and those of main effects too if effects are ``sparse``;
    otherwise main effects stay unless there is nothing in them. ``end`` says how a last stage ends. A
    ``variance`` is that of all groups, and stays. The moments of the ``first`` step are taken where they are
    given, see :func:`first_moments`.
    """
    eta = _first_predictor(problem, before)
    ridge = _first_ridges(problem, basis, before, eta)
    if variance is not None:
        ridge = np.full(len(basis.keys), (problem.scale or 1.0) / variance)
    beta: np.ndarray | None = None
    state: State | None = None
    steps = 1 if problem.quadratic else n_newton
    rounds = _rounds(problem, basis, n_iter, n_newton)
    for step in range(steps):
        last = step == steps - 1
        extra = _extra(problem, basis, eta, sparse) if end is not None and prune is not None else 0.0
        drop = _thresholds(basis, prune, sparse) if last and prune is not None else None
        solve = partial(_components, problem, basis, ridge, rounds, drop, extra, exact=last)
        moments, fit = solved(problem, basis, eta, solve, first if step == 0 else None)
        intercept = moments.target_mean - float(moments.column_mean @ fit.beta)
        new = predictor(problem, basis, fit.beta, intercept)
        t = 1.0 if problem.quadratic else _halve(problem, basis, fit, eta, new, beta)
        if t == 1.0 or last:  # ridges of a step that went too far are not to be trusted
            ridge = fit.ridge
        eta = eta + t * (new - eta)
        beta = fit.beta if beta is None else beta + t * (fit.beta - beta)
        state = State(basis, fit, moments, intercept, eta)
    assert state is not None
    if end is None:
        return state
    state = compact(state)
    if problem.quadratic:
        return state
    _go_to_minimum(problem, state)
    if end == "minimum":
        return state
    looser = loosened(problem, state) if end == "loosened" and problem.scale is not None else None
    if looser is not None:
        state = looser
        _go_to_minimum(problem, state)
    _renew(problem, state)
    return state


def first_moments(problem: Problem, basis: TermBasis, before: State) -> Moments:
    """Moments of the first step of a stage, which several stages of one basis share."""
    return moments_at(problem, basis, *problem.working(_first_predictor(problem, before)))


def _rounds(problem: Problem, basis: TermBasis, n_iter: int, n_newton: int) -> int:
    """Updates of the variances on the moments of one step: few where each takes long, or steps follow.

    Where there are about as many columns as rows, most groups are noise, and it takes all updates to see it.
    """
    if problem.quadratic:
        slow = _MANY_COLUMNS < basis.size <= len(problem) / 2
        return (n_iter + 1) // 2 if slow else n_iter
    return min(n_iter, 4 if n_newton == 1 else 2)


def _first_predictor(problem: Problem, before: State | None) -> np.ndarray:
    """Predictor of the stage before, which may have seen other rows; to begin with the best constant."""
    if before is None:
        return _null_predictor(problem)
    if len(before.eta) == len(problem):
        return before.eta.copy()
    return predictor(problem, before.basis, before.fit.beta, before.intercept)


def _null_predictor(problem: Problem) -> np.ndarray:
    start = problem.loss.best_constant(problem.y, problem.weight, problem.offset)
    return problem.offset + float(np.ravel(start)[0])


def _first_ridges(problem: Problem, basis: TermBasis, before: State | None, eta: np.ndarray) -> np.ndarray:
    """Ridges of the stage before, infinite for groups that it dropped; typical ones for groups it had not."""
    known = {} if before is None else before.variance
    alive = np.array([v for v in known.values() if v > 0])
    typical = float(np.exp(np.mean(np.log(alive)))) if len(alive) else 1.0
    variance = np.array([known.get(key, typical) for key in basis.keys])
    if problem.scale is not None:
        scale = problem.scale
    else:
        scale = _first_scale(problem, eta) if before is None else before.fit.scale
    with np.errstate(divide="ignore"):
        return np.maximum(scale / variance, 1e-6)


def _go_to_minimum(problem: Problem, state: State) -> None:
    """Go to the minimum; if the second derivative is from too far away to lead there, take it anew."""
    for _ in range(_SETTLINGS):
        if polish(problem, state) < (_CLOSE if problem.dtype is np.float32 else _CLOSER):
            break
        _renew(problem, state)


def _renew(problem: Problem, state: State) -> None:
    """Take moments, degrees of freedom and second derivative where the state is now."""
    solve = partial(_components, problem, state.basis, state.fit.ridge, 0, None, 0.0)
    state.moments, fit = solved(problem, state.basis, state.eta, solve)
    state.fit = replace(fit, beta=state.fit.beta)


def _components(
    problem: Problem,
    basis: TermBasis,
    ridge: np.ndarray,
    n_iter: int,
    prune: np.ndarray | None,
    extra: float | np.ndarray,
    moments: Moments,
    *,
    exact: bool = True,
) -> Components:
    return fit_components(
        moments,
        basis.group,
        ridge,
        scale=problem.scale,
        n_iter=n_iter,
        prune=prune,
        n=float(problem.weight.sum()),
        spread=_spread(problem, basis, moments),
        extra=extra,
        pool=0.0 if problem.scale is None else _POOL,
        kind=basis.kind,
        few=~basis.of_pairs if problem.few else None,
        exact=exact,
    )


def _thresholds(basis: TermBasis, prune: float, sparse: bool) -> np.ndarray:
    """What the score of each group has to reach, in standard deviations above noise."""
    return np.where(basis.of_pairs, prune, prune if sparse else min(prune, _NOTHING))


def _first_scale(problem: Problem, eta: np.ndarray) -> float:
    """A tenth of the variance of the targets, where the scale is not known."""
    w, z = problem.working(eta)
    mean = float(w @ z) / float(w.sum())
    return max(0.1 * float(w @ (z - mean) ** 2) / float(problem.weight.sum()), 1e-8)


def _extra(problem: Problem, basis: TermBasis, eta: np.ndarray, sparse: bool) -> np.ndarray:
    """Degrees of freedom that each group has to pay: more, the more groups there are for the rows.

    Groups that are pooled are kept from following noise already, and pay less; main effects, which are few,
    pay nothing unless effects are sparse.
    """
    share = 1.0 if problem.scale is None else 0.5
    price = float(np.clip(16.0 * share * len(basis.keys) / information(problem, eta), 0.5, 8.0 * share))
    return np.where(basis.of_pairs, price, price if sparse else 0.0)


def _spread(problem: Problem, basis: TermBasis, moments: Moments) -> np.ndarray | None:
    """Variance of each group's contribution per unit of its prior variance, where the scale is fixed."""
    if problem.scale is None:
        return None
    variance = np.maximum(np.diag(moments.G), 0.0) / moments.total
    return np.bincount(basis.group, variance, len(basis.keys)) / _USUAL_SPREAD**2


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
        start = max(problem.value(_null_predictor(problem)), problem.value(eta))
        beta = np.zeros(basis.size)
    else:
        start = problem.value(eta) + 0.5 * float(ridge @ beta**2)
    t = 1.0
    while t > 1e-3:
        at = problem.value(eta + t * (new - eta)) + 0.5 * float(ridge @ (beta + t * (fit.beta - beta)) ** 2)
        if np.isfinite(at) and at <= start + 1e-9 * abs(start):
            return t
        t /= 2
    return t


def polish(problem: Problem, state: State) -> float:
    """Go to the minimum of the penalised loss for the ridges found, keeping the last second derivative.

    Returns what the last step still hoped to gain, per row or as a share of the loss.
    """
    exact = problem.dtype is np.float64
    n_steps, tol = (50, 1e-13) if exact else (8, 1e-6)
    basis, fit = state.basis, state.fit
    ridge = np.where(np.isfinite(fit.ridge), fit.ridge, 0.0)[basis.group]
    beta, intercept = fit.beta.copy(), state.intercept
    Z = Design(problem, basis)
    eta = problem.offset + intercept + Z.times(beta)
    value = problem.value(eta) + 0.5 * float(ridge @ beta**2)
    mean, total = state.moments.column_mean, state.moments.total
    decrease = 0.0
    for _ in range(n_steps):
        slope = problem.weight * problem.loss.gradient(problem.y, eta)
        g = Z.sums(slope)
        g0 = float(slope.sum())
        g_centred = (g - mean * g0 + ridge * beta)[fit.columns]
        step = np.zeros(basis.size)
        step[fit.columns] = -fit.root.T @ (fit.root @ g_centred)
        step0 = -g0 / total - float(mean @ step)
        direction = step0 + Z.times(step)
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
    hope = -decrease / max(abs(value), float(problem.weight.sum()))
    state.converged = hope < _CLOSE
    state.fit = Components(beta, fit.ridge, fit.edf, fit.scale, fit.rss, fit.columns, fit.root)
    state.intercept, state.eta = intercept, eta
    return hope
