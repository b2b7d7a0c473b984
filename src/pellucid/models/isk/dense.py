"""Phase 1 of ISK: the dense model on all pairwise features, and the choice of sigma and alpha by folds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.exceptions import IllConditionedWarning, IndefiniteKernelError
from pellucid.features.pairs import PairMap
from pellucid.losses import Loss, Squared
from pellucid.models.isk.loss_fit import fit_by_products, fit_exactly
from pellucid.models.isk.trial import CURVATURE, Setup, Trial, prepare
from pellucid.solvers.fold_ridge import DualRidge

_SIGMAS = 2.0 ** np.arange(-4, 6)  # in units of the spread of a scaled column
_LAMBDAS = 10.0 ** np.arange(-8.0, 0.5, 0.5)  # alpha per row
_FIRST_LAMBDA = 4  # where the search starts: 1e-6


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


# ------------------------------------------------------------- sigma and alpha
def walk(evaluate: Callable[[int], float], start: int, size: int, steps: Sequence[int] = (1, -1)) -> int:
    """Index of a local minimum of ``evaluate``, found by ``steps``, each as long as it helps."""
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
                with warnings.catch_warnings():
                    warnings.simplefilter("error", IllConditionedWarning)
                    score, solutions[k] = trial.ridge.cross_validate(strength)
            except (IndefiniteKernelError, IllConditionedWarning):  # alpha has sunk below rounding error
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
        score = min((score for s, _, score in trials if s == value), default=np.inf)
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
    if "trial" not in found:
        raise ValueError(
            f"alpha={alpha} is below rounding error of the features: pass a larger one, or 'cv'."
        )
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
    fit = fit_exactly if setup.exact(trial.pairs.F) else fit_by_products
    W, parts, steps, good = fit(setup, trial, y, loss, own, max_iter)
    return Dense(trial.sigma, own, trial.pairs, W, parts, solver, trials, steps, good)
