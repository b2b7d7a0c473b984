"""Kernels of sequences: how often words of a few letters occur, exactly or with mismatches."""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np

from pellucid.kernels.checks import whole
from pellucid.kernels.structured.counts import Occurrences
from pellucid.kernels.structured.letters import Letters, number_values, require_room
from pellucid.kernels.structured.sequences import DNA, SequenceKernel


class Spectrum(SequenceKernel):
    r"""The spectrum kernel: how often each word of ``k`` letters occurs in both sequences.

    The features are the counts of all k-mers; :math:`k(x, y) = \sum_w n_w(x)\, n_w(y)`.

    Parameters
    ----------
    k : int, default=3
        Letters per word. Longer words are more specific, and are shared by fewer sequences.
    alphabet : str, optional
        The letters there can be, such as ``"ACGT"``. Others raise an error that names the row. With an
        alphabet there are finitely many features, so that many sequences can be fitted in the primal.
    skip_unknown : bool, default=False
        Whether words with letters outside the alphabet are left out instead.
    reverse_complement : bool, default=False
        Whether a word counts as that of the other strand as well; of both, the first in the order of the
        alphabet gives the name.
    normalise : bool, default=True
        Whether features have unit norm, so that long sequences do not weigh more. A sequence shorter than
        ``k`` has no words and is alike to nothing.

    References
    ----------
    Leslie, Eskin and Noble (2002), The spectrum kernel: a string kernel for SVM protein classification.

    Examples
    --------
    >>> from pellucid.kernels import Spectrum
    >>> Spectrum(k=2, normalise=False)(["banana", "ananas", "bandana"])
    array([[9., 8., 7.],
           [8., 9., 6.],
           [7., 6., 8.]])
    """

    worth_trying = (("k", (3, 4, 5, 6)),)
    parameters = ("k", "alphabet", "skip_unknown", "reverse_complement", "normalise")

    def __init__(
        self,
        k: int = 3,
        *,
        alphabet: str | None = None,
        skip_unknown: bool = False,
        reverse_complement: bool = False,
        normalise: bool = True,
    ) -> None:
        self.k = whole(k, "k")
        self._set(alphabet, skip_unknown, reverse_complement, normalise)

    def _occurrences(self, objects: np.ndarray, covers: int = 0) -> Occurrences:
        letters = self._letters(objects)
        require_room(len(letters.text), f"The {self.k}-mers of {len(letters.text)} letters")
        at, row = letters.windows(self.k)
        words = self._canonical(letters, letters.words(at, self.k), self.k)
        found, part = number_values(words)
        first = np.zeros(len(found), dtype=np.intp)
        first[part[::-1]] = at[::-1]

        def names(parts: np.ndarray) -> list[str]:
            if self.reverse_complement:
                return letters.spell(found[parts], self.k)
            return [letters.text[i : i + self.k] for i in first[parts]]

        return Occurrences(
            row,
            part,
            np.ones(len(row)),
            len(found),
            names,
            (at - letters.start[row])[row < covers, None] + np.arange(self.k),
            letters.place_among_all(found, self.k) if self._space() is not None else None,
        )

    def _space(self) -> int | None:
        if self.alphabet is None or len(self.alphabet) ** self.k > 2**20:
            return None
        return len(self.alphabet) ** self.k


class Mismatch(SequenceKernel):
    r"""The mismatch kernel: each word counts for all words that differ from it in at most ``m`` letters.

    Parameters
    ----------
    k : int, default=5
        Letters per word.
    m : int, default=1
        Letters in which words may differ; below ``k``. The number of words per window grows as
        :math:`\binom{k}{m} (|A| - 1)^m`.
    alphabet : str, default="ACGT"
        The letters there can be: how many there are decides how many words are near.
    skip_unknown, reverse_complement, normalise
        As in :class:`Spectrum`.

    References
    ----------
    Leslie, Eskin, Cohen, Weston and Noble (2004), Mismatch string kernels for discriminative protein
    classification, Bioinformatics 20.

    Examples
    --------
    >>> from pellucid.kernels import Mismatch
    >>> Mismatch(k=3, m=1)(["ACGT", "AGGT", "TTTT"]).round(3)
    array([[1.   , 0.456, 0.141],
           [0.456, 1.   , 0.129],
           [0.141, 0.129, 1.   ]])
    """

    worth_trying = (("k", (4, 5, 6)),)
    parameters = ("k", "m", "alphabet", "skip_unknown", "reverse_complement", "normalise")
    _quiet = ("reverse_complement", "skip_unknown")

    def __init__(
        self,
        k: int = 5,
        m: int = 1,
        *,
        alphabet: str = DNA,
        skip_unknown: bool = False,
        reverse_complement: bool = False,
        normalise: bool = True,
    ) -> None:
        self.k, self.m = whole(k, "k"), whole(m, "m", 0)
        if self.m >= self.k:
            raise ValueError(f"m must be below k, got m={m!r} and k={k!r}.")
        if alphabet is None:
            raise ValueError("The mismatch kernel needs an alphabet, such as 'ACGT'.")
        self._set(alphabet, skip_unknown, reverse_complement, normalise)

    def _occurrences(self, objects: np.ndarray, covers: int = 0) -> Occurrences:
        letters, k = self._letters(objects), self.k
        letters.check_width(k)
        n_near = sum(comb(k, j) * (letters.base - 2) ** j for j in range(self.m + 1))
        require_room(
            len(letters.text) + n_near * min(len(letters.text), (letters.base - 1) ** k), "Mismatches"
        )
        at, row = letters.windows(k)
        word, which = number_values(letters.words(at, k))
        shown = int(np.searchsorted(row, covers))
        places = (at - letters.start[row])[:shown, None] + np.arange(k)
        # windows with the same word in the same sequence are counted first, where their places do not matter
        pairs, times = np.unique(row[shown:] * max(len(word), 1) + which[shown:], return_counts=True)
        row = np.concatenate([row[:shown], pairs // max(len(word), 1)])
        which = np.concatenate([which[:shown], pairs % max(len(word), 1)])
        value = np.concatenate([np.ones(shown), times])
        near = self._canonical(letters, self._near(letters, word).ravel(), k).reshape(len(word), n_near)
        found, part = number_values(near.ravel())
        return Occurrences(
            np.repeat(row, n_near),
            part.reshape(near.shape)[which].ravel(),
            np.repeat(value, n_near),
            len(found),
            lambda parts: letters.spell(found[parts], k),
            np.repeat(places, n_near, axis=0),
            letters.place_among_all(found, k),
        )

    def _near(self, letters: Letters, words: np.ndarray) -> np.ndarray:
        """All words with at most ``m`` other letters, of shape (words, neighbours)."""
        base, columns = letters.base, [words]
        for j in range(1, self.m + 1):
            for places in combinations(range(self.k), j):
                powers = [base**p for p in places]
                digits = [words // power % base for power in powers]
                for steps in product(range(1, base - 1), repeat=j):
                    other = words.copy()
                    for power, digit, step in zip(powers, digits, steps, strict=True):
                        other += ((digit - 1 + step) % (base - 1) + 1 - digit) * power
                    columns.append(other)
        return np.stack(columns, axis=1)

    def _space(self) -> int | None:
        space = len(self.alphabet or "") ** self.k
        return space if space <= 2**20 else None
