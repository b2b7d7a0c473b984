"""Main effects of classes and counts: many that are alike share their variance, a few strong ones do not."""

import numpy as np
import pytest

from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor
from pellucid.losses import as_loss
from pellucid.models.additive.engine import main_effects
from pellucid.models.additive.engine.held_out import held_out_losses
from pellucid.models.additive.engine.state import Problem, clearly_lower
from pellucid.models.additive.engine.structure import build_axes

RNG = np.random.default_rng(6)


def few_matter(X, y, loss="logistic", weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    problem = Problem(X, np.asarray(y, dtype=float), weight, np.zeros(len(y)), as_loss(loss))
    return main_effects.few_main_effects_matter(
        problem, build_axes(X, weight, [None] * X.shape[1]), range(X.shape[1])
    )


def classes(eta):
    return (RNG.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(int)


def strong(X):
    return 1.5 * np.sin(2.0 * X[:, 0]) + X[:, 1] - 0.5 * X[:, 2] ** 2 + 0.5


def test_features_without_effect_get_next_to_no_freedom():
    X = RNG.normal(size=(1600, 30))
    y = classes(strong(X))
    assert few_matter(X, y)
    full, right = (AdditiveKernelClassifier(interactions=0).fit(X[:, :m], y) for m in (30, 3))
    assert full.edf_ < right.edf_ + 1.5 * 27  # five each if they shared the variance of the others


def test_they_cost_little_on_new_rows():
    X = RNG.normal(size=(4600, 30))
    eta = strong(X)
    y = classes(eta)
    train, new = slice(0, 1600), slice(1600, None)
    full, right = (
        AdditiveKernelClassifier(interactions=0).fit(X[train, :m], y[train]).decision_function(X[new, :m])
        for m in (30, 3)
    )
    loss = [np.mean(np.logaddexp(0.0, f) - y[new] * f) for f in (full, right, eta[new])]
    assert loss[0] - loss[2] < 2.0 * (loss[1] - loss[2])


def test_counts_too():
    X = RNG.normal(size=(1200, 25))
    y = RNG.poisson(np.exp(0.7 * np.sin(2.0 * X[:, 0]) + 0.4 * X[:, 1]))
    assert few_matter(X, y, "poisson")
    full, right = (AdditiveKernelRegressor(loss="poisson", interactions=0).fit(X[:, :m], y) for m in (25, 2))
    assert full.edf_ < right.edf_ + 1.7 * 23


def test_losses_left_out_are_what_a_perfect_fit_would_spare():
    """So a hundredth of them is a gain for counts too, whose loss is far below zero where there are many."""
    X = RNG.normal(size=(300, 3))
    y = RNG.poisson(40.0, size=300).astype(float)
    problem = Problem(X, y, np.ones(300), np.zeros(300), as_loss("poisson"))
    _, state = main_effects.fit_main_effects(
        problem, build_axes(X, problem.weight, [None] * 3), range(3), 1.0
    )
    assert problem.value(state.eta) < 0.0
    (losses,) = held_out_losses(problem, [state])
    assert losses.min() >= 0.0
    assert losses.mean() == pytest.approx(0.5, rel=0.2)  # half a squared standard normal


def test_many_effects_that_are_alike_share():
    X = RNG.normal(size=(1200, 30))
    assert not few_matter(X, classes(X @ RNG.normal(scale=0.35, size=30)))


@pytest.mark.parametrize("scale", [0.1, 0.5, 2.0])
def test_weights_are_repeats(scale):
    X = RNG.normal(size=(400, 8))
    y = classes(strong(X) + scale * np.sin(X[:, 3:]).sum(axis=1))
    times = RNG.integers(1, 3, size=400)
    repeated = few_matter(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert few_matter(X, y, weight=times.astype(float)) == repeated


def test_a_difference_has_to_be_larger_than_its_error():
    ones = np.ones(4)
    assert clearly_lower(ones, ones + np.array([1.0, 1.0, 0.9, 1.1]))
    assert not clearly_lower(ones, ones + np.array([3.0, -2.0, 2.0, -2.0]))
    assert clearly_lower(ones, ones + np.array([3.0, -2.0, 2.0, -2.0]), np.array([9.0, 1.0, 9.0, 1.0]))
    assert not clearly_lower(np.array([np.inf]), np.array([np.inf]))
