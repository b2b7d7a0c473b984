"""Pairs with a few columns each beside main effects: which carry signal, and what columns they deserve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.effects.mixture_chi2 import mixture_tail
from pellucid.features.screening import rank_pairs
from pellucid.features.term_basis import Axes, Picks, Term, TermBasis, pair_picks
from pellucid.models.additive.engine.design import predictor
from pellucid.models.additive.engine.main_effects import fit_mains
from pellucid.models.additive.engine.penalised_fit import run_stage
from pellucid.models.additive.engine.state import Problem, State, basis_of, information, tests_of

SAMPLE, WEAK_SAMPLE = 12_000, 24_000  # rows that decide on the structure; of classes and counts
PRUNE_FIRST = 0.0  # standard deviations above noise that a group has to reach while others may still come
COLUMNS_PER_PAIR = 8  # at least to begin with
_PAIRS, _ROWS_PER_PAIR = (50, 300), 12  # pairs that get columns, at least and at most; rows for each
_DOUBT = 0.1  # pairs of a larger p-value are left out, unless weak effects are pooled
_NOISE = 0.2  # share of noise among pairs, where weak effects are pooled but do not help
_LEAST_SIGNAL = 0.1  # prior variance of a column in units of its sampling variance
_LEAST_WEAK_SIGNAL = 0.02  # the same for classes and counts, of which much is carried by what is weak
_FEWEST, _MOST, _MOST_WEAK = 600, 4000, 3000  # columns of all pairs; the last for classes and counts


@dataclass(frozen=True)
class Look:
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

    @property
    def n_tried(self) -> int:
        """Number of pairs that were looked at, whether they kept a variance or not."""
        return sum(len(term) == 2 for term in self.state.basis.terms)


def first_look(
    problem: Problem, axes: Axes, features: Sequence[int], candidates: Sequence[Term], n: int
) -> Look:
    """Fit main effects and pairs to some rows of a problem, as if there were ``n`` rows."""
    small = some_rows(problem)
    times = n / len(small)
    mains, state = fit_mains(small, axes, features, times)
    tried, most = candidates, pairs_for(len(small))
    if len(candidates) > most:
        tried = rank_pairs(small, axes, state.eta, candidates, most)
    first = pair_picks(
        axes, tried, max(_budget(small, state, times) * 6 // 10, COLUMNS_PER_PAIR * len(tried))
    )
    return _look(small, times, mains, basis_of(axes, mains, first), state, len(candidates), n_newton=3)


def look_without(look: Look, problem: Problem, n: int) -> Look:
    """The look without some of the rows, by one Newton step from where it ended with them.

    Columns are those of the look, and variances start from its own, those of groups that it dropped from the
    smallest: a few updates on the rows that are left say which pairs are strong.
    """
    before, small = look.state, some_rows(problem)
    ridge = before.fit.ridge
    ridge = np.where(np.isfinite(ridge), ridge, ridge.max(where=np.isfinite(ridge), initial=1.0))
    eta = predictor(small, before.basis, before.fit.beta, before.intercept)
    start = replace(before, eta=eta, fit=replace(before.fit, ridge=ridge))
    return _look(small, n / len(small), look.mains, before.basis, start, look.n_tried, n_newton=1)


def _look(
    rows: Problem,
    times: float,
    mains: Picks,
    basis: TermBasis,
    before: State,
    n_candidates: int,
    *,
    n_newton: int,
) -> Look:
    sparse = rows.scale is None
    state = run_stage(rows, basis, before, n_newton=n_newton, n_iter=8, prune=PRUNE_FIRST, sparse=sparse)
    tests = tests_of(state, strongest(state, None))
    return Look(rows, times, mains, state, tests, doubtful_pairs(rows, tests, n_candidates))


def doubtful_pairs(
    problem: Problem, tests: dict[Term, tuple[float, np.ndarray]], n_candidates: int
) -> set[Term]:
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


def shared_out(
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


def strongest(state: State, most: int | None) -> list[Term]:
    """Pairs that kept some variance, the strongest first if only so many may stay."""
    edf = state.term_edf
    spread = np.array([_power(state, t) for t in range(len(edf))])
    alive = [t for t, term in enumerate(state.basis.terms) if len(term) == 2 and edf[t] > 0.1]
    if most is not None:
        alive = sorted(sorted(alive, key=lambda t: -spread[t])[:most])
    return [state.basis.terms[t] for t in alive]


def some_rows(problem: Problem) -> Problem:
    """Rows that decide on the structure: more of classes and counts, which tell little each."""
    return problem.some(SAMPLE if problem.scale is None else WEAK_SAMPLE)


def pairs_for(rows: float) -> int:
    """Pairs that so many rows can tell apart."""
    return int(np.clip(rows // _ROWS_PER_PAIR, *_PAIRS))


def _power(state: State, t: int) -> float:
    s = state.basis.slices[t]
    return float(state.fit.beta[s] @ state.moments.G[s, s] @ state.fit.beta[s])


def _budget(problem: Problem, state: State, times: float) -> int:
    """Columns of pairs that the data can pay for, from the information in the rows."""
    factor, most = (20.0, _MOST) if problem.scale is None else (60.0, _MOST_WEAK)
    return int(np.clip(factor * np.sqrt(times * information(problem, state.eta)), _FEWEST, most))
