"""Newton steps on the penalised loss of a basis, with a line search and, if need be, inside a cone.

The loss is Σ s_i ℓ(y_i, η_i) + ½ Σ λ_j β_j² with η = offset + b + Zβ. The second derivative of a step need
not be the one where it starts: moments and root of an earlier quadratic lead to the same minimum. Inner
parameters of a loss, such as a baseline, are at their best at each predictor; as they take up what is common
to all rows, the intercept stays where it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.features.term_basis import TermBasis
from pellucid.linalg.moments import Moments
from pellucid.models.additive.engine.all_rows import Rows, Vector
from pellucid.solvers.monotone import ConeSolution, nearest_in_cone
from pellucid.solvers.variance_components import Components


@dataclass(frozen=True)
class Point:
    """Where a descent stands: coefficients, intercept, linear predictor and penalised loss."""

    beta: np.ndarray
    intercept: float
    eta: Vector
    value: float


@dataclass(frozen=True)
class Step:
    """The point that a step reached (None: no lower one), what it hoped to gain, and the constraints met."""

    reached: Point | None
    decrease: float
    cone: ConeSolution | None = None


class PenalisedLoss:
    """The penalised loss of a problem for ridges λ_j."""

    def __init__(self, problem: Rows, basis: TermBasis, ridge: np.ndarray) -> None:
        self.problem = problem
        self.Z = problem.design(basis)
        self.ridge = ridge
        self.exact = problem.dtype is np.float64

    def value(self, eta: Vector, beta: np.ndarray) -> float:
        """Loss at a predictor that has these coefficients."""
        return self.problem.value(eta) + 0.5 * float(self.ridge @ beta**2)

    def point(self, beta: np.ndarray, intercept: float, eta: Vector | None = None) -> Point:
        """The point of coefficients and an intercept, whose predictor may be known."""
        if eta is None:
            eta = self.problem.offset + intercept + self.Z.times(beta)
        return Point(beta, intercept, eta, self.value(eta, beta))

    def step(
        self,
        at: Point,
        moments: Moments,
        metric: Components,
        *,
        tol: float,
        shortest: float,
        A: np.ndarray | None = None,
    ) -> Step:
        """One step towards the minimum of the quadratic in ``metric``, where Aβ ≥ 0.

        It is halved until the loss falls by a part of what the slope promises (Armijo), down to ``shortest``.
        A promise below ``tol`` times the loss is not worth a step.
        """
        mean = moments.column_mean
        g, g0 = self.Z.slopes(at.eta)
        g = g - mean * g0 + self.ridge * at.beta
        move = -metric.root.T @ (metric.root @ g)
        cone = None
        if A is not None:
            cone = nearest_in_cone(at.beta + move, metric.root, A)
            move = cone.beta - at.beta
        move0 = 0.0 if self.problem.loss.joint else -g0 / moments.total - float(mean @ move)
        decrease = float(g @ move) - g0 * g0 / moments.total
        if decrease > -tol * max(abs(at.value), 1e-300):
            return Step(None, decrease, cone)
        direction = move0 + self.Z.times(move)
        t = 1.0
        while t > shortest:
            eta, beta = at.eta + t * direction, at.beta + t * move
            value = self.value(eta, beta)
            if value <= at.value + 1e-4 * t * decrease:
                return Step(Point(beta, at.intercept + t * move0, eta, value), decrease, cone)
            t /= 2
        return Step(None, decrease, cone)
