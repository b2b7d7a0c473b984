"""Thousands of damaged files: the only answers of ``load`` are a model and one kind of error."""

import contextlib
import json
import random
import sys
import tracemalloc

import numpy as np
import pytest
from model_files import difference, members, packed, saved

from pellucid import KernelClassifier, KernelRidge, load
from pellucid.exceptions import ModelFileError
from pellucid.export.model_file.fields import declared
from pellucid.export.model_file.registry import classes
from pellucid.kernels import RBF, Linear

RNG = np.random.default_rng(0)
X = RNG.normal(size=(6, 2))
LABELS = np.array(["a", "b"])[np.arange(6) % 2]
MODELS = [
    KernelRidge(2.0 * RBF(0.5).on([0]) + Linear(), alpha=1.0).fit(X, X[:, 0]),
    KernelClassifier(RBF(0.7), alpha=1.0).fit(X, LABELS),
]
MODELS[0].extra_ = {
    "a": (1, 2.5, None),
    "b": np.array(["x", None, 3], dtype=object),
    "c": {1, 2},
    4: b"bytes",
}
FILES = [saved(model) for model in MODELS]
JUNK = [
    None,
    True,
    -1,
    2**64,
    0.5,
    "",
    "kernels.stationary.RBF",
    [],
    {},
    {"ref": 0},
    {"array": 0},
    {"tuple": []},
    {"dict": []},
    {"float": "nan"},
    {"scalar": {"dtype": "<f8", "bytes": "0" * 16}},
    {"object": {"class": "losses.squared.Squared", "state": {}}},
    {"object": {"class": "kernels.stationary.RBF", "state": {"length_scale": 1.0}}},
    {"objects": {"shape": [1], "items": ["x"]}},
    [[[[1]]]],
]

# Events that the interpreter reports when code is made or run, or when the outside is reached.
RUNNING = (
    "compile",
    "exec",
    "import",
    "open",
    "os.",
    "subprocess.",
    "socket.",
    "pickle.",
    "ctypes.",
    "shutil.",
)
_watched: list[str] | None = None


def _watch(event: str, arguments: object) -> None:
    if _watched is not None and event.startswith(RUNNING):
        _watched.append(event)


sys.addaudithook(_watch)  # for good, but idle unless a list is there


def damage_bytes(data: bytes, rng: random.Random) -> bytes:
    """Flip, cut, repeat, move or mix bytes."""
    altered = bytearray(data)
    a, b = sorted(rng.randrange(len(data)) for _ in range(2))
    kind = rng.randrange(6)
    if kind == 0:
        for _ in range(rng.choice([1, 1, 2, 8])):
            altered[rng.randrange(len(altered))] ^= 1 << rng.randrange(8)
    elif kind == 1:
        altered[rng.randrange(len(altered))] = rng.choice([0, 0xFF, 0x7F, 0x80])
    elif kind == 2:
        altered = altered[:a] if rng.random() < 0.5 else altered[a:]
    elif kind == 3:
        del altered[a : min(b, a + 40)]
    elif kind == 4:
        altered[b:b] = altered[a : a + rng.randrange(1, 60)]
    else:
        other = FILES[rng.randrange(len(FILES))]
        altered = altered[:a] + other[min(a, len(other)) :]
    return bytes(altered)


def nodes(tree, found=None):
    """Every container in some JSON."""
    found = [] if found is None else found
    if isinstance(tree, dict | list):
        found.append(tree)
        for value in tree.values() if isinstance(tree, dict) else tree:
            nodes(value, found)
    return found


def damage_json(text: bytes, rng: random.Random) -> bytes:
    """Replace, remove, rename or move parts of the tree."""
    tree = json.loads(text)
    for _ in range(rng.choice([1, 1, 2, 4])):
        places = [node for node in nodes(tree) if node]
        if not places:
            break
        node = rng.choice(places)
        key = rng.choice(list(node) if isinstance(node, dict) else range(len(node)))
        kind = rng.randrange(4)
        if kind == 0:
            node[key] = json.loads(json.dumps(rng.choice(JUNK)))
        elif kind == 1:
            del node[key]
        elif kind == 2:
            node[key] = json.loads(json.dumps(rng.choice(places)))
        elif isinstance(node, dict):
            name = rng.choice(["predict", "__dict__", "kernel_", "dtype", "tuple", "object", "ref", "x y"])
            node[name] = node.pop(key)
        else:
            node.append(node[key])
    return json.dumps(tree).encode()


def damage_members(data: bytes, rng: random.Random) -> bytes:
    """Alter what is in the archive and make the checksums right again."""
    parts = members(data)
    name = rng.choice(["model.json", "model.json", "header.json", *parts])
    kind = rng.randrange(6)
    if kind <= 2 and name.endswith(".json"):
        parts[name] = damage_json(parts[name], rng)
    elif kind == 3:
        other = rng.choice(list(parts))
        parts[name], parts[other] = parts[other], parts[name]
    elif kind == 4:
        del parts[name]
    else:
        parts[name] = damage_bytes(parts[name], rng) if parts[name] else b"?"
    return packed(parts, checksums=rng.random() < 0.95)


def fuzz(count: int, seed: int) -> tuple[int, int]:
    """Load ``count`` damaged files; returns how many were refused and how many loaded."""
    global _watched
    rng = random.Random(seed)
    for cls in classes().values():  # imports what there is to import, and reads annotations
        declared(cls)
    refused = loaded = longest = unforeseen = 0
    for _ in range(count):
        which = rng.randrange(len(FILES))
        resealed = rng.random() < 0.5
        data = (damage_members if resealed else damage_bytes)(FILES[which], rng)
        _watched = events = []
        try:
            model = load(data)
        except ModelFileError as error:
            refused += 1
            longest = max(longest, len(str(error)))
            unforeseen += "it cannot be read (" in str(error)
        else:
            loaded += 1
            if not resealed:  # only bytes that carry nothing were altered, or the two files changed places
                assert any(difference(model, other) is None for other in MODELS)
        finally:
            _watched = None
        assert events == []
    assert longest < 600
    assert unforeseen == 0  # the last resort of load was not needed
    return refused, loaded


def test_damaged_files():
    refused, loaded = fuzz(1500, seed=1)
    assert refused > 500
    assert loaded > 20  # the damage is not all of the crude kind


@pytest.mark.slow
def test_many_damaged_files():
    fuzz(5_000, seed=2)


def test_memory_under_damage():
    rng = random.Random(3)
    for data in FILES:
        load(data)
    tracemalloc.start()
    for _ in range(200):
        data = (damage_members if rng.random() < 0.7 else damage_bytes)(FILES[rng.randrange(len(FILES))], rng)
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        with contextlib.suppress(ModelFileError):
            load(data)
        assert tracemalloc.get_traced_memory()[1] - before < 64 * len(data)
    tracemalloc.stop()
