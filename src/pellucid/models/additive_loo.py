"""Leave-one-out of an additive model: exact for squared loss, else by one Newton step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pellucid.effects.loo import LeaveOneOut
from pellucid.linalg.moments import blocks
from pellucid.models.additive_state import Problem, State
from pellucid.solvers.variance_components import fit_components

_WORK = 6e10  # multiplications that exact leverages may cost; beyond, of some rows
_LARGEST = 1.0 - 1e-6  # leverage


def loo_rows(problem: Problem, states: Sequence[State]) -> np.ndarray:
    """Rows to leave out: all of them where exact leverages are affordable, else some."""
    k = max(len(state.fit.columns) for state in states)
    most = int(max(2000, _WORK / max(k, 1) ** 2))
    return problem.sample(most)


def leave_one_out(problem: Problem, state: State, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leverages and linear predictors without each row: exact for squared loss, else one Newton step."""
    part = problem.part(rows)
    return _without_each(part, state.eta[rows], _centred(part, state, problem.dtype)[1])


def _without_each(problem: Problem, eta: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leverages h = w v, with v the variances of the predictors, and η - h / (1 - h) · working residual."""
    w, z = problem.working(eta)
    h = np.clip(w * v, 0.0, _LARGEST)
    return h, eta - h / (1.0 - h) * (z + problem.offset - eta)


def loosened(problem: Problem, state: State) -> State | None:
    """The state with all variances doubled if the loss of rows left out is clearly lower then, else None.

    Classes tell little one by one, and variances that are found on a quadratic around their loss are too
    small (Breslow and Lin 1995, Biometrika 82). A row left out is one of as many as its weight says. At the
    minimum for ridges Λ, a Newton step for ridges Λ' solves (G + Λ')β' = (G + Λ)β; it is still to be settled.
    """
    rows = loo_rows(problem, [state])
    units = replace(problem.part(rows), weight=np.ones(len(rows)))
    beta, ridge, group = state.fit.beta, state.fit.ridge, state.basis.group
    moments = replace(state.moments, c=state.moments.G @ beta + ridge[group] * beta)
    fit = fit_components(moments, group, ridge / 2.0, scale=problem.scale, n_iter=0, n=moments.total)
    intercept = state.intercept + float(moments.column_mean @ (beta - fit.beta))
    looser = replace(state, fit=fit, intercept=intercept)
    weight, dtype = problem.weight[rows], problem.dtype
    with np.errstate(invalid="ignore", over="ignore"):
        gain = _held_out_loss(units, state, dtype) - _held_out_loss(units, looser, dtype)
        clear = weight @ gain > np.sqrt(weight @ gain**2)
    return looser if clear else None


def _held_out_loss(problem: Problem, state: State, dtype: type) -> np.ndarray:
    """Losses of rows without each of them, for coefficients that are not settled yet."""
    _, eta = _without_each(problem, *_centred(problem, state, dtype))
    return problem.loss.value(problem.y, eta)


def _centred(problem: Problem, state: State, dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """Predictors of rows, and their variances in units of the scale: 1/Σw + ‖R(z_i - z̄)‖²."""
    fit, m = state.fit, state.moments
    root: np.ndarray = fit.root.astype(dtype)
    beta: np.ndarray = fit.beta[fit.columns].astype(dtype)
    mean = m.column_mean[fit.columns].astype(dtype)[:, None]
    eta = problem.offset + (state.intercept + float(m.column_mean @ fit.beta))
    v = np.empty(len(problem))
    for block in blocks(len(problem), max(state.basis.size, 1), dtype):
        Z = state.basis.design(problem.X[block], dtype)[fit.columns] - mean
        eta[block] += beta @ Z
        v[block] = np.sum(np.square(root @ Z), axis=0)
    return eta, v + 1.0 / m.total


def loo_report(problem: Problem, eta: np.ndarray, rows: np.ndarray, h: np.ndarray) -> LeaveOneOut:
    """Leave-one-out in the units of the targets."""
    y, weight = problem.y[rows], problem.weight[rows]
    predictions = problem.loss.mean(eta)
    residuals = y - predictions
    mse = float(weight @ residuals**2 / weight.sum())
    wrong = None
    if problem.loss.kind == "classification":
        wrong = float(weight @ ((eta > 0) != (y > 0.5)) / weight.sum())
    return LeaveOneOut(predictions, residuals, h, mse, None, wrong)


def several_classes(
    reports: Sequence[LeaveOneOut], problems: Sequence[Problem], scores: np.ndarray, rows: np.ndarray
) -> LeaveOneOut:
    """Leave-one-out of one model per class: probabilities side by side, error rate of the best class."""
    truth = np.column_stack([problem.y[rows] for problem in problems])
    weight = problems[0].weight[rows]
    P = problems[0].loss.mean(scores)
    P = P / P.sum(axis=1, keepdims=True)
    mse = weight @ (truth - P) ** 2 / weight.sum()
    wrong = float(weight @ (scores.argmax(axis=1) != truth.argmax(axis=1)) / weight.sum())
    return LeaveOneOut(P, truth - P, np.column_stack([r.leverages for r in reports]), mse, None, wrong)
