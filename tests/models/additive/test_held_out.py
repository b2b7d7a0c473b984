"""Variances of classes and counts: the quadratic they are found on, and leaving rows out to check them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from pellucid import AdditiveKernelClassifier
from pellucid.linalg.sample import equal_rows
from pellucid.losses import as_loss
from pellucid.models.additive.engine.held_out import held_out_losses, loosened
from pellucid.models.additive.engine.penalised_fit import FitSettings, _go_to_minimum, _renew, penalised_fit
from pellucid.models.additive.engine.state import Problem
from pellucid.models.additive.engine.structure import build_axes, fit_additive
from pellucid.models.additive.refit import refit

RNG = np.random.default_rng(11)


def problem_of(X, y, loss="logistic", weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    return Problem(X, np.asarray(y, dtype=float), weight, np.zeros(len(y)), as_loss(loss))


def fitted(problem, times=1.0):
    """A fit of main effects with the ridges that the quadratic leads to, or ``times`` these."""
    axes = build_axes(problem.X, problem.weight, [None] * problem.X.shape[1])
    state = fit_additive(problem, axes, None, 0)
    state = penalised_fit(problem, state.basis, state, FitSettings(newton_steps=6, updates=8, end="settled"))
    state.fit = replace(state.fit, ridge=state.fit.ridge * times)
    for _ in range(5):  # the second derivative is that of other ridges at first
        settle(problem, state)
    return state


def settle(problem, state):
    _go_to_minimum(problem, state)
    _renew(problem, state)


def waves(n):
    """Classes of a quick function of two features, which they tell little of."""
    X = RNG.uniform(size=(n, 2))
    return X, RNG.random(n) < expit(3 * np.sin(25 * X[:, 0]) + 2 * np.cos(20 * X[:, 1]))


@pytest.mark.parametrize("loss", ["logistic", "poisson", "gamma"])
def test_quadratic_has_the_slope_of_the_loss_however_far_off(loss):
    y = np.array([0.0, 1.0, 1.0, 0.0]) + (loss == "gamma")
    eta = np.array([9.0, -9.0, 0.2, -0.1])
    problem = problem_of(np.zeros((4, 1)), y, loss, weight=np.array([1.0, 2.0, 3.0, 0.5]))
    w, z = problem.working(eta)
    np.testing.assert_allclose(w * (eta - z), problem.weight * problem.loss.gradient(y, eta), rtol=1e-6)
    assert np.all(np.abs(z - eta) <= 20.0 * (1 + 1e-9))


def test_variances_that_are_too_small_are_doubled_and_others_not():
    problem = problem_of(*waves(1500))
    small, large = fitted(problem, 8.0), fitted(problem, 1 / 8.0)
    looser = loosened(problem, small)
    assert looser is not None
    assert loosened(problem, large) is None
    np.testing.assert_allclose(looser.fit.ridge, small.fit.ridge / 2)
    settle(problem, looser)
    new = problem_of(*waves(20_000))
    loss = [new.value(s.intercept + s.fit.beta @ s.basis.design(new.X)) for s in (looser, small)]
    assert loss[0] < loss[1]


def test_step_to_looser_variances_goes_most_of_the_way():
    problem = problem_of(*waves(1500))
    state = fitted(problem, 8.0)
    step = loosened(problem, state)
    start, near = state.fit.beta, step.fit.beta.copy()
    for _ in range(5):
        settle(problem, step)
    assert np.linalg.norm(near - step.fit.beta) < 0.2 * np.linalg.norm(start - step.fit.beta)
    slope = problem.loss.gradient(problem.y, step.eta)
    gradient = step.basis.design(problem.X) @ slope + step.fit.ridge[step.basis.group] * step.fit.beta
    assert np.abs(gradient).max() < 1e-5


def test_noise_is_no_reason_for_looser_variances():
    doubled = 0
    for _ in range(10):
        problem = problem_of(RNG.normal(size=(400, 3)), RNG.random(400) < 0.4)
        doubled += loosened(problem, fitted(problem)) is not None
    assert doubled <= 2


def test_weights_are_repetitions_when_rows_are_left_out():
    X, y = waves(600)
    weight = RNG.integers(1, 4, 600)
    heavy = problem_of(X, y, weight=weight.astype(float))
    often = problem_of(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    for times in (1.0, 8.0):
        state = fitted(heavy, times)
        one, other = loosened(heavy, state), loosened(often, replace(state, eta=np.repeat(state.eta, weight)))
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_allclose(one.fit.beta, other.fit.beta, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("times", [0.5, 1.0])
def test_copies_are_no_test_of_each_other(times):
    """On noise, leaving out one of three equal rows would call for ever looser variances."""
    doubled = 0
    for _ in range(8):
        X, y = np.tile(RNG.normal(size=(150, 2)), (3, 1)), np.tile(RNG.random(150) < 0.4, 3)
        problem = problem_of(X, y)
        doubled += loosened(problem, fitted(problem, times)) is not None
    assert doubled <= 1


def test_held_out_loss_is_that_of_refits():
    X, y = waves(120)
    X[60:90] = X[:30]  # copies, of classes of their own
    problem = problem_of(X, y)
    state = fitted(problem)
    copies = equal_rows(list(X.T))
    (found,) = held_out_losses(problem, [state])
    start = np.bincount(copies, problem.loss.value(problem.y, state.eta))
    truth = np.zeros(12)
    for place in range(12):
        out = copies == place
        again = refit(problem.part(~out), state.basis, state.fit.ridge)
        eta = again.intercept + again.fit.beta @ state.basis.design(X[out])
        truth[place] = problem.loss.value(problem.y[out], eta).sum()
    assert len(found) == 90
    error = np.linalg.norm(found[:12] - truth)
    assert error < 0.15 * np.linalg.norm(truth - start[:12])


def test_rows_on_the_wrong_side_of_clear_classes():
    X = RNG.normal(size=(3000, 4))
    y = X[:, 0] + 0.5 * X[:, 1] > 1.5
    wrong = RNG.choice(3000, 12, replace=False)
    y[wrong] = ~y[wrong]
    model = AdditiveKernelClassifier(interactions=0).fit(X, y)  # a warning would be an error
    P = model.predict_proba(X)
    assert np.mean(np.abs(P[:, 1] - y) > 0.5) < 0.02
    assert -np.log(np.clip(P[np.arange(3000), y.astype(int)], 1e-300, 1)).mean() < 0.06
