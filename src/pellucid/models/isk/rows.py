"""Rows of a fit, seen a block at a time: scaled on the way, grouped by fold, or as factors in memory."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from pellucid.features.pairs import Factors, PairMap
from pellucid.features.scaling import Scaler
from pellucid.linalg import available_memory, row_blocks
from pellucid.solvers.fold_ridge import Sums

_BLOCK = 1 << 26  # bytes of features in one block
_KEEP = 1 << 24  # bytes of scaled rows that are kept rather than made anew in each pass
_SAMPLE = 2048  # rows for the provisional mean of features


@dataclass
class Rows:
    """Raw rows with weights and folds; ``fold`` is the number of the fold that holds a row out."""

    X: np.ndarray
    scaler: Scaler
    weight: np.ndarray
    fold: np.ndarray | None = None
    _scaled: np.ndarray | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.X.size * 8 <= _KEEP:
            self._scaled = self.scaler.apply(self.X)

    def __len__(self) -> int:
        return len(self.X)

    @property
    def n_folds(self) -> int:
        """Number of folds, zero where nothing is to be chosen."""
        return 0 if self.fold is None else int(self.fold.max()) + 1

    def scaled(self, index: np.ndarray | slice) -> np.ndarray:
        """Scaled values of some rows."""
        return self.scaler.apply(self.X[index]) if self._scaled is None else self._scaled[index]

    def by_fold(self, row_bytes: float) -> Iterator[tuple[int, np.ndarray]]:
        """Yield blocks of row numbers with the fold that they belong to (zero without folds)."""
        for f in range(max(1, self.n_folds)):
            members = np.arange(len(self)) if self.fold is None else np.flatnonzero(self.fold == f)
            for block in row_blocks(len(members), row_bytes, _BLOCK):
                yield f, members[block]

    def features(self, pairs: PairMap, index: np.ndarray | slice, mean: np.ndarray) -> np.ndarray:
        """Features of some rows less their mean, laid out."""
        Z = pairs.features(self.scaled(index))
        Z -= mean.astype(Z.dtype)
        return Z

    def sample_mean(self, pairs: PairMap) -> np.ndarray:
        """Mean of the features over some rows, to take off before products are summed.

        It only has to be near the mean: what is left of it is taken into account exactly.
        """
        some = np.unique(np.linspace(0, len(self) - 1, min(_SAMPLE, len(self))).astype(int))
        return pairs.transposed_times(pairs.factors(self.scaled(some)), np.full(len(some), 1.0 / len(some)))


@dataclass
class Features:
    """Features of all rows as products with vectors; factors are kept if a quarter of memory holds them."""

    rows: Rows
    pairs: PairMap
    mean: np.ndarray
    _kept: list[Factors] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._blocks = list(row_blocks(len(self.rows), 4.0 * self.pairs.row_bytes, _BLOCK))
        if 2.0 * self.pairs.row_bytes * len(self.rows) <= 0.25 * available_memory():
            self._kept = [self._factors(block) for block in self._blocks]

    def _factors(self, block: slice) -> Factors:
        return self.pairs.factors(self.rows.scaled(block))

    def blocks(self) -> Iterator[tuple[slice, Factors]]:
        """Yield blocks of rows with their factors."""
        for j, block in enumerate(self._blocks):
            yield block, self._kept[j] if self._kept else self._factors(block)

    def times(self, w: np.ndarray) -> np.ndarray:
        """Centred features times weights."""
        out = np.empty(len(self.rows))
        for block, factors in self.blocks():
            out[block] = self.pairs.times(factors, w)
        return out - self.mean @ w

    def transposed(self, r: np.ndarray) -> np.ndarray:
        """Transposed centred features times a vector over rows."""
        out = -self.mean * r.sum()
        for block, factors in self.blocks():
            out += self.pairs.transposed_times(factors, r[block])
        return out

    def gram(self, h: np.ndarray) -> np.ndarray:
        """Matrix ``Zᵀ diag(h) Z`` of features centred by their mean under ``h``; a pass over the rows."""
        sums = Sums.zeros(self.pairs.F, 1)
        kept = np.flatnonzero(h > 0)
        for block in row_blocks(len(kept), self.pairs.F * np.dtype(self.pairs.dtype).itemsize, _BLOCK):
            Z = self.rows.features(self.pairs, kept[block], self.mean)
            sums.add(Z, np.zeros((len(Z), 1)), h[kept[block]])
            del Z  # or two blocks would be held while the next one is made
        return sums.centred()[0]
