"""Main effects alone: which of them jump from value to value, and whether few of many matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pellucid.effects.mixture_chi2 import mixture_tail
from pellucid.features.term_basis import VALUES, Axes, Picks, Term, main_picks
from pellucid.linalg import side_by_side
from pellucid.models.additive.engine.held_out import held_out_losses
from pellucid.models.additive.engine.penalised_fit import run_stage
from pellucid.models.additive.engine.state import Problem, State, basis_of, clearly_lower
from pellucid.solvers.variance_components import score_test_on_points

_COLUMNS = 800  # of all main effects to begin with
_ROUGH, _MAX_ROUGH = 0.01, 12  # p-value of main effects that get all their columns, and how many do at most
_ROWS_PER_COLUMN = 10  # of such an effect, at least
_SAMPLE = 4000  # rows that decide whether few of them matter
_GAIN = 0.01  # share of the loss of rows left out that this has to be worth


def fit_mains(small: Problem, axes: Axes, features: Sequence[int], times: float) -> tuple[Picks, State]:
    """Columns of the main effects, and a fit of them to some rows; all rows are ``times`` as many.

    Effects that are rougher than the first columns allow get all the columns of their axis: those that jump
    from one value to the next, as the effect of a code that only looks like a number does.
    """
    columns = int(np.clip(_COLUMNS // max(len(features), 1), 8, VALUES))
    mains = main_picks(axes, features, columns)
    state = run_stage(small, basis_of(axes, mains, {}), None, n_newton=3, n_iter=6, prune=None)
    most = int(float(small.weight.sum()) / _ROWS_PER_COLUMN)
    p = _rough_tails(small, axes, mains, most, state)
    rough = [term for term in sorted(p, key=lambda term: p[term]) if p[term] < min(_ROUGH * times, 0.1)]
    if rough:
        mains |= {(j,): (np.arange(len(axes.main[j]))[:most],) for (j,) in rough[:_MAX_ROUGH]}
        state = run_stage(small, basis_of(axes, mains, {}), state, n_newton=2, n_iter=6, prune=None)
    return mains, state


def few_matter(problem: Problem, axes: Axes, features: Sequence[int]) -> bool:
    """Whether few of the main effects of classes and counts matter, and not many that are alike.

    The loss of rows left out one by one decides: it has to be lower, clearly and by a hundredth, if strong
    effects do not lend their variance to weak ones. What noise costs a row falls with the number of rows, so
    a sample has to show more.
    """
    small = problem.some(_SAMPLE)
    times = len(problem) / len(small)
    _, state = fit_mains(small, axes, features, times)

    def fit(few: bool) -> State:
        rows = replace(small, few=few)
        return run_stage(rows, state.basis, state, n_newton=2, n_iter=6, prune=None, end="settled")

    fits = side_by_side(fit, (False, True))
    many_loss, few_loss = held_out_losses(small, fits)
    return clearly_lower(few_loss, (1.0 - _GAIN * times) * many_loss)


def _rough_tails(problem: Problem, axes: Axes, mains: Picks, most: int, state: State) -> dict[Term, float]:
    """p-values of the columns of main effects beyond those of a fit, up to ``most``, where there are any."""
    w, _ = problem.working(state.eta)
    slope = problem.loss.gradient(problem.y, state.eta)
    scale = state.fit.scale
    if not problem.quadratic:  # that of the slopes: the fit may not have settled, or be overdispersed
        scale = max(float(problem.weight @ slope**2) / float(w.sum()), problem.scale or 0.0)
    p: dict[Term, float] = {}
    for (j,), pick in mains.items():
        T = axes.main[j].table[:, len(pick[0]) : most]
        if T.shape[1] and not axes.fine[j].levels:
            A, b = axes.fine[j].sums(problem.X[:, j], w, -problem.weight * slope)
            p[j,] = mixture_tail(*score_test_on_points(A, b, T, scale))
    return p
