"""What kernels of sequences share: the alphabet, both strands of DNA, and reading strings."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from pellucid.kernels.base import Kernel
from pellucid.kernels.checks import is_missing
from pellucid.kernels.structured.counts import CountedParts, Sites
from pellucid.kernels.structured.letters import COMPLEMENT, Letters

DNA = "ACGT"


class SequenceKernel(CountedParts, register=False):
    """What kernels of words in sequences share: the alphabet, both strands, and reading strings."""

    alphabet: str | None
    skip_unknown: bool
    reverse_complement: bool
    _quiet: ClassVar[tuple[str, ...]] = ("alphabet", "reverse_complement", "skip_unknown")

    def _set(self, alphabet: Any, skip_unknown: Any, reverse_complement: Any, normalise: Any) -> None:
        if reverse_complement and alphabet is None:
            alphabet = DNA
        if alphabet is not None:
            if not isinstance(alphabet, str) or len(set(alphabet)) < max(len(alphabet), 2):
                raise ValueError(f"alphabet must be a string of different letters, got {alphabet!r}.")
            if reverse_complement and {COMPLEMENT.get(letter) for letter in alphabet} != set(alphabet):
                raise ValueError(
                    f"reverse_complement=True needs an alphabet with the complement of each of its letters, "
                    f"such as 'ACGT', got {alphabet!r}."
                )
        self.alphabet = alphabet
        self.skip_unknown = bool(skip_unknown)
        self.reverse_complement = bool(reverse_complement)
        self.normalise = bool(normalise)

    @classmethod
    def examples(cls) -> list[Kernel]:
        return [
            cls(),
            cls(normalise=False),  # type: ignore[call-arg]
            cls(alphabet="ACGT", skip_unknown=True, reverse_complement=True),  # type: ignore[call-arg]
        ]

    @classmethod
    def example_rows(cls) -> list[Any]:
        return ["ACGTACGTTG", "TTGACA", "TATAAT", "ACACACAC", "GGGTTTACC", "TTGACATATAAT", "AC", "ACGGT"]

    def _read(self, item: Any) -> str:
        if not isinstance(item, str):
            raise TypeError(f"expected a string, got {shown(item)}.")
        if self.alphabet is not None and not self.skip_unknown:
            outside = sorted(set(item) - set(self.alphabet))
            if outside:
                raise ValueError(
                    f"the letters {', '.join(map(repr, outside))} are not in the alphabet {self.alphabet!r}. "
                    f"Extend it, or leave out the words that hold them with skip_unknown=True."
                )
        return str(item)

    def sites(self, item: str) -> Sites:
        return Sites(tuple(item))

    def _letters(self, objects: np.ndarray) -> Letters:
        return Letters.of(objects, self.alphabet)

    def _canonical(self, letters: Letters, words: np.ndarray, width: int) -> np.ndarray:
        """Words, or the smaller of a word and that of the other strand."""
        if not self.reverse_complement:
            return words
        letters.check_width(width)
        return np.minimum(words, letters.other_strand(words, width))


def shown(item: Any) -> str:
    """What an object is, for messages."""
    return "a missing value" if is_missing(item) else f"{type(item).__name__} {str(item)[:40]!r}"
