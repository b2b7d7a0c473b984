"""Weak effects of classes and counts: rows left out say which of them to keep."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pellucid.features.term_basis import Axes, Term
from pellucid.linalg import side_by_side
from pellucid.linalg.sample import fold_rows
from pellucid.models.additive.engine.design import losses_of
from pellucid.models.additive.engine.pair_selection import (
    Look,
    first_look,
    look_without,
    shared_out,
    strongest,
)
from pellucid.models.additive.engine.penalised_fit import first_moments, run_stage
from pellucid.models.additive.engine.state import Problem, clearly_lower

PARTS = 3  # of the rows, one of which is left out to check a decision
CHECK = 48_000  # rows of classes and counts for fits that check a decision
PRUNE = 0.5  # standard deviations above noise that a group has to reach to stay


def weak_effects(
    problem: Problem, axes: Axes, features: Sequence[int], candidates: Sequence[Term], known: Look
) -> tuple[bool, bool]:
    """Whether to leave out weak main effects, and whether pairs that are doubtful one by one.

    What is ``known`` is the look at all rows.

    The loss of a third of the rows, left out, decides (of many rows, that of some). Pairs have to lower it
    together; main effects are left out only if it is clearly lower without them. Where no rows can be left
    out, both are.
    """
    fold = fold_rows(list(problem.X.T), PARTS)
    learn, left = (problem.part(rows).some(CHECK) for rows in (fold != 0, fold == 0))
    if not (len(left) and learn.learnable):
        return True, True
    if known.n_tried == len(candidates):
        look = look_without(known, learn, len(problem))
    else:  # rows that are left out must not have a say in which pairs are looked at
        look = first_look(learn, axes, features, candidates, len(problem))
    pairs = strongest(look.state, None)
    starts = {}
    for few_pairs in (True, False) if look.doubtful else (False,):
        chosen = [t for t in pairs if not (few_pairs and t in look.doubtful)]
        last = shared_out(axes, look.mains, chosen, look.state, look.rows, look.times)
        starts[few_pairs] = last, first_moments(learn, last, look.state)

    def loss(choice: tuple[bool, bool]) -> np.ndarray:
        sparse, few_pairs = choice
        last, first = starts[few_pairs]
        fit = run_stage(
            learn,
            last,
            look.state,
            n_newton=1,
            n_iter=8,
            prune=PRUNE,
            sparse=sparse,
            end="minimum",
            first=first,
        )
        return losses_of(left, fit)

    choices = [(s, f) for f in starts for s in (True, False)]
    losses = dict(zip(choices, side_by_side(loss, choices), strict=True))
    _, few_pairs = min(losses, key=lambda choice: float(left.weight @ losses[choice]))
    return clearly_lower(losses[True, few_pairs], losses[False, few_pairs], left.weight), few_pairs
