"""Leave-one-out of an additive model: exact for squared loss, else by one Newton step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pellucid.data.labels import class_probabilities, winner
from pellucid.effects.loo import LeaveOneOut
from pellucid.linalg import power_of_two, side_by_side
from pellucid.linalg.moments import blocks
from pellucid.losses import Ordinal
from pellucid.models.additive.engine.all_rows import Rows
from pellucid.models.additive.engine.state import Problem, State

_WORK = 3e10  # multiplications that exact leverages may cost; beyond, of some rows
_LARGEST = 1.0 - 1e-6  # leverage


def loo_rows(problem: Problem, states: Sequence[State]) -> np.ndarray:
    """Rows to leave out: all of them where exact leverages are affordable, else some."""
    return problem.sample(_affordable(max(state.basis.size for state in states)))


def _affordable(n_columns: int) -> int:
    return int(max(2000, _WORK / max(n_columns, 1) ** 2))


def leave_one_out(
    problem: Problem,
    state: State,
    rows: np.ndarray,
    *,
    one_copy: bool = False,
    expected: bool = True,
) -> tuple[np.ndarray, np.ndarray]:
    """Leverages h_i and linear predictors without each row: exact for squared loss, else one Newton step.

    With v_i the variance of a predictor, h = w v, and η moves by -h / (1 - h) times the working residual.
    With ``one_copy`` a row of weight 2 is left out once, as if it were given twice. The state has moments of
    the ``expected`` curvature, or of that of the loss itself: with the latter the step is exact for Huber's
    loss as long as no row crosses the threshold.
    """
    part, eta = problem.part(rows), state.eta[rows]
    _, v = _centred(part, state, problem.dtype)
    w, z = part.working(eta, expected=expected)
    if one_copy:
        w = w / np.maximum(part.weight, 1.0)
    h = np.clip(w * v, 0.0, _LARGEST)
    return h, eta - h / (1.0 - h) * (z + part.offset - eta)


def _centred(problem: Problem, state: State, dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """Predictors of rows, and their variances in units of the scale: 1/Σw + ‖R(z_i - z̄)‖²."""
    fit, m = state.fit, state.moments
    root: np.ndarray = fit.root.astype(dtype)
    beta: np.ndarray = fit.beta.astype(dtype)
    mean: np.ndarray = m.column_mean.astype(dtype)[:, None]
    eta = problem.offset + (state.intercept + float(m.column_mean @ fit.beta))
    v = np.empty(len(problem))

    def fill(rows: slice) -> None:
        Z = state.basis.design(problem.X[rows], dtype) - mean
        eta[rows] += beta @ Z
        v[rows] = np.sum(np.square(root @ Z), axis=0)

    side_by_side(fill, blocks(len(problem), max(state.basis.size, 1), dtype))
    return eta, v + 1.0 / m.total


def one_per_class(problems: Sequence[Rows]) -> bool:
    """Whether problems are those of several classes, each against the rest."""
    return len(problems) > 1 and problems[0].loss.kind == "classification"


def loo_report(
    problems: Sequence[Problem], etas: Sequence[np.ndarray], leverages: Sequence[np.ndarray]
) -> LeaveOneOut:
    """Leave-one-out in the units of the targets, from predictors of held-out rows.

    Several outputs, such as quantiles, stand side by side; of one model per class, probabilities and class
    indicators. Residuals of times until an event are events less the number that was to be expected by then.
    """
    weight, loss = problems[0].weight, problems[0].loss
    y, eta, h = (np.column_stack(v) for v in ([p.y for p in problems], etas, leverages))
    if len(problems) == 1:
        y, eta, h = y[:, 0], eta[:, 0], h[:, 0]
    classes = one_per_class(problems)
    predictions = class_probabilities(loss.mean(eta)) if classes else loss.mean(eta)
    residuals = -loss.gradient(y, eta) if loss.kind == "survival" else y - predictions
    unit = float(power_of_two(float(np.abs(residuals).max(initial=0.0))))  # squares may overflow
    root = unit * np.sqrt(weight @ (residuals / unit) ** 2 / weight.sum())
    with np.errstate(over="ignore", under="ignore"):
        mse = root**2
    wrong = None
    if loss.kind == "classification":
        truth = y > 0.5 if len(problems) == 1 else y.argmax(axis=1)
        wrong = float(weight @ (winner(eta) != truth) / weight.sum())
    if isinstance(loss, Ordinal):
        wrong = float(weight @ (winner(loss.probabilities(eta)) != y) / weight.sum())
    single = mse.ndim == 0
    return LeaveOneOut(
        predictions, residuals, h, float(mse) if single else mse, None, wrong, float(root) if single else root
    )
