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
from dataclasses import dataclass, replace

import numpy as np

from pellucid.effects.mixture_chi2 import mixture_tail
from pellucid.features.axis import Axis
from pellucid.features.screening import rank_features, rank_pairs
from pellucid.features.term_basis import Axes, Bases, Picks, Term, TermBasis, pair_picks
from pellucid.linalg import side_by_side
from pellucid.linalg.sample import fold_rows
from pellucid.models.additive_crowd import ROWS, find_crowd, fit_crowd
from pellucid.models.additive_design import predictor
from pellucid.models.additive_mains import few_matter, fit_mains
from pellucid.models.additive_stage import End, first_moments, run_stage
from pellucid.models.additive_state import Problem, State, basis_of, clearly_lower, information, tests_of

SAMPLE, WEAK_SAMPLE = 12_000, 24_000  # rows that decide on the structure; of classes and counts
_PARTS = 3  # of the rows, one of which is left out to check a decision
_CHECK = 48_000  # rows of classes and counts for fits that check a decision
_KNOTS, _PAIR_KNOTS = 256, 96
_AXIS_COLUMNS = 64  # of one axis
_MAX_FEATURES = 300  # main effects that get columns
_FEW_ROWS = 1500  # up to which pairs have to show their worth on rows left out
_FOLDS, _FEW_FEATURES = 5, 40  # folds of these rows; two where there are more features
_MAX_PAIRS, _LEAST_COLUMNS = 300, 8  # pairs that get columns, and how many at least to begin with
_PRUNE_FIRST, _PRUNE = 0.0, 0.5
_ROUNDS, _WORTH = 2, 0.97  # columns are shared out again as long as the error falls by this factor
_DOUBT = 0.1  # pairs of a larger p-value are left out, unless weak effects are pooled
_NOISE = 0.2  # share of noise among pairs, where weak effects are pooled but do not help
_LEAST_SIGNAL = 0.1  # prior variance of a column in units of its sampling variance
_LEAST_WEAK_SIGNAL = 0.02  # the same for classes and counts, of which much is carried by what is weak
_FEWEST, _MOST, _MOST_WEAK = 600, 4000, 3000  # columns of all pairs; the last for classes and counts
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
    return Axes(main.axes, tuple(coarse), main, Bases(tuple(coarse), _LENGTH_SCALE, _AXIS_COLUMNS, main))


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
    features = [j for j, axis in enumerate(axes.fine) if not (axis.flat or _names_rows(axis, problem))]
    named = {j for pair in pairs or () for j in pair}
    free = pairs is None and most_pairs != 0
    features = rank_features(
        _some(problem), axes, features, _MAX_FEATURES, keep=named, pairs=free, alone=alone
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
    _, mains = fit_mains(problem, axes, features, 1.0)
    crowd = find_crowd(problem, axes, members, mains, _PARTS)
    if crowd is None:
        return None
    learn, left = problem.part(crowd.fold != 0), problem.part(crowd.fold == 0)
    if not _learnable(learn):
        return None

    def loss(pairs: Sequence[Term]) -> np.ndarray:
        return _losses(left, _fit_terms(learn, axes, features, pairs, check=False))

    for own_loss in side_by_side(loss, ((), candidates)):
        if clearly_lower(own_loss, crowd.loss[crowd.fold == 0], left.weight):
            return None
    try:
        return fit_crowd(problem, axes, members, mains, crowd.variance)
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
        small = _some(problem)
        _, state = fit_mains(small, axes, features, len(problem) / len(small))
        return run_stage(problem, state.basis, state, n_newton=8, n_iter=15, prune=None, end="loosened")
    look = _first_look(problem, axes, features, candidates, len(problem))
    unsure = not wanted and 2 * len(look.doubtful) > len(look.tests)  # most were chosen for being large
    sparse = few_pairs = problem.scale is None
    if check and unsure and most_pairs is None and problem.scale is not None:
        sparse, few_pairs = _weak_effects(problem, axes, features, candidates)
    doubtful = look.doubtful if few_pairs and not wanted else set()
    state, rows, times = look.state, look.rows, look.times
    for _ in range(_ROUNDS if problem.quadratic and times == 1.0 else 1):  # the last fit is one more round
        error = state.fit.gcv(float(rows.weight.sum()))
        chosen = [t for t in _strongest(state, None) if t not in doubtful]
        last = _shared_out(axes, look.mains, chosen, state, rows, times)
        if problem.scale is not None:  # classes tell little each
            rows = problem.some(_CHECK)
            times = len(problem) / len(rows)
        state = run_stage(rows, last, state, n_newton=1, n_iter=8, prune=_PRUNE_FIRST, sparse=sparse)
        if state.fit.gcv(float(rows.weight.sum())) > _WORTH * error:
            break
    chosen = [t for t in _strongest(state, most_pairs) if t not in doubtful]
    last = _shared_out(axes, look.mains, chosen, state, rows, times)
    end: End = "settled" if unsure else "loosened"
    state = run_stage(problem, last, state, n_newton=2, n_iter=8, prune=_PRUNE, sparse=sparse, end=end)
    state.tests |= {term: look.tests[term] for term in state.basis.terms if len(term) == 2}
    return state


@dataclass(frozen=True)
class _Look:
    """A fit of pairs with a few columns each beside main effects, and what it says about them.

    ``rows`` were looked at; all rows are ``times`` as many. There are score tests of the pairs that kept a
    variance; those are ``doubtful`` that may be noise.
    """

    rows: Problem
    times: float
    mains: Picks
    state: State
    tests: dict[Term, tuple[float, np.ndarray]]
    doubtful: set[Term]


def _first_look(
    problem: Problem, axes: Axes, features: Sequence[int], candidates: Sequence[Term], n: int
) -> _Look:
    """Fit main effects and pairs to some rows of a problem, as if there were ``n`` rows."""
    small = _some(problem)
    times = n / len(small)
    mains, state = fit_mains(small, axes, features, times)
    n_pairs = int(np.clip(len(small) // 12, 50, _MAX_PAIRS))
    tried = candidates
    if len(candidates) > n_pairs:
        tried = rank_pairs(small, axes, state.eta, candidates, n_pairs)
    first = pair_picks(axes, tried, max(_budget(small, state, times) * 6 // 10, _LEAST_COLUMNS * len(tried)))
    sparse = small.scale is None
    state = run_stage(
        small, basis_of(axes, mains, first), state, n_newton=3, n_iter=8, prune=_PRUNE_FIRST, sparse=sparse
    )
    tests = tests_of(state, _strongest(state, None))
    return _Look(small, times, mains, state, tests, _doubtful(small, tests, len(candidates)))


def _doubtful(problem: Problem, tests: dict[Term, tuple[float, np.ndarray]], n_candidates: int) -> set[Term]:
    """Pairs that may be noise: of a large p-value or, where weak effects are pooled, a large q-value.

    The q-value (Benjamini and Hochberg 1995, JRSS B 57) is the share of noise that is to be expected among
    the pairs that are at least as clear, of all candidates.
    """
    terms = list(tests)
    p = np.array([mixture_tail(*tests[term]) for term in terms])
    if problem.scale is None:
        return {term for term, p_value in zip(terms, p, strict=True) if p_value > _DOUBT}
    order = np.argsort(p, kind="stable")
    q = p[order] * n_candidates / np.arange(1, len(p) + 1)
    q = np.minimum.accumulate(q[::-1])[::-1]
    return {terms[k] for k, q_value in zip(order, q, strict=True) if q_value > _NOISE}


def _weak_effects(
    problem: Problem, axes: Axes, features: Sequence[int], candidates: Sequence[Term]
) -> tuple[bool, bool]:
    """Whether to leave out weak main effects, and whether pairs that are doubtful one by one.

    The loss of a third of the rows, left out, decides (of many rows, that of some). Pairs have to lower it
    together; main effects are left out only if it is clearly lower without them. Where no rows can be left
    out, both are.
    """
    fold = fold_rows(list(problem.X.T), _PARTS)
    learn, left = (problem.part(rows).some(_CHECK) for rows in (fold != 0, fold == 0))
    if not (len(left) and _learnable(learn)):
        return True, True
    look = _first_look(learn, axes, features, candidates, len(problem))
    pairs = _strongest(look.state, None)
    starts = {}
    for few_pairs in (True, False) if look.doubtful else (False,):
        chosen = [t for t in pairs if not (few_pairs and t in look.doubtful)]
        last = _shared_out(axes, look.mains, chosen, look.state, look.rows, look.times)
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
            prune=_PRUNE,
            sparse=sparse,
            end="minimum",
            first=first,
        )
        return _losses(left, fit)

    choices = [(s, f) for f in starts for s in (True, False)]
    losses = dict(zip(choices, side_by_side(loss, choices), strict=True))
    _, few_pairs = min(losses, key=lambda choice: float(left.weight @ losses[choice]))
    return clearly_lower(losses[True, few_pairs], losses[False, few_pairs], left.weight), few_pairs


def _pairs_help(problem: Problem, axes: Axes, features: Sequence[int], candidates: Sequence[Term]) -> bool:
    """Whether pairs lower the loss of rows that were left out, by more than its standard error.

    The fit of the rows at hand always says so: choosing among many pairs follows noise. Five folds, or two
    halves where there are many features.
    """
    n_folds = _FOLDS if len(features) <= _FEW_FEATURES else 2
    fold = fold_rows(list(problem.X.T), n_folds)
    parts = [(problem.part(fold != k), problem.part(fold == k)) for k in np.unique(fold)]
    if not all(_learnable(rest) for rest, _ in parts):
        return False

    def losses(choice: tuple[Problem, Problem, Sequence[Term]]) -> np.ndarray:
        rest, left, pairs = choice
        return _losses(left, _fit_terms(rest, axes, features, pairs, check=False))

    every = side_by_side(losses, [(*part, pairs) for pairs in (candidates, ()) for part in parts])
    with_pairs, without = np.split(np.concatenate(every), 2)
    return clearly_lower(with_pairs, without, np.concatenate([left.weight for _, left in parts]))


def _shared_out(
    axes: Axes, mains: Picks, pairs: Sequence[Term], state: State, rows: Problem, times: float
) -> TermBasis:
    """Main effects, and pairs with columns by the variances that their groups turned out to have.

    The state is a fit of ``rows``; all rows are ``times`` as many. A column needs a prior variance that is
    not lost in its sampling variance.
    """
    least = _LEAST_SIGNAL if rows.scale is None else _LEAST_WEAK_SIGNAL
    floor = least * state.fit.scale / (times * float(rows.working(state.eta)[0].sum()))
    picks = pair_picks(axes, pairs, _budget(rows, state, times), state.variance, floor=floor)
    return basis_of(axes, mains, picks)


def _some(problem: Problem) -> Problem:
    """Rows that decide on the structure: more of classes and counts, which tell little each."""
    return problem.some(SAMPLE if problem.scale is None else WEAK_SAMPLE)


def _losses(rows: Problem, state: State) -> np.ndarray:
    """Losses of rows that a fit has not seen."""
    return rows.loss.value(rows.y, predictor(rows, state.basis, state.fit.beta, state.intercept))


def _learnable(rows: Problem) -> bool:
    """Whether the targets of rows differ at all."""
    return len(rows) > 0 and float(np.ptp(rows.y)) > 0.0


def _names_rows(axis: Axis, problem: Problem) -> bool:
    """Whether a category has about as many levels as there are rows: a name, which explains noise as well."""
    return axis.levels and 2 * len(axis.knots) > max(float(problem.weight.sum()), 4.0)


def _candidates(features: Sequence[int], pairs: Sequence[Term] | None, alone: Sequence[int]) -> list[Term]:
    free = [j for j in sorted(features) if j not in set(alone)]
    if pairs is None:
        return [(p, q) for i, p in enumerate(free) for q in free[i + 1 :]]
    return [pair for pair in pairs if set(pair) <= set(free)]


def _strongest(state: State, most: int | None) -> list[Term]:
    """Pairs that kept some variance, the strongest first if only so many may stay."""
    edf = state.term_edf
    spread = np.array([_power(state, t) for t in range(len(edf))])
    alive = [t for t, term in enumerate(state.basis.terms) if len(term) == 2 and edf[t] > 0.1]
    if most is not None:
        alive = sorted(sorted(alive, key=lambda t: -spread[t])[:most])
    return [state.basis.terms[t] for t in alive]


def _power(state: State, t: int) -> float:
    s = state.basis.slices[t]
    return float(state.fit.beta[s] @ state.moments.G[s, s] @ state.fit.beta[s])


def _budget(problem: Problem, state: State, times: float) -> int:
    """Columns of pairs that the data can pay for, from the information in the rows."""
    factor, most = (20.0, _MOST) if problem.scale is None else (60.0, _MOST_WEAK)
    return int(np.clip(factor * np.sqrt(times * information(problem, state.eta)), _FEWEST, most))
