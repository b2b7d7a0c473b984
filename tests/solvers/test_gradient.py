"""Closed-form gradients against central differences."""

import numpy as np
import pytest

from pellucid.solvers import CRITERIA, CholeskySolver, criterion_gradient

RNG = np.random.default_rng(3)
N = 10
PHI = RNG.normal(size=(N, 14))
K = PHI @ PHI.T / 14
Y = RNG.normal(size=(N, 2))
DIRECTION = RNG.normal(size=(N, 14))
WEIGHTS = {
    "none": np.ones(N),
    "shares": RNG.uniform(0.1, 1.0, size=N),
    "counts": RNG.integers(1, 4, size=N).astype(float),
}


def value(matrix, weight, alpha, fit_intercept, criterion):
    solver = CholeskySolver.start(matrix.copy(), weight, fit_intercept=fit_intercept)
    return float(solver.fits(Y, np.array([alpha])).criterion(criterion).mean())


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighting", WEIGHTS)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_gradient_is_the_limit_of_differences(criterion, weighting, fit_intercept):
    weight, alpha, h = WEIGHTS[weighting], 0.2, 1e-5
    options = (fit_intercept, criterion)
    found, W, d_log_alpha = criterion_gradient(
        K.copy(), Y, weight, alpha, fit_intercept=fit_intercept, criterion=criterion
    )
    step = DIRECTION @ PHI.T / 14
    step = step + step.T
    up, down = value(K + h * step, weight, alpha, *options), value(K - h * step, weight, alpha, *options)
    assert np.isclose(np.sum(W * step), (up - down) / (2 * h), rtol=1e-6)
    up, down = value(K, weight, alpha * np.exp(h), *options), value(K, weight, alpha * np.exp(-h), *options)
    assert np.isclose(d_log_alpha, (up - down) / (2 * h), rtol=1e-6)
    if criterion != "ml":  # whose value leaves out constants
        assert np.isclose(found, value(K, weight, alpha, *options))
