"""Phase 1 of ISK: the dense model on all pairwise features, and the choice of sigma and alpha by folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from pellucid.exceptions import IndefiniteKernelError, NotEnoughMemoryError
from pellucid.features.pairs import PairMap
from pellucid.linalg import available_memory, cholesky_in_place, format_bytes, positive_spectrum
from pellucid.losses import Hinge, Loss, Squared
from pellucid.models.isk_rows import Features, Rows
from pellucid.solvers import GLMProblem, fit_glm, fit_hinge
from pellucid.solvers.fold_ridge import DualRidge, PrimalRidge, Sums
from pellucid.solvers.matvec_glm import MatvecFit, Products, factor, fit_matvec
from pellucid.solvers.smooth_hinge import _SmoothHinge

_SIGMAS = 2.0 ** np.arange(-4, 6)  # in units of the spread of a scaled column
_LAMBDAS = 10.0 ** np.arange(-8.0, 0.5, 0.5)  # alpha per row
_FIRST_LAMBDA = 4  # where the search starts: 1e-6
_FOLD_WIDTH = 0.3  # of the parabola that rounds the hinge loss off
_EXACT = 3e9  # multiplications up to which features are float64 and every fit is exact
# Near the decision boundary a loss of ±1 targets looks like a multiple of the squared loss; the same multiple of
# alpha gives a fit of about the same smoothness. (Logistic: ¼ of the squared loss of scores twice as large.)
CURVATURE = {"squared": 1.0, "logistic": 0.25, "squared_hinge": 2.0, "hinge": 0.5}


@dataclass(frozen=True)
class Dense:
    """What phase 1 found: parameters, weights of the features for each output, and the fits without each fold."""

    sigma: float
    alpha: float
    pairs: PairMap
    W: np.ndarray  # (F, q)
    without: list[np.ndarray]  # per fold (F, q)
    solver: str
    trials: list[tuple[float, float, float]]  # (sigma, alpha, held-out error of the squared loss)
    n_iter: int = 1
    converged: bool = True


@dataclass
class Setup:
    """Everything that stays the same while sigma and alpha vary."""

    rows: Rows
    targets: np.ndarray  # (n, q): centred, or ±1 for classes
    omega: np.ndarray  # (d/2, 2) at sigma = 1
    solver: str = "auto"

    def exact(self, F: int) -> bool:
        """Whether the problem is small enough for float64 throughout."""
        n = len(self.rows)
        return n * min(n, F) * F <= _EXACT

    def pair_map(self, sigma: float) -> PairMap:
        D = self.rows.X.shape[1]
        F = D * (D - 1) * len(self.omega)
        return PairMap(self.omega / sigma, D, np.float64 if self.exact(F) else np.float32)

    def is_dual(self, F: int) -> bool:
        """Whether fewer rows than features make the matrix of inner products of rows the smaller one."""
        return self.solver == "dual" if self.solver != "auto" else F > len(self.rows)


def check_memory(setup: Setup, n_folds: int) -> None:
    """Raise before anything large is allocated if the matrices of phase 1 would not fit."""
    D, m, n = setup.rows.X.shape[1], len(setup.omega), len(setup.rows)
    F = D * (D - 1) * m
    size = 8.0 if setup.exact(F) else 4.0

    def need(F: int) -> float:
        if setup.is_dual(F):
            return 8.0 * 3 * n**2 + size * 2.0 * F * min(n, 4096)
        return F**2 * (8.0 * 4 + size * n_folds * 2)

    have = available_memory()
    if need(F) <= 0.9 * have:
        return
    columns = D
    while columns > 2 and need(columns * (columns - 1) * m) > 0.9 * have:
        columns -= 1
    parts = m
    while parts > 1 and need(D * (D - 1) * parts) > 0.9 * have:
        parts -= 1
    raise NotEnoughMemoryError(
        f"{D} features make {D * (D - 1) // 2} pairs and {F} Fourier features; phase 1 would need about "
        f"{format_bytes(need(F))}, but only {format_bytes(have)} of memory is available. About {columns} features "
        f"would fit, or n_components={2 * parts}: select features first, lower n_components, or fit fewer rows."
    )


# ------------------------------------------------------------------ one sigma
@dataclass
class Trial:
    """The squared loss at one sigma: everything that alpha needs."""

    sigma: float
    pairs: PairMap
    mean: np.ndarray
    ridge: PrimalRidge | DualRidge

    def weights(self, setup: Setup, solution: Any) -> np.ndarray:
        """Weights of the features, of shape (F, q)."""
        if isinstance(self.ridge, PrimalRidge):
            return solution.W
        return row_weights(setup, self.pairs, self.mean, solution.W)


def row_weights(setup: Setup, pairs: PairMap, mean: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Weights ``Z_cᵀ A`` of the features for coefficients ``A`` (n, q) of the rows."""
    W = -np.outer(mean, A.sum(axis=0))
    for _, index in setup.rows.by_fold(4.0 * pairs.row_bytes):
        factors = pairs.factors(setup.rows.scaled(index))
        for c in range(A.shape[1]):
            W[:, c] += pairs.transposed_times(factors, A[index, c])
    return W


def prepare(setup: Setup, sigma: float) -> Trial:
    """One pass over the rows: sums of each fold, or inner products of all rows."""
    pairs = setup.pair_map(sigma)
    rows, Y = setup.rows, setup.targets
    mean = rows.sample_mean(pairs)
    if setup.is_dual(pairs.F):
        folds = [] if rows.fold is None else [np.flatnonzero(rows.fold == f) for f in range(rows.n_folds)]
        return Trial(sigma, pairs, mean, DualRidge(inner_products(rows, pairs, mean), Y, rows.weight, folds))
    q, shift = Y.shape[1], mean.astype(pairs.dtype)
    total = Sums.zeros(pairs.F, q)
    parts = [Sums.zeros(pairs.F, q, pairs.dtype) for _ in range(rows.n_folds)]
    for f, index in rows.by_fold(pairs.F * np.dtype(pairs.dtype).itemsize):
        Z = pairs.features(rows.scaled(index))
        Z -= shift
        (parts[f] if parts else total).add(Z, Y[index], rows.weight[index])
    for part in parts:
        total.plus(part)
    return Trial(sigma, pairs, mean, PrimalRidge(total, parts))


def inner_products(rows: Rows, pairs: PairMap, mean: np.ndarray) -> np.ndarray:
    """Inner products of the centred features of all rows, a block of columns at a time."""
    n = len(rows)
    shift = mean.astype(pairs.dtype)
    K = np.zeros((n, n))
    whole = Z_bytes = n * pairs.F * np.dtype(pairs.dtype).itemsize
    if whole <= max(1 << 28, 0.25 * available_memory()):
        Z = pairs.features(rows.scaled(slice(None)))
        Z -= shift
        step = max(1, 8192)
        for start in range(0, pairs.F, step):  # sums of float32 products stay short
            part = np.ascontiguousarray(Z[:, start : start + step])
            K += part @ part.T
        return K
    del Z_bytes
    blocks = list(rows_of(n, pairs))
    for i, left in enumerate(blocks):
        A = pairs.features(rows.scaled(left))
        A -= shift
        for right in blocks[: i + 1]:
            B = A
            if right != left:
                B = pairs.features(rows.scaled(right))
                B -= shift
            K[left, right] = A @ B.T
            K[right, left] = K[left, right].T
    return K


def rows_of(n: int, pairs: PairMap) -> list[slice]:
    """Blocks of rows whose features take a quarter of a gigabyte."""
    step = max(1, int((1 << 28) // (pairs.F * np.dtype(pairs.dtype).itemsize)))
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


# ------------------------------------------------------------- sigma and alpha
def walk(evaluate: Callable[[int], float], start: int, size: int, steps: Sequence[int] = (1, -1)) -> int:
    """Index of a local minimum of ``evaluate``, found by ``steps`` from ``start``, each as long as it helps."""
    seen: dict[int, float] = {}

    def value(k: int) -> float:
        if k not in seen:
            seen[k] = evaluate(k)
        return seen[k]

    best = start
    for step in steps:
        while 0 <= best + step < size and value(best + step) < value(best):
            best += step
    return best


def choose(
    setup: Setup, sigma: Any, alpha: Any, curvature: float
) -> tuple[Trial, float, list[Any], list[tuple[float, float, float]]]:
    """Find sigma and alpha of the squared loss by folds where they are not given.

    Both are found by walking from the middle of a grid to a minimum of the held-out squared error; each new
    sigma starts at the alpha of the one before.
    """
    total = float(setup.rows.weight.sum())
    trials: list[tuple[float, float, float]] = []
    found: dict[str, Any] = {"score": np.inf, "place": _FIRST_LAMBDA}

    def at_sigma(value: float) -> float:
        trial = prepare(setup, value)
        solutions: dict[int, Any] = {}

        def at_alpha(k: int) -> float:
            strength = total * _LAMBDAS[k] if k >= 0 else float(alpha) / curvature
            try:
                score, solutions[k] = trial.ridge.cross_validate(strength)
            except IndefiniteKernelError:  # alpha has sunk below the rounding error of float32
                return np.inf
            trials.append((value, strength, score))
            return score

        if alpha == "cv":
            place = walk(at_alpha, found["place"], len(_LAMBDAS), (2, -2))
            found["place"] = place
            strength = total * _LAMBDAS[place]
        else:
            place, strength = -1, float(alpha) / curvature
            at_alpha(place)
        score = min(score for s, _, score in trials if s == value)
        if score < found["score"]:
            found.update(score=score, trial=trial, alpha=strength, without=solutions[place])
        return score

    if sigma == "cv":
        unit = setup.rows.scaler.unit
        walk(lambda k: at_sigma(unit * _SIGMAS[k]), int(np.flatnonzero(_SIGMAS == 1.0)[0]), len(_SIGMAS))
    elif setup.rows.fold is None:
        trial = prepare(setup, float(sigma))
        return trial, float(alpha) / curvature, [], trials
    else:
        at_sigma(float(sigma))
    return found["trial"], found["alpha"], found["without"], trials


# --------------------------------------------------------------------- fitting
def fit_dense(
    setup: Setup, y: Sequence[np.ndarray], loss: Loss, sigma: Any, alpha: Any, max_iter: int
) -> Dense:
    """Choose sigma and alpha, then fit the loss, for each output ``y`` (targets 0 and 1 for classes)."""
    curvature = CURVATURE[loss.name]
    trial, strength, without, trials = choose(setup, sigma, alpha, curvature)
    solver = "dual" if isinstance(trial.ridge, DualRidge) else "primal"
    if isinstance(loss, Squared):
        W = trial.weights(setup, trial.ridge.fit(strength))
        parts = [trial.weights(setup, s) for s in without]
        return Dense(trial.sigma, strength, trial.pairs, W, parts, solver, trials)
    own = curvature * strength
    fit = _exact_loss if setup.exact(trial.pairs.F) else _iterative_loss
    W, parts, steps, good = fit(setup, trial, y, loss, own, max_iter)
    return Dense(trial.sigma, own, trial.pairs, W, parts, solver, trials, steps, good)


def _fold_weights(rows: Rows) -> list[np.ndarray]:
    """Weights of all rows, then without each fold."""
    parts = [np.where(rows.fold == f, 0.0, rows.weight) for f in range(rows.n_folds)]
    return [rows.weight, *parts]


def _exact_loss(
    setup: Setup, trial: Trial, y: Sequence[np.ndarray], loss: Loss, alpha: float, max_iter: int
) -> tuple[np.ndarray, list[np.ndarray], int, bool]:
    """Newton's method, or a quadratic programme for the hinge loss, on explicit features."""
    rows, ridge = setup.rows, trial.ridge
    back = None
    if isinstance(ridge, DualRidge):
        values, vectors = positive_spectrum(ridge.K.copy())
        kept = values > 1e-13 * np.max(values, initial=0.0)
        values, vectors = values[kept], vectors[:, kept]
        Z = vectors * np.sqrt(values)
        back = vectors / np.sqrt(values)
    else:
        Z = trial.pairs.features(rows.scaled(slice(None))) - trial.mean
    steps, good, found = 0, True, []
    for weight in _fold_weights(rows):
        kept = weight > 0
        columns = []
        for target in y:
            problem = GLMProblem(target[kept], weight[kept], np.zeros(int(kept.sum())), loss)
            fit: Any = (fit_glm if loss.smooth else fit_hinge)(Z[kept], problem, alpha, max_iter=max_iter)
            steps, good = max(steps, fit.n_iter), good and fit.converged
            columns.append(fit.delta)
        W = np.column_stack(columns)
        found.append(W if back is None else row_weights(setup, trial.pairs, trial.mean, back @ W))
    return found[0], found[1:], steps, good


def _iterative_loss(
    setup: Setup, trial: Trial, y: Sequence[np.ndarray], loss: Loss, alpha: float, max_iter: int
) -> tuple[np.ndarray, list[np.ndarray], int, bool]:
    """Preconditioned quasi-Newton steps; fits without a fold start from the fit to all rows and its factor."""
    rows, ridge, curvature = setup.rows, trial.ridge, CURVATURE[loss.name]
    ls = ridge.fit(alpha / curvature)  # where to start: scores of the squared loss, on the scale of this loss
    stretch = 2.0 if loss.name == "logistic" else 1.0
    if isinstance(ridge, DualRidge):
        K = ridge.K.copy()
        K[np.diag_indices_from(K)] += 30.0 * np.finfo(trial.pairs.dtype).eps  # before centring all were one
        B = np.tril(cholesky_in_place(K))  # features of the rows in as many dimensions as there are rows
        products = Products(lambda v: B @ v, lambda r: B.T @ r, lambda h: _weighted_gram(B, h))
        first = factor(products.gram(curvature * rows.weight), alpha)
        W = B.T @ ls.W
    else:
        features = Features(rows, trial.pairs, trial.mean)
        products = Products(features.times, features.transposed, features.gram)
        first = factor(curvature * ridge.total.centred()[0], alpha)
        W = ls.W
    found = [np.empty((len(first), len(y))) for _ in range(1 + rows.n_folds)]
    steps, good = 0, True
    for c, target in enumerate(y):
        eta = stretch * (products.times(W[:, c]) + ls.b[c])
        start = MatvecFit(stretch * W[:, c], stretch * float(ls.b[c]), eta, first)
        for f, weight in enumerate(_fold_weights(rows)):
            # the fits without a fold only serve to choose, for which a rounded kink is sharp enough
            own = _SmoothHinge(_FOLD_WIDTH) if f and isinstance(loss, Hinge) else loss
            fit = fit_matvec(products, target, weight, own, alpha, start, max_iter=max_iter, refresh=0 if f else 3)
            found[f][:, c] = fit.w
            steps, good = max(steps, fit.n_iter), good and fit.converged
            start = start if f else fit
    if isinstance(ridge, DualRidge):
        found = [
            row_weights(setup, trial.pairs, trial.mean, solve_triangular(B, v, lower=True, trans=1)) for v in found
        ]
    return found[0], found[1:], steps, good


def _weighted_gram(B: np.ndarray, h: np.ndarray) -> np.ndarray:
    mean = h @ B / h.sum()
    root = B * np.sqrt(h)[:, None]
    return root.T @ root - h.sum() * np.outer(mean, mean)
