"""The columns of an additive model at the rows of a problem, block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from pellucid.features.term_basis import TermBasis
from pellucid.linalg import side_by_side
from pellucid.linalg.moments import Moments, blocks, weighted_moments

if TYPE_CHECKING:
    from pellucid.models.additive.engine.all_rows import Rows, Vector
    from pellucid.models.additive.engine.state import Problem

R = TypeVar("R")

_HELD = 1 << 27  # bytes of a design that is kept while it is in use


class Design:
    """Products with the design Z of a basis at all rows; a small one is kept, a large one made each time."""

    def __init__(self, problem: Problem, basis: TermBasis, dtype: type | None = None) -> None:
        self._problem, self._basis = problem, basis
        self._dtype = problem.dtype if dtype is None else dtype
        self._blocks = blocks(len(problem), max(basis.size, 1), self._dtype)
        self._keep = len(problem) * basis.size * np.dtype(self._dtype).itemsize <= _HELD
        self._kept: dict[int, np.ndarray] = {}

    def _columns(self, rows: slice) -> np.ndarray:
        if rows.start in self._kept:
            return self._kept[rows.start]
        Zt = self._basis.design(self._problem.X[rows], self._dtype)
        if self._keep:
            self._kept[rows.start] = Zt
        return Zt

    def times(self, beta: np.ndarray) -> np.ndarray:
        """Zβ."""
        b: np.ndarray = beta.astype(self._dtype)
        out = np.zeros(len(self._problem))
        for rows, part in zip(
            self._blocks, side_by_side(lambda rows: b @ self._columns(rows), self._blocks), strict=True
        ):
            out[rows] = part
        return out

    def sums(self, slope: np.ndarray) -> np.ndarray:
        """Zᵀs."""
        s: np.ndarray = slope.astype(self._dtype)
        out = np.zeros(self._basis.size)
        for part in side_by_side(lambda rows: self._columns(rows) @ s[rows], self._blocks):
            out += part
        return out

    def slopes(self, eta: np.ndarray) -> tuple[np.ndarray, float]:
        """Zᵀs and Σs for the slopes s of the loss at a predictor."""
        problem = self._problem
        slope = problem.weight * problem.beside(eta).loss.gradient(problem.y, eta)
        return self.sums(slope), float(slope.sum())


def predictor(problem: Rows, basis: TermBasis, beta: np.ndarray, intercept: float) -> Vector:
    """Linear predictor of all rows, offset included."""
    used = [t for t, s in enumerate(basis.slices) if np.any(beta[s])]
    if len(used) < len(basis.terms):
        beta = np.concatenate([np.empty(0), *(beta[basis.slices[t]] for t in used)])
        basis = basis.of_terms(used)
    return problem.offset + intercept + problem.design(basis).times(beta)


def intercept_beside(problem: Rows, moments: Moments, beta: np.ndarray) -> float:
    """Intercept at the minimum of a quadratic; zero where the loss has inner parameters in its place."""
    return 0.0 if problem.loss.joint else moments.target_mean - float(moments.column_mean @ beta)


def moments_at(
    problem: Problem, basis: TermBasis, w: np.ndarray, z: np.ndarray, dtype: type | None = None
) -> Moments:
    """Moments of the columns of a basis with targets z under weights w."""
    precision = problem.dtype if dtype is None else dtype
    return weighted_moments(
        lambda rows: basis.design(problem.X[rows], precision), w, z, basis.size, precision
    )


def solved(
    problem: Rows,
    basis: TermBasis,
    eta: Vector,
    solve: Callable[[Moments], R],
    known: Moments | None = None,
    *,
    expected: bool = True,
) -> tuple[Moments, R]:
    """Moments of the quadratic that touches the loss at ``eta``, and what ``solve`` makes of them.

    Its curvature is the ``expected`` one or that of the loss itself.

    Moments that are ``known`` need no pass over the rows. They are taken again in float64 where there is so
    little noise that rounding to float32 is more.
    """
    moments = problem.moments(basis, eta, expected=expected) if known is None else known
    try:
        return moments, solve(moments)
    except FloatingPointError:
        if problem.dtype is np.float64:
            raise
    moments = problem.moments(basis, eta, np.float64, expected=expected)
    return moments, solve(moments)
