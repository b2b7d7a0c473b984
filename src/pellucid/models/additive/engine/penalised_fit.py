"""The penalised fit of one basis: Newton steps around the loss, variances chosen on the moments of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from pellucid.features.term_basis import TermBasis
from pellucid.linalg.moments import Moments
from pellucid.models.additive.engine import policy
from pellucid.models.additive.engine.design import moments_at, predictor, solved
from pellucid.models.additive.engine.held_out import loosened
from pellucid.models.additive.engine.newton import PenalisedLoss
from pellucid.models.additive.engine.state import Problem, State, compact, information
from pellucid.solvers.variance_components import Components, VariancePrior, fit_components

_CLOSE = 1e-3  # what the last step may still have hoped to gain, per row or as a share of the loss
_CLOSER = 1e-9  # the same where it costs nothing
_SETTLINGS = 4  # second derivatives that the way to the minimum may take


@dataclass(frozen=True)
class FitSettings:
    """How a penalised fit is done.

    Attributes
    ----------
    newton_steps : int
        Steps around a loss that is not quadratic.
    updates : int
        Updates of the variances on the moments of each step, at most; 0 keeps them.
    prune : float, optional
        Groups of pairs are dropped whose score is less than this many standard deviations above noise.
    sparse : bool
        Whether main effects are dropped like pairs; otherwise they stay unless there is nothing in them.
    end : {"minimum", "settled", "loosened"}, optional
        How a last fit ends, for a loss that is not quadratic: at the minimum for the ridges found; with
        moments taken there; and with all variances of discrete responses doubled, if held-out losses say so.
    variance : float, optional
        The variance of all groups, which stays.
    """

    newton_steps: int
    updates: int = 0
    prune: float | None = None
    sparse: bool = True
    end: Literal["minimum", "settled", "loosened"] | None = None
    variance: float | None = None


def penalised_fit(
    problem: Problem,
    basis: TermBasis,
    before: State | None,
    settings: FitSettings,
    first: Moments | None = None,
) -> State:
    """Fit one basis, starting from the predictor and the ridges of the fit ``before``.

    A step that does not lower the penalised loss is halved: the predictor in between is where the loss is
    linearised next. The moments of the ``first`` step are taken where they are given, see
    :func:`first_moments`.
    """
    eta = _first_predictor(problem, before)
    ridge = _first_ridges(problem, basis, before, eta)
    if settings.variance is not None:
        ridge = np.full(len(basis.keys), (problem.scale or 1.0) / settings.variance)
    beta: np.ndarray | None = None
    state: State | None = None
    steps = 1 if problem.quadratic else settings.newton_steps
    updates = _updates(problem, basis, settings)
    for step in range(steps):
        last = step == steps - 1
        ends = settings.end is not None and settings.prune is not None
        extra = _extra(problem, basis, eta, settings.sparse) if ends else 0.0
        prune = _thresholds(basis, settings) if last else None
        solve = partial(_components, problem, basis, ridge, updates, prune, extra, exact=last)
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
    return state if settings.end is None else _ended(problem, compact(state), settings.end)


def _ended(problem: Problem, state: State, end: str) -> State:
    if problem.quadratic:
        return state
    _go_to_minimum(problem, state)
    if end == "minimum":
        return state
    looser = loosened(problem, state) if end == "loosened" and problem.discrete else None
    if looser is not None:
        state = looser
        _go_to_minimum(problem, state)
    _renew(problem, state)
    return state


def first_moments(problem: Problem, basis: TermBasis, before: State) -> Moments:
    """Moments of the first step of a fit, which several fits of one basis share."""
    return moments_at(problem, basis, *problem.working(_first_predictor(problem, before)))


def _updates(problem: Problem, basis: TermBasis, settings: FitSettings) -> int:
    """Updates of the variances on the moments of one step: few where each takes long, or steps follow.

    Where there are about as many columns as rows, most groups are noise, and it takes all updates to see it.
    """
    if problem.quadratic:
        slow = policy.MANY_COLUMNS < basis.size <= len(problem) / 2
        return (settings.updates + 1) // 2 if slow else settings.updates
    return min(settings.updates, 4 if settings.newton_steps == 1 else 2)


def _first_predictor(problem: Problem, before: State | None) -> np.ndarray:
    """Predictor of the fit before, which may have seen other rows; to begin with the best constant."""
    if before is None:
        return problem.null_predictor
    if len(before.eta) == len(problem):
        return before.eta.copy()
    return predictor(problem, before.basis, before.fit.beta, before.intercept)


def _first_ridges(problem: Problem, basis: TermBasis, before: State | None, eta: np.ndarray) -> np.ndarray:
    """Ridges of the fit before, infinite for groups that it dropped; typical ones for groups it had not."""
    known = {} if before is None else before.variance
    alive = np.array([v for v in known.values() if v > 0])
    typical = float(np.exp(np.mean(np.log(alive)))) if len(alive) else 1.0
    variance = np.array([known.get(key, typical) for key in basis.keys])
    scale = problem.scale
    if scale is None:
        scale = _first_scale(problem, eta) if before is None else before.fit.scale
    with np.errstate(divide="ignore"):
        return np.maximum(scale / variance, 1e-6)


def _first_scale(problem: Problem, eta: np.ndarray) -> float:
    """A tenth of the variance of the targets, where the scale is not known."""
    w, z = problem.working(eta)
    mean = float(w @ z) / float(w.sum())
    return max(0.1 * float(w @ (z - mean) ** 2) / float(problem.weight.sum()), 1e-8)


def _components(
    problem: Problem,
    basis: TermBasis,
    ridge: np.ndarray,
    updates: int,
    prune: np.ndarray | None,
    extra: float | np.ndarray,
    moments: Moments,
    *,
    exact: bool = True,
) -> Components:
    prior = VariancePrior(extra)
    if problem.discrete:
        variance = np.maximum(np.diag(moments.G), 0.0) / moments.total  # of the predictors per unit of τ²
        spread = np.bincount(basis.group, variance, len(basis.keys)) / policy.USUAL_SPREAD**2
        sparse = ~basis.of_pairs if problem.sparse_main_effects else None
        prior = VariancePrior(extra, spread, policy.POOL, basis.kind, sparse)
    n = float(problem.weight.sum())
    return fit_components(
        moments,
        basis.group,
        ridge,
        scale=problem.scale,
        n_iter=updates,
        prune=prune,
        n=n,
        prior=prior,
        exact=exact,
    )


def _thresholds(basis: TermBasis, settings: FitSettings) -> np.ndarray | None:
    """What the score of each group has to reach, in standard deviations above noise."""
    prune = settings.prune
    if prune is None:
        return None
    return np.where(basis.of_pairs, prune, prune if settings.sparse else min(prune, policy.NOTHING))


def _extra(problem: Problem, basis: TermBasis, eta: np.ndarray, sparse: bool) -> np.ndarray:
    """Degrees of freedom that each group has to pay: more, the more groups there are for the rows.

    Groups that are pooled are kept from following noise already, and pay less; main effects, which are few,
    pay nothing unless effects are sparse.
    """
    share = 0.5 if problem.discrete else 1.0
    price = float(np.clip(16.0 * share * len(basis.keys) / information(problem, eta), 0.5, 8.0 * share))
    return np.where(basis.of_pairs, price, price if sparse else 0.0)


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
    loss = PenalisedLoss(problem, basis, fit.ridge)
    if beta is None:
        start = max(problem.value(problem.null_predictor), problem.value(eta))
        beta = np.zeros(basis.size)
    else:
        start = loss.value(eta, beta)
    t = 1.0
    while t > 1e-3:
        at = loss.value(eta + t * (new - eta), beta + t * (fit.beta - beta))
        if np.isfinite(at) and at <= start + 1e-9 * abs(start):
            return t
        t /= 2
    return t


# ------------------------------------------------------------- the minimum for the ridges found


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


def polish(problem: Problem, state: State) -> float:
    """Go to the minimum of the penalised loss for the ridges found, keeping the last second derivative.

    Returns what the last step still hoped to gain, per row or as a share of the loss.
    """
    loss = PenalisedLoss(problem, state.basis, state.fit.ridge)
    n_steps, tol = (50, 1e-13) if loss.exact else (8, 1e-6)
    at = loss.point(state.fit.beta.copy(), state.intercept)
    decrease = 0.0
    for _ in range(n_steps):
        step = loss.step(at, state.moments, state.fit, tol=tol, shortest=1e-3)
        decrease = step.decrease
        if step.reached is None:
            break
        at = step.reached
    hope = -decrease / max(abs(at.value), float(problem.weight.sum()))
    state.converged = hope < _CLOSE
    state.fit = replace(state.fit, beta=at.beta)
    state.intercept, state.eta = at.intercept, at.eta
    return hope
