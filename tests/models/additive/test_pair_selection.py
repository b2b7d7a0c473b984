"""Looks at pairs: without some rows they are one Newton step from the look with them."""

from dataclasses import replace

import numpy as np
import pytest

from pellucid.losses import as_loss
from pellucid.models.additive.engine.pair_selection import first_look, look_without, pairs_for, strongest
from pellucid.models.additive.engine.state import Problem
from pellucid.models.additive.engine.structure import build_axes

RNG = np.random.default_rng(12)
N, P = 1200, 4
PAIRS = [(p, q) for p in range(P) for q in range(p + 1, P)]


@pytest.fixture(scope="module")
def case():
    X = RNG.normal(size=(N, P))
    eta = X[:, 0] + 1.5 * X[:, 1] * X[:, 2]
    y = (RNG.random(N) < 1 / (1 + np.exp(-eta))).astype(float)
    problem = Problem(X, y, np.ones(N), np.zeros(N), as_loss("logistic"))
    axes = build_axes(X, np.ones(N), [None] * P)
    return problem, axes, first_look(problem, axes, range(P), PAIRS, N)


def test_without_no_row_it_finds_the_same_pairs(case):
    problem, _, look = case
    again = look_without(look, problem, N)
    assert again.times == look.times == 1.0
    assert np.corrcoef(again.state.eta, look.state.eta)[0, 1] > 0.99
    assert set(again.tests) - again.doubtful == set(look.tests) - look.doubtful == {(1, 2)}


def test_without_a_third_of_the_rows_it_is_the_look_at_the_others(case):
    problem, axes, look = case
    learn = problem.part(np.arange(N) % 3 != 0)
    near, anew = look_without(look, learn, N), first_look(learn, axes, range(P), PAIRS, N)
    assert near.times == anew.times == pytest.approx(1.5)
    assert near.rows is learn
    assert np.corrcoef(near.state.eta, anew.state.eta)[0, 1] > 0.98
    assert set(near.tests) - near.doubtful == set(anew.tests) - anew.doubtful == {(1, 2)}


def test_targets_of_rows_that_are_left_out_have_no_say(case):
    """A pair that only these rows have is in the look with them, and not in the one without."""
    problem, axes, _ = case
    left = np.arange(N) % 3 == 0
    strange = np.where(left, (problem.X[:, 0] * problem.X[:, 3] > 0).astype(float), problem.y)
    look = first_look(replace(problem, y=strange), axes, range(P), PAIRS, N)
    assert (0, 3) in set(look.tests) - look.doubtful
    without = look_without(look, problem.part(~left), N)
    assert set(without.tests) - without.doubtful == {(1, 2)}


def test_rows_that_are_left_may_revive_what_all_rows_dropped(case):
    problem, _, look = case
    basis, fit = look.state.basis, look.state.fit
    place = basis.terms.index((1, 2))
    beta = fit.beta.copy()
    beta[basis.slices[place]] = 0.0
    ridge = np.where(basis.owner == place, np.inf, fit.ridge)
    blind = replace(look, state=replace(look.state, fit=replace(fit, ridge=ridge, beta=beta)))
    assert (1, 2) in strongest(look_without(blind, problem.part(slice(0, 800)), N).state, None)


def test_pairs_that_were_tried_count_whether_they_stay_or_not(case):
    _, _, look = case
    assert look.n_tried == len(PAIRS)


@pytest.mark.parametrize(("rows", "pairs"), [(10, 50), (1200, 100), (1211.5, 100), (1e6, 300)])
def test_more_rows_can_tell_more_pairs_apart(rows, pairs):
    assert pairs_for(rows) == pairs
