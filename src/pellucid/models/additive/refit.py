"""The minimum of the penalised loss for ridges that are given, in the cone that constraints leave.

A refit after an edit, and a fit whose main effects must rise or fall, have their basis and ridges already.
For squared loss one linear solve, moved into the cone, is the answer. For others quadratic problems follow
one another: each has the slope of the loss where the last one ended, and a second derivative that is renewed
when progress is slow.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from pellucid.features.term_basis import TermBasis
from pellucid.linalg.moments import Moments
from pellucid.linalg.sample import fold_rows
from pellucid.losses import Quantile, Squared
from pellucid.models.additive.engine.all_rows import Rows, Vector
from pellucid.models.additive.engine.design import intercept_beside, predictor, solved
from pellucid.models.additive.engine.held_out import leave_one_out, loo_rows
from pellucid.models.additive.engine.hierarchy import Prior, ridges
from pellucid.models.additive.engine.loss_numbers import with_loss_of
from pellucid.models.additive.engine.newton import PenalisedLoss
from pellucid.models.additive.engine.penalised_fit import equations_of
from pellucid.models.additive.engine.state import Problem, State
from pellucid.models.common.levels import level_shift
from pellucid.solvers.monotone import ConeSolution, held_by, nearest_in_cone
from pellucid.solvers.variance_components import Components, Equations

FOLDS, _FOLD_ROWS = 5, 5000  # that give a quantile its level, and rows up to which they do
_METRICS = 25  # second derivatives taken at most
_STEPS = 15  # steps with each


def refit(problem: Rows, basis: TermBasis, ridge: np.ndarray, known: Moments | None = None) -> State:
    """Fit coefficients and intercept for ridges λ_j, whose prior is not asked for.

    For squared loss moments may be ``known``.
    """
    if problem.quadratic and known is not None:
        state = refit_to_moments(known, basis, ridge)
        return replace(state, eta=predictor(problem, basis, state.fit.beta, state.intercept))
    prior = Prior()
    constant = problem.constant
    eta = problem.offset + constant
    moments, fit = _quadratic(problem, basis, ridge, eta)
    if problem.quadratic:
        intercept = moments.target_mean - float(moments.column_mean @ fit.beta)
        eta = predictor(problem, basis, fit.beta, intercept)
        return State(basis, prior, fit, moments, intercept, eta, problem.loss)
    nothing = replace(fit, beta=np.zeros(basis.size))
    state = State(basis, prior, nothing, moments, constant, eta, problem.loss)
    return _descend(problem, state, np.zeros((0, basis.size)))


def refit_to_moments(moments: Moments, basis: TermBasis, ridge: np.ndarray) -> State:
    """The fit of squared loss that sums over rows give; without the rows it has no predictor of them."""
    fit = Equations(moments, None, moments.total).solve(ridge)
    intercept = moments.target_mean - float(moments.column_mean @ fit.beta)
    return State(basis, Prior(), fit, moments, intercept, np.empty(0), Squared())


def widened(problem: Rows, state: State, features: Collection[int]) -> State:
    """The fit with all columns of the main effects of some features, with the ridges that its prior says."""
    basis = state.basis
    terms = [term for term in basis.terms if len(term) == 1 and term[0] in features]
    if not terms:
        return state
    picks = dict(zip(basis.terms, basis.picks, strict=True))
    wide = TermBasis.of(basis.axes, picks | {t: (np.arange(len(basis.axes.main[t[0]])),) for t in terms})
    ridge = ridges(wide.prior(state.prior.variances), state.fit.scale)
    for term, own, before in zip(wide.terms, wide.slices, basis.slices, strict=True):
        if term not in terms:
            ridge[own] = state.fit.ridge[before]
    known = with_loss_of(problem, state)
    found = refit(known, wide, ridge)
    return replace(found, prior=state.prior, fold_eta=state.fold_eta)


def into_cone(problem: Rows, state: State, A: np.ndarray) -> State:
    """The fit with the same ridges for which Aβ ≥ 0, from the one without constraints."""
    fit, moments = state.fit, state.moments
    if np.all(A @ fit.beta >= 0):
        return state
    if problem.quadratic:
        state = moments_into_cone(state, A)
        eta = predictor(problem, state.basis, state.fit.beta, state.intercept)
        return replace(state, eta=eta)
    beta = nearest_in_cone(fit.beta, fit.root, A).beta
    intercept = intercept_beside(problem, moments, beta)
    eta = predictor(problem, state.basis, beta, intercept)
    return _descend(problem, replace(state, fit=replace(fit, beta=beta), intercept=intercept, eta=eta), A)


def moments_into_cone(state: State, A: np.ndarray) -> State:
    """The same for squared loss, where moments are enough; the predictor of the rows stays as it was."""
    fit, moments = state.fit, state.moments
    if np.all(A @ fit.beta >= 0):
        return state
    held = nearest_in_cone(fit.beta, fit.root, A)
    intercept = moments.target_mean - float(moments.column_mean @ held.beta)
    state = replace(state, fit=replace(fit, beta=held.beta), intercept=intercept)
    return _settle(state, A, held, moments.total, None)


def _quadratic(
    problem: Rows, basis: TermBasis, ridge: np.ndarray, eta: Vector, *, expected: bool = True
) -> tuple[Moments, Components]:
    """Moments of the quadratic that touches the loss at ``eta``, and its minimum."""

    def solve(moments: Moments) -> Components:
        return equations_of(problem, moments).solve(ridge)

    return solved(problem, basis, eta, solve, expected=expected)


def _descend(problem: Rows, state: State, A: np.ndarray) -> State:
    """From a state inside the cone Aβ ≥ 0 to the minimum there."""
    basis, ridge = state.basis, state.fit.ridge
    loss = PenalisedLoss(problem, basis, ridge)
    at = loss.point(state.fit.beta, state.intercept, state.eta)
    tol = 1e-13 if loss.exact else 1e-7
    done, cone = False, None
    for _ in range(_METRICS):
        moments, metric = _quadratic(problem, basis, ridge, at.eta, expected=False)
        before = -np.inf
        for _ in range(_STEPS):
            step = loss.step(at, moments, metric, tol=tol, shortest=1e-6, A=A if len(A) else None)
            cone, done = step.cone, step.reached is None
            if step.reached is None:
                break
            at = step.reached
            if step.decrease < 0.1 * before:  # not ten times smaller than the last one
                break
            before = step.decrease
        if done:
            break
    moments, metric = _quadratic(problem, basis, ridge, at.eta)  # degrees of freedom are those here
    fit = replace(metric, beta=at.beta)
    here = replace(state, fit=fit, moments=moments, intercept=at.intercept, eta=at.eta, converged=done)
    if cone is None:
        return here
    return _settle(here, A, cone, problem.total, problem.scale, problem.least_scale)


def _settle(
    state: State,
    A: np.ndarray,
    held: ConeSolution,
    n: float,
    known_scale: float | None,
    least: float = 0.0,
) -> State:
    """Degrees of freedom, scale and covariance with the binding constraints kept.

    With R' of :func:`held_by` the effective degrees of freedom of a column are the diagonal of R'ᵀR'G.
    """
    fit, moments = state.fit, state.moments
    if len(held.binding) == 0:
        return state
    root = held_by(fit.root, A[held.binding])
    edf = np.einsum("ij,ij->j", root, root @ moments.G)
    rss = moments.square - 2.0 * float(fit.beta @ moments.c) + float(fit.beta @ (moments.G @ fit.beta))
    scale = fit.scale
    if known_scale is None:
        scale = max(rss / max(n - 1.0 - edf.sum(), 1e-3 * n), np.finfo(float).tiny, least)
    return replace(state, fit=replace(fit, edf=edf, scale=scale, rss=max(rss, 0.0), root=root))


def bent(problem: Problem, state: State) -> State:
    """The state with moments and second derivative of the curvature of the loss itself."""
    moments, fit = _quadratic(problem, state.basis, state.fit.ridge, state.eta, expected=False)
    return replace(state, moments=moments, fit=replace(fit, beta=state.fit.beta))


def at_level(problem: Problem, state: State, central: np.ndarray | None = None) -> State:
    """The state with the constant that gives a quantile its level on rows not seen; others as they are.

    Rows not seen are those of folds, for which columns and ridges are kept. One Newton step, as of
    leave-one-out, is too short a way where the fit is near to its rows; many rows can do with it.

    For a departure, whose problem has the centre of each row without the row in its offset, ``central`` are
    predictors of the centre by fits without each row's fold, if there are any: the state has their sums.
    """
    if not isinstance(problem.loss, Quantile):
        return state
    part, eta = problem, None
    if len(problem) <= _FOLD_ROWS:
        eta = _without_folds(problem, state)
    if central is not None and eta is not None:
        state = replace(state, fold_eta=central + eta - problem.offset)
    if eta is None:
        rows = loo_rows(problem, [state])
        part = problem.part(rows)
        eta = leave_one_out(problem, state, rows, one_copy=True)[1]
    shift = level_shift(part.y - eta, part.weight, problem.loss.level)
    fold_eta = None if state.fold_eta is None else state.fold_eta + shift
    return replace(state, intercept=state.intercept + shift, eta=state.eta + shift, fold_eta=fold_eta)


def _without_folds(problem: Problem, state: State) -> np.ndarray | None:
    """Predictor of each row by a fit of the same columns and ridges without its fold, up to a constant.

    Constants of the folds, which differ by chance, are replaced by that with which the mean over all rows is
    the one of the whole fit: a constant is what they are to tell.
    """
    fold = fold_rows(list(problem.X.T), FOLDS)
    eta = np.empty(len(problem))
    for k in np.unique(fold):
        rest = problem.part(fold != k)
        if not rest.varies:
            return None
        fit = refit(rest, state.basis, state.fit.ridge)
        every = predictor(problem, state.basis, fit.fit.beta, fit.intercept)
        moved = float(problem.weight @ (state.eta - every)) / problem.total
        eta[fold == k] = every[fold == k] + moved
    return eta
