"""Every kind of table through every term model, and through a kernel machine where it has numbers alone."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pellucid import (
    AdditiveKernelClassifier,
    AdditiveKernelRegressor,
    InterpretableKernelRegressor,
    ISKClassifier,
    ISKRegressor,
    KernelClassifier,
    KernelGLMRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    SparseAdditiveClassifier,
    SparseAdditiveRegressor,
    build_report,
)
from pellucid.exceptions import UnseenLevelWarning
from pellucid.kernels import RBF, Categorical

N = 120
SIZES = ["small", "medium", "large"]
TERMS = {
    "additive": AdditiveKernelRegressor(interactions=0),
    "isk": ISKRegressor(sigma=1.5, alpha=0.01, sparse_alpha=0.001, l1_ratio=0.9, n_components=6),
    "sparse additive": SparseAdditiveRegressor(0.01, n_basis=4),
}
CLASSIFIERS = [
    AdditiveKernelClassifier(interactions=0),
    ISKClassifier(sigma=1.5, alpha=0.01, sparse_alpha=0.001, l1_ratio=0.9, n_components=6),
    SparseAdditiveClassifier(0.01, n_basis=4),
    KernelClassifier(alpha=1.0),
    KernelRidgeClassifier(alpha=1.0),
]
REGRESSORS = [*TERMS.values(), KernelRidge(alpha=1.0), KernelGLMRegressor(alpha=1.0, loss="squared")]


@pytest.fixture(scope="module")
def table():
    """A table with a column of every kind, as pandas has it, and its target."""
    rng = np.random.default_rng(0)
    size = rng.choice(SIZES, N)
    day = np.datetime64("2024-01-01") + rng.integers(0, 300, N).astype("timedelta64[D]")
    X = pd.DataFrame(
        {
            "age": rng.normal(40, 10, N),
            "visits": rng.integers(0, 9, N),
            "member": rng.random(N) < 0.5,
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], N),
            "size": pd.Categorical(size, SIZES, ordered=True),
            "day": day.astype("datetime64[us]"),
            "wait": rng.integers(0, 50, N).astype("timedelta64[h]").astype("timedelta64[us]"),
        }
    )
    y = np.where(size == "medium", 2.0, 0.0) + (X["town"] == "Ulm") + 0.01 * X["visits"] * X["age"]
    return X, y.to_numpy() + 0.1 * rng.normal(size=N)


def _objects(X):
    return np.column_stack([X[name].astype(object) for name in X.columns])


def _polars(X):
    return pl.from_pandas(X.astype({"size": str})).with_columns(pl.col("size").cast(pl.Enum(SIZES)))


KINDS = {
    "nullable": lambda X: X.convert_dtypes(),
    "polars": _polars,
    "lazy": lambda X: _polars(X).lazy(),
    "arrow": lambda X: pa.Table.from_pandas(X, preserve_index=False),
    "arrow in pandas": lambda X: pa.Table.from_pandas(X).to_pandas(types_mapper=pd.ArrowDtype),
    "time zone": lambda X: X.assign(day=X["day"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")),
    "objects": lambda X: X.astype({"town": object, "day": object}),
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", TERMS)
def test_kinds_of_tables_agree(name, table):
    X, y = table
    model = TERMS[name]
    expected = model.fit(X, y).predict(X)
    assert list(model.effects_["size"].grids[0].points) == SIZES
    assert [column.dates for column in model.columns_] == [c == "day" for c in X.columns]
    for kind, make in KINDS.items():
        other = make(X)
        np.testing.assert_allclose(model.predict(other), expected, atol=1e-9, err_msg=kind)
        np.testing.assert_allclose(model.fit(other, y).predict(other), expected, atol=1e-9, err_msg=kind)
        assert list(model.effects_["size"].grids[0].points) == SIZES, kind
    days = [day.to_pydatetime() for day in X["day"]]
    objects = _objects(X.assign(size=X["size"].astype(str), day=days, wait=0.0))
    assert np.all(np.isfinite(model.fit(objects, y).predict(objects)))
    text = X[["town", "size"]].astype(str).to_numpy(dtype=str)
    assert model.fit(text, y).score(text, y) > 0.3


@pytest.mark.parametrize("name", TERMS)
def test_dates_may_come_as_text(name, table):
    X, y = table
    model = TERMS[name].fit(X, y)
    text = X["day"].dt.strftime("%Y-%m-%d")
    np.testing.assert_array_equal(model.predict(X.assign(day=text)), model.predict(X))
    moment = X["day"].dt.strftime("%Y-%m-%dT02:00+02:00")
    np.testing.assert_array_equal(model.predict(pl.from_pandas(X.assign(day=moment))), model.predict(X))
    with pytest.raises(ValueError, match="Column 'day' held dates in training, and holds 'soon' now"):
        model.predict(X.assign(day="soon"))
    with pytest.raises(ValueError, match="'2024-02-30'"):
        model.predict(X.assign(day="2024-02-30"))
    with pytest.raises(ValueError, match="Column 'age' held numbers in training, and holds dates now"):
        model.predict(X.assign(age=X["day"]))


@pytest.mark.parametrize("name", TERMS)
def test_new_levels_and_gaps(name, table):
    X, y = table
    model = TERMS[name].fit(X, y)
    with pytest.warns(UnseenLevelWarning, match="Column 'town' has a level in 120 rows"):
        assert np.all(np.isfinite(model.predict(X.assign(town="Jena"))))
    gaps = X.assign(town=X["town"].where(X["age"] > 30, None), wait=X["wait"].where(X["age"] > 30))
    if name == "additive":
        assert np.all(np.isfinite(model.predict(gaps)))
    else:
        with pytest.raises(ValueError, match=r"missing values in columns \['town', 'wait'\]"):
            model.predict(gaps)


@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS], ids=lambda m: type(m).__name__)
def test_lazy_frames(model, table):
    X, y = table
    X = pl.from_pandas(X[["age", "visits"]])
    y = pl.DataFrame({"y": (y > 1).astype(float)})
    expected = model.fit(X, y["y"]).predict(X)
    np.testing.assert_array_equal(model.fit(X.lazy(), y.lazy()).predict(X.lazy()), expected)


def test_lazy_frames_of_levels():
    X = pl.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "c": ["a", "b", "a", "b"]})
    model = KernelRidge(RBF().on(["x"]) * Categorical().on(["c"]), alpha=0.1)
    expected = model.fit(X, [0.0, 1.0, 2.0, 3.0]).predict(X)
    np.testing.assert_array_equal(model.fit(X.lazy(), [0.0, 1.0, 2.0, 3.0]).predict(X.lazy()), expected)


@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize(
    "make",
    [pd.DataFrame, lambda rows, columns: pa.table(list(rows.T), names=columns)],
    ids=["pandas", "arrow"],
)
def test_names_that_occur_twice(model, make):
    rows = np.random.default_rng(0).normal(size=(20, 3))
    twice = make(rows, columns=["a", "b", "a"])
    with pytest.raises(ValueError, match="X has two columns called 'a': rename one of them"):
        model.fit(twice, rows[:, 0] > 0)
    with pytest.raises(ValueError, match="y has two columns called 'a': rename one of them"):
        model.fit(rows, twice)
    with pytest.raises(ValueError, match="X has two columns called 'a'"):
        model.fit(rows, rows[:, 0] > 0).predict(twice)


def test_names_that_occur_twice_in_a_report():
    rows = np.random.default_rng(0).normal(size=(20, 3))
    model = InterpretableKernelRegressor(alpha=1.0).fit(rows, rows[:, 0])
    with pytest.raises(ValueError, match="X has two columns called 'a'"):
        build_report(model, pd.DataFrame(rows, columns=["a", "b", "a"]), rows[:, 0])


ONE_TARGET = [TERMS["isk"], TERMS["sparse additive"], REGRESSORS[-1], *CLASSIFIERS]


@pytest.mark.parametrize("model", ONE_TARGET, ids=lambda m: type(m).__name__)
def test_several_targets_where_there_is_one(model):
    rows = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ValueError, match="y has 2 columns, 'u', 'v': this model has one target"):
        model.fit(rows, pd.DataFrame(rows[:, :2] > 0, columns=["u", "v"]))


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)
def test_one_class_has_one_message(model):
    rows = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ValueError, match=r"Found only one class \(0\) with positive weight"):
        model.fit(rows, np.zeros(20, dtype=np.int64))


@pytest.mark.parametrize("n", [100, 600])
def test_a_column_that_names_the_rows_gets_no_term(n):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, n)
    X = pd.DataFrame({"key": [f"id{i}" for i in rng.permutation(n)], "x": x})
    model = AdditiveKernelRegressor().fit(X, np.sin(3 * x) + 0.3 * rng.normal(size=n))
    assert model.term_names_ == ["x"]
    assert np.all(np.isfinite(model.predict(X)))


def test_dates_with_and_without_time():
    moments = [dt.datetime(2024, 1, 1, 12), dt.date(2024, 1, 2), None] * 10
    X = pd.DataFrame({"when": pd.Series(moments, dtype=object), "x": np.arange(30.0)})
    model = AdditiveKernelRegressor(interactions=0).fit(X, np.arange(30.0))
    assert model.columns_[0].dates


def test_rows_without_a_class_are_named():
    X = np.random.default_rng(0).normal(size=(6, 2))
    y = np.array(["a", "b", None, "a", "b", "a"], dtype=object)
    with pytest.raises(ValueError, match="no class in row 2"):
        KernelRidgeClassifier().fit(X, y)
