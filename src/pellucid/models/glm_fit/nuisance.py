"""Numbers of the loss itself, such as a dispersion, estimated in turns with the fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pellucid.losses import Loss
from pellucid.solvers import GLMProblem

ROUNDS = 6  # most fits beside new numbers of the loss
_SETTLED = 0.01  # relative change of these numbers that no longer matters: their own error is larger
_LEFT_OUT = 20_000  # rows up to which residuals are those of each row left out; beyond, one row moves nothing


def settle(
    Z: np.ndarray,
    given: Sequence[GLMProblem],
    choose: Callable[[Sequence[GLMProblem]], float],
    fit: Callable[[Sequence[GLMProblem], float], list[Any]],
) -> tuple[float, list[GLMProblem], list[Any]]:
    """Alpha, problems without open numbers, and their fits: losses are estimated in turns with the fits.

    ``choose`` finds alpha, in the first two turns, and ``fit`` solves the problems at an alpha.
    """
    problems = started(given)
    for turn in range(ROUNDS):
        if turn < 2:
            alpha = choose(problems)
        fits = fit(problems, alpha)
        fitted, problems = problems, renewed(Z, given, problems, fits)
        if settled(fitted, problems):
            break
    return alpha, fitted, fits


def started(problems: Sequence[GLMProblem]) -> list[GLMProblem]:
    """Problems whose losses have their numbers estimated beside the best constant."""
    return [p.beside(_beside_constant(p) if p.loss.is_open else _beside_offset(p)) for p in problems]


def _beside_offset(p: GLMProblem) -> Loss:
    return p.loss.profiled(p.y, p.offset, p.weight) if p.loss.joint else p.loss


def _beside_constant(p: GLMProblem) -> Loss:
    loss: Loss = p.loss
    for _ in range(2):  # the best constant may need a bandwidth that comes from the spread around it
        eta = p.offset + (loss.best_constant(p.y, p.weight, p.offset) if p.fit_intercept else 0.0)
        loss = p.loss.estimated(p.y, eta, p.weight)
    return loss


def renewed(
    Z: np.ndarray, given: Sequence[GLMProblem], problems: Sequence[GLMProblem], fits: Sequence[Any]
) -> list[GLMProblem]:
    """The ``problems`` of these fits with the numbers that ``given`` ones leave open estimated anew."""
    found = []
    for start, p, fit in zip(given, problems, fits, strict=True):
        if not start.loss.is_open:
            found.append(p)
            continue
        found.append(p.beside(start.loss.estimated(p.y, left_out(Z, p, fit), p.weight)))
    return found


def left_out(Z: Any, p: GLMProblem, fit: Any) -> np.ndarray:
    """Linear predictor of each row by the model without it, offset included; of very many rows, with it."""
    if len(p.y) > _LEFT_OUT or not isinstance(Z, np.ndarray):
        return np.asarray(fit.eta)
    return np.asarray(fit.loo_eta(Z, p, np.maximum(1.0, p.weight)))


def settled(old: Sequence[GLMProblem], new: Sequence[GLMProblem]) -> bool:
    """Whether the numbers of the losses have come to rest."""
    return all(
        np.allclose([*vars(a.loss).values()], [*vars(b.loss).values()], rtol=_SETTLED, atol=0.0)
        for a, b in zip(old, new, strict=True)
        if a.loss is not b.loss
    )
