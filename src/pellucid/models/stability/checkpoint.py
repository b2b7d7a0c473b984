"""Finished splits of :func:`~pellucid.stability` in a file, with a fingerprint of the call they belong to."""

import hashlib
import json
import os
import re
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from pellucid._callers import warn_caller
from pellucid.models.stability.plan import Data, Plan
from pellucid.models.stability.single_split import Outcome

SAVE_EVERY = 5.0  # seconds between two writings


class Checkpoint:
    """Finished splits in a file: plain arrays, and a header in JSON that says what they belong to."""

    def __init__(self, path: Path, settings: dict[str, str]) -> None:
        self.path, self.settings = path, settings
        folder = path.absolute().parent
        if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
            raise ValueError(
                f"The checkpoint {str(path)!r} cannot be written: no such folder, or no permission."
            )
        self.fingerprint = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
        self.due = time.monotonic() + SAVE_EVERY

    def load(self) -> list[Outcome]:
        """Return the splits in the file, none if there is no file."""
        if not self.path.exists():
            return []
        try:
            with open(self.path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
                arrays = {key: file[key] for key in file.files}
            header = json.loads(str(arrays["header"]))
            fingerprint, settings = header["fingerprint"], header["settings"]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"{str(self.path)!r} is not a checkpoint of stability(): {error}") from error
        if fingerprint != self.fingerprint:
            other = [key for key, value in self.settings.items() if settings.get(key) != value]
            raise ValueError(
                f"The checkpoint {str(self.path)!r} belongs to another call: {', '.join(other)} differ. "
                f"Delete the file, or name another one."
            )
        return self._unpack(header["names"], arrays)

    def save_if_due(self, finished: list[Outcome]) -> None:
        """Save every few seconds, less often where writing takes long."""
        if time.monotonic() < self.due:
            return
        start = time.monotonic()
        self.save(finished)
        took = time.monotonic() - start
        self.due = time.monotonic() + max(SAVE_EVERY, 20.0 * took)

    def save(self, finished: list[Outcome]) -> None:
        """Replace the file in one step, so that a crash leaves the old one or the new one."""
        names, arrays = self._pack(finished)
        header = {"fingerprint": self.fingerprint, "settings": self.settings, "names": names}
        part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
        try:
            with open(part, "wb") as file:
                np.savez(file, header=np.array(json.dumps(header)), **arrays)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, self.path)
        except OSError as error:
            warn_caller(f"The checkpoint could not be written: {error}", UserWarning)
        finally:
            part.unlink(missing_ok=True)

    def _pack(self, finished: list[Outcome]) -> tuple[list[list[str]], dict[str, Any]]:
        """Coefficients of a fit, end to end, with shapes: (-1, 0) for none, (p, 0) for one dimension."""
        lists: dict[tuple[str, ...], int] = {}
        arrays: dict[str, Any] = {
            "train_error": np.array([outcome.train_error for outcome in finished]),
            "test_error": np.array([outcome.test_error for outcome in finished]),
        }
        for fit in range(len(finished[0].coef)):
            coef = [outcome.coef[fit] for outcome in finished]
            arrays[f"coef{fit}"] = np.concatenate([np.zeros(0) if c is None else c.ravel() for c in coef])
            arrays[f"shape{fit}"] = np.array([(-1, 0) if c is None else (*c.shape, 0)[:2] for c in coef])
            arrays[f"names{fit}"] = np.array(
                [lists.setdefault(tuple(outcome.names[fit]), len(lists)) for outcome in finished]
            )
        return [list(names) for names in lists], arrays

    def _unpack(self, names: list[list[str]], arrays: dict[str, np.ndarray]) -> list[Outcome]:
        finished = [
            Outcome(train.tolist(), test.tolist(), [], [], [])
            for train, test in zip(arrays["train_error"], arrays["test_error"], strict=True)
        ]
        for fit in range(sum(key.startswith("shape") for key in arrays)):
            start = 0
            places = zip(finished, arrays[f"shape{fit}"].tolist(), arrays[f"names{fit}"], strict=True)
            for outcome, (p, classes), place in places:
                size = max(p, 0) * max(classes, 1)
                values = arrays[f"coef{fit}"][start : start + size]
                start += size
                outcome.coef.append(None if p < 0 else values.reshape((p, classes) if classes else (p,)))
                outcome.names.append(names[place])
        return finished


def settings_of(plan: Plan, data: Data) -> dict[str, str]:
    """What a result depends on, apart from the number of splits: data as hashes, the rest in words."""
    return {
        "X": _digest(data.X) + _digest(np.array(data.names)),
        "y": _digest(data.y),
        "sample_weight": _digest(data.weight),
        "methods": _describe([(m.name, plan.estimators[m.fit], m.options) for m in plan.methods]),
        "test_size": repr(plan.test_size),
        "stratify": repr(plan.stratify),
        "random_state": repr(plan.seed),
        "scoring": _describe(plan.scoring),
    }


def _digest(values: Any) -> str:
    """Hash of an array or table by its values."""
    if sparse.issparse(values):
        table = values.tocsr()
        return "".join(_digest(part) for part in (table.data, table.indices, table.indptr))
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        array = np.empty(len(values), dtype=object)
        array[:] = list(values)
    if array.dtype.kind == "O":
        content = "\x1f".join(_describe(value) for value in array.ravel().tolist()).encode()
    else:
        content = np.ascontiguousarray(array).tobytes()
    return hashlib.sha256(f"{array.dtype.str} {array.shape} ".encode() + content).hexdigest()[:16]


def _describe(value: Any) -> str:
    """Text that is the same for the same settings in another process."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        inner = ", ".join(f"{key}={_describe(v)}" for key, v in sorted(value.get_params(deep=False).items()))
        return f"{type(value).__module__}.{type(value).__qualname__}({inner})"
    if isinstance(value, np.ndarray) or sparse.issparse(value):
        return _digest(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_describe(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_describe(key)}: {_describe(item)}" for key, item in value.items()) + "}"
    text = repr(value)
    code = getattr(value, "__code__", None)
    if code is not None:
        text += f" {code.co_code.hex()} {code.co_consts!r} {code.co_names!r}"
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)
