"""Loaders: where a table is looked for, what comes out, and what is said when it is nowhere."""

import sys
from urllib.error import URLError

import numpy as np
import pytest
from sklearn.utils import Bunch

from pellucid.datasets import list_datasets, load_dataset, loaders
from pellucid.datasets.catalog import CATALOG, Entry
from pellucid.datasets.tables import read_table, write_table

pd = pytest.importorskip("pandas")


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """No folder is named, the cache is empty, and the network is down."""
    monkeypatch.delenv("PELLUCID_DATA", raising=False)
    monkeypatch.setenv("PELLUCID_CACHE", str(tmp_path / "cache"))

    def down(**_):
        raise URLError("no network")

    monkeypatch.setattr(loaders.bundled, "fetch_openml", down)
    monkeypatch.setattr(loaders.bundled, "fetch_california_housing", down)
    return tmp_path


def table(entry: Entry, rows: int = 6) -> "pd.DataFrame":
    """A small table with the columns of an entry."""
    names = [f"f{j}" for j in range(3)] + list(entry.drop) + [entry.target]
    frame = pd.DataFrame({name: np.arange(rows) + 0.5 * j for j, name in enumerate(names)})
    return frame.astype({entry.target: int}) if entry.classes else frame


# ----------------------------------------------------------------- where it is looked for


@pytest.mark.parametrize("ending", ["parquet", "csv", "npz"])
def test_folder_in_three_formats(nowhere, ending):
    frame = table(CATALOG["parkinsons"])
    path = nowhere / f"parkinsons_updrs.{ending}"
    if ending == "parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    elif ending == "csv":
        frame.to_csv(path, index=False)
    else:
        write_table({name: frame[name].to_numpy() for name in frame}, path)
    found = load_dataset("parkinsons", folder=nowhere)
    assert found.feature_names == ["f0", "f1", "f2"]  # the other target is gone
    assert found.target_name == "total_UPDRS"
    assert found.source == str(path)
    np.testing.assert_array_equal(found.target, frame["total_UPDRS"])
    pd.testing.assert_frame_equal(found.data, frame[["f0", "f1", "f2"]])


def test_environment_before_cache(nowhere, monkeypatch):
    here, cache = nowhere / "here", nowhere / "cache"
    here.mkdir()
    monkeypatch.setenv("PELLUCID_DATA", str(here))
    entry = CATALOG["airfoil"]
    write_table({name: c.to_numpy() for name, c in table(entry, 4).items()}, cache / "airfoil.npz")
    assert len(load_dataset("airfoil").target) == 4
    table(entry, 6).to_csv(here / "airfoil.csv", index=False)
    assert len(load_dataset("airfoil").target) == 6


def test_a_folder_is_the_only_place(nowhere):
    write_table(
        {name: c.to_numpy() for name, c in table(CATALOG["airfoil"]).items()}, nowhere / "cache/airfoil.npz"
    )
    empty = nowhere / "empty"
    empty.mkdir()
    with pytest.raises(FileNotFoundError, match=r"has no airfoil\.parquet, \.npz or \.csv"):
        load_dataset("airfoil", folder=empty)
    with pytest.raises(NotADirectoryError, match="is not a folder"):
        load_dataset("airfoil", folder=nowhere / "absent")


@pytest.mark.parametrize("name", ["diabetes", "breast_cancer", "wine"])
def test_bundled_sets_need_nothing(nowhere, name):
    found = load_dataset(name, as_frame=False)
    assert found.data.shape == (CATALOG[name].rows, CATALOG[name].features)
    assert found.data.dtype == float
    assert found.source == "scikit-learn"


# ------------------------------------------------------------------------- download


def openml(entry, rows, *, target="class", extra=()):
    """A stand-in for fetch_openml that counts its calls."""
    calls = []

    def fetch(**options):
        calls.append(options)
        n = np.arange(rows, dtype=float)
        data = pd.DataFrame({f"V{j}": n + j for j in range(entry.features)} | {name: n for name in extra})
        labels = pd.Series(np.where(n % 2, "b", "a"), name=target, dtype="category")
        return Bunch(data=data, target=labels if entry.classes else pd.Series(n, name=target))

    return fetch, calls


def test_download_once_then_the_cache(nowhere, monkeypatch):
    entry = CATALOG["spambase"]
    fetch, calls = openml(entry, entry.rows)
    monkeypatch.setattr(loaders.bundled, "fetch_openml", fetch)
    first = load_dataset("spambase")
    second = load_dataset("spambase")
    assert [call["data_id"] for call in calls] == [44]
    assert first.source == "OpenML 44"
    assert second.source.endswith("spambase.npz")
    pd.testing.assert_frame_equal(first.data, second.data)
    np.testing.assert_array_equal(first.target, second.target)
    assert set(first.target) == {"a", "b"}
    assert first.target_name == "is_spam"
    assert not list((nowhere / "cache").glob("*.part*"))


def test_other_target_among_the_features(nowhere, monkeypatch):
    entry = CATALOG["parkinsons"]
    fetch, _ = openml(entry, entry.rows, target="total_UPDRS", extra=["motor_updrs"])
    monkeypatch.setattr(loaders.bundled, "fetch_openml", fetch)
    found = load_dataset("parkinsons", as_frame=False)
    assert found.data.shape == (5875, 20)
    assert "motor_updrs" not in found.feature_names


def test_running_numbers_are_no_features(nowhere, monkeypatch):
    entry = CATALOG["eeg"]
    fetch, _ = openml(entry, entry.rows, extra=["ID"])
    monkeypatch.setattr(loaders.bundled, "fetch_openml", fetch)
    assert load_dataset("eeg").data.shape == (14980, 14)


def test_another_version_of_the_data_is_refused(nowhere, monkeypatch):
    fetch, _ = openml(CATALOG["spambase"], 100)
    monkeypatch.setattr(loaders.bundled, "fetch_openml", fetch)
    with pytest.raises(ValueError, match=r"100 rows and 57 features instead of 4601 and 57.*another version"):
        load_dataset("spambase")
    assert not (nowhere / "cache").exists()


def test_california_comes_from_scikit_learn(nowhere, monkeypatch):
    entry = CATALOG["california"]
    numbers = np.zeros((entry.rows, 8))
    found = Bunch(data=numbers, target=numbers[:, 0], feature_names=[f"c{j}" for j in range(8)])
    monkeypatch.setattr(loaders.bundled, "fetch_california_housing", lambda: found)
    assert load_dataset("california").target_name == "MedHouseVal"
    assert load_dataset("california").source.endswith("california_housing.npz")


# --------------------------------------------------------------------------- errors


def test_unknown_name_suggests():
    with pytest.raises(ValueError, match=r"no dataset 'spambas'. Did you mean 'spambase'"):
        load_dataset("spambas")
    with pytest.raises(ValueError, match=r"no dataset 'zzzz'. list_datasets\(\)"):
        load_dataset("zzzz")
    with pytest.raises(TypeError, match="is a string, got int"):
        load_dataset(3)


def test_no_folder_and_no_network(nowhere):
    with pytest.raises(FileNotFoundError, match=r"download failed.*no network.*folder=.*PELLUCID_DATA"):
        load_dataset("airfoil")
    with pytest.raises(FileNotFoundError, match="download failed"):
        load_dataset("california")
    with pytest.raises(FileNotFoundError, match="downloads are switched off"):
        load_dataset("airfoil", download=False)
    with pytest.raises(FileNotFoundError, match="it is not on OpenML"):
        load_dataset("kin40k")


def test_missing_packages_are_named(nowhere, monkeypatch):
    table(CATALOG["airfoil"]).to_csv(nowhere / "airfoil.csv", index=False)
    (nowhere / "kin40k.parquet").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="install pyarrow"):
        load_dataset("kin40k", folder=nowhere)
    with pytest.raises(ImportError, match="install pandas"):
        load_dataset("airfoil", folder=nowhere)
    with pytest.raises(ImportError, match=r"as_frame=False\), install pandas"):
        load_dataset("wine")
    assert load_dataset("wine", as_frame=False).data.shape == (178, 13)


def test_a_table_without_its_target(nowhere):
    table(CATALOG["airfoil"]).drop(columns="scaled_sound_pressure_level").to_csv(nowhere / "airfoil.csv")
    with pytest.raises(ValueError, match="no column 'scaled_sound_pressure_level'"):
        load_dataset("airfoil", folder=nowhere)


def test_an_archive_that_is_no_table(nowhere):
    np.savez(nowhere / "airfoil.npz", X=np.zeros(3))
    with pytest.raises(ValueError, match="is not a table"):
        load_dataset("airfoil", folder=nowhere)


# ---------------------------------------------------------------------------- shapes


def test_text_survives_the_cache(tmp_path):
    columns = {"n": np.array([1.5, 2.5]), "a/b c": np.array(["é", "b"], dtype=object), "k": np.array([1, 2])}
    write_table(columns, tmp_path / "t.npz")
    back = read_table(tmp_path / "t.npz")
    assert list(back) == list(columns)
    for name, values in columns.items():
        np.testing.assert_array_equal(back[name], values)
    assert back["a/b c"].dtype == object
    assert back["k"].dtype.kind == "i"


def test_text_as_array_and_as_frame(nowhere):
    frame = pd.DataFrame({"job": ["a", "b", "a"], "age": [1, 2, 3], "y": ["yes", "no", "no"]})
    frame.to_csv(nowhere / "bank_additional_full.csv", index=False)
    X, y = load_dataset("bank", folder=nowhere, return_X_y=True, as_frame=False)
    assert X.dtype == object
    assert X[1].tolist() == ["b", 2]
    assert y.tolist() == ["yes", "no", "no"]
    assert list(load_dataset("bank", folder=nowhere).data["job"]) == ["a", "b", "a"]


def test_list_datasets():
    ten = {"parkinsons", "pumadyn8nh", "california", "kin40k", "protein"}
    ten |= {"spambase", "eeg", "credit", "bank", "cod_rna"}
    assert ten <= set(list_datasets())
    assert "spambase" in list_datasets("classification")
    assert "spambase" not in list_datasets("regression")
    with pytest.raises(ValueError, match="tasks are classification, counts, regression"):
        list_datasets("clustering")


@pytest.mark.data
@pytest.mark.parametrize("name", [n for n in list_datasets() if CATALOG[n].rows < 50_000])
def test_real_tables_have_the_size_they_claim(name):
    import os

    if not os.environ.get("PELLUCID_DATA"):
        pytest.skip("PELLUCID_DATA does not name a folder with the real datasets")
    try:
        found = load_dataset(name, download=False)
    except FileNotFoundError:
        pytest.skip(f"the folder of PELLUCID_DATA has no {name}")
    entry = CATALOG[name]
    assert found.data.shape == (entry.rows, entry.features)
    assert entry.target == found.target_name
    assert (found.target.dtype == float) != entry.classes
