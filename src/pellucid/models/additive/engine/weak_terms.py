"""Weak effects of discrete responses: held-out losses say which of them to keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.features.term_basis import Axes, Term
from pellucid.linalg import side_by_side
from pellucid.linalg.sample import fold_rows
from pellucid.models.additive.engine import policy
from pellucid.models.additive.engine.design import losses_of
from pellucid.models.additive.engine.pair_selection import StructureFit, fit_structure, fit_structure_without
from pellucid.models.additive.engine.penalised_fit import FitSettings, first_moments, penalised_fit
from pellucid.models.additive.engine.state import Problem, clearly_lower


@dataclass(frozen=True)
class WeakTerms:
    """Whether weak main effects are dropped, and whether pairs that are doubtful one by one."""

    drop_main_effects: bool
    drop_doubtful_pairs: bool


def select_weak_terms(
    problem: Problem, axes: Axes, features: Sequence[int], candidates: Sequence[Term], known: StructureFit
) -> WeakTerms:
    """Decide on weak terms; what is ``known`` is the structure fit of all rows.

    The loss of a third of the rows, held out, decides (of many rows, that of some). Pairs have to lower it
    together; main effects are dropped only if it is clearly lower without them. Where no rows can be held
    out, both are.
    """
    fold = fold_rows(list(problem.X.T), policy.PARTS)
    train, left = (problem.part(rows).some(policy.CHECK) for rows in (fold != 0, fold == 0))
    if not (len(left) and train.varies):
        return WeakTerms(True, True)
    if known.n_tried == len(candidates):
        structure = fit_structure_without(known, train, len(problem))
    else:  # rows that are held out must not have a say in which pairs get columns
        structure = fit_structure(train, axes, features, candidates, len(problem))
    starts = {}
    for drop_pairs in (True, False) if structure.doubtful else (False,):
        basis = structure.chosen(structure.doubtful if drop_pairs else ())
        starts[drop_pairs] = basis, first_moments(train, basis, structure.state)

    def loss(choice: WeakTerms) -> np.ndarray:
        basis, first = starts[choice.drop_doubtful_pairs]
        sparse = choice.drop_main_effects
        settings = FitSettings(1, updates=8, prune=policy.PRUNE, sparse=sparse, end="minimum")
        return losses_of(left, penalised_fit(train, basis, structure.state, settings, first))

    choices = [WeakTerms(main, pairs) for pairs in starts for main in (True, False)]
    losses = dict(zip(choices, side_by_side(loss, choices), strict=True))
    drop_pairs = min(losses, key=lambda choice: float(left.weight @ losses[choice])).drop_doubtful_pairs
    without, with_weak = losses[WeakTerms(True, drop_pairs)], losses[WeakTerms(False, drop_pairs)]
    return WeakTerms(clearly_lower(without, with_weak, left.weight), drop_pairs)
