"""From training geometries to coefficients: in closed form, or by conjugate gradients without the matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pellucid._callers import warn_caller
from pellucid._progress import Progress
from pellucid.linalg import (
    available_memory,
    cholesky_in_place,
    conjugate_gradients,
    format_bytes,
    inverse_blocks_in_place,
    low_rank_preconditioner,
    pivoted_cholesky,
    require_memory,
    solve_cholesky,
)
from pellucid.models.forces.hessian import (
    ForceKernel,
    ForceSum,
    covariance_columns,
    covariance_diagonal,
    covariance_of_energies,
    fill_covariance,
)

SOLVERS = ("closed", "iterative")
_SHARE = 0.3  # of the memory that is left, for the columns of the preconditioner
_PROTOTYPES = 2000  # at most so many columns: about where making them costs as much as the steps they save
_STEPS = 16.0  # that are taken, over the share of all columns that are prototypes; as seen
_MUCH = 3.0  # times as fast is what the iterative solver has to be, as its steps are a guess


@dataclass(frozen=True, eq=False)
class ForceProblem:
    """Training geometries in internal coordinates."""

    kernel: ForceKernel
    X: np.ndarray  # (n, d): descriptors
    JQ: np.ndarray  # (n, d, m): Jacobians
    y: np.ndarray  # (n, m): forces
    alpha: float
    E: np.ndarray | None = None  # (n,): energies, where there are any

    @property
    def size(self) -> int:
        """Number of unknowns, n m."""
        return self.y.size

    def vectors(self, a: np.ndarray) -> np.ndarray:
        """The vectors ``v = J a`` of shape (n, d)."""
        return np.einsum("ndm,nm->nd", self.JQ, a.reshape(self.y.shape))

    def covariance(self, label: str = "") -> np.ndarray:
        """The matrix ``K + αI``."""
        K = np.empty((self.size, self.size))
        progress = Progress(label or "covariance of forces", len(self.X))
        fill_covariance(K, self.kernel, self.X, self.JQ, progress.step)
        progress.close()
        K.flat[:: self.size + 1] += self.alpha
        return K

    def product(self) -> Callable[[np.ndarray], np.ndarray]:
        """Products ``(K + αI) a`` from the weights between geometries alone, which are kept."""
        points = self.kernel.images(self.X).reshape(-1, self.X.shape[1])
        A, B = self.kernel.weights(self.X, points)

        def times(a: np.ndarray) -> np.ndarray:
            downhill = ForceSum.of(self.kernel, self.X, self.vectors(a)).combine(self.X, A, B)[1]
            return np.einsum("ndm,nd->nm", self.JQ, downhill).ravel() + self.alpha * a

        return times


@dataclass(frozen=True)
class SolverChoice:
    """Which solver, and why."""

    name: str
    reason: str


def choose_solver(solver: str, problem: ForceProblem) -> SolverChoice:
    """The solver asked for, or the one that suits the memory and the time that each is predicted to take."""
    if solver in SOLVERS:
        return SolverChoice(solver, "as asked for")
    if solver != "auto":
        raise ValueError(f"solver must be 'auto', 'closed' or 'iterative', got {solver!r}.")
    size, have = problem.size, available_memory()
    text = f"{size} unknowns, whose matrix takes {format_bytes(8.0 * size**2)}"
    if 8.0 * 1.05 * size**2 > have:
        return SolverChoice("iterative", f"{text} of {format_bytes(have)} left")
    closed, iterative = predicted_operations(problem)
    if closed > _MUCH * iterative:
        return SolverChoice("iterative", f"{text}; steps should be {closed / iterative:.0f} times as fast")
    return SolverChoice("closed", text)


def predicted_operations(problem: ForceProblem) -> tuple[float, float]:
    """Operations of the closed and of the iterative solution.

    A factorisation, against making the preconditioner and taking steps: each of four products with
    descriptors and two with the prototypes.
    """
    (n, d), S, size = problem.X.shape, len(problem.kernel.pairs), problem.size
    rank = _n_prototypes(size)
    step = 8.0 * n * n * S * d + 4.0 * size * rank
    return size**3 / 3.0, 10.0 * size * rank**2 + _STEPS * size / rank * step


def _n_prototypes(size: int) -> int:
    """Columns of the preconditioner, of which three copies are held."""
    return max(int(min(_PROTOTYPES, size // 2 + 1, _SHARE * available_memory() / (3 * 8.0 * size))), 1)


def solve_closed(problem: ForceProblem) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (n m,) by a Cholesky factorisation in place, and the factor."""
    require_memory(problem.size, 1.05, what="the covariance of forces")
    L = cholesky_in_place(problem.covariance())
    return solve_cholesky(L, problem.y.reshape(-1, 1))[:, 0], L


def solve_iterative(
    problem: ForceProblem, *, tol: float, max_iter: int, start: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients by preconditioned conjugate gradients, and the relative residual before each step.

    The preconditioner comes from prototype columns of the matrix, chosen by randomly pivoted Cholesky.
    """
    rank = _n_prototypes(problem.size)
    diagonal = np.einsum("nii->ni", covariance_diagonal(problem.kernel, problem.X, problem.JQ)).ravel()

    def columns(index: np.ndarray) -> np.ndarray:
        return covariance_columns(problem.kernel, problem.X, problem.JQ, index)

    factor = pivoted_cholesky(columns, diagonal, rank, tolerance=1e-14, random_state=0).factor
    progress = Progress("conjugate gradients")
    found = conjugate_gradients(
        problem.product(),
        problem.y.ravel(),
        precondition=low_rank_preconditioner(factor, problem.alpha),
        start=start,
        tol=tol,
        max_iter=max_iter,
        step=lambda residual: progress.step(f"residual {residual:.1e}, until {tol:.0e}"),
    )
    progress.close()
    if not found.converged:
        warn_caller(
            f"Conjugate gradients stopped after {found.n_iter} steps at a relative residual of "
            f"{found.residuals[-1]:.1e}, above tol = {tol:g}. Raise max_iter and fit again with "
            f"warm_start=True, which goes on from here.",
            ConvergenceWarning,
        )
    return found.x, found.residuals


def leave_one_out(problem: ForceProblem) -> tuple[np.ndarray, np.ndarray | None]:
    r"""Residuals of forces (n, m) and energies (n,) of every geometry, predicted by the model of all others.

    Exact, from one factor. With :math:`C = (K + \alpha I)^{-1}` and :math:`C_{ii}` its m × m block, leaving
    out the rows of geometry i leaves the residual :math:`u_i = C_{ii}^{-1} a_i` of its forces. Coefficients
    then change by :math:`-C_{\cdot i} u_i`. With :math:`V` the covariance of energies with forces, :math:`W =
    C V^\top` and :math:`e = E - V a`, the residual of energy j before the constant becomes

    .. math:: e_{ij} = e_j + W_{ij}^\top u_i,

    and the constant is its mean over all j but i, which leaves :math:`e_{ii} - \sum_{j \ne i} e_{ij} / (n -
    1)`.
    """
    a, L = solve_closed(problem)
    n, m = problem.y.shape
    if problem.E is None:
        return _left_out(L, a.reshape(n, m)), None
    V = covariance_of_energies(problem.kernel, problem.X, problem.JQ)
    W = solve_cholesky(L, V.T).reshape(n, m, n)
    u = _left_out(L, a.reshape(n, m))
    e = problem.E - V @ a + np.einsum("imj,im->ij", W, u)
    return u, (n * e.diagonal() - e.sum(axis=1)) / (n - 1)


def _left_out(L: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Residuals ``u`` of forces; ``L`` is overwritten."""
    return np.linalg.solve(inverse_blocks_in_place(L, a.shape[1]), a[:, :, None])[:, :, 0]
