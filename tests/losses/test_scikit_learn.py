"""The same numbers as scikit-learn's metrics, with and without weights."""

import numpy as np
import pytest
from sklearn.metrics import (
    hinge_loss,
    log_loss,
    mean_gamma_deviance,
    mean_poisson_deviance,
    mean_squared_error,
)

from pellucid.losses import Gamma, Hinge, Logistic, Poisson, Squared


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def weight(request):
    return np.random.default_rng(9).uniform(size=40) if request.param else None


def _average(rows, weight):
    return np.average(rows, weights=weight)


def test_poisson_deviance(sample, weight):
    y, eta = sample(Poisson(), np.random.default_rng(0))
    expected = mean_poisson_deviance(y, np.exp(eta), sample_weight=weight)
    assert _average(Poisson().deviance(y, eta), weight) == pytest.approx(expected)


def test_gamma_deviance(sample, weight):
    y, eta = sample(Gamma(), np.random.default_rng(0))
    expected = mean_gamma_deviance(y, np.exp(eta), sample_weight=weight)
    assert _average(Gamma().deviance(y, eta), weight) == pytest.approx(expected)


def test_logistic_value_and_deviance(sample, weight):
    y, eta = sample(Logistic(), np.random.default_rng(0))
    expected = log_loss(y, Logistic().mean(eta), sample_weight=weight)
    assert _average(Logistic().value(y, eta), weight) == pytest.approx(expected)
    assert _average(Logistic().deviance(y, eta), weight) == pytest.approx(2 * expected)


def test_logistic_gradient_by_differences_of_log_loss():
    for y in (0, 1):
        p = Logistic().mean([0.7 - 1e-6, 0.7 + 1e-6])
        low, high = (log_loss([y], [[1 - q, q]], labels=[0, 1]) for q in p)
        assert Logistic().gradient([y], [0.7])[0] == pytest.approx((high - low) / 2e-6, rel=1e-6)


def test_hinge_value(sample, weight):
    y, eta = sample(Hinge(), np.random.default_rng(0))
    assert _average(Hinge().value(y, eta), weight) == pytest.approx(hinge_loss(y, eta, sample_weight=weight))


def test_squared_deviance(sample, weight):
    y, eta = sample(Squared(), np.random.default_rng(0))
    expected = mean_squared_error(y, eta, sample_weight=weight)
    assert _average(Squared().deviance(y, eta), weight) == pytest.approx(expected)


def test_the_best_constant_is_that_of_unpenalised_regression():
    from sklearn.linear_model import GammaRegressor, PoissonRegressor

    rng = np.random.default_rng(1)
    y, weight, X = rng.integers(1, 6, 30).astype(float), rng.uniform(0.1, 1, 30), np.zeros((30, 1))
    for loss, model in ((Poisson(), PoissonRegressor(tol=1e-8)), (Gamma(), GammaRegressor(tol=1e-8))):
        model.fit(X, y, sample_weight=weight)
        assert loss.best_constant(y, weight) == pytest.approx(model.intercept_, abs=1e-6)
