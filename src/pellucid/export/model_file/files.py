"""Model files saved, loaded and described."""

import contextlib
import errno
import io
import json
import os
import secrets
from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import IO, Any

import sklearn
from sklearn.exceptions import InconsistentVersionWarning

from pellucid._callers import warn_caller
from pellucid.exceptions import ModelFileError
from pellucid.export.model_file.archive import (
    HEADER,
    JSON_COST,
    MAX_MEMBERS,
    MODEL,
    Reader,
    Writer,
    array_name,
)
from pellucid.export.model_file.arrays import ArraySpec, blocks
from pellucid.export.model_file.decode import Decoder
from pellucid.export.model_file.encode import Encoder
from pellucid.export.model_file.header import Header, ModelFileInfo, check_version, versions_here
from pellucid.export.model_file.parse import parse

MAX_BYTES = 1 << 32
"""Default of ``load(max_bytes=...)``: 4 GiB."""

Source = str | os.PathLike[str] | bytes | IO[bytes]


def save(
    model: Any,
    path: str | os.PathLike[str] | IO[bytes],
    *,
    notes: str | None = None,
    created: str | datetime | None = None,
) -> None:
    """Write a model to a file that holds JSON and arrays, but no code.

    Whatever :func:`load` returns predicts, bit for bit, what the model predicts. The same model gives the
    same bytes. The file is complete or not there at all: it is written beside its place and moved there.

    Parameters
    ----------
    model : object
        An estimator of pellucid, fitted or not; a search, a result such as
        :class:`~pellucid.effects.Stability`, or a scikit-learn ``Pipeline`` of our estimators and common
        transformers. A kernel that is a function cannot be saved.
    path : str, path or binary file
        Where to; by custom the name ends in ``.pellucid``. A file that is there is replaced.
    notes : str, optional
        Anything worth keeping with the model; :func:`~pellucid.export.describe` shows it.
    created : str or datetime, optional
        Time to keep in the file. By default there is none, so that the bytes depend on the model alone.

    Raises
    ------
    ModelFileError
        If some part of the model cannot be saved; the message says which.

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np, pellucid
    >>> X = np.linspace(0.0, 6.0, 30)[:, None]
    >>> model = pellucid.KernelRidge().fit(X, np.sin(X[:, 0]))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "sine.pellucid"
    >>> pellucid.save(model, path, notes="one period")
    >>> bool((pellucid.load(path).predict(X) == model.predict(X)).all())
    True
    """
    for name, text in (("notes", notes), ("created", created)):
        if text is not None and not isinstance(text, str | datetime):
            raise TypeError(f"{name} must be a text, got {text!r}.")
    encoder = Encoder()
    tree = encoder.encode(model, "model")
    if not isinstance(tree, dict) or "object" not in tree:
        raise ModelFileError(f"save needs a model or a result of pellucid, got {type(model).__name__}.")
    if len(encoder.arrays) > MAX_MEMBERS:
        raise ModelFileError(f"The model has more than {MAX_MEMBERS} arrays, too many for a model file.")
    specs = [ArraySpec.of(array) for array in encoder.arrays]
    columns = getattr(model, "feature_names_in_", None)
    names = None if columns is None else [str(name) for name in columns]
    when = created.isoformat() if isinstance(created, datetime) else created
    header = Header(tree["object"]["class"], versions_here(), names, notes, when, specs)
    with _written(path) as stream:
        writer = Writer(stream)
        for member, content in ((HEADER, header.to_json()), (MODEL, tree)):
            data = json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")
            writer.add(member, len(data), [data])
        for number, (spec, array) in enumerate(zip(specs, encoder.arrays, strict=True)):
            writer.add(array_name(number), spec.size, chain([spec.header], blocks(array)))
        writer.close()


def load(source: Source, *, max_bytes: int = MAX_BYTES) -> Any:
    """Read a model that :func:`save` wrote; safe for files from anywhere.

    Parameters
    ----------
    source : str, path, bytes or binary file
        The file, or its content.
    max_bytes : int, default=2**32
        Memory that reading may take. The arrays count as they are, JSON 64-fold, and a file that would need
        more is refused before anything of that size is read. Raise it for very large models that you trust.

    Returns
    -------
    model : object
        What was saved.

    Raises
    ------
    ModelFileError
        If the file is no model file, is damaged or altered, needs too much memory, was written by a newer
        pellucid, or holds anything that is not pellucid's. No code from a file is ever run.

    Examples
    --------
    >>> import io, pellucid
    >>> stream = io.BytesIO()
    >>> pellucid.save(pellucid.KernelRidge(alpha=0.5), stream)
    >>> pellucid.load(stream).alpha
    0.5
    >>> pellucid.load(stream.getvalue()[:-1])
    Traceback (most recent call last):
        ...
    pellucid.exceptions.ModelFileError: This is not a model file of pellucid, or it was cut short.
    """
    if isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes < 1:
        raise ValueError(f"max_bytes must be a positive whole number, got {max_bytes!r}.")
    with _opened(source) as (stream, size), _only_ours():
        reader, header = _begin(stream, size, max_bytes)
        if reader.cost() > max_bytes:
            raise ModelFileError(
                f"Reading the file may take {reader.cost():,} bytes of memory, more than max_bytes = "
                f"{max_bytes:,}; raise max_bytes if you trust the file."
            )
        if reader.arrays != {array_name(number) for number in range(len(header.arrays))}:
            raise ModelFileError("The file is damaged: its arrays are not those that its header lists.")
        arrays = []
        for number, spec in enumerate(header.arrays):
            name = array_name(number)
            if reader.size(name) != spec.size:
                raise ModelFileError(f"The file is damaged: {name} is not of the size that it should be.")
            arrays.append(spec.build(reader.read_array(name, spec.header)))
        tree = parse(reader.read(MODEL), MODEL)
        match tree:
            case {"object": {"class": header.class_name}}:
                decoder = Decoder(arrays)
                model = decoder.decode(tree, "model")
            case _:
                raise ModelFileError("The file is damaged: its model is not of the class its header names.")
    if decoder.foreign:
        _warn_of_version(header, decoder.foreign)
    return model


def describe(source: Source) -> ModelFileInfo:
    """Say what is in a model file without loading the model.

    Parameters
    ----------
    source : str, path, bytes or binary file
        The file, or its content.

    Returns
    -------
    ModelFileInfo
        Class, versions, feature names, notes, sizes, and whether all checksums are right.

    Raises
    ------
    ModelFileError
        If the file is no model file or was written by a newer pellucid.

    Examples
    --------
    >>> import io, pellucid
    >>> stream = io.BytesIO()
    >>> pellucid.save(pellucid.KernelRidge(), stream, notes="to be fitted")
    >>> info = pellucid.export.describe(stream)
    >>> info.class_name, info.notes, info.intact
    ('models.ridge.regressor.KernelRidge', 'to be fitted', True)
    """
    with _opened(source) as (stream, size), _only_ours():
        reader, header = _begin(stream, size, MAX_BYTES, verify=False)
        shown = {name: value for name, value in vars(header).items() if name != "arrays"}
        names = header.feature_names
        return ModelFileInfo(
            **shown | {"feature_names": None if names is None else tuple(names)},
            n_arrays=len(header.arrays),
            array_bytes=sum(spec.nbytes for spec in header.arrays),
            size=size,
            intact=reader.intact(),
        )


def _begin(stream: IO[bytes], size: int, max_bytes: int, *, verify: bool = True) -> tuple[Reader, Header]:
    """Open the archive, its header first: files of a newer version may differ in everything else."""
    reader = Reader(stream, size)
    if reader.size(HEADER) * JSON_COST > max_bytes:
        raise ModelFileError(f"Reading the file's header may take more than max_bytes = {max_bytes:,} bytes.")
    check_version(parse(reader.read(HEADER, verify=False), HEADER))
    reader.check()
    return reader, Header.from_json(parse(reader.read(HEADER, verify=verify), HEADER))


# ------------------------------------------------------------------- the file
@contextlib.contextmanager
def _written(path: Any) -> Iterator[IO[bytes]]:
    """A binary file for writing that takes the place of ``path`` when all went well."""
    if hasattr(path, "write"):
        yield path
        return
    place = Path(os.path.realpath(os.fspath(path)))
    if not place.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "There is no such folder", str(place.parent))
    beside = place.with_name(f".{place.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        with open(beside, "xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, place)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
        raise


@contextlib.contextmanager
def _opened(source: Source) -> Iterator[tuple[IO[bytes], int]]:
    """A binary file for reading, and its size."""
    if isinstance(source, bytes | bytearray | memoryview):
        yield io.BytesIO(source), len(source)
    elif isinstance(source, str | os.PathLike):
        with open(source, "rb") as stream:
            yield stream, stream.seek(0, os.SEEK_END)
    else:
        yield source, source.seek(0, os.SEEK_END)


@contextlib.contextmanager
def _only_ours() -> Iterator[None]:
    """Whatever else a file makes the readers stumble over is the file's fault."""
    try:
        yield
    except ModelFileError:
        raise
    except MemoryError as error:
        raise ModelFileError("There is not enough memory here to read the file.") from error
    except Exception as error:
        raise ModelFileError(f"The file is damaged: it cannot be read ({str(error)[:80]}).") from error


def _warn_of_version(header: Header, foreign: str) -> None:
    """Warn as scikit-learn does when an object of its own comes from another version."""
    written = header.versions.get("scikit-learn", "unknown")
    if written != sklearn.__version__:
        warn_caller(
            InconsistentVersionWarning(
                estimator_name=foreign,
                current_sklearn_version=sklearn.__version__,
                original_sklearn_version=written,
            ),
        )
