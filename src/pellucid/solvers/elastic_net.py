r"""Elastic net for any convex loss: a path of sparse fits with an unpenalised intercept.

.. math:: \min_{\beta, b}\; \tfrac1N \sum_i s_i\, \ell(y_i, x_i^T \beta + b)
          + \lambda\rho \|\beta\|_1 + \tfrac{\lambda (1 - \rho)}{2} \|\beta\|^2, \qquad N = \sum_i s_i .

For the squared loss the sums over rows are enough: with :math:`Q = X^T S X / N` and :math:`q = X^T S y / N`
(columns centred) it is the quadratic problem :func:`quadratic_path`. Other losses are solved by proximal
Newton steps: the quadratic model of the loss at the current fit plus the penalty is such a problem, and the
step is halved until the objective falls. Columns that are far from entering the model are looked at again
only when the rest is solved.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import enet_path

from pellucid.losses import Loss

_SWEEPS = 2000
_FLOOR = 1e-4  # least curvature of a row, of the largest possible: rows beyond the margin have none
_RIDGE = 1e-10  # keeps equal columns apart
_NEAR = 0.8  # of the slope at which a column enters the model: columns above are worked on


@dataclass(frozen=True)
class SparseFit:
    """Coefficients and intercept for one strength."""

    coef: np.ndarray  # (P,)
    intercept: float


def quadratic_path(
    Q: np.ndarray,
    q: np.ndarray,
    square: float,
    lambdas: Sequence[float] | np.ndarray,
    l1_ratio: float,
    start: np.ndarray | None = None,
) -> np.ndarray:
    r"""Minimise :math:`\tfrac12 \beta^T Q \beta - q^T \beta` plus penalty for decreasing ``lambdas``.

    Coordinate descent finds which coefficients are zero and the signs of the others; a linear system then
    gives their values to rounding error.

    Parameters
    ----------
    Q : ndarray of shape (P, P)
    q : ndarray of shape (P,)
    square : float
        Mean square of the targets, by which coordinate descent measures how far it is from the minimum.
    lambdas : sequence of float
    l1_ratio : float
    start : ndarray of shape (P,), optional

    Returns
    -------
    coefs : ndarray of shape (n_lambdas, P)
    """
    P = len(q)
    A = Q + _RIDGE * max(float(np.mean(np.diagonal(Q))), 1e-300) * np.eye(P)
    nothing = np.zeros((1, P), order="F")  # stands for the rows, of which only the sums are used
    found = np.empty((len(lambdas), P))
    beta = np.zeros(P) if start is None else start.copy()
    for j, strength in enumerate(lambdas):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the linear system below finishes the work
            _, coefs, _ = enet_path(
                nothing,
                np.array([np.sqrt(square)]),
                l1_ratio=l1_ratio,
                alphas=[strength],
                precompute=A,
                Xy=q,
                coef_init=beta,
                check_input=False,
                tol=1e-7,
                max_iter=_SWEEPS,
            )
        beta = _polish(A, q, coefs[:, 0], strength * l1_ratio, strength * (1.0 - l1_ratio))
        found[j] = beta
    return found


def _polish(Q: np.ndarray, q: np.ndarray, beta: np.ndarray, l1: float, l2: float) -> np.ndarray:
    """Solve for the values with the signs at hand; keep them if the signs hold."""
    active = np.flatnonzero(beta)
    if active.size == 0:
        return np.zeros_like(beta)
    sign = np.sign(beta[active])
    A = Q[np.ix_(active, active)]
    A[np.diag_indices_from(A)] += l2
    try:
        values = cho_solve(cho_factor(A, lower=True), q[active] - l1 * sign)
    except LinAlgError:
        return beta
    if np.any(np.sign(values) != sign):
        return beta
    polished = np.zeros_like(beta)
    polished[active] = values
    return polished


@dataclass(frozen=True)
class SparseProblem:
    """Standardised columns, targets, weights that sum to one, loss."""

    X: np.ndarray  # (n, P)
    y: np.ndarray  # (n,)
    s: np.ndarray  # (n,)
    loss: Loss

    def objective(self, eta: np.ndarray, beta: np.ndarray, l1: float, l2: float) -> float:
        """Mean loss plus penalty."""
        return float(self.s @ self.loss.value(self.y, eta) + l1 * np.abs(beta).sum() + 0.5 * l2 * beta @ beta)

    def largest(self, l1_ratio: float) -> float:
        """The smallest strength at which all coefficients are zero."""
        b = self.loss.best_constant(self.y, self.s)
        g = self.s * self.loss.gradient(self.y, np.full(len(self.y), b))
        return float(np.max(np.abs(_project(self.X, g)), initial=0.0)) / max(l1_ratio, 1e-3)


def elastic_net_path(
    problem: SparseProblem,
    lambdas: Sequence[float] | np.ndarray,
    l1_ratio: float,
    *,
    start: SparseFit | None = None,
    max_iter: int = 200,
    tolerance: float = 1e-10,
) -> Iterator[SparseFit]:
    """Yield fits for decreasing ``lambdas``, each from the one before."""
    if start is None:
        beta, b = np.zeros(problem.X.shape[1]), problem.loss.best_constant(problem.y, problem.s)
    else:
        beta, b = start.coef, start.intercept
    for strength in lambdas:
        beta, b = _solve(problem, strength, l1_ratio, beta, b, max_iter, tolerance)
        yield SparseFit(beta.copy(), b)


def _solve(
    p: SparseProblem,
    strength: float,
    l1_ratio: float,
    beta: np.ndarray,
    b: float,
    max_iter: int,
    tolerance: float,
) -> tuple[np.ndarray, float]:
    l1, l2 = strength * l1_ratio, strength * (1.0 - l1_ratio)
    eta = _apply(p.X, beta) + b
    slope = np.abs(_project(p.X, p.s * p.loss.gradient(p.y, eta)))
    working = np.flatnonzero((slope >= _NEAR * l1) | (beta != 0))
    while True:
        beta, b, eta = _newton(p, working, l1, l2, l1_ratio, strength, beta, b, eta, max_iter, tolerance)
        slope = np.abs(_project(p.X, p.s * p.loss.gradient(p.y, eta)))
        missed = np.setdiff1d(np.flatnonzero(slope > l1 * (1.0 + 1e-6) + 1e-12), working)
        if missed.size == 0:
            return beta, b
        working = np.union1d(working, missed)


def _newton(
    p: SparseProblem,
    working: np.ndarray,
    l1: float,
    l2: float,
    l1_ratio: float,
    strength: float,
    beta: np.ndarray,
    b: float,
    eta: np.ndarray,
    max_iter: int,
    tolerance: float,
) -> tuple[np.ndarray, float, np.ndarray]:
    """Proximal Newton steps on the working columns."""
    X = p.X[:, working]
    value = p.objective(eta, beta, l1, l2)
    for _ in range(max_iter):
        g = p.s * p.loss.gradient(p.y, eta)
        h = p.s * np.maximum(p.loss.curvature(p.y, eta), _FLOOR * p.loss.bound())
        total = h.sum()
        mean = np.asarray(h.astype(X.dtype) @ X, dtype=float) / total
        A = X * np.sqrt(h).astype(X.dtype)[:, None]
        Q = np.asarray(A.T @ A, dtype=float) - total * np.outer(mean, mean)
        now = beta[working]
        q = Q @ now - (_project(X, g) - mean * g.sum())
        response = eta - b - g / h
        square = float(h @ (response - h @ response / total) ** 2)
        new = quadratic_path(Q, q, square, [strength], l1_ratio, now)[0] if working.size else now
        step = new - now
        shift = -(g.sum() / total + mean @ step)
        move = _apply(X, step) + shift
        # the decrease that the quadratic model promises, of which a part must come true
        promise = g @ move + l1 * (np.abs(new).sum() - np.abs(now).sum()) + 0.5 * l2 * (new @ new - now @ now)
        size, trial, found = 1.0, beta.copy(), value
        for _ in range(30):
            trial[working] = now + size * step
            found = p.objective(eta + size * move, trial, l1, l2)
            if found <= value + 1e-4 * size * min(promise, 0.0) + 1e-15 * abs(value):
                break
            size *= 0.5
        else:
            break
        gain = value - found
        beta, b, eta, value = trial, b + size * shift, eta + size * move, found
        if size == 1.0:
            beta[working] = new  # exact zeros
        if gain <= tolerance * max(abs(value), 1e-300):
            break
    return beta, b, eta


def _apply(X: np.ndarray, v: np.ndarray) -> np.ndarray:
    """``X v`` in the precision of ``X``, as float64: NumPy would first copy all of ``X`` to float64."""
    return np.asarray(X @ v.astype(X.dtype), dtype=float)


def _project(X: np.ndarray, r: np.ndarray) -> np.ndarray:
    """``Xᵀ r``, likewise."""
    return np.asarray(r.astype(X.dtype) @ X, dtype=float)
