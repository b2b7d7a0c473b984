"""Arrays as ``.npy`` members: which types there are, their header, and whether they hold NaN.

The header is the one of NumPy's format 1.0, written here rather than by NumPy so that it is the same under
every version. A reader knows from the file's JSON what the array must be, so it makes the header that belongs
to it and compares: nothing in an array member is ever parsed.
"""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, Self

import numpy as np

from pellucid.exceptions import ModelFileError

BLOCK = 1 << 20  # bytes handled at a time

_UNITS = r"(?:\[[0-9]{0,9}(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?"
_DTYPE = re.compile(
    rf"\|b1|\|[iu]1|[<>][iu][248]|[<>]f[248]|[<>]c(?:8|16)|[<>][mM]8{_UNITS}|\|S[1-9][0-9]{{0,8}}|[<>]U[1-9][0-9]{{0,7}}"
)
_MAX_DIMENSIONS = 32
_LAST_CODE_POINT = 0x10FFFF


def dtype_text(dtype: np.dtype) -> str | None:
    """Return a type as it is written in files, or ``None`` for one that they do not hold."""
    return dtype.str if dtype.names is None and _DTYPE.fullmatch(dtype.str) else None


def dtype_from(text: object) -> np.dtype:
    """Return the type that a file names, one of numbers, dates or texts of fixed length."""
    if not isinstance(text, str) or not _DTYPE.fullmatch(text):
        raise ModelFileError(f"The file names a type of array that models do not have: {str(text)[:40]!r}.")
    return np.dtype(text)


@dataclass(frozen=True)
class ArraySpec:
    """What the JSON of a file says of one array."""

    dtype: np.dtype
    shape: tuple[int, ...]
    order: str  # "C" or "F"
    finite: bool  # whether neither NaN nor infinity (nor a missing date) occurs

    @classmethod
    def of(cls, array: np.ndarray) -> Self:
        """What to say of an array; it costs one pass over it."""
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        return cls(array.dtype, array.shape, order, is_finite(array))

    @classmethod
    def from_json(cls, entry: Any) -> Self:
        """Read and check what the file says."""
        match entry:
            case {"dtype": dtype, "shape": shape, "order": "C" | "F" as order, "finite": bool(finite)}:
                if len(entry) == 4:
                    return cls(dtype_from(dtype), shape_from(shape), order, finite)
        raise ModelFileError("The file is damaged: an array is not described as it must be.")

    def to_json(self) -> dict[str, Any]:
        """The entry in the file's JSON."""
        return vars(self) | {"dtype": self.dtype.str, "shape": list(self.shape)}

    @property
    def nbytes(self) -> int:
        """Bytes of the data, without the header."""
        return prod(self.shape) * self.dtype.itemsize

    @property
    def size(self) -> int:
        """Bytes of the member."""
        return len(self.header) + self.nbytes

    @property
    def header(self) -> bytes:
        """The bytes before the data."""
        kind, fortran = self.dtype.str, self.order == "F"
        text = f"{{'descr': {kind!r}, 'fortran_order': {fortran}, 'shape': {self.shape!r}, }}"
        length = -(-(10 + len(text) + 1) // 64) * 64 - 10  # data begin at a multiple of 64
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", length) + (text.ljust(length - 1) + "\n").encode()

    def build(self, data: np.ndarray) -> np.ndarray:
        """The array, from its bytes as an array of ``uint8``, after looking for what must not be there."""
        array = data.view(self.dtype).reshape(self.shape, order="F" if self.order == "F" else "C")
        if self.dtype.kind == "U" and data.size:
            points = data.view(f"{self.dtype.str[0]}u4")
            if points.max() > _LAST_CODE_POINT:
                raise ModelFileError("The file is damaged: an array of texts holds what is no character.")
        if self.finite and not is_finite(array):
            raise ModelFileError("The file is damaged: NaN or infinity stands where none was saved.")
        return array


def shape_from(shape: object) -> tuple[int, ...]:
    """Check the shape of an array in a file."""
    if not isinstance(shape, list) or len(shape) > _MAX_DIMENSIONS:
        raise ModelFileError("The file is damaged: the shape of an array is not a short list.")
    if not all(type(size) is int and 0 <= size < 2**48 for size in shape):
        raise ModelFileError("The file is damaged: the shape of an array has an entry that is not a size.")
    return tuple(shape)


def blocks(array: np.ndarray) -> Iterator[memoryview]:
    """Yield the bytes of an array, in the order of its :class:`ArraySpec`, a block at a time.

    A contiguous array is not copied; of others, a block of rows at a time is.
    """
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        if array.ndim and array[:1].nbytes <= 64 * BLOCK:
            rows = max(1, BLOCK // max(1, array[:1].nbytes))
            for start in range(0, len(array), rows):
                yield from blocks(np.array(array[start : start + rows], order="C"))
            return
        array = np.array(array, order="C")
    flat = (array if array.flags.c_contiguous else array.T).reshape(-1).view(np.uint8)
    for start in range(0, len(flat), BLOCK):
        yield flat[start : start + BLOCK].data


def is_finite(array: np.ndarray) -> bool:
    """Whether an array of numbers or dates has neither NaN nor infinity; true of all other arrays."""
    if array.dtype.kind not in "fcmM":
        return True
    flat = array.reshape(-1, order="A") if array.flags.forc else array.ravel()
    step = BLOCK // 8
    return all(bool(np.isfinite(flat[start : start + step]).all()) for start in range(0, flat.size, step))
