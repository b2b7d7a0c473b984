"""Screening: evidence of pairs is a marginal likelihood; features may count for pairs only."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import chi2, multivariate_normal

from pellucid.data.table import Column
from pellucid.features import pair_scan
from pellucid.features.pair_scan import standing_out
from pellucid.features.screening import pair_evidence, rank_features
from pellucid.losses import as_loss
from pellucid.models.additive.engine.state import Problem
from pellucid.models.additive.engine.structure import build_axes


def problem_of(X, y, loss, weight=None):
    n = len(y)
    return Problem(X, y.astype(float), np.ones(n) if weight is None else weight, np.zeros(n), as_loss(loss))


def columns_of(X):
    return build_axes(X, np.ones(len(X)), [Column(f"x{j}") for j in range(X.shape[1])])


def pairs_of(p):
    return [(i, j) for i in range(p) for j in range(i + 1, p)]


def grid(n=6):
    """All combinations of the values of two features, so that products of columns are orthogonal."""
    a, b = np.meshgrid(np.arange(float(n)), np.arange(float(n)))
    return np.tile(np.column_stack([a.ravel(), b.ravel()]), (3, 1))


VARIANCES = np.array([1e-4, 0.01, 0.3, 5.0])


@pytest.mark.parametrize("unit", [1.0, 1e100])
@pytest.mark.parametrize("weight", [1.0, 2.5])
def test_evidence_of_a_pair_is_its_marginal_likelihood(unit, weight):
    X = grid()
    n, rng = len(X), np.random.default_rng(0)
    y = unit * (0.2 * (X[:, 0] - 2.5) * (X[:, 1] - 2.5) + rng.normal(size=n))
    axes, scale = columns_of(X), (0.8 * unit) ** 2
    problem = problem_of(X, y, "squared", weight * np.ones(n))
    found = pair_evidence(problem, axes, np.zeros(n), scale, [(0, 1)], VARIANCES * unit**2)
    A, B = (axes.pair[j].at(axes.coarse[j].locate(X[:, j])) for j in (0, 1))
    Phi = (A[:, :, None] * B[:, None, :]).reshape(n, -1)
    shapes, r = axes.shapes((0, 1))[1], (y - y.mean()) / unit
    noise = 0.8**2 / weight * np.eye(n)
    null = multivariate_normal(cov=noise).logpdf(r)
    expected = [
        logsumexp([multivariate_normal(cov=noise + (Phi * d * S) @ Phi.T).logpdf(r) - null for S in shapes])
        - np.log(len(shapes))
        for d in VARIANCES
    ]
    np.testing.assert_allclose(found, [expected], rtol=1e-4, atol=1e-4)


def best_variance(problem, axes, eta, scale, p):
    """The pairs by their largest evidence, and it."""
    pairs = pairs_of(p)
    curves = pair_evidence(problem, axes, eta, scale, pairs, VARIANCES)
    return [(pairs[k], curves[k].max()) for k in np.argsort(-curves.max(axis=1))]


def test_strong_pairs_come_first_and_others_have_no_evidence():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (1500, 8))
    y = X[:, 1] * X[:, 4] + np.sign(X[:, 2]) * np.sign(X[:, 7]) + 0.3 * rng.normal(size=1500)
    first, second, *others = best_variance(
        problem_of(X, y, "squared"), columns_of(X), np.zeros(1500), y.var(), 8
    )
    assert {first[0], second[0]} == {(1, 4), (2, 7)}
    assert second[1] > 50
    assert max(value for _, value in others) < 5


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
    (pair, _), *_ = best_variance(problem_of(X, y, "logistic"), columns_of(X), eta, 1.0, 4)
    assert pair == (2, 3)


def test_few_and_odd_values_have_finite_evidence():
    X = np.column_stack(
        [np.repeat([0.0, 1.0], 50), np.tile([0.0, 1.0], 50), np.arange(100.0), np.append(np.zeros(99), 1e100)]
    )
    X[::7, 2] = np.nan
    y = np.where(X[:, 0] == X[:, 1], 1.0, -1.0)
    ranked = best_variance(problem_of(X, y, "squared"), columns_of(X), np.zeros(100), 1.0, 4)
    assert ranked[0][0] == (0, 1)
    assert np.all(np.isfinite([value for _, value in ranked]))


# ---------------------------------------------------------------------- many features

RNG = np.random.default_rng(11)
WIDE = RNG.normal(size=(1200, 60))
NOISE = RNG.normal(size=1200)
AXES = columns_of(WIDE)
EVERY = list(range(60))


def weakest(most):
    """Two features that do nothing alone, as far as ranks of main effects can tell, and their product."""
    by_noise = rank_features(problem_of(WIDE, NOISE, "squared"), AXES, EVERY, most, pairs=False)
    p, q = [j for j in EVERY if j not in by_noise][:2]
    return p, q, by_noise


def test_ranking_makes_no_basis():
    axes = columns_of(WIDE)
    rank_features(problem_of(WIDE, NOISE, "squared"), axes, EVERY, 8)
    assert not axes.main._known
    assert not axes.pair._known


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_features_of_a_pure_pair_are_kept(loss):
    p, q, _ = weakest(12)
    eta = 2.0 * WIDE[:, p] * WIDE[:, q] + 2.0 * WIDE[:, 0]
    y = eta + NOISE if loss == "squared" else eta + 2 * NOISE > 0
    problem = problem_of(WIDE, y, loss)
    chosen = rank_features(problem, AXES, EVERY, 12)
    assert {0, p, q} <= set(chosen)
    assert chosen == sorted(chosen)
    assert len(chosen) == 12
    order = np.random.default_rng(0).permutation(1200)
    assert rank_features(problem_of(WIDE[order], y[order], loss), AXES, EVERY, 12) == chosen


def test_noise_brings_no_pairs():
    problem = problem_of(WIDE, NOISE, "squared")
    alone = rank_features(problem, AXES, EVERY, 12, pairs=False)
    assert rank_features(problem, AXES, EVERY, 12) == alone


def test_false_alarms_are_rare_whatever_the_noise():
    """One table of twenty at most; of twenty-five more than five would be a surprise."""
    columns = {j: AXES.sketch(j, WIDE[:, j], 2) for j in EVERY}
    rng = np.random.default_rng(0)
    kinds = {
        "normal": lambda: rng.normal(size=1200),
        "heavy tails": lambda: rng.standard_t(1.5, size=1200),
        "unequal": lambda: np.exp(WIDE[:, 5]) * rng.normal(size=1200),
        "rare": lambda: (rng.random(1200) < 0.03) - 0.03,
    }
    for kind, noise in kinds.items():
        alarms = sum(
            bool(standing_out(columns.__getitem__, EVERY, noise(), np.ones(1200))) for _ in range(25)
        )
        assert alarms <= 5, kind


def test_main_effects_bring_no_pairs():
    """What a curved main effect does is no pair of features that go with it."""
    X = WIDE.copy()
    X[:, 1:4] = X[:, :1] + 0.3 * X[:, 1:4]
    problem = problem_of(X, X[:, 0] ** 2 + 0.5 * NOISE, "squared")
    axes = columns_of(X)
    alone = rank_features(problem, axes, EVERY, 12, pairs=False)
    assert set(range(4)) <= set(alone)
    assert rank_features(problem, axes, EVERY, 12) == alone


def test_features_that_are_to_be_kept():
    p, q, by_noise = weakest(12)
    problem = problem_of(WIDE, NOISE, "squared")
    chosen = rank_features(problem, AXES, EVERY, 12, keep=[q, p])
    assert {p, q} <= set(chosen)
    assert len(chosen) == 12
    assert len(set(by_noise) - set(chosen)) == 2
    assert rank_features(problem, AXES, EVERY, 5, keep=EVERY[:20])[:20] == EVERY[:20]


def test_a_row_of_weight_two_is_two_rows():
    p, q, _ = weakest(12)
    weight = np.where(np.arange(1200) < 300, 2.0, 1.0)
    y = 0.4 * WIDE[:, p] * WIDE[:, q] + NOISE
    rows = np.repeat(np.arange(1200), weight.astype(int))
    scores = [
        standing_out(lambda j, r=r: WIDE[r][:, [j]], EVERY, (w * y[r]), w)
        for r, w in ((np.arange(1200), weight), (rows, np.ones(1500)))
    ]
    assert scores[0] == scores[1]
    assert scores[0][0] == (p, q)


def test_scan_against_its_definition(monkeypatch):
    """One pair after another in double precision; a low limit, so that many pairs pass, in small blocks."""
    monkeypatch.setattr(pair_scan, "_FALSE_ALARM", 60.0)
    monkeypatch.setattr(pair_scan, "_BLOCK", 7)
    columns = {j: np.column_stack([WIDE[:, j], WIDE[:, j] ** 2 - 1]) for j in range(20)}
    columns[4] = columns[4][:, :1]  # two values have one column
    columns[9] = np.zeros((1200, 0))
    expected = {}
    for i, j in pairs_of(20):
        V = (columns[i][:, :, None] * columns[j][:, None, :]).reshape(1200, -1)
        expected[i, j] = np.sum((NOISE @ V) ** 2 / (NOISE**2 @ V**2))
    limit = chi2.isf(60.0 / 190, 4)
    found = standing_out(columns.__getitem__, range(20), 1e-9 * NOISE, np.ones(1200))
    assert set(found) == {t for t in expected if expected[t] > limit}
    assert np.all(np.diff([expected[t] for t in found]) < 0.02)  # ties are broken by position
    assert len(found) > 20
    assert standing_out(columns.__getitem__, range(20), np.zeros(1200), np.ones(1200)) == []


def test_rows_and_features_of_a_scan_are_limited():
    assert pair_scan.most_rows(2000) == 5000
    assert pair_scan.most_rows(pair_scan.most_features()) >= 500


def test_strong_features_come_first():
    y = np.sin(3 * WIDE[:, 7]) + WIDE[:, 2] + 0.3 * NOISE
    assert set(rank_features(problem_of(WIDE, y, "squared"), AXES, EVERY, 8)) >= {2, 7}
    assert rank_features(problem_of(WIDE, y, "squared"), AXES, [3, 1], 5) == [3, 1]
