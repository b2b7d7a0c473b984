r"""Hinge loss with a ridge penalty: the support vector machine, to rounding error.

With :math:`t_i = \pm 1` and offset :math:`o` the dual problem is

.. math:: \min_\beta\; \tfrac12 \|H^T \beta\|^2 - \sum_i (1 - t_i o_i) \beta_i, \qquad
          0 \le \beta_i \le s_i / \alpha, \qquad t^T \beta = 0, \qquad H = \operatorname{diag}(t) Z ,

the last condition only with an intercept; dual coefficients are :math:`a_i = t_i \beta_i`. Rows strictly
inside their box have margin one, :math:`t_i \eta_i = 1`. Once it is known which rows those are, that linear
system gives the solution to rounding error. libsvm finds out which; where it would take for ever, as it does
for small alpha, a primal-dual interior-point method does, in a few dozen steps whatever the alpha.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from pellucid.solvers.glm import CONVERGED, GLMProblem

_PATIENCE = 20  # steps per row that libsvm may take
_EDGE = 1e-6  # share of the box that counts as its edge before the solution is polished
_MEND = 1e-10  # violation of a margin above which a row is moved into its box
_ROUNDS = 30  # most rounds of mending


@dataclass(frozen=True)
class HingeFit:
    """A support vector machine on explicit features."""

    alpha: float
    delta: np.ndarray  # (r,)
    intercept: float
    dual_coef: np.ndarray  # (n,)
    n_iter: int
    converged: bool
    optimality: float


@dataclass(frozen=True)
class _Dual:
    """The dual problem: signed features, linear term, box and signs."""

    H: np.ndarray  # (n, r)
    linear: np.ndarray  # (n,): 1 − t o
    box: np.ndarray  # (n,)
    t: np.ndarray  # (n,)
    fit_intercept: bool

    def violation(self, beta: np.ndarray, b: float) -> float:
        """Largest violation of the conditions on margins, with ``β`` inside its box to rounding error."""
        short = self.linear - self.H @ (self.H.T @ beta) - b * self.t  # 1 − t η
        share = beta / self.box
        wrong = np.where(share < 1e-12, np.maximum(short, 0.0), np.abs(short))
        wrong = np.where(share > 1.0 - 1e-12, np.maximum(-short, 0.0), wrong)
        balance = abs(float(self.t @ beta)) / float(self.box.sum()) if self.fit_intercept else 0.0
        return max(float(wrong.max()), balance)


def fit_hinge(Z: np.ndarray, problem: GLMProblem, alpha: float, *, max_iter: int = 100) -> HingeFit:
    """Minimise the penalised hinge loss; arguments are those of :func:`fit_glm`.

    The ``y`` of ``problem`` holds zeros and ones, and ``max_iter`` limits the interior-point method.
    """
    t = 2.0 * problem.y - 1.0
    if problem.fit_intercept and np.all(t == t[0]):  # one class only, as may happen in a fold
        b = problem.loss.best_constant(problem.y, problem.weight, problem.offset)
        return HingeFit(alpha, np.zeros(Z.shape[1]), float(b), np.zeros(len(t)), 0, True, 0.0)
    dual = _Dual(t[:, None] * Z, 1.0 - t * problem.offset, problem.weight / alpha, t, problem.fit_intercept)
    beta, b, steps = np.zeros(len(t)), 0.0, 0
    found = np.inf
    if problem.fit_intercept and not np.any(problem.offset):
        beta, b, steps = _by_libsvm(Z, problem, alpha)
        beta, b, found = _polish(dual, beta, b)
    if found > CONVERGED:
        beta, b, steps = _by_interior_points(dual, max_iter)
        beta, b, found = _polish(dual, beta, b)
    return HingeFit(alpha, dual.H.T @ beta, b, t * beta, steps, found <= CONVERGED, found)


def _by_libsvm(Z: np.ndarray, problem: GLMProblem, alpha: float) -> tuple[np.ndarray, float, int]:
    machine = SVC(
        kernel="precomputed", C=1.0 / alpha, tol=1e-4, max_iter=_PATIENCE * len(Z) + 10_000, cache_size=500
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # what it has found is looked at anyway
        machine.fit(Z @ Z.T, 2.0 * problem.y - 1.0, sample_weight=problem.weight)
    beta = np.zeros(len(Z))
    beta[machine.support_] = np.abs(machine.dual_coef_[0])
    return beta, float(machine.intercept_[0]), int(np.max(machine.n_iter_))


def _by_interior_points(dual: _Dual, max_iter: int) -> tuple[np.ndarray, float, int]:
    """Mehrotra's predictor and corrector steps, on a problem scaled to boxes and features of size one."""
    unit = float(dual.box.max())
    size = np.sqrt(unit) or 1.0
    H, box, t = dual.H * size, dual.box / unit, dual.t * float(dual.fit_intercept)
    beta, room, b = 0.5 * box, 0.5 * box, 0.0  # room is that to the upper edge, kept apart for its digits
    low = high = np.full(len(box), 1.0 + float(np.abs(H @ (H.T @ beta) - dual.linear).max()))
    steps = 0
    while steps < max_iter:
        dual_gap = H @ (H.T @ beta) - dual.linear + b * t - low + high  # stationarity
        balance = float(t @ beta)
        gap = float(beta @ low + room @ high)
        mu = gap / (2 * len(box))
        if mu <= 1e-15 * (1.0 + float(np.abs(dual.linear).max())) * float(box.mean()):
            break
        try:
            solve = _newton_system(H, low / beta + high / room, t, dual.fit_intercept)
        except np.linalg.LinAlgError:  # as close as rounding lets it
            break

        def move(
            target_low: np.ndarray, target_high: np.ndarray
        ) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
            right = -dual_gap + target_low / beta - target_high / room  # noqa: B023
            d_beta, d_b = solve(right, -balance)  # noqa: B023
            d_low = (target_low - low * d_beta) / beta  # noqa: B023
            d_high = (target_high + high * d_beta) / room  # noqa: B023
            return d_beta, d_b, d_low, d_high

        d_beta, _, d_low, d_high = move(-beta * low, -room * high)
        reach = min(
            _longest(beta, d_beta), _longest(room, -d_beta), _longest(low, d_low), _longest(high, d_high)
        )
        ahead = (beta + reach * d_beta) @ (low + reach * d_low)
        ahead += (room - reach * d_beta) @ (high + reach * d_high)
        sigma = mu * (float(ahead) / gap) ** 3
        d_beta, d_b, d_low, d_high = move(
            sigma - d_beta * d_low - beta * low, sigma + d_beta * d_high - room * high
        )
        primal = 0.995 * min(_longest(beta, d_beta), _longest(room, -d_beta))
        other = 0.995 * min(_longest(low, d_low), _longest(high, d_high))
        step = min(1.0, primal, other)
        beta, room, b = beta + step * d_beta, room - step * d_beta, b + step * d_b
        low, high = low + step * d_low, high + step * d_high
        steps += 1
    # what is nearer to an edge than its multiplier is large, is on the edge
    beta = np.where(beta / box < low, 0.0, np.where(room / box < high, box, beta))
    return beta * unit, b, steps


def _newton_system(
    H: np.ndarray, d: np.ndarray, t: np.ndarray, fit_intercept: bool
) -> Callable[[np.ndarray, float], tuple[np.ndarray, float]]:
    """Return the solver of ``(H Hᵀ + D) x + t y = right, tᵀx = balance``, in the smaller space."""
    n, r = H.shape
    scaled = H / d[:, None]
    A = H.T @ scaled if r < n else H @ H.T
    A[np.diag_indices_from(A)] += 1.0 if r < n else d
    factor = cho_factor(A, lower=True, overwrite_a=True, check_finite=False)

    def inverse(v: np.ndarray) -> np.ndarray:
        if r < n:
            return v / d - scaled @ cho_solve(factor, scaled.T @ v, check_finite=False)
        return cho_solve(factor, v, check_finite=False)

    toward = inverse(t) if fit_intercept else t

    def solve(right: np.ndarray, balance: float) -> tuple[np.ndarray, float]:
        x = inverse(right)
        if not fit_intercept:
            return x, 0.0
        y = (t @ x - balance) / (t @ toward)
        return x - y * toward, float(y)

    return solve


def _longest(x: np.ndarray, dx: np.ndarray) -> float:
    """Longest step up to one along ``dx`` that keeps ``x`` from becoming negative."""
    falling = dx < 0
    return min(1.0, float(np.min(-x[falling] / dx[falling], initial=np.inf)))


def _polish(dual: _Dual, beta: np.ndarray, b: float) -> tuple[np.ndarray, float, float]:
    """Solve for the rows inside the box, and mend the guess which those are while that helps.

    Returns ``β``, the intercept and what is left of violations.
    """
    best = beta, b, dual.violation(beta, b)
    upper = beta >= (1.0 - _EDGE) * dual.box
    free = (beta > _EDGE * dual.box) & ~upper
    for _ in range(_ROUNDS):
        beta, b = _solve_free(dual, free, upper)
        short = dual.linear - dual.H @ (dual.H.T @ beta) - b * dual.t
        below, above = free & (beta < 0.0), free & (beta > dual.box)
        inside = np.clip(beta, 0.0, dual.box)
        found = dual.violation(inside, b)
        if found < best[2]:
            best = inside, b, found
        wanted = (~free & ~upper & (short > _MEND)) | (upper & (short < -_MEND))
        if not (below.any() or above.any() or wanted.any()):
            break
        free, upper = (free & ~below & ~above) | wanted, (upper & ~wanted) | above
    return best


def _solve_free(dual: _Dual, free: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, float]:
    """Margins of one for the free rows, with the others on the edges of their boxes."""
    beta = np.where(upper, dual.box, 0.0)
    pull = dual.H.T @ beta
    if not free.any():
        return beta, _middle(dual, dual.linear - dual.H @ pull, upper)
    F, t, n = dual.H[free], dual.t[free], int(free.sum())
    M = np.zeros((n + 1, n + 1))
    M[:n, :n] = F @ F.T
    right = np.append(dual.linear[free] - F @ pull, -float(dual.t @ beta))
    unit = float(np.abs(M).max()) or 1.0  # of the border, so that all equations weigh alike
    if dual.fit_intercept:
        M[:n, n] = M[n, :n] = unit * t
        right[n] *= unit
    else:
        M[n, n] = 1.0
        right[n] = 0.0
    solution = np.linalg.lstsq(M, right, rcond=None)[0]
    beta[free] = solution[:n]
    return beta, float(unit * solution[n]) if dual.fit_intercept else 0.0


def _middle(dual: _Dual, short: np.ndarray, upper: np.ndarray) -> float:
    """The middle of the intercepts that suit all rows, where none of them fixes it."""
    if not dual.fit_intercept:
        return 0.0
    edge = dual.t * short  # 1 − t η is zero for this intercept
    least = upper == (dual.t < 0)  # whether the row wants an intercept above its edge
    low, high = edge[least].max(initial=-np.inf), edge[~least].min(initial=np.inf)
    if np.isfinite(low) and np.isfinite(high):
        return 0.5 * float(low + high)
    return float(low if np.isfinite(low) else high)
