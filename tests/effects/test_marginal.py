"""Marginal effects against differences of predictions, standard errors against their formula."""

import numpy as np
import pytest
from oracles import bordered, curve

from pellucid import KernelRidge
from pellucid.kernels import RBF, Categorical, Linear, Matern, Polynomial

X, Y = curve(25, 3, q=2)
X_NEW = curve(6, 3, seed=3)[0]
WEIGHT = np.random.default_rng(0).uniform(0.2, 3.0, size=25)


@pytest.mark.parametrize(
    "kernel", ["rbf", RBF([0.7, 1.0, 2.0]), Matern(nu=2.5) + Linear(), Polynomial(2)], ids=str
)
def test_effects_are_derivatives_of_predictions(kernel):
    model = KernelRidge(kernel, alpha=0.1).fit(X, Y, sample_weight=WEIGHT)
    for output in range(2):
        effects = model.marginal_effects(X_NEW, output=output)
        for c in range(3):
            h = 1e-5 * np.eye(3)[c]
            difference = (model.predict(X_NEW + h) - model.predict(X_NEW - h))[:, output] / 2e-5
            assert np.allclose(effects.pointwise[:, c], difference, rtol=1e-5, atol=1e-7)
        assert np.allclose(effects.average, effects.pointwise.mean(axis=0))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weight", [np.ones(25), WEIGHT], ids=["plain", "weighted"])
def test_standard_errors_are_the_explicit_formula(weight, fit_intercept):
    kernel, alpha = RBF(1.2), 0.3
    model = KernelRidge(kernel, alpha=alpha, fit_intercept=fit_intercept).fit(
        X, Y[:, 0], sample_weight=weight
    )
    B = np.linalg.inv(bordered(kernel(X), weight, alpha, fit_intercept))[:25, :25]
    effects = model.marginal_effects(X_NEW)
    sigma = np.sqrt(model.noise_variance_[0])
    for c, G in enumerate(kernel.input_gradients(X_NEW, X)):
        errors = sigma * np.linalg.norm((G @ B) / np.sqrt(weight), axis=1)
        assert np.allclose(effects.pointwise_error[:, c], errors)
        average = sigma * np.linalg.norm((G.mean(axis=0) @ B) / np.sqrt(weight))
        assert effects.average_error[c] == pytest.approx(average)


def test_standard_errors_are_the_spread_of_repeated_experiments():
    rng = np.random.default_rng(1)
    truth = KernelRidge(RBF(1.5), alpha=0.1).fit(X, Y[:, 0]).predict(X)
    noise = 0.3
    runs = [
        KernelRidge(RBF(1.5), alpha=0.1).fit(X, truth + noise * rng.normal(size=25)).marginal_effects(X_NEW)
        for _ in range(300)
    ]
    spread = np.std([run.average for run in runs], axis=0)
    expected = np.sqrt(np.mean([run.average_error**2 for run in runs], axis=0))
    assert np.allclose(spread, expected, rtol=0.2)


def test_a_line_has_its_slope_everywhere():
    model = KernelRidge(Linear(), alpha=1e-8).fit(X, X @ [1.0, -2.0, 0.5] + 3.0)
    effects = model.marginal_effects()
    assert np.allclose(effects.pointwise, [1.0, -2.0, 0.5], atol=1e-6)
    assert effects.pointwise.shape == (25, 3)
    assert np.allclose(model.coef_, [1.0, -2.0, 0.5], atol=1e-6)


def test_it_prints_as_a_table():
    effects = KernelRidge(RBF(), alpha=0.1).fit(X, Y[:, 0]).marginal_effects()
    lines = str(effects).splitlines()
    assert lines[0].split() == ["feature", "average", "std", "err", "z", "25", "%", "75", "%"]
    assert [line.split()[0] for line in lines[1:]] == ["x0", "x1", "x2"]
    z = float(lines[1].split()[3])
    assert z == pytest.approx(effects.average[0] / effects.average_error[0], abs=0.01)
    flat = KernelRidge(RBF().on([0]), alpha=0.1).fit(X, Y[:, 0]).marginal_effects()
    assert str(flat).splitlines()[2].split()[3] == "-"


def test_levels_have_no_derivatives_but_other_columns_have():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": X[:, 0], "colour": np.array(["red", "green", "blue"])[np.arange(25) % 3]})
    kernel = RBF().on(["x"]) * Categorical().on(["colour"])
    model = KernelRidge(kernel, alpha=0.1).fit(frame, Y[:, 0])
    effects = model.marginal_effects()
    h = 1e-5
    up, down = frame.assign(x=frame["x"] + h), frame.assign(x=frame["x"] - h)
    difference = (model.predict(up) - model.predict(down)) / (2 * h)
    assert np.allclose(effects.pointwise[:, 0], difference, rtol=1e-5, atol=1e-7)
    assert np.all(effects.average_error[0] > 0)
    assert np.all(np.isnan(effects.pointwise[:, 1]))
    assert "nan" in str(effects)
