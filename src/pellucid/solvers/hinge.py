r"""Hinge loss with a ridge penalty: the support vector machine, solved by libsvm and polished.

The dual coefficients lie in a box, :math:`0 \le t_i a_i \le s_i/\alpha` with :math:`t_i = \pm 1`. Rows strictly inside the box have margin one:
:math:`t_i \eta_i = 1`. Once libsvm has found which rows those are, that linear system gives the solution to rounding error.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from pellucid.solvers.glm import GLMProblem


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


def fit_hinge(Z: np.ndarray, problem: GLMProblem, alpha: float, *, max_iter: int = -1, tol: float = 1e-4) -> HingeFit:
    """Minimise the penalised hinge loss; ``problem.y`` holds zeros and ones, and offsets must be zero."""
    t = 2.0 * problem.y - 1.0
    machine = SVC(kernel="linear", C=1.0 / alpha, tol=tol, max_iter=max_iter, cache_size=500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # told through ``converged``
        machine.fit(Z, t, sample_weight=problem.weight)
    a = np.zeros(len(t))
    a[machine.support_] = machine.dual_coef_[0]
    b = float(machine.intercept_[0])
    box = problem.weight / alpha
    a, b = _polish(Z, t, a, b, box)
    delta = Z.T @ a
    margin = t * (Z @ delta + b)
    slack = np.where(t * a < 1e-9 * box, np.maximum(1.0 - margin, 0.0), 0.0)  # outside: margin at least one
    excess = np.where(t * a > (1.0 - 1e-9) * box, np.maximum(margin - 1.0, 0.0), 0.0)
    inside = (t * a >= 1e-9 * box) & (t * a <= (1.0 - 1e-9) * box)
    violation = float(max(slack.max(), excess.max(), np.abs(margin - 1.0)[inside].max(initial=0.0)))
    return HingeFit(alpha, delta, b, a, int(np.max(machine.n_iter_)), bool(machine.fit_status_ == 0), violation)


def _polish(
    Z: np.ndarray, t: np.ndarray, a: np.ndarray, b: float, box: np.ndarray
) -> tuple[np.ndarray, float]:
    """Solve for the rows inside the box, if that keeps them there and no other row objects."""
    share = t * a / box
    free = (share > 1e-6) & (share < 1.0 - 1e-6)
    if not free.any():
        return a, b
    bound = np.where(share >= 1.0 - 1e-6, t * box, 0.0)
    bound[free] = 0.0
    F = Z[free]
    n = len(F)
    M = np.zeros((n + 1, n + 1))
    M[:n, :n] = F @ F.T
    M[:n, n] = M[n, :n] = 1.0
    target = np.append(t[free] - F @ (Z.T @ bound), -bound.sum())
    solution = np.linalg.lstsq(M, target, rcond=None)[0]
    new = bound.copy()
    new[free] = solution[:n]
    new_share = t * new / box
    margin = t * (Z @ (Z.T @ new) + solution[n])
    fits = np.all(new_share >= -1e-9) and np.all(new_share <= 1.0 + 1e-9)
    others = np.all(margin[new_share < 1e-9] >= 1.0 - 1e-6) and np.all(margin[new_share > 1.0 - 1e-9] <= 1.0 + 1e-6)
    return (new, float(solution[n])) if fits and others else (a, b)
