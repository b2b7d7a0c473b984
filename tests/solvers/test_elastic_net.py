"""Elastic nets of any loss: against scikit-learn, and against the conditions of optimality."""

import numpy as np
import pytest
from sklearn.linear_model import ElasticNet, LogisticRegression

from pellucid.losses import Logistic, Squared, SquaredHinge
from pellucid.solvers.elastic_net import SparseFit, SparseProblem, _Net, elastic_net_path, quadratic_path
from pellucid.solvers.smooth_hinge import _SmoothHinge

N, P = 200, 30
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, P)) @ (np.eye(P) + 0.3 * RNG.normal(size=(P, P)))
X -= X.mean(axis=0)
X /= X.std(axis=0)
Y = X[:, 0] - 0.5 * X[:, 3] + RNG.normal(size=N)
T = (Y > 0.3).astype(float)
EQUAL = np.full(N, 1.0 / N)
STRENGTHS = [0.3, 0.1, 0.01]
LOSSES = [Squared(), Logistic(), SquaredHinge(), _SmoothHinge(0.2), _SmoothHinge(0.02)]


@pytest.mark.parametrize("ratio", [0.5, 1.0])
def test_squared_loss_is_scikit_learns(ratio):
    Q, q = X.T @ X / N, X.T @ (Y - Y.mean()) / N
    path = quadratic_path(Q, q, Y.var(), STRENGTHS, ratio)
    for strength, coef in zip(STRENGTHS, path, strict=True):
        expected = ElasticNet(alpha=strength, l1_ratio=ratio, tol=1e-12, max_iter=100_000).fit(X, Y)
        np.testing.assert_allclose(coef, expected.coef_, atol=1e-8)
        np.testing.assert_array_equal(coef == 0, expected.coef_ == 0)


def test_logistic_loss_is_scikit_learns():
    for strength, fit in zip(
        STRENGTHS, elastic_net_path(SparseProblem(X, T, EQUAL, Logistic()), STRENGTHS, 0.5), strict=True
    ):
        expected = LogisticRegression(
            C=1.0 / (strength * N), l1_ratio=0.5, solver="saga", tol=1e-9, max_iter=50_000
        ).fit(X, T)
        np.testing.assert_allclose(fit.coef, expected.coef_[0], atol=1e-6)
        assert fit.intercept == pytest.approx(float(expected.intercept_[0]), abs=1e-6)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("ratio", [0.5, 1.0])
def test_conditions_of_optimality(loss, ratio):
    y = Y if isinstance(loss, Squared) else T
    problem = SparseProblem(X, y, EQUAL, loss)
    for strength, fit in zip(STRENGTHS, elastic_net_path(problem, STRENGTHS, ratio), strict=True):
        g = EQUAL * loss.gradient(y, X @ fit.coef + fit.intercept)
        slope = X.T @ g + strength * (1 - ratio) * fit.coef
        zero = fit.coef == 0
        assert abs(g.sum()) < 1e-4
        assert np.all(np.abs(slope[zero]) <= strength * ratio + 1e-4)
        np.testing.assert_allclose(slope[~zero], -strength * ratio * np.sign(fit.coef[~zero]), atol=1e-4)


@pytest.mark.parametrize("loss", LOSSES[1:], ids=repr)
def test_the_largest_strength_drops_everything_and_hardly_less_does_not(loss):
    problem = SparseProblem(X, T, EQUAL, loss)
    top = problem.largest(0.7)
    none, some = elastic_net_path(problem, [1.001 * top, 0.97 * top], 0.7)
    assert not none.coef.any()
    assert none.intercept == pytest.approx(loss.best_constant(T, EQUAL), abs=1e-6)
    assert some.coef.any()


@pytest.mark.parametrize("loss", LOSSES[1:4], ids=repr)
def test_weights_count_rows(loss):
    copies = np.random.default_rng(1).integers(1, 4, N)
    rows = np.repeat(np.arange(N), copies)
    one = SparseProblem(X, T, copies / copies.sum(), loss)
    many = SparseProblem(X[rows], T[rows], np.full(len(rows), 1.0 / len(rows)), loss)
    a, b = (next(elastic_net_path(p, [0.05], 0.8)) for p in (one, many))
    np.testing.assert_allclose(a.coef, b.coef, atol=1e-6)


def test_equal_columns_share():
    twin = X.copy()
    twin[:, 1] = twin[:, 0]
    fit = next(elastic_net_path(SparseProblem(twin, T, EQUAL, Logistic()), [0.05], 0.5))
    assert fit.coef[0] == pytest.approx(fit.coef[1], abs=1e-6)
    assert fit.coef[0] != 0


def test_where_it_starts_does_not_matter():
    problem = SparseProblem(X, T, EQUAL, Logistic())
    cold = next(elastic_net_path(problem, [0.02], 0.9))
    start = SparseFit(np.random.default_rng(1).normal(size=P), 1.0)
    warm = next(elastic_net_path(problem, [0.02], 0.9, start=start))
    np.testing.assert_allclose(warm.coef, cold.coef, atol=1e-6)


def test_float32_columns_are_near():
    problems = (SparseProblem(X.astype(t), T, EQUAL, Logistic()) for t in (np.float64, np.float32))
    exact, rough = (next(elastic_net_path(p, [0.05], 0.9)) for p in problems)
    np.testing.assert_allclose(rough.coef, exact.coef, atol=1e-4)


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge()])
def test_columns_that_join_a_few_at_a_time_give_the_same_path(loss, monkeypatch):
    rng = np.random.default_rng(0)
    n, p = 40, 600
    X = rng.normal(size=(n, p))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=n) > 0).astype(float)
    problem = SparseProblem(X, y, np.full(n, 1.0 / n), loss)
    grid = problem.largest(0.5) * np.geomspace(1.0, 0.02, 6)
    at_once = list(elastic_net_path(problem, grid, 0.5, tolerance=1e-13))
    monkeypatch.setattr("pellucid.solvers.elastic_net._ROOM", 1)
    joined = []
    newton = _Net._newton

    def counted(net, working, *rest):
        joined.append(len(working))
        return newton(net, working, *rest)

    monkeypatch.setattr(_Net, "_newton", counted)
    few = list(elastic_net_path(problem, grid, 0.5, tolerance=1e-13))
    assert max(joined) < p / 2
    for one, other in zip(at_once, few, strict=True):
        np.testing.assert_allclose(other.coef, one.coef, atol=1e-6)
        assert other.intercept == pytest.approx(one.intercept, abs=1e-6)
