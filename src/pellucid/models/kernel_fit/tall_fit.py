"""Kernel ridge of more rows than a stored kernel matrix allows: rank, precision, alpha, and what it cost.

In the order of a fit: a plan (:class:`Tall`), the low-rank factor, alpha along a walk that starts where a
sample of the rows has its best, the final solution, and the gap to the exact answer on some of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pellucid._callers import warn_caller
from pellucid._progress import Progress
from pellucid.effects import AlphaPath, SolverReport
from pellucid.kernels import Kernel, Linear
from pellucid.kernels.tiles import Tile, gram_tiles, has_fast_tiles
from pellucid.linalg import LowRank, is_sparse, pivoted_cholesky, require_memory, symmetric_product
from pellucid.models.kernel_fit.ridge_types import RidgeFit, Score, Settings, relative_alphas
from pellucid.solvers import Choice, Fits, SpectralSolver
from pellucid.solvers.iterative import IterativeFit, IterativeSolver, Product

_TILE = 512  # rows of a block: 1 MB in float32, which stays in the cache
_SINGLE_ROWS = 2000  # rows from which float32 blocks are worth a second round
START_ROWS = 1500  # rows of the sample on which alpha starts
_WALK_ROWS = 12_000  # rows of the sample on which it is chosen
_WALK_TOLERANCE = 1e-3  # of the solutions that serve to compare alphas
_GAP_ROWS = 300
_AS_GOOD = 1e-6  # smaller differences are rounding error


def rank_for(n_rows: int, wish: int | None) -> int:
    """Rank of the preconditioner: its making, n r², stays below that of a few products, n² each."""
    return min(n_rows, wish or int(np.clip(n_rows // 20, 50, 1500)))


def fit_iterative(
    kernel: Kernel,
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    settings: Settings,
    choice: Choice,
    score: Score | None,
) -> RidgeFit:
    """Fit by preconditioned conjugate gradients; alpha by estimated leave-one-out where asked for."""
    begin = perf_counter()
    n, q = Y.shape
    rank, probes = rank_for(n, settings.n_components), 32 if n < 5000 else 16 if n < 20_000 else 8
    bytes_ = 8.0 * n * (1.5 * rank + 12 * (probes + q)) + 4.0 * 3 * _TILE**2 + 8.0 * X.size
    require_memory(n, bytes_ / (8.0 * n * n), what="the preconditioner and the vectors of the iteration")
    progress = Progress("conjugate gradients")
    path: AlphaPath | None = None
    solver, n_iter = None, 0
    if settings.criterion is None:
        alphas = np.asarray(settings.alpha)
    else:
        progress.label = "conjugate gradients, choosing alpha"
        path, solver, n_iter = _choose_alpha(kernel, X, Y, weight, settings, score, progress)
        values = path.criterion(str(settings.criterion), Y, weight).mean(axis=1)
        best = np.flatnonzero(values <= values.min() * (1 + _AS_GOOD))[-1]
        alphas = np.full(q, path.alphas[best])
    if solver is None:
        solver, _ = _start(kernel, X, weight, rank, probes, settings, progress)
    expected = _expected_seconds(kernel, X, solver, float(alphas.min()), probes + q, settings)
    progress.label = f"conjugate gradients, about {expected:.0f} s"
    fits = {a: solver.fit(Y, float(a), tol=settings.tol) for a in np.unique(alphas)}
    progress.close()
    worst = max(fit.residual for fit in fits.values())
    if worst > settings.tol:
        warn_caller(
            f"Conjugate gradients stopped at a relative residual of {worst:.1e}, above tol = "
            f"{settings.tol:g}. Raise tol, alpha, or n_components, the rank of the preconditioner.",
            ConvergenceWarning,
        )
    found = _assemble(kernel, solver, fits, alphas, Y, path, choice)
    loo, error = zip(*(fit.loo() for fit in fits.values()), strict=True)
    report = SolverReport(
        "iterative",
        choice.reason,
        n,
        solver.factor.U.shape[1],
        "float32" if all(f.single for f in fits.values()) and solver.coarse else "float64",
        probes,
        expected,
        bytes_,
        perf_counter() - begin,
        n_iter + sum(f.n_iter for f in fits.values()),
        worst,
        _gap(kernel, X, Y, found),
        float(np.max(np.array(error) / np.maximum(np.array(loo), 1e-300))),
    )
    return replace(found, report=report)


def _start(
    kernel: Kernel,
    X: np.ndarray,
    weight: np.ndarray,
    rank: int,
    probes: int,
    settings: Settings,
    progress: Progress,
) -> tuple[IterativeSolver, float]:
    """The products, the preconditioner, and the mean variance of the kernel, the unit of alpha."""
    single = len(X) >= _SINGLE_ROWS and has_fast_tiles(kernel, X)
    product, coarse = kernel_products(kernel, X, single=single)
    diagonal = np.asarray(kernel._diag(X), dtype=float)
    F = pivoted_cholesky(
        lambda index: kernel._gram(X, X[index]),
        diagonal,
        rank,
        tolerance=1e-12,
        random_state=settings.random_state,
    ).factor
    root = np.sqrt(weight)
    F *= root[:, None]
    total = float(weight @ diagonal)
    offset = 0.0
    if settings.fit_intercept:
        unit_root = root / np.linalg.norm(root)
        F -= np.outer(unit_root, unit_root @ F)
        offset = float(weight @ product(weight[:, None])[:, 0]) / weight.sum()
    if len(F) >= 10 * _SINGLE_ROWS:
        F = F.astype(np.float32)
    solver = IterativeSolver(
        product,
        coarse,
        weight,
        diagonal,
        LowRank.of(F),
        settings.fit_intercept,
        n_probes=probes,
        random_state=settings.random_state,
        step=lambda residual: progress.step(f"residual {residual:.1e}"),
    )
    unit = (total - offset) / weight.sum()
    return solver, unit if unit > 64.0 * np.finfo(float).eps * offset / weight.sum() else 1.0


def kernel_products(kernel: Kernel, X: np.ndarray, *, single: bool) -> tuple[Product, Product | None]:
    """Products with the kernel matrix of the rows: in float64, and if ``single`` also with float32 blocks.

    Sparse rows and a linear kernel need no matrix: ``K V = Z (Zᵀ V)``.
    """
    if is_sparse(X) and isinstance(kernel, Linear):
        rows: Any = X
        Z: Any = kernel.features(rows)
        return lambda V: Z @ Z.transposed_times(V), None

    def product_of(tile: Tile) -> Product:
        return lambda V: symmetric_product(tile, V, step=_TILE)

    fine = product_of(gram_tiles(kernel, X))
    return fine, product_of(gram_tiles(kernel, X, single=True)) if single else None


def _choose_alpha(
    kernel: Kernel,
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    settings: Settings,
    score: Score | None,
    progress: Progress,
) -> tuple[AlphaPath, IterativeSolver | None, int]:
    """The path over alphas, on all rows or a sample; the solver where that is of all rows; and steps."""
    n, sampled = len(Y), len(Y) > _WALK_ROWS
    if sampled:
        rows = np.sort(np.random.default_rng(settings.random_state).choice(n, _WALK_ROWS, replace=False))
        X, Y, weight, score = X[rows], Y[rows], weight[rows], None
    rank, probes = rank_for(len(Y), settings.n_components), 32 if n < 5000 else 16 if n < 20_000 else 8
    solver, unit = _start(kernel, X, weight, rank, probes, settings, progress)
    start = start_alpha(kernel, X, Y, weight, settings, unit)
    candidates = unit * relative_alphas(settings.floor) if settings.alphas is None else settings.alphas
    n_iter = 0

    def path_at(alpha: float) -> AlphaPath:
        nonlocal n_iter
        fit = solver.fit(Y, alpha, tol=max(settings.tol, _WALK_TOLERANCE))
        n_iter += fit.n_iter
        return _path_of(fit, settings.fit_intercept, score)

    path = walk_downhill(path_at, Y, weight, np.sort(candidates), start, settings)
    return path, None if sampled else solver, n_iter


def start_alpha(
    kernel: Kernel, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, settings: Settings, unit: float
) -> float:
    """Best alpha of a sample of the rows: where the walk starts."""
    if settings.criterion == "ml":
        raise ValueError(
            "alpha='ml' needs the determinant of the kernel matrix, which only a stored matrix gives: choose "
            "alpha by 'loo' or 'gcv', or pass solver='cholesky' if memory allows."
        )
    if settings.per_output:
        raise ValueError("alpha_per_output=True is for the dense solvers: fit one model per output instead.")
    rows = np.arange(len(Y))
    if len(rows) > START_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, START_ROWS, replace=False))
    K = np.array(kernel._gram(X[rows], X[rows]), dtype=float)
    solver = SpectralSolver.start(K, weight[rows], fit_intercept=settings.fit_intercept)
    alphas = unit * relative_alphas(settings.floor) if settings.alphas is None else np.sort(settings.alphas)
    path = AlphaPath.of(solver.fits(Y[rows], alphas))
    values = path.criterion(str(settings.criterion), Y[rows], weight[rows]).mean(axis=1)
    return float(alphas[::-1][np.argmin(values[::-1])])


def walk_downhill(
    path_at: Callable[[float], AlphaPath],
    Y: np.ndarray,
    weight: np.ndarray,
    candidates: np.ndarray,
    start: float,
    settings: Settings,
) -> AlphaPath:
    """The path on the way downhill from the start, half a decade at a time on the default grid."""
    step = 2 if settings.alphas is None else 1
    parts: dict[int, AlphaPath] = {}
    values: dict[int, float] = {}

    def value(i: int) -> float:
        if not 0 <= i < len(candidates):
            return np.inf
        if i not in values:
            parts[i] = path_at(float(candidates[i]))
            values[i] = float(parts[i].criterion(str(settings.criterion), Y, weight).mean())
        return values[i]

    at = int(np.argmin(np.abs(np.log(candidates / start))))
    while True:
        best = min((at, at + step, at - step), key=value)
        if best == at or value(best) >= value(at):
            break
        at = best
    return AlphaPath.join([parts[i] for i in sorted(parts)])


def fits_of(fit: IterativeFit, fit_intercept: bool) -> Fits:
    """The same in the form of the dense solvers; the determinant is not known."""
    nothing = np.full(1, np.nan)
    return Fits(
        np.array([fit.alpha]),
        fit.residuals[None],
        fit.slack[None],
        fit.quadratic[None],
        nothing,
        fit.weight,
        fit_intercept,
    )


def _path_of(fit: IterativeFit, fit_intercept: bool, score: Score | None) -> AlphaPath:
    path = AlphaPath.of(fits_of(fit, fit_intercept), score)
    return replace(path, mse=fit.loo()[0][None], gcv=fit.gcv[None])


def _assemble(
    kernel: Kernel,
    solver: IterativeSolver,
    fits: dict[float, IterativeFit],
    alphas: np.ndarray,
    Y: np.ndarray,
    path: AlphaPath | None,
    choice: Choice,
) -> RidgeFit:
    """Put the outputs together, each at its own alpha."""

    def pick(part: Callable[[IterativeFit], np.ndarray]) -> np.ndarray:
        return np.column_stack([part(fits[a])[..., k] for k, a in enumerate(alphas)])

    dual = pick(lambda fit: fit.dual_coef)
    residuals = pick(lambda fit: fit.residuals)
    here = [_path_of(fit, solver.fit_intercept, None) for fit in fits.values()]
    criteria = {
        name: float(np.mean([p.criterion(name, Y, solver.weight) for p in here])) for name in ("loo", "gcv")
    }
    free = max(float(np.maximum(1.0, solver.weight).sum()) - solver.fit_intercept, 1.0)
    return RidgeFit(
        kernel,
        np.asarray(alphas, dtype=float),
        dual,
        None,
        solver.intercept(Y, dual, residuals),
        residuals,
        np.column_stack([fits[a].slack for a in alphas]),
        pick(lambda fit: fit.held_out_residuals),
        pick(lambda fit: fit.quadratic[None])[0] / free,
        None,
        path,
        choice,
        criteria,
    )


def _expected_seconds(
    kernel: Kernel, X: np.ndarray, solver: IterativeSolver, alpha: float, k: int, settings: Settings
) -> float:
    """Seconds for one alpha: time of one block of the product, times blocks, times steps by the spectrum."""
    rows = slice(0, min(_TILE, len(X)))
    product, coarse = kernel_products(kernel, X[rows], single=solver.coarse is not None)
    V = np.ones((rows.stop, k))
    begin = perf_counter()
    (product if coarse is None else coarse)(V)
    blocks = (len(X) / rows.stop) * (len(X) / rows.stop + 1) / 2
    if is_sparse(X) and isinstance(kernel, Linear):
        blocks = len(X) / rows.stop
    steps = 0.5 * np.sqrt(1.0 / (alpha * solver.factor.rest(alpha))) * np.log(2.0 / settings.tol)
    return (perf_counter() - begin) * 1.3 * blocks * float(steps)


def _gap(kernel: Kernel, X: np.ndarray, Y: np.ndarray, fit: RidgeFit) -> float:
    """How far fitted values of some rows are from ``K a + b`` in float64, in standard deviations."""
    rows = np.arange(len(Y))
    if len(rows) > _GAP_ROWS:
        rows = np.sort(np.random.default_rng(1).choice(rows, _GAP_ROWS, replace=False))
    off = kernel._gram(X[rows], X[:]) @ fit.dual_coef + fit.intercept + fit.residuals[rows] - Y[rows]
    spread = Y.std(axis=0)
    return float(np.max(np.sqrt(np.mean(off**2, axis=0)) / np.where(spread > 0, spread, 1.0)))
