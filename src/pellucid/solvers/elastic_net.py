r"""Elastic net for any convex loss: a path of sparse fits with an unpenalised intercept.

.. math:: \min_{\beta, b}\; \tfrac1N \sum_i s_i\, \ell(y_i, x_i^T \beta + b)
          + \lambda\rho \|\beta\|_1 + \tfrac{\lambda (1 - \rho)}{2} \|\beta\|^2, \qquad N = \sum_i s_i .

For the squared loss the sums over rows are enough: with :math:`Q = X^T S X / N` and :math:`q = X^T S y / N`
(columns centred) it is the quadratic problem :func:`quadratic_path`. Other losses are solved by proximal
Newton steps: the quadratic model of the loss at the current fit plus the penalty is such a problem, and the
step is halved until the objective falls. Columns that are far from entering the model are looked at again
only when the rest is solved.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import enet_path

from pellucid.losses import Loss

_SWEEPS = 2000
_STEPS = 200  # of Newton's, on the working columns
_FLOOR = 1e-4  # least curvature of a row, of the largest possible: rows beyond the margin have none
_RIDGE = 1e-10  # keeps equal columns apart
_NEAR = 0.8  # of the slope at which a column enters the model: columns above are worked on
# Columns that join those worked on at a time, at least and per row: no more of them than rows can be in a
# model without ties, while the time of a step grows with the square of those worked on.
_ROOM, _ROOM_PER_ROW = 300, 1


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

    def slope(self, eta: np.ndarray) -> np.ndarray:
        """Derivative of the mean loss by each coefficient."""
        return _project(self.X, self.s * self.loss.gradient(self.y, eta))

    def largest(self, l1_ratio: float) -> float:
        """The smallest strength at which all coefficients are zero."""
        b = self.loss.best_constant(self.y, self.s)
        slope = self.slope(np.full(len(self.y), b))
        return float(np.max(np.abs(slope), initial=0.0)) / max(l1_ratio, 1e-3)


def elastic_net_path(
    problem: SparseProblem,
    lambdas: Sequence[float] | np.ndarray,
    l1_ratio: float,
    *,
    start: SparseFit | None = None,
    tolerance: float = 1e-10,
) -> Iterator[SparseFit]:
    """Yield fits for decreasing ``lambdas``, each from the one before."""
    fit = start or SparseFit(np.zeros(problem.X.shape[1]), problem.loss.best_constant(problem.y, problem.s))
    for strength in lambdas:
        fit = _Net(problem, strength, l1_ratio, tolerance).solve(fit)
        yield fit


@dataclass(frozen=True)
class _Net:
    """One strength λ and ratio ρ of the penalty."""

    problem: SparseProblem
    strength: float
    l1_ratio: float
    tolerance: float

    def penalty(self, beta: np.ndarray) -> float:
        l1, l2 = self.strength * self.l1_ratio, self.strength * (1.0 - self.l1_ratio)
        return float(l1 * np.abs(beta).sum() + 0.5 * l2 * beta @ beta)

    def objective(self, eta: np.ndarray, beta: np.ndarray) -> float:
        p = self.problem
        return float(p.s @ p.loss.value(p.y, eta)) + self.penalty(beta)

    def solve(self, start: SparseFit) -> SparseFit:
        """Work on columns that are in the model or near, until no other column wants to enter."""
        p, l1 = self.problem, self.strength * self.l1_ratio
        beta, b = start.coef, start.intercept
        eta = _apply(p.X, beta) + b
        room = max(_ROOM, _ROOM_PER_ROW * len(p.y))
        slope = np.abs(p.slope(eta))
        near = np.flatnonzero((slope >= _NEAR * l1) & (beta == 0))
        working = np.union1d(np.flatnonzero(beta), _largest(near, slope, room))
        while True:
            beta, b, eta = self._newton(working, beta, b, eta)
            slope = np.abs(p.slope(eta))
            missed = np.setdiff1d(np.flatnonzero(slope > l1 * (1.0 + 1e-6) + 1e-12), working)
            if missed.size == 0:
                return SparseFit(beta, b)
            working = np.union1d(working, _largest(missed, slope, room))

    def _newton(
        self, working: np.ndarray, beta: np.ndarray, b: float, eta: np.ndarray
    ) -> tuple[np.ndarray, float, np.ndarray]:
        """Proximal Newton steps on the working columns."""
        p, X = self.problem, self.problem.X[:, working]
        value = self.objective(eta, beta)
        for _ in range(_STEPS):
            g = p.s * p.loss.gradient(p.y, eta)
            h = p.s * np.maximum(p.loss.curvature(p.y, eta), _FLOOR * p.loss.bound())
            total, now = h.sum(), beta[working]
            mean = np.asarray(h.astype(X.dtype) @ X, dtype=float) / total
            new = self._quadratic(X, g, h, mean, now, eta - b) if working.size else now
            step = new - now
            shift = -(g.sum() / total + mean @ step)
            move = _apply(X, step) + shift
            # the decrease that the quadratic model promises, of which a part must come true
            promise = g @ move + self.penalty(new) - self.penalty(now)
            size, candidate, found = 1.0, beta.copy(), value
            for _ in range(30):
                candidate[working] = new if size == 1.0 else now + size * step  # exact zeros
                found = self.objective(eta + size * move, candidate)
                if found <= value + 1e-4 * size * min(promise, 0.0) + 1e-15 * abs(value):
                    break
                size *= 0.5
            else:
                break
            gain = value - found
            beta, b, eta, value = candidate, b + size * shift, eta + size * move, found
            if gain <= self.tolerance * max(abs(value), 1e-300):
                break
        return beta, b, eta

    def _quadratic(
        self,
        X: np.ndarray,
        g: np.ndarray,
        h: np.ndarray,
        mean: np.ndarray,
        now: np.ndarray,
        fitted: np.ndarray,
    ) -> np.ndarray:
        """Minimise the quadratic model of the loss plus the penalty, intercept eliminated."""
        A = X * np.sqrt(h).astype(X.dtype)[:, None]
        Q = np.asarray(A.T @ A, dtype=float) - h.sum() * np.outer(mean, mean)
        q = Q @ now - (_project(X, g) - mean * g.sum())
        response = fitted - g / h
        square = float(h @ (response - h @ response / h.sum()) ** 2)
        return quadratic_path(Q, q, square, [self.strength], self.l1_ratio, now)[0]


def _largest(columns: np.ndarray, slope: np.ndarray, room: int) -> np.ndarray:
    """Those of some columns, ``room`` at most, whose slopes are the largest."""
    if len(columns) <= room:
        return columns
    return columns[np.argpartition(-slope[columns], room)[:room]]


def _apply(X: np.ndarray, v: np.ndarray) -> np.ndarray:
    """``X v`` in the precision of ``X``, as float64: NumPy would first copy all of ``X`` to float64."""
    return np.asarray(X @ v.astype(X.dtype), dtype=float)


def _project(X: np.ndarray, r: np.ndarray) -> np.ndarray:
    """``Xᵀ r``, likewise."""
    return np.asarray(r.astype(X.dtype) @ X, dtype=float)
