"""Counts that vary more than Poisson's."""

import numpy as np
import pytest

from pellucid import AdditiveKernelRegressor
from pellucid.losses import as_loss
from pellucid.models.additive_engine import build_axes
from pellucid.models.additive_mains import fit_mains
from pellucid.models.additive_state import Problem, dispersion

N, P = 800, 6


def counts(times, effect=0.0, seed=0):
    """Counts of mean exp(1 + effect · x0) and ``times`` Poisson's variance."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(N, P))
    mean = np.exp(1.0 + effect * X[:, 0])
    if times > 1.0:
        mean = rng.gamma(mean / (times - 1.0), times - 1.0)
    return X, rng.poisson(mean).astype(float)


def found(X, y, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    problem = Problem(X, y, weight, np.zeros(len(y)), as_loss("poisson"))
    axes = build_axes(X, weight, [None] * X.shape[1])
    return dispersion(problem, fit_mains(problem, axes, range(X.shape[1]), 1.0)[1])


@pytest.mark.parametrize("seed", range(5))
def test_poisson_counts_have_a_dispersion_of_one(seed):
    assert found(*counts(1.0, effect=0.8, seed=seed)) == 1.0


@pytest.mark.parametrize("times", [2.0, 6.0])
def test_dispersion_is_found(times):
    """A little less than there is: effects that choose their own smoothness take some of it."""
    estimates = [found(*counts(times, effect=0.8, seed=seed)) for seed in range(5)]
    assert 0.7 * times < np.mean(estimates) < 1.1 * times


def test_rows_counted_twice_are_not_dispersion():
    X, y = counts(3.0, effect=0.8)
    twice = found(np.vstack([X, X]), np.append(y, y))
    assert found(X, y, np.full(N, 2.0)) == pytest.approx(twice, rel=1e-6)


def test_noise_is_not_taken_for_effects():
    rejected, n_pairs = [], []
    for seed in range(6):
        model = AdditiveKernelRegressor(loss="poisson").fit(*counts(5.0, seed=seed))
        rejected += [p < 0.05 for name, _, p in model.tests_[0] if " × " not in name]
        n_pairs.append(sum(len(term) == 2 for term in model.terms_))
    assert np.mean(rejected) < 0.2
    assert np.mean(n_pairs) < 2.0


def test_bands_allow_for_it():
    X, y = counts(5.0, effect=0.8)
    model = AdditiveKernelRegressor(loss="poisson", interactions=0).fit(X, y)
    assert 3.5 < model.scale_ < 7.0
    x = np.sort(X[:, 0])[[80, 400, 720]]
    effect = model.effects_["x0"]
    truth = 0.8 * (effect.grids[0].points - X[:, 0].mean())
    low, high = effect.band()
    inside = np.mean((low <= truth) & (truth <= high))
    assert inside > 0.8
    assert np.all(np.diff(model.predict(np.column_stack([x, np.zeros((3, P - 1))]))) > 0)


def test_edits_and_constraints_keep_it():
    X, y = counts(5.0, effect=0.8)
    model = AdditiveKernelRegressor(loss="poisson", interactions=0).fit(X, y)
    assert model.edit(X, y, drop=["x1"]).scale_ == model.scale_
    falling = AdditiveKernelRegressor(loss="poisson", interactions=0, monotone={"x0": -1}).fit(X, y)
    assert falling.scale_ == pytest.approx(model.scale_, rel=0.2)
