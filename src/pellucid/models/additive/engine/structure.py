"""From a matrix of rows to terms, coefficients and variances: the order of a fit.

1. Axes of all features; of very many features, those that deserve columns.
2. A fit of main effects.
3. Pairs that have most to do with what main effects leave get a few columns each, and a fit of all says in
   which terms there is something, and how smooth they are.
4. The columns that matter for the terms that are left, by their prior variance, are fitted to all rows.

How many columns and rows the first fits have follows from one budget of work.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from pellucid.data.table import Column
from pellucid.features.axis import Axis
from pellucid.features.screening import pair_evidence, rank_features
from pellucid.features.term_basis import Axes, Bases, Term, TermBasis, first_picks, picks_by_variance
from pellucid.linalg import side_by_side
from pellucid.linalg.sample import fold_rows
from pellucid.models.additive.engine.all_rows import Rows, Vector
from pellucid.models.additive.engine.design import predictor
from pellucid.models.additive.engine.hierarchy import Prior, T
from pellucid.models.additive.engine.loss_numbers import renewed_loss, started, with_loss_of
from pellucid.models.additive.engine.pace import Pace
from pellucid.models.additive.engine.penalised_fit import penalised_fit, settled
from pellucid.models.additive.engine.state import Problem, State, information

KNOTS, PAIR_KNOTS = 256, 96  # of a numeric feature, in main effects and in pairs
BENT_KNOTS = 48  # of a numeric feature whose main effect must be convex or concave
AXIS_COLUMNS = 64  # columns of one axis
WORK = 3e11  # multiplications, counted twice, that moments and solutions of one set of columns may take
SOLUTIONS = 8  # times F³: the six solutions of one set of columns take 4, curves of evidence some more
PAIR_COLUMNS = 8  # of a pair to begin with
SIGNAL = 0.05  # prior variance of a column over its sampling variance, below which it is left out
ROUNDS = ("columns", "smoothness")  # in which columns are shared out by prior variance
FEW = 1000  # columns that even few rows may have
UPDATES = 3  # looks at every term on the moments of squared loss; of others, one at each Newton step
FOLDS, FOLD_ROWS = 5, 1500  # folds that show what the choice of terms costs, and rows up to which they do


def build_axes(
    X: np.ndarray,
    weight: np.ndarray,
    columns: Sequence[Column] | None = None,
    bent: Collection[int] = (),
) -> Axes:
    """Axes and bases of all columns, which are numbers if nothing else is said.

    Features in ``bent`` have so few knots that their columns span all functions of them.
    """
    columns = [Column(f"x{j}") for j in range(X.shape[1])] if columns is None else columns
    return with_bases(*axes_of([(x, weight) for x in X.T], columns, bent))


def axes_of(
    values: Sequence[tuple[np.ndarray, np.ndarray]], columns: Sequence[Column], bent: Collection[int] = ()
) -> tuple[list[Axis], list[Axis]]:
    """Fine and coarse axis of each column, from values with weights; see :func:`build_axes`."""
    fine, coarse = [], []
    for j, ((x, weight), column) in enumerate(zip(values, columns, strict=True)):
        if column.levels is not None:
            axis = Axis.of_levels(x, weight, len(column.levels), ordered=column.ordered)
            fine.append(axis)
            coarse.append(axis)
            continue
        fine.append(Axis.numeric(x, weight, BENT_KNOTS if j in bent else KNOTS))
        small = len(fine[-1].knots) <= PAIR_KNOTS * 4 // 3
        coarse.append(fine[-1] if small else Axis.numeric(x, weight, PAIR_KNOTS))
    return fine, coarse


def with_bases(fine: Sequence[Axis], coarse: Sequence[Axis]) -> Axes:
    """Axes with their bases, which follow from them."""
    main = Bases(tuple(fine), AXIS_COLUMNS)
    return Axes(main.axes, tuple(coarse), main, Bases(tuple(coarse), AXIS_COLUMNS, others=main))


@dataclass(frozen=True)
class Wanted:
    """Features that get a main effect, pairs that may enter, and how many may stay (None: any number).

    Pairs that are ``named`` stay whatever they are worth. How many ``columns`` there may be follows from the
    number of rows, unless it is given. The ``pace`` says how far the fit is, and when its time is up.
    """

    features: Sequence[int]
    pairs: Sequence[Term]
    most_pairs: int | None = None
    named: bool = False
    columns: int | None = None
    pace: Pace = field(default_factory=Pace)


def fit_additive(
    problem: Rows,
    axes: Axes,
    pairs: Sequence[Term] | None,
    most_pairs: int | None,
    no_interaction: Sequence[int] = (),
    *,
    hold_out: bool = False,
    pace: Pace | None = None,
) -> State:
    """Fit main effects and pairs.

    ``pairs`` names the pairs that may enter, ``None`` all; ``most_pairs`` of them stay at most. Features in
    ``no_interaction`` take part in no pair. With ``hold_out`` the state of few rows has predictors of each
    row by a fit, terms and variances chosen again, without the row's fold.
    """
    some = problem.at_hand
    n_rows = None if some is problem else len(problem)
    wanted = what_may_enter(some, axes, pairs, most_pairs, no_interaction, n_rows)
    wanted = wanted if pace is None else replace(wanted, pace=pace)
    wanted.pace.begins()
    state = _fit_terms(problem, axes, wanted)
    if hold_out and len(problem) <= FOLD_ROWS and not wanted.pace.over("folds"):
        state.fold_eta = _fold_predictor(problem.at_hand, axes, wanted)
    return state


def what_may_enter(
    problem: Problem,
    axes: Axes,
    pairs: Sequence[Term] | None,
    most_pairs: int | None,
    no_interaction: Sequence[int] = (),
    n_rows: int | None = None,
) -> Wanted:
    """Features and pairs that may enter; ``n_rows`` are those of the fit, if the problem is a sample."""
    features = [j for j, axis in enumerate(axes.fine) if not axis.flat]
    named = {j for pair in pairs or () for j in pair}
    free = pairs is None and most_pairs != 0
    most = columns_for(n_rows or len(problem)) // PAIR_COLUMNS
    sample = problem.some(_rows_for(most))
    features = rank_features(
        sample if len(features) <= most else _beside_constant(sample),
        axes,
        features,
        most,
        keep=named,
        pairs=free,
        no_interaction=no_interaction,
    )
    candidates = [] if most_pairs == 0 else _candidates(features, pairs, no_interaction)
    columns = None if n_rows is None else columns_for(n_rows)
    return Wanted(features, candidates, most_pairs, named=pairs is not None, columns=columns)


def _beside_constant(problem: Problem) -> Problem:
    """The problem with the best constant as part of its offset: where slopes of any loss tell something."""
    if problem.quadratic:
        return problem
    known = started(problem)
    eta = known.null_predictor
    return replace(known.beside(eta), offset=eta)


def _candidates(
    features: Sequence[int], pairs: Sequence[Term] | None, no_interaction: Sequence[int]
) -> list[Term]:
    free = [j for j in sorted(features) if j not in set(no_interaction)]
    if pairs is None:
        return [*combinations(free, 2)]
    return [pair for pair in pairs if set(pair) <= set(free)]


def columns_for(n: int) -> int:
    """Columns F for which the work n F² of moments and that of solutions, in F³, is within the budget.

    More than twice as many columns as rows are not worth their while.
    """
    low, high = 16.0, float(max(2 * n, FEW))
    for _ in range(30):
        F = (low + high) / 2
        low, high = (F, high) if n * F**2 + SOLUTIONS * F**3 < WORK else (low, F)
    return int(low)


def _rows_for(columns: int) -> int:
    """Rows whose moments of so many columns are within the budget."""
    return int(WORK / max(columns, 1) ** 2)


def _fit_terms(problem: Rows, axes: Axes, wanted: Wanted) -> State:
    """Fit given features and pairs."""
    state = found_terms(problem.at_hand, axes, wanted)
    for what in ROUNDS:
        if what != ROUNDS[0] and wanted.pace.over(what):
            break
        state = _reallocated(with_loss_of(problem, state), axes, state, wanted)
        state.loss = renewed_loss(problem.loss, problem, state)
        wanted.pace.done(what)
    state = _finished(with_loss_of(problem, state), state, wanted)
    wanted.pace.done("minimum")
    state.loss = with_loss_of(problem, state).beside(state.eta).loss
    return state


def found_terms(problem: Problem, axes: Axes, wanted: Wanted) -> State:
    """Where there is something, and how smooth it is: fits of few columns each, on a sample of many rows."""
    main = [(j,) for j in wanted.features]
    columns = wanted.columns or columns_for(len(problem))
    basis = TermBasis.of(axes, first_picks(axes, main, max(columns // (2 * max(len(main), 1)), PAIR_COLUMNS)))
    sample = started(problem.some(_rows_for(basis.size)))
    state = penalised_fit(sample, basis, Prior().with_terms(axes, basis.terms), updates=updates_of(problem))
    state.loss = renewed_loss(problem.loss, sample, state)
    wanted.pace.done("main effects")
    if wanted.pairs and problem.varies and not wanted.pace.over("pairs"):
        picks = picks_by_variance(axes, state.prior.if_there, columns, least_variance(sample, state))
        most = max((columns - TermBasis.of(axes, picks).size) // PAIR_COLUMNS, 1)
        sample = with_loss_of(sample, state).beside(state.eta)
        noise = state.fit.scale * sample.total / max(sample.informative, 1e-300)  # scores of copies add up
        curves = pair_evidence(sample, axes, state.eta, noise, wanted.pairs, np.exp(2.0 * T))
        prior = state.prior.with_screened(axes, wanted.pairs, curves, most)
        tried = [term for term in prior.variances if len(term) == 2]
        share = max((columns - TermBasis.of(axes, picks).size) // len(tried), 1)
        basis = TermBasis.of(axes, picks, first_picks(axes, tried, share))
        sample = with_loss_of(problem.some(_rows_for(basis.size)), state)
        state = penalised_fit(sample, basis, prior, state, updates=updates_of(problem))
    wanted.pace.done("pairs")
    return state


def updates_of(problem: Rows) -> int:
    """Looks at every term on the moments of one step."""
    return UPDATES if problem.quadratic else 1


def _reallocated(problem: Rows, axes: Axes, state: State, wanted: Wanted) -> State:
    """The fit of all rows with the columns of largest prior variance."""
    columns = columns_for(len(problem))
    basis, prior = shared_out(axes, state, wanted, columns, least_variance(problem, state))
    return penalised_fit(problem, basis, prior, state, updates=updates_of(problem), newton_steps=1)


def shared_out(
    axes: Axes, state: State, wanted: Wanted, columns: int, floor: float
) -> tuple[TermBasis, Prior]:
    """The columns of largest prior variance of the terms that stay, and the prior of these."""
    kept: set[Term] = {term for term in state.prior.kept() if len(term) == 2}
    kept |= {(j,) for j in wanted.features}
    if wanted.named:
        kept |= set(wanted.pairs)
    if wanted.most_pairs is not None:
        kept = {term for term in kept if len(term) == 1} | set(_strongest(state, kept, wanted.most_pairs))
    prior = state.prior.only(kept)
    picks = picks_by_variance(axes, prior.if_there, columns, floor)
    least = first_picks(axes, [term for term in prior.variances if term not in picks and len(term) == 1], 1)
    return TermBasis.of(axes, picks, least), prior


def least_variance(problem: Rows, state: State) -> float:
    """Prior variance of a column below which it is left out: a share of its sampling variance."""
    if problem.quadratic:
        return SIGNAL * state.fit.scale / problem.total
    eta = _eta(problem, state)
    if problem.discrete:
        return SIGNAL * 4.0 * state.fit.scale / information(problem, eta)
    return SIGNAL * state.fit.scale / problem.curvature(eta)


def _eta(problem: Rows, state: State) -> Vector:
    if problem.takes(state.eta):
        return state.eta
    return predictor(problem, state.basis, state.fit.beta, state.intercept)


def _strongest(state: State, terms: set[Term], most: int) -> list[Term]:
    pairs: list[Term] = [term for term in terms if len(term) == 2]
    return sorted(pairs, key=lambda pair: (-float(state.prior.variances[pair].sum()), pair))[:most]


def _finished(problem: Rows, state: State, wanted: Wanted) -> State:
    """The state without terms in which there is nothing, at the minimum of the loss."""
    kept = kept_terms(state, wanted)
    if len(kept) < len(state.basis.terms):
        lean = state.of_terms(kept)
        state = penalised_fit(problem, lean.basis, lean.prior, state, updates=1, newton_steps=1)
    return settled(problem, state)


def kept_terms(state: State, wanted: Wanted) -> set[Term]:
    """Terms that stay in the end."""
    return set(state.prior.kept()) | (set(wanted.pairs) if wanted.named else set())


def _fold_predictor(problem: Problem, axes: Axes, wanted: Wanted) -> np.ndarray | None:
    """Predictor of each row by a fit without its fold; None if folds do not vary."""
    fold = fold_rows(list(problem.X.T), FOLDS)
    train = {k: problem.part(fold != k) for k in np.unique(fold)}
    if not all(rows.varies for rows in train.values()):
        return None

    alone = replace(wanted, pace=Pace())

    def predict(k: int) -> np.ndarray:
        state = _fit_terms(train[k], axes, alone)
        return predictor(problem.part(fold == k), state.basis, state.fit.beta, state.intercept)

    eta = np.empty(len(problem))
    for k, part in zip(train, side_by_side(predict, list(train)), strict=True):
        eta[fold == k] = part
    return eta
