r"""Any convex loss with a ridge penalty, by Newton's method on explicit features.

With features :math:`Z` such that the kernel matrix is :math:`Z Z^T`, the problem is

.. math:: \min_{\delta, b}\; \sum_i s_i\, \ell(y_i, \eta_i) + \tfrac{\alpha}{2} \|\delta\|^2, \qquad
          \eta = o + Z\delta + b 1 ,

with offset :math:`o`. Each Newton step is a weighted ridge with weights :math:`w_i = s_i \ell''_i` and
targets :math:`z_i = \eta_i - o_i - \ell'_i / \ell''_i`. Features are centred by the weighted means of the
step, which takes the intercept out; the step is halved until the objective falls. At the solution
:math:`\alpha\delta = -Z^T g` with :math:`g_i = s_i \ell'_i`, so that :math:`f = K a` with dual coefficients
:math:`a = -g/\alpha`. The division by a small alpha blows up what is left of the gradient, so steps go on
until they bring nothing any more.

*Leave-one-out*, approximate: one Newton step on the problem without row *i* gives
:math:`\eta_{-i} = \eta_i - \frac{h_i}{1 - h_i}(z_i - \eta_i)`, with the leverage :math:`h_i` of the last
weighted ridge. For squared loss it is exact. For other losses more steps with the same matrix follow,
which takes in how the gradients of the other rows bend on the way, and takes away most of the error of the
first. Beyond some thousand rows, where a single one moves little, the first step is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular

from pellucid.linalg import BlockFeatures, row_blocks
from pellucid.losses import Loss, Squared

_SECOND_STEP = 4000  # rows up to which leave-one-out makes a second step,
_THIRD_STEP = 1500  # and a third
CONVERGED = 1e-7  # violation of the optimality conditions up to which a fit counts as converged
_FLOOR = 1e-10  # least curvature of a row: keeps its working target finite, and does not move the solution


@dataclass(frozen=True)
class GLMProblem:
    """What stays fixed along a path: targets, weights, offset, loss."""

    y: np.ndarray  # (n,)
    weight: np.ndarray  # (n,), positive
    offset: np.ndarray  # (n,)
    loss: Loss
    fit_intercept: bool = True

    def rows(self, index: np.ndarray) -> GLMProblem:
        """The same problem on some of the rows."""
        return GLMProblem(
            self.y[index], self.weight[index], self.offset[index], self.loss, self.fit_intercept
        )

    def beside(self, loss: Loss) -> GLMProblem:
        """The same rows with another loss."""
        return replace(self, loss=loss)

    def objective(self, eta: np.ndarray, delta: np.ndarray, alpha: float) -> float:
        """Penalised loss."""
        return float(self.weight @ self.loss.value(self.y, eta) + 0.5 * alpha * delta @ delta)


@dataclass(frozen=True)
class GLMFit:
    """A solution: coefficients of the features, and the state of the last weighted ridge."""

    alpha: float
    delta: np.ndarray  # (r,)
    intercept: float
    eta: np.ndarray  # (n,), offset included
    gradient: np.ndarray  # (n,): s ℓ'
    curvature: np.ndarray  # (n,): s ℓ''
    n_iter: int
    converged: bool
    optimality: float  # largest violation of the optimality conditions, relative to the largest gradient
    hessian_factor: np.ndarray = field(
        repr=False
    )  # lower Cholesky factor of the weighted, centred ridge matrix
    center: np.ndarray = field(repr=False)  # (r,): weighted mean of the features

    @property
    def dual_coef(self) -> np.ndarray:
        """Dual coefficients ``a = −g / α``."""
        return -self.gradient / self.alpha

    def leverage(self, Z: np.ndarray, *, fit_intercept: bool) -> np.ndarray:
        """Leverages of the last weighted ridge."""
        half, level = self._halves(Z, fit_intercept)
        return self.curvature * (np.einsum("ij,ij->j", half, half) + level)

    def _halves(self, Z: np.ndarray, fit_intercept: bool) -> tuple[np.ndarray, float]:
        """Factor ``T`` and constant ``c`` of ``M = TᵀT + c``, how scores of rows move each other's fit."""
        half = solve_triangular(self.hessian_factor, (Z - self.center).T, lower=True, check_finite=False)
        return half, 1.0 / float(self.curvature.sum()) if fit_intercept else 0.0

    def loo_eta(self, Z: np.ndarray, p: GLMProblem, copies: np.ndarray) -> np.ndarray:
        """Approximate linear predictor of each row by the model without it, offset included.

        ``copies`` says how many observations a row stands for: one of them is left out.
        """
        half, level = self._halves(Z, p.fit_intercept)
        own = np.einsum("ij,ij->j", half, half) + level
        slack = np.maximum(1.0 - self.curvature * own / copies, np.finfo(float).eps)
        push = self.gradient / copies / slack
        first = own * push
        if isinstance(p.loss, Squared) or len(p.y) > _SECOND_STEP:
            return self.eta + first
        later = np.empty_like(first)
        for rows in row_blocks(len(p.y), 8.0 * 6 * len(p.y)):
            M = half.T @ half[:, rows] + level
            move = M * push[rows]  # (n, rows): where leaving out a row of the block takes every row
            if len(p.y) <= _THIRD_STEP:
                R = self._remainder(p, move, rows, copies)
                R = half.T @ (half @ R) + level * R.sum(axis=0)
                here = R[np.arange(rows.start, rows.stop), np.arange(R.shape[1])]
                move = R + M * ((self.curvature / copies / slack)[rows] * here)
            R = self._remainder(p, move, rows, copies)
            later[rows] = np.einsum("ij,ij->j", M, R) / slack[rows]
        # a correction longer than the first step is on its way to somewhere else
        return self.eta + np.where(np.abs(later - first) < np.abs(first), later, first)

    def _remainder(self, p: GLMProblem, move: np.ndarray, rows: slice, copies: np.ndarray) -> np.ndarray:
        """What leaving out each of ``rows`` asks of the gradient, less what curvature does not foresee."""
        g = p.weight[:, None] * p.loss.gradient(p.y[:, None], self.eta[:, None] + move)
        R = self.gradient[:, None] + self.curvature[:, None] * move - g
        own = np.arange(rows.start, rows.stop), np.arange(move.shape[1])
        R[own] = R[own] * (1.0 - 1.0 / copies[rows]) + (self.gradient / copies)[rows]
        return R


def fit_glm(
    Z: np.ndarray | BlockFeatures,
    problem: GLMProblem,
    alpha: float,
    *,
    start: GLMFit | None = None,
    max_iter: int = 100,
    tol: float = 1e-13,
) -> GLMFit:
    """Minimise the penalised loss (see the module's formula).

    Parameters
    ----------
    Z : ndarray or BlockFeatures of shape (n, r)
        Features.
    problem : GLMProblem
        Targets, weights, offset and loss.
    alpha : float
        Ridge strength.
    start : GLMFit, optional
        Where to start, such as the solution at a neighbouring alpha. At least one step is made from there.
    max_iter : int
        Most Newton steps.
    tol : float
        Largest violation of the optimality conditions, relative to the largest gradient. The default is what
        rounding leaves, and is not insisted on.
    """
    p = problem
    if start is None:
        delta = np.zeros(Z.shape[1])
        b = p.loss.best_constant(p.y, p.weight, p.offset) if p.fit_intercept else 0.0
    else:
        delta, b = start.delta, start.intercept
    if isinstance(Z, BlockFeatures):
        tol = max(tol, CONVERGED)  # where a pass is dear
    f = Z @ delta
    eta = p.offset + f + b
    value = p.objective(eta, delta, alpha)
    scale = _gradient_size(p, p.offset + b)
    previous = np.inf
    for iteration in range(max_iter + 1):
        g = p.weight * p.loss.gradient(p.y, eta)
        w = p.weight * np.maximum(p.loss.curvature(p.y, eta), _FLOOR)
        L, center = weighted_ridge(Z, w, alpha, p.fit_intercept)
        slope = adjoint(Z, g)
        violation = optimality(Z, g, delta, alpha, scale, fit_intercept=p.fit_intercept, slope=slope)
        settled = violation <= tol and (iteration > 0 or start is None)
        if settled or rounding_reached(violation, previous) or iteration == max_iter:
            break
        if isinstance(Z, BlockFeatures):
            new_delta, new_b = _correction(L, center, w, g, alpha * delta + slope, p.fit_intercept)
            new_delta, new_b = delta + new_delta, b + new_b
        else:
            new_delta, new_b = _step(Z, L, center, w, f + b - g / w, p.fit_intercept)
        step = new_delta - delta, Z @ new_delta - f, new_b - b

        def along(t: float, old: Any = (delta, f, b), step: Any = step) -> tuple[Any, ...]:
            delta, f, b = (x + t * dx for x, dx in zip(old, step, strict=True))
            return p.objective(p.offset + f + b, delta, alpha), delta, f, b

        moved = halved(along, value)
        if moved is None:  # no descent left above rounding error
            break
        value, delta, f, b = moved
        before, eta = eta, p.offset + f + b
        if np.abs(eta - before).max() <= np.finfo(float).eps * np.abs(eta).max():  # a step of rounding error
            break
        previous = violation
    done = violation <= CONVERGED
    return GLMFit(alpha, delta, float(b), eta, g, w, iteration, done, violation, L, center)


def optimality(
    Z: np.ndarray | BlockFeatures,
    g: np.ndarray,
    delta: np.ndarray,
    alpha: float,
    scale: float,
    *,
    fit_intercept: bool,
    slope: np.ndarray | None = None,
) -> float:
    """Largest violation of ``αδ + Zᵀg = 0`` and ``1ᵀg = 0``, relative to gradients of size ``scale``.

    ``slope`` is ``Zᵀg`` where that is known.
    """
    size = (Z.largest if isinstance(Z, BlockFeatures) else float(np.abs(Z).max(initial=0.0))) or 1.0
    slope = adjoint(Z, g) if slope is None else slope
    violation = float(np.abs(alpha * delta + slope).max(initial=0.0)) / (scale * size)
    if not fit_intercept:
        return violation
    return max(violation, float(np.abs(g.sum(axis=0)).max()) / scale)


def adjoint(Z: np.ndarray | BlockFeatures, V: np.ndarray) -> np.ndarray:
    """Return ``Zᵀ V``."""
    return Z.transposed_times(V) if isinstance(Z, BlockFeatures) else Z.T @ V


def _gradient_size(p: GLMProblem, eta: np.ndarray) -> float:
    """What gradients add up to at the start, or rounding makes of them where the start is a perfect fit."""
    size = float(p.weight @ np.abs(p.loss.gradient(p.y, eta)))
    if p.loss.degree == 2:  # gradients have the unit of the targets
        return max(size, 1e-8 * float(p.weight @ np.abs(p.y))) or 1.0
    share = 0.1 if p.loss.degree == 1 else 1e-3  # those of the check loss are between -1 and 1
    return max(size, share * float(p.weight.sum()))


def rounding_reached(violation: float, previous: float) -> bool:
    """Whether a good solution did not get better by another step."""
    return 0.5 * previous < violation <= 1e-9


def weighted_ridge(
    Z: np.ndarray | BlockFeatures, w: np.ndarray, alpha: float, fit_intercept: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Cholesky factor of the ridge matrix of features weighted by ``w`` and centred, and their centre."""
    if isinstance(Z, BlockFeatures):
        A, center = Z.weighted_products(w, center=fit_intercept)
        A[np.diag_indices_from(A)] += 1e-7 * float(A.diagonal().max())  # rounding of float32
    else:
        center = w @ Z / w.sum() if fit_intercept else np.zeros(Z.shape[1])
        H = np.sqrt(w)[:, None] * (Z - center)
        A = H.T @ H
    A[np.diag_indices_from(A)] += alpha
    try:
        return cholesky(A, lower=True, overwrite_a=True, check_finite=False), center
    except LinAlgError:
        raise ValueError(
            f"alpha={alpha:.3g} is too small for these features: the equations are singular. Raise alpha."
        ) from None


def _step(
    Z: np.ndarray | BlockFeatures,
    L: np.ndarray,
    center: np.ndarray,
    w: np.ndarray,
    z: np.ndarray,
    fit_intercept: bool,
) -> tuple[np.ndarray, float]:
    """Weighted ridge of the working targets ``z``."""
    mean = float(w @ z / w.sum()) if fit_intercept else 0.0
    v = w * (z - mean)
    delta = cho_solve((L, True), adjoint(Z, v) - center * v.sum(), check_finite=False)
    return delta, mean - float(center @ delta) if fit_intercept else 0.0


def _correction(
    L: np.ndarray, center: np.ndarray, w: np.ndarray, g: np.ndarray, slope: np.ndarray, fit_intercept: bool
) -> tuple[np.ndarray, float]:
    """Newton step from the gradient, which ends at the solution even where the matrix is not quite right."""
    level = float(g.sum()) if fit_intercept else 0.0
    step = -cho_solve((L, True), slope - level * center, check_finite=False)
    return step, -level / float(w.sum()) - float(center @ step) if fit_intercept else 0.0


def halved(along: Callable[[float], tuple[Any, ...]], value: float) -> tuple[Any, ...] | None:
    """The longest of the steps 1, ½, ¼, ... that does not raise the objective above ``value``, or ``None``.

    ``along(t)`` returns the objective after a step of length t, and whatever else there is to know of it.
    """
    for k in range(40):
        with np.errstate(over="ignore", invalid="ignore"):
            found = along(0.5**k)
        if np.isfinite(found[0]) and found[0] <= value + 1e-13 * abs(value):
            return found
    return None
