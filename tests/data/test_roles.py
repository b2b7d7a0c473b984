"""Targets and weights by the names of their columns, in fits and in everything after, for every estimator."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import pellucid
from pellucid import (
    AdditiveKernelClassifier,
    AdditiveKernelRegressor,
    InterpretableKernelClassifier,
    InterpretableKernelRegressor,
    ISKClassifier,
    ISKRegressor,
    KernelClassifier,
    KernelFisherDiscriminant,
    KernelGLMRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    LooSearch,
    SparseAdditiveClassifier,
    SparseAdditiveRegressor,
    build_report,
    compare,
    conformal,
    drift,
    fairness,
    stability,
)
from pellucid.kernels import RBF

N = 90
RNG = np.random.default_rng(0)
FEATURES = pd.DataFrame(RNG.normal(size=(N, 2)), columns=["a", "b"])
TABLE = FEATURES.assign(
    y=np.exp(0.5 * FEATURES["a"]) + 0.1 * RNG.uniform(size=N),
    kind=np.where(FEATURES["a"] + 0.3 * FEATURES["b"] > 0, "p", "q"),
    w=RNG.integers(1, 3, N).astype(float),
    years=RNG.uniform(0.5, 2.0, N),
)
ISK = {"sigma": 1.5, "alpha": 0.01, "sparse_alpha": 0.001, "l1_ratio": 0.9, "n_components": 6}
REGRESSORS = [
    AdditiveKernelRegressor(interactions=0),
    KernelRidge(),
    KernelGLMRegressor(loss="gamma", alpha=0.1),
    InterpretableKernelRegressor("linear", alpha=0.1),
    ISKRegressor(**ISK),
    SparseAdditiveRegressor(0.01, n_basis=4),
    LooSearch(KernelRidge(RBF())),
]
CLASSIFIERS = [
    AdditiveKernelClassifier(interactions=0),
    KernelRidgeClassifier(),
    KernelFisherDiscriminant(),
    KernelClassifier(alpha=0.1),
    InterpretableKernelClassifier("linear", alpha=0.1),
    ISKClassifier(**ISK),
    SparseAdditiveClassifier(0.01, n_basis=4),
]
EVERY = [(model, "y") for model in REGRESSORS] + [(model, "kind") for model in CLASSIFIERS]
every = pytest.mark.parametrize(("model", "target"), EVERY, ids=[type(model).__name__ for model, _ in EVERY])


def table_of(target):
    return TABLE[["a", target, "b", "w"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("rows")
    for k, rows in enumerate(np.array_split(np.arange(N), 3)):
        TABLE.iloc[rows].to_parquet(place / f"{k}.parquet", index=False)
    return place


@every
def test_columns_that_the_fit_named_are_no_features_later(model, target):
    table = table_of(target)
    model = clone(model).fit(table, target, sample_weight="w")
    assert model.roles_ == {"y": target, "sample_weight": "w"}
    np.testing.assert_array_equal(model.predict(table), model.predict(FEATURES))
    for method in ("predict_proba", "decision_function", "contributions", "predict_interval", "transform"):
        if hasattr(model, method):
            a, b = (np.asarray(getattr(model, method)(X)) for X in (table, FEATURES))
            np.testing.assert_array_equal(a, b)


@every
def test_scores_take_targets_by_name(model, target, folder):
    table = table_of(target)
    model = clone(model).fit(table, target, sample_weight="w")
    wanted = model.score(FEATURES, table[target], sample_weight=table["w"])
    assert model.score(table, target, sample_weight="w") == pytest.approx(wanted, rel=1e-12)
    assert model.score(pl.from_pandas(table), target, sample_weight="w") == pytest.approx(wanted, rel=1e-12)
    for rows in (folder, str(folder), pl.from_pandas(TABLE).lazy()):
        assert model.score(rows, target, sample_weight="w") == pytest.approx(wanted, rel=1e-12)
    by_arrays = clone(model).fit(FEATURES, table[target].to_numpy())
    assert not hasattr(by_arrays, "roles_")
    assert 0 < by_arrays.score(table[["a", "b", target]], target) <= 1


@every
def test_columns_that_nobody_knows_are_refused_as_before(model, target):
    model = clone(model).fit(table_of(target), target, sample_weight="w")
    with pytest.raises(ValueError, match=r"years|features"):
        model.predict(TABLE[["a", "b", "years"]])


@every
def test_roles_travel_in_model_files(model, target, tmp_path):
    table = table_of(target)
    model = clone(model).fit(table, target, sample_weight="w")
    pellucid.save(model, tmp_path / "m.pellucid")
    again = pellucid.load(tmp_path / "m.pellucid")
    assert again.roles_ == model.roles_
    np.testing.assert_array_equal(again.predict(table), model.predict(table))


def test_a_new_fit_forgets_names():
    model = KernelRidge().fit(table_of("y"), "y", sample_weight="w").fit(FEATURES, TABLE["y"])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table_of("y"))


def test_a_folder_fitted_by_name(folder):
    model = AdditiveKernelRegressor(interactions=0).fit(folder, "y", sample_weight="w")
    np.testing.assert_array_equal(
        model.predict(TABLE[["a", "b", "kind", "years", "y", "w"]]), model.predict(folder)
    )


@pytest.mark.parametrize(
    "model",
    [AdditiveKernelRegressor(interactions=0, loss="gamma"), KernelGLMRegressor(loss="gamma", alpha=0.1)],
)
def test_exposure_by_name(model, folder):
    table = TABLE[["a", "b", "y", "years"]]
    model.fit(table, "y", exposure="years")
    wanted = model.predict(FEATURES, exposure=table["years"])
    np.testing.assert_array_equal(model.predict(table, exposure="years"), wanted)
    np.testing.assert_array_equal(model.predict(table), model.predict(FEATURES))
    score = model.score(FEATURES, table["y"], exposure=table["years"])
    assert model.score(table, "y", exposure="years") == score
    assert model.score(folder, "y", exposure="years") == pytest.approx(score, rel=1e-12)


def test_batches_bring_their_targets():
    model = KernelRidge().fit(FEATURES.to_numpy(), TABLE["y"])
    batches = [
        (FEATURES.to_numpy()[rows], TABLE["y"].to_numpy()[rows]) for rows in (slice(0, 40), slice(40, N))
    ]
    assert model.score(batches, None) == pytest.approx(model.score(FEATURES.to_numpy(), TABLE["y"]))
    np.testing.assert_allclose(model.predict(batches), model.predict(FEATURES.to_numpy()))


def test_a_name_that_is_no_column():
    model = KernelRidge().fit(table_of("y"), "y", sample_weight="w")
    with pytest.raises(ValueError, match="there is no column 'price' to be y"):
        model.score(table_of("y"), "price")
    with pytest.raises(ValueError, match="need rows with named columns"):
        model.score([[0.0, 1.0]], "y")


def test_refits_edits_and_updates_by_name():
    table = table_of("y")
    model = AdditiveKernelRegressor(interactions=0, updatable=True).fit(table, "y", sample_weight="w")
    given = FEATURES, table["y"], table["w"]
    np.testing.assert_array_equal(
        model.refit(table, "y", "w").predict(table), model.refit(*given).predict(FEATURES)
    )
    edited = model.edit(table, "y", smooth={"a": 3.0}, sample_weight="w")
    wanted = model.edit(*given[:2], smooth={"a": 3.0}, sample_weight=given[2])
    np.testing.assert_array_equal(edited.predict(table), wanted.predict(FEATURES))
    np.testing.assert_array_equal(
        model.refit(*given).update(table, "y", "w").predict(table),
        model.refit(*given).update(*given).predict(FEATURES),
    )
    ridge = KernelRidge("linear", updatable=True).fit(table, "y", sample_weight="w")
    again = KernelRidge("linear", updatable=True).fit(*given)
    np.testing.assert_array_equal(
        ridge.update(table, "y", "w").predict(table), again.update(*given).predict(FEATURES)
    )


def test_functions_on_a_model_and_a_table():
    table = table_of("y")
    model = AdditiveKernelRegressor(interactions=0).fit(table, "y", sample_weight="w")
    given = FEATURES, table["y"]
    by_name, by_array = conformal(model, table, "y"), conformal(model, *given)
    np.testing.assert_array_equal(by_name.interval(FEATURES), by_array.interval(FEATURES))
    np.testing.assert_array_equal(drift(model, table).shifted, drift(model, FEATURES).shifted)
    groups = np.repeat(["u", "v"], N // 2)
    assert str(fairness(model, table, "y", groups)) == str(fairness(model, *given, groups))
    assert str(compare(model, model, table, "y")) == str(compare(model, model, *given))
    once = {"n_splits": 2, "random_state": 0}
    named = stability(KernelRidge(alpha=1.0), table, "y", sample_weight="w", **once)
    plain = stability(KernelRidge(alpha=1.0), *given, sample_weight=table["w"], **once)
    np.testing.assert_array_equal(named.test_error, plain.test_error)


def test_a_report_of_a_table_with_its_target():
    table = table_of("y")
    model = AdditiveKernelRegressor(interactions=0).fit(table, "y", sample_weight="w")
    pages = [
        build_report(model, table, "y", sample_weight="w").html,
        build_report(model, table, table["y"], sample_weight=table["w"]).html,
        build_report(model, FEATURES, table["y"], sample_weight=table["w"]).html,
    ]
    cards = [page.split('"made"')[1].split("UTC", 1)[1] for page in pages]  # all but the time
    assert cards[0] == cards[1] == cards[2]
