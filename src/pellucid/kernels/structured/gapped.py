"""Kernels of sequences that read words with gaps, or words at fixed positions."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from pellucid.kernels.base import Kernel
from pellucid.kernels.checks import whole
from pellucid.kernels.structured.counts import Occurrences
from pellucid.kernels.structured.letters import number_values, require_room
from pellucid.kernels.structured.sequences import SequenceKernel


class GappedKmer(SequenceKernel):
    r"""The gapped k-mer kernel: words of ``length`` letters of which ``k`` are read and the others are gaps.

    Each window counts for its :math:`\binom{\text{length}}{k}` gapped words, written such as ``TT-AC-``, so
    motifs are recognised although some of their letters vary.

    Parameters
    ----------
    length : int, default=6
        Letters per window.
    k : int, default=4
        Letters that are read; fewer are less specific.
    alphabet, skip_unknown, reverse_complement, normalise
        As in :class:`Spectrum`.

    References
    ----------
    Ghandi, Lee, Mohammad-Noori and Beer (2014), Enhanced regulatory sequence prediction using gapped k-mer
    features, PLoS Computational Biology 10.

    Examples
    --------
    >>> from pellucid.kernels import GappedKmer
    >>> GappedKmer(length=3, k=2, normalise=False)(["TAT", "TCT", "GAG"])
    array([[3., 1., 0.],
           [1., 3., 0.],
           [0., 0., 3.]])
    """

    worth_trying = (("k", (3, 4, 5)),)
    parameters = ("length", "k", "alphabet", "skip_unknown", "reverse_complement", "normalise")

    def __init__(
        self,
        length: int = 6,
        k: int = 4,
        *,
        alphabet: str | None = None,
        skip_unknown: bool = False,
        reverse_complement: bool = False,
        normalise: bool = True,
    ) -> None:
        self.length, self.k = whole(length, "length"), whole(k, "k")
        if self.k > self.length:
            raise ValueError(f"k must be at most length, got k={k!r} and length={length!r}.")
        self._set(alphabet, skip_unknown, reverse_complement, normalise)

    def _occurrences(self, objects: np.ndarray, covers: int = 0) -> Occurrences:
        letters, length = self._letters(objects), self.length
        letters.check_width(length)
        patterns = list(combinations(range(length), self.k))
        require_room(len(letters.text) * len(patterns), f"Gapped words of {len(patterns)} patterns")
        at, row = letters.windows(length)
        words = np.concatenate([letters.words(at, length, places) for places in patterns])
        found, part = number_values(self._canonical(letters, words, length))
        position = (at - letters.start[row])[row < covers]
        return Occurrences(
            np.tile(row, len(patterns)),
            part,
            np.ones(len(words)),
            len(found),
            lambda parts: letters.spell(found[parts], length),
            np.concatenate([position[:, None] + np.array(places) for places in patterns]),
        )


class WeightedDegree(SequenceKernel):
    r"""The weighted degree kernel: words of up to ``degree`` letters at the same positions.

    :math:`k(x, y) = \sum_{d=1}^{D} \beta_d \sum_i [x_{i..i+d} = y_{i..i+d}]` with
    :math:`\beta_d = 2(D - d + 1)/(D(D + 1))`. It is for sequences that are aligned, such as those around a
    splice site. Parts are written ``GT@30``, with positions from zero.

    Parameters
    ----------
    degree : int, default=3
        The longest word :math:`D`.
    alphabet, skip_unknown, normalise
        As in :class:`Spectrum`.

    References
    ----------
    Rätsch and Sonnenburg (2004), Accurate splice site prediction for Caenorhabditis elegans.

    Examples
    --------
    >>> from pellucid.kernels import WeightedDegree
    >>> WeightedDegree(degree=1, normalise=False)(["ACGT", "ACCT", "TACG"])
    array([[4., 3., 0.],
           [3., 4., 1.],
           [0., 1., 4.]])
    """

    worth_trying = (("degree", (1, 2, 4, 8)),)
    parameters = ("degree", "alphabet", "skip_unknown", "normalise")
    reverse_complement = False
    _quiet = ("alphabet", "skip_unknown")

    def __init__(
        self,
        degree: int = 3,
        *,
        alphabet: str | None = None,
        skip_unknown: bool = False,
        normalise: bool = True,
    ) -> None:
        self.degree = whole(degree, "degree")
        self._set(alphabet, skip_unknown, False, normalise)

    @classmethod
    def examples(cls) -> list[Kernel]:
        return [cls(), cls(2, normalise=False), cls(alphabet="ACGT", skip_unknown=True)]

    def _occurrences(self, objects: np.ndarray, covers: int = 0) -> Occurrences:
        letters, D = self._letters(objects), self.degree
        require_room(len(letters.text) * D, f"The words of up to {D} letters of {len(letters.text)} letters")
        rows, parts, values, first, sites = [], [], [], [], []
        n_parts = 0
        for d in range(1, D + 1):
            at, row = letters.windows(d)
            position = at - letters.start[row]
            _, word = number_values(letters.words(at, d))
            found, part = number_values(word * (int(position.max(initial=0)) + 1) + position)
            where = np.zeros((len(found), 3), dtype=np.intp)
            where[part[::-1]] = np.column_stack([at, np.full(len(at), d), position])[::-1]
            first.append(where)
            rows.append(row)
            parts.append(part + n_parts)
            values.append(np.full(len(row), np.sqrt(2.0 * (D - d + 1) / (D * (D + 1)))))
            sites += [range(p, p + d) for p in position[row < covers].tolist()]
            n_parts += len(found)
        places = np.concatenate(first)

        def names(chosen: np.ndarray) -> list[str]:
            return [f"{letters.text[i : i + d]}@{p}" for i, d, p in places[chosen].tolist()]

        row, part, value = np.concatenate(rows), np.concatenate(parts), np.concatenate(values)
        return Occurrences(row, part, value, n_parts, names, sites)
