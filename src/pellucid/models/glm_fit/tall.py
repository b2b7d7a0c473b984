r"""Kernel models of any loss with many rows: landmarks, or the exact answer by Newton around iteration.

**Landmarks.** The function is restricted to the span of some rows. Features of moderate size are stored;
larger ones are made anew at every pass, so memory does not grow with rows times landmarks. Alpha is chosen on
a sample of the rows, in the same features.

**Exact.** A Newton step is kernel ridge with weights :math:`w_i = s_i \ell''_i` and targets
:math:`z_i = \eta_i - o_i - \ell'_i/\ell''_i`, which preconditioned conjugate gradients solve with products of
the kernel matrix that is formed block by block. The landmark model says where to start, and its low-rank
factor, weighted anew at each step, is the preconditioner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from pellucid._progress import Progress
from pellucid.effects import SolverReport
from pellucid.kernels import Kernel
from pellucid.kernels.tiles import has_fast_tiles
from pellucid.linalg import BlockFeatures, LowRank
from pellucid.models.kernel_fit.kernel_features import KernelFeatures, spectral_features
from pellucid.models.kernel_fit.ridge_fit import gram
from pellucid.models.kernel_fit.tall_fit import kernel_products
from pellucid.solvers import GLMProblem
from pellucid.solvers.alpha_search import coefficient_columns, solve
from pellucid.solvers.glm import halved
from pellucid.solvers.iterative import IterativeSolver

ALPHA_ROWS = 20_000  # beyond these, alpha is chosen on as many of the rows
_GAP_ROWS = 1000
_NEWTON_STEPS = 30
_LEAST = 1e-6  # curvature of a row, of the largest: keeps the system well conditioned
_STEPS_EXPECTED = 8  # of Newton's method


def on_sample(
    Z: Any, problems: Sequence[GLMProblem]
) -> tuple[np.ndarray, Sequence[GLMProblem], np.ndarray | None]:
    """Features and problems on which alpha is chosen, always the same, and their rows; ``None`` for all."""
    n_rows, some = Z.shape[0], None
    if n_rows > ALPHA_ROWS:
        some = np.sort(np.random.default_rng(2).choice(n_rows, ALPHA_ROWS, replace=False))
        problems, Z = [p.rows(some) for p in problems], Z[some]
    return Z.stored() if isinstance(Z, BlockFeatures) else Z, problems, some


def expected_cost(features: KernelFeatures, n_problems: int) -> tuple[float, float]:
    """Seconds of a fit at one alpha, from the time of a block, and bytes beside the data."""
    Z = features.Z
    n, r = Z.shape
    few = min(n, 4096)
    begin = perf_counter()
    if isinstance(Z, BlockFeatures):
        part = Z[:few]
        part.weighted_products(np.ones(few), center=True)
        part.transposed_times(part @ np.ones(r))
        bytes_ = 8.0 * (3.0 * r * r + 10.0 * n)
    else:
        H = Z[:few] * 1.0
        H.T @ H
        bytes_ = 8.0 * (3.0 * n * r + 3.0 * r * r)
    seconds = (perf_counter() - begin) * n / few + r**3 / 3e10
    return seconds * _STEPS_EXPECTED * n_problems, bytes_


@dataclass(frozen=True)
class Sampled:
    """Some rows of problems with many, on which the landmark model is compared with the exact one."""

    kernel: Kernel
    X: Any
    problems: Sequence[GLMProblem]

    def gap(self, features: KernelFeatures, alpha: float, max_iter: int) -> float:
        """Difference of scores of the two, both fitted to the sample, in deviations of the exact ones."""
        n = len(self.problems[0].y)
        rows = np.sort(np.random.default_rng(1).choice(n, min(n, _GAP_ROWS), replace=False))
        part = [p.rows(rows) for p in self.problems]
        Z = features.Z[rows]
        few = Z.stored() if isinstance(Z, BlockFeatures) else Z
        K = spectral_features(gram(self.kernel, self.X[rows]), self.kernel.mercer)
        scores = []
        for A in (few, K):
            delta, level = coefficient_columns([solve(A, p, alpha, max_iter=max_iter) for p in part])
            scores.append(A @ delta + level)
        spread = float(np.sqrt(np.mean((scores[1] - scores[1].mean(axis=0)) ** 2)))
        off = float(np.sqrt(np.mean((scores[0] - scores[1]) ** 2)))
        return off / spread if spread > 0 else off


@dataclass(frozen=True)
class ExactFit:
    """The exact solution of one problem."""

    dual: np.ndarray  # (n,)
    intercept: float
    scores: np.ndarray  # (n,), without offset
    n_steps: int
    n_products: int
    residual: float  # norm of the last step of the scores, in deviations of the scores


def fit_exact(
    kernel: Kernel, X: Any, p: GLMProblem, alpha: float, features: KernelFeatures, start: Any, tol: float
) -> ExactFit:
    """Newton steps from a landmark solution ``start`` to the minimum over the whole space of the kernel."""
    product, coarse = kernel_products(kernel, X, single=has_fast_tiles(kernel, X))
    diagonal = np.asarray(kernel._diag(X), dtype=float)
    F = features.Z.stored() if isinstance(features.Z, BlockFeatures) else features.Z
    progress = Progress("Newton steps around conjugate gradients")
    f, b, products = F @ start.delta, float(start.intercept), 0
    norm = float(start.delta @ start.delta)
    value, moved = _objective(p, f, b, norm, alpha), np.inf
    a = np.zeros(len(f))
    for k in range(_NEWTON_STEPS):
        eta = p.offset + f + b
        curvature = p.loss.curvature(p.y, eta)
        w = p.weight * np.maximum(curvature, _LEAST * curvature.max())
        z = f + b - p.weight * p.loss.gradient(p.y, eta) / w
        root = np.sqrt(w)
        G = root[:, None] * F
        if p.fit_intercept:
            q = root / np.linalg.norm(root)
            G -= np.outer(q, q @ G)
        step = lambda residual: progress.step(f"residual {residual:.1e}")  # noqa: E731
        solver = IterativeSolver(
            product, coarse, w, diagonal, LowRank.of(G), p.fit_intercept, n_probes=1, step=step
        )
        # working targets of rows of little curvature are large, and the tolerance is relative to them
        share = np.linalg.norm(root * (f + b)) / max(float(np.linalg.norm(root * z)), 1e-300)
        goal = float(np.clip(0.1 * tol * share, 1e-12, 0.1 * tol))
        found = solver.fit(z[:, None], alpha, tol=goal, samples=False)
        products += found.n_iter
        new_a = found.dual_coef[:, 0]
        Ka = product(new_a[:, None])[:, 0]
        products += 1
        new_b = float(w @ (z - Ka) / w.sum()) if p.fit_intercept else 0.0
        new_norm = float(new_a @ Ka)
        cross = float(a @ Ka)  # of old and new function in the kernel's space

        def along(
            t: float,
            old: Any = (f, b, norm, a),
            new: Any = (Ka, new_b, new_norm, new_a),
            cross: float = cross,
        ) -> tuple[Any, ...]:
            f, b, norm, a = old
            g, c, size, d = new
            square = (1 - t) ** 2 * norm + 2 * t * (1 - t) * cross + t * t * size
            mixed = (1 - t) * f + t * g, (1 - t) * b + t * c
            return _objective(p, *mixed, square, alpha), *mixed, square, (1 - t) * a + t * d

        if k == 0:  # the start is a function of landmarks, and from now on of all rows
            f_old, f, b, norm, a = f, Ka, new_b, new_norm, new_a
            value = _objective(p, f, b, norm, alpha)
        else:
            better = halved(along, value)
            if better is None:
                break
            f_old = f
            value, f, b, norm, a = better
        spread = float(f.std()) or 1.0
        moved = float(np.sqrt(np.mean((f - f_old) ** 2))) / spread
        if moved <= tol and k:
            break
    progress.close()
    return ExactFit(a, b, f, k + 1, products, moved)


def _objective(p: GLMProblem, f: np.ndarray, b: float, square: float, alpha: float) -> float:
    """Penalised loss of a function of squared norm ``square``."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(p.weight @ p.loss.value(p.y, p.offset + f + b)) + 0.5 * alpha * square


def report(
    solver: str, reason: str, n: int, rank: int, precision: str, expected: tuple[float, float], **more: Any
) -> SolverReport:
    """What is said of a model of many rows; what does not apply is zero."""
    zero = {"seconds": 0.0, "n_iter": 0, "residual": 0.0, "gap": 0.0}
    return SolverReport(
        solver, reason, n, rank, precision, 0, *expected, **(zero | more), loo_error=0.0, unit="the scores"
    )
