r"""Quantiles as departures from one robust centre, each with the constant that gives it its level.

A quantile alone is a poor thing to learn a function from: of normal errors the median needs 1.6 times the
rows of the mean for the same precision, the quantile of level 0.1 three times. What quantiles of all levels
have in common is where the targets are. So that is learned first, by Huber's loss, as a function ``c`` of its
own smoothness, and the curve of each level is penalised for its departure from it,

.. math:: \min_{f, b}\; \sum_i s_i\, \ell_\tau(y_i,\; o_i + c_{-i}(x_i) + f(x_i) + b)
          + \tfrac{\alpha}{2} \|f\|^2 ,

with the centre of each row taken from the fit without it: residuals of rows that took part are too small.
Where errors are alike everywhere, alpha grows and a constant is left of the departure; where their spread
varies, the departure is that. Centre and departure have one kernel, so their sum is an expansion in it.

Last, the residuals of rows left out give each curve the constant by which new rows get the level asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.losses import Huber, Quantile
from pellucid.models.common.levels import level_shift
from pellucid.models.glm_fit.nuisance import left_out, settle
from pellucid.solvers import GLMProblem


@dataclass(frozen=True)
class Centre:
    """A robust function from which the curves of all levels depart."""

    alpha: float
    delta: np.ndarray  # (r,): coefficients of the features
    intercept: float
    left_out: np.ndarray  # (n,): its values at the rows, each from the fit without the row

    def beneath(self, problem: GLMProblem) -> GLMProblem:
        """The problem of the departure."""
        return replace(problem, offset=problem.offset + self.left_out)

    def plus(self, fit: Any) -> Any:
        """A fit of the departure, with the centre added."""
        return replace(fit, delta=fit.delta + self.delta, intercept=fit.intercept + self.intercept)


def robust_centre(
    Z: Any,
    problem: GLMProblem,
    choose: Callable[[Sequence[GLMProblem]], float],
    fit: Callable[[Sequence[GLMProblem], float], list[Any]],
) -> Centre:
    """Fit the centre; ``choose`` finds its alpha and ``fit`` solves at it."""
    p = problem.beside(Huber())
    alpha, (p,), (found,) = settle(Z, [p], choose, fit)
    return Centre(alpha, found.delta, found.intercept, left_out(Z, p, found) - p.offset)


def at_level(Z: Any, p: GLMProblem, fit: Any) -> Any:
    """The fit of a quantile, moved by the constant that gives rows left out its level."""
    assert isinstance(p.loss, Quantile)
    shift = level_shift(p.y - left_out(Z, p, fit), p.weight, p.loss.level)
    return replace(fit, intercept=fit.intercept + shift, eta=fit.eta + shift)
