"""The quadratic that touches a loss, and classes that are all but clear."""

import numpy as np
import pytest

from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor, build_report
from pellucid.features.term_basis import TermBasis, first_picks
from pellucid.losses import Quantile, as_loss
from pellucid.models.additive.engine.hierarchy import Prior
from pellucid.models.additive.engine.loss_numbers import renewed_loss, started
from pellucid.models.additive.engine.penalised_fit import penalised_fit, touching
from pellucid.models.additive.engine.state import Problem
from pellucid.models.additive.engine.structure import build_axes

RNG = np.random.default_rng(11)


@pytest.mark.parametrize("loss", ["logistic", "poisson", "gamma"])
def test_quadratic_has_the_slope_of_the_loss_however_far_off(loss):
    y = np.array([0.0, 1.0, 1.0, 0.0]) + (loss == "gamma")
    eta = np.array([9.0, -9.0, 0.2, -0.1])
    problem = Problem(np.zeros((4, 1)), y, np.array([1.0, 2.0, 3.0, 0.5]), np.zeros(4), as_loss(loss))
    w, z = problem.working(eta)
    np.testing.assert_allclose(w * (eta - z), problem.weight * problem.loss.gradient(y, eta), rtol=1e-6)
    assert np.all(np.abs(z - eta) <= 20.0 * (1 + 1e-9))


def test_rows_on_the_wrong_side_of_clear_classes():
    X = RNG.normal(size=(3000, 4))
    y = X[:, 0] + 0.5 * X[:, 1] > 1.5
    wrong = RNG.choice(3000, 12, replace=False)
    y[wrong] = ~y[wrong]
    model = AdditiveKernelClassifier(interactions=0).fit(X, y)  # a warning would be an error
    P = model.predict_proba(X)
    assert np.mean(np.abs(P[:, 1] - y) > 0.5) < 0.02
    assert -np.log(np.clip(P[np.arange(3000), y.astype(int)], 1e-300, 1)).mean() < 0.06


def test_amounts_whose_squares_overflow():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.exp(X[:, 0]) * rng.gamma(2.0, 0.5, size=120)
    small, large = (AdditiveKernelRegressor(0, loss="gamma").fit(X, unit * y) for unit in (1.0, 1e160))
    assert large.loo_.mse == np.inf
    assert large.loo_.rmse == pytest.approx(1e160 * small.loo_.rmse, rel=1e-6)
    assert large.deviance_explained_ == pytest.approx(small.deviance_explained_, rel=1e-6)
    assert "RMSE" in build_report(large, X, 1e160 * y).html


def test_numbers_of_a_loss_do_not_depend_on_where_its_second_derivative_was_taken():
    """After a step that brings a quantile near its rows, where the loss bends much more."""
    X = RNG.uniform(-1, 1, (150, 1))
    y = np.sin(6 * X[:, 0]) + 0.03 * RNG.normal(size=150)
    problem = Problem(X, y, np.ones(150), np.zeros(150), Quantile(0.1))
    axes = build_axes(X, problem.weight)
    basis, start = TermBasis.of(axes, first_picks(axes, [(0,)], 40)), started(problem)
    state = penalised_fit(start, basis, Prior().with_terms(axes, basis.terms), updates=3)
    found = renewed_loss(problem.loss, problem, state)
    there = renewed_loss(problem.loss, problem, touching(start, state))
    assert found.bandwidth == pytest.approx(there.bandwidth, rel=1e-9)
