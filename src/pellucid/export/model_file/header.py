"""The first member of a model file: what it is, who wrote it, and what is inside, for people and programs."""

import platform
import sys
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import sklearn

from pellucid.exceptions import ModelFileError
from pellucid.export.model_file.arrays import ArraySpec
from pellucid.export.model_file.fields import fits, hints_of

FORMAT = "pellucid model"
VERSION = 1
"""Version of the format. A reader refuses a higher one; a change that old readers cannot follow raises it."""


@dataclass(frozen=True)
class Header:
    """What ``header.json`` says after the format and its version; the fields are its entries."""

    class_name: str
    versions: dict[str, str]
    feature_names: list[str] | None
    notes: str | None
    created: str | None
    arrays: list[ArraySpec]

    def to_json(self) -> dict[str, Any]:
        """The content of the member."""
        entries = {_entry(name): value for name, value in vars(self).items()}
        arrays = [spec.to_json() for spec in self.arrays]
        return {"format": FORMAT, "version": VERSION} | entries | {"arrays": arrays}

    @classmethod
    def from_json(cls, content: Any) -> Self:
        """Check the content of the member."""
        check_version(content)
        of_class: Any = cls
        hints = hints_of(of_class) | {"arrays": list}
        if set(content) != {"format", "version", *map(_entry, hints)}:
            raise ModelFileError("The file is damaged: its header has other entries than it must have.")
        values = {name: content[_entry(name)] for name in hints}
        if not all(fits(values[name], hint) for name, hint in hints.items()):
            raise ModelFileError("The file is damaged: an entry of its header is of the wrong type.")
        return cls(**values | {"arrays": [ArraySpec.from_json(entry) for entry in values["arrays"]]})


def _entry(name: str) -> str:
    return "class" if name == "class_name" else name


def check_version(content: Any) -> None:
    """Refuse other formats and later versions of this one."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ModelFileError("This is not a model file of pellucid.")
    version = content.get("version")
    if type(version) is not int or version < 1:
        raise ModelFileError("The file is damaged: its version is not a positive whole number.")
    if version > VERSION:
        raise ModelFileError(
            f"The file has version {version} of the format and was written by a newer pellucid; this one "
            f"reads up to version {VERSION}, please upgrade."
        )


def versions_here() -> dict[str, str]:
    """Versions of what a model was made with."""
    return {
        "pellucid": sys.modules["pellucid"].__version__,  # importing it would import the layers above, too
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }


@dataclass(frozen=True)
class ModelFileInfo:
    """What a model file says of itself, read without loading the model; print it."""

    class_name: str
    """Module and class of the model, such as ``"models.ridge.regressor.KernelRidge"``."""
    versions: dict[str, str]
    """Versions of pellucid, NumPy, scikit-learn and Python that wrote the file."""
    feature_names: tuple[str, ...] | None
    """Names of the columns the model was fitted on, where they had names."""
    notes: str | None
    """What was given to :func:`~pellucid.save`."""
    created: str | None
    """Likewise."""
    n_arrays: int
    """Number of arrays."""
    array_bytes: int
    """Bytes of all arrays."""
    size: int
    """Bytes of the file."""
    intact: bool
    """Whether the checksum of every member is right."""

    def __str__(self) -> str:
        names = self.feature_names
        facts: list[tuple[str, object]] = [
            ("written by", ", ".join(f"{name} {version}" for name, version in self.versions.items())),
            ("created", self.created),
            ("notes", self.notes),
            ("features", None if names is None else f"{len(names)}: {_some(names)}"),
            ("arrays", f"{self.n_arrays}, {self.array_bytes:,} bytes"),
            ("file", f"{self.size:,} bytes"),
            ("checksums", "right" if self.intact else "WRONG: the file was damaged or altered"),
        ]
        title = self.class_name.rpartition(".")[2]
        lines = [title, *(f"  {label}: {fact}" for label, fact in facts if fact is not None)]
        return "\n".join(_printable(line) for line in lines)


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(names[:8]) + (f", ... and {len(names) - 8} more" if len(names) > 8 else "")


def _printable(text: str) -> str:
    """Text from a file for a terminal: one line, no control characters."""
    text = text if len(text) <= 500 else f"{text[:500]}..."
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
