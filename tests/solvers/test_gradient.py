"""Closed-form gradients against central differences."""

from dataclasses import dataclass

import numpy as np
import pytest

from pellucid.solvers import CRITERIA, CholeskySolver, criterion_gradient

N = 10


@dataclass
class Problem:
    K: np.ndarray
    step: np.ndarray  # a direction in which kernel matrices may move
    Y: np.ndarray
    weights: dict[str, np.ndarray]

    def value(self, criterion, weight, alpha, fit_intercept, K=None):
        """The criterion as the solver of the fits has it."""
        if criterion == "mixed":
            by = [self.value(name, weight, alpha, fit_intercept, K) for name in ("ml", "loo")]
            return by[0] + 0.5 * np.log(by[1])
        solver = CholeskySolver.start(
            (self.K if K is None else K).copy(), weight, fit_intercept=fit_intercept
        )
        return float(solver.fits(self.Y, np.array([alpha])).criterion(criterion).mean())


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    features = rng.normal(size=(N, 14))
    step = rng.normal(size=(N, 14)) @ features.T / 14
    weights = {
        "none": np.ones(N),
        "shares": rng.uniform(0.1, 1.0, size=N),
        "counts": rng.integers(1, 4, size=N).astype(float),
    }
    return Problem(features @ features.T / 14, step + step.T, rng.normal(size=(N, 2)), weights)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighting", ["none", "shares", "counts"])
@pytest.mark.parametrize("criterion", [*CRITERIA, "mixed"])
def test_gradient_is_the_limit_of_differences(problem, criterion, weighting, fit_intercept):
    weight, alpha, h = problem.weights[weighting], 0.2, 1e-5
    options = {"fit_intercept": fit_intercept}

    def difference(up, down):
        return (
            problem.value(criterion, weight, **up, **options)
            - problem.value(criterion, weight, **down, **options)
        ) / (2 * h)

    found, W, d_log_alpha = criterion_gradient(
        problem.K.copy(), problem.Y, weight, alpha, criterion=criterion, **options
    )
    by_K = difference(
        {"alpha": alpha, "K": problem.K + h * problem.step},
        {"alpha": alpha, "K": problem.K - h * problem.step},
    )
    by_alpha = difference({"alpha": alpha * np.exp(h)}, {"alpha": alpha * np.exp(-h)})
    assert np.isclose(np.sum(W * problem.step), by_K, rtol=1e-6)
    assert np.isclose(d_log_alpha, by_alpha, rtol=1e-6)
    # the likelihood leaves out what depends on neither: compare how the criterion changes
    other = criterion_gradient(problem.K.copy(), problem.Y, weight, 0.5, criterion=criterion, **options)[0]
    change = problem.value(criterion, weight, 0.5, **options) - problem.value(
        criterion, weight, alpha, **options
    )
    assert np.isclose(other - found, change)
    if criterion in ("loo", "gcv"):
        assert np.isclose(found, problem.value(criterion, weight, alpha, **options))


@pytest.mark.parametrize("criterion", ["ml", "mixed"])
def test_the_unit_of_targets_shifts_likelihoods(problem, criterion):
    """It adds a constant, so it does not decide; errors are compared by ratios and so neither do theirs."""
    weight, options = problem.weights["counts"], {"fit_intercept": True, "criterion": criterion}
    value, W, d = criterion_gradient(problem.K.copy(), problem.Y, weight, 0.2, **options)
    scaled, W_scaled, d_scaled = criterion_gradient(problem.K.copy(), 1e3 * problem.Y, weight, 0.2, **options)
    assert np.isclose(scaled - value, (2 if criterion == "mixed" else 1) * np.log(1e3))
    assert np.allclose(W_scaled, W)
    assert np.isclose(d_scaled, d)
