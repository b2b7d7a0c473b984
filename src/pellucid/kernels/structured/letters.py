"""Many sequences end to end as whole numbers, and windows that slide over all of them at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.exceptions import NotEnoughMemoryError
from pellucid.linalg import available_memory, format_bytes

COMPLEMENT = dict(zip("ACGTUNRYSWKMBDHV", "TGCAANYRSWMKVHDB", strict=True))
"""The letter of the other strand; codes for several bases included."""
_LARGEST = 2**62
_PER_VALUE = 64  # places of a table per value, up to which looking them up is faster than sorting the values


@dataclass(frozen=True)
class Letters:
    """Sequences as numbers of letters, from 1; 0 stands for a letter that is skipped."""

    text: str
    codes: np.ndarray
    start: np.ndarray  # where each sequence starts, and the end of the last
    alphabet: str

    @classmethod
    def of(cls, sequences: Iterable[str], alphabet: str | None) -> Letters:
        """Number the letters, by their place in the alphabet or else in alphabetical order."""
        sequences = list(sequences)
        text = "".join(sequences)
        start = np.concatenate([[0], np.cumsum([len(s) for s in sequences], dtype=np.intp)])
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        if alphabet is None:
            found, codes = np.unique(points, return_inverse=True)
            return cls(text, codes.astype(np.int64) + 1, start, "".join(map(chr, found)))
        number = np.zeros(max(int(points.max(initial=0)), max(map(ord, alphabet))) + 1, dtype=np.int64)
        number[[ord(letter) for letter in alphabet]] = np.arange(1, len(alphabet) + 1)
        return cls(text, number[points], start, alphabet)

    @property
    def base(self) -> int:
        """Base of the number that is a word: letters and the gap."""
        return len(self.alphabet) + 1

    def windows(self, width: int) -> tuple[np.ndarray, np.ndarray]:
        """Start of every window in the text and the number of its sequence; none with a skip inside."""
        counts = np.maximum(np.diff(self.start) - width + 1, 0)
        row = np.repeat(np.arange(len(counts)), counts)
        first = np.cumsum(counts) - counts
        at = np.arange(len(row)) + np.repeat(self.start[:-1] - first, counts)
        skipped = np.concatenate([[0], np.cumsum(self.codes == 0)])
        if skipped[-1]:
            whole = skipped[at + width] == skipped[at]
            at, row = at[whole], row[whole]
        return at, row

    def words(self, at: np.ndarray, width: int, places: Sequence[int] | None = None) -> np.ndarray:
        """Number of the word at each window, most significant letter first; other than ``places`` are gaps.

        Words too long for 64 bits are numbered in the order of what occurs, which tells them apart as well.
        """
        chosen = set(range(width) if places is None else places)
        word = np.zeros(len(at), dtype=np.int64)
        largest = 0
        for j in range(width):
            largest = largest * self.base + self.base
            if largest >= _LARGEST:
                word = np.unique(word, return_inverse=True)[1].astype(np.int64)
                largest = (len(at) + 1) * self.base
            word *= self.base
            if j in chosen:
                word += self.codes[at + j]
        return word

    def check_width(self, width: int) -> None:
        """Raise if words of this width do not fit into 64 bits."""
        if self.base**width >= _LARGEST:
            raise ValueError(
                f"Words of {width} letters out of {len(self.alphabet)} are too long to be numbered; make "
                f"them shorter."
            )

    def other_strand(self, words: np.ndarray, width: int) -> np.ndarray:
        """Numbers of the reverse complements of words."""
        number = {letter: i + 1 for i, letter in enumerate(self.alphabet)}
        other = np.array([0, *(number[COMPLEMENT[letter]] for letter in self.alphabet)])
        out = np.zeros_like(words)
        rest = words.copy()
        for _ in range(width):
            out = out * self.base + other[rest % self.base]
            rest //= self.base
        return out

    def spell(self, words: np.ndarray, width: int) -> list[str]:
        """The words that numbers stand for, with ``-`` for gaps."""
        letters = np.array(list("-" + self.alphabet))
        powers = self.base ** np.arange(width - 1, -1, -1, dtype=np.int64)
        digits = words[:, None] // powers % self.base
        return ["".join(word) for word in letters[digits]]

    def place_among_all(self, words: np.ndarray, width: int) -> np.ndarray:
        """Number of a word without gaps among all such words."""
        out = np.zeros_like(words)
        for j in range(width - 1, -1, -1):
            out = out * len(self.alphabet) + words // self.base**j % self.base - 1
        return out


def number_values(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct values, and which of them each one is; by counting where they are small numbers."""
    if len(values) and values.min() >= 0 and values.max() <= _PER_VALUE * len(values):
        there = np.zeros(int(values.max()) + 1, dtype=bool)
        there[values] = True
        distinct = np.flatnonzero(there)
        number = np.empty(len(there), dtype=np.intp)
        number[distinct] = np.arange(len(distinct))
        return distinct, number[values]
    distinct, which = np.unique(values, return_inverse=True)
    return distinct, which


def require_room(n_occurrences: float, what: str) -> None:
    """Raise if so many occurrences, with what is needed to sort and count them, would not fit in memory."""
    need, have = 64.0 * n_occurrences, available_memory()
    if need > 0.9 * have:
        raise NotEnoughMemoryError(
            f"{what} take about {format_bytes(need)}, but only {format_bytes(have)} of memory is available. "
            f"Make the parts shorter, with fewer gaps, or the objects smaller, or fit on a sample of them."
        )
