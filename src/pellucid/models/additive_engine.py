"""The additive kernel machine as numbers: from a matrix of rows to terms, coefficients and variances.

The fit goes through stages. Each stage has a basis of columns, linearises the loss at the present predictor,
sums up moments in one pass over the rows, and lets the variances of all groups of columns choose themselves
on the moments:

1. main effects alone: which of them jump from value to value; their residuals rank the pairs, if there are
   too many to take them all;
2. main effects and pairs with a few columns each: which groups of columns carry signal;
3. columns shared out anew by what each group turned out to carry, again as long as it pays;
4. the last columns on all rows; what went before saw at most ``SAMPLE`` of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pellucid.effects.mixture_chi2 import mixture_tail
from pellucid.features.axis import Axis
from pellucid.features.screening import rank_features, rank_pairs
from pellucid.features.term_basis import VALUES, Axes, Bases, Term, TermBasis, main_picks, pair_picks
from pellucid.linalg.sample import fold_rows
from pellucid.models.additive_loo import held_out_losses
from pellucid.models.additive_stage import predictor, run_stage
from pellucid.models.additive_state import Problem, State, basis_of, clearly_lower, information, tests_of
from pellucid.solvers.variance_components import score_test_on_points

SAMPLE = 12_000  # rows that decide on the structure
_MORE = 4  # times as many rows for fits that check a decision
_KNOTS, _PAIR_KNOTS = 256, 96
_COLUMNS, _AXIS_COLUMNS = 800, 64  # of all main effects to begin with, and of one axis
_ROUGH, _MAX_ROUGH = 0.01, 12  # p-value of main effects that get all their columns, and how many do at most
_ROWS_PER_COLUMN = 10  # of such an effect, at least
_MAX_FEATURES = 300  # main effects that get columns
_POOL_SAMPLE = 6000  # rows that decide whether few of them matter
_GAIN = 0.01  # share of the loss of rows left out that this has to be worth
_FEW_ROWS = 1500  # up to which pairs have to show their worth on rows left out
_FOLDS, _FEW_FEATURES = 5, 40  # folds of these rows; two where there are more features
_MAX_PAIRS, _LEAST_COLUMNS = 300, 8  # pairs that get columns, and how many at least to begin with
_PRUNE_FIRST, _PRUNE = 0.0, 0.5
_ROUNDS, _WORTH = 2, 0.97  # columns are shared out again as long as the error falls by this factor
_DOUBT = 0.1  # pairs of a larger p-value are left out, unless weak effects are pooled
_NOISE = 0.2  # share of noise among pairs, where weak effects are pooled but do not help
_LEAST_SIGNAL = 0.1  # prior variance of a column in units of its sampling variance
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
        _sample(problem, SAMPLE), axes, features, _MAX_FEATURES, keep=named, pairs=free, alone=alone
    )
    if problem.scale is not None:
        problem = replace(problem, few=_few_matter(problem, axes, features))
    candidates = _candidates(features, pairs, alone)
    if pairs is None and most_pairs is None and len(problem) <= _FEW_ROWS:
        candidates = candidates if _pairs_help(problem, axes, features, candidates) else []
    return _fit_terms(problem, axes, features, candidates, most_pairs, wanted=pairs is not None)


def _sample(problem: Problem, most: int) -> Problem:
    return problem if len(problem) <= most else problem.part(problem.sample(most))


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
    small = _sample(problem, SAMPLE)
    times = len(problem) / len(small)
    mains, state = _main_effects(small, axes, features, times)
    if most_pairs == 0 or not candidates:
        return run_stage(
            problem, basis_of(axes, mains, {}), state, n_newton=8, n_iter=15, prune=None, final=True
        )
    state, tests = _first_look(small, axes, mains, state, candidates, times)
    doubtful = set() if wanted else _doubtful(problem, tests, len(candidates))
    crowd = 2 * len(doubtful) > len(tests)  # of pairs that were chosen for being large by chance
    sparse = problem.scale is None
    if not sparse:
        ask = check and most_pairs is None and crowd
        sparse, few_pairs = _weak_effects(problem, axes, features, candidates) if ask else (False, False)
        doubtful = doubtful if few_pairs else set()
    for _ in range(_ROUNDS if problem.quadratic else 1):
        error = state.fit.gcv(float(small.weight.sum()))
        chosen = [t for t in _strongest(state, None) if t not in doubtful]
        last = _shared_out(problem, axes, mains, chosen, state, _budget(small, state, times))
        state = run_stage(small, last, state, n_newton=2, n_iter=8, prune=_PRUNE_FIRST, sparse=sparse)
        if state.fit.gcv(float(small.weight.sum())) > _WORTH * error:
            break
    chosen = [t for t in _strongest(state, most_pairs) if t not in doubtful]
    last = _shared_out(problem, axes, mains, chosen, state, _budget(small, state, times))
    state = run_stage(
        problem, last, state, n_newton=2, n_iter=8, prune=_PRUNE, sparse=sparse, final=True, loosen=not crowd
    )
    state.tests |= {term: tests[term] for term in state.basis.terms if len(term) == 2}
    return state


def _main_effects(
    small: Problem, axes: Axes, features: Sequence[int], times: float
) -> tuple[dict[Term, tuple[np.ndarray, ...]], State]:
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


def _few_matter(problem: Problem, axes: Axes, features: Sequence[int]) -> bool:
    """Whether few of the main effects of classes and counts matter, and not many that are alike.

    The loss of rows left out one by one decides: it has to be lower, clearly and by a hundredth, if strong
    effects do not lend their variance to weak ones. What noise costs a row falls with the number of rows, so
    a sample has to show more.
    """
    small = _sample(problem, _POOL_SAMPLE)
    times = len(problem) / len(small)
    mains, state = _main_effects(small, axes, features, times)
    fits = [
        run_stage(
            replace(small, few=few),
            basis_of(axes, mains, {}),
            state,
            n_newton=2,
            n_iter=6,
            prune=None,
            final=True,
            loosen=False,
        )
        for few in (False, True)
    ]
    many_loss, few_loss = held_out_losses(small, fits)
    return clearly_lower(few_loss, (1.0 - _GAIN * times) * many_loss)


def _rough_tails(
    problem: Problem, axes: Axes, mains: dict[Term, tuple[np.ndarray, ...]], most: int, state: State
) -> dict[Term, float]:
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


def _first_look(
    small: Problem, axes: Axes, mains: dict, state: State, candidates: Sequence[Term], times: float
) -> tuple[State, dict[Term, tuple[float, np.ndarray]]]:
    """Pairs with a few columns each beside main effects, and score tests of those that kept a variance."""
    n_pairs = int(np.clip(len(small) // 12, 50, _MAX_PAIRS))
    if len(candidates) > n_pairs:
        candidates = rank_pairs(small, axes, state.eta, candidates, n_pairs)
    first = pair_picks(
        axes, candidates, max(_budget(small, state, times) * 6 // 10, _LEAST_COLUMNS * len(candidates))
    )
    state = run_stage(
        small,
        basis_of(axes, mains, first),
        state,
        n_newton=4,
        n_iter=8,
        prune=_PRUNE_FIRST,
        sparse=small.scale is None,
    )
    return state, tests_of(state, _strongest(state, None))


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

    The loss of rows left out decides, a third of all; of many rows, not all are fitted and predicted. Pairs
    have to lower it together; main effects are left out only if it is clearly lower without them.
    """
    fold = fold_rows(list(problem.X.T), 3)
    learn, left = (_sample(problem.part(rows), _MORE * SAMPLE) for rows in (fold != 0, fold == 0))
    if len(left) == 0 or len(learn) == 0 or not np.ptp(learn.y) > 0.0:
        return True, True
    small = _sample(learn, SAMPLE)
    times = len(problem) / len(small)
    mains, state = _main_effects(small, axes, features, times)
    state, tests = _first_look(small, axes, mains, state, candidates, times)
    doubtful = _doubtful(problem, tests, len(candidates))
    budget = _budget(small, state, times)
    loss = {}
    for few_pairs in (True, False) if doubtful else (False,):
        chosen = [t for t in _strongest(state, None) if not (few_pairs and t in doubtful)]
        last = _shared_out(learn, axes, mains, chosen, state, budget)
        for sparse in (True, False):
            fit = run_stage(
                learn,
                last,
                state,
                n_newton=2,
                n_iter=8,
                prune=_PRUNE,
                sparse=sparse,
                final=True,
                loosen=False,
            )
            eta = predictor(left, fit.basis, fit.fit.beta, fit.intercept)
            loss[sparse, few_pairs] = left.loss.value(left.y, eta)
    _, few_pairs = min(loss, key=lambda choice: float(left.weight @ loss[choice]))
    return clearly_lower(loss[True, few_pairs], loss[False, few_pairs], left.weight), few_pairs


def _pairs_help(problem: Problem, axes: Axes, features: Sequence[int], candidates: Sequence[Term]) -> bool:
    """Whether pairs lower the loss of rows that were left out, by more than its standard error.

    The fit of the rows at hand always says so: choosing among many pairs follows noise. Five folds, or two
    halves where there are many features.
    """
    n_folds = _FOLDS if len(features) <= _FEW_FEATURES else 2
    fold = fold_rows(list(problem.X.T), n_folds)
    gain = np.zeros(len(problem))
    for k in range(n_folds):
        rest, left = problem.part(fold != k), problem.part(fold == k)
        if len(left) == 0:
            continue
        if len(rest) == 0 or not np.ptp(rest.y) > 0.0:
            return False
        for sign, pairs in ((1.0, []), (-1.0, candidates)):
            state = _fit_terms(rest, axes, features, pairs, check=False)
            eta = predictor(left, state.basis, state.fit.beta, state.intercept)
            gain[fold == k] += sign * left.loss.value(left.y, eta)
    return float(problem.weight @ gain) > float(np.sqrt(problem.weight @ gain**2))


def _shared_out(
    problem: Problem, axes: Axes, mains: dict, pairs: Sequence[Term], state: State, budget: int
) -> TermBasis:
    """Main effects, and pairs with columns by the variances that their groups turned out to have."""
    floor = _floor(problem, state)
    return basis_of(axes, mains, pair_picks(axes, pairs, budget, state.variance, floor=floor))


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
    factor = 20.0 if problem.scale is None else 60.0
    worth = times * information(problem, state.eta)
    return int(np.clip(factor * np.sqrt(worth), 600, 4000))


def _floor(problem: Problem, state: State) -> float:
    """Prior variance below which a column would have less than a tenth of a degree of freedom."""
    return _LEAST_SIGNAL * state.fit.scale / float(problem.weight.sum())
