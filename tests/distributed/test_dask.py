"""Rows on a cluster: the model of the table, also if a worker dies."""

import os
import warnings

import numpy as np
import pandas as pd
import pytest

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

from pellucid import (  # noqa: E402
    AdditiveKernelClassifier,
    AdditiveKernelRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    LooSearch,
    stability,
)
from pellucid.data import first_look, source  # noqa: E402
from pellucid.kernels import RBF, Matern  # noqa: E402
from pellucid.models.ridge import base, from_source  # noqa: E402
from pellucid.solvers import choice  # noqa: E402

N = 1500


@pytest.fixture(autouse=True)
def _few_rows_are_many(monkeypatch):
    monkeypatch.setattr(first_look, "_LEAST", 700)
    monkeypatch.setattr(first_look, "_MOST", 700)
    monkeypatch.setattr(source, "_BLOCK_ROWS", 256)
    for module in (base, from_source, choice):
        monkeypatch.setattr(module, "ITERATIVE_ROWS", 700)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(2)
    f = pd.DataFrame(rng.normal(size=(N, 2)), columns=["a", "b"])
    f["g"] = rng.choice(["u", "v"], N)
    f["y"] = np.sin(2 * f.a) + 0.5 * f.b * (f.g == "u") + 0.3 * rng.normal(size=N)
    return f


@pytest.fixture(scope="module")
def cluster():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client


def close(one, two, X):
    a, b = (getattr(m, "decision_function", m.predict)(X) for m in (one, two))
    assert np.abs(a - b).max() < 1e-10 * a.std()


def test_data_frames_in_threads(table):
    X = table[["a", "b", "g"]]
    model = AdditiveKernelRegressor().fit(X, table.y)
    rows = dd.from_pandas(table, npartitions=5, sort=False)
    other = AdditiveKernelRegressor().fit(rows, "y")
    close(model, other, X)
    lazy = other.predict(rows)
    assert isinstance(lazy, da.Array)
    np.testing.assert_array_equal(lazy.compute(), other.predict(X))
    third = AdditiveKernelRegressor().fit(rows[["a", "b", "g"]], rows["y"])
    close(model, third, X)


def test_arrays_of_any_chunks(table):
    X, y = table[["a", "b"]].to_numpy(), table.y.to_numpy() > 0
    model = AdditiveKernelClassifier(0).fit(X, y)
    rows = da.from_array(X, chunks=(400, 1))
    close(model, AdditiveKernelClassifier(0).fit(rows, da.from_array(y, chunks=300)), X)
    close(model, AdditiveKernelClassifier(0).fit(rows, y), X)
    lazy = model.predict_proba(rows)
    assert lazy.shape == (N, 2)
    np.testing.assert_array_equal(lazy.compute(), model.predict_proba(X))


def test_a_partition_that_does_not_fit_is_named(table):
    def spoiled(part, partition_info=None):
        return part.assign(a=np.nan, b=np.nan, g=None) if partition_info["number"] == 2 else part

    rows = dd.from_pandas(table, npartitions=4, sort=False).map_partitions(spoiled, meta=table.iloc[:0])
    with pytest.raises(ValueError, match="Partition 2: all features are missing"):
        AdditiveKernelRegressor().fit(rows, "y")
    with pytest.raises(ValueError, match="no column 'z'"):
        AdditiveKernelRegressor().fit(dd.from_pandas(table, npartitions=2), "z")
    with pytest.raises(ValueError, match="300 entries"):
        AdditiveKernelRegressor().fit(da.zeros((N, 2)), da.zeros(300))


def test_kernel_ridge_of_arrays_and_data_frames_in_threads(table):
    X, y = table[["a", "b"]].to_numpy(), table.y.to_numpy()
    model = KernelRidge(Matern(), n_components=40).fit(X, y)
    rows = da.from_array(X, chunks=(400, 1))
    other = KernelRidge(Matern(), n_components=40).fit(rows, da.from_array(y, chunks=400))
    close(model, other, X)
    lazy = other.predict(rows)
    assert isinstance(lazy, da.Array)
    np.testing.assert_array_equal(lazy.compute(), other.predict(X))
    frame = dd.from_pandas(table[["a", "b", "g"]], npartitions=3, sort=False)
    classes = KernelRidgeClassifier(Matern(), n_components=40)
    there = classes.fit(frame, "g").decision_function(frame).compute()
    here = classes.fit(table[["a", "b"]], table.g).decision_function(table[["a", "b"]])
    np.testing.assert_allclose(there, here, atol=1e-8)


def landmark_ridge():
    return KernelRidge(Matern(), n_components=40)


@pytest.mark.parametrize("make", [AdditiveKernelRegressor, landmark_ridge])
def test_two_workers_of_which_one_dies(table, cluster, tmp_path, make):
    features = ["a", "b", "g"] if make is AdditiveKernelRegressor else ["a", "b"]
    X, table = table[features], table[[*features, "y"]]
    model = make().fit(X, table.y)
    mark, count = tmp_path / "dead", tmp_path / "parts"

    def deadly(part):
        with open(count, "a") as stream:
            stream.write(".")
        if os.path.getsize(count) > 12 and not mark.exists():  # in the second pass
            mark.touch()
            os._exit(1)
        return part

    rows = dd.from_pandas(table, npartitions=6, sort=False).map_partitions(deadly, meta=table.iloc[:0])
    other = make().fit(rows, "y")
    assert mark.exists()
    close(model, other, X)
    lazy = other.predict(dd.from_pandas(X, npartitions=3, sort=False))
    np.testing.assert_array_equal(lazy.compute(), other.predict(X))


def test_replicated_work_runs_on_the_cluster(table, cluster):
    joblib = pytest.importorskip("joblib")
    X, y = table[["a", "b"]].to_numpy()[:120], table.y.to_numpy()[:120]
    model = AdditiveKernelRegressor(0)
    search = LooSearch(KernelRidge(RBF(), alpha=0.1), {"kernel__length_scale": [0.5, 2.0]}, n_jobs=2)
    here, best = stability(model, X, y, n_splits=3), search.fit(X, y).best_params_
    with joblib.parallel_config("dask"):
        there = stability(model, X, y, n_splits=3, n_jobs=2)
        assert search.fit(X, y).best_params_ == best
    np.testing.assert_allclose(there.test_error, here.test_error)
