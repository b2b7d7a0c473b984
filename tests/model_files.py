"""Helpers for tests of model files: bit-exact comparison, and files taken apart and put together again."""

import hashlib
import io
import json
import zipfile
from functools import cached_property
from inspect import getattr_static

import numpy as np

import pellucid


def saved(model, **options):
    """The bytes of a saved model."""
    stream = io.BytesIO()
    pellucid.save(model, stream, **options)
    return stream.getvalue()


def difference(a, b, path="model"):
    """Where two objects differ, in type or in any bit; ``None`` if nowhere."""
    if isinstance(a, np.memmap):  # saved as what is in it
        a = np.asarray(a)
    if type(a) is not type(b):
        return f"{path}: {type(a)} and {type(b)}"
    if isinstance(a, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{path}: {a.dtype}{a.shape} and {b.dtype}{b.shape}"
        if a.dtype == object:
            return difference(a.ravel().tolist(), b.ravel().tolist(), path)
        return None if a.tobytes() == b.tobytes() else f"{path}: other values"
    if isinstance(a, dict):
        return difference(list(a), list(b), f"keys of {path}") or _first(
            difference(a[key], b[key], f"{path}[{key!r}]") for key in a
        )
    if isinstance(a, list | tuple):
        if len(a) != len(b):
            return f"{path}: {len(a)} and {len(b)} items"
        return _first(difference(x, y, f"{path}[{i}]") for i, (x, y) in enumerate(zip(a, b, strict=True)))
    if hasattr(a, "__dict__") or hasattr(a, "__slots__"):
        mine, its = attributes(a), attributes(b)
        if set(mine) != set(its):
            return f"{path}: only one has {set(mine) ^ set(its)}"
        return _first(difference(mine[name], its[name], f"{path}.{name}") for name in mine)
    if isinstance(a, complex) and not isinstance(a, np.generic):
        return difference([a.real, a.imag], [b.real, b.imag], path)
    if isinstance(a, float):
        same = np.float64(a).tobytes() == np.float64(b).tobytes() or (a != a and b != b)
    elif isinstance(a, np.generic):
        same = a.tobytes() == b.tobytes()
    else:
        same = a == b
    return None if same else f"{path}: {a!r} and {b!r}"


def attributes(value):
    """Attributes of an instance, without those that can be computed again."""
    names = [*getattr(value, "__dict__", {}), *getattr(value, "__slots__", ())]
    return {
        name: getattr(value, name)
        for name in names
        if name != "_posterior" and not isinstance(getattr_static(type(value), name, None), cached_property)
    }


def _first(results):
    return next((result for result in results if result is not None), None)


# ------------------------------------------------------------ files, taken apart
def members(data):
    """Content of each member by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def packed(parts, *, checksums=True, compression=zipfile.ZIP_STORED):
    """A file with the given members, its checksums made anew."""
    parts = dict(parts)
    if checksums:
        rest = {name: content for name, content in parts.items() if name != "checksums.sha256"}
        lines = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in rest.items()]
        parts = rest | {"checksums.sha256": "".join(lines).encode()}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content, compression)
    return stream.getvalue()


def changed(data, member, change):
    """The file with the JSON of one member passed through a function, and right checksums."""
    parts = members(data)
    content = json.loads(parts[member])
    result = change(content)
    parts[member] = json.dumps(content if result is None else result).encode()
    return packed(parts)
