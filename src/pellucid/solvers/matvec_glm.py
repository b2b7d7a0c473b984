r"""Any loss with a ridge penalty when the features are seen through products alone.

.. math:: \min_{w, b}\; \sum_i s_i\, \ell(y_i, z_i^T w + b) + \tfrac{\alpha}{2} \|w\|^2 .

With a factor :math:`L L^T = Z^T H Z + \alpha I` for curvatures :math:`H` that are about right, the problem is
well conditioned in the coordinates :math:`v = L^T w`, and some limited-memory quasi-Newton steps, each of two
products with :math:`Z`, solve it. The factor starts with a constant curvature; it is made anew, from the
curvatures at the point reached, when the steps have not come to an end after a while. The hinge loss is
approached through smooth ones; see :mod:`pellucid.solvers.smooth_hinge`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dtrmv
from scipy.optimize import minimize

from pellucid.linalg import cholesky_in_place
from pellucid.losses import Hinge, Loss
from pellucid.solvers.smooth_hinge import _SmoothHinge

_WIDTHS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)  # of the parabola, until the gap is small
_GAP = 1e-3  # of the objective: what is aimed at,
_TOO_WIDE = 1e-2  # and what counts as not converged
_CHUNK = 15  # steps after which the factor is made anew
_TOLERANCE = 1e-5  # norm of the gradient in the coordinates v, relative to that at zero
_FLOOR = 0.02  # least curvature of a row in the factor, of the largest


@dataclass(frozen=True)
class Products:
    """Features as functions: ``times(w)``, ``transposed(r)``, and ``gram(h)``, a centred ``Zᵀ diag(h) Z``."""

    times: Callable[[np.ndarray], np.ndarray]
    transposed: Callable[[np.ndarray], np.ndarray]
    gram: Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class MatvecProblem:
    """Features, targets 0 and 1, weights, loss and ridge strength; rows of weight zero are not part of it."""

    products: Products
    y: np.ndarray  # (n,)
    s: np.ndarray  # (n,)
    loss: Loss
    alpha: float


@dataclass(frozen=True)
class MatvecFit:
    """Weights, intercept, predictor of the rows; for the hinge loss the duality gap, of the objective."""

    w: np.ndarray
    b: float
    eta: np.ndarray
    L: np.ndarray  # (F, F): lower factor at the end
    n_iter: int = 0
    converged: bool = False
    gap: float = 0.0


def factor(gram: np.ndarray, alpha: float) -> np.ndarray:
    """Lower factor of ``gram + αI``; overwrites ``gram``.

    It only has to be near the curvature, so a small alpha is raised above the rounding error of float32.
    """
    gram[np.diag_indices_from(gram)] += max(alpha, 1e-6 * float(gram.diagonal().max()))
    return cholesky_in_place(gram)


def fit_matvec(
    problem: MatvecProblem, start: MatvecFit, *, max_iter: int = 200, refresh: int = 3
) -> MatvecFit:
    """Fit one problem.

    Parameters
    ----------
    problem : MatvecProblem
    start : MatvecFit
        Where to start, and with which factor.
    max_iter : int
        Most quasi-Newton steps for each smooth problem.
    refresh : int
        How often the factor may be made anew for each smooth problem.
    """
    if not isinstance(problem.loss, Hinge):
        return _fit_smooth(problem, start, max_iter, refresh)
    steps = 0
    for mu in _WIDTHS:
        smooth = replace(problem, loss=_SmoothHinge(mu))
        start = _fit_smooth(smooth, start, max_iter, refresh)
        gap = hinge_gap(smooth, start)
        steps += start.n_iter
        start = replace(start, n_iter=steps, gap=gap, converged=gap <= _TOO_WIDE)
        if gap <= _GAP:
            break
    return start


def _fit_smooth(p: MatvecProblem, start: MatvecFit, max_iter: int, refresh: int) -> MatvecFit:
    fit = replace(start, n_iter=0, converged=False)
    while not fit.converged and fit.n_iter < max_iter:
        fit = _quasi_newton(p, fit, _CHUNK if refresh else max_iter - fit.n_iter)
        if not fit.converged and refresh:
            refresh -= 1
            h = p.s * np.maximum(p.loss.curvature(p.y, fit.eta), _FLOOR * p.loss.bound())
            fit = replace(fit, L=factor(p.products.gram(h), p.alpha))
    return fit


def _quasi_newton(p: MatvecProblem, start: MatvecFit, max_iter: int) -> MatvecFit:
    L, F = start.L, len(start.L)
    unit = np.sqrt(p.s.sum())  # scale of the intercept
    last: dict[str, np.ndarray] = {}

    def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
        w = solve_triangular(L, x[:F], lower=True, trans=1, check_finite=False)
        eta = p.products.times(w) + x[F] / unit
        last.update(x=x.copy(), w=w, eta=eta)
        g = p.s * p.loss.gradient(p.y, eta)
        slope = solve_triangular(L, p.products.transposed(g) + p.alpha * w, lower=True, check_finite=False)
        value = p.s @ p.loss.value(p.y, eta) + 0.5 * p.alpha * w @ w
        return float(value), np.append(slope, g.sum() / unit)

    b = p.loss.best_constant(p.y[p.s > 0], p.s[p.s > 0])
    size = np.linalg.norm(objective(np.append(np.zeros(F), b * unit))[1])
    result = minimize(
        objective,
        np.append(dtrmv(L, start.w, lower=1, trans=1), start.b * unit),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "maxcor": 20, "gtol": _TOLERANCE * size / np.sqrt(F), "ftol": 1e-8},
    )
    if not np.array_equal(last["x"], result.x):
        objective(result.x)
    done = bool(result.success) or result.status == 2  # 2: the line search cannot go below rounding error
    b = float(result.x[F] / unit)
    return MatvecFit(last["w"], b, last["eta"], L, start.n_iter + int(result.nit), done)


def hinge_gap(problem: MatvecProblem, fit: MatvecFit) -> float:
    r"""Duality gap of the hinge problem at the fit of a smooth one, relative to its objective.

    For ``a`` from the smooth problem the dual objective is :math:`\sum s a - \|Z^T(s t a)\|^2 / (2 \alpha)`;
    what is left of the condition :math:`\sum s t a = 0` costs at most the intercept times it.
    """
    y, s, loss, alpha = problem.y, problem.s, problem.loss, problem.alpha
    assert isinstance(loss, _SmoothHinge)
    a, t = loss.multiplier(y, fit.eta), 2.0 * y - 1.0
    primal = s @ np.maximum(1.0 - t * fit.eta, 0.0) + 0.5 * alpha * fit.w @ fit.w
    direction = problem.products.transposed(s * t * a)
    dual = s @ a - 0.5 / alpha * direction @ direction - abs(fit.b * (s * t) @ a)
    return float((primal - dual) / max(primal, 1e-300))
