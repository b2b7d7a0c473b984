"""Screening of pairs: strong pairs come first, and one surprising row does not make a pair."""

import numpy as np

from pellucid.features.screening import rank_pairs
from pellucid.losses import as_loss
from pellucid.models.additive_engine import build_axes
from pellucid.models.additive_state import Problem


def problem_of(X, y, loss):
    n = len(y)
    return Problem(X, y.astype(float), np.ones(n), np.zeros(n), as_loss(loss))


def pairs_of(p):
    return [(i, j) for i in range(p) for j in range(i + 1, p)]


def test_strong_pairs_come_first():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (1500, 8))
    y = X[:, 1] * X[:, 4] + np.sign(X[:, 2]) * np.sign(X[:, 7]) + 0.3 * rng.normal(size=1500)
    axes = build_axes(X, np.ones(1500), [None] * 8)
    best = rank_pairs(problem_of(X, y, "squared"), axes, np.zeros(1500), pairs_of(8), 2)
    assert set(best) == {(1, 4), (2, 7)}


def test_a_single_surprising_row_does_not_make_a_pair():
    rng = np.random.default_rng(1)
    n = 2000
    X = rng.uniform(-1, 1, (n, 4))
    eta = np.full(n, -2.0)
    corner = (X[:, 0] > 0.5) & (X[:, 1] > 0.5)
    eta[corner] = -9.0  # as sure as a fit can be, and wrong about one row
    weak = X[:, 2] * X[:, 3]
    y = rng.random(n) < 1 / (1 + np.exp(-(eta + 2 * weak)))
    y[corner] = False
    y[np.flatnonzero(corner)[0]] = True
    axes = build_axes(X, np.ones(n), [None] * 4)
    assert rank_pairs(problem_of(X, y, "logistic"), axes, eta, pairs_of(4), 1) == [(2, 3)]


def test_infinite_and_empty_cells_do_not_matter():
    X = np.column_stack([np.repeat([0.0, 1.0], 50), np.tile([0.0, 1.0], 50), np.arange(100.0)])
    y = np.where(X[:, 0] == X[:, 1], 1.0, -1.0)
    axes = build_axes(X, np.ones(100), [None] * 3)
    assert rank_pairs(problem_of(X, y, "squared"), axes, np.zeros(100), pairs_of(3), 3)[0] == (0, 1)
