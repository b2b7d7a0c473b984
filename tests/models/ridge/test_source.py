"""Kernel ridge of rows that come in blocks: the model of the table in memory, and refusals that help."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.dataset
import pytest
from scipy import sparse

import pellucid
from pellucid import AdditiveKernelRegressor, KernelRidge, KernelRidgeClassifier, load, save
from pellucid.data import first_look, passes, source
from pellucid.exceptions import NotEnoughMemoryError
from pellucid.kernels import Categorical, Matern, Spectrum
from pellucid.models.kernel_fit import landmark_fit
from pellucid.models.ridge import base, from_source
from pellucid.solvers import choice

N, MOST = 1500, 700
FEATURES = ["a", "b", "c"]


@pytest.fixture(autouse=True)
def _few_rows_are_many(monkeypatch):
    for name in ("_LEAST", "_MOST"):
        monkeypatch.setattr(first_look, name, MOST)
    for module in (base, from_source, choice):
        monkeypatch.setattr(module, "ITERATIVE_ROWS", MOST)
    monkeypatch.setattr(source, "_BLOCK_ROWS", 256)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    f = pd.DataFrame(rng.uniform(-1, 1, (N, 3)), columns=FEATURES)
    f["y"] = 5 + np.sin(3 * f.a) + f.b * f.c + 0.1 * rng.normal(size=N)
    f["label"] = np.where(f.y > 5.5, "high", np.where(f.y > 4.5, "middle", "low"))
    f["weight"] = rng.integers(0, 3, N).astype(float)
    return f


def parquet(table, folder, n_files=3):
    folder.mkdir()
    for k, rows in enumerate(np.array_split(np.arange(len(table)), n_files)):
        table.iloc[rows].to_parquet(folder / f"part-{k}.parquet", index=False)
    return folder


def sources(table, tmp_path):
    rows = table[[*FEATURES, "y"]]
    cuts = [slice(0, 100), slice(100, 1000), slice(1000, N)]
    folder = parquet(rows, tmp_path / "rows")
    yield "batches", [rows.iloc[c] for c in cuts], "y"
    yield "function", lambda: ((table[FEATURES].iloc[c], table.y.iloc[c]) for c in cuts), None
    yield "folder", folder, "y"
    yield "dataset", pyarrow.dataset.dataset(str(folder)), "y"
    yield "lazy", pl.from_pandas(rows).lazy(), "y"
    yield "another order", rows.sample(frac=1.0, random_state=0), "y"
    on_disk = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=(N, 3))
    on_disk[:] = table[FEATURES]
    yield "memory map", on_disk, table.y.to_numpy()


@pytest.mark.parametrize(("single", "tolerance"), [(False, 1e-10), (True, 1e-6)])
def test_the_model_is_that_of_the_table_whatever_the_rows_come_from(
    table, tmp_path, monkeypatch, single, tolerance
):
    monkeypatch.setattr(landmark_fit, "_SINGLE_WORK", 0.0 if single else np.inf)
    kernel, X = Matern(0.8, nu=2.5), table[FEATURES]
    model = KernelRidge(kernel, n_components=60).fit(X, table.y)
    assert model.solver_report_.precision == ("float32" if single else "float64")
    for name, rows, y in sources(table, tmp_path):
        other = KernelRidge(kernel, n_components=60).fit(rows, y)
        off = np.abs(other.predict(X.to_numpy() if name == "memory map" else X) - model.predict(X))
        assert off.max() < tolerance * table.y.std(), name
        assert other.alpha_ == pytest.approx(model.alpha_, rel=1e-5)
        assert other.effective_dof_ == pytest.approx(model.effective_dof_, rel=1e-4)
        assert other.noise_variance_ == pytest.approx(model.noise_variance_, rel=1e-4)
        assert other.scale_ == pytest.approx(model.scale_, rel=1e-3)
        assert other.solver_report_.n_rows == N
        assert len(other.loo_rows_) == MOST
        if name != "another order":
            there = model.loo_.residuals[other.loo_rows_]
            np.testing.assert_allclose(other.loo_.residuals, there, atol=1e-4)


def test_kernels_by_name_and_weights_choose_on_the_same_sample(table, tmp_path):
    X, weight = table[FEATURES], table.weight.to_numpy()
    model = KernelRidge(n_components=60).fit(X, table.y, weight)
    rows = parquet(table[[*FEATURES, "y", "weight"]], tmp_path / "rows")
    other = KernelRidge(n_components=60).fit(rows, "y", sample_weight="weight")
    assert other.kernel_ == model.kernel_
    np.testing.assert_allclose(other.predict(X), model.predict(X), rtol=1e-8)
    assert "rows                          " + str(int((weight > 0).sum())) in str(other.summary())


def test_classes(table, tmp_path):
    X = table[FEATURES]
    rows = parquet(table[[*FEATURES, "label"]], tmp_path / "rows")
    for targets in ("signed", "fisher"):
        options = {"targets": targets, "n_components": 60}
        model = KernelRidgeClassifier(Matern(0.8), **options).fit(X, table.label)
        other = KernelRidgeClassifier(Matern(0.8), **options).fit(rows, "label")
        assert other.classes_.tolist() == ["high", "low", "middle"]
        off = np.abs(other.decision_function(X) - model.decision_function(X))
        assert off.max() < (1e-8 if targets == "signed" else 0.1)  # whose zero is that of the sample
        assert other.loo_.error_rate == pytest.approx(model.loo_.error_rate, abs=0.03)
        np.testing.assert_array_equal(other.predict(rows), other.predict(X))
        np.testing.assert_array_equal(other.predict_proba(rows), other.predict_proba(X))


def test_few_rows_are_fitted_as_a_table_and_models_saved(table, tmp_path):
    some = table[[*FEATURES, "y"]][:400]
    one = KernelRidge().fit(some[FEATURES], some.y)
    two = KernelRidge().fit([some[:100], some[100:]], "y")
    np.testing.assert_array_equal(one.predict(some[FEATURES]), two.predict(some[FEATURES]))
    assert not hasattr(two, "loo_rows_")
    many = KernelRidge(Matern(), n_components=40).fit(table[[*FEATURES, "y"]], "y")
    save(many, tmp_path / "model.pellucid")
    again = load(tmp_path / "model.pellucid")
    np.testing.assert_array_equal(again.loo_rows_, many.loo_rows_)
    assert str(again.summary()) == str(many.summary())
    np.testing.assert_array_equal(again.noise_variance_, many.noise_variance_)
    fewer = many.fit(some[FEATURES], some.y)
    assert not hasattr(fewer, "loo_rows_")
    assert "rows                          400" in str(fewer.summary())


def test_an_interrupted_fit_goes_on_from_the_last_finished_pass(table, tmp_path, monkeypatch):
    rows = [table[[*FEATURES, "y"]]]
    make = lambda: KernelRidge(Matern(), alpha=0.1, n_components=40)  # noqa: E731
    monkeypatch.setattr(landmark_fit, "_SINGLE_WORK", 0.0)
    expected = make().fit(rows, "y").predict(table[FEATURES])
    run, started = passes.Passes.run, []

    def interrupted(self, total, label):
        started.append(label)
        if len(started) == 2:
            raise KeyboardInterrupt
        return run(self, total, label)

    monkeypatch.setattr(passes.Passes, "run", interrupted)
    with pellucid.settings(checkpoint=tmp_path / "fit"):
        with pytest.raises(KeyboardInterrupt):
            make().fit(rows, "y")
        assert (tmp_path / "fit" / "pass-0001").exists()
        model = make().fit(rows, "y")
    assert started[:2] == ["first look", "sums of 40 landmarks, float32"]
    np.testing.assert_array_equal(model.predict(table[FEATURES]), expected)
    assert not (tmp_path / "fit").exists()


def test_targets_beside_batches_may_be_a_series(table):
    rows, cuts = table[FEATURES], (slice(0, 100), slice(100, 420), slice(420, N))
    options = {"kernel": Matern(), "alpha": 0.1, "n_components": 40}
    model = KernelRidge(**options).fit([rows[c] for c in cuts], table.y)
    other = KernelRidge(**options).fit(rows, table.y)
    np.testing.assert_allclose(model.predict(rows), other.predict(rows), rtol=1e-9)
    few = KernelRidge(**options).fit([rows[c] for c in cuts[:2]], table.y[:420])
    assert len(few.loo_.residuals) == 420


def test_sparse_rows_stay_a_matrix(table):
    X = sparse.csr_array(np.where(table[FEATURES].abs() > 0.7, table[FEATURES], 0.0))
    assert KernelRidge(Matern(), alpha=0.1, n_components=20).fit(X, table.y).solver_ == "landmarks"
    with pytest.raises(TypeError, match=r"scipy\.sparse\.vstack"):
        KernelRidge().fit([X[:700], X[700:]], table.y)
    with pytest.raises(TypeError, match="dense"):
        AdditiveKernelRegressor().fit(X, table.y)


def test_refusals_say_what_to_do(table, tmp_path):
    rows = parquet(table, tmp_path / "rows")
    some = [table[[*FEATURES, "y"]]]
    with pytest.raises(ValueError, match=r"columns \['label'\] are not numeric. Encode"):
        KernelRidge().fit(rows, "y")
    by_level = Matern().on(FEATURES) * Categorical().on(["label"])
    with pytest.raises(ValueError, match=r"Column 'label' holds categories.*AdditiveKernelRegressor"):
        KernelRidge(by_level).fit(rows, "y")
    dated = some[0].assign(day=pd.Timestamp("2024-02-29"))
    with pytest.raises(ValueError, match="'day'"):
        KernelRidge().fit([dated], "y")
    with pytest.raises(ValueError, match="missing values in column 'a'"):
        KernelRidge().fit([some[0].assign(a=some[0].a.where(some[0].a < 0.9))], "y")
    with pytest.raises(ValueError, match="solver='landmarks'"):
        KernelRidge(solver="iterative").fit(some, "y")
    with pytest.raises(ValueError, match="update"):
        KernelRidge("linear", updatable=True).fit(some, "y")
    with pytest.raises(ValueError, match="requires y"):
        KernelRidge().fit(some, None)
    with pytest.raises(TypeError, match="needs rows in memory"):
        KernelRidge("precomputed").fit(rows, "y")
    with (
        pellucid.settings(memory_limit="1MB"),
        pytest.raises(NotEnoughMemoryError, match="smallest") as error,
    ):
        KernelRidge(n_components=40).fit(some, "y")
    limit = str(error.value).partition("memory_limit='")[2].partition("'")[0]
    with pellucid.settings(memory_limit=limit):
        KernelRidge(Matern(), alpha=0.1, n_components=40).fit(some, "y")


@pytest.mark.parametrize("machine", [KernelRidge, KernelRidgeClassifier])
def test_targets_by_name_beside_objects(machine):
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("ACGT"), 12)) for _ in range(MOST + 50)]
    rows = pd.DataFrame({"word": words, "y": [w.count("CG") > 0 for w in words]})
    rows["weight"] = rng.integers(1, 3, len(rows)).astype(float)
    model = machine(Spectrum(2).on("word"), alpha=0.1).fit(rows, "y", "weight")
    X, y, weight = rows[["word"]], rows["y"].to_numpy(), rows["weight"].to_numpy()
    same = machine(Spectrum(2).on("word"), alpha=0.1).fit(X, y, weight)
    assert list(model.feature_names_in_) == ["word"]
    assert np.array_equal(model.predict(X), same.predict(X))
    with pytest.raises(ValueError, match="no column 'z' to be y"):
        machine(Spectrum(2).on("word")).fit(rows, "z")
