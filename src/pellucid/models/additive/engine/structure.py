"""The additive kernel machine as numbers: from a matrix of rows to terms, coefficients and variances.

The fit goes through stages. Each stage has a basis of columns, linearises the loss at the present predictor,
sums up moments in one pass over the rows, and lets the variances of all groups of columns choose themselves
on the moments:

1. main effects alone: which of them jump from value to value; their residuals rank the pairs, if there are
   too many to take them all;
2. main effects and pairs with a few columns each: which groups of columns carry signal;
3. columns shared out anew by what each group turned out to carry, again as long as it pays;
4. the last columns on all rows; what went before saw some of them.

Of not too many rows of classes or counts, all pairs are tried at once before, with one variance for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pellucid.features.axis import Axis
from pellucid.features.screening import rank_features
from pellucid.features.term_basis import Axes, Bases, Term
from pellucid.linalg import side_by_side
from pellucid.linalg.sample import fold_rows
from pellucid.models.additive.engine.design import losses_of
from pellucid.models.additive.engine.main_effects import few_matter, fit_mains
from pellucid.models.additive.engine.pair_selection import (
    PRUNE_FIRST,
    first_look,
    shared_out,
    some_rows,
    strongest,
)
from pellucid.models.additive.engine.penalised_fit import End, run_stage
from pellucid.models.additive.engine.pooled_pairs import ROWS, find_crowd, fit_crowd
from pellucid.models.additive.engine.state import Problem, State, clearly_lower
from pellucid.models.additive.engine.weak_terms import CHECK, PARTS, PRUNE, weak_effects

_KNOTS, _PAIR_KNOTS = 256, 96
_AXIS_COLUMNS = 64  # of one axis
_MAX_FEATURES = 300  # main effects that get columns
_FEW_ROWS = 1500  # up to which pairs have to show their worth on rows left out
_FOLDS, _FEW_FEATURES = 5, 40  # folds of these rows; two where there are more features
_ROUNDS, _WORTH = 2, 0.97  # columns are shared out again as long as the error falls by this factor
_UPDATES, _MORE_UPDATES = 8, 14  # of variances at the end; the latter of columns that no round has seen
_LENGTH_SCALE = 1.0  # of an axis whose bulk runs from 0 to 1; groups adapt it


def build_axes(X: np.ndarray, weight: np.ndarray, n_levels: Sequence[int | None]) -> Axes:
    """Axes and bases of all columns; ``n_levels`` is None for numbers."""
    fine, coarse = [], []
    for x, levels in zip(X.T, n_levels, strict=True):
        if levels is not None:
            axis = Axis.of_levels(x, weight, levels)
            fine.append(axis)
            coarse.append(axis)
            continue
        fine.append(Axis.numeric(x, weight, _KNOTS))
        small = len(fine[-1].knots) <= _PAIR_KNOTS * 4 // 3
        coarse.append(fine[-1] if small else Axis.numeric(x, weight, _PAIR_KNOTS))
    return with_bases(fine, coarse)


def with_bases(fine: Sequence[Axis], coarse: Sequence[Axis]) -> Axes:
    """Axes with their eigenbases, which follow from them; levels and few knots keep all their columns."""
    main = Bases(tuple(fine), _LENGTH_SCALE, _AXIS_COLUMNS)
    pair = Bases(tuple(coarse), _LENGTH_SCALE, _AXIS_COLUMNS, others=main)
    return Axes(main.axes, tuple(coarse), main, pair)


# ---------------------------------------------------------------------- stages


def fit_additive(
    problem: Problem,
    axes: Axes,
    pairs: Sequence[Term] | None,
    most_pairs: int | None,
    alone: Sequence[int] = (),
) -> State:
    """Fit main effects and pairs.

    ``pairs`` names the pairs that may enter, ``None`` all; ``most_pairs`` of them stay at most. Features in
    ``alone`` take part in no pair.
    """
    features = [j for j, axis in enumerate(axes.fine) if not axis.flat]
    named = {j for pair in pairs or () for j in pair}
    free = pairs is None and most_pairs != 0
    features = rank_features(
        some_rows(problem), axes, features, _MAX_FEATURES, keep=named, pairs=free, alone=alone
    )
    if problem.scale is not None:
        problem = replace(problem, few=few_matter(problem, axes, features))
    candidates = _candidates(features, pairs, alone)
    if not free or most_pairs is not None:
        return _fit_terms(problem, axes, features, candidates, most_pairs, wanted=pairs is not None)
    crowd = _fit_crowd(problem, axes, features, candidates)
    if crowd is not None:
        return crowd
    if len(problem) <= _FEW_ROWS and not _pairs_help(problem, axes, features, candidates):
        candidates = []
    return _fit_terms(problem, axes, features, candidates)


def _fit_crowd(
    problem: Problem, axes: Axes, features: Sequence[int], candidates: Sequence[Term]
) -> State | None:
    """The fit in which all effects of classes or counts share one variance, where that pays.

    On rows left out, pairs together have to be clearly better than none, and effects with variances of their
    own must not be clearly better than those that share one.
    """
    if problem.scale is None or not ROWS[0] <= len(problem) <= ROWS[1] or not candidates:
        return None
    members = sorted({j for pair in candidates for j in pair})
    calm = axes.without_jumps  # a variance for all leaves no choice of how much there is of a jump
    _, mains = fit_mains(problem, calm, features, 1.0)
    crowd = find_crowd(problem, calm, members, mains, PARTS)
    if crowd is None:
        return None
    learn, left = problem.part(crowd.fold != 0), problem.part(crowd.fold == 0)
    if not learn.learnable:
        return None

    def loss(pairs: Sequence[Term]) -> np.ndarray:
        return losses_of(left, _fit_terms(learn, axes, features, pairs, check=False))

    for own_loss in side_by_side(loss, ((), candidates)):
        if clearly_lower(own_loss, crowd.loss[crowd.fold == 0], left.weight):
            return None
    try:
        return fit_crowd(problem, calm, members, mains, crowd.variance)
    except FloatingPointError:  # curvatures too large for the precision of its kernel
        return None


def _fit_terms(
    problem: Problem,
    axes: Axes,
    features: Sequence[int],
    candidates: Sequence[Term],
    most_pairs: int | None = None,
    *,
    wanted: bool = False,
    check: bool = True,
) -> State:
    """Stages for given features and pairs.

    Pairs that are ``wanted`` need not be significant. Without ``check`` weak pairs of classes and counts stay
    whether they help or not.
    """
    if most_pairs == 0 or not candidates:
        small = some_rows(problem)
        _, state = fit_mains(small, axes, features, len(problem) / len(small))
        return run_stage(problem, state.basis, state, n_newton=8, n_iter=15, prune=None, end="loosened")
    look = first_look(problem, axes, features, candidates, len(problem))
    unsure = not wanted and 2 * len(look.doubtful) > len(look.tests)  # most were chosen for being large
    sparse = few_pairs = problem.scale is None
    if check and unsure and most_pairs is None and problem.scale is not None:
        sparse, few_pairs = weak_effects(problem, axes, features, candidates, look)
    doubtful = look.doubtful if few_pairs and not wanted else set()
    state, rows, times = look.state, look.rows, look.times
    rounds = 1
    if problem.quadratic:  # on a sample a second round takes a third of the time for about 1 % of error
        rounds = _ROUNDS if times == 1.0 else 0
    for _ in range(rounds):  # the last fit is one more
        error = state.fit.gcv(float(rows.weight.sum()))
        chosen = [t for t in strongest(state, None) if t not in doubtful]
        last = shared_out(axes, look.mains, chosen, state, rows, times)
        if problem.scale is not None:  # classes tell little each
            rows = problem.some(CHECK)
            times = len(problem) / len(rows)
        state = run_stage(rows, last, state, n_newton=1, n_iter=8, prune=PRUNE_FIRST, sparse=sparse)
        if state.fit.gcv(float(rows.weight.sum())) > _WORTH * error:
            break
    chosen = [t for t in strongest(state, most_pairs) if t not in doubtful]
    last = shared_out(axes, look.mains, chosen, state, rows, times)
    end: End = "settled" if unsure else "loosened"
    n_iter = _UPDATES if rounds else _MORE_UPDATES
    state = run_stage(problem, last, state, n_newton=2, n_iter=n_iter, prune=PRUNE, sparse=sparse, end=end)
    state.tests |= {term: look.tests[term] for term in state.basis.terms if len(term) == 2}
    return state


def _pairs_help(problem: Problem, axes: Axes, features: Sequence[int], candidates: Sequence[Term]) -> bool:
    """Whether pairs lower the loss of rows that were left out, by more than its standard error.

    The fit of the rows at hand always says so: choosing among many pairs follows noise. Five folds, or two
    halves where there are many features.
    """
    n_folds = _FOLDS if len(features) <= _FEW_FEATURES else 2
    fold = fold_rows(list(problem.X.T), n_folds)
    parts = [(problem.part(fold != k), problem.part(fold == k)) for k in np.unique(fold)]
    if not all(rest.learnable for rest, _ in parts):
        return False

    def losses(choice: tuple[Problem, Problem, Sequence[Term]]) -> np.ndarray:
        rest, left, pairs = choice
        return losses_of(left, _fit_terms(rest, axes, features, pairs, check=False))

    every = side_by_side(losses, [(*part, pairs) for pairs in (candidates, ()) for part in parts])
    with_pairs, without = np.split(np.concatenate(every), 2)
    return clearly_lower(with_pairs, without, np.concatenate([left.weight for _, left in parts]))


def _candidates(features: Sequence[int], pairs: Sequence[Term] | None, alone: Sequence[int]) -> list[Term]:
    free = [j for j in sorted(features) if j not in set(alone)]
    if pairs is None:
        return [(p, q) for i, p in enumerate(free) for q in free[i + 1 :]]
    return [pair for pair in pairs if set(pair) <= set(free)]
