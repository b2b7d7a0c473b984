"""Rows that come in blocks: one answer, whatever they come from, and errors that say where."""

import os
from functools import reduce

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.dataset
import pytest

import pellucid
from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor
from pellucid.data import first_look, passes, source
from pellucid.exceptions import NotEnoughMemoryError
from pellucid.losses import as_loss
from pellucid.models.additive.engine.all_rows import AllRows
from pellucid.models.additive.engine.state import Problem
from pellucid.models.additive.engine.structure import build_axes, fit_additive

N, SAMPLE, BLOCK = 1500, 700, 256
FEATURES = ["a", "b", "g"]


@pytest.fixture(autouse=True)
def _few_rows_are_many(monkeypatch):
    monkeypatch.setattr(first_look, "_LEAST", SAMPLE)
    monkeypatch.setattr(first_look, "_MOST", SAMPLE)
    monkeypatch.setattr(source, "_BLOCK_ROWS", BLOCK)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    f = pd.DataFrame(rng.normal(size=(N, 2)), columns=["a", "b"])
    f["g"] = rng.choice(["u", "v", "w"], N)
    eta = np.sin(2 * f.a) + 0.5 * f.b * (f.g == "u")
    f.loc[rng.random(N) < 0.05, "b"] = np.nan
    f["y"] = eta + 0.3 * rng.normal(size=N)
    f["count"] = rng.poisson(np.exp(eta.fillna(0)))
    f["label"] = np.where(rng.random(N) < 1 / (1 + np.exp(-2 * eta.fillna(0))), "yes", "no")
    f["weight"] = rng.integers(0, 3, N).astype(float)
    f["time"] = rng.uniform(0.5, 2.0, N)
    return f


def parquet(table, folder, n_files=4):
    folder.mkdir(exist_ok=True)
    for k, rows in enumerate(np.array_split(np.arange(len(table)), n_files)):
        table.iloc[rows].to_parquet(folder / f"part-{k}.parquet", index=False)
    return folder


def predictor(model, X):
    return getattr(model, "decision_function", model.predict)(X)


def close(model, other, X, tol=1e-10):
    one, two = predictor(model, X), predictor(other, X)
    assert np.abs(one - two).max() < tol * one.std()


@pytest.fixture(scope="module")
def in_memory(table):
    patch = pytest.MonkeyPatch()
    for module, name, value in (
        (first_look, "_LEAST", SAMPLE),
        (first_look, "_MOST", SAMPLE),
        (source, "_BLOCK_ROWS", BLOCK),
    ):
        patch.setattr(module, name, value)
    try:
        return AdditiveKernelRegressor().fit(table[FEATURES], table.y)
    finally:
        patch.undo()


def sources(table, tmp_path):
    cols = table[[*FEATURES, "y"]]
    cuts = [slice(0, 100), slice(100, 1000), slice(1000, N)]
    folder = parquet(cols, tmp_path / "rows")
    yield "batches", [cols.iloc[c] for c in cuts], "y"
    yield "function", lambda: ((table[FEATURES].iloc[c], table.y.iloc[c]) for c in cuts), None
    yield "folder", folder, "y"
    yield "dataset", pyarrow.dataset.dataset(str(folder)), "y"
    yield "lazy", pl.from_pandas(cols).lazy(), "y"
    yield "another order", cols.sample(frac=1.0, random_state=0), "y"


def test_the_model_is_that_of_the_table_whatever_the_rows_come_from(table, tmp_path, in_memory):
    assert in_memory.n_rows_ == N
    assert {(0,), (1, 2)} <= set(in_memory.terms_)
    for name, rows, y in sources(table, tmp_path):
        model = AdditiveKernelRegressor().fit(rows, y)
        assert model.term_names_ == in_memory.term_names_, name
        close(in_memory, model, table[FEATURES])
        assert model.deviance_explained_ == pytest.approx(in_memory.deviance_explained_, rel=1e-10)
        assert model.receipt_.pairs == pytest.approx(in_memory.receipt_.pairs, abs=1e-9)


def test_predictions_come_block_by_block(table, tmp_path, in_memory):
    expected = in_memory.predict(table[FEATURES])
    for name, rows, _ in sources(table, tmp_path):
        if name not in ("another order", "function"):
            np.testing.assert_array_equal(in_memory.predict(rows), expected, err_msg=name)


def test_a_memory_map_is_a_matrix_on_disk(tmp_path):
    rng = np.random.default_rng(0)
    X = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=(N, 2))
    X[:] = rng.normal(size=(N, 2))
    y = np.memmap(tmp_path / "y", dtype=np.float64, mode="w+", shape=(N,))
    y[:] = np.sin(X[:, 0])
    model = AdditiveKernelRegressor(0).fit(X, y)
    close(model, AdditiveKernelRegressor(0).fit(np.array(X), np.array(y)), np.array(X))
    np.testing.assert_array_equal(model.predict(X), model.predict(np.array(X)))


@pytest.mark.parametrize("what", ["count", "label"])
def test_other_losses_with_weights_offsets_and_exposure(table, tmp_path, what):
    known = {"count": {"exposure": "time"}, "label": {"offset": "time"}}[what]
    make = (
        (lambda: AdditiveKernelRegressor(loss="poisson"))
        if what == "count"
        else lambda: AdditiveKernelClassifier()
    )
    cols = [*FEATURES, what, "weight", "time"]
    known = {"sample_weight": "weight", **known}
    arrays = {role: table[name].to_numpy() for role, name in known.items()}
    model = make().fit(table[FEATURES], table[what], **arrays)
    other = make().fit(parquet(table[cols], tmp_path / "rows"), what, **known)
    assert model.n_rows_ == int((table.weight > 0).sum())
    close(model, other, table[FEATURES])


def test_several_classes_and_a_monotone_feature(table, tmp_path):
    y = pd.cut(table.y, 3, labels=["low", "middle", "high"]).astype(str)
    X = table[FEATURES]
    model = AdditiveKernelClassifier(0).fit(X, y)
    close(model, AdditiveKernelClassifier(0).fit([(X[:800], y[:800]), (X[800:], y[800:])], None), X)
    assert model.classes_.tolist() == ["high", "low", "middle"]
    rising = AdditiveKernelRegressor(0, monotone={"a": 1}).fit([table[[*FEATURES, "y"]]], "y")
    curve = rising.predict(pd.DataFrame({"a": np.linspace(-2, 2, 50), "b": 0.0, "g": "u"}))
    assert np.all(np.diff(curve) >= 0)


def test_sums_are_kept_and_rows_added(table):
    model = AdditiveKernelRegressor(0, updatable=True).fit([table[[*FEATURES, "y"]].iloc[:1000]], "y")
    assert model.sums_.n_rows == 1000
    other = model.refit(table[FEATURES], table.y)
    model.update(table[FEATURES].iloc[1000:], table.y.iloc[1000:])
    close(model, other, table[FEATURES], 1e-8)


class _Slices:
    """Rows of a problem in blocks."""

    def __init__(self, problem, step):
        self.parts = [problem.part(slice(i, i + step)) for i in range(0, len(problem), step)]

    def total(self, work, add, label):
        return reduce(add, map(work, self.parts))


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_a_fit_to_blocks_is_the_fit_to_the_rows(loss):
    rng = np.random.default_rng(3)
    X, offset = rng.normal(size=(900, 2)), 0.3 * rng.normal(size=900)
    eta = np.sin(2 * X[:, 0]) + X[:, 0] * X[:, 1] + offset
    y = {
        "squared": eta + 0.3 * rng.normal(size=900),
        "logistic": (rng.random(900) < 1 / (1 + np.exp(-2 * eta))).astype(float),
        "poisson": rng.poisson(np.exp(eta)).astype(float),
    }[loss]
    problem = Problem(X, y, rng.uniform(0.5, 1.5, 900), offset, as_loss(loss))
    axes = build_axes(X, problem.weight)
    rows = AllRows(
        _Slices(problem, 200), problem, problem.loss, 900, problem.total, y.min(), y.max(), None,
        np.arange(900), 900.0,
    )  # fmt: skip
    assert rows.constant == pytest.approx(problem.constant, rel=1e-8)
    one, two = (fit_additive(p, axes, None, None) for p in (problem, rows))
    assert list(one.basis.terms) == list(two.basis.terms)
    np.testing.assert_allclose(two.fit.beta, one.fit.beta, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(rows.here(two.eta), one.eta, rtol=1e-6, atol=1e-7)


def test_rows_of_weight_zero_do_not_count(table):
    cols = table[[*FEATURES, "y"]].assign(w=(np.arange(N) < 600).astype(float))
    one = AdditiveKernelRegressor(0).fit([cols], "y", sample_weight="w")
    assert one.n_rows_ == 600
    two = AdditiveKernelRegressor(0).fit(cols[FEATURES][:600], cols.y[:600])
    close(two, one, table[FEATURES][:600], 1e-3)  # knots have other weights in their last digits


def test_few_rows_are_fitted_as_a_table(table):
    some = table[[*FEATURES, "y"]].iloc[:400]
    one = AdditiveKernelRegressor(0).fit(some[FEATURES], some.y)
    two = AdditiveKernelRegressor(0).fit([some.iloc[:100], some.iloc[100:]], "y")
    np.testing.assert_array_equal(one.predict(some[FEATURES]), two.predict(some[FEATURES]))
    assert two.loo_rows_.tolist() == list(range(400))


# ------------------------------------------------------------------------------- faults
def test_an_interrupted_fit_goes_on_from_the_last_finished_pass(table, tmp_path, in_memory, monkeypatch):
    batches = [table[[*FEATURES, "y"]]]
    run = passes.Passes.run
    started = []

    def interrupted(self, total, label):
        def count(tell):
            started.append(label)
            if len(started) == 3:
                raise KeyboardInterrupt
            return total(tell)

        return run(self, count, label)

    monkeypatch.setattr(passes.Passes, "run", interrupted)
    with pellucid.settings(checkpoint=tmp_path / "fit"):
        with pytest.raises(KeyboardInterrupt):
            AdditiveKernelRegressor().fit(batches, "y")
        assert sorted(p.name for p in (tmp_path / "fit").iterdir()) == ["fit", "pass-0001", "pass-0002"]
        with pytest.raises(ValueError, match="another model"):
            AdditiveKernelRegressor(0).fit(batches, "y")
        before = len(started)
        model = AdditiveKernelRegressor().fit(batches, "y")
    assert "first look" not in started[before:]
    np.testing.assert_array_equal(model.predict(table[FEATURES]), in_memory.predict(table[FEATURES]))
    assert not (tmp_path / "fit").exists()


def test_a_checkpoint_is_not_made_to_run_code(tmp_path):
    import pickle

    kept = passes.Passes(pellucid._settings.Settings(checkpoint=tmp_path), "a fit", None)
    (tmp_path / "pass-0001").write_bytes(pickle.dumps(("first look", os.system)))
    with pytest.raises(ValueError, match="damaged"):
        kept.run(lambda tell: 0, "first look")


def test_progress_says_which_pass_is_done(table, capsys, monkeypatch):
    now = iter(range(10**6))
    monkeypatch.setattr(passes.time, "monotonic", lambda: float(next(now)))
    with pellucid.settings(verbose=1):
        AdditiveKernelRegressor(0).fit([table[[*FEATURES, "y"]]], "y")
    said = capsys.readouterr().err
    assert "pass 1, first look: done over 1,500 rows" in said
    assert "sums of products" in said


def test_a_truncated_file_is_named(table, tmp_path):
    folder = parquet(table[[*FEATURES, "y"]], tmp_path / "rows")
    damaged = folder / "part-2.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"part-2\.parquet is damaged"):
        AdditiveKernelRegressor().fit(folder, "y")


def test_a_file_that_is_damaged_inside_is_named(table, tmp_path):
    folder = parquet(table[[*FEATURES, "y"]], tmp_path / "rows")
    damaged = folder / "part-2.parquet"
    content = bytearray(damaged.read_bytes())
    content[4:400] = bytes(396)  # the footer stays, and so the file looks whole
    damaged.write_bytes(content)
    with pytest.raises(ValueError, match=r"part-2\.parquet cannot be read to its end"):
        AdditiveKernelRegressor().fit(folder, "y")


def test_a_file_with_other_columns_is_named(table, tmp_path):
    folder = parquet(table[[*FEATURES, "y"]], tmp_path / "rows")
    good = pd.read_parquet(folder / "part-1.parquet")
    for bad, message in (
        (good.rename(columns={"b": "c"}), "has no column 'b'"),
        (good.assign(c=1.0), "has a column 'c'"),
        (good.assign(a="x"), "column 'a' holds text, in the first file numbers"),
    ):
        bad.to_parquet(folder / "part-1.parquet", index=False)
        with pytest.raises(ValueError, match=rf"part-1\.parquet.*{message}"):
            AdditiveKernelRegressor().fit(folder, "y")


def test_a_batch_that_does_not_fit_is_named(table):
    good = table[[*FEATURES, "y"]]
    for bad, message in (
        (good.assign(a=np.nan, b=np.nan, g=None), "all features are missing"),
        (good.assign(y=np.nan), "the target is missing in all rows"),
        (good.drop(columns="b"), "no column 'b'"),
        (good.assign(a="x"), "holds numbers in Batch 0, and categories in Batch 0 to Batch 1"),
        (good.assign(a=np.inf), "column 'a' holds infinity"),
    ):
        with pytest.raises(ValueError, match=message) as error:
            AdditiveKernelRegressor().fit([good, bad], "y")
        assert "Batch 1" in str(error.value)
    X = good[["a"]].to_numpy()
    with pytest.raises(ValueError, match="Batch 1: the rows have the shape"):
        AdditiveKernelRegressor().fit([(X, X[:, 0]), (np.hstack([X, X]), X[:, 0])], None)


def test_an_iterator_is_refused(table):
    with pytest.raises(TypeError, match="several times"):
        AdditiveKernelRegressor().fit(iter([table]), "y")


def test_a_limit_too_small_is_refused_before_the_rows_are_read(table):
    read = []

    def batches():
        read.append(True)
        yield table[[*FEATURES, "y"]]

    with (
        pellucid.settings(memory_limit="1MB"),
        pytest.raises(NotEnoughMemoryError, match="smallest") as error,
    ):
        AdditiveKernelRegressor().fit(batches, "y")
    assert len(read) <= 2  # a look at the first, and whether there are few
    limit = str(error.value).partition("memory_limit='")[2].partition("'")[0]
    with pellucid.settings(memory_limit=limit):
        AdditiveKernelRegressor(0).fit(batches, "y")
    with pytest.raises(ValueError, match="'2 bananas'"), pellucid.settings(memory_limit="2 bananas"):
        pass


def test_the_index_of_a_data_frame_is_no_feature(table, tmp_path):
    rows = table[[*FEATURES, "y"]].sample(300, random_state=0)  # whose index pandas writes as a column
    model = AdditiveKernelRegressor(interactions=0).fit(rows, "y")
    for k, one in enumerate((rows, rows.rename_axis("row"))):
        path = tmp_path / f"{k}.parquet"
        one.to_parquet(path)
        from_file = AdditiveKernelRegressor(interactions=0).fit(path, "y")
        assert list(from_file.feature_names_in_) == FEATURES
        close(from_file, model, rows[FEATURES])
        assert np.array_equal(from_file.predict(path), from_file.predict(rows[FEATURES]))
    rows.set_index("y").to_parquet(path)  # an index that is the target
    close(AdditiveKernelRegressor(interactions=0).fit(path, "y"), model, rows[FEATURES])
