"""Words of a text as the page finds them: plain loops, in the same order as the page's own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np

from pellucid.kernels import CountedParts, GappedKmer, Mismatch, NGrams, Spectrum, WeightedDegree
from pellucid.kernels.structured.letters import COMPLEMENT

Spec = dict[str, Any]
Word = tuple[str, float, Sequence[int]]
"""A part, what its occurrence counts, and the letters that it covers."""

_KINDS = {
    Spectrum: "words",
    Mismatch: "near",
    GappedKmer: "gapped",
    WeightedDegree: "placed",
    NGrams: "grams",
}
_GAP = "-"


def word_spec(kernel: CountedParts) -> Spec | None:
    """What the page has to know of a kernel to count its parts; nothing for graphs and molecules.

    Examples
    --------
    >>> spec = word_spec(Spectrum(k=2))
    >>> list(find_words(spec, "ACG"))
    [('AC', 1.0, [0, 1]), ('CG', 1.0, [1, 2])]
    """
    kind = _KINDS.get(type(kernel))
    if kind is None:
        return None
    spec: Spec = {"kind": kind, "normalise": kernel.normalise}
    if isinstance(kernel, NGrams):
        return spec | {"most": kernel.most, "unit": kernel.unit, "lowercase": kernel.lowercase}
    spec |= {key: getattr(kernel, key) for key in ("k", "m", "length", "degree") if hasattr(kernel, key)}
    alphabet = kernel.alphabet  # type: ignore[attr-defined]
    both = bool(kernel.reverse_complement)  # type: ignore[attr-defined]
    pairs = {letter: COMPLEMENT[letter] for letter in alphabet} if both else None
    return spec | {"alphabet": alphabet, "skip": kernel.skip_unknown, "complement": pairs}  # type: ignore[attr-defined]


def find_words(spec: Spec, text: str) -> Iterator[Word]:
    """All parts of a text."""
    yield from {"words": _windows, "near": _near, "gapped": _gapped, "placed": _placed, "grams": _grams}[
        spec["kind"]
    ](spec, text)


def word_values(spec: Spec, text: str, weights: dict[str, np.ndarray], n_outputs: int) -> np.ndarray:
    """Sum over the parts of a text of their counts times their weights, given its norm."""
    counts: dict[str, float] = {}
    for name, value, _ in find_words(spec, text):
        counts[name] = counts.get(name, 0.0) + value
    norm = np.sqrt(sum(c * c for c in counts.values())) if spec["normalise"] else 1.0
    total = np.zeros(n_outputs)
    for name, count in counts.items():
        if name in weights:
            total += count / norm * weights[name]
    return total


def _known(spec: Spec, word: str) -> bool:
    """Whether a window counts: none with a letter outside the alphabet does."""
    return spec["alphabet"] is None or all(letter in spec["alphabet"] for letter in word)


def _first(spec: Spec, word: str) -> str:
    """The word, or that of the other strand if it comes first in the order of the alphabet."""
    if spec["complement"] is None:
        return word
    other = "".join(spec["complement"].get(letter, _GAP) for letter in reversed(word))
    order = _GAP + spec["alphabet"]
    return min(word, other, key=lambda w: [order.index(letter) for letter in w])


def _windows(spec: Spec, text: str) -> Iterator[Word]:
    k = spec["k"]
    for i in range(len(text) - k + 1):
        if _known(spec, text[i : i + k]):
            yield _first(spec, text[i : i + k]), 1.0, list(range(i, i + k))


def _near(spec: Spec, text: str) -> Iterator[Word]:
    k = spec["k"]
    for i in range(len(text) - k + 1):
        word = text[i : i + k]
        if not _known(spec, word):
            continue
        for m in range(spec["m"] + 1):
            for places in combinations(range(k), m):
                others = [[c for c in spec["alphabet"] if c != word[p]] for p in places]
                for letters in product(*others):
                    near = list(word)
                    for p, letter in zip(places, letters, strict=True):
                        near[p] = letter
                    yield _first(spec, "".join(near)), 1.0, list(range(i, i + k))


def _gapped(spec: Spec, text: str) -> Iterator[Word]:
    length = spec["length"]
    for i in range(len(text) - length + 1):
        window = text[i : i + length]
        if _known(spec, window):
            for places in combinations(range(length), spec["k"]):
                word = "".join(c if p in places else _GAP for p, c in enumerate(window))
                yield _first(spec, word), 1.0, [i + p for p in places]


def _placed(spec: Spec, text: str) -> Iterator[Word]:
    D = spec["degree"]
    for d in range(1, D + 1):
        value = float(np.sqrt(2.0 * (D - d + 1) / (D * (D + 1))))
        for i in range(len(text) - d + 1):
            if _known(spec, text[i : i + d]):
                yield f"{text[i : i + d]}@{i}", value, list(range(i, i + d))


def _grams(spec: Spec, text: str) -> Iterator[Word]:
    if spec["unit"] == "word":
        spans = [found.span() for found in re.finditer(r"\b\w\w+\b", text)]
    else:
        spans = [(i, i + 1) for i in range(len(text))]
    units = [text[a:b].lower() if spec["lowercase"] else text[a:b] for a, b in spans]
    joint = " " if spec["unit"] == "word" else ""
    for n in range(1, spec["most"] + 1):
        for i in range(len(units) - n + 1):
            yield joint.join(units[i : i + n]), 1.0, [s for a, b in spans[i : i + n] for s in range(a, b)]
