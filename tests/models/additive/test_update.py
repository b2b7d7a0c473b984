"""Rows added by sums: the model of a refit to all rows, and honest about what sums cannot tell."""

import copy
import io
import pickle

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor
from pellucid.features.axis import Axis
from pellucid.models.additive.engine import state as engine_state


def table(n, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    X.loc[rng.random(n) < 0.1, "b"] = np.nan
    X["kind"] = rng.choice(["u", "v", "w"], n)
    y = np.sin(2 * X["a"]) + X["a"] * X["c"] + 0.5 * X["b"].fillna(0) ** 2 + (X["kind"] == "u")
    return X, 50 + 20 * (y.to_numpy() + 0.3 * rng.normal(size=n))


X, Y = table(360, 3)
FIRST, SECOND, THIRD = slice(150), slice(150, 290), slice(290, 360)


@pytest.fixture(scope="module")
def first():
    return AdditiveKernelRegressor(updatable=True).fit(X[FIRST], Y[FIRST])


def more(model, rows, **known):
    return copy.deepcopy(model).update(X[rows], Y[rows], **known)


def agree(one, two, rtol=1e-8):
    np.testing.assert_allclose(one.predict(X), two.predict(X), rtol=0, atol=rtol * np.std(Y))
    for name in ("scale_", "edf_", "deviance_explained_", "intercept_"):
        assert getattr(one, name) == pytest.approx(getattr(two, name), rel=rtol)
    assert one.n_rows_ == two.n_rows_
    assert one.term_names_ == two.term_names_
    np.testing.assert_allclose(one.importances_.values, two.importances_.values, atol=rtol)
    np.testing.assert_allclose(one.importances_.se, two.importances_.se, atol=rtol)
    for name, effect in one.effects_.items():
        np.testing.assert_allclose(effect.density, two.effects_[name].density, atol=rtol)
        np.testing.assert_allclose(effect.se, two.effects_[name].se, rtol=1e-5)
    p, q = (np.array([row[1:] for row in model.tests_[0]]) for model in (one, two))
    np.testing.assert_allclose(p, q, rtol=1e-5, atol=1e-9)
    assert one.receipt_.main == pytest.approx(two.receipt_.main, abs=1e-8)
    assert one.receipt_.pairs == pytest.approx(two.receipt_.pairs, abs=1e-8)


def test_update_is_the_refit_to_all_rows(first):
    agree(more(first, slice(150, 360)), first.refit(X, Y))


def test_a_refit_to_the_rows_of_the_fit_changes_nothing(first):
    np.testing.assert_allclose(
        first.refit(X[FIRST], Y[FIRST]).predict(X), first.predict(X), atol=1e-6 * np.std(Y)
    )


def test_refit_solves_the_penalised_normal_equations(first):
    """Ridge regression on the columns themselves, with an intercept that is not penalised."""
    spec = first._refit_spec
    basis, ridge = spec.basis(0, spec.axes(first.tables_), ())
    Z = basis.design(first._new_rows(X)).T
    A = np.block([[len(Z), Z.sum(axis=0)], [Z.sum(axis=0)[:, None], Z.T @ Z + np.diag(ridge)]])
    beta = np.linalg.solve(A, np.append(Y.sum(), Z.T @ Y))
    model = more(first, slice(150, 360))
    np.testing.assert_allclose(model.predict(X), beta[0] + Z @ beta[1:], atol=1e-8 * np.std(Y))


def test_rows_may_come_in_any_order_and_one_by_one(first):
    there = more(more(first, SECOND), THIRD)
    back = more(more(first, THIRD), SECOND)
    single = copy.deepcopy(first)
    for i in range(150, 156):
        single.update(X[i : i + 1], Y[i : i + 1])
    agree(there, back)
    agree(single, more(first, slice(150, 156)))


def test_weights_count_rows_and_offsets_are_known(first):
    rng = np.random.default_rng(0)
    weight, offset = rng.integers(0, 4, 210).astype(float), rng.normal(size=210)
    rows = np.repeat(np.arange(150, 360), weight.astype(int))
    one = more(first, slice(150, 360), sample_weight=weight, offset=offset)
    two = copy.deepcopy(first).update(X.iloc[rows], Y[rows], offset=offset[rows - 150])
    two.n_rows_ = one.n_rows_  # rows of weight zero are none; copies are several
    agree(one, two)


@pytest.mark.parametrize("size", [1.0, 1e4])
def test_precisions_are_compared_over_all_rows(size):
    """Weights of sites of which one measures better: only their ratios over all rows count."""
    weight = size * np.where(np.arange(360) < 150, 0.5, 2.0)
    model = AdditiveKernelRegressor(0, weights="precision", updatable=True)
    model.fit(X[FIRST], Y[FIRST], weight[FIRST])
    rest = slice(150, 360)
    agree(more(model, rest, sample_weight=weight[rest]), model.refit(X, Y, weight))


def test_targets_of_any_unit(first):
    model = AdditiveKernelRegressor(updatable=True).fit(X[FIRST], 1e100 * Y[FIRST])
    model.update(X[SECOND], 1e100 * Y[SECOND])
    np.testing.assert_allclose(model.predict(X) / 1e100, more(first, SECOND).predict(X), rtol=1e-8)


def test_monotone_effects_stay_monotone():
    model = AdditiveKernelRegressor(0, monotone={"a": "increasing"}, updatable=True)
    model.fit(X[FIRST], Y[FIRST])
    joint = model.refit(X, Y)
    model.update(X[150:], Y[150:])
    agree(model, joint)
    assert np.all(np.diff(model.effects_["a"].values) >= 0)
    free = AdditiveKernelRegressor(0).fit(X, Y)
    assert np.any(np.diff(free.effects_["a"].values) < 0)  # the constraint binds


def test_single_precision_does_not_reach_the_sums(monkeypatch):
    monkeypatch.setattr(engine_state, "_EXACT", 100)
    model = AdditiveKernelRegressor(0, updatable=True).fit(X[FIRST], Y[FIRST])
    agree(more(model, slice(150, 360)), model.refit(X, Y))


def test_columns_that_come_out_rotated_elsewhere_do_no_harm(monkeypatch, first):
    """Levels of equal mass have eigenvectors that are not unique: those of the first fit are kept."""
    joint = first.refit(X, Y)
    basis = Axis.basis

    def rotated(self, n_columns):
        found = basis(self, n_columns)
        found.table[:] = found.table[:, ::-1] * np.where(np.arange(len(found)) % 2, -1.0, 1.0)
        return found

    monkeypatch.setattr(Axis, "basis", rotated)
    loaded = pickle.loads(pickle.dumps(first))
    np.testing.assert_allclose(more(loaded, slice(150, 360)).predict(X), joint.predict(X), rtol=1e-8)


def test_edited_models_take_rows_and_those_with_frozen_terms_say_why_not(first):
    dropped = first.edit(X[FIRST], Y[FIRST], drop=["kind"], smooth={"a": 3.0})
    agree(more(dropped, slice(150, 360)), dropped.refit(X, Y))
    frozen = first.edit(X[FIRST], Y[FIRST], freeze=["a"])
    with pytest.raises(ValueError, match="frozen or capped terms"):
        frozen.update(X[SECOND], Y[SECOND])


# ------------------------------------------------------- what sums cannot tell
def test_what_only_rows_can_tell_is_gone_and_says_why(first):
    model = more(first, SECOND)
    assert not hasattr(model, "loo_")
    assert not hasattr(model, "loo_deviance_explained_")
    with pytest.raises(AttributeError, match="was updated or merged from sums"):
        model.predict_interval(X)
    with pytest.raises(AttributeError, match="no attribute 'nothing_'"):
        _ = model.nothing_
    assert model.fold_residuals_ is None
    assert model.receipt_.beyond is None
    assert model.receipt_.main + model.receipt_.pairs + model.receipt_.unexplained == pytest.approx(1.0)
    text = str(model.summary())
    assert "made from sums" in text
    assert "not known" in str(model.receipt_)
    with pytest.raises(AttributeError, match="no attribute 'loo_'"):
        _ = AdditiveKernelRegressor().loo_


def test_a_refit_or_a_fit_brings_it_back(first):
    again = more(first, SECOND).refit(X, Y)
    assert len(again.loo_.residuals) == len(X)
    np.testing.assert_array_less(*again.predict_interval(X))
    model = more(first, SECOND).set_params(updatable=False).fit(X[FIRST], Y[FIRST])
    assert not hasattr(model, "sums_")
    assert model.loo_.rmse > 0


def test_model_files_carry_the_sums(first, tmp_path):
    model, path = more(first, SECOND), tmp_path / "m.pellucid"
    pellucid.save(model, path)
    agree(pellucid.load(path).update(X[THIRD], Y[THIRD]), more(model, THIRD))
    slim = io.BytesIO()
    pellucid.save(model.without_sums(), slim)
    assert len(slim.getvalue()) < path.stat().st_size - model.sums_.lower.nbytes / 2
    assert model.sums_.nbytes < 8 * len(model.sums_.c) ** 2
    with pytest.raises(ValueError, match="its sums were left out"):
        pellucid.load(slim).update(X[THIRD], Y[THIRD])


# -------------------------------------------------------------------- refusals
def test_losses_that_sums_do_not_determine_are_refused():
    y = np.rint(np.exp(Y / 30)) + 1.0
    with pytest.raises(ValueError, match="with the poisson loss"):
        AdditiveKernelRegressor(loss="poisson", updatable=True).fit(X, y)
    model = AdditiveKernelRegressor(0, loss="gamma").fit(X[FIRST], y[FIRST])
    with pytest.raises(ValueError, match="all rows are needed: call refit"):
        model.update(X[SECOND], y[SECOND])
    again = model.refit(X, y)
    assert again.n_rows_ == 360
    assert again.term_names_ == model.term_names_


def test_classes_are_refitted_with_all_rows():
    y = np.where(Y > 60, "high", "low")
    model = AdditiveKernelClassifier(0).fit(X[FIRST], y[FIRST])
    again = model.refit(X, y)
    smoothed = model.edit(X, y, smooth={"a": 1.0})
    np.testing.assert_allclose(again.predict_proba(X), smoothed.predict_proba(X), atol=1e-6)
    assert not hasattr(model, "update")


def test_values_without_a_place(first):
    new = X[SECOND].copy()
    new["kind"] = new["kind"].where(new["a"] < 1.5, "x")
    before = pickle.dumps(first)
    with pytest.raises(ValueError, match=r"A level of 'kind' that the model has no place for, in \d+ of 140"):
        first.update(new, Y[SECOND])
    gaps = X[SECOND].copy()
    gaps.iloc[3, 0] = np.nan
    with pytest.raises(ValueError, match=r"A missing value of 'a' .* in 1 of 140 rows"):
        first.refit(gaps, Y[SECOND])
    assert pickle.dumps(first) == before
    one = copy.deepcopy(first).update(gaps, Y[SECOND], unseen="average")
    assert one.n_rows_ == 290
    with pytest.raises(ValueError, match="unseen must be"):
        first.update(X, Y, unseen="ignore")


def test_update_needs_sums():
    model = AdditiveKernelRegressor(0).fit(X[FIRST], Y[FIRST])
    with pytest.raises(ValueError, match="Fit with updatable=True"):
        model.update(X[SECOND], Y[SECOND])
    with pytest.raises(TypeError, match="unexpected keyword argument 'speed'"):
        model.refit(X, Y, speed=2)
