"""Many weak pairs of classes and counts that share one variance."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

import pellucid
from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor
from pellucid.losses import as_loss
from pellucid.models.additive.engine import policy, pooled_pairs
from pellucid.models.additive.engine.main_effects import fit_main_effects
from pellucid.models.additive.engine.pooled_pairs import (
    _all_pairs,
    _between,
    _Dual,
    _most_used,
    find_pooled_variance,
    fit_pooled_pairs,
)
from pellucid.models.additive.engine.state import Problem
from pellucid.models.additive.engine.structure import build_axes

RNG = np.random.default_rng(9)
N, P = 900, 12


def drawn(eta):
    return (RNG.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(float)


def signs(n=N):
    return RNG.choice([-1.0, 1.0], size=(n, P))


def many_weak(X, size=0.25):
    """A predictor to which all pairs of features contribute a little."""
    W = size * np.triu(np.random.default_rng(1).normal(size=(P, P)), 1)
    return np.einsum("ni,ij,nj->n", X, W, X)


def prepared(X, y, loss="logistic", weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    problem = Problem(X, y, weight, np.zeros(len(y)), as_loss(loss))
    axes = build_axes(X, weight, [None] * X.shape[1])
    return problem, axes, fit_main_effects(problem, axes, range(X.shape[1]), 1.0)[1]


def n_pairs(model):
    return sum(len(term) == 2 for term in model.terms_)


@pytest.mark.parametrize("block", [7, 256])
def test_kernel_of_all_pairs_is_the_sum_of_their_kernels(monkeypatch, block):
    monkeypatch.setattr(pooled_pairs, "_BLOCK", block)
    columns = [RNG.normal(size=(30, m)) for m in (2, 3, 1, 4)]
    k = [A @ A.T for A in columns]
    np.testing.assert_allclose(_all_pairs(columns), sum(a * b for a, b in combinations(k, 2)), rtol=1e-12)


@pytest.mark.parametrize("variance", [0.25, 1.0, 4.0])
def test_fit_in_the_dual_minimises_the_penalised_loss(variance):
    X = RNG.normal(size=(60, 3))
    problem, _, main = prepared(X, drawn(X[:, 0]))
    dual = _Dual(problem, main)
    A = RNG.normal(size=(60, 4)).astype(np.float32)
    alpha, b, eta = dual.fit(A @ A.T, variance, dual.eta, 12)

    def loss(theta):
        return dual.problem.value(A @ theta[1:] + theta[0]) + theta[1:] @ theta[1:] / (2 * variance)

    best = minimize(loss, np.zeros(5), tol=1e-10)
    np.testing.assert_allclose(eta, A @ best.x[1:] + best.x[0], atol=2e-3)
    np.testing.assert_allclose(A.T @ alpha, best.x[1:], atol=2e-3)
    assert b == pytest.approx(best.x[0], abs=2e-3)


def test_columns_of_strong_pairs_come_first():
    X = RNG.normal(size=(N, 6))
    problem, axes, main = prepared(X, drawn(2 * X[:, 1] * X[:, 4] + 2 * X[:, 0] * X[:, 2]))
    picks, eta = _most_used(_Dual(problem, main), axes, range(6), 2)
    assert set(picks) == {(1, 4), (0, 2)}
    assert all(0 in a and 0 in b for a, b in picks.values())
    assert len(eta) == N
    assert np.corrcoef(eta, X[:, 1] * X[:, 4] + X[:, 0] * X[:, 2])[0, 1] > 0.7


def test_pairs_that_help_together_stay_and_predict_new_rows():
    X, new = signs(), signs(4000)
    model = AdditiveKernelClassifier().fit(X, drawn(many_weak(X)))
    assert n_pairs(model) > 30
    eta, truth = model.decision_function(new), many_weak(new)
    assert np.corrcoef(eta, truth)[0, 1] > 0.6
    np.testing.assert_allclose(model.contributions(new).sum(axis=1) + model.intercept_, eta, atol=1e-10)
    p = {name: p_value for name, _, p_value in model.tests_[0]}
    assert all(np.isfinite(list(p.values())))


def test_an_edit_of_pooled_pairs_knows_that_its_effects_do_not_jump(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.gamma(1.0, size=(N, P)) * (rng.random((N, P)) < 0.6)  # zeros stand out
    y = (rng.random(N) < 1 / (1 + np.exp(-many_weak(np.minimum(X, 2.0) - 0.5, 1.5)))).astype(float)
    model = AdditiveKernelClassifier().fit(X, y)
    assert n_pairs(model) > 30
    assert model._refit_spec.jumps == (False,)
    rare = model.term_names_[int(np.argmin(model.importances_.values))]
    pellucid.save(model, tmp_path / "pooled.pellucid")
    same = pellucid.load(tmp_path / "pooled.pellucid").edit(X, y, smooth={rare: 1.0})
    np.testing.assert_allclose(same.decision_function(X), model.decision_function(X), atol=1e-5)
    few = AdditiveKernelClassifier(interactions=0).fit(X, y)
    assert few._refit_spec.jumps == (True,)


@pytest.mark.parametrize("lowest", [0.2, 1.0, 3.1])
def test_variance_is_found_between_those_tried(lowest):
    loss = (np.log(policy.VARIANCES) - np.log(lowest)) ** 2
    assert _between(loss, int(np.argmin(loss))) == pytest.approx(lowest)


def test_variance_stays_at_one_tried_where_there_is_no_parabola():
    flat = np.ones(len(policy.VARIANCES))
    for k in range(len(policy.VARIANCES)):
        assert _between(flat, k) == policy.VARIANCES[k]
    assert _between(np.array([np.inf, np.inf, 1.0, 2.0, 3.0]), 2) == policy.VARIANCES[2]


def test_counts_have_pooled_pairs_too():
    X = signs()
    y = RNG.poisson(np.exp(many_weak(X, 0.1))).astype(float)
    assert n_pairs(AdditiveKernelRegressor(loss="poisson").fit(X, y)) > 30


def test_noise_is_not_pooled():
    found = 0
    for _ in range(6):
        X = signs()
        problem, axes, main = prepared(X, drawn(X[:, 0]))
        found += find_pooled_variance(problem, axes, range(P), main, 3) is not None
    assert found <= 1


def test_pooled_pairs_cannot_be_seen_where_all_rows_are_equal():
    problem, axes, main = prepared(np.ones((N, 2)), drawn(np.zeros(N)))
    assert find_pooled_variance(problem, axes, [0, 1], main, 3) is None


def test_order_of_rows_and_repeats_for_weights():
    X = signs(500)
    y = drawn(many_weak(X))
    weight = RNG.integers(1, 4, 500).astype(float)
    order = RNG.permutation(500)
    rows = np.repeat(np.arange(500), weight.astype(int))
    base, axes, main = prepared(X, y, weight=weight)
    cases = [
        (base, main),
        (base.part(order), prepared(X[order], y[order], weight=weight[order])[2]),
        (prepared(X[rows], y[rows])[0], prepared(X[rows], y[rows])[2]),
    ]
    fits = [fit_pooled_pairs(problem, axes, range(P), state, 0.25) for problem, state in cases]
    first, shuffled, repeated = (dict(zip(fit.basis.keys, fit.fit.edf, strict=True)) for fit in fits)
    assert first.keys() == shuffled.keys() == repeated.keys()
    np.testing.assert_allclose(list(shuffled.values()), list(first.values()), rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(list(repeated.values()), list(first.values()), rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(fits[1].eta, fits[0].eta[order], atol=1e-5)
    np.testing.assert_allclose(fits[2].eta, fits[0].eta[rows], atol=1e-5)
