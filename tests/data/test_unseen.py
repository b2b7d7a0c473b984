"""Levels that training did not have are told once, by whoever was asked, and to nobody else."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import pellucid
from pellucid import (
    AdditiveKernelClassifier,
    AdditiveKernelRegressor,
    ISKClassifier,
    ISKRegressor,
    KernelClassifier,
    KernelGLMRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    LooSearch,
    SparseAdditiveClassifier,
    SparseAdditiveRegressor,
    build_report,
    conformal,
    plot_effects,
    stability,
)
from pellucid.data.unseen import Unseen, collecting
from pellucid.exceptions import UnseenLevelWarning
from pellucid.kernels import RBF, Categorical

N = 90
RNG = np.random.default_rng(0)
ROWS = pd.DataFrame(
    {
        "a": RNG.normal(size=N),
        "town": RNG.choice(["Ulm", "Bonn", "Kiel"], N),
        "noise": RNG.choice(["u", "v"], N),
    }
)
Y = ROWS["a"] + 2.0 * (ROWS["town"] == "Ulm")
NEW = ROWS.assign(town=["Jena", "Jena", "Rome", "Oslo", "Bern", *ROWS["town"][5:]])
KERNEL = RBF().on(["a"]) * Categorical().on(["town"])
ISK = {"sigma": 1.5, "alpha": 0.01, "sparse_alpha": 0.001, "l1_ratio": 0.9, "n_components": 6}
EVERY = [
    AdditiveKernelRegressor(interactions=0),
    ISKRegressor(**ISK),
    SparseAdditiveRegressor(0.01, n_basis=4),
    KernelRidge(KERNEL),
    KernelGLMRegressor(KERNEL, loss="squared", alpha=0.1),
    LooSearch(KernelRidge(KERNEL)),
    AdditiveKernelClassifier(interactions=0),
    ISKClassifier(**ISK),
    SparseAdditiveClassifier(0.01, n_basis=4),
    KernelRidgeClassifier(KERNEL),
    KernelClassifier(KERNEL, alpha=0.1),
]
every = pytest.mark.parametrize("model", EVERY, ids=lambda model: type(model).__name__)
METHODS = ("predict", "predict_proba", "decision_function", "contributions", "predict_interval", "score")
WORDS = "Column 'town' has levels in 5 rows that training did not have: 'Jena', 'Rome', 'Oslo' and 1 more."


def target_of(model):
    return (Y.median() < Y).to_numpy() if pellucid_classifier(model) else Y.to_numpy()


def pellucid_classifier(model):
    return "Classifier" in type(model).__name__


def told(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [w for w in caught if issubclass(w.category, UnseenLevelWarning)]


@every
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_every_method_tells_once_at_the_line_of_the_caller(model, frame):
    columns = ["a", "town"]
    rows, new = frame(ROWS[columns].to_dict("list")), frame(NEW[columns].to_dict("list"))
    model, y = clone(model).fit(rows, target_of(model)), target_of(model)
    for method in (
        "predict",
        "predict_proba",
        "decision_function",
        "contributions",
        "predict_interval",
        "score",
    ):
        if not hasattr(model, method):
            continue
        given = (y,) if method == "score" else ()
        assert told(lambda: getattr(model, method)(rows, *given)) == []  # noqa: B023
        found = told(lambda: getattr(model, method)(new, *given))  # noqa: B023
        assert [w.filename for w in found] == [__file__], method
        assert str(found[0].message).startswith(WORDS)


@every
def test_nothing_is_told_of_fits_and_of_what_reads_a_model(model):
    model, y = clone(model), target_of(model)
    rare = ROWS[["a", "town"]].assign(town=["once", *ROWS["town"][1:]])  # in one fold alone
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnseenLevelWarning)
        model.fit(rare, y).summary()
        model = clone(model).fit(ROWS[["a", "town"]], y)
        build_report(model, NEW[["a", "town"]], y)
        if hasattr(model, "effects_") and hasattr(model, "importances_"):
            plot_effects(model, 1)


def test_blocks_are_told_together(tmp_path):
    columns = ["a", "town"]
    model = AdditiveKernelRegressor(interactions=0).fit(ROWS[columns], Y)
    for k, rows in enumerate(np.array_split(np.arange(N), 4)):
        NEW[columns].iloc[rows].to_parquet(tmp_path / f"{k}.parquet", index=False)
    batches = [NEW[columns].iloc[:2], NEW[columns].iloc[2:]]
    for rows in (tmp_path, batches, pl.from_pandas(NEW[columns]).lazy()):
        (found,) = told(lambda: model.predict(rows))  # noqa: B023
        assert str(found.message).startswith(WORDS)


def test_pipelines_are_looked_through():
    model = make_pipeline(AdditiveKernelRegressor(interactions=0)).fit(ROWS[["a", "town"]], Y)
    (found,) = told(lambda: model.predict(NEW[["a", "town"]]))
    assert found.filename == __file__


def test_columns_without_a_term_are_not_told_of():
    model = SparseAdditiveRegressor(0.3, n_basis=4).fit(ROWS, Y)
    assert "noise" not in model.term_names_
    assert told(lambda: model.predict(ROWS.assign(noise="w"))) == []


def test_columns_whose_rare_levels_are_gathered_or_that_name_rows_are_not_told_of():
    n = 900
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"street": rng.integers(0, 300, n).astype(str), "name": [f"n{i}" for i in range(n)]})
    model = AdditiveKernelRegressor(interactions=0).fit(X, rng.normal(size=n))
    assert told(lambda: model.predict(X.assign(street="new", name="new"))) == []


def test_numbers_that_are_compared_as_categories():
    X = np.column_stack([ROWS["a"], RNG.integers(0, 3, N)])
    model = KernelRidge(RBF().on([0]) * Categorical().on([1]), alpha=0.1).fit(X, Y)
    assert model.levels_.keys() == {"1"}
    (found,) = told(lambda: model.predict(X + np.array([0.0, 5.0])))
    assert "Column '1'" in str(found.message)


def test_folds_and_splits_are_silent():
    model = KernelRidge(KERNEL)
    rare = ROWS[["a", "town"]].assign(town=["once", "twice", *ROWS["town"][2:]])
    assert told(lambda: stability(model, rare, Y, n_splits=3, random_state=0)) == []
    fitted = model.fit(ROWS[["a", "town"]], Y)
    assert told(lambda: conformal(fitted, NEW[["a", "town"]], Y)) == []


def test_levels_travel_in_model_files(tmp_path):
    model = KernelRidge(KERNEL, alpha=0.1).fit(ROWS[["a", "town"]], Y)
    pellucid.save(model, tmp_path / "m.pellucid")
    assert len(told(lambda: pellucid.load(tmp_path / "m.pellucid").predict(NEW[["a", "town"]]))) == 1


def test_a_report_has_it_among_its_cautions():
    model = AdditiveKernelRegressor(interactions=0).fit(ROWS[["a", "town"]], Y)
    assert "that training did not have" in build_report(model, NEW[["a", "town"]], Y).html
    assert "that training did not have" not in build_report(model, ROWS[["a", "town"]], Y).html


def test_refits_tell_of_levels_only_where_nothing_was_asked_about_them():
    model = AdditiveKernelRegressor(interactions=0).fit(ROWS[["a", "town"]], Y)
    assert told(lambda: model.refit(NEW[["a", "town"]], Y, unseen="average")) == []
    assert len(told(lambda: model.edit(NEW[["a", "town"]], Y, smooth={"a": 2.0}))) == 1


def test_words():
    found = Unseen()
    assert found.message() == ""
    found.add("town", {"Jena": 1})
    assert found.message().startswith(
        "Column 'town' has a level in 1 row that training did not have: 'Jena'."
    )
    assert found.message(frozenset(["other"])) == ""
    for k in range(4):
        found.add(f"c{k}", {"x": 1})
    assert "So have 2 more columns." in found.message()


def test_a_listener_takes_what_would_be_told():
    model = AdditiveKernelRegressor(interactions=0).fit(ROWS[["a", "town"]], Y)
    with collecting() as found:
        assert told(lambda: model.predict(NEW[["a", "town"]])) == []
    assert found.columns == {"town": {"Jena": 2, "Rome": 1, "Oslo": 1, "Bern": 1}}
