"""Models that see a table take rows from anywhere that fits in memory, and refuse what does not."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.dataset
import pytest

import pellucid
from pellucid import (
    InterpretableKernelRegressor,
    KernelClassifier,
    KernelFisherDiscriminant,
    KernelGLMRegressor,
    SparseAdditiveRegressor,
)
from pellucid.exceptions import NotEnoughMemoryError
from pellucid.kernels import Matern

N = 90
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(RNG.normal(size=(N, 2)), columns=["a", "b"])
TABLE["y"] = np.sin(TABLE.a) + 0.1 * RNG.normal(size=N)
TABLE["label"] = np.where(TABLE.y > 0, "yes", "no")
TABLE["weight"] = RNG.uniform(0.5, 1.5, N)


def places(rows, folder):
    """The same rows on disk, as batches and as a lazy frame."""
    folder.mkdir()
    for k in range(2):
        rows[45 * k : 45 * (k + 1)].to_parquet(folder / f"{k}.parquet", index=False)
    yield folder
    yield pyarrow.dataset.dataset(str(folder))
    yield [rows[:30], rows[30:]]
    yield lambda: iter([rows[:30], rows[30:]])
    yield pl.from_pandas(rows).lazy()


@pytest.mark.parametrize(
    "model",
    [
        KernelGLMRegressor(Matern(), loss="huber", alpha=0.1),
        KernelClassifier(Matern(), alpha=0.1),
        KernelFisherDiscriminant(Matern(), alpha=0.1),
        InterpretableKernelRegressor("linear", alpha=0.1),
        SparseAdditiveRegressor(alpha=0.1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_rows_that_fit_in_memory_are_read(model, tmp_path):
    target = "label" if hasattr(type(model), "predict_proba") else "y"
    X = TABLE[["a", "b"]]
    expected = model.fit(X, TABLE[target], TABLE.weight).predict(X)
    for rows in places(TABLE[["a", "b", target, "weight"]], tmp_path / "rows"):
        model.fit(rows, target, sample_weight="weight")
        assert model.feature_names_in_.tolist() == ["a", "b"]
        found = model.predict(rows)
        if target == "label":
            np.testing.assert_array_equal(found, expected)
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_rows_of_dask_are_read_and_predicted_where_they_are():
    dd = pytest.importorskip("dask.dataframe")
    rows = dd.from_pandas(TABLE[["a", "b", "y"]], npartitions=3, sort=False)
    model = SparseAdditiveRegressor(alpha=0.1).fit(rows, "y")
    lazy = model.predict(rows)
    np.testing.assert_array_equal(lazy.compute(), model.predict(TABLE[["a", "b"]]))


def test_rows_that_do_not_fit_are_refused_with_what_to_do():
    rows = [TABLE[["a", "b", "y"]]]
    refused = pytest.raises(NotEnoughMemoryError, match=r"about 89 of 2 features fit.*sample.*KernelRidge")
    with pellucid.settings(memory_limit=96 * (N - 1)), refused:
        KernelGLMRegressor(loss="huber").fit(rows, "y")
    with pellucid.settings(memory_limit=96 * N):
        KernelGLMRegressor(Matern(), loss="huber", alpha=0.1).fit(rows, "y")


def test_lists_of_objects_are_no_batches():
    words = ["a", "ab", "abc", "b", "bc", "c", "ca", "cab"]
    shared = lambda a, b: float(len(set(a) & set(b)))  # noqa: E731
    model = KernelGLMRegressor(shared, loss="huber", alpha=0.1).fit(words, np.arange(8.0))
    assert model.predict(words).shape == (8,)
