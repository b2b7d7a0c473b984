"""Numbers of the loss itself, such as a dispersion or a threshold, estimated in turns with the fit.

They are found beside predictions of rows without themselves: those of the fit are too close to the targets.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.losses import Loss
from pellucid.models.additive.engine.all_rows import Rows
from pellucid.models.additive.engine.held_out import leave_one_out
from pellucid.models.additive.engine.penalised_fit import touching
from pellucid.models.additive.engine.state import Problem, State

_ROWS = 4000  # whose leave-one-out predictions are made; of more, the fit is near to no single one


def started(problem: Problem) -> Problem:
    """The problem with numbers of its loss estimated beside the best constant."""
    if not problem.loss.is_open:
        return problem
    found = problem
    for _ in range(2):  # the best constant may need a number that comes from the spread around it
        loss = problem.loss.estimated(problem.y, found.null_predictor, problem.weight)
        found = replace(problem, loss=loss)
    return found


def with_loss_of(problem: Any, state: State) -> Any:
    """The problem with the loss that a fit of it has arrived at."""
    if problem.loss == state.loss:
        return problem
    return replace(problem, loss=state.loss)


def renewed_loss(stated: Loss, problem: Rows, state: State) -> Loss:
    """The loss with what was ``stated`` as open estimated beside the fit, by leave-one-out of few rows.

    Leverages need the second derivative where the fit is now. That of the step before, of a fit far from its
    rows, knows less curvature, and rows would seem to be fitted for themselves alone.
    """
    if not stated.is_open:
        return state.loss
    part, eta = problem.at_hand, problem.here(state.eta)
    if len(problem) <= _ROWS:
        known = replace(part, loss=state.loss)
        eta = leave_one_out(known, touching(known, state), np.arange(len(part)), one_copy=True)[1]
    return stated.estimated(part.y, eta, part.weight)
