"""Losses on features that are seen through products alone: against Newton's method and liblinear."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from pellucid.losses import Hinge, Logistic, SquaredHinge
from pellucid.solvers import GLMProblem, fit_glm
from pellucid.solvers.matvec_glm import MatvecFit, MatvecProblem, Products, factor, fit_matvec, hinge_gap
from pellucid.solvers.smooth_hinge import _SmoothHinge

N, F = 300, 12
RNG = np.random.default_rng(0)
Z = RNG.normal(size=(N, F))
Z -= Z.mean(axis=0)
T = (Z[:, 0] + 0.5 * Z[:, 1] ** 2 + 0.7 * RNG.normal(size=N) > 0.3).astype(float)
ONE = np.ones(N)


def gram(h):
    mean = h @ Z / h.sum()
    return (Z * h[:, None]).T @ Z - h.sum() * np.outer(mean, mean)


PRODUCTS = Products(lambda w: Z @ w, lambda r: Z.T @ r, gram)


def start(alpha):
    return MatvecFit(np.zeros(F), 0.0, np.zeros(N), factor(gram(0.5 * ONE), alpha))


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge()], ids=repr)
@pytest.mark.parametrize("alpha", [0.01, 1.0])
@pytest.mark.parametrize("weight", [ONE, RNG.integers(0, 3, N).astype(float)], ids=["equal", "weights"])
def test_agrees_with_newton(loss, alpha, weight):
    kept = weight > 0
    exact = fit_glm(Z[kept], GLMProblem(T[kept], weight[kept], np.zeros(int(kept.sum())), loss), alpha)
    fit = fit_matvec(MatvecProblem(PRODUCTS, T, weight, loss, alpha), start(alpha))
    assert fit.converged
    np.testing.assert_allclose(fit.eta, Z @ fit.w + fit.b, atol=1e-10)
    np.testing.assert_allclose(fit.w, exact.delta, atol=2e-3)
    assert fit.b == pytest.approx(exact.intercept, abs=2e-3)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 10.0])
def test_hinge_objective_is_liblinears(alpha):
    fit = fit_matvec(MatvecProblem(PRODUCTS, T, ONE, Hinge(), alpha), start(alpha))

    def objective(w, b):
        return Hinge().value(T, Z @ w + b).sum() + 0.5 * alpha * w @ w

    machine = LinearSVC(loss="hinge", C=1.0 / alpha, intercept_scaling=10.0, tol=1e-4, max_iter=1_000_000)
    machine.fit(Z, T)
    expected = objective(machine.coef_[0], machine.intercept_[0])
    assert objective(fit.w, fit.b) <= (1.0 + 1e-3) * expected
    assert fit.gap <= 1e-3
    # the gap is a bound: no weights whatever do better
    assert expected >= (1.0 - fit.gap - 1e-6) * objective(fit.w, fit.b)


def test_the_gap_tells_a_poor_fit():
    problem = MatvecProblem(PRODUCTS, T, ONE, _SmoothHinge(0.1), 1.0)
    poor = MatvecFit(np.zeros(F), 0.0, np.zeros(N), np.eye(F))
    assert hinge_gap(problem, poor) > 0.05


@pytest.mark.parametrize("mu", [1.0, 0.1])
def test_smooth_hinge_lies_below_the_hinge_by_half_its_width_at_most(mu):
    eta = np.linspace(-3, 3, 400)
    smooth = _SmoothHinge(mu)
    for y in (0.0, 1.0):
        target = np.full(400, y)
        below = Hinge().value(target, eta) - smooth.value(target, eta)
        assert below.min() >= -1e-12
        assert below.max() == pytest.approx(0.5 * mu, rel=1e-6)
        slope = np.gradient(smooth.value(target, eta), eta)
        np.testing.assert_allclose(slope, smooth.gradient(target, eta), atol=0.02 / mu)
        inside = smooth.curvature(target, eta)
        assert set(np.unique(inside)) <= {0.0, 1.0 / mu}
