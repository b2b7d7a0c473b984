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
    few: bool = False

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
    def scale(self) -> float | None:
        """Dispersion where the loss fixes it; None where it is estimated."""
        return None if self.loss.name in ("squared", "gamma") else 1.0

    @property
    def learnable(self) -> bool:
        """Whether the targets differ at all."""
        return len(self) > 0 and float(np.ptp(self.y)) > 0.0

    def part(self, rows: np.ndarray | slice) -> Problem:
        """The problem on some of the rows."""
        return Problem(self.X[rows], self.y[rows], self.weight[rows], self.offset[rows], self.loss, self.few)

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
    tests: dict[Term, tuple[float, np.ndarray]] = field(default_factory=dict)

    @property
    def term_edf(self) -> np.ndarray:
        """Effective degrees of freedom of each term."""
        return np.bincount(self.basis.owner, self.fit.edf, len(self.basis.terms))

    @property
    def variance(self) -> dict[Group, float]:
        """Prior variance of each group of columns, zero for those that were dropped."""
        return dict(zip(self.basis.keys, self.fit.scale / self.fit.ridge, strict=True))

    def in_units(self, unit: float) -> State:
        """The same fit of targets that were multiplied."""
        fit = replace(
            self.fit,
            beta=self.fit.beta * unit,
            scale=self.fit.scale * unit**2,
            rss=self.fit.rss * unit**2,
        )
        moments = replace(
            self.moments,
            c=self.moments.c * unit,
            square=self.moments.square * unit**2,
            target_mean=self.moments.target_mean * unit,
        )
        return replace(self, fit=fit, moments=moments, intercept=self.intercept * unit, eta=self.eta * unit)


def information(problem: Problem, eta: np.ndarray) -> float:
    """Number of rows that the data are worth: one of a class counts by how open it is, 4p(1 - p)."""
    n = float(problem.weight.sum())
    if problem.scale is None:
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
        moments=replace(
            m, G=m.G[np.ix_(columns, columns)], c=m.c[columns], column_mean=m.column_mean[columns]
        ),
    )


def tests_of(state: State, terms: Sequence[Term]) -> dict[Term, tuple[float, np.ndarray]]:
    """Score tests of terms with all their columns, those that the fit has dropped included."""
    tests: dict[Term, tuple[float, np.ndarray]] = {}
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
