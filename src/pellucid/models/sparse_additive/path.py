"""Walking down a path of strengths, on all rows and on folds, and choosing where to stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pellucid.losses import Loss
from pellucid.models.sparse_additive.design import AdditiveDesign, Moments
from pellucid.solvers.group_lasso import GroupLasso, strongest
from pellucid.solvers.sparse_glm import SparseGLM

N_ALPHAS = 25
_PATIENCE = 4  # strengths without improvement after which a search ends
_ROUGH = 1e-5  # tolerance of fits on folds


class Walker(Protocol):
    """A model that moves from one strength to the next, each time from where it stands."""

    coef: np.ndarray
    intercept: float
    violation: float

    def strongest(self) -> float:
        """Return the least strength at which only the intercept is left."""

    def move(self, alpha: float, tol: float) -> None:
        """Fit at this strength."""


class SquaredWalker:
    """Squared loss, from moments alone."""

    def __init__(self, train: Moments, groups: Sequence[slice]) -> None:
        self.train, self.groups = train, groups
        G, self.c = train.centred()
        self.lasso = GroupLasso(G, groups)
        self.coef = np.zeros(len(self.c))
        self.intercept = train.intercept(self.coef)
        self.violation = 0.0

    def strongest(self) -> float:
        """Return the least strength at which only the intercept is left."""
        return strongest(self.c, self.groups)

    def move(self, alpha: float, tol: float) -> None:
        """Fit at this strength."""
        fit = self.lasso.solve(self.c, alpha, self.coef, tol=tol)
        self.coef, self.violation = fit.coef, fit.violation / max(self.strongest(), 1e-300)
        self.intercept = self.train.intercept(self.coef)


class LossWalker:
    """Any smooth loss, by passes over the rows."""

    def __init__(self, design: AdditiveDesign, y: np.ndarray, weight: np.ndarray, loss: Loss) -> None:
        self.problem = SparseGLM(design, design.groups, y, weight, loss)
        self.state = self.problem.null()
        self.coef, self.intercept, self.violation = self.state.beta, self.state.intercept, 0.0

    def strongest(self) -> float:
        """Return the least strength at which only the intercept is left."""
        return self.problem.strongest()

    def move(self, alpha: float, tol: float) -> None:
        """Fit at this strength."""
        self.state = self.problem.solve(alpha, self.state, tol=tol)
        self.coef, self.intercept = self.state.beta, self.state.intercept
        self.violation = self.state.violation


@dataclass(frozen=True)
class Fold:
    """A walker on the training rows of a fold, and the loss of what it found on the other rows."""

    walker: Walker
    held_out: Callable[[np.ndarray, float], float]
    weight: float


@dataclass(frozen=True)
class Search:
    """Held-out loss along a path: mean over folds and its standard error, NaN where the search had ended."""

    error: np.ndarray
    se: np.ndarray

    @property
    def best(self) -> int:
        """Position of the least held-out loss; the strongest penalty among equals."""
        return int(np.nanargmin(self.error))


def search(folds: Sequence[Sequence[Fold]], alphas: np.ndarray) -> Search:
    """Walk down on every fold, side by side, until the held-out loss has stopped falling.

    Each fold is a list of walkers, one per class where there are several; their losses add up.
    """
    weight = np.array([fold[0].weight for fold in folds])
    weight = weight / weight.sum()
    error, se = np.full(len(alphas), np.nan), np.full(len(alphas), np.nan)
    for k, alpha in enumerate(alphas):
        losses = np.zeros(len(folds))
        for i, fold in enumerate(folds):
            for part in fold:
                part.walker.move(alpha, _ROUGH)
                losses[i] += part.held_out(part.walker.coef, part.walker.intercept)
        error[k] = weight @ losses
        se[k] = np.sqrt(weight**2 @ (losses - error[k]) ** 2)
        if k - int(np.nanargmin(error)) >= _PATIENCE:
            break
    return Search(error, se)


def default_alphas(top: float) -> np.ndarray:
    """Strengths from the one that leaves only the intercept down to a thousandth of it."""
    return (top if top > 0 else 1.0) * np.geomspace(1.0, 1e-3, N_ALPHAS)
