"""Subsequences with gaps that cost: by their weights where there are few, otherwise without listing them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.signal import lfilter

from pellucid.kernels.base import Kernel
from pellucid.kernels.checks import positive, whole
from pellucid.kernels.structured.letters import Letters, require_room
from pellucid.kernels.structured.sequences import shown
from pellucid.linalg import row_blocks

_CELLS = 2**26  # of a table of strings by subsequences, up to which it is made


class Subsequence(Kernel):
    r"""The subsequence kernel: letters in the same order, not necessarily side by side.

    Each subsequence of ``k`` letters that both strings have counts :math:`\lambda` to the power of the
    lengths that it spans in them: :math:`k(x, y) = \sum_u \sum_{i: x[i] = u} \sum_{j: y[j] = u}
    \lambda^{l(i) + l(j)}`. Its features are the subsequences. They lie across one another all over
    a string, so that predictions are not split among them.

    Parameters
    ----------
    k : int, default=3
        Letters of a subsequence.
    decay : float, default=0.5
        The price :math:`\lambda` of each letter of the span, at most 1. Small values want letters side by
        side.
    normalise : bool, default=True
        Whether values are divided by those of each string with itself. A string shorter than ``k`` is alike
        to nothing.

    Notes
    -----
    With ``A`` different letters there are :math:`A^k` subsequences. Where these are few, as in DNA, each
    string is read once for the weights of all of them; otherwise each pair of strings is compared letter by
    letter, which takes as long as the product of their lengths.

    References
    ----------
    Lodhi, Saunders, Shawe-Taylor, Cristianini and Watkins (2002), Text classification using string kernels,
    Journal of Machine Learning Research 2.

    Examples
    --------
    >>> from pellucid.kernels import Subsequence
    >>> Subsequence(k=2, decay=0.5, normalise=False)(["cat", "car", "bat"])
    array([[0.140625, 0.0625  , 0.0625  ],
           [0.0625  , 0.140625, 0.      ],
           [0.0625  , 0.      , 0.140625]])
    """

    worth_trying = (("k", (2, 3, 4)),)
    parameters = ("k", "decay", "normalise")
    vectors = False
    _is_of_objects = True

    def __init__(self, k: int = 3, decay: float = 0.5, *, normalise: bool = True) -> None:
        self.k = whole(k, "k")
        self.decay = positive(decay, "decay")
        if self.decay > 1.0:
            raise ValueError(f"decay must be at most 1, got {decay!r}.")
        self.normalise = bool(normalise)

    @classmethod
    def examples(cls) -> list[Kernel]:
        return [cls(), cls(2, 0.8, normalise=False)]

    @classmethod
    def example_rows(cls) -> list[Any]:
        return ["science", "is", "organised", "knowledge", "knowing", "organs", "silence"]

    def read_objects(self, rows: np.ndarray) -> np.ndarray:
        rows = rows[:, 0] if rows.ndim == 2 and rows.shape[1] == 1 else rows
        if rows.ndim != 1:
            raise ValueError(f"The kernel {self} compares strings: say which column with .on('name').")
        for i, item in enumerate(rows):
            if not isinstance(item, str):
                raise ValueError(f"row {i}: expected a string, got {shown(item)}.")
        return rows.astype(object)

    def _gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        strings = X if Y is X else np.concatenate([X, Y])
        letters = Letters.of(strings, None)
        if self._are_few(letters):
            weights = self._weights(letters)
            x, y = weights[: len(X)], weights if Y is X else weights[len(X) :]
            K, own = x @ y.T, np.einsum("ij,ij->i", weights, weights)
        else:
            K = self._values(X, Y)
            own = self._own(strings) if self.normalise else np.ones(len(strings))
        if not self.normalise:
            return K
        scale = own[: len(X), None] * (own if Y is X else own[len(X) :])
        return np.divide(K, np.sqrt(scale), out=np.zeros_like(K), where=scale > 0)

    def _are_few(self, letters: Letters) -> bool:
        """Whether there are fewer subsequences than places of two strings to compare, and room for all."""
        n, longest = len(letters.start) - 1, int(np.diff(letters.start).max(initial=0))
        words = float(len(letters.alphabet)) ** self.k
        return 0 < words <= min(longest**2, _CELLS / n)

    def _weights(self, letters: Letters) -> np.ndarray:
        r"""For each string, the weight of every subsequence: the sum of :math:`\lambda^l` over its places.

        ``found`` has the sums over places of ``d + 1`` letters, weighted from where they begin to the letter
        that is read. That letter makes them longer by one, or the gap in them.
        """
        base, decay, lengths = len(letters.alphabet), self.decay, np.diff(letters.start)
        out = np.zeros((len(lengths), base**self.k))
        for block in row_blocks(len(lengths), 8.0 * base**self.k):
            start, length = letters.start[:-1][block], lengths[block]
            found = [np.zeros((len(length), base ** (d + 1))) for d in range(self.k - 1)] + [out[block]]
            for at in range(int(length.max(initial=0))):
                rows = np.flatnonzero(length > at)
                letter = letters.codes[start[rows] + at] - 1
                for d in range(self.k - 1, -1, -1):  # the longest first: each letter is read once
                    longer = decay * found[d - 1][rows] if d else np.full((len(rows), 1), decay)
                    if d < self.k - 1:
                        found[d] *= decay
                    found[d].reshape(len(length), -1, base)[rows, :, letter] += longer
        return out

    def _diag(self, X: np.ndarray) -> np.ndarray:
        own = self._own(X)
        return (own > 0).astype(float) if self.normalise else own

    def _own(self, X: np.ndarray) -> np.ndarray:
        """Values of strings with themselves."""
        letters = Letters.of(X, None)
        if self._are_few(letters):
            weights = self._weights(letters)
            return np.asarray(np.einsum("ij,ij->i", weights, weights))
        return np.array([self._values(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(len(X))])

    def _values(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """One string against all others at once, letter by letter."""
        both = Letters.of([*X, *Y], None)
        lengths = np.diff(both.start)
        longest = int(lengths[len(X) :].max(initial=0))
        table = float(lengths[: len(X)].max(initial=0) + 1) * longest  # cells of one pair of strings
        require_room(table, f"Subsequences of strings of up to {lengths.max(initial=0)} letters")
        others = np.zeros((len(Y), longest), dtype=np.int64)  # zero fits no letter
        for j in range(len(Y)):
            start = both.start[len(X) + j]
            others[j, : lengths[len(X) + j]] = both.codes[start : start + lengths[len(X) + j]]
        out = np.zeros((len(X), len(Y)))
        for block in row_blocks(len(Y), 32.0 * table):
            for i in range(len(X)):
                text = both.codes[both.start[i] : both.start[i + 1]]
                out[i, block] = self._against(text, others[block])
        return out

    def _against(self, text: np.ndarray, others: np.ndarray) -> np.ndarray:
        r"""Values between one string and the rows of ``others``.

        ``P`` has the sums over common subsequences of ``d`` letters that end before each place, weighted from
        where they begin to that place: :math:`P(s c, t) = \lambda P(s, t) + Q(s c, t)` and
        :math:`Q(s c, t u) = \lambda Q(s c, t) + [u = c]\, \lambda^2 P_{d-1}(s, t)`.
        """
        decay, n = self.decay, len(text)
        same = [others == letter for letter in text.tolist()]
        before = np.ones((n + 1, *others.shape))  # P of one letter less, for all beginnings of the text
        for _ in range(1, self.k):
            P = np.zeros_like(before)
            for a in range(n):
                met = np.zeros(others.shape)
                met[:, 1:] = same[a][:, :-1] * decay**2 * before[a][:, :-1]
                P[a + 1] = decay * P[a] + lfilter([1.0], [1.0, -decay], met, axis=1)
            before = P
        total = np.zeros(len(others))
        for a in range(n):
            total += decay**2 * (same[a] * before[a]).sum(axis=1)
        return total
