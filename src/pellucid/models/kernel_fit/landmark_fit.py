"""Kernel ridge on landmarks: which rows they are, which precision, alpha, and the gap to the exact answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pellucid._progress import Progress
from pellucid.effects import AlphaPath, SolverReport
from pellucid.kernels import Kernel
from pellucid.kernels.tiles import gram_tiles, has_fast_tiles
from pellucid.linalg import pivoted_cholesky, require_memory
from pellucid.models.kernel_fit.ridge_types import (
    OfAll,
    RidgeFit,
    RowsBeyond,
    Score,
    Settings,
    relative_alphas,
)
from pellucid.solvers import Choice
from pellucid.solvers.landmark_sums import Columns, LandmarkSums, ResidualSums, blocks_of
from pellucid.solvers.landmarks import LandmarkSolver

PROPOSED = 2  # rows per landmark among which landmarks are chosen: of more, too many are far from all others
_PATH_ROWS = 5000  # rows whose leave-one-out errors choose alpha; the sums are those of all rows
_SINGLE_WORK = 1e7  # rows times landmarks from which float32 is worth having
_SINGLE_ALPHA = 3e-8  # below this share of the largest eigenvalue alpha does not cover rounding in float32
_GAP_ROWS = 1000
_AS_GOOD = 1e-6
_FLOPS = 3e10  # operations a second, of one slow core in float64, for what a fit is expected to take


def landmarks_for(n_rows: int, wish: int | None) -> int:
    """Number of landmarks: of the order of the root of the rows, which theory asks for [Rudi et al. 2017]."""
    return min(n_rows, wish or int(np.clip(4 * np.sqrt(n_rows), 500, 2500)))


@dataclass(frozen=True)
class SumsOf:
    """Sums over a block of rows, as a function of it that can be sent to where the block is."""

    kernel: Kernel
    centres: np.ndarray  # (m, ...): the landmarks themselves
    transfer: np.ndarray
    single: bool

    def __call__(self, X: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> LandmarkSums:
        """Sums over some rows."""
        return LandmarkSums.of(
            columns_of(self.kernel, X, self.centres, self.single), self.transfer, Y, weight
        )


@dataclass(frozen=True)
class ResidualsOf:
    """Sums over the residuals of a block of rows, in float64."""

    kernel: Kernel
    centres: np.ndarray
    dual: np.ndarray
    level: np.ndarray

    def __call__(self, X: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> ResidualSums:
        """Sums over some rows."""
        columns = columns_of(self.kernel, X, self.centres, False)
        return ResidualSums.of(columns, self.dual, self.level, Y, weight)


def fit_landmarks(
    kernel: Kernel,
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    settings: Settings,
    choice: Choice,
    score: Score | None,
    drawn: np.ndarray | None = None,
    beyond: RowsBeyond | None = None,
) -> RidgeFit:
    """Fit by the normal equations of landmarks; alpha by leave-one-out where it is to be chosen.

    Everything is chosen on the rows ``drawn``, in this order. Where there are rows ``beyond`` those at hand,
    sums are over all of them, and residuals those of the rows at hand.
    """
    begin = perf_counter()
    if settings.criterion == "ml":
        raise ValueError("alpha='ml' needs the determinant of the whole kernel matrix: use 'loo' or 'gcv'.")
    q = Y.shape[1]
    n = len(Y) if beyond is None else beyond.n_rows
    drawn = np.random.default_rng(0).permutation(len(Y)) if drawn is None else drawn
    m = landmarks_for(n, settings.n_components)
    bytes_ = 8.0 * (5.0 * m * m + PROPOSED * m * m + 4.0 * len(Y) * q + X.size + 2.0 * len(Y))
    if beyond is None:
        require_memory(n, bytes_ / (8.0 * n * n), what="the sums of the landmarks")
    single = n * m >= _SINGLE_WORK and has_fast_tiles(kernel, X)
    expected = 3.0 * n * m * m / _FLOPS / (2.0 if single else 1.0)
    some = drawn[: PROPOSED * m]
    pivots, transfer = choose_landmarks(kernel, X[some], m, settings.random_state, 1e-7 if single else 1e-12)
    centres = some[pivots]
    while True:
        solver = _start(kernel, X, centres, transfer, Y, weight, settings, single, expected, beyond)
        alphas, path = _choose(solver, Y, settings, score, np.sort(drawn[-_PATH_ROWS:]))
        if not single or alphas.min() >= _SINGLE_ALPHA * solver.largest:
            break
        single, expected = False, 2.0 * expected
    found = _assemble(kernel, solver, alphas, Y, weight, centres, path, choice, beyond is not None)
    report = SolverReport(
        "landmarks",
        choice.reason,
        n,
        len(centres),
        "float32" if single else "float64",
        0,
        expected,
        bytes_,
        perf_counter() - begin,
        0,
        0.0,
        _gap(kernel, X, Y, weight, found, settings.fit_intercept, transfer, np.sort(drawn[-_GAP_ROWS:])),
        0.0,
    )
    return replace(found, report=report)


def choose_landmarks(
    kernel: Kernel, X: np.ndarray, m: int, random_state: int, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Landmarks among rows by randomly pivoted Cholesky, and the map to features."""
    found = pivoted_cholesky(
        lambda index: kernel._gram(X, X[index]),
        np.asarray(kernel._diag(X), dtype=float),
        m,
        tolerance=tolerance,
        random_state=random_state,
    )
    return found.pivots, found.transfer


def _start(
    kernel: Kernel,
    X: np.ndarray,
    centres: np.ndarray,
    transfer: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    settings: Settings,
    single: bool,
    expected: float,
    beyond: RowsBeyond | None,
) -> LandmarkSolver:
    """Sums over all rows."""
    C = X[centres]
    columns = columns_of(kernel, X, C, single)
    if beyond is None:
        n_blocks = len(blocks_of(len(Y), len(transfer)))
        progress = Progress(f"landmarks, about {expected:.0f} s in all", n_blocks)
        solver = LandmarkSolver.start(
            columns,
            transfer,
            Y,
            weight,
            fit_intercept=settings.fit_intercept,
            fine=columns_of(kernel, X, C, False) if single else None,
            step=progress.step,
        )
        progress.close()
        return solver
    sums = beyond.total(
        SumsOf(kernel, C, transfer, single),
        LandmarkSums.plus,
        f"sums of {len(C)} landmarks, {'float32' if single else 'float64'}",
    )

    def fine(dual: np.ndarray, level: np.ndarray) -> ResidualSums:
        return beyond.total(ResidualsOf(kernel, C, dual, level), ResidualSums.plus, "residuals")

    return LandmarkSolver.of(
        sums,
        columns,
        transfer,
        weight,
        fit_intercept=settings.fit_intercept,
        level=np.zeros(Y.shape[1]),
        fine=fine if single else None,
    )


def _choose(
    solver: LandmarkSolver, Y: np.ndarray, settings: Settings, score: Score | None, rows: np.ndarray
) -> tuple[np.ndarray, AlphaPath | None]:
    """Alpha by the leave-one-out errors of some rows in fits to all of them."""
    if settings.criterion is None:
        return np.asarray(settings.alpha), None
    if settings.alphas is None:
        unit = float(np.trace(solver.G)) / solver.total
        candidates = (unit if unit > 0 else 1.0) * relative_alphas(settings.floor)
    else:
        candidates = np.sort(settings.alphas)
    figure = None if score is None else partial(score, rows=rows)
    parts = [AlphaPath.of(solver.fits(Y, candidates, rows), figure)]
    path = replace(AlphaPath.join(parts), dof=np.array([solver.dof(a) for a in candidates]))
    values = path.criterion(str(settings.criterion), Y[rows], solver.weight[rows])
    if not settings.per_output:
        values = np.repeat(values.mean(axis=1, keepdims=True), Y.shape[1], axis=1)
    good = values <= values.min(axis=0) * (1 + _AS_GOOD)
    return candidates[::-1][np.argmax(good[::-1], axis=0)], path


def columns_of(kernel: Kernel, X: np.ndarray, centres: np.ndarray, single: bool) -> Columns:
    """Values of the kernel between rows, given by their numbers, and landmarks."""
    tile = gram_tiles(kernel, X, centres, single=single)

    def columns(rows: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(tile(rows_key(rows), slice(None)))

    return columns


def rows_key(rows: np.ndarray) -> slice | np.ndarray:
    """Increasing numbers of rows as a slice if they are neighbours, which is no copy."""
    near = rows[-1] - rows[0] + 1 == len(rows) and np.all(np.diff(rows) == 1)
    return slice(int(rows[0]), int(rows[-1]) + 1) if near else rows


def _assemble(
    kernel: Kernel,
    solver: LandmarkSolver,
    alphas: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    centres: np.ndarray,
    path: AlphaPath | None,
    choice: Choice,
    beyond: bool,
) -> RidgeFit:
    unique, inverse = np.unique(alphas, return_inverse=True)
    progress = Progress("leave-one-out", len(blocks_of(len(Y), len(centres))))
    fits = solver.fits(Y, unique, step=progress.step)
    progress.close()
    outputs = np.arange(Y.shape[1])
    solutions = [solver.solution(float(a)) for a in alphas]
    coef = np.column_stack([w[:, k] for k, (w, _) in enumerate(solutions)])
    residuals = fits.residuals[inverse, :, outputs].T
    # yᵀ (K̂ + α S⁻¹)⁻¹ y is the value of the objective, twice, over α
    loss = np.einsum("n,nq->q", weight, residuals**2)
    if beyond:
        loss = np.array([solver.solved(float(a)).squares[k] for k, a in enumerate(alphas)])
    dof = np.array([solver.dof(float(a)) for a in alphas]) if beyond else np.zeros(0)
    quadratic = loss / alphas + np.einsum("mq,mq->q", coef, coef)
    free = max(solver.observations - solver.fit_intercept, 1.0)
    here = AlphaPath.of(fits)
    criteria = {
        name: float(here.criterion(name, Y, weight)[inverse, outputs].mean()) for name in ("loo", "gcv")
    }
    return RidgeFit(
        kernel,
        np.asarray(alphas, dtype=float),
        solver.transfer @ coef,
        None,
        np.array([level[k] for k, (_, level) in enumerate(solutions)]),
        residuals,
        fits.slack[inverse].T,
        fits.held_out_residuals[inverse, :, outputs].T,
        quadratic / free,
        None,
        path,
        choice,
        criteria,
        centres=centres,
        of_all=OfAll(solver.n_rows, solver.observations, dof, loss) if beyond else None,
    )


def _gap(
    kernel: Kernel,
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    fit: RidgeFit,
    fit_intercept: bool,
    transfer: np.ndarray,
    rows: np.ndarray,
) -> float:
    """Difference of the landmark model and the exact one, both fitted to some of the rows."""
    part, s, spread = X[rows], weight[rows], Y[rows].std(axis=0)
    K = np.array(kernel._gram(part, part), dtype=float)
    Z = kernel._gram(part, X[fit.centres]) @ transfer
    worst = 0.0
    for k, alpha in enumerate(fit.alpha):
        pair = [_fitted(A, Y[rows, k], alpha / s, fit_intercept) for A in (K, Z @ Z.T)]
        off = float(np.sqrt(np.mean((pair[0] - pair[1]) ** 2)))
        worst = max(worst, off / spread[k] if spread[k] > 0 else off)
    return worst


def _fitted(K: np.ndarray, y: np.ndarray, noise: np.ndarray, fit_intercept: bool) -> np.ndarray:
    """Fitted values of ridge with a matrix of similarities."""
    A = K + np.diag(noise)
    both = cho_solve(cho_factor(A, lower=True, check_finite=False), np.column_stack([y, np.ones(len(y))]))
    b = both[:, 0].sum() / both[:, 1].sum() if fit_intercept else 0.0
    return y - noise * (both[:, 0] - b * both[:, 1])
