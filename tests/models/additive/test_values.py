"""Main effects that jump from value to value: codes that only structure like numbers."""

import numpy as np
import pytest

from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor
from pellucid.features.term_basis import VALUES, main_picks
from pellucid.losses import as_loss
from pellucid.models.additive.engine.main_effects import _rough_tails, fit_main_effects
from pellucid.models.additive.engine.penalised_fit import FitSettings, penalised_fit
from pellucid.models.additive.engine.state import Problem, basis_of
from pellucid.models.additive.engine.structure import build_axes

RNG = np.random.default_rng(8)


def problem(X, y):
    return Problem(X, y, np.ones(len(y)), np.zeros(len(y)), as_loss("squared"))


def coded(n, n_values):
    """A column of codes, what each is worth, and a column that has nothing to do with it."""
    code = RNG.integers(0, n_values, n)
    worth = RNG.normal(size=n_values)
    return np.column_stack([code.astype(float), RNG.normal(size=n)]), worth, worth[code]


def test_codes_are_told_apart():
    X, worth, signal = coded(4000, 120)
    model = AdditiveKernelRegressor(interactions=0).fit(X, signal + 0.5 * RNG.normal(size=4000))
    new = np.column_stack([np.arange(120.0), np.zeros(120)])
    found = model.contributions(new)[:, model.terms_.index((0,))]
    assert np.corrcoef(found, worth)[0, 1] > 0.98
    error = found - (worth - signal.mean())
    assert np.sqrt(np.mean(error**2)) < 0.12  # the mean of 33 rows is off by 0.09


def test_codes_of_classes_are_told_apart():
    X, worth, signal = coded(6000, 60)
    y = RNG.random(6000) < 1 / (1 + np.exp(-2 * signal))
    model = AdditiveKernelClassifier(interactions=0).fit(X, y)
    found = model.contributions(np.column_stack([np.arange(60.0), np.zeros(60)]))
    assert np.corrcoef(found[:, model.terms_.index((0,))], worth)[0, 1] > 0.95


@pytest.mark.parametrize("shape", [1.0, 4.0])
def test_codes_of_amounts_are_told_apart(shape):
    X, _, signal = coded(3000, 60)
    y = np.exp(0.6 * signal) * RNG.gamma(shape, 1 / shape, 3000)
    axes = build_axes(X, np.ones(3000), [None, None])
    rows = Problem(X, y, np.ones(3000), np.zeros(3000), as_loss("gamma"))
    main, _ = fit_main_effects(rows, axes, [0, 1], 1.0)
    assert [len(main[j,][0]) for j in (0, 1)] == [59, VALUES]


def test_counts_of_a_wide_range_are_not_taken_for_jumps():
    p = []
    for _ in range(20):
        X = np.column_stack([RNG.integers(0, 100, 1500).astype(float), RNG.normal(size=1500)])
        y = RNG.poisson(np.exp(2 * np.sin(X[:, 0] / 20) + 1.5 * X[:, 1])).astype(float)
        rows = Problem(X, y, np.ones(1500), np.zeros(1500), as_loss("poisson"))
        axes = build_axes(X, np.ones(1500), [None, None])
        main = main_picks(axes, [0, 1], VALUES)
        state = penalised_fit(rows, basis_of(axes, main), None, FitSettings(newton_steps=3, updates=6))
        p.append(_rough_tails(rows, axes, main, 150, state)[0,])
    assert np.mean(np.array(p) < 0.01) < 0.2


@pytest.mark.parametrize("jumps", [True, False])
def test_columns_for_values_where_there_are_jumps(jumps):
    X, _, signal = coded(4000, 120)
    y = (signal if jumps else np.sin(X[:, 0] / 20)) + 0.5 * RNG.normal(size=4000)
    axes = build_axes(X, np.ones(4000), [None, None])
    main, state = fit_main_effects(problem(X, y), axes, [0, 1], 1.0)
    assert [len(main[j,][0]) for j in (0, 1)] == [119 if jumps else VALUES, VALUES]
    assert state.basis.size == sum(len(pick[0]) for pick in main.values())


def test_roughness_has_the_right_size_and_finds_jumps():
    p = {True: [], False: []}
    for _ in range(60):
        X, _, signal = coded(1500, 100)
        axes = build_axes(X, np.ones(1500), [None, None])
        for jumps in p:
            rows = problem(X, np.sin(X[:, 0] / 20) + 0.3 * jumps * signal + RNG.normal(size=1500))
            main = main_picks(axes, [0, 1], 20)
            state = penalised_fit(rows, basis_of(axes, main), None, FitSettings(newton_steps=3, updates=6))
            p[jumps].append(_rough_tails(rows, axes, main, 150, state)[0,])
    assert np.mean(np.array(p[False]) < 0.1) < 0.2
    assert np.mean(np.array(p[True]) < 0.01) > 0.8


def test_rows_that_are_there_twice_are_not_taken_for_jumps():
    x = np.tile(RNG.uniform(size=(150, 1)), (2, 1))
    y = np.tile(np.sin(6 * x[:150, 0]) + 0.3 * RNG.normal(size=150), 2)
    model = AdditiveKernelRegressor().fit(x, y)
    assert 0.2 < np.std(y - model.predict(x)) < 0.35


def test_weak_main_effects_of_classes_stay_beside_pairs():
    X = RNG.normal(size=(5000, 8))
    eta = 2.0 * X[:, 0] + 1.5 * X[:, 0] * X[:, 1] + 0.2 * X[:, 2:].sum(axis=1)
    model = AdditiveKernelClassifier(interactions=3).fit(X, RNG.random(5000) < 1 / (1 + np.exp(-eta)))
    assert {(j,) for j in range(2, 8)} <= set(model.terms_)
