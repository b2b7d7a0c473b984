"""Published and promised numbers on the airfoil data."""

import numpy as np
import pytest
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

from pellucid import KernelRidge, LooSearch
from pellucid.kernels import RBF

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def split(airfoil):
    return train_test_split(*airfoil, test_size=0.25, random_state=69)


def rmse(model, X, y):
    return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))


def test_the_published_fit(split):
    X, X_test, y, y_test = split
    scaler = MinMaxScaler().fit(X)
    model = KernelRidge(RBF.from_gamma(1), alpha=0.1, fit_intercept=False).fit(scaler.transform(X), y)
    assert rmse(model, scaler.transform(X_test), y_test) == pytest.approx(3.6731030022, abs=1e-8)


def test_defaults_on_raw_data(split):
    X, X_test, y, y_test = split
    model = KernelRidge("matern").fit(X, y)
    assert rmse(model, X_test, y_test) <= 1.50
    assert model.loo_.rmse <= 1.6


@pytest.mark.slow
def test_one_length_scale_per_feature(split):
    X, X_test, y, y_test = split
    search = LooSearch(KernelRidge("matern"), ard=True).fit(X, y)
    assert rmse(search, X_test, y_test) <= 1.45
    assert search.results_["converged"] == [True]
