"""Main effects alone: which of them jump from value to value, and whether few of many matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pellucid.effects.mixture_chi2 import mixture_tail
from pellucid.features.term_basis import VALUES, Axes, Picks, Term, main_picks
from pellucid.linalg import side_by_side
from pellucid.models.additive.engine import policy
from pellucid.models.additive.engine.held_out import held_out_losses
from pellucid.models.additive.engine.penalised_fit import FitSettings, penalised_fit
from pellucid.models.additive.engine.state import Problem, State, basis_of, clearly_lower
from pellucid.solvers.variance_components import score_test_on_points


def fit_main_effects(
    sample: Problem, axes: Axes, features: Sequence[int], sample_ratio: float
) -> tuple[Picks, State]:
    """Columns of the main effects, and a fit of them to a sample; all rows are ``sample_ratio`` as many.

    Effects that are rougher than the first columns allow get all the columns of their axis: those that jump
    from one value to the next, as the effect of a code that only looks like a number does.
    """
    columns = int(np.clip(policy.MAIN_COLUMNS // max(len(features), 1), 8, VALUES))
    main = main_picks(axes, features, columns)
    state = penalised_fit(sample, basis_of(axes, main), None, FitSettings(newton_steps=3, updates=6))
    most = int(float(sample.weight.sum()) / policy.ROWS_PER_COLUMN)
    p = _rough_tails(sample, axes, main, most, state)
    level = min(policy.ROUGH * sample_ratio, 0.1)
    rough = [term for term in sorted(p, key=lambda term: p[term]) if p[term] < level]
    if rough:
        main |= {(j,): (np.arange(len(axes.main[j]))[:most],) for (j,) in rough[: policy.MAX_ROUGH]}
        state = penalised_fit(sample, basis_of(axes, main), state, FitSettings(newton_steps=2, updates=6))
    return main, state


def few_main_effects_matter(problem: Problem, axes: Axes, features: Sequence[int]) -> bool:
    """Whether few of the main effects of discrete responses matter, and not many that are alike.

    The loss of rows held out one by one decides: it has to be lower, clearly and by a hundredth, if strong
    effects do not lend their variance to weak ones. What noise costs a row falls with the number of rows, so
    a sample has to show more.
    """
    sample = problem.some(policy.SPARSE_SAMPLE)
    sample_ratio = len(problem) / len(sample)
    _, state = fit_main_effects(sample, axes, features, sample_ratio)

    def fit(sparse: bool) -> State:
        rows = replace(sample, sparse_main_effects=sparse)
        return penalised_fit(rows, state.basis, state, FitSettings(newton_steps=2, updates=6, end="settled"))

    fits = side_by_side(fit, (False, True))
    many_loss, few_loss = held_out_losses(sample, fits)
    return clearly_lower(few_loss, (1.0 - policy.SPARSE_GAIN * sample_ratio) * many_loss)


def _rough_tails(problem: Problem, axes: Axes, main: Picks, most: int, state: State) -> dict[Term, float]:
    """p-values of the columns of main effects beyond those of a fit, up to ``most``, where there are any."""
    w, _ = problem.working(state.eta)
    slope = problem.loss.gradient(problem.y, state.eta)
    scale = state.fit.scale
    if not problem.quadratic:  # that of the slopes: the fit may not have settled, or be overdispersed
        scale = max(float(problem.weight @ slope**2) / float(w.sum()), problem.scale or 0.0)
    p: dict[Term, float] = {}
    for (j,), pick in main.items():
        T = axes.main[j].table[:, len(pick[0]) : most]
        if T.shape[1] and not axes.fine[j].levels:
            A, b = axes.fine[j].sums(problem.X[:, j], w, -problem.weight * slope)
            p[j,] = mixture_tail(*score_test_on_points(A, b, T, scale))
    return p
