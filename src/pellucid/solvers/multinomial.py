r"""Multinomial logistic loss with a ridge penalty, by preconditioned L-BFGS.

The Hessian of the loss in the scores of a row is at most :math:`\tfrac12 I` (Böhning's bound), whatever the scores. With the weighted, centred
features :math:`H`, :math:`\tfrac12 H^T H + \alpha I = L L^T` is therefore a fixed upper bound of the curvature for every class; in the variables
:math:`v = L^T \delta` the problem is well scaled, and L-BFGS needs a few dozen products with the features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize

from pellucid.solvers.glm import GLMProblem


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
    Z: np.ndarray,
    problem: GLMProblem,
    alpha: float,
    n_classes: int,
    *,
    start: MultinomialFit | None = None,
    max_iter: int = 1000,
    tol: float = 1e-9,
) -> MultinomialFit:
    """Minimise the penalised multinomial loss; ``problem.y`` holds class indices, ``problem.offset`` is (n, classes)."""
    p, loss = problem, problem.loss
    total = p.weight.sum()
    center = p.weight @ Z / total if p.fit_intercept else np.zeros(Z.shape[1])
    H = np.sqrt(p.weight)[:, None] * (Z - center)
    A = 0.5 * (H.T @ H)
    A[np.diag_indices_from(A)] += alpha
    L = cholesky(A, lower=True, overwrite_a=True, check_finite=False)
    Zc = Z - center
    unit = np.sqrt(0.5 * total)  # of the intercepts, which have no penalty
    r = Z.shape[1]

    def unpack(flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        v = flat.reshape(r + 1, n_classes)
        return solve_triangular(L, v[:r], lower=True, trans="T", check_finite=False), v[r] / unit

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        delta, b = unpack(flat)
        eta = p.offset + Zc @ delta + b
        g = p.weight[:, None] * loss.gradient(p.y, eta)
        value = float(p.weight @ loss.value(p.y, eta) + 0.5 * alpha * np.sum(delta**2))
        by_v = solve_triangular(L, Zc.T @ g + alpha * delta, lower=True, check_finite=False)
        by_b = g.sum(axis=0) / unit if p.fit_intercept else np.zeros(n_classes)
        return value / total, np.vstack([by_v, by_b]).ravel() / total

    first = np.zeros((r + 1, n_classes))
    if start is not None:
        first[:r] = L.T @ start.delta
        first[r] = (start.intercept + center @ start.delta) * unit
    elif p.fit_intercept:
        first[r] = np.asarray(loss.best_constant(p.y, p.weight, p.offset)) * unit
    options = {"maxiter": max_iter, "maxfun": 2 * max_iter, "maxcor": 30, "ftol": 0.0, "gtol": tol / np.sqrt(total)}
    found = minimize(objective, first.ravel(), jac=True, method="L-BFGS-B", options=options)
    delta, b = unpack(found.x)
    b = b - b.mean()  # a common shift of all scores changes nothing
    eta = p.offset + Zc @ delta + b
    g = p.weight[:, None] * loss.gradient(p.y, eta)
    size = float(np.abs(Z).max(initial=0.0)) or 1.0
    violation = float(np.abs(alpha * delta + Z.T @ g).max(initial=0.0)) / (total * size)
    return MultinomialFit(alpha, delta, b - center @ delta, g, int(found.nit), violation <= 1e-6, violation)
