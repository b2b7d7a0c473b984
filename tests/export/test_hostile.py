"""Files that were cut, altered or made to do harm: one clear error, and nothing runs."""

import io
import json
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
from model_files import changed, difference, members, packed, saved

from pellucid import KernelRidge, KernelRidgeClassifier, load
from pellucid.exceptions import ModelFileError
from pellucid.export import describe
from pellucid.kernels import RBF, Linear

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 2))
MODEL = KernelRidge(RBF(0.5) + Linear(), alpha=1.0).fit(X, X[:, 0])
DATA = saved(MODEL)
LABELLED = saved(KernelRidgeClassifier(RBF(), alpha=1.0).fit(X, np.where(X[:, 0] > 0, "a", "b")))


def refused(data, message, **options):
    with pytest.raises(ModelFileError, match=message) as caught:
        load(data, **options)
    assert str(caught.value).count("\n") == 0


def in_state(name, node):
    """The file with one attribute of the model replaced."""
    return changed(DATA, "model.json", lambda tree: tree["object"]["state"].__setitem__(name, node))


RBF_NAME = "kernels.stationary.RBF"


def object_node(name, **state):
    return {"object": {"class": name, "state": state}}


def test_the_helpers_leave_a_file_readable():
    assert difference(MODEL, load(packed(members(DATA)))) is None
    assert difference(MODEL, load(changed(DATA, "model.json", lambda tree: None))) is None
    assert load(in_state("extra_", 3)).extra_ == 3


# ------------------------------------------------------------------- the archive
@pytest.mark.parametrize("data", [b"", b"PK", b"not a zip" * 20, b"\0" * 5000, b"PK\x05\x06" + b"\0" * 18])
def test_other_files(data):
    refused(data, "model file|no 'header.json'")


def test_every_truncation():
    for size in range(0, len(DATA), 61):
        refused(DATA[:size], "not a model file of pellucid, or it was cut short")


def test_every_byte_of_the_content_counts():
    with zipfile.ZipFile(io.BytesIO(DATA)) as archive:
        infos = archive.infolist()
    for info in infos:
        start = info.header_offset + 30 + len(info.filename)
        for place in {start, start + info.file_size // 2, start + info.file_size - 1}:
            altered = bytearray(DATA)
            altered[place] ^= 0x20
            with pytest.raises(ModelFileError):
                load(bytes(altered))


def test_altered_without_new_checksums():
    parts = members(DATA)
    parts["model.json"] = parts["model.json"].replace(b'"alpha":1.0', b'"alpha":2.0')
    refused(packed(parts, checksums=False), "damaged or altered: the checksum of 'model.json' is wrong")
    parts = members(DATA)
    parts["arrays/0.npy"] = parts["arrays/0.npy"][:-8] + np.float64(7.0).tobytes()
    refused(packed(parts, checksums=False), "the checksum of 'arrays/0.npy' is wrong")
    parts = members(DATA)
    parts["header.json"] = parts["header.json"].replace(b'"notes":null', b'"notes":"hi"')
    refused(packed(parts, checksums=False), "the checksum of 'header.json' is wrong")


@pytest.mark.parametrize("name", ["header.json", "model.json", "arrays/0.npy", "checksums.sha256"])
def test_members_missing(name):
    parts = members(DATA)
    del parts[name]
    refused(packed(parts, checksums=name != "checksums.sha256"), "damaged")


@pytest.mark.parametrize(
    "name",
    [
        "../evil.py",
        "/etc/passwd",
        "arrays/../../x.npy",
        "arrays\\0.npy",
        "C:\\x",
        "arrays/00.npy",
        "arrays/",
        "x",
    ],
)
def test_members_that_models_do_not_have(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(packed(members(DATA) | {name: b"hello"}), "which models do not have")
    assert not any(tmp_path.iterdir())


def test_one_array_too_many():
    number = sum(name.startswith("arrays/") for name in members(DATA))
    refused(
        packed(members(DATA) | {f"arrays/{number}.npy": b""}), "arrays are not those that its header lists"
    )


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_twice():
    stream = io.BytesIO(DATA)
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr("model.json", b"{}")
    refused(stream.getvalue(), "holds 'model.json' twice")


def test_compressed_members():
    refused(packed(members(DATA), compression=zipfile.ZIP_DEFLATED), "compressed member")


def test_a_bomb_is_not_unpacked():
    parts = members(DATA)
    parts["arrays/0.npy"] = b"\0" * (50 << 20)
    bomb = packed(parts, compression=zipfile.ZIP_DEFLATED)
    assert len(bomb) < 100_000
    del parts
    tracemalloc.start()
    refused(bomb, "compressed member")
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


def directory_field(data, name, offset, form, value):
    """The file with one field of a member's entry in the zip's directory overwritten."""
    place = data.rindex(name.encode()) - 46
    assert data[place : place + 4] == b"PK\x01\x02"
    altered = bytearray(data)
    struct.pack_into(form, altered, place + offset, value)
    return bytes(altered)


def test_encrypted_members():
    refused(directory_field(DATA, "model.json", 8, "<H", 1), "is encrypted")


def test_sizes_that_are_not_so():
    huge = directory_field(DATA, "arrays/0.npy", 24, "<L", 0x7FFFFFFF)
    refused(huge, "compressed member")
    huge = directory_field(huge, "arrays/0.npy", 20, "<L", 0x7FFFFFFF)
    refused(huge, "declares more bytes than it has")


def test_members_on_the_same_bytes():
    name = "arrays/0.npy"
    big = packed(members(DATA) | {name: b"\0" * 100_000})
    with zipfile.ZipFile(io.BytesIO(big)) as archive:
        info = archive.getinfo(name)
    for number in range(1, 5):
        for offset, form, value in [
            (42, "<L", info.header_offset),
            (20, "<L", info.file_size),
            (24, "<L", info.file_size),
        ]:
            big = directory_field(big, f"arrays/{number}.npy", offset, form, value)
    refused(big, "declares more bytes than it has|damaged")


def test_a_directory_that_is_too_large():
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, 1 << 30, 0, 0)
    refused(b"\0" * 1000 + end, "lists more members than a model has")
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, 1 << 40, 0)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, 1000, 1)
    refused(b"\0" * 1000 + record + locator + end[:12] + b"\xff" * 8 + b"\0\0", "lists more members")
    elsewhere = struct.pack("<4sLQL", b"PK\x06\x07", 0, 10, 1)
    refused(b"\0" * 1000 + record + elsewhere + end[:12] + b"\xff" * 8 + b"\0\0", "not a whole zip")


def test_readers_that_stumble():
    class Weary(io.BytesIO):
        def read(self, size=-1):
            raise self.error

    for error, message in [(KeyError("x"), "cannot be read"), (MemoryError(), "not enough memory here")]:
        stream = Weary(DATA)
        stream.error = error
        refused(stream, message)


# -------------------------------------------------------------------- the limits
def test_max_bytes():
    refused(DATA, "more than max_bytes = 1,000 bytes", max_bytes=1000)
    refused(
        DATA,
        r"may take [\d,]+ bytes of memory, more than max_bytes = 200,000; raise max_bytes",
        max_bytes=200_000,
    )
    assert load(DATA, max_bytes=1 << 20).alpha == 1.0
    for wrong in (0, -1, 1.5, True, None):
        with pytest.raises(ValueError, match="max_bytes must be a positive whole number"):
            load(DATA, max_bytes=wrong)


@pytest.mark.parametrize(
    "piece",
    [
        "[]",
        '{"set":[]}',
        '{"dict":[]}',
        '{"tuple":[[]]}',
        "257",
        '{"objects":{"shape":[],"items":[1]}}',
        '"ab"',
    ],
)
def test_memory_is_bounded_by_what_is_declared(piece):
    parts = members(DATA)
    many = ",".join([piece] * (150_000 // (len(piece) + 1)))
    parts["model.json"] = parts["model.json"].replace(b'"solver":"auto"', f'"solver":[{many}]'.encode())
    data = packed(parts)
    load(DATA)
    tracemalloc.start()
    model = load(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(model.solver) > 3000
    assert peak < 64 * len(parts["model.json"])
    refused(data, "more than max_bytes", max_bytes=peak)


# -------------------------------------------------------------------- the header
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "not a model file of pellucid"),
        ({"version": 2}, "version 2 of the format and was written by a newer pellucid.* please upgrade"),
        ({"version": 2, "surprise": []}, "newer pellucid"),
        ({"version": 0}, "not a positive whole number"),
        ({"version": True}, "not a positive whole number"),
        ({"version": "1"}, "not a positive whole number"),
        ({"surprise": 1}, "other entries"),
        ({"class": 3}, "wrong type"),
        ({"class": "models.search.LooSearch"}, "not of the class its header names"),
        ({"versions": ["1"]}, "wrong type"),
        ({"versions": {"numpy": 2}}, "wrong type"),
        ({"feature_names": "abc"}, "wrong type"),
        ({"feature_names": [1]}, "wrong type"),
        ({"notes": 1}, "wrong type"),
        ({"created": {}}, "wrong type"),
        ({"arrays": {}}, "wrong type"),
        ({"arrays": []}, "arrays are not those that its header lists"),
        ({"arrays": [1]}, "not described as it must be"),
    ],
)
def test_headers(change, message):
    refused(changed(DATA, "header.json", lambda header: header | change), message)


@pytest.mark.parametrize("text", [b"", b"[]", b"null", b"{", b"\xff\xfe", b'{"format": "pellucid model"}'])
def test_headers_that_are_none(text):
    refused(packed(members(DATA) | {"header.json": text}), "not a model file|damaged")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dtype": "|O"}, "type of array that models do not have"),
        ({"dtype": "<V8"}, "type of array that models do not have"),
        ({"dtype": "<f16"}, "type of array that models do not have"),
        ({"dtype": [["a", "<f8"]]}, "type of array that models do not have"),
        ({"dtype": "<M8[7 parsecs]"}, "type of array that models do not have"),
        ({"dtype": "<f4"}, "not of the size that it should be"),
        ({"dtype": "<i8"}, "not the array that it should be"),
        ({"dtype": ">f8"}, "not the array that it should be"),
        ({"shape": [2, 12]}, "not the array that it should be"),
        ({"shape": [12, 3]}, "not of the size that it should be"),
        ({"shape": [2**47, 2**47]}, "not of the size that it should be"),
        ({"shape": [-1]}, "not a size"),
        ({"shape": [12, True, 2]}, "not a size"),
        ({"shape": [12.0, 2]}, "not a size"),
        ({"shape": [1] * 40}, "not a short list"),
        ({"shape": 24}, "not a short list"),
        ({"order": "F"}, "not the array that it should be"),
        ({"order": "K"}, "not described as it must be"),
        ({"finite": 1}, "not described as it must be"),
        ({"strides": [8]}, "not described as it must be"),
    ],
)
def test_arrays_described_otherwise(change, message):
    def alter(header):
        number = next(i for i, entry in enumerate(header["arrays"]) if entry["shape"] == [12, 2])
        header["arrays"][number].update(change)

    refused(changed(DATA, "header.json", alter), message)


def with_array(data, shape, dtype, content):
    """The file with one array, its entry in the header included, replaced by raw bytes."""
    parts = members(data)
    header = json.loads(parts["header.json"])
    number = next(i for i, e in enumerate(header["arrays"]) if e["shape"] == shape and e["dtype"] == dtype)
    name = f"arrays/{number}.npy"
    head = parts[name][: -int(np.prod(shape)) * np.dtype(dtype).itemsize]
    return packed(parts | {name: head + content})


def test_nan_where_none_was_saved():
    rows = X.copy()
    for bad in (np.nan, np.inf):
        rows[3, 1] = bad
        refused(
            with_array(DATA, [12, 2], "<f8", rows.tobytes()), "NaN or infinity stands where none was saved"
        )
    model = KernelRidge()
    model.value_ = np.array([1.0, np.nan])  # saved as it is, so there it may be
    assert np.isnan(load(saved(model)).value_[1])


def test_texts_of_what_is_no_character():
    words = np.array([0x110000, 0x61], dtype="<u4").tobytes()
    refused(with_array(LABELLED, [2], "<U1", words), "what is no character")


def test_arrays_of_objects_in_an_npy_member():
    evil = b"cos\nsystem\n(S'false'\ntR."  # a pickle
    stream = io.BytesIO()
    np.save(stream, np.array([None, 1], dtype=object), allow_pickle=True)
    content = stream.getvalue()[:128] + evil
    parts = members(DATA)
    refused(packed(parts | {"arrays/0.npy": content}), "not of the size|not the array")


# --------------------------------------------------------------------- the model
@pytest.mark.parametrize(
    ("node", "message"),
    [
        (object_node("os.system"), "class 'os.system' at model.kernel_, which is not one"),
        (object_node("builtins.eval"), "which is not one"),
        (object_node("models.checkpoint.Checkpoint"), "which is not one"),
        (object_node("kernels.base.Kernel"), "which is not one"),
        (object_node("sklearn.preprocessing.FunctionTransformer"), "which is not one"),
        (object_node("../kernels.RBF"), "which is not one"),
        (object_node(None), "which is not one"),
        (object_node([RBF_NAME]), "which is not one"),
        (object_node(RBF_NAME), "model.kernel_, a RBF, has no length_scale"),
        (
            object_node(RBF_NAME, length_scale=1.0, _gram=1),
            "'_gram', whose name would hide a method",
        ),
        (object_node(RBF_NAME, length_scale=1.0, theta=1), "'theta', whose name would hide"),
        (object_node(RBF_NAME, length_scale=1.0, __class__=1), "is a special name"),
        (object_node(RBF_NAME, length_scale=1.0, __call__=1), "is a special name"),
        (object_node(RBF_NAME, **{"length_scale": 1.0, "a b": 1}), "is not a name"),
        (object_node("kernels.algebra.Sum"), "model.kernel_, a Sum, has no operands"),
        (
            object_node("kernels.algebra.Sum", operands={"tuple": [1.0]}),
            "operands is of the wrong type, .* for a Sum",
        ),
        (object_node("kernels.algebra.Sum", operands=1.0), "operands is of the wrong type, .* for a Sum"),
        (object_node("kernels.algebra.Sum", operands={"tuple": [{"ref": 0}]}), "contains itself"),
        (object_node("effects.loo.AlphaPath"), "has no alphas"),
        ({"object": []}, "is not an object"),
        ({"object": {"class": RBF_NAME}}, "is not an object"),
        ({"object": {"class": RBF_NAME, "state": []}}, "is not an object"),
        ({"ref": 99}, "refers to what is not in the file"),
        ({"ref": -1}, "refers to what is not in the file"),
        ({"ref": True}, "refers to what is not in the file"),
        ({"array": 99}, "refers to what is not in the file"),
        ({"array": "0"}, "refers to what is not in the file"),
        ({"pickle": "gASVAAAA"}, "unknown kind 'pickle'"),
        ({"tuple": 1}, "is not a list"),
        ({"tuple": [], "list": []}, "is not a value"),
        ({}, "is not a value"),
        ({"dict": [[1]]}, "not a list of keys and values"),
        ({"dict": {"a": 1}}, "not a list of keys and values"),
        ({"dict": [[[1], 2]]}, "a key that cannot be one"),
        ({"dict": [[1, 2], [1, 3]]}, "has a key twice"),
        ({"set": [[1]]}, "a key that cannot be one"),
        ({"set": [1, 1]}, "an element twice"),
        ({"float": "1"}, "is not a number"),
        ({"float": 1}, "is not a number"),
        ({"complex": [1.0]}, "is not a complex number"),
        ({"complex": [1, 2]}, "is not a complex number"),
        ({"bytes": "?"}, "not a string of bytes"),
        ({"bytes": 1}, "not a string of bytes"),
        ({"dtype": "O"}, "is not a type of array that models have"),
        ({"type": "os"}, "is not a type that models have"),
        ({"slice": [1, 2]}, "range of positions"),
        ({"slice": ["a", 1, 2]}, "range of positions"),
        ({"range": [0, 9, 0]}, "range of positions"),
        ({"range": [0, None, 1]}, "range of positions"),
        ({"scalar": {"dtype": "<f8", "bytes": "00"}}, "not a number of NumPy"),
        ({"scalar": {"dtype": "<f8", "bytes": "zz"}}, "not a number of NumPy"),
        ({"scalar": {"dtype": "|O", "bytes": ""}}, "not a number of NumPy"),
        ({"scalar": {"dtype": "<U1000000", "bytes": ""}}, "not a number of NumPy"),
        ({"scalar": 1}, "not a number of NumPy"),
        ({"numpy.str_": 1}, "is not a text"),
        ({"numpy.bytes_": 1}, "not a string of bytes"),
        ({"objects": {"shape": [2], "items": [1]}}, "not an array of numbers and texts"),
        ({"objects": {"shape": [1], "items": [[]]}}, "not an array of numbers and texts"),
        ({"objects": {"shape": [1]}}, "not an array of objects"),
        ({"objects": {"shape": [2**47] * 3, "items": []}}, "not an array of numbers and texts"),
        ({"objects": {"shape": [0, 2**47, 2**47], "items": []}}, "damaged"),
    ],
)
def test_what_no_model_holds(node, message):
    refused(in_state("kernel_", node), message)


def test_attributes_cannot_hide_methods():
    for name in ("predict", "fit", "_decision", "__getstate__", "_precomputed", "__sklearn_tags__"):
        refused(in_state(name, {"ref": 1}), "whose name")


def test_models_lack_nothing():
    refused(changed(DATA, "model.json", lambda t: t["object"]["state"].pop("alpha") and None), "has no alpha")


def test_fields_of_the_wrong_kind():
    def alter(tree):
        tree["object"]["state"]["loo_"]["object"]["state"]["path"] = "north"

    refused(changed(DATA, "model.json", alter), r"model\.loo_\.path is of the wrong type, str")


def test_pipelines_keep_no_folder_of_pickles():
    node = object_node(
        "sklearn.pipeline.Pipeline", steps=[], memory="/tmp/x", verbose=False, transform_input=None
    )
    refused(in_state("extra_", node), r"model\.extra_\.memory is of the wrong type, str")


@pytest.mark.parametrize("opening", ["[", '{"tuple":[', '{"object":'])
def test_deep_nesting(opening):
    for depth in (200, 100_000):
        text = members(DATA)["model.json"].replace(
            b'"solver":"auto"', b'"solver":' + opening.encode() * depth
        )
        refused(packed(members(DATA) | {"model.json": text}), "nested too deeply|not the JSON of a model")
    whole = b'"solver":' + b"[" * 200 + b"]" * 200
    text = members(DATA)["model.json"].replace(b'"solver":"auto"', whole)
    refused(packed(members(DATA) | {"model.json": text}), "nested too deeply")


@pytest.mark.parametrize(
    "value",
    [b"NaN", b"Infinity", b"1e999", b"1" * 5000, b'1,"solver":2', b"'auto'", b"1 2", b'"\xe9"', b"\x00"],
)
def test_json_that_is_none(value):
    text = members(DATA)["model.json"].replace(b'"solver":"auto"', b'"solver":' + value)
    refused(packed(members(DATA) | {"model.json": text}), "not the JSON of a model")


def test_brackets_in_texts_are_no_nesting():
    model = KernelRidge()
    model.value_ = '[{"' * 2000 + "\\"
    assert load(saved(model)).value_ == model.value_


def test_quotes_without_end_take_no_time():
    refused(packed(members(DATA) | {"model.json": b'\\"' * 300_000}), "not the JSON of a model")


# ---------------------------------------------------------------------- describe
def test_describe_is_as_wary():
    assert describe(DATA).intact
    parts = members(DATA)
    parts["model.json"] = parts["model.json"].replace(b'"alpha":1.0', b'"alpha":2.0')
    info = describe(packed(parts, checksums=False))
    assert not info.intact
    assert "WRONG" in str(info)
    for data in (b"", DATA[:-30], packed(members(DATA) | {"../x": b""})):
        with pytest.raises(ModelFileError):
            describe(data)


def test_describe_prints_no_control_characters():
    info = describe(saved(MODEL, notes="red \x1b[31m\nsecond line" + "x" * 5000))
    assert "\x1b" not in str(info)
    assert r"red \x1b[31m\nsecond line" in str(info)
    assert max(len(line) for line in str(info).splitlines()) < 600
