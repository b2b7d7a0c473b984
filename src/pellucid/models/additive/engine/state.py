"""What the fit of an additive model works on, and where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pellucid.features.term_basis import Axes, Group, Picks, Term, TermBasis
from pellucid.linalg.moments import Moments
from pellucid.linalg.sample import sample_rows
from pellucid.losses import Loss
from pellucid.solvers.variance_components import Components, score_test, score_test_with_dropped

ScoreTest = tuple[float, np.ndarray]
"""A statistic, and the weights of the independent χ²₁ whose sum it is under the hypothesis."""

_FARTHEST = 20.0  # that the target of the quadratic may be from where it touches
_EXACT = 10_000  # rows up to which everything is float64


@dataclass(frozen=True)
class Problem:
    """Rows as a float64 matrix, targets, weights, offset and loss; whether few main effects matter."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    offset: np.ndarray
    loss: Loss
    sparse_main_effects: bool = False

    def __len__(self) -> int:
        return len(self.y)

    @property
    def dtype(self) -> type:
        """Precision of features: float64 where it costs nothing."""
        return np.float64 if len(self) <= _EXACT else np.float32

    @property
    def quadratic(self) -> bool:
        """Whether one linear solve is the answer."""
        return self.loss.name == "squared"

    @property
    def discrete(self) -> bool:
        """Whether targets are classes or counts: their dispersion is known, and each row tells little.

        Weak effects of discrete targets are pooled; those of others have to stand for themselves.
        """
        return self.loss.name not in ("squared", "gamma")

    @property
    def scale(self) -> float | None:
        """Dispersion where the loss fixes it; None where it is estimated."""
        return 1.0 if self.discrete else None

    @property
    def varies(self) -> bool:
        """Whether the targets differ at all."""
        return len(self) > 0 and float(np.ptp(self.y)) > 0.0

    @property
    def constant(self) -> float:
        """The best constant beside the offset."""
        return self.loss.best_constant(self.y, self.weight, self.offset)

    @property
    def null_predictor(self) -> np.ndarray:
        """Offset and the best constant."""
        return self.offset + self.constant

    def part(self, rows: np.ndarray | slice) -> Problem:
        """The problem on some of the rows."""
        X, y, weight, offset = (v[rows] for v in (self.X, self.y, self.weight, self.offset))
        return replace(self, X=X, y=y, weight=weight, offset=offset)

    def sample(self, k: int) -> np.ndarray:
        """At most ``k`` rows that stand for all, whatever the order of rows and the unit of the targets."""
        rank = np.unique(self.y, return_inverse=True)[1] if len(self) > k else self.y
        return sample_rows([*self.X.T, rank], k)

    def some(self, k: int) -> Problem:
        """The problem on at most ``k`` rows that stand for all."""
        return self if len(self) <= k else self.part(self.sample(k))

    def working(self, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights and targets of the quadratic that touches the loss at ``eta``, targets without offset."""
        if self.quadratic:
            return self.weight, self.y - self.offset
        slope, curvature = self.loss.gradient(self.y, eta), self.loss.curvature(self.y, eta)
        curvature = np.maximum(curvature, 1e-6 * max(float(curvature.max()), 1e-12))
        curvature = np.maximum(curvature, np.abs(slope) / _FARTHEST)
        z = eta - self.offset - slope / curvature
        return self.weight * curvature, z

    def in_units(self, unit: float) -> Problem:
        """The problem with targets multiplied."""
        return replace(self, y=self.y * unit, offset=self.offset * unit)

    def value(self, eta: np.ndarray) -> float:
        """Sum of the losses."""
        return float(self.weight @ self.loss.value(self.y, eta))


@dataclass
class State:
    """Where a fit stands."""

    basis: TermBasis
    fit: Components
    moments: Moments
    intercept: float
    eta: np.ndarray
    converged: bool = True
    tests: dict[Term, ScoreTest] = field(default_factory=dict)
    fold_eta: np.ndarray | None = None  # of each row by a fit, with a choice of pairs, without its fold

    @property
    def term_edf(self) -> np.ndarray:
        """Effective degrees of freedom of each term."""
        return np.bincount(self.basis.owner, self.fit.edf, len(self.basis.terms))

    @property
    def variance(self) -> dict[Group, float]:
        """Prior variance of each group of columns, zero for those that were dropped."""
        return dict(zip(self.basis.keys, self.fit.scale / self.fit.ridge, strict=True))

    def ridges_of(self, basis: TermBasis) -> np.ndarray:
        """Ridges of the groups of a basis that are all in that of the fit."""
        ridge = dict(zip(self.basis.keys, self.fit.ridge, strict=True))
        return np.array([ridge[key] for key in basis.keys], dtype=float)

    def in_units(self, unit: float) -> State:
        """The same fit of targets that were multiplied."""
        f, m = self.fit, self.moments
        fit = replace(f, beta=f.beta * unit, scale=f.scale * unit**2, rss=f.rss * unit**2)
        moments = replace(m, c=m.c * unit, square=m.square * unit**2, target_mean=m.target_mean * unit)
        return replace(
            self,
            fit=fit,
            moments=moments,
            intercept=self.intercept * unit,
            eta=self.eta * unit,
            fold_eta=None if self.fold_eta is None else self.fold_eta * unit,
        )


def information(problem: Problem, eta: np.ndarray) -> float:
    """Number of rows that the data are worth: one of a class counts by how open it is, 4p(1 - p)."""
    n = float(problem.weight.sum())
    if not problem.discrete:
        return n
    return max(min(n, 4.0 * float(problem.working(eta)[0].sum())), 1.0)


def clearly_lower(loss: np.ndarray, other: np.ndarray, weight: np.ndarray | None = None) -> bool:
    """Whether losses are lower than others by more than the standard error of the sum of differences."""
    with np.errstate(invalid="ignore"):  # both may be infinite, if rarely
        gain = other - loss
        w = np.ones(len(gain)) if weight is None else weight
        return float(w @ gain) > float(np.sqrt(w @ gain**2))


def basis_of(axes: Axes, *picks: Picks) -> TermBasis:
    """The basis of all terms picked."""
    every = {term: pick for part in picks for term, pick in part.items()}
    return TermBasis(axes, tuple(every), tuple(every.values()))


def compact(state: State) -> State:
    """The same state without the columns that were dropped."""
    basis, fit, m = state.basis, state.fit, state.moments
    kept = np.zeros(basis.size, dtype=bool)
    kept[fit.columns] = True
    picks: Picks = {}
    shrunk = []  # main effects that lose some of their columns are tested while these are still there
    for term, pick, s in zip(basis.terms, basis.picks, basis.slices, strict=True):
        if kept[s].any():
            picks[term] = tuple(part[kept[s]] for part in pick)
            if len(term) == 1 and not kept[s].all():
                shrunk.append(term)
    lean = basis_of(basis.axes, picks)
    place = {key: g for g, key in enumerate(basis.keys)}
    groups = np.array([place[key] for key in lean.keys], dtype=np.intp)
    columns = np.flatnonzero(kept)
    return replace(
        state,
        tests=tests_of(state, shrunk),
        basis=lean,
        fit=replace(
            fit,
            beta=fit.beta[columns],
            ridge=fit.ridge[groups],
            edf=fit.edf[groups],
            columns=np.arange(len(columns)),
        ),
        moments=m.of(columns),
    )


def tests_of(state: State, terms: Sequence[Term]) -> dict[Term, ScoreTest]:
    """Score tests of terms with all their columns, those that the fit has dropped included."""
    tests: dict[Term, ScoreTest] = {}
    ridge = state.fit.ridge[state.basis.group]
    place = {term: t for t, term in enumerate(state.basis.terms)}
    for term in terms:
        s = state.basis.slices[place[term]]
        members = np.arange(s.start, s.stop)
        if np.all(np.isfinite(ridge[s])):
            tests[term] = score_test(state.fit, members, ridge[s])
        else:
            tests[term] = score_test_with_dropped(state.moments, state.fit, members)
    return tests
