"""Kernels of texts: words or characters in a row."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from pellucid.kernels.base import Kernel
from pellucid.kernels.checks import whole
from pellucid.kernels.structured.counts import CountedParts, Occurrences, Sites
from pellucid.kernels.structured.sequences import shown

_WORD = re.compile(r"(?u)\b\w\w+\b")  # as scikit-learn's CountVectorizer: two letters or more


class NGrams(CountedParts):
    """How often the same words, or characters, follow one another in two texts.

    Parameters
    ----------
    most : int, default=1
        Words, or characters, of the longest sequence that is counted; all shorter ones are as well.
    unit : {"word", "character"}, default="word"
        What is counted. Words have at least two letters, as in scikit-learn's ``CountVectorizer``.
    lowercase : bool, default=True
        Whether capital letters are as good as small ones.
    normalise : bool, default=True
        Whether features have unit norm, so that long texts do not weigh more. A text without words is alike
        to nothing.

    Examples
    --------
    >>> from pellucid.kernels import NGrams
    >>> NGrams(2, normalise=False)(["the cat sat", "the cat ran", "a dog ran"])
    array([[5., 3., 0.],
           [3., 5., 1.],
           [0., 1., 3.]])
    """

    worth_trying = (("most", (1, 2, 3)),)
    parameters = ("most", "unit", "lowercase", "normalise")

    def __init__(
        self, most: int = 1, unit: str = "word", *, lowercase: bool = True, normalise: bool = True
    ) -> None:
        self.most = whole(most, "most")
        if unit not in ("word", "character"):
            raise ValueError(f"unit must be 'word' or 'character', got {unit!r}.")
        self.unit = unit
        self.lowercase = bool(lowercase)
        self.normalise = bool(normalise)

    @classmethod
    def examples(cls) -> list[Kernel]:
        return [cls(), cls(2, normalise=False), cls(3, "character", lowercase=False)]

    @classmethod
    def example_rows(cls) -> list[Any]:
        return [
            "The cat sat on the mat.",
            "the cat ran",
            "A dog ran on",
            "",
            "mat mat mat",
            "Über den Berg",
        ]

    def _read(self, item: Any) -> str:
        if not isinstance(item, str):
            raise TypeError(f"expected a text, got {shown(item)}.")
        return str(item)

    def sites(self, item: str) -> Sites:
        return Sites(tuple(item))

    def _occurrences(self, objects: np.ndarray, covers: int = 0) -> Occurrences:
        row, part, sites = [], [], []
        number: dict[str, int] = {}
        joint = " " if self.unit == "word" else ""
        for i, text in enumerate(objects):
            if self.unit == "word":
                spans = [found.span() for found in _WORD.finditer(text)]
            else:
                spans = [(at, at + 1) for at in range(len(text))]
            words = [text[a:b].lower() if self.lowercase else text[a:b] for a, b in spans]
            for n in range(1, self.most + 1):
                for at in range(len(words) - n + 1):
                    row.append(i)
                    name = joint.join(words[at : at + n])
                    part.append(number.setdefault(name, len(number)))
                    if i < covers:
                        sites.append([s for a, b in spans[at : at + n] for s in range(a, b)])
        names = list(number)
        return Occurrences(
            np.array(row, dtype=np.intp),
            np.array(part, dtype=np.intp),
            np.ones(len(row)),
            len(number),
            lambda parts: [names[p] for p in parts],
            sites,
        )
