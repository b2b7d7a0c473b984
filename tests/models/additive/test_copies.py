"""Copies of features and of rows, and noise alone: nothing is lost to copies, nothing is found in noise."""

import numpy as np
import pytest

from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor


def test_copies_of_a_feature_do_not_push_each_other_out():
    """A pair that matters stays when both of its features are there twice."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (1200, 3))
    y = rng.random(1200) < 1 / (1 + np.exp(-6 * X[:, 0] * X[:, 1]))
    twice = np.column_stack([X, X[:, :2]])
    once, model = (AdditiveKernelClassifier().fit(Z, y) for Z in (X, twice))
    assert (0, 1) in once.terms_
    copies = [t for t in model.terms_ if len(t) == 2 and {j % 3 for j in t} == {0, 1}]
    assert copies
    new = rng.uniform(-1, 1, (500, 3))
    eta = model.decision_function(np.column_stack([new, new[:, :2]]))
    np.testing.assert_allclose(eta, once.decision_function(new), atol=0.15 * np.std(eta))


@pytest.mark.parametrize("seed", [1, 4])
def test_noise_is_not_interpolated_by_many_features(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 100)), rng.normal(size=60)
    model = AdditiveKernelRegressor().fit(X, y)
    assert model.edf_ < 15
    assert model.predict(rng.normal(size=(200, 100))).std() < 0.5


def test_rows_given_twice_do_not_mean_that_there_is_no_noise():
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (150, 3))
    y = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=150)
    once = AdditiveKernelRegressor().fit(X, y)
    some = rng.integers(0, 150, 300)
    model = AdditiveKernelRegressor().fit(X[some], y[some])
    assert model.edf_ < 2 * once.edf_ + 10
    assert model.scale_ == pytest.approx(0.25, rel=0.5)


def test_repeated_measurements_that_differ_tell_of_the_noise():
    rng = np.random.default_rng(3)
    X = np.repeat(rng.uniform(-1, 1, (60, 2)), 5, axis=0)
    y = X[:, 0] + 0.3 * rng.normal(size=300)
    assert AdditiveKernelRegressor().fit(X, y).scale_ == pytest.approx(0.09, rel=0.3)


def test_nothing_to_fit_is_fitted_in_silence(capfd):
    AdditiveKernelRegressor().fit(np.ones((50, 2)), np.arange(50.0))
    AdditiveKernelRegressor().fit(np.ones((1, 2)), np.ones(1))
    AdditiveKernelRegressor().fit(np.random.default_rng(0).normal(size=(30, 2)), np.full(30, 2.0))
    out, err = capfd.readouterr()
    assert not out
    assert not err
