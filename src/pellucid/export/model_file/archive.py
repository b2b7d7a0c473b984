"""The container: a zip of stored members with a list of SHA-256 sums, and a reader that trusts nothing in it.

Members are stored without compression. So equal models give equal bytes under every version of zlib, and
no member can be larger than the file: a bomb has nothing to go off with. ``checksums.sha256`` is in the form
that ``sha256sum --check`` reads, for whoever unpacks an archived model by other means.
"""

import hashlib
import re
import struct
import zipfile
from collections.abc import Iterable
from typing import IO, Any

import numpy as np

from pellucid.exceptions import ModelFileError
from pellucid.export.model_file.arrays import BLOCK, blocks

HEADER, MODEL, SUMS = "header.json", "model.json", "checksums.sha256"
_NAME = re.compile(r"header\.json|model\.json|checksums\.sha256|arrays/(?:0|[1-9][0-9]{0,5})\.npy")
_SUM = re.compile(r"([0-9a-f]{64})  (\S+)")

MAX_MEMBERS = 20_000
_MAX_DIRECTORY = 2 << 20  # bytes of the zip's directory; the reader's copy of it takes some ten times as much
_STUMBLES = (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, OSError, EOFError)
"""What :mod:`zipfile` raises for archives that are none."""
JSON_COST = 64
"""Bytes of memory that a byte of JSON may need once read: ``[],`` is three bytes and a list of 56."""


def array_name(number: int) -> str:
    """Name of the member with an array."""
    return f"arrays/{number}.npy"


# --------------------------------------------------------------------- writing
class Writer:
    """Writes members one after the other, then the checksums."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED)
        self._sums: list[str] = []

    def add(self, name: str, size: int, parts: Iterable[bytes | memoryview]) -> None:
        """Write a member of a known size."""
        digest = hashlib.sha256()
        with self._zip.open(_member(name, size), "w") as out:
            for part in parts:
                digest.update(part)
                out.write(part)
        self._sums.append(f"{digest.hexdigest()}  {name}\n")

    def close(self) -> None:
        """Write the checksums and the directory."""
        content = "".join(self._sums).encode()
        with self._zip.open(_member(SUMS, len(content)), "w") as out:
            out.write(content)
        self._zip.close()


def _member(name: str, size: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # one date for all: bytes depend on the model alone
    info.create_system, info.external_attr = 3, 0o644 << 16
    info.file_size = size  # decides whether the entry needs 64-bit sizes
    return info


# --------------------------------------------------------------------- reading
class Reader:
    """Reads members of a file of ``size`` bytes whose origin is unknown."""

    def __init__(self, stream: IO[bytes], size: int) -> None:
        _check_end(stream, size)
        try:
            self._zip = zipfile.ZipFile(stream)
        except _STUMBLES as error:
            raise ModelFileError(f"The file is damaged: it is not a whole zip, {_shown(error)}.") from error
        self._size = size
        self._members: dict[str, zipfile.ZipInfo] = {}
        for info in self._zip.infolist():
            if info.filename in self._members:
                raise ModelFileError(f"The file holds {_shown(info.filename)} twice.")
            self._members[info.filename] = info
        self.sums: dict[str, str] = {}

    def check(self) -> None:
        """Check names and sizes of all members, and read the checksums."""
        total = 0
        for name, info in self._members.items():
            if not _NAME.fullmatch(name) or info.orig_filename != name:
                raise ModelFileError(
                    f"The file holds {_shown(info.orig_filename)}, which models do not have."
                )
            if info.flag_bits & 0x1:
                raise ModelFileError(f"The file is encrypted: {_shown(name)} cannot be read.")
            if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
                raise ModelFileError(f"The file has a compressed member, {_shown(name)}; models have none.")
            total += info.file_size
        if total > self._size:
            raise ModelFileError("The file declares more bytes than it has.")
        text = self.read(SUMS, verify=False)
        for line in text.decode("ascii", "replace").splitlines():
            found = _SUM.fullmatch(line)
            if found is None or found[2] in self.sums:
                raise ModelFileError("The file is damaged: its list of checksums cannot be read.")
            self.sums[found[2]] = found[1]
        if set(self.sums) != set(self._members) - {SUMS}:
            raise ModelFileError("The file is damaged: its checksums are not those of its members.")

    @property
    def arrays(self) -> set[str]:
        """Names of the members that are arrays."""
        return {name for name in self._members if name.startswith("arrays/")}

    def size(self, name: str) -> int:
        """Bytes of a member."""
        if name not in self._members:
            raise ModelFileError(f"The file is damaged or no model of pellucid: it has no {_shown(name)}.")
        return self._members[name].file_size

    def cost(self) -> int:
        """Bytes of memory that reading all members needs at most."""
        return sum(
            info.file_size * (1 if name.startswith("arrays/") else JSON_COST)
            for name, info in self._members.items()
        )

    def read(self, name: str, *, verify: bool = True) -> bytes:
        """The bytes of a member."""
        return self.read_array(name, verify=verify).tobytes()

    def read_array(self, name: str, start: bytes = b"", *, verify: bool = True) -> np.ndarray:
        """The bytes of a member after those that it must begin with, as an array of ``uint8``."""
        size = self.size(name)
        if size > self._size:
            raise ModelFileError(f"The file is damaged: {_shown(name)} is said to be larger than the file.")
        if size < len(start):
            raise ModelFileError(f"The file is damaged: {_shown(name)} is too short.")
        data = np.empty(size - len(start), dtype=np.uint8)
        digest = hashlib.sha256()
        try:
            with self._zip.open(self._members[name]) as member:
                opening = member.read(len(start))
                digest.update(opening)
                whole = all(_fill(member, block, digest) for block in blocks(data))
        except _STUMBLES as error:
            reason = _shown(error)
            raise ModelFileError(f"The file is damaged: {_shown(name)} is unreadable, {reason}.") from error
        if not whole:
            raise ModelFileError(f"The file is damaged: {_shown(name)} is cut short.")
        if verify and digest.hexdigest() != self.sums[name]:
            raise ModelFileError(f"The file was damaged or altered: the checksum of {_shown(name)} is wrong.")
        if opening != start:
            raise ModelFileError(f"The file is damaged: {_shown(name)} is not the array that it should be.")
        return data

    def intact(self) -> bool:
        """Whether all checksums are right; reads everything, a block at a time."""
        try:
            for name, expected in self.sums.items():
                digest = hashlib.sha256()
                with self._zip.open(self._members[name]) as member:
                    while block := member.read(BLOCK):
                        digest.update(block)
                if digest.hexdigest() != expected:
                    return False
        except _STUMBLES:
            return False
        return True


def _fill(member: IO[bytes], block: memoryview, digest: Any) -> bool:
    """Read as many bytes as the block takes; whether there were enough."""
    done = 0
    while done < len(block) and (part := member.read(len(block) - done)):
        block[done : done + len(part)] = part
        done += len(part)
    digest.update(block)
    return done == len(block)


def _check_end(stream: IO[bytes], size: int) -> None:
    """Bound the directory before :mod:`zipfile` reads it: it must end the file, and be of moderate size."""
    tail_size = min(size, 98)  # the three records that end a large archive
    stream.seek(size - tail_size)
    tail = stream.read(tail_size)
    if len(tail) < 22 or tail[-22:-18] != b"PK\x05\x06" or tail[-2:] != b"\0\0":
        raise ModelFileError("This is not a model file of pellucid, or it was cut short.")
    directory = struct.unpack("<L", tail[-10:-6])[0]
    if tail[-42:-38] == b"PK\x06\x07":  # 64-bit sizes, in the record before
        place = struct.unpack("<Q", tail[-34:-26])[0]
        if len(tail) < 98 or tail[:4] != b"PK\x06\x06" or place != size - 98:
            raise ModelFileError("The file is damaged: it is not a whole zip archive.")
        directory = struct.unpack("<Q", tail[40:48])[0]
    if directory > _MAX_DIRECTORY:
        raise ModelFileError(f"The file lists more members than a model has (at most {MAX_MEMBERS}).")


def _shown(text: Any) -> str:
    """A name or message with bytes from a file, safe to print."""
    return repr(str(text)[:80])
