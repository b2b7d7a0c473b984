"""Solutions satisfy their optimality conditions, with weights and offsets, whatever the alpha."""

import numpy as np
import pytest
from glm_oracles import SMOOTH, gradient, rbf, sample, side, spectral

from pellucid.losses import Hinge, Multinomial, as_loss
from pellucid.solvers import GLMProblem, fit_glm, fit_hinge, fit_multinomial

N = 60


def setting(name, fit_intercept=True):
    X, y = sample(name, N)
    weight, offset = side(N)
    if name == "multinomial":
        offset = np.column_stack([offset, -offset, offset**2])
    return spectral(rbf(X)), GLMProblem(y, weight, offset, as_loss(name), fit_intercept)


@pytest.mark.parametrize(("alpha", "fit_intercept"), [(1e-4, True), (0.1, False), (10.0, True), (1e4, False)])
@pytest.mark.parametrize("name", SMOOTH)
def test_gradient_vanishes(name, alpha, fit_intercept):
    Z, problem = setting(name, fit_intercept)
    fit = fit_glm(Z, problem, alpha)
    eta = problem.offset + Z @ fit.delta + fit.intercept
    g = problem.weight * problem.loss.gradient(problem.y, eta)
    scale = np.abs(problem.weight * problem.loss.gradient(problem.y, problem.offset)).sum()
    assert fit.converged
    np.testing.assert_allclose(alpha * fit.delta + Z.T @ g, 0, atol=1e-10 * scale)
    np.testing.assert_allclose(fit.eta, eta, rtol=1e-12, atol=1e-12)
    f = Z @ fit.delta
    np.testing.assert_allclose(Z @ (Z.T @ fit.dual_coef), f, atol=1e-8 * np.abs(f).max())
    if fit_intercept:
        assert abs(g.sum()) < 1e-10 * scale
    else:
        assert fit.intercept == 0


@pytest.mark.parametrize("name", SMOOTH)
def test_gradient_of_the_loss_itself_vanishes(name):
    Z, problem = setting(name)
    fit = fit_glm(Z, problem, 0.1)
    g = problem.weight * gradient(name, problem.y, fit.eta)
    np.testing.assert_allclose(0.1 * fit.delta + Z.T @ g, 0, atol=1e-6)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [1e-4, 10.0])
def test_multinomial(alpha, fit_intercept):
    Z, problem = setting("multinomial", fit_intercept)
    fit = fit_multinomial(Z, problem, alpha)
    eta = problem.offset + Z @ fit.delta + fit.intercept
    g = problem.weight[:, None] * Multinomial().gradient(problem.y, eta)
    assert fit.converged
    np.testing.assert_allclose(alpha * fit.delta + Z.T @ g, 0, atol=1e-10 * problem.weight.sum())
    np.testing.assert_allclose(Z @ (Z.T @ fit.dual_coef), Z @ fit.delta, atol=1e-7)
    np.testing.assert_allclose(fit.delta.sum(axis=1), 0, atol=1e-7)
    if fit_intercept:
        np.testing.assert_allclose(g.sum(axis=0), 0, atol=1e-10 * problem.weight.sum())
    else:
        assert not fit.intercept.any()


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize("alpha", [1e-6, 0.1, 1e4])
def test_hinge_has_no_duality_gap(alpha, offset, fit_intercept):
    Z, p = setting("hinge", fit_intercept)
    problem = GLMProblem(p.y, p.weight, p.offset if offset else 0 * p.offset, Hinge(), fit_intercept)
    fit = fit_hinge(Z, problem, alpha)
    t = 2.0 * problem.y - 1.0
    beta = t * fit.dual_coef
    assert fit.converged
    assert np.all(beta >= 0)
    assert np.all(beta <= problem.weight / alpha * (1 + 1e-12))
    np.testing.assert_allclose(Z.T @ fit.dual_coef, fit.delta, atol=1e-9)
    if fit_intercept:
        assert abs(fit.dual_coef.sum()) < 1e-8 * np.abs(fit.dual_coef).sum()
    eta = problem.offset + Z @ fit.delta + fit.intercept
    primal = problem.objective(eta, fit.delta, alpha)
    dual = alpha * ((1.0 - t * problem.offset) @ beta - 0.5 * fit.delta @ fit.delta)
    assert primal - dual == pytest.approx(0, abs=1e-8 * primal)


@pytest.mark.parametrize("solve", ["glm", "multinomial"])
def test_warm_start_ends_where_a_cold_one_does(solve):
    name = "poisson" if solve == "glm" else "multinomial"
    Z, problem = setting(name)
    fit = (
        (lambda a, **k: fit_glm(Z, problem, a, **k))
        if solve == "glm"
        else (lambda a, **k: fit_multinomial(Z, problem, a, **k))
    )
    warm = fit(0.01, start=fit(0.1))
    np.testing.assert_allclose(warm.delta, fit(0.01).delta, atol=1e-9)


def test_too_few_steps_are_owned_up_to():
    Z, problem = setting("poisson")
    fit = fit_glm(Z, problem, 1e-4, max_iter=1)
    assert not fit.converged
    assert fit.optimality > 1e-7
