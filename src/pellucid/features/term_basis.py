"""Columns of an additive model, and the shapes that their prior variances are made of.

Columns of a main effect are those of its axis, columns of a pair are products of two of them. A column has
variance one under the data, so its prior variance is what it may contribute. The prior variances of a term
are a sum of *shapes*, each with a variance θ of its own that the fit estimates:

    d_j = Σ_k θ_k S_kj,   mean over points x of Σ_j S_kj φ_j(x)² = 1,

so θ is how much the function may vary at a point, however many rows are there: at a rare level, or where two
rare values meet, as much as elsewhere, and not the more the fewer rows there are. A shape falls with the
frequency ω_j of the column: ω⁻⁴ for smooth functions, ω⁻² for rough ones, 1 for those that differ from value
to value; a straight line has a shape of its own. So every term finds its own smoothness. A pair has the
products of the shapes of its features: it may be smooth along one of them and rough along the other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, product
from typing import Self

import numpy as np

from pellucid.features.axis import CURVE, LEVEL, LINE, POINT, Axis, Basis

Term = tuple[int, ...]
Picks = dict[Term, tuple[np.ndarray, ...]]
"""Columns of each term: those of its first axis and, for a pair, of its second."""
Variances = Mapping[Term, np.ndarray]
"""Variances θ of the shapes of each term."""

SHAPES = {"smooth": 4.0, "rough": 2.0, "white": 0.0}
"""Powers of the frequency with which the prior variances of curves fall."""
_SKETCH_KNOTS = 64  # enough for the first few columns


def main_shapes(basis: Basis) -> dict[str, np.ndarray]:
    """Shapes of a main effect: straight, smooth, rough, from value to value, single points; or of levels."""
    return _normed(basis, _powers(basis), {"line": LINE, "points": POINT})


def pair_shapes(basis: Basis) -> dict[str, np.ndarray]:
    """Shapes along one feature of a pair: smooth and rough, both with straight lines and single points."""
    return _normed(basis, _powers(basis), {})


def _powers(basis: Basis) -> dict[str, float]:
    """Shapes of curves; functions that differ from value to value only where values repeat."""
    return {name: power for name, power in SHAPES.items() if power > 0 or basis.repeats}


def _normed(basis: Basis, powers: Mapping[str, float], alone: Mapping[str, int]) -> dict[str, np.ndarray]:
    part, frequency = basis.part, basis.frequency
    if np.any(part == LEVEL):
        found = {"levels": frequency**-2.0}
    else:
        found = {name: (part == code).astype(float) for name, code in alone.items()}
        curved = part == CURVE if alone else np.full(len(part), np.any(part == CURVE))
        found |= {name: np.where(curved, frequency**-power, 0.0) for name, power in powers.items()}
        if not alone and not curved.any():
            found = {"line": np.ones(len(part))}
    return {name: shape / _size(basis, shape) for name, shape in found.items() if shape.any()}


def _size(basis: Basis, shape: np.ndarray) -> float:
    """Prior variance of a function at a point: the mean over all points, or that of a single point."""
    variance = basis.square @ shape
    single = np.all(basis.part[shape > 0] == POINT)
    return float(variance.max() if single else variance.mean())


class Bases:
    """Bases of axes, each computed when it is first asked for: most of many features never are.

    Parameters
    ----------
    axes : tuple of Axis
        The axes.
    n_columns : int
        Columns of each basis at most; axes of levels, and of values that repeat, keep all of theirs.
    others : Bases, optional
        Bases to take where the axis is the same one.

    Examples
    --------
    >>> x = np.linspace(0.0, 1.0, 500)
    >>> bases = Bases((Axis.numeric(x, np.ones(500), 250),), 5)
    >>> len(bases[0]), bases[0] is bases[0]
    (5, True)
    """

    def __init__(self, axes: tuple[Axis, ...], n_columns: int, *, others: Bases | None = None) -> None:
        self.axes = axes
        self.n_columns = n_columns
        self._others = others
        self._known: dict[int, Basis] = {}

    def given(self, bases: Mapping[int, Basis]) -> Self:
        """The same, with the bases of some axes as they are: elsewhere they might come out rotated."""
        self._known |= bases
        return self

    def __len__(self) -> int:
        return len(self.axes)

    def __getitem__(self, j: int) -> Basis:
        if j not in self._known:
            axis, others = self.axes[j], self._others
            if others is not None and others.axes[j] is axis:
                self._known[j] = others[j]
            else:
                few = axis.levels or axis.repeats
                self._known[j] = axis.basis(len(axis) if few else self.n_columns)
        return self._known[j]


@dataclass(frozen=True)
class Axes:
    """Axis and basis of every feature: a fine one for main effects, a coarser one for pairs."""

    fine: tuple[Axis, ...]
    coarse: tuple[Axis, ...]
    main: Bases
    pair: Bases
    _shapes: dict[Term, tuple[tuple[str, ...], np.ndarray]] = field(default_factory=dict, compare=False)

    def sketch(self, feature: int, x: np.ndarray, n_columns: int) -> np.ndarray:
        """About the first columns of a feature at values of it, without the basis that a fit needs."""
        axis = self.fine[feature].thinned(_SKETCH_KNOTS)
        basis = self.main[feature] if axis.levels else axis.basis(n_columns)
        return basis.at(axis.locate(x), n_columns=n_columns)

    def shapes(self, term: Term) -> tuple[tuple[str, ...], np.ndarray]:
        """Names of the shapes of a term, and the shapes over all columns; of a pair, over all products."""
        if term not in self._shapes:
            if len(term) == 1:
                named = main_shapes(self.main[term[0]])
                self._shapes[term] = tuple(named), np.array(list(named.values()))
            else:
                first, second = (pair_shapes(self.pair[j]) for j in term)
                names = tuple(f"{a} × {b}" for a, b in product(first, second))
                self._shapes[term] = (
                    names,
                    np.array([np.outer(a, b).ravel() for a in first.values() for b in second.values()]),
                )
        return self._shapes[term]

    def place(self, term: Term, pick: Sequence[np.ndarray]) -> np.ndarray:
        """Where columns of a term are among all its columns or products."""
        if len(term) == 1:
            return pick[0]
        return pick[0] * len(self.pair[term[1]]) + pick[1]


@dataclass(frozen=True)
class TermBasis:
    """The columns that a model has: for each term, which columns of its axes are multiplied.

    Attributes
    ----------
    axes : Axes
        Axes and their bases.
    terms : tuple of tuples
        Features of each term.
    picks : tuple of tuples of ndarray
        Columns of the term's first axis and, for a pair, of its second, one entry per column of the term.
    """

    axes: Axes
    terms: tuple[Term, ...]
    picks: tuple[tuple[np.ndarray, ...], ...]

    @classmethod
    def of(cls, axes: Axes, *picks: Picks) -> TermBasis:
        """The basis of all terms picked."""
        every = {term: pick for part in picks for term, pick in part.items()}
        return cls(axes, tuple(every), tuple(every.values()))

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """Columns of each term."""
        edges = np.cumsum([0, *(len(pick[0]) for pick in self.picks)]).tolist()
        return tuple(slice(*ends) for ends in pairwise(edges))

    @cached_property
    def owner(self) -> np.ndarray:
        """Position of the term of each column."""
        return np.repeat(np.arange(len(self.terms)), [len(pick[0]) for pick in self.picks])

    @cached_property
    def shapes(self) -> tuple[np.ndarray, ...]:
        """Shapes of each term at its columns, of shape (n_shapes, columns)."""
        return tuple(
            self.axes.shapes(term)[1][:, self.axes.place(term, pick)]
            for term, pick in zip(self.terms, self.picks, strict=True)
        )

    def prior(self, variances: Variances) -> np.ndarray:
        """Prior variance of each column; zero in terms that have none."""
        parts = [
            variances[term] @ S if term in variances else np.zeros(S.shape[1])
            for term, S in zip(self.terms, self.shapes, strict=True)
        ]
        return np.concatenate([np.empty(0), *parts])

    def of_terms(self, some: Sequence[int]) -> TermBasis:
        """The basis of the terms at some positions."""
        return TermBasis(self.axes, tuple(self.terms[t] for t in some), tuple(self.picks[t] for t in some))

    def columns_of(self, terms: Collection[Term]) -> np.ndarray:
        """Numbers of the columns of some terms."""
        wanted = np.array([term in terms for term in self.terms], dtype=bool)
        return np.flatnonzero(wanted[self.owner])

    @property
    def size(self) -> int:
        """Number of columns."""
        return self.slices[-1].stop if self.slices else 0

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

    def used(self) -> tuple[dict[int, Basis], dict[int, Basis]]:
        """Bases of main effects and of pairs by feature, with as many columns as these terms need."""
        need: tuple[dict[int, int], dict[int, int]] = ({}, {})
        for term, pick in zip(self.terms, self.picks, strict=True):
            for j, part in zip(term, pick, strict=True):
                of = need[0 if self._axis(j, term)[1] else 1]
                of[j] = max(of.get(j, 0), int(part.max(initial=-1)) + 1)
        main, pair = self.axes.main, self.axes.pair
        return (
            {j: main[j].first(k) for j, k in need[0].items()},
            {j: pair[j].first(k) for j, k in need[1].items()},
        )

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
        W = np.zeros((A.table.shape[1], B.table.shape[1]))
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


def first_picks(axes: Axes, terms: Sequence[Term], n_columns: int) -> Picks:
    """The columns of each term that are largest if its shapes have equal variances; of levels, all."""
    picks: Picks = {}
    for term in terms:
        shapes = axes.shapes(term)[1]
        if not shapes.size:
            continue
        most = n_columns
        if len(term) == 1 and axes.fine[term[0]].levels:
            most = shapes.shape[1]
        picks |= _picked(axes, term, np.argsort(-shapes.sum(axis=0), kind="stable")[:most])
    return picks


def picks_by_variance(axes: Axes, variances: Variances, budget: int, floor: float) -> Picks:
    """Columns of the largest prior variance among all those of some terms, if it is above a floor."""
    prior = {term: theta @ axes.shapes(term)[1] for term, theta in variances.items()}
    every = np.concatenate([np.empty(0), *(d[d > floor] for d in prior.values())])
    if len(every) > budget:
        floor = float(np.partition(every, len(every) - budget)[len(every) - budget])
    picks: Picks = {}
    for term, d in prior.items():
        picks |= _picked(axes, term, np.flatnonzero(d > floor))
    return picks


def _picked(axes: Axes, term: Term, place: np.ndarray) -> Picks:
    place = np.sort(place)
    if len(place) == 0:
        return {}
    return {term: (place,) if len(term) == 1 else np.divmod(place, len(axes.pair[term[1]]))}
