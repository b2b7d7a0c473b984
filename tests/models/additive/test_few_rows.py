"""Few rows for many candidate terms: what leave-one-out cannot promise, and intervals that cover."""

import numpy as np
import pytest

from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor


def table(seed, n=70, p=10):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n)


def test_intervals_cover_where_terms_were_chosen_among_many():
    covered = []
    for seed in range(5):
        X, y = table(seed)
        new, target = table(1000 + seed, n=500)
        low, high = AdditiveKernelRegressor().fit(X, y).predict_interval(new, coverage=0.9)
        covered.append(np.mean((low <= target) & (target <= high)))
    assert 0.85 < np.mean(covered) < 0.97


@pytest.mark.parametrize("interactions", [0, [(0, 1)]])
def test_intervals_cover_for_main_effects_and_named_pairs_too(interactions):
    X, y = table(0)
    new, target = table(1000, n=2000)
    model = AdditiveKernelRegressor(interactions).fit(X, y)
    low, high = model.predict_interval(new, coverage=0.9)
    assert np.mean((low <= target) & (target <= high)) > 0.82
    assert len(model.fold_residuals_) == 70


def test_summary_says_that_terms_were_held_fixed_and_cautions_where_rows_are_few():
    X, y = table(0)
    model = AdditiveKernelRegressor().fit(X, y)
    facts = dict(model.summary().facts)
    assert "55 terms that might have entered" in facts["caution"]
    rmse = np.sqrt(np.mean(model.fold_residuals_**2))
    assert facts["folds, terms chosen again"].endswith(f"root mean squared error {rmse:.4g}")
    assert model.fold_deviance_explained_ == pytest.approx(1 - rmse**2 / y.var())
    assert "leave-one-out, terms held fixed" in facts
    assert model.fold_deviance_explained_ < model.loo_deviance_explained_
    alone = AdditiveKernelRegressor(0).fit(X[:, :2], y)
    assert alone.fold_residuals_ is None
    assert "caution" not in dict(alone.summary().facts)


def test_residuals_of_folds_are_in_the_units_of_the_targets():
    X, y = table(1)
    one, other = (AdditiveKernelRegressor(0).fit(X, y * unit) for unit in (1.0, 1024.0))
    np.testing.assert_allclose(other.fold_residuals_, 1024.0 * one.fold_residuals_, rtol=1e-9)


def test_classes_have_the_share_of_folds_and_an_edited_model_keeps_its_reach():
    X, y = table(2)
    model = AdditiveKernelClassifier().fit(X, y > 0)
    assert model.fold_deviance_explained_ < model.deviance_explained_
    assert "folds, terms chosen again" in dict(model.summary().facts)
    fitted = AdditiveKernelRegressor(0).fit(X, y)
    edited = fitted.edit(X, y, smooth={"x0": 2.0})
    np.testing.assert_array_equal(edited.fold_residuals_, fitted.fold_residuals_)
    assert edited.fold_deviance_explained_ is None
    reach = np.subtract(*fitted.predict_interval(X)), np.subtract(*edited.predict_interval(X))
    np.testing.assert_allclose(*reach)
