"""Looks at pairs: without some rows they are one Newton step from the structure with them."""

from dataclasses import replace

import numpy as np
import pytest

from pellucid.losses import as_loss
from pellucid.models.additive.engine.pair_selection import (
    fit_structure,
    fit_structure_without,
    pairs_for,
    strongest,
)
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
    return problem, axes, fit_structure(problem, axes, range(P), PAIRS, N)


def test_without_no_row_it_finds_the_same_pairs(case):
    problem, _, structure = case
    again = fit_structure_without(structure, problem, N)
    assert again.sample_ratio == structure.sample_ratio == 1.0
    assert np.corrcoef(again.state.eta, structure.state.eta)[0, 1] > 0.99
    assert set(again.tests) - again.doubtful == set(structure.tests) - structure.doubtful == {(1, 2)}


def test_without_a_third_of_the_rows_it_is_the_fit_of_the_others(case):
    problem, axes, structure = case
    train = problem.part(np.arange(N) % 3 != 0)
    near, anew = fit_structure_without(structure, train, N), fit_structure(train, axes, range(P), PAIRS, N)
    assert near.sample_ratio == anew.sample_ratio == pytest.approx(1.5)
    assert near.rows is train
    assert np.corrcoef(near.state.eta, anew.state.eta)[0, 1] > 0.98
    assert set(near.tests) - near.doubtful == set(anew.tests) - anew.doubtful == {(1, 2)}


def test_targets_of_rows_that_are_left_out_have_no_say(case):
    """A pair that only these rows have is in the structure with them, and not in the one without."""
    problem, axes, _ = case
    left = np.arange(N) % 3 == 0
    strange = np.where(left, (problem.X[:, 0] * problem.X[:, 3] > 0).astype(float), problem.y)
    structure = fit_structure(replace(problem, y=strange), axes, range(P), PAIRS, N)
    assert (0, 3) in set(structure.tests) - structure.doubtful
    without = fit_structure_without(structure, problem.part(~left), N)
    assert set(without.tests) - without.doubtful == {(1, 2)}


def test_rows_that_are_left_may_revive_what_all_rows_dropped(case):
    problem, _, structure = case
    basis, fit = structure.state.basis, structure.state.fit
    place = basis.terms.index((1, 2))
    beta = fit.beta.copy()
    beta[basis.slices[place]] = 0.0
    ridge = np.where(basis.owner == place, np.inf, fit.ridge)
    blind = replace(structure, state=replace(structure.state, fit=replace(fit, ridge=ridge, beta=beta)))
    assert (1, 2) in strongest(fit_structure_without(blind, problem.part(slice(0, 800)), N).state, None)


def test_pairs_that_were_tried_count_whether_they_stay_or_not(case):
    _, _, structure = case
    assert structure.n_tried == len(PAIRS)


@pytest.mark.parametrize(("rows", "pairs"), [(10, 50), (1200, 100), (1211.5, 100), (1e6, 300)])
def test_more_rows_can_tell_more_pairs_apart(rows, pairs):
    assert pairs_for(rows) == pairs
