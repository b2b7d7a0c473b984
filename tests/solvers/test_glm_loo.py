"""Approximate leave-one-out against fits without the row; exact for the squared loss."""

import numpy as np
import pytest
from glm_oracles import rbf, sample, side, spectral

from pellucid import KernelRidge
from pellucid.losses import as_loss
from pellucid.solvers import GLMProblem, fit_glm
from pellucid.solvers.alpha_search import choose_by_loo


def by_refits(Z, problem, alpha, start):
    n = len(problem.y)
    left_out = np.empty(n)
    for i in range(n):
        rest = np.flatnonzero(np.arange(n) != i)
        fit = fit_glm(Z[rest], problem.rows(rest), alpha, start=start)
        left_out[i] = problem.offset[i] + Z[i] @ fit.delta + fit.intercept
    return left_out


@pytest.fixture(scope="module", params=[("logistic", 0), ("logistic", 1), ("logistic", 2), ("poisson", 0)])
def chosen(request):
    name, seed = request.param
    X, y = sample(name, 200, seed=seed)
    Z = spectral(rbf(X, gamma=0.15))
    problem = GLMProblem(y, np.ones(200), np.zeros(200), as_loss(name))
    return Z, problem, choose_by_loo(Z, [problem], None).best


@pytest.mark.parametrize("factor", [0.1, 1.0, 10.0])
def test_close_to_true_refits(chosen, factor):
    Z, problem, alpha = chosen
    fit = fit_glm(Z, problem, factor * alpha)
    approximate = fit.loo_eta(Z, problem, np.ones(len(Z)))
    true = by_refits(Z, problem, factor * alpha, fit)
    assert np.corrcoef(approximate, true)[0, 1] > 0.999
    deviance = problem.loss.deviance(problem.y, approximate).mean()
    assert deviance == pytest.approx(problem.loss.deviance(problem.y, true).mean(), rel=0.01)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_exact_for_squared_loss(fit_intercept):
    X, y = sample("squared", 40)
    weight, offset = side(40)
    Z = spectral(rbf(X))
    problem = GLMProblem(y, weight, offset, as_loss("squared"), fit_intercept)
    fit = fit_glm(Z, problem, 0.1)
    np.testing.assert_allclose(
        fit.loo_eta(Z, problem, np.ones(len(Z))), by_refits(Z, problem, 0.1, fit), atol=1e-9
    )


def test_equal_to_kernel_ridge():
    X, y = sample("squared", 50)
    Z = spectral(rbf(X))
    problem = GLMProblem(y, np.ones(50), np.zeros(50), as_loss("squared"))
    fit = fit_glm(Z, problem, 0.1)
    ridge = KernelRidge("precomputed", alpha=0.1).fit(rbf(X), y)
    np.testing.assert_allclose(fit.loo_eta(Z, problem, np.ones(len(Z))), ridge.loo_.predictions, atol=1e-9)


def test_multiplicity_leaves_one_copy_out():
    X, y = sample("poisson", 30)
    copies = np.arange(30) % 3 + 1
    index = np.repeat(np.arange(30), copies)
    Z = spectral(rbf(X))
    problem = GLMProblem(y, copies.astype(float), np.zeros(30), as_loss("poisson"))
    repeated = GLMProblem(y[index], np.ones(len(index)), np.zeros(len(index)), as_loss("poisson"))
    one, many = fit_glm(Z, problem, 0.3), fit_glm(Z[index], repeated, 0.3)
    np.testing.assert_allclose(
        one.loo_eta(Z, problem, copies)[index],
        many.loo_eta(Z[index], repeated, np.ones(len(index))),
        atol=1e-9,
    )
