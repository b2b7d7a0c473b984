"""What the fit of an additive model works on, and where it stands."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pellucid.features.term_basis import Term, TermBasis
from pellucid.linalg.moments import Moments
from pellucid.linalg.sample import n_different, sample_rows
from pellucid.losses import Loss
from pellucid.models.additive.engine.design import Design, moments_at
from pellucid.models.additive.engine.hierarchy import Prior
from pellucid.solvers.variance_components import Components, Equations, ScoreTest, score_tests

if TYPE_CHECKING:
    from pellucid.models.additive.engine.all_rows import Rows, Vector

_FARTHEST = 20.0  # that the target of the quadratic may be from where it touches
_FLAT = 0.1  # share of the mean curvature that the flat parts of a loss have on the way to a minimum
_EXACT = 10_000  # rows up to which everything is float64


class Fitted:
    """What is fitted: the loss, and how many rows there are."""

    loss: Loss

    def __len__(self) -> int:
        raise NotImplementedError

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
        """Whether targets are classes, counts or events: how they vary by chance is known."""
        return self.loss.kind != "regression"

    @property
    def scale(self) -> float | None:
        """Dispersion where the loss fixes it; None where it is estimated."""
        return 1.0 if self.discrete and self.loss.name != "poisson" else None

    @property
    def least_scale(self) -> float:
        """Least dispersion where it is estimated: counts may vary more than by chance."""
        return 1.0 if self.loss.name == "poisson" else 0.0


@dataclass(frozen=True)
class Problem(Fitted):
    """Rows as a float64 matrix, targets, weights, offset and loss."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    offset: np.ndarray
    loss: Loss

    def __len__(self) -> int:
        return len(self.y)

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.weight.sum())

    @cached_property
    def informative(self) -> float:
        """Observations that tell of the noise: the sum of the weights, or fewer where rows are copies.

        Rows that are alike in all features and have the same target each time, however many there are, were
        given more than once or counted: that they agree does not mean that there is no noise.
        """
        if self.discrete or not self.X.shape[1]:
            return self.total
        different = n_different([*self.X.T], self.y, self.weight)
        return self.total if different is None else min(self.total, float(different))

    @property
    def discrete(self) -> bool:
        """Whether dispersion is known; that of proportions without trials is not."""
        if self.loss.kind == "proportions":
            count = self.weight * self.y
            return bool(np.all(np.abs(count - np.rint(count)) <= 1e-6 * np.maximum(count, 1.0)))
        return super().discrete

    @property
    def at_hand(self) -> Problem:
        """Rows in memory that stand for all."""
        return self

    @property
    def varies(self) -> bool:
        """Whether the targets differ at all."""
        return len(self) > 0 and float(np.ptp(self.y)) > 0.0

    @property
    def constant(self) -> float:
        """The best constant beside the offset; zero where inner parameters of the loss take its place."""
        if self.loss.joint:
            return 0.0
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

    def beside(self, eta: np.ndarray) -> Problem:
        """The problem with inner parameters of the loss, if it has any, that are best beside ``eta``."""
        if not self.loss.joint:
            return self
        return replace(self, loss=self.loss.profiled(self.y, eta, self.weight))

    def working(
        self, eta: np.ndarray, largest: float | None = None, *, expected: bool = True
    ) -> tuple[np.ndarray, np.ndarray]:
        """Weights and targets of the quadratic that touches the loss at ``eta``, targets without offset.

        Its curvature is the ``expected`` one, of which dispersion and variances can be read off, or that of
        the loss itself, for short ways to its minimum. It counts for a millionth of the ``largest`` at least,
        that of these rows if it is not given.
        """
        if self.quadratic:
            return self.weight, self.y - self.offset
        loss, y, s = self.loss, self.y, self.weight
        slope, mean = loss.gradient(y, eta), loss.expected_curvature(y, eta, s)
        if loss.link == "identity":  # no target is too far away, as slopes are alike
            size = float(s @ np.abs(y - eta))
            mean = np.maximum(mean, float(s @ np.abs(slope)) / (_FARTHEST * size) if size > 0 else 1e-12)
            curvature = mean if expected else np.maximum(loss.curvature(y, eta), _FLAT * mean)
        else:
            curvature = mean if expected else loss.curvature(y, eta)
            largest = float(curvature.max()) if largest is None else largest
            curvature = np.maximum(curvature, 1e-6 * max(largest, 1e-12))
            curvature = np.maximum(curvature, np.abs(slope) / _FARTHEST)
        return s * curvature, eta - self.offset - slope / curvature

    def in_units(self, unit: float) -> Problem:
        """The problem with targets multiplied."""
        loss = self.loss.in_unit(1.0 / unit)
        return replace(self, y=self.y * unit, offset=self.offset * unit, loss=loss)

    def value(self, eta: np.ndarray) -> float:
        """Sum of the losses, inner parameters at their best."""
        return float(self.weight @ self.beside(eta).loss.value(self.y, eta))

    def curvature(self, eta: np.ndarray) -> float:
        """Sum of the curvatures of the quadratic that touches the loss."""
        return float(self.beside(eta).working(eta)[0].sum())

    def design(self, basis: TermBasis, dtype: type | None = None) -> Design:
        """Products with the columns of a basis at the rows."""
        return Design(self, basis, dtype)

    def moments(
        self, basis: TermBasis, eta: np.ndarray, dtype: type | None = None, *, expected: bool = True
    ) -> Moments:
        """Moments of the quadratic that touches the loss at a predictor; see :meth:`working`."""
        return moments_at(self, basis, *self.beside(eta).working(eta, expected=expected), dtype)

    def takes(self, eta: Vector) -> bool:
        """Whether a predictor is one of these rows, and not of others that stand for them."""
        return isinstance(eta, np.ndarray) and len(eta) == len(self)

    def here(self, eta: np.ndarray) -> np.ndarray:
        """A predictor at the rows that are at hand."""
        return eta


@dataclass
class State:
    """Where a fit stands."""

    basis: TermBasis
    prior: Prior
    fit: Components
    moments: Moments
    intercept: float
    eta: Vector
    loss: Loss  # with what it leaves open
    converged: bool = True
    unit: float = 1.0  # of the targets, in that of the prior
    bend: float = 1.0  # of the curvatures, in that of the prior
    fold_eta: np.ndarray | None = None  # of each row by a fit, with a choice of terms, without its fold

    @property
    def term_edf(self) -> np.ndarray:
        """Effective degrees of freedom of each term."""
        return np.bincount(self.basis.owner, self.fit.edf, len(self.basis.terms))

    @cached_property
    def if_there(self) -> tuple[Components, dict[Term, np.ndarray]]:
        """The fit with the variances that are expected if there is something in every term, and these.

        Bands and tests of a term are read off it. They thereby allow for what others may contribute, where
        the fit itself takes small variances for terms in which there may be nothing.
        """
        f, variances, expected = self.fit, self.prior.variances, self.prior.expected
        if not self.prior.posteriors:
            return f, expected
        ratio = np.array([variances[term].sum() / expected[term].sum() for term in self.basis.terms])
        ridge = f.ridge * ratio[self.basis.owner]
        return Equations(self.moments, f.scale, self.moments.total).solve(ridge), expected

    def ridges_of(self, basis: TermBasis) -> np.ndarray:
        """Ridges of the columns of a basis of some of the terms."""
        return self.fit.ridge[self.basis.columns_of(basis.terms)]

    def of_terms(self, terms: Collection[Term]) -> State:
        """The state of some of the terms as it is, to start from; its predictor is that of all."""
        places = [t for t, term in enumerate(self.basis.terms) if term in terms]
        columns = self.basis.columns_of(terms)
        f = self.fit
        fit = replace(
            f, beta=f.beta[columns], ridge=f.ridge[columns], edf=f.edf[columns], root=f.root[:, columns]
        )
        return replace(
            self,
            basis=self.basis.of_terms(places),
            prior=self.prior.only(terms),
            fit=fit,
            moments=self.moments.of(columns),
        )

    def in_units(self, unit: float) -> State:
        """The same fit of targets that were multiplied.

        A loss of degree d has curvatures that are multiplied by the power d - 2 of the unit.
        """
        f, bend = self.fit, unit ** (self.loss.degree - 2.0)
        square = unit**2 * bend
        fit = replace(
            f,
            beta=f.beta * unit,
            ridge=f.ridge * bend,
            scale=f.scale * square,
            rss=f.rss * square,
            root=f.root / np.sqrt(bend),
        )
        return replace(
            self,
            fit=fit,
            loss=self.loss.in_unit(1.0 / unit),
            moments=self.moments.times(bend).in_units(unit),
            intercept=self.intercept * unit,
            eta=self.eta * unit,
            bend=self.bend * bend,
            unit=self.unit * unit,
            fold_eta=None if self.fold_eta is None else self.fold_eta * unit,
        )


def information(problem: Rows, eta: Vector) -> float:
    """Number of rows that the data are worth: one of a class counts by how open it is, 4p(1 - p)."""
    n = problem.total
    if not problem.discrete:
        return n
    return max(min(n, 4.0 * problem.curvature(eta)), 1.0)


def tests_of(state: State, term: Term) -> list[ScoreTest]:
    """Score tests of a term, one for each shape of its prior."""
    basis, (fit, _) = state.basis, state.if_there
    t = basis.terms.index(term)
    return score_tests(fit, basis.slices[t], basis.shapes[t])
