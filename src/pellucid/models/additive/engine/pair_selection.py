"""The structure fit: pairs with a few columns each beside main effects, to see which carry signal."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.effects.mixture_chi2 import mixture_tail
from pellucid.features.screening import rank_pairs
from pellucid.features.term_basis import Axes, Picks, Term, TermBasis, pair_picks
from pellucid.models.additive.engine import policy
from pellucid.models.additive.engine.design import predictor
from pellucid.models.additive.engine.main_effects import fit_main_effects
from pellucid.models.additive.engine.penalised_fit import FitSettings, penalised_fit
from pellucid.models.additive.engine.state import Problem, ScoreTest, State, basis_of, information, tests_of


@dataclass(frozen=True)
class StructureFit:
    """A fit of pairs with a few columns each beside main effects, and what it says about them.

    Attributes
    ----------
    rows : Problem
        The rows that were fitted.
    sample_ratio : float
        All rows are so many times as many.
    main : Picks
        Columns of the main effects.
    state : State
        The fit.
    tests : dict
        Score tests of the pairs that kept a variance.
    doubtful : set of Term
        Those of them that may be noise.
    """

    rows: Problem
    sample_ratio: float
    main: Picks
    state: State
    tests: dict[Term, ScoreTest]
    doubtful: set[Term]

    @property
    def n_tried(self) -> int:
        """Number of pairs that got columns, whether they kept a variance or not."""
        return sum(len(term) == 2 for term in self.state.basis.terms)

    @property
    def error(self) -> float:
        """Generalised cross-validation error."""
        return self.state.fit.gcv(float(self.rows.weight.sum()))

    def chosen(self, without: Collection[Term], most: int | None = None) -> TermBasis:
        """Main effects and the strongest pairs, with columns by the variances that their groups have here.

        A column needs a prior variance that is not lost in its sampling variance.
        """
        state, rows = self.state, self.rows
        pairs = [pair for pair in strongest(state, most) if pair not in without]
        precision = self.sample_ratio * float(rows.working(state.eta)[0].sum())
        floor = policy.LEAST_SIGNAL[rows.discrete] * state.fit.scale / precision
        budget = _budget(rows, state, self.sample_ratio)
        axes = state.basis.axes
        return basis_of(axes, self.main, pair_picks(axes, pairs, budget, state.variance, floor=floor))


def fit_structure(
    problem: Problem, axes: Axes, features: Sequence[int], candidates: Sequence[Term], n: int
) -> StructureFit:
    """Fit main effects and pairs to a sample of a problem, as if there were ``n`` rows."""
    sample = structure_sample(problem)
    sample_ratio = n / len(sample)
    main, state = fit_main_effects(sample, axes, features, sample_ratio)
    tried, most = candidates, pairs_for(len(sample))
    if len(candidates) > most:
        tried = rank_pairs(sample, axes, state.eta, candidates, most)
    columns = max(_budget(sample, state, sample_ratio) * 6 // 10, policy.COLUMNS_PER_PAIR * len(tried))
    basis = basis_of(axes, main, pair_picks(axes, tried, columns))
    return _fit_structure(sample, sample_ratio, main, basis, state, len(candidates), newton_steps=3)


def fit_structure_without(known: StructureFit, problem: Problem, n: int) -> StructureFit:
    """The structure fit without some of the rows, by one Newton step from where it ended with them.

    Columns are those of the fit that is known, and variances start from its own, those of groups that it
    dropped from the smallest: a few updates on the rows that are left say which pairs are strong.
    """
    before, sample = known.state, structure_sample(problem)
    ridge = before.fit.ridge
    ridge = np.where(np.isfinite(ridge), ridge, ridge.max(where=np.isfinite(ridge), initial=1.0))
    eta = predictor(sample, before.basis, before.fit.beta, before.intercept)
    start = replace(before, eta=eta, fit=replace(before.fit, ridge=ridge))
    ratio = n / len(sample)
    return _fit_structure(sample, ratio, known.main, before.basis, start, known.n_tried, newton_steps=1)


def _fit_structure(
    rows: Problem,
    sample_ratio: float,
    main: Picks,
    basis: TermBasis,
    before: State,
    n_candidates: int,
    *,
    newton_steps: int,
) -> StructureFit:
    settings = FitSettings(newton_steps, updates=8, prune=policy.PRUNE_FIRST, sparse=not rows.discrete)
    state = penalised_fit(rows, basis, before, settings)
    tests = tests_of(state, strongest(state, None))
    doubtful = doubtful_pairs(rows, tests, n_candidates)
    return StructureFit(rows, sample_ratio, main, state, tests, doubtful)


def doubtful_pairs(problem: Problem, tests: dict[Term, ScoreTest], n_candidates: int) -> set[Term]:
    """Pairs that may be noise: of a large p-value or, where weak effects are pooled, a large q-value.

    The q-value (Benjamini and Hochberg 1995, JRSS B 57) is the share of noise that is to be expected among
    the pairs that are at least as clear, of all candidates.
    """
    terms = list(tests)
    p = np.array([mixture_tail(*tests[term]) for term in terms])
    if not problem.discrete:
        return {term for term, p_value in zip(terms, p, strict=True) if p_value > policy.DOUBT}
    order = np.argsort(p, kind="stable")
    q = p[order] * n_candidates / np.arange(1, len(p) + 1)
    q = np.minimum.accumulate(q[::-1])[::-1]
    return {terms[k] for k, q_value in zip(order, q, strict=True) if q_value > policy.NOISE}


def strongest(state: State, most: int | None) -> list[Term]:
    """Pairs that kept some variance, the strongest first if only so many may stay."""
    edf, terms = state.term_edf, state.basis.terms
    alive = [t for t, term in enumerate(terms) if len(term) == 2 and edf[t] > 0.1]
    if most is not None:
        alive = sorted(sorted(alive, key=lambda t: -_power(state, t))[:most])
    return [terms[t] for t in alive]


def structure_sample(problem: Problem) -> Problem:
    """Rows that decide on the structure: more of discrete responses, which tell little each."""
    return problem.some(policy.DISCRETE_SAMPLE if problem.discrete else policy.SAMPLE)


def pairs_for(rows: float) -> int:
    """Pairs that so many rows can tell apart."""
    return int(np.clip(rows // policy.ROWS_PER_PAIR, *policy.PAIRS))


def _power(state: State, t: int) -> float:
    s = state.basis.slices[t]
    return float(state.fit.beta[s] @ state.moments.G[s, s] @ state.fit.beta[s])


def _budget(problem: Problem, state: State, sample_ratio: float) -> int:
    """Columns of pairs that the data can pay for, from the information in the rows."""
    factor, limits = policy.COLUMNS_PER_ROOT_ROW[problem.discrete], policy.COLUMNS[problem.discrete]
    return int(np.clip(factor * np.sqrt(sample_ratio * information(problem, state.eta)), *limits))
