"""Phase 1 of ISK: the dense model on all pairwise features, and the choice of sigma and alpha by folds."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from pellucid._progress import Watch
from pellucid.exceptions import IllConditionedWarning, IndefiniteKernelError
from pellucid.features.pairs import PairMap
from pellucid.losses import Loss, Squared
from pellucid.models.isk.loss_fit import fit_by_products, fit_exactly
from pellucid.models.isk.ridge import CURVATURE, RidgeAtSigma, Setup, ridge_at
from pellucid.solvers.fold_ridge import DualRidge, Solution

_SIGMAS = 2.0 ** np.arange(-4, 6)  # in units of the spread of a scaled column
MOST = len(_SIGMAS)  # values of sigma that are tried, at most
_LAMBDAS = 10.0 ** np.arange(-8.0, 0.5, 0.5)  # alpha per row
_FIRST_LAMBDA = 4  # where the search starts: 1e-6
_FAR = 10.0  # mean weight beyond which weights are to blame where alpha is too small


@dataclass(frozen=True)
class Dense:
    """What phase 1 found: parameters, weights of the features for each output, fits without each fold."""

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
class Choice:
    """The best sigma and alpha so far, with the fits without each fold, and all that was tried."""

    alpha: float
    at: RidgeAtSigma | None = None
    error: float = np.inf
    without: Sequence[Solution] = ()
    trials: list[tuple[float, float, float]] = field(default_factory=list)


def descend(
    evaluate: Callable[[int], float], start: int, size: int, steps: Sequence[int] = (1, -1)
) -> tuple[int, float]:
    """Local minimum of ``evaluate`` below ``size`` and its value, by ``steps`` taken as long as they help."""
    value = cache(evaluate)
    best = start
    for step in steps:
        while 0 <= best + step < size and value(best + step) < value(best):
            best += step
    return best, value(best)


def choose(setup: Setup, sigma: Any, alpha: Any, curvature: float, watch: Watch) -> Choice:
    """Find sigma and alpha of the squared loss by folds where they are not given.

    Both are found by going from the middle of a grid to a minimum of the held-out squared error; each new
    sigma starts at the alpha of the one before. No sigma is begun when the time of the watch is up.
    """
    total = float(setup.rows.weight.sum())
    alphas = total * _LAMBDAS if alpha == "cv" else np.array([float(alpha) / curvature])
    message = (
        f"alpha={alpha} is below the rounding error of features whose weights sum to {total:.3g}: pass a "
        f"larger one or 'cv', and weights='precision' where weights only compare rows."
    )
    if total > _FAR * len(setup.rows) and alphas[-1] < np.finfo(float).eps * total:
        raise ValueError(message)
    best, place = Choice(float(alphas[0])), _FIRST_LAMBDA if alpha == "cv" else 0
    if setup.rows.fold is None:
        best.at = ridge_at(setup, float(sigma))
        return best

    def error_at(value: float) -> float:
        nonlocal place
        if watch.cut:
            return np.inf
        at, fits = ridge_at(setup, value), {}

        def held_out(k: int) -> float:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error", IllConditionedWarning)
                    error, fits[k] = at.ridge.cross_validate(float(alphas[k]))
            except (IndefiniteKernelError, IllConditionedWarning):  # alpha has sunk below rounding error
                return np.inf
            best.trials.append((value, float(alphas[k]), error))
            return error

        place, error = descend(held_out, place, len(alphas), (2, -2))
        if error < best.error:
            best.alpha, best.at, best.error, best.without = float(alphas[place]), at, error, fits[place]
        watch.step(f"sigma {value:.3g}")
        return error

    if sigma == "cv":
        unit = setup.rows.scaler.unit
        descend(lambda k: error_at(unit * _SIGMAS[k]), int(np.flatnonzero(_SIGMAS == 1.0)[0]), len(_SIGMAS))
    else:
        error_at(float(sigma))
    if best.at is None:
        raise ValueError(message)
    return best


def fit_dense(
    setup: Setup, y: Sequence[np.ndarray], loss: Loss, sigma: Any, alpha: Any, max_iter: int, watch: Watch
) -> Dense:
    """Choose sigma and alpha, then fit the loss, for each output ``y`` (targets 0 and 1 for classes)."""
    curvature = CURVATURE[loss.name]
    best = choose(setup, sigma, alpha, curvature, watch)
    assert best.at is not None
    at, alpha = best.at, curvature * best.alpha
    solver = "dual" if isinstance(at.ridge, DualRidge) else "primal"
    if isinstance(loss, Squared):
        W, *without = (at.weights(s) for s in (at.ridge.fit(alpha), *best.without))
        return Dense(at.sigma, alpha, at.pairs, W, without, solver, best.trials)
    fit = fit_exactly if setup.exact() else fit_by_products
    (W, *without), steps, converged = fit(at, y, loss, alpha, max_iter)
    return Dense(at.sigma, alpha, at.pairs, W, without, solver, best.trials, steps, converged)
