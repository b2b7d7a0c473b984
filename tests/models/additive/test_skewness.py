"""Means of posteriors: Laplace's likelihood of the prior variances, by differences."""

from dataclasses import replace

import numpy as np
import pytest

from pellucid.features.term_basis import TermBasis, first_picks
from pellucid.losses import as_loss
from pellucid.models.additive.engine.design import intercept_beside, predictor
from pellucid.models.additive.engine.skewness import skewness
from pellucid.models.additive.engine.state import Problem
from pellucid.models.additive.engine.structure import build_axes
from pellucid.solvers.variance_components import Equations

RNG = np.random.default_rng(5)
N = 120
X = RNG.uniform(-1, 1, (N, 2))
ETA = 2.0 * np.sin(3 * X[:, 0]) + X[:, 1]
TARGETS = {
    "logistic": (RNG.random(N) < 1 / (1 + np.exp(-2 * ETA))).astype(float),
    "poisson": RNG.poisson(np.exp(0.5 * ETA)).astype(float),
}
WEIGHT = RNG.integers(1, 3, N).astype(float)


def problem_of(loss):
    return Problem(X, TARGETS[loss], WEIGHT, 0.1 * X[:, 0], as_loss(loss))


def fitted(problem, basis, variance):
    """The mode, by Newton steps, and Laplace's likelihood there."""
    eta = problem.null_predictor
    for _ in range(50):
        moments = problem.moments(basis, eta)
        fit = Equations(moments, 1.0, problem.total).solve(1.0 / variance)
        eta = predictor(problem, basis, fit.beta, intercept_beside(problem, moments, fit.beta))
    moments = problem.moments(basis, eta)
    H = moments.G + np.diag(1.0 / variance)
    value = -problem.value(eta) - 0.5 * np.sum(fit.beta**2 / variance) - 0.5 * np.sum(np.log(variance))
    return fit, moments, eta, value - 0.5 * np.linalg.slogdet(H)[1] - 0.5 * np.log(moments.total)


@pytest.mark.parametrize("loss", TARGETS)
def test_derivatives_of_the_likelihood(loss):
    problem = problem_of(loss)
    axes = build_axes(X, WEIGHT)
    basis = TermBasis.of(axes, first_picks(axes, [(0,), (1,), (0, 1)], 3))
    variance = RNG.uniform(0.2, 1.0, basis.size)
    fit, moments, eta, _ = fitted(problem, basis, variance)
    mean = fit.about_mean(skewness(problem, basis, moments, fit, eta)).beta
    way = 2.0 * (fit.beta - mean)
    by_formula = 0.5 * (fit.beta**2 / variance - fit.edf - fit.beta * way / variance)
    h = 1e-4
    for j in range(basis.size):
        sides = [
            fitted(problem, basis, variance * np.exp(s * h * (np.arange(basis.size) == j)))[3]
            for s in (1, -1)
        ]
        np.testing.assert_allclose(by_formula[j], (sides[0] - sides[1]) / (2 * h), rtol=1e-4, atol=1e-6)
    assert np.max(np.abs(way)) > 0.02


def test_the_mean_is_farther_out_than_the_mode():
    """For classes, whose loss falls off towards clear predictions."""
    problem = problem_of("logistic")
    axes = build_axes(X, WEIGHT)
    basis = TermBasis.of(axes, first_picks(axes, [(0,), (1,)], 2))
    fit, moments, eta, _ = fitted(problem, basis, np.ones(basis.size))
    mean = fit.about_mean(skewness(problem, basis, moments, fit, eta)).beta
    assert mean @ fit.beta > 1.01 * fit.beta @ fit.beta


def test_there_is_nothing_to_mend_for_squared_loss():
    problem = replace(problem_of("poisson"), loss=as_loss("squared"))
    axes = build_axes(X, WEIGHT)
    basis = TermBasis.of(axes, first_picks(axes, [(0,), (1,)], 2))
    fit, moments, eta, _ = fitted(problem, basis, np.ones(basis.size))
    assert not skewness(problem, basis, moments, fit, eta).any()
