"""Quantiles as departures from one centre: rows left out, levels on new rows, sums, refits."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pellucid import AdditiveKernelRegressor, load, save
from pellucid.features.term_basis import TermBasis, first_picks
from pellucid.losses import Huber, Quantile
from pellucid.models.additive.centre import Centre
from pellucid.models.additive.engine.design import predictor
from pellucid.models.additive.engine.state import Problem
from pellucid.models.additive.engine.structure import build_axes
from pellucid.models.additive.refit import refit

LEVELS = [0.1, 0.5, 0.9]


def surface(x):
    return np.sin(4 * x[:, 0]) + x[:, 1] ** 2 + np.cos(3 * x[:, 0]) * x[:, 2]


def quantiles(*pairs, **more):
    return AdditiveKernelRegressor(*pairs, loss="quantile", quantile=LEVELS, **more)


@pytest.fixture(scope="module")
def spread():
    """Rows whose spread depends on the second feature, and a model of them."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (400, 2))
    y = np.sin(3 * X[:, 0]) + 0.3 * np.exp(X[:, 1]) * rng.normal(size=400)
    return X, y, quantiles(0).fit(X, y)


# ------------------------------------------------------------------- rows left out
@pytest.mark.parametrize("weight", [1.0, 2.0])
def test_rows_left_out_of_the_centre_are_those_of_refits(weight):
    """With ridges so small that curves pass near the rows, and outliers beyond the threshold."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (60, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1] + 0.02 * rng.normal(size=60)
    y[:5] += 3.0
    s = np.full(60, weight)
    problem = Problem(X, y, s, 0.1 * X[:, 0], Huber(0.2))
    axes = build_axes(X, s)
    basis = TermBasis.of(axes, first_picks(axes, [(0,), (1,)], 15))
    ridge = np.full(basis.size, 0.05)
    centre = Centre.of(problem, refit(problem, basis, ridge))
    assert np.mean(centre.leverage) > 0.1
    true = np.empty(60)
    for i in range(60):
        rest = np.arange(60) != i
        part = problem.part(rest)
        if weight > 1:
            part = replace(problem, weight=s - ~rest)
        fit = refit(part, basis, ridge)
        own = problem.part(~rest)
        true[i] = (predictor(own, basis, fit.fit.beta, fit.intercept) - own.offset)[0]
    inside, moved = centre.values - true, centre.left_out - true
    # outliers have a curvature of 0.2 / 20 in the place of none, and a row that crosses changes all
    assert np.median(np.abs(moved)) < 0.03 * np.median(np.abs(inside))
    assert np.sqrt(np.mean(moved**2)) < 0.1 * np.sqrt(np.mean(inside**2))


# ------------------------------------------------------------------- levels
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_levels_hold_on_new_rows_whatever_the_noise(noise):
    """Without noise all that is left at new rows is what the fit could not know."""
    shares = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, (2300, 3))
        y = surface(X) + noise * rng.normal(size=2300)
        model = quantiles().fit(X[:300], y[:300])
        q = model.predict(X)
        assert np.all(np.diff(q, axis=1) >= 0)
        shares.append(np.mean(y[300:, None] <= q[300:], axis=0))
    # chance: 0.5 / sqrt(1200) = 0.014 at the median
    np.testing.assert_allclose(np.mean(shares, axis=0), LEVELS, atol=0.035)


def test_the_spread_is_found_where_it_varies(spread):
    _, _, model = spread
    grid = np.column_stack([np.zeros(5), np.linspace(-0.9, 0.9, 5)])
    width = model.predict(grid)[:, 2] - model.predict(grid)[:, 0]
    np.testing.assert_allclose(width, 2 * 1.2816 * 0.3 * np.exp(grid[:, 1]), rtol=0.35)


def test_departures_are_constant_where_errors_are_alike():
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, (600, 3))
    y = surface(X) + 0.3 * rng.standard_t(4, 600)
    q = quantiles().fit(X, y).predict(X)
    width = np.diff(q, axis=1)
    assert np.all(width.std(axis=0) < 0.15 * width.mean(axis=0))


# ------------------------------------------------------------------- sums, weights, offsets
def test_contributions_sum_to_the_prediction(spread):
    X, _, model = spread
    total = model.contributions(X).sum(axis=1) + model.intercept_
    np.testing.assert_allclose(np.sort(total, axis=1), model.predict(X), rtol=0, atol=1e-12)


def test_a_weight_of_two_is_the_row_twice():
    rng = np.random.default_rng(6)
    X = rng.uniform(-1, 1, (150, 2))
    y = np.sin(3 * X[:, 0]) + 0.2 * rng.normal(size=150)
    s = rng.integers(1, 3, 150)
    weighted = quantiles(0).fit(X, y, sample_weight=s)
    repeated = quantiles(0).fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=2e-5)


def test_an_offset_moves_targets(spread):
    X, y, model = spread
    known = 0.7 * X[:, 0] - 2.0
    with_offset = quantiles(0).fit(X, y + known, offset=known)
    np.testing.assert_allclose(with_offset.predict(X), model.predict(X), atol=1e-5)
    np.testing.assert_allclose(with_offset.loo_.residuals, model.loo_.residuals, atol=1e-5)


def test_the_unit_of_the_targets_does_not_matter(spread):
    X, y, model = spread
    other = quantiles(0).fit(X, 1000.0 * y + 5.0)
    np.testing.assert_allclose(other.predict(X), 1000.0 * model.predict(X) + 5.0, rtol=1e-5, atol=1e-2)
    np.testing.assert_allclose(other.importances_.values, model.importances_.values, atol=1e-5)
    assert other.deviance_explained_ == pytest.approx(model.deviance_explained_, abs=1e-6)


# ------------------------------------------------------------------- what is read off
def test_what_is_read_off_is_that_of_the_sum(spread):
    X, y, model = spread
    assert model.loo_.predictions.shape == (400, 3)
    left_out = np.mean(y[:, None] <= model.loo_.predictions, axis=0)
    np.testing.assert_allclose(left_out, LEVELS, atol=0.03)
    assert model.loo_deviance_explained_ < model.deviance_explained_
    assert model.deviance_explained_ == pytest.approx(
        1 - np.mean([s / n for s, n in _deviances(model, X, y)]), abs=1e-9
    )
    parts = model.contributions(X)
    power = np.var(parts, axis=0)
    share = (power / power.sum(axis=0)).mean(axis=1)
    np.testing.assert_allclose(model.importances_.values, share, atol=1e-9)
    assert all(p < 1e-4 for rows in model.tests_ for name, _, p in rows if name == "x0")
    assert model.tests_[0][1][2] < 1e-3 > model.tests_[2][1][2]  # x1 moves the spread alone


def _deviances(model, X, y):
    weight = np.ones(len(y))
    for loss, q in zip(model.losses_, model.predict(X).T, strict=True):
        constant = np.full(len(y), loss.best_constant(y, weight))
        yield loss.total_deviance(y, q, weight), loss.total_deviance(y, constant, weight)


def test_an_edit_of_nothing_changes_nothing(spread):
    X, y, model = spread
    same = model.edit(X, y, smooth={"x0": 1.0})
    np.testing.assert_allclose(same.predict(X), model.predict(X), atol=1e-4)
    np.testing.assert_allclose(model.refit(X, y).predict(X), model.predict(X), atol=1e-4)


def test_a_dropped_term_is_gone_from_centre_and_departures(spread):
    X, y, model = spread
    less = model.edit(X, y, drop=["x0"])
    assert less.term_names_ == ["x1"]
    fixed = model.edit(X, y, freeze=["x0"], drop=["x1"])
    np.testing.assert_array_equal(
        fixed.tables_.tables[0], model.tables_.tables[model.tables_.names.index("x0")]
    )
    assert np.ptp(fixed.predict(X) - fixed.contributions(X)[:, 0]) > 0.5  # levels differ
    assert np.mean(y[:, None] <= fixed.predict(X), axis=0) == pytest.approx(LEVELS, abs=0.05)


def test_model_files_keep_the_centre(spread, tmp_path):
    X, y, model = spread
    save(model, tmp_path / "model.pellucid")
    again = load(tmp_path / "model.pellucid")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.refit(X, y).predict(X), model.refit(X, y).predict(X))


def test_few_rows_for_many_terms_have_folds():
    rng = np.random.default_rng(7)
    X = rng.uniform(-1, 1, (120, 5))
    y = surface(X) + 0.1 * rng.normal(size=120)
    model = quantiles().fit(X, y)
    assert model.fold_residuals_.shape == (120, 3)
    assert model.fold_deviance_explained_ < model.deviance_explained_
    assert "folds" in str(model.summary())


# ------------------------------------------------------------------- with and without a centre
def test_the_check_loss_alone_and_effects_of_a_shape_have_no_centre(spread):
    X, y, model = spread
    assert isinstance(model._refit_spec.centre, Huber)
    alone = AdditiveKernelRegressor(0, loss=Quantile(0.5)).fit(X, y)
    assert alone._refit_spec.centre is None
    rising = quantiles(0, monotone={0: "increasing"}).fit(X, y)
    assert rising._refit_spec.centre is None


# ------------------------------------------------------------------- the least that there can be
@pytest.mark.parametrize("n", [3, 10])
def test_few_rows(n):
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(n, 2)), rng.normal(size=n)
    q = quantiles().fit(X, y).predict(X)
    assert np.all(np.isfinite(q))
    assert np.all(np.diff(q, axis=1) >= 0)


def test_targets_that_are_all_alike():
    X = np.random.default_rng(9).normal(size=(50, 2))
    np.testing.assert_allclose(quantiles().fit(X, np.full(50, 3.0)).predict(X), 3.0, atol=1e-9)


def test_targets_with_ties_and_categories():
    rng = np.random.default_rng(10)
    X = pd.DataFrame({"a": rng.integers(0, 4, 300), "b": rng.choice(["u", "v", "w"], 300)})
    y = np.round(X["a"] + rng.normal(size=300))
    q = quantiles().fit(X, y).predict(X)
    assert np.all(np.diff(q, axis=1) >= 0)
    below, at_or_below = (
        np.mean(y.to_numpy()[:, None] < q, axis=0),
        np.mean(y.to_numpy()[:, None] <= q, axis=0),
    )
    assert np.all(below < np.add(LEVELS, 0.05))
    assert np.all(at_or_below > np.subtract(LEVELS, 0.05))
