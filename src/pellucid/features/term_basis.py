"""Columns of an additive model: eigenfunctions of single features, products of them for pairs.

The columns of a term fall into *groups* by how fast they vary along each of its features (smooth, middling,
rough; in main effects also: from value to value). Each group gets a variance of its own when the model is
fitted, so that every term finds its own smoothness, and a pair may be smooth along one feature and rough
along the other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from pellucid.features.axis import Axis, Basis

Term = tuple[int, ...]
Group = tuple[Term, int]
Picks = dict[Term, tuple[np.ndarray, ...]]
"""Columns of each term: those of its first axis and, for a pair, of its second."""

BANDS = (2, 8)  # columns 0-1 of an axis are smooth, 2-7 middling, the rest rough
VALUES = 32  # columns of a main effect from here on tell single values apart
_FEW_KNOTS = 240  # of numbers, each of which may be told apart
_N_BANDS = len(BANDS) + 1
_SKETCH_KNOTS = 64  # enough for the first few eigenfunctions
_LEVEL_COLUMNS = 1000  # shared by the main effects of all categorical features


class Bases:
    """Eigenbases of axes, each computed when it is first asked for: most of many features never are.

    Parameters
    ----------
    axes : tuple of Axis
        The axes.
    length_scale : float
        Of their kernels.
    n_columns : int
        Columns of each basis at most; axes of levels, and of few knots, keep all of theirs.
    jumps : bool
        Whether effects may jump at values that stand out.
    others : Bases, optional
        Bases to take where the axis is the same one, and jumps are the same or there are none.

    Examples
    --------
    >>> x = np.linspace(0.0, 1.0, 500)
    >>> bases = Bases((Axis.numeric(x, np.ones(500), 250),), 1.0, 5)
    >>> len(bases[0]), bases[0] is bases[0]
    (5, True)
    """

    def __init__(
        self,
        axes: tuple[Axis, ...],
        length_scale: float,
        n_columns: int,
        *,
        jumps: bool = True,
        others: Bases | None = None,
    ) -> None:
        self.axes = axes
        self.length_scale = length_scale
        self.n_columns = n_columns
        self.jumps = jumps
        self._others = others
        self._known: dict[int, Basis] = {}

    def __len__(self) -> int:
        return len(self.axes)

    def __getitem__(self, j: int) -> Basis:
        if j not in self._known:
            axis = self.axes[j]
            if self._others is not None and self._same(self._others, j):
                self._known[j] = self._others[j]
            else:
                few = axis.levels or len(axis.knots) <= _FEW_KNOTS
                most = len(axis) if few else self.n_columns
                self._known[j] = axis.basis(self.length_scale, most, jumps=self.jumps)
        return self._known[j]

    def _same(self, other: Bases, j: int) -> bool:
        axis = self.axes[j]
        return other.axes[j] is axis and (other.jumps == self.jumps or not axis.atoms().any())


@dataclass(frozen=True)
class Axes:
    """Axis and eigenbasis of every feature: a fine one for main effects, a coarser one for pairs.

    The columns of features in ``whole`` form one group: none of them is dropped without the others.
    """

    fine: tuple[Axis, ...]
    coarse: tuple[Axis, ...]
    main: Bases
    pair: Bases
    whole: tuple[int, ...] = ()

    @cached_property
    def without_jumps(self) -> Axes:
        """The same axes, with bases that do not jump at values that stand out."""
        if not self.main.jumps:
            return self
        scale, most = self.main.length_scale, self.main.n_columns
        main = Bases(self.fine, scale, most, jumps=False, others=self.main)
        return replace(self, main=main, pair=Bases(self.coarse, scale, most, jumps=False, others=main))

    def sketch(self, feature: int, x: np.ndarray, n_columns: int) -> np.ndarray:
        """About the first columns of a feature at values of it, without the basis that a fit needs."""
        axis = self.fine[feature].thinned(_SKETCH_KNOTS)
        if axis.levels:
            return self.main[feature].at(axis.locate(x), n_columns=n_columns)
        return axis.basis(self.main.length_scale, n_columns, jumps=self.main.jumps).at(axis.locate(x))

    def band(self, feature: int, column: np.ndarray, bands: tuple[int, ...] = BANDS) -> np.ndarray:
        """Band of columns of a feature; levels have no notion of rough, so all are in the first."""
        if self.fine[feature].levels or feature in self.whole:
            return np.zeros(len(column), dtype=np.intp)
        return np.digitize(column, bands)

    def code(self, term: Term, pick: Sequence[np.ndarray]) -> np.ndarray:
        """Number of the group of each column of a term."""
        if len(term) == 1:
            return self.band(term[0], pick[0], (*BANDS, VALUES))
        return self.band(term[0], pick[0]) * _N_BANDS + self.band(term[1], pick[1])


@dataclass(frozen=True)
class TermBasis:
    """The columns that a model has: for each term, which columns of its axes are multiplied.

    Attributes
    ----------
    axes : Axes
        Axes and their eigenbases.
    terms : tuple of tuples
        Features of each term.
    picks : tuple of tuples of ndarray
        Columns of the term's first axis and, for a pair, of its second, one entry per column of the term.
    """

    axes: Axes
    terms: tuple[Term, ...]
    picks: tuple[tuple[np.ndarray, ...], ...]
    group: np.ndarray = field(init=False)
    keys: tuple[Group, ...] = field(init=False)
    slices: tuple[slice, ...] = field(init=False)

    def __post_init__(self) -> None:
        keys: list[Group] = []
        group, slices, start = [], [], 0
        for term, pick in zip(self.terms, self.picks, strict=True):
            codes, inverse = np.unique(self.axes.code(term, pick), return_inverse=True)
            group.append(inverse + len(keys))
            keys += [(term, int(code)) for code in codes]
            slices.append(slice(start, start + len(pick[0])))
            start += len(pick[0])
        object.__setattr__(self, "group", np.concatenate(group) if group else np.empty(0, dtype=np.intp))
        object.__setattr__(self, "keys", tuple(keys))
        object.__setattr__(self, "slices", tuple(slices))

    def of_terms(self, some: Sequence[int]) -> TermBasis:
        """The basis of the terms at some positions."""
        return TermBasis(self.axes, tuple(self.terms[t] for t in some), tuple(self.picks[t] for t in some))

    def columns_of(self, terms: Collection[Term]) -> np.ndarray:
        """Numbers of the columns of some terms."""
        return np.flatnonzero(np.isin(self.owner, [self.terms.index(term) for term in terms])[self.group])

    @property
    def size(self) -> int:
        """Number of columns."""
        return self.slices[-1].stop if self.slices else 0

    @property
    def owner(self) -> np.ndarray:
        """Position of the term that each group belongs to."""
        place = {term: t for t, term in enumerate(self.terms)}
        return np.array([place[term] for term, _ in self.keys], dtype=np.intp)

    @property
    def kind(self) -> np.ndarray:
        """Number of each group's kind: main effects or pairs of the same bands are of one kind."""
        seen: dict[tuple[int, int], int] = {}
        kinds = [seen.setdefault((len(term), code), len(seen)) for term, code in self.keys]
        return np.array(kinds, dtype=np.intp)

    @property
    def of_pairs(self) -> np.ndarray:
        """Whether each group belongs to a pair."""
        return np.array([len(term) == 2 for term, _ in self.keys], dtype=bool)

    def design(self, X: np.ndarray, dtype: type = np.float64) -> np.ndarray:
        """Columns at the rows of ``X``, transposed: of shape (size, n), so that a column is in one piece."""
        Zt: np.ndarray = np.empty((self.size, len(X)), dtype=dtype)
        need: dict[tuple[int, bool], int] = {}  # columns of each axis
        keys = [[self._axis(j, term) for j in term] for term in self.terms]
        for ks, pick in zip(keys, self.picks, strict=True):
            for key, part in zip(ks, pick, strict=True):
                need[key] = max(need.get(key, 0), int(part.max(initial=-1)) + 1)
        paired = {key for ks in keys if len(ks) == 2 for key in ks}
        held: dict[tuple[int, bool], np.ndarray] = {}
        for ks, pick, s in zip(keys, self.picks, self.slices, strict=True):
            for key in ks:
                if key not in held:
                    held[key] = self._columns(X, key, need[key], dtype)
            if len(ks) == 2:
                _multiply(held[ks[0]], held[ks[1]], pick, Zt[s])
            else:
                Zt[s] = held[ks[0]][pick[0]]
                if ks[0] not in paired:
                    del held[ks[0]]
        return Zt

    def _axis(self, j: int, term: Term) -> tuple[int, bool]:
        """Feature, and whether the axis that it has in a term is the fine one."""
        return j, len(term) == 1 or self.axes.fine[j] is self.axes.coarse[j]

    def _columns(self, X: np.ndarray, key: tuple[int, bool], n_columns: int, dtype: type) -> np.ndarray:
        """The first columns of an axis at rows, transposed."""
        (j, is_fine), axes = key, self.axes
        axis, basis = (axes.fine[j], axes.main[j]) if is_fine else (axes.coarse[j], axes.pair[j])
        return basis.at(axis.locate(X[:, j]), dtype, n_columns).T

    def table(self, t: int, beta: np.ndarray) -> np.ndarray:
        """Function of term ``t`` at the points of its axes, for the coefficients of its columns.

        The last entry along each axis is zero: values that are nowhere.
        """
        term, pick = self.terms[t], self.picks[t]
        if len(term) == 1:
            return self.axes.main[term[0]].table[:, pick[0]] @ beta
        A, B = self.axes.pair[term[0]], self.axes.pair[term[1]]
        W = np.zeros((len(A), len(B)))
        W[pick[0], pick[1]] = beta
        return A.table @ W @ B.table.T

    def functions(self, t: int, where: Sequence[np.ndarray]) -> np.ndarray:
        """Columns of term ``t`` at points of its axes, all combinations for a pair: (points, columns)."""
        term, pick = self.terms[t], self.picks[t]
        if len(term) == 1:
            return self.axes.main[term[0]].table[where[0]][:, pick[0]]
        A = self.axes.pair[term[0]].table[where[0]][:, pick[0]]
        B = self.axes.pair[term[1]].table[where[1]][:, pick[1]]
        return (A[:, None, :] * B[None, :, :]).reshape(-1, A.shape[1])


def _multiply(A: np.ndarray, B: np.ndarray, pick: Sequence[np.ndarray], out: np.ndarray) -> None:
    """Products of rows of A with rows of B; a row of A meets many of B, mostly next to each other."""
    a, b = pick
    starts = np.flatnonzero((np.diff(a, prepend=-1) != 0) | (np.diff(b, prepend=-1) != 1)).tolist()
    for start, stop in pairwise([*starts, len(a)]):
        np.multiply(A[a[start]], B[b[start] : b[start] + stop - start], out=out[start:stop])


def main_picks(axes: Axes, features: Sequence[int], n_columns: int) -> Picks:
    """The first columns of each feature; of levels, which are not a matter of smoothness, all if possible."""
    wide = sum(axes.fine[j].levels for j in features)
    most = max(n_columns, _LEVEL_COLUMNS // max(wide, 1))
    return {
        (j,): (np.arange(min(most if axes.fine[j].levels else n_columns, len(axes.main[j]))),)
        for j in features
        if len(axes.main[j])
    }


def pair_picks(
    axes: Axes,
    pairs: Sequence[Term],
    budget: int,
    variance: Mapping[Group, float] | None = None,
    *,
    floor: float = 0.0,
) -> Picks:
    """Share ``budget`` columns among pairs: the products with the largest prior variance anywhere.

    The prior variance of a product is the product of the eigenvalues, times the variance of its group.
    Without known variances each pair gets the same number of columns. Groups that had no column yet take the
    variance of their smoother neighbours.
    """
    prior, of_pair, place = [], [], []
    for k, (p, q) in enumerate(pairs):
        product = np.outer(axes.pair[p].value, axes.pair[q].value)
        if variance is not None:
            band_p, band_q = (axes.band(j, np.arange(len(axes.pair[j]))) for j in (p, q))
            product *= _band_variances((p, q), variance)[np.ix_(band_p, band_q)]
        most = product.size if variance is not None else max(1, budget // max(len(pairs), 1))
        best = np.argsort(-product, axis=None, kind="stable")[:most]
        prior.append(product.ravel()[best])
        of_pair.append(np.full(len(best), k))
        place.append(best)
    if not pairs:
        return {}
    every = np.concatenate(prior)
    chosen = np.argsort(-every, kind="stable")[:budget]
    chosen = chosen[every[chosen] > floor]
    of_pair_all, place_all = np.concatenate(of_pair)[chosen], np.concatenate(place)[chosen]
    picks: Picks = {}
    for k, (p, q) in enumerate(pairs):
        mine = np.sort(place_all[of_pair_all == k])
        if len(mine):
            a, b = np.divmod(mine, len(axes.pair[q]))
            picks[p, q] = (a, b)
    return picks


def _band_variances(pair: Term, variance: Mapping[Group, float]) -> np.ndarray:
    """Variances of the groups of a pair by the bands of its two axes, filled in from smoother neighbours."""
    table = np.full((_N_BANDS, _N_BANDS), np.nan)
    for a in range(_N_BANDS):
        for b in range(_N_BANDS):
            known = variance.get((pair, a * _N_BANDS + b))
            if known is None:
                near = [table[a - 1, b]] * (a > 0) + [table[a, b - 1]] * (b > 0)
                known = float(np.prod(near)) ** (1 / len(near)) if near else 0.0
            table[a, b] = known
    return table
