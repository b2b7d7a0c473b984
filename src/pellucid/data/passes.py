"""Passes over all rows of a source: counted, shown, and kept in a folder so that a fit can be resumed.

A fit is a sequence of passes, and between them it depends on nothing but their sums. So a fit that finds the
sums of its first passes in a folder arrives, bit for bit, where the one that left them there was.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pellucid._progress import Progress
from pellucid._settings import Settings

R = TypeVar("R")

_SAFE = ("numpy", "pellucid", "builtins", "collections")
_BUILTINS = ("dict", "list", "tuple", "set", "frozenset", "slice", "complex", "bytearray", "float", "int")


class Passes:
    """The passes of one fit.

    Parameters
    ----------
    settings : Settings
        Whether to show progress, and the folder to keep sums in.
    fit : str
        What is fitted to what: sums of another fit are refused.
    n_rows : int, optional
        Rows of each pass, if they are known.
    """

    def __init__(self, settings: Settings, fit: str, n_rows: int | None) -> None:
        self.verbose, self.folder, self.n_rows = settings.verbose, settings.checkpoint, n_rows
        self.count = 0
        self._digest = hashlib.sha256(fit.encode()).hexdigest()
        if self.folder is not None:
            self._open(self.folder)

    def _open(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        mark = folder / "fit"
        if not mark.exists():
            _write(mark, self._digest.encode())
        elif mark.read_text() != self._digest:
            raise ValueError(
                f"The checkpoint {str(folder)!r} belongs to a fit of another model or to other rows: choose "
                f"another folder, or delete this one."
            )

    def run(self, total: Callable[[Callable[[int], None]], R], label: str) -> R:
        """The sum that a pass gives; ``total`` takes a function to tell of rows that are done."""
        self.count += 1
        kept = None if self.folder is None else self.folder / f"pass-{self.count:04d}"
        if kept is not None and kept.exists():
            found, result = _read(kept)
            if found != label:
                raise ValueError(f"The checkpoint {str(self.folder)!r} holds other passes: delete it.")
            return result
        progress = Progress(f"pass {self.count}, {label}", self.n_rows, verbose=self.verbose)
        start = time.monotonic()
        try:
            result = total(lambda n: progress.step(by=n))
        finally:
            progress.close()
        if self.verbose and time.monotonic() - start > 1.0 and sys.stderr is not None:
            rows = f" over {progress.done:,} rows" if progress.done else ""
            print(
                f"pass {self.count}, {label}: done{rows} in {time.monotonic() - start:.1f} s", file=sys.stderr
            )
        if kept is not None:
            _write(kept, pickle.dumps((label, result), protocol=5))
        return result

    def finished(self) -> None:
        """Forget what was kept: the fit is done."""
        if self.folder is None:
            return
        for path in (*self.folder.glob("pass-*"), self.folder / "fit"):
            path.unlink(missing_ok=True)
        try:
            self.folder.rmdir()
        except OSError:  # something else is in it
            return


def _write(path: Path, data: bytes) -> None:
    """Write a file that is complete or not there at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(beside, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


class _Numbers(pickle.Unpickler):
    """Reads sums of numbers, and nothing that could run code."""

    def find_class(self, module: str, name: str) -> Any:
        """Only what sums are made of."""
        root = module.partition(".")[0]
        if root not in _SAFE or (root == "builtins" and name not in _BUILTINS) or "." in name:
            raise pickle.UnpicklingError(f"A checkpoint holds {module}.{name}, which is no sum.")
        found = super().find_class(module, name)
        if root == "pellucid" and not isinstance(found, type):
            raise pickle.UnpicklingError(f"A checkpoint holds {module}.{name}, which is no sum.")
        return found


def _read(path: Path) -> tuple[str, Any]:
    try:
        return _Numbers(io.BytesIO(path.read_bytes())).load()
    except Exception as error:
        raise ValueError(f"{str(path)!r} is damaged; delete it, and the fit repeats this pass.") from error
