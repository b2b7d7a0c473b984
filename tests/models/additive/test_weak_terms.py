"""Pairs of classes that are doubtful one by one: they stay where they help together, or else they go."""

import numpy as np
from scipy.stats import false_discovery_control

from pellucid import AdditiveKernelClassifier
from pellucid.effects.mixture_chi2 import mixture_tail
from pellucid.losses import as_loss
from pellucid.models.additive.engine.pair_selection import doubtful_pairs
from pellucid.models.additive.engine.state import Problem

RNG = np.random.default_rng(4)


def drawn(eta):
    return (RNG.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(int)


def problem(loss):
    return Problem(np.zeros((3, 1)), np.zeros(3), np.ones(3), np.zeros(3), as_loss(loss))


def scored(scores):
    """Score tests of one column each, the larger the clearer."""
    return {(0, k + 1): (score, np.ones(1)) for k, score in enumerate(scores)}


def test_q_values_are_those_of_benjamini_and_hochberg():
    tests = scored([30.0, 0.5, 9.0, 2.0, 7.5, 0.1, 12.0])
    p = np.array([mixture_tail(*test) for test in tests.values()])
    expected = {term for term, q in zip(tests, false_discovery_control(p), strict=True) if q > 0.2}
    assert doubtful_pairs(problem("logistic"), tests, len(tests)) == expected
    assert 0 < len(expected) < len(tests)


def test_pairs_that_were_screened_away_count_as_candidates():
    tests = scored([9.0, 8.0])
    assert doubtful_pairs(problem("logistic"), tests, 2) == set()
    assert doubtful_pairs(problem("logistic"), tests, 2000) == {(0, 1), (0, 2)}


def test_pairs_of_numbers_go_by_p_values():
    assert doubtful_pairs(problem("squared"), scored([9.0, 2.0]), 2000) == {(0, 2)}


def test_without_any_pair_nothing_is_doubtful():
    assert doubtful_pairs(problem("logistic"), {}, 5) == set()


def test_a_single_pair_among_many_features_stands_alone():
    X = RNG.normal(size=(1600, 12))
    model = AdditiveKernelClassifier().fit(X, drawn(1.5 * X[:, 0] + 1.5 * X[:, 1] * X[:, 2]))
    assert [term for term in model.terms_ if len(term) == 2] == [(1, 2)]


def test_many_weak_pairs_stay_together():
    X = RNG.choice([-1.0, 1.0], size=(1600, 30))
    W = 0.07 * np.triu(RNG.normal(size=(30, 30)), 1)  # few of the 435 could be told from noise on their own
    model = AdditiveKernelClassifier().fit(X, drawn(np.einsum("ni,ij,nj->n", X, W, X)))
    assert sum(len(term) == 2 for term in model.terms_) > 20


def test_few_distinct_rows_that_cannot_be_divided():
    rows = [[0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 1, 1], [0, 1, 0, 0], [1, 0, 0, 0]]
    rows += [[1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0], [1, 1, 1, 1]]
    X = np.array(rows, dtype=float)[RNG.integers(9, size=1600)]
    model = AdditiveKernelClassifier().fit(X, drawn(X[:, 0] - 1))
    assert np.all(np.isfinite(model.decision_function(X)))


def test_a_number_of_pairs_is_what_one_gets():
    X = RNG.normal(size=(1600, 6))
    model = AdditiveKernelClassifier(interactions=3).fit(X, drawn(X[:, 0] + 0.5 * X[:, 1] * X[:, 2]))
    assert sum(len(term) == 2 for term in model.terms_) == 3
