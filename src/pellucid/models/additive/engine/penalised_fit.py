"""The fit of one basis: Newton steps around the loss, the prior updated on the moments of each."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from pellucid.features.term_basis import TermBasis
from pellucid.linalg.moments import Moments
from pellucid.models.additive.engine.all_rows import Rows, Vector
from pellucid.models.additive.engine.design import intercept_beside, predictor, solved
from pellucid.models.additive.engine.hierarchy import Prior, ridges
from pellucid.models.additive.engine.newton import PenalisedLoss
from pellucid.models.additive.engine.skewness import skewness
from pellucid.models.additive.engine.state import State
from pellucid.solvers.variance_components import Components, Equations

_CLOSE = 1e-3  # what the last step may still have hoped to gain, per row or as a share of the loss
_CLOSER = 1e-9  # the same where it costs nothing
_SETTLINGS = 12  # second derivatives that the way to the minimum may take


def penalised_fit(
    problem: Rows,
    basis: TermBasis,
    prior: Prior,
    before: State | None = None,
    *,
    updates: int,
    newton_steps: int = 3,
) -> State:
    """Fit one basis and update its prior, starting from the predictor of the fit ``before``.

    Parameters
    ----------
    problem : Problem
        What to fit.
    basis : TermBasis
        Columns.
    prior : Prior
        Where the variances of their terms start.
    before : State, optional
        Where the predictor and the dispersion start.
    updates : int
        Updates of the prior on the moments of each Newton step.
    newton_steps : int
        Steps for a loss that is not quadratic; one that does not lower the penalised loss is halved.
    """
    eta = _first_predictor(problem, before)
    scale = problem.scale or (_first_scale(problem, eta) if before is None else before.fit.scale)
    beta: np.ndarray | None = None
    state: State | None = None
    steps = 1 if problem.quadratic else newton_steps
    for step in range(steps):
        solve = partial(_updated, problem, basis, prior, scale, updates, eta)
        moments, (fit, new_prior) = solved(problem, basis, eta, solve)
        intercept = intercept_beside(problem, moments, fit.beta)
        new = predictor(problem, basis, fit.beta, intercept)
        t = 1.0 if problem.quadratic else _halve(problem, basis, fit, eta, new, beta)
        if t == 1.0 or step == steps - 1:  # variances of a step that went too far are not to be trusted
            prior, scale = new_prior, fit.scale
        eta = eta + t * (new - eta)
        beta = fit.beta if beta is None else beta + t * (fit.beta - beta)
        state = State(basis, prior, fit, moments, intercept, eta, problem.loss)
    assert state is not None
    return state


def equations_of(problem: Rows, moments: Moments) -> Equations:
    """Equations of moments of a problem; the noise is that of rows that are no copies."""
    n = problem.informative
    return Equations(moments, problem.scale, n, problem.least_scale, n / max(problem.total, 1e-300))


def _updated(
    problem: Rows,
    basis: TermBasis,
    prior: Prior,
    scale: float,
    updates: int,
    eta: Vector,
    moments: Moments,
) -> tuple[Components, Prior]:
    """Solution of the equations of one step, and the prior after so many updates on them."""
    equations = equations_of(problem, moments)
    skew: np.ndarray | None = None
    for _ in range(updates):
        fit = equations.solve(ridges(basis.prior(prior.variances), scale))
        if skew is None:
            skew = skewness(problem, basis, moments, fit, eta)
        prior, scale = prior.updated(basis, fit.about_mean(skew)), fit.scale
    return equations.solve(ridges(basis.prior(prior.variances), scale)), prior


def _first_predictor(problem: Rows, before: State | None) -> Vector:
    """Predictor of the fit before, which may have seen other rows; to begin with the best constant."""
    if before is None:
        return problem.null_predictor
    if problem.takes(before.eta):
        return before.eta
    return predictor(problem, before.basis, before.fit.beta, before.intercept)


def _first_scale(problem: Rows, eta: Vector) -> float:
    """Half of the variance of the targets, where the scale is not known."""
    problem, eta = problem.at_hand, problem.here(eta)
    w, z = problem.beside(eta).working(eta)
    mean = float(w @ z) / float(w.sum())
    return max(0.5 * float(w @ (z - mean) ** 2) / problem.total, 1e-8)


def _halve(
    problem: Rows,
    basis: TermBasis,
    fit: Components,
    eta: Vector,
    new: Vector,
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


def settled(problem: Rows, state: State) -> State:
    """The state at the minimum of its penalised loss, with moments taken there.

    If the second derivative is from too far away to lead there, it is taken anew.
    """
    if problem.quadratic:
        return state
    close = _CLOSE if problem.dtype is np.float32 else _CLOSER
    if problem.loss.bends_by_target:
        for _ in range(_SETTLINGS):
            moments, metric = _quadratic(problem, state, expected=False)
            hope, state = _descended(problem, state, moments, metric)
            if hope < close:
                break
        return touching(problem, state)
    for _ in range(_SETTLINGS):
        hope, state = _descended(problem, state, state.moments, state.fit)
        state = touching(problem, state)
        if hope < close:
            break
    return state


def touching(problem: Rows, state: State) -> State:
    """Moments, degrees of freedom and second derivative where the state is now."""
    moments, fit = _quadratic(problem, state, expected=True)
    return replace(state, moments=moments, fit=replace(fit, beta=state.fit.beta))


def _quadratic(problem: Rows, state: State, *, expected: bool) -> tuple[Moments, Components]:
    """The quadratic that touches the loss where the state is, and its minimum for the same ridges."""
    ridge = state.fit.ridge
    return solved(
        problem,
        state.basis,
        state.eta,
        lambda m: equations_of(problem, m).solve(ridge),
        expected=expected,
    )


def _descended(problem: Rows, state: State, moments: Moments, metric: Components) -> tuple[float, State]:
    """Steps towards the minimum of the penalised loss, keeping one second derivative.

    Returns also what the last step still hoped to gain, per row or as a share of the loss.
    """
    loss = PenalisedLoss(problem, state.basis, state.fit.ridge)
    n_steps, tol = (50, 1e-13) if loss.exact else (8, 1e-6)
    at = loss.point(state.fit.beta.copy(), state.intercept)
    decrease = 0.0
    for _ in range(n_steps):
        step = loss.step(at, moments, metric, tol=tol, shortest=1e-3)
        decrease = step.decrease
        if step.reached is None:
            break
        at = step.reached
    hope = -decrease / max(abs(at.value), problem.total)
    fit = replace(state.fit, beta=at.beta)
    return hope, replace(state, fit=fit, intercept=at.intercept, eta=at.eta, converged=hope < _CLOSE)
