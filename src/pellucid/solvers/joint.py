r"""Losses with inner parameters that all rows share, such as a baseline hazard, and a ridge penalty.

Given features :math:`Z` and offset o, the problem is

.. math:: \min_{\delta, \theta}\; \sum_i s_i\, \ell_\theta(y_i, \eta_i) + \tfrac{\alpha}{2} \|\delta\|^2,
          \qquad \eta = o + Z\delta ,

with thresholds or a baseline θ that take the intercept's place. The loss itself knows the θ that is best
beside η (``profiled``). With it put in, the gradient by η is still that of each row,
:math:`g_i = s_i \ell'_\theta`, and the Hessian is :math:`Z^T W Z - M^T M`: curvatures
:math:`w_i = s_i \ell''_\theta`, less what θ gives way (``coupling``). Newton steps with it are halved until
the objective falls.

*Leave-one-out*, approximate: one Newton step on the problem without row i, as if θ had a common level only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular

from pellucid.losses import Loss
from pellucid.solvers.glm import CONVERGED, GLMProblem, halved, optimality, rounding_reached


@dataclass(frozen=True)
class JointFit:
    """A solution, with the loss at its best inner parameters; scores average to zero over the rows."""

    alpha: float
    delta: np.ndarray  # (r,)
    intercept: float
    eta: np.ndarray  # (n,), offset included
    gradient: np.ndarray  # (n,): s ℓ'
    curvature: np.ndarray  # (n,): s ℓ''
    loss: Loss
    n_iter: int
    converged: bool
    optimality: float
    hessian_factor: np.ndarray = field(repr=False)  # lower Cholesky factor of ZᵀWZ − MᵀM + αI
    center: np.ndarray = field(repr=False)  # (r,): mean of the features, weighted by w

    @property
    def dual_coef(self) -> np.ndarray:
        """Dual coefficients ``a = −g / α``."""
        return -self.gradient / self.alpha

    def loo_eta(self, Z: np.ndarray, p: GLMProblem, copies: np.ndarray) -> np.ndarray:
        """Approximate linear predictor of each row by the model without one observation of it."""
        half = solve_triangular(self.hessian_factor, (Z - self.center).T, lower=True, check_finite=False)
        own = np.einsum("ij,ij->j", half, half) + 1.0 / max(float(self.curvature.sum()), CONVERGED)
        slack = np.maximum(1.0 - self.curvature * own / copies, 0.05)
        return self.eta + own * self.gradient / copies / slack


def fit_joint(
    Z: np.ndarray,
    problem: GLMProblem,
    alpha: float,
    *,
    start: JointFit | None = None,
    max_iter: int = 100,
    tol: float = 1e-13,
) -> JointFit:
    """Minimise the penalised loss (see the module's formula); arguments are those of :func:`fit_glm`."""
    p = problem
    delta = np.zeros(Z.shape[1]) if start is None else start.delta

    def look(delta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, GLMProblem]:
        eta = p.offset + Z @ delta
        at = p.beside(p.loss.profiled(p.y, eta, p.weight))
        return at.objective(eta, delta, alpha), delta, eta, at

    value, delta, eta, at = look(delta)
    scale, previous = float(p.weight.sum()), np.inf
    for iteration in range(max_iter + 1):
        g = p.weight * at.loss.gradient(p.y, eta)
        w = p.weight * at.loss.curvature(p.y, eta)
        violation = optimality(Z, g, delta, alpha, scale, fit_intercept=False)
        # a shift of all scores costs nothing, so features may be centred: it keeps digits, and in
        # leave-one-out a row moves relative to the others
        center = w @ Z / max(float(w.sum()), np.finfo(float).tiny)
        L = _hessian_factor(Z - center, w, at, eta, alpha)
        settled = violation <= tol and (iteration > 0 or start is None)
        if settled or rounding_reached(violation, previous) or iteration == max_iter:
            break
        step = -cho_solve((L, True), Z.T @ g + alpha * delta, check_finite=False)

        def along(t: float, delta: np.ndarray = delta, step: np.ndarray = step) -> tuple[Any, ...]:
            return look(delta + t * step)

        moved = halved(along, value)
        if moved is None:  # no descent left above rounding error
            break
        value, delta, eta, at = moved
        previous = violation
    b = -float(p.weight @ (Z @ delta)) / scale
    loss = at.loss.profiled(p.y, eta + b, p.weight)
    return JointFit(
        alpha, delta, b, eta + b, g, w, loss, iteration, violation <= CONVERGED, violation, L, center
    )


def _hessian_factor(
    Z: np.ndarray, w: np.ndarray, at: GLMProblem, eta: np.ndarray, alpha: float
) -> np.ndarray:
    M = at.loss.coupling(at.y, eta, at.weight, Z)
    A = (Z * w[:, None]).T @ Z - M.T @ M
    A[np.diag_indices_from(A)] += alpha
    try:
        return cholesky(A, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        raise ValueError(
            f"alpha={alpha:.3g} is too small for these features: the equations are singular. Raise alpha."
        ) from None
