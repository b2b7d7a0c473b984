"""How a file is written: whole or not at all, the same bytes for the same model, readable by other means."""

import copy
import hashlib
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from datetime import UTC, datetime

import numpy as np
import pytest
from model_files import changed, difference, members, saved
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pellucid
from pellucid import KernelClassifier, KernelRidge, load, save
from pellucid.exceptions import ModelFileError
from pellucid.export import describe
from pellucid.kernels import RBF, Linear, PairFunction

RNG = np.random.default_rng(1)
X = RNG.normal(size=(15, 2))
MODEL = KernelRidge(RBF(0.5), alpha=1.0).fit(X, X[:, 0])


def test_paths_and_files(tmp_path):
    for path in (tmp_path / "a.pellucid", str(tmp_path / "b")):
        save(MODEL, path)
        assert difference(MODEL, load(path)) is None
        with open(path, "rb") as stream:
            assert difference(MODEL, load(stream)) is None
            assert difference(MODEL, load(bytearray(stream.seek(0) or stream.read()))) is None
    assert sorted(os.listdir(tmp_path)) == ["a.pellucid", "b"]
    assert (tmp_path / "b").read_bytes() == saved(MODEL)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing")
    with pytest.raises(FileNotFoundError):
        save(MODEL, tmp_path / "no folder" / "a.pellucid")


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.pellucid"
    save(MODEL, path)
    before = path.read_bytes()
    with pytest.raises(ModelFileError, match=r"^model\.kernel\.function is a function"):
        save(KernelRidge(PairFunction(lambda a, b: 1.0)), path)

    def fail(*arguments):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="the disk is full"):
        save(MODEL, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.pellucid"]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no such folder.*nowhere'$"):
        save(MODEL, tmp_path / "nowhere" / "a.pellucid")


def test_links_stay_links(tmp_path):
    save(KernelRidge(), tmp_path / "first")
    (tmp_path / "link").symlink_to(tmp_path / "first")
    save(MODEL, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert load(tmp_path / "first").alpha == 1.0


@pytest.mark.parametrize("kernel", [lambda a, b: float(a @ b), np.dot, PairFunction(np.dot)])
def test_functions_as_kernels_cannot_be_saved(kernel):
    model = KernelRidge(kernel, alpha=1.0).fit(X, X[:, 0])
    with pytest.raises(
        ModelFileError, match=r"^model\.kernel(_|\.function)? ?.*is a function.*holds no code"
    ) as caught:
        saved(model)
    assert "\n" not in str(caught.value)


def test_the_same_model_gives_the_same_bytes():
    assert saved(MODEL) == saved(MODEL)
    again = KernelRidge(RBF(0.5), alpha=1.0).fit(X, X[:, 0])
    assert saved(again) == saved(MODEL)
    for other in (pickle.loads(pickle.dumps(MODEL)), copy.deepcopy(MODEL)):
        assert saved(other) == saved(MODEL)
    one = KernelRidge(RBF(0.5), alpha=1.0)
    one.names_ = {"a", "b", "c"}  # a set has another order in every process
    program = (
        "import hashlib, io, pellucid; from pellucid.kernels import RBF;"
        "f = io.BytesIO(); m = pellucid.KernelRidge(RBF(0.5), alpha=1.0); m.names_ = {'a', 'b', 'c'};"
        "pellucid.save(m, f); print(hashlib.sha256(f.getvalue()).hexdigest())"
    )
    elsewhere = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert elsewhere.stdout.strip() == hashlib.sha256(saved(one)).hexdigest()


def test_other_tools_can_read_a_file():
    parts = members(saved(MODEL))
    arrays = {
        name: np.load(io.BytesIO(part), allow_pickle=False) for name, part in parts.items() if ".npy" in name
    }
    specs = json.loads(parts["header.json"])["arrays"]
    assert [list(arrays[f"arrays/{i}.npy"].shape) for i in range(len(specs))] == [s["shape"] for s in specs]
    assert any(array.shape == X.shape and (array == X).all() for array in arrays.values())
    for line in parts["checksums.sha256"].decode().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256(parts[name]).hexdigest() == digest
    with zipfile.ZipFile(io.BytesIO(saved(MODEL))) as archive:
        assert archive.testzip() is None


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f4", ">f8", "?", "M8[ms]", "U3", "S2", "c16"])
def test_array_members_are_those_of_numpy(order, dtype):
    model = KernelRidge()
    model.value_ = np.asarray(np.arange(12).reshape(3, 4).astype(dtype), order=order)
    array = np.load(io.BytesIO(members(saved(model))["arrays/0.npy"]), allow_pickle=False)
    assert difference(model.value_, array) is None
    assert array.flags.f_contiguous == (order == "F")


def test_large_files_have_64_bit_sizes(monkeypatch):
    model = KernelRidge()
    model.value_ = np.arange(5000.0)
    with monkeypatch.context() as patch:
        patch.setattr(zipfile, "ZIP64_LIMIT", 2000)
        data = saved(model)
    assert b"PK\x06\x07" in data
    assert difference(model, load(data)) is None


def test_too_many_arrays(monkeypatch):
    monkeypatch.setattr("pellucid.export.model_file.files.MAX_MEMBERS", 3)
    with pytest.raises(ModelFileError, match="more than 3 arrays"):
        saved(MODEL)


def test_large_arrays_go_in_blocks(monkeypatch):
    for module in ("arrays", "archive"):
        monkeypatch.setattr(f"pellucid.export.model_file.{module}.BLOCK", 64)
    model = KernelRidge()
    model.value_ = [X, X.T, X[::2], X[:, ::-1], np.array(["abc", "de"] * 30), np.broadcast_to(1.5, (40, 2))]
    assert difference(model, load(saved(model))) is None
    model.value_ = np.full(100, np.nan)
    assert difference(model, load(saved(model))) is None


# -------------------------------------------------------------------- what it says
def test_describe(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "m.pellucid"
    model = KernelRidge(RBF(0.5), alpha=1.0).fit(pandas.DataFrame(X, columns=["age", "dose"]), X[:, 0])
    when = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    save(model, path, notes="for the archive", created=when)
    info = describe(path)
    assert info.class_name == "models.ridge.regressor.KernelRidge"
    assert info.feature_names == ("age", "dose")
    assert info.notes == "for the archive"
    assert info.created == "2026-01-02T03:04:05+00:00"
    assert info.versions["pellucid"] == pellucid.__version__
    assert set(info.versions) == {"pellucid", "numpy", "scikit-learn", "python"}
    assert info.size == path.stat().st_size
    assert info.array_bytes < info.size
    assert info.n_arrays == len([name for name in members(path.read_bytes()) if ".npy" in name])
    assert info.intact
    text = str(info)
    assert text.startswith("KernelRidge\n")
    for part in ("features: 2: age, dose", "for the archive", "2026-01-02", "checksums: right"):
        assert part in text
    assert describe(saved(model, created="yesterday")).created == "yesterday"
    assert describe(saved(MODEL)).feature_names is None
    with pytest.raises(TypeError, match="notes must be a text"):
        saved(model, notes=3)


def test_many_feature_names_are_shortened():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(RNG.normal(size=(9, 20)), columns=[f"c{i}" for i in range(20)])
    assert "20: c0, c1, c2, c3, c4, c5, c6, c7, ... and 12 more" in str(
        describe(saved(KernelRidge(alpha=1.0).fit(table, table["c0"])))
    )


def test_other_versions_of_scikit_learn():
    plain, mixed = MODEL, make_pipeline(StandardScaler(), KernelRidge(RBF(), alpha=1.0)).fit(X, X[:, 0])

    def older(header):
        header["versions"]["scikit-learn"] = "1.6.0"

    assert difference(plain, load(changed(saved(plain), "header.json", older))) is None
    with pytest.warns(InconsistentVersionWarning, match="StandardScaler from version 1.6.0"):
        load(changed(saved(mixed), "header.json", older))


# ------------------------------------------------------------------------ the rest
@pytest.mark.parametrize(
    "model",
    [
        MODEL,
        KernelClassifier(RBF() + Linear(), alpha=1.0).fit(X, np.where(X[:, 0] > 0, "a", "b")),
        pellucid.LooSearch(KernelRidge(), ard=True).fit(X, X[:, 0]),
    ],
    ids=lambda model: type(model).__name__,
)
class TestOtherWays:
    def test_pickle(self, model):
        back = pickle.loads(pickle.dumps(model))
        assert back.predict(X).tobytes() == model.predict(X).tobytes()
        assert difference(model, back) is None

    def test_skops(self, model):
        skops = pytest.importorskip("skops.io")
        data = skops.dumps(model)
        unknown = skops.get_untrusted_types(data=data)
        assert all(name.startswith("pellucid.") for name in unknown)
        back = skops.loads(data, trusted=unknown)
        assert back.predict(X).tobytes() == model.predict(X).tobytes()
