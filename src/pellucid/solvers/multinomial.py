r"""Multinomial logistic loss with a ridge penalty, by Newton's method with conjugate gradients.

The Hessian couples all classes and is never formed: for probabilities :math:`p` its block of classes
:math:`c, d` is :math:`Z^T S \operatorname{diag}(p_c (1_{c=d} - p_d)) Z + \alpha 1_{c=d} I`. Conjugate
gradients need products with it only, and few of them, since the blocks on the diagonal (those of one class
against the rest) are factored to precondition it. They are factored anew when it takes more than a few.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_solve

from pellucid.linalg import BlockFeatures
from pellucid.losses import Multinomial
from pellucid.solvers.glm import (
    CONVERGED,
    GLMProblem,
    adjoint,
    halved,
    optimality,
    rounding_reached,
    weighted_ridge,
)

_FEW = 15  # products per Newton step up to which the preconditioner is good enough
_MANY = 300  # most products per Newton step


@dataclass(frozen=True)
class MultinomialFit:
    """A solution with one column of coefficients per class."""

    alpha: float
    delta: np.ndarray  # (r, classes)
    intercept: np.ndarray  # (classes,)
    gradient: np.ndarray  # (n, classes): s ∂ℓ/∂η
    n_iter: int
    converged: bool
    optimality: float

    @property
    def dual_coef(self) -> np.ndarray:
        """Dual coefficients ``a = −g / α``, of shape (n, classes)."""
        return -self.gradient / self.alpha


def fit_multinomial(
    Z: np.ndarray | BlockFeatures,
    problem: GLMProblem,
    alpha: float,
    *,
    start: MultinomialFit | None = None,
    max_iter: int = 100,
    tol: float = 1e-13,
) -> MultinomialFit:
    """Minimise the penalised multinomial loss; arguments are those of :func:`fit_glm`.

    The ``y`` of ``problem`` holds class numbers, its ``offset`` has shape (n, classes). Violations count
    relative to the weight of all rows.
    """
    task = _Task(Z, problem, alpha)
    if start is not None:
        theta = np.vstack([start.delta, start.intercept])
    else:
        theta = np.zeros((Z.shape[1] + 1, problem.offset.shape[1]))
        if problem.fit_intercept:
            theta[-1] = task.loss.best_constant(problem.y, problem.weight, problem.offset)
    total, previous, products = float(problem.weight.sum()), np.inf, _MANY
    value, eta, g = task.look(theta)
    for iteration in range(max_iter + 1):
        violation = optimality(Z, g, theta[:-1], alpha, total, fit_intercept=problem.fit_intercept)
        settled = violation <= tol and (iteration > 0 or start is None)
        if settled or rounding_reached(violation, previous) or iteration == max_iter:
            break
        P = task.loss.mean(eta)
        if products > _FEW:
            factors = task.factors(P)
        step, products = _conjugate_gradients(task, P, factors, task.pull(g, theta))

        def along(t: float, theta: np.ndarray = theta, step: np.ndarray = step) -> tuple[Any, ...]:
            trial = theta + t * step
            return *task.look(trial), trial

        moved = halved(along, value)
        if moved is None:  # no descent left above rounding error
            break
        value, eta, g, theta = moved
        previous = violation
    delta, b = theta[:-1], theta[-1]
    if problem.fit_intercept:
        b = b - b.mean()  # a common shift of all scores changes nothing
    return MultinomialFit(alpha, delta, b, g, iteration, violation <= CONVERGED, violation)


class _Task:
    """Objective, gradient and Hessian in θ of shape (r + 1, classes), which has the intercepts at the end."""

    def __init__(self, Z: np.ndarray | BlockFeatures, problem: GLMProblem, alpha: float) -> None:
        self.Z, self.p, self.loss = Z, problem, Multinomial()
        self.weight = problem.weight[:, None]
        self.free = float(problem.fit_intercept)
        self.alpha = alpha

    def look(self, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Objective, scores, and gradient by the scores."""
        eta = self.p.offset + self.Z @ theta[:-1] + theta[-1]
        value = float(self.p.weight @ self.loss.value(self.p.y, eta))
        g = self.weight * self.loss.gradient(self.p.y, eta)
        return value + 0.5 * self.alpha * float(np.sum(theta[:-1] ** 2)), eta, g

    def pull(self, g: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Turn derivatives by the scores, and the penalty's, into derivatives by θ."""
        return np.vstack([adjoint(self.Z, g) + self.alpha * theta[:-1], self.free * g.sum(axis=0)])

    def curve(self, P: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Hessian times θ."""
        move = self.Z @ theta[:-1] + theta[-1]
        bent = P * (move - np.sum(P * move, axis=1, keepdims=True))
        return self.pull(self.weight * bent, theta)

    def factors(self, P: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, float]]:
        """For each class its block of the Hessian, with the intercept taken out: factor, centre, weight."""
        weights = (self.weight * np.maximum(P * (1.0 - P), 1e-12)).T
        free = self.p.fit_intercept
        return [(*weighted_ridge(self.Z, w, self.alpha, free), float(w.sum())) for w in weights]


def _precondition(
    factors: list[tuple[np.ndarray, np.ndarray, float]], V: np.ndarray, free: float
) -> np.ndarray:
    """Solve with the blocks on the diagonal, bordered by the intercepts."""
    out = np.empty_like(V)
    for c, (L, center, total) in enumerate(factors):
        out[:-1, c] = cho_solve((L, True), V[:-1, c] - center * V[-1, c], check_finite=False)
        out[-1, c] = free * (V[-1, c] / total - center @ out[:-1, c])
    out[-1] -= out[-1].mean()  # a common shift of all scores changes nothing
    return out


def _conjugate_gradients(
    task: _Task, P: np.ndarray, factors: list[tuple[np.ndarray, np.ndarray, float]], slope: np.ndarray
) -> tuple[np.ndarray, int]:
    """Newton step ``−H⁻¹ slope``, the more precise the closer to the solution, and the products it took."""
    rest = -slope
    direction = _precondition(factors, rest, task.free)
    square = first = float(np.vdot(rest, direction))
    enough = first * np.clip(first / float(task.weight.sum()), 1e-20, 1e-2)  # of squares of what is left
    step, count = np.zeros_like(slope), 0
    while count < _MANY and square > enough:
        bent = task.curve(P, direction)
        curvature = float(np.vdot(direction, bent))
        if curvature <= 0.0:  # flat to rounding error
            break
        t = square / curvature
        step, rest = step + t * direction, rest - t * bent
        solved = _precondition(factors, rest, task.free)
        last, square = square, float(np.vdot(rest, solved))
        direction = solved + (square / last) * direction
        count += 1
    return step, count
