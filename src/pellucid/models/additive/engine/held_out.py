"""Leave-one-out of an additive model: exact for squared loss, else by one Newton step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pellucid.data.labels import class_probabilities, winner
from pellucid.effects.loo import LeaveOneOut
from pellucid.linalg import side_by_side
from pellucid.linalg.moments import blocks
from pellucid.linalg.sample import equal_rows, fold_rows
from pellucid.models.additive.engine import policy
from pellucid.models.additive.engine.state import Problem, State, clearly_lower
from pellucid.solvers.variance_components import fit_components

_WORK = 3e10  # multiplications that exact leverages may cost; beyond, of some rows
_LARGEST = 1.0 - 1e-6  # leverage


def loo_rows(problem: Problem, states: Sequence[State]) -> np.ndarray:
    """Rows to leave out: all of them where exact leverages are affordable, else some."""
    return problem.sample(_affordable(max(len(state.fit.columns) for state in states)))


def _affordable(n_columns: int) -> int:
    return int(max(2000, _WORK / max(n_columns, 1) ** 2))


def leave_one_out(problem: Problem, state: State, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leverages h_i and linear predictors without each row: exact for squared loss, else one Newton step.

    With v_i the variance of a predictor, h = w v, and η moves by -h / (1 - h) times the working residual.
    """
    part, eta = problem.part(rows), state.eta[rows]
    _, v = _centred(part, state, problem.dtype)
    w, z = part.working(eta)
    h = np.clip(w * v, 0.0, _LARGEST)
    return h, eta - h / (1.0 - h) * (z + part.offset - eta)


def loosened(problem: Problem, state: State) -> State | None:
    """The state with all variances doubled if the held-out loss is clearly lower then, else None.

    Classes tell little one by one, and variances that are found on a quadratic around their loss are too
    small (Breslow and Lin 1995, Biometrika 82). Rows that are equal are left out together: a copy is no test.
    At the minimum for ridges Λ, a Newton step for ridges Λ' solves (G + Λ')β' = (G + Λ)β, with the G of the
    last step before; it is still to be settled. The gain has to be more than its standard error, and than the
    one that a free factor is worth; and a Newton step tells what a row does only while fits are far from
    going through all rows.
    """
    beta, ridge, group = state.fit.beta, state.fit.ridge, state.basis.group
    moments = replace(state.moments, c=state.moments.G @ beta + ridge[group] * beta)
    try:
        fit = fit_components(moments, group, ridge / 2.0, scale=problem.scale, n_iter=0, n=moments.total)
    except FloatingPointError:  # not even these are sure to be more than rounding
        return None
    intercept = state.intercept + float(moments.column_mean @ (beta - fit.beta))
    looser = replace(state, fit=fit, intercept=intercept)
    places = equal_rows(list(problem.X.T)).max(initial=-1) + 1
    if fit.edf.sum() > policy.MOST_SPENT * places:
        return None
    before, after = held_out_losses(problem, [state, looser])
    clear = clearly_lower(after, before) and after.sum() + 1.0 < before.sum()
    return looser if clear else None


def held_out_losses(problem: Problem, states: Sequence[State]) -> list[np.ndarray]:
    """Losses of each state at places of the features, without the rows there; of many rows, at some."""
    part = problem.part(_some_with_copies(problem, states[0]))
    return [_held_out_losses(part, state, problem.dtype) for state in states]


def _some_with_copies(problem: Problem, state: State) -> np.ndarray:
    """Rows that leverages are affordable of, about as many as may be, with all rows that equal them."""
    share = len(problem) / _affordable(len(state.fit.columns))
    return np.flatnonzero(fold_rows(list(problem.X.T), max(int(np.ceil(share)), 1)) == 0)


def _held_out_losses(problem: Problem, state: State, dtype: type) -> np.ndarray:
    """Loss of the rows of each place without all of them, for coefficients that need not be settled.

    It is what a perfect fit would spare, which is never negative: shares of it mean something for counts too.
    Of rows of one place, with v the variance of the predictor, h = v Σ w and η moves by -v Σ w r / (1 - h).
    """
    copies = equal_rows(list(problem.X.T))
    eta, v = _centred(problem, state, dtype)
    w, z = problem.working(eta)
    h = np.clip(v * np.bincount(copies, w)[copies], 0.0, _LARGEST)
    pull = np.bincount(copies, w * (z + problem.offset - eta))[copies]
    with np.errstate(over="ignore"):
        loss = 0.5 * problem.loss.deviance(problem.y, eta - v / (1.0 - h) * pull)
        return np.bincount(copies, problem.weight * loss)


def _centred(problem: Problem, state: State, dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """Predictors of rows, and their variances in units of the scale: 1/Σw + ‖R(z_i - z̄)‖²."""
    fit, m = state.fit, state.moments
    root: np.ndarray = fit.root.astype(dtype)
    beta: np.ndarray = fit.beta[fit.columns].astype(dtype)
    mean = m.column_mean[fit.columns].astype(dtype)[:, None]
    eta = problem.offset + (state.intercept + float(m.column_mean @ fit.beta))
    v = np.empty(len(problem))

    def fill(rows: slice) -> None:
        Z = state.basis.design(problem.X[rows], dtype)[fit.columns] - mean
        eta[rows] += beta @ Z
        v[rows] = np.sum(np.square(root @ Z), axis=0)

    side_by_side(fill, blocks(len(problem), max(state.basis.size, 1), dtype))
    return eta, v + 1.0 / m.total


def loo_report(
    problems: Sequence[Problem], etas: Sequence[np.ndarray], leverages: Sequence[np.ndarray]
) -> LeaveOneOut:
    """Leave-one-out in the units of the targets, from predictors of held-out rows.

    Of one model per class, probabilities and class indicators stand side by side.
    """
    weight, loss = problems[0].weight, problems[0].loss
    y, eta, h = (np.column_stack(v) for v in ([p.y for p in problems], etas, leverages))
    if len(problems) == 1:
        y, eta, h = y[:, 0], eta[:, 0], h[:, 0]
    predictions = loss.mean(eta) if len(problems) == 1 else class_probabilities(loss.mean(eta))
    residuals = y - predictions
    mse = weight @ residuals**2 / weight.sum()
    wrong = None
    if loss.kind == "classification":
        truth = y > 0.5 if len(problems) == 1 else y.argmax(axis=1)
        wrong = float(weight @ (winner(eta) != truth) / weight.sum())
    return LeaveOneOut(predictions, residuals, h, mse if mse.ndim else float(mse), None, wrong)
