"""All that a fit with squared loss needs of its rows: sums, to which those of other rows can be added.

With the terms, their columns Z and their ridges held fixed, coefficients, scale, degrees of freedom, tests,
bands and importances follow from the moments of Z and of the targets. Weights and targets are as they were
given, in their own units: what weights mean is read off all rows together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from pellucid.data.weights import counts_observations
from pellucid.effects.terms import Term
from pellucid.features.term_basis import TermBasis
from pellucid.linalg.moments import Moments
from pellucid.models.additive.engine.design import moments_at
from pellucid.models.additive.engine.state import Problem
from pellucid.models.additive.reading import row_masses


@dataclass(frozen=True)
class RowSums:
    """Sums over rows: what a model keeps to be updated, and what leaves a site whose rows stay there.

    Attributes
    ----------
    n_rows : int
        Number of rows of positive weight.
    moments : Moments
        Sums of weights, means, and centred sums of squares and products of columns and targets; of the
        symmetric matrix the lower triangle, row by row.
    masses : dict from Term to ndarray
        Sum of the weights of the rows nearest to each point at which a term is shown.

    Examples
    --------
    >>> from pellucid import AdditiveKernelRegressor
    >>> x = np.linspace(0.0, 1.0, 50)[:, None]
    >>> sums = AdditiveKernelRegressor(updatable=True).fit(x, x[:, 0] ** 2).sums_
    >>> sums.n_rows, round(sums.target_mean, 3)
    (50, 0.337)
    """

    n_rows: int
    lower: np.ndarray  # (F (F + 1) / 2,)
    c: np.ndarray  # (F,)
    square: float
    column_mean: np.ndarray  # (F,)
    target_mean: float
    total: float
    masses: dict[Term, np.ndarray]

    @classmethod
    def of(cls, problem: Problem, basis: TermBasis, unit: float, total: float) -> Self:
        """Sums of the rows of a problem, in double precision.

        ``unit`` is that of its targets, and ``total`` the sum of the weights before they were divided.
        """
        factor = total / problem.total
        w, z = problem.working(problem.offset)
        moments = moments_at(problem, basis, w * factor, z * unit, np.float64)
        masses = row_masses(basis.terms, basis.axes, problem.X, w * factor)
        return cls._packed(len(problem), moments, masses)

    @classmethod
    def of_some(cls, basis: TermBasis, unit: float, factor: float, problem: Problem) -> Self:
        """Sums of some of the rows; ``factor`` is what weights were divided by."""
        return cls.of(problem, basis, unit, problem.total * factor)

    @classmethod
    def _packed(cls, n_rows: int, m: Moments, masses: Mapping[Term, np.ndarray]) -> Self:
        lower = m.G[np.tril_indices(len(m.c))]
        return cls(n_rows, lower, m.c, m.square, m.column_mean, m.target_mean, m.total, dict(masses))

    def _unpacked(self) -> Moments:
        F = len(self.c)
        G = np.zeros((F, F))
        G[np.tril_indices(F)] = self.lower
        G += np.tril(G, -1).T
        return Moments(G, self.c, self.square, self.column_mean, self.target_mean, self.total)

    def plus(self, other: Self) -> Self:
        """Sums over these rows and others."""
        masses = {term: mass + other.masses[term] for term, mass in self.masses.items()}
        moments = self._unpacked().plus(other._unpacked())
        return self._packed(self.n_rows + other.n_rows, moments, masses)

    def moments(self, reading: str) -> Moments:
        """Moments under weights that are read as ``weights`` of the estimator says."""
        counts = counts_observations(self.total / self.n_rows, reading)
        m = self._unpacked()
        return m if counts else m.times(self.n_rows / self.total)

    @property
    def unit(self) -> float:
        """Standard deviation of the targets; one if they do not vary."""
        return float(np.sqrt(self.square / self.total)) or 1.0

    @property
    def nbytes(self) -> int:
        """Bytes of the sums."""
        return sum(a.nbytes for a in (self.lower, self.c, self.column_mean, *self.masses.values()))
