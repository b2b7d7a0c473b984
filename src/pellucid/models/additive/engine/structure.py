"""From a matrix of rows to terms, coefficients and variances: the order of a fit.

1. Axes of all features; of very many features, those that deserve columns.
2. Discrete responses (classes, counts): do few main effects matter, or many that are alike?
3. Of not too many rows of discrete responses, all pairs at once with one variance, if that pays.
4. Of few rows, folds that are held out say whether there are pairs at all.
5. The structure fit: main effects, and pairs with a few columns each.
6. Columns shared out anew by what each group turned out to carry, again as long as it pays.
7. The last columns on all rows; what went before saw some of them.

Every penalised fit on the way linearises the loss at the present predictor, sums up moments in one pass over
the rows, and lets the variances of all groups of columns choose themselves on the moments.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from pellucid.features.axis import Axis
from pellucid.features.screening import rank_features
from pellucid.features.term_basis import Axes, Bases, Term
from pellucid.linalg import side_by_side
from pellucid.linalg.sample import fold_rows
from pellucid.models.additive.engine import policy
from pellucid.models.additive.engine.design import losses_of, predictor
from pellucid.models.additive.engine.main_effects import few_main_effects_matter, fit_main_effects
from pellucid.models.additive.engine.pair_selection import StructureFit, fit_structure, structure_sample
from pellucid.models.additive.engine.penalised_fit import FitSettings, penalised_fit
from pellucid.models.additive.engine.pooled_pairs import find_pooled_variance, fit_pooled_pairs
from pellucid.models.additive.engine.state import Problem, State, clearly_lower
from pellucid.models.additive.engine.weak_terms import WeakTerms, select_weak_terms


def build_axes(X: np.ndarray, weight: np.ndarray, n_levels: Sequence[int | None]) -> Axes:
    """Axes and bases of all columns; ``n_levels`` is None for numbers."""
    fine, coarse = [], []
    for x, levels in zip(X.T, n_levels, strict=True):
        if levels is not None:
            axis = Axis.of_levels(x, weight, levels)
            fine.append(axis)
            coarse.append(axis)
            continue
        fine.append(Axis.numeric(x, weight, policy.KNOTS))
        small = len(fine[-1].knots) <= policy.PAIR_KNOTS * 4 // 3
        coarse.append(fine[-1] if small else Axis.numeric(x, weight, policy.PAIR_KNOTS))
    return with_bases(fine, coarse)


def with_bases(fine: Sequence[Axis], coarse: Sequence[Axis]) -> Axes:
    """Axes with their eigenbases, which follow from them; levels and few knots keep all their columns."""
    main = Bases(tuple(fine), policy.LENGTH_SCALE, policy.AXIS_COLUMNS)
    pair = Bases(tuple(coarse), policy.LENGTH_SCALE, policy.AXIS_COLUMNS, others=main)
    return Axes(main.axes, tuple(coarse), main, pair)


# ----------------------------------------------------------------------- terms


@dataclass(frozen=True)
class _Terms:
    """Features that get a main effect, pairs that may enter, and how many may stay (None: any number).

    Pairs that are ``wanted`` need not be significant.
    """

    features: Sequence[int]
    pairs: Sequence[Term]
    most_pairs: int | None = None
    wanted: bool = False


def fit_additive(
    problem: Problem,
    axes: Axes,
    pairs: Sequence[Term] | None,
    most_pairs: int | None,
    no_interaction: Sequence[int] = (),
    *,
    hold_out: bool = False,
) -> State:
    """Fit main effects and pairs.

    ``pairs`` names the pairs that may enter, ``None`` all; ``most_pairs`` of them stay at most. Features in
    ``no_interaction`` take part in no pair. With ``hold_out`` the state of few rows of numbers has predictors
    of each row by a fit, terms and variances chosen again, without the row's fold; that of other targets
    where they are at hand.
    """
    features = [j for j, axis in enumerate(axes.fine) if not axis.flat]
    named = {j for pair in pairs or () for j in pair}
    free = pairs is None and most_pairs != 0
    sample, most = structure_sample(problem), policy.MAX_FEATURES
    features = rank_features(
        sample, axes, features, most, keep=named, pairs=free, no_interaction=no_interaction
    )
    if problem.discrete:
        problem = replace(problem, sparse_main_effects=few_main_effects_matter(problem, axes, features))
    candidates = [] if most_pairs == 0 else _candidates(features, pairs, no_interaction)
    terms = _Terms(features, candidates, most_pairs, wanted=pairs is not None)
    few_rows, fold_eta = len(problem) <= policy.FEW_ROWS, None
    if free and most_pairs is None:
        pooled = _fit_pooled_pairs(problem, axes, terms)
        if pooled is not None:
            return pooled
        if few_rows:
            terms, fold_eta = _with_pairs_if_they_help(problem, axes, terms)
    elif few_rows and hold_out and problem.quadratic:
        (fold_eta,) = _fold_predictors(problem, axes, [terms])
    state = _fit_terms(problem, axes, terms)
    state.fold_eta = fold_eta if hold_out else None
    return state


def _candidates(
    features: Sequence[int], pairs: Sequence[Term] | None, no_interaction: Sequence[int]
) -> list[Term]:
    free = [j for j in sorted(features) if j not in set(no_interaction)]
    if pairs is None:
        return list(combinations(free, 2))
    return [pair for pair in pairs if set(pair) <= set(free)]


def _fit_pooled_pairs(problem: Problem, axes: Axes, terms: _Terms) -> State | None:
    """The fit in which all effects of discrete responses share one variance, where that pays.

    On held-out rows, pairs together have to be clearly better than none, and effects with variances of their
    own must not be clearly better than those that share one.
    """
    least, most = policy.POOLED_ROWS
    if not problem.discrete or not least <= len(problem) <= most or not terms.pairs:
        return None
    members = sorted({j for pair in terms.pairs for j in pair})
    smooth = axes.without_jumps  # a variance for all leaves no choice of how much there is of a jump
    _, main = fit_main_effects(problem, smooth, terms.features, 1.0)
    pooled = find_pooled_variance(problem, smooth, members, main, policy.PARTS)
    if pooled is None:
        return None
    held_out = pooled.fold == 0
    train, left = problem.part(~held_out), problem.part(held_out)
    if not train.varies:
        return None

    def loss(own: _Terms) -> np.ndarray:
        return losses_of(left, _fit_terms(train, axes, own, check=False))

    for own_loss in side_by_side(loss, (replace(terms, pairs=()), terms)):
        if clearly_lower(own_loss, pooled.loss[held_out], left.weight):
            return None
    try:
        return fit_pooled_pairs(problem, smooth, members, main, pooled.variance)
    except FloatingPointError:  # curvatures too large for the precision of its kernel
        return None


def _with_pairs_if_they_help(problem: Problem, axes: Axes, terms: _Terms) -> tuple[_Terms, np.ndarray | None]:
    """Terms with pairs if these lower the loss of held-out rows by more than its standard error.

    The fit of the rows at hand always says so: choosing among many pairs follows noise. The predictors of
    held-out rows are returned too.
    """
    main_only = replace(terms, pairs=())
    with_pairs, without = _fold_predictors(problem, axes, [terms, main_only])
    if with_pairs is None or without is None:
        return main_only, None
    loss, main_loss = (problem.loss.value(problem.y, eta) for eta in (with_pairs, without))
    helps = clearly_lower(loss, main_loss, problem.weight)
    return (terms, with_pairs) if helps else (main_only, without)


def _fold_predictors(problem: Problem, axes: Axes, choices: Sequence[_Terms]) -> list[np.ndarray | None]:
    """Predictor of each row by a fit without its fold, for each choice of terms; None if folds do not vary.

    Five folds, or two halves where there are many features.
    """
    n_folds = policy.FOLDS if len(choices[0].features) <= policy.FEW_FEATURES else 2
    fold = fold_rows(list(problem.X.T), n_folds)
    folds = np.unique(fold)
    train = {k: problem.part(fold != k) for k in folds}
    if not all(rows.varies for rows in train.values()):
        return [None] * len(choices)

    def predict(job: tuple[_Terms, int]) -> np.ndarray:
        terms, k = job
        state = _fit_terms(train[k], axes, terms, check=False)
        return predictor(problem.part(fold == k), state.basis, state.fit.beta, state.intercept)

    jobs = [(terms, k) for terms in choices for k in folds]
    found = iter(side_by_side(predict, jobs))
    every: list[np.ndarray | None] = []
    for _ in choices:
        eta = np.empty(len(problem))
        for k in folds:
            eta[fold == k] = next(found)
        every.append(eta)
    return every


def _fit_terms(problem: Problem, axes: Axes, terms: _Terms, *, check: bool = True) -> State:
    """Fit given features and pairs; without ``check`` weak pairs of discrete responses stay in any case.

    The structure fit says which pairs carry signal and how much; columns are shared out by that, again as
    long as it pays, and the last ones are fitted to all rows.
    """
    if not terms.pairs:
        sample = structure_sample(problem)
        _, state = fit_main_effects(sample, axes, terms.features, len(problem) / len(sample))
        return penalised_fit(problem, state.basis, state, FitSettings(8, updates=15, end="loosened"))
    structure = first = fit_structure(problem, axes, terms.features, terms.pairs, len(problem))
    unsure = not terms.wanted and 2 * len(first.doubtful) > len(first.tests)  # most chosen for being large
    drop = WeakTerms(not problem.discrete, not problem.discrete)
    if check and unsure and terms.most_pairs is None and problem.discrete:
        drop = select_weak_terms(problem, axes, terms.features, terms.pairs, first)
    doubtful = first.doubtful if drop.drop_doubtful_pairs and not terms.wanted else set()
    rounds = 1
    if problem.quadratic:  # on a sample a second round takes a third of the time for about 1 % of error
        rounds = policy.ROUNDS if first.sample_ratio == 1.0 else 0
    for _ in range(rounds):  # the last fit is one more
        before, structure = structure, _refined(problem, structure, doubtful, drop.drop_main_effects)
        if structure.error > policy.WORTH * before.error:
            break
    settings = FitSettings(
        newton_steps=2,
        updates=policy.UPDATES if rounds else policy.MORE_UPDATES,
        prune=policy.PRUNE,
        sparse=drop.drop_main_effects,
        end="settled" if unsure else "loosened",
    )
    state = penalised_fit(problem, structure.chosen(doubtful, terms.most_pairs), structure.state, settings)
    state.tests |= {term: first.tests[term] for term in state.basis.terms if len(term) == 2}
    return state


def _refined(
    problem: Problem, structure: StructureFit, doubtful: Collection[Term], sparse: bool
) -> StructureFit:
    """The structure with columns shared out anew; of discrete responses, which tell little, on more rows."""
    rows = problem.some(policy.CHECK) if problem.discrete else structure.rows
    settings = FitSettings(newton_steps=1, updates=8, prune=policy.PRUNE_FIRST, sparse=sparse)
    state = penalised_fit(rows, structure.chosen(doubtful), structure.state, settings)
    return replace(structure, rows=rows, sample_ratio=len(problem) / len(rows), state=state)
