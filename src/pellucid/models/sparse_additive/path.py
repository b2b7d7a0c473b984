"""Fits along a path of falling strengths: on all rows, on folds, and where the held-out loss is least."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.data.folds import Fold
from pellucid.losses import Loss
from pellucid.models.sparse_additive.basis import Smooth
from pellucid.models.sparse_additive.design import AdditiveDesign, column_sums, group_slices, trim
from pellucid.solvers.fold_ridge import Sums
from pellucid.solvers.sparse_glm import SparseGLM, SparseModel, SparseSquares

N_ALPHAS = 25
_PATIENCE = 4  # strengths without improvement after which a search ends
_ROUGH = 1e-5  # tolerance of fits on folds


@dataclass(frozen=True)
class HeldOut:
    """A model of the training rows of a fold, and the mean loss of its coefficients on the other rows."""

    model: SparseModel
    loss: Callable[[np.ndarray, float], float]
    weight: float


Models = tuple[list[SparseModel], list[list[HeldOut]]]
"""Models of all rows, one per column of the predictor, and the same for each fold."""


class SquaredData:
    """Squared loss: sums over the rows of each fold serve every number of functions and every strength."""

    tolerance = 1e-9  # of the fit that is kept: algebra alone

    def __init__(
        self,
        smooths: Sequence[Smooth],
        columns: Sequence[np.ndarray],
        y: np.ndarray,
        s: np.ndarray,
        folds: Sequence[Fold],
    ) -> None:
        self.smooths = smooths
        self.total = column_sums(smooths, columns, y, s)
        self.parts = []
        for train, test in folds:
            held = self._sums(columns, y, s, test)
            rest = len(train) + len(test) == len(y) and len(np.union1d(train, test)) == len(y)
            self.parts.append((self.total - held if rest else self._sums(columns, y, s, train), held))

    def _sums(self, columns: Sequence[np.ndarray], y: np.ndarray, s: np.ndarray, rows: np.ndarray) -> Sums:
        return column_sums(self.smooths, [column[rows] for column in columns], y[rows], s[rows])

    def models(self, size: int) -> Models:
        """Models with at most ``size`` functions of each numeric feature."""
        keep = np.concatenate(
            [
                np.arange(group.start, group.stop if smooth.levels else min(group.stop, group.start + size))
                for smooth, group in zip(self.smooths, group_slices(self.smooths), strict=True)
            ]
        )
        groups = group_slices(trim(self.smooths, size))
        on_folds = [
            [HeldOut(SparseSquares(train.columns(keep), groups), _error_on(held.columns(keep)), held.N)]
            for train, held in self.parts
        ]
        return [SparseSquares(self.total.columns(keep), groups)], on_folds


def _error_on(held: Sums) -> Callable[[np.ndarray, float], float]:
    def mean_squared_error(beta: np.ndarray, b: float) -> float:
        return max(float(held.square_error(beta[:, None], np.array([b]))[0]), 0.0) / held.N

    return mean_squared_error


class LossData:
    """Any smooth loss, by passes over the rows; several targets 0 and 1 where there are several classes."""

    tolerance = 1e-7  # of the fit that is kept

    def __init__(
        self,
        design: AdditiveDesign,
        targets: Sequence[np.ndarray],
        s: np.ndarray,
        loss: Loss,
        folds: Sequence[Fold],
    ) -> None:
        self.design, self.targets, self.s, self.loss, self.folds = design, targets, s, loss, folds

    def models(self, size: int) -> Models:
        """Models with at most ``size`` functions of each numeric feature."""
        design = self.design.trimmed(size)
        on_folds = [[self._held_out(design, y, *fold) for y in self.targets] for fold in self.folds]
        return [SparseGLM(design, design.groups, y, self.s, self.loss) for y in self.targets], on_folds

    def _held_out(
        self, design: AdditiveDesign, y: np.ndarray, train: np.ndarray, test: np.ndarray
    ) -> HeldOut:
        part, held, s = design.rows(train), design.rows(test), self.s[test]

        def mean_loss(beta: np.ndarray, b: float) -> float:
            return float(s @ self.loss.value(y[test], held.apply(beta) + b)) / float(s.sum())

        model = SparseGLM(part, part.groups, y[train], self.s[train], self.loss)
        return HeldOut(model, mean_loss, float(s.sum()))


@dataclass(frozen=True)
class Search:
    """Held-out loss along a path: mean over folds and its standard error, NaN where the search had ended."""

    error: np.ndarray
    se: np.ndarray

    @property
    def best(self) -> int:
        """Position of the least held-out loss; the strongest penalty among equals."""
        return int(np.nanargmin(self.error))


def search(folds: Sequence[Sequence[HeldOut]], alphas: np.ndarray) -> Search:
    """Lower the strength on every fold, side by side, until the held-out loss has stopped falling.

    Each fold is a list of models, one per class where there are several; their losses add up.
    """
    weight = np.array([fold[0].weight for fold in folds])
    weight = weight / weight.sum()
    error, se = np.full(len(alphas), np.nan), np.full(len(alphas), np.nan)
    for k, alpha in enumerate(alphas):
        losses = np.zeros(len(folds))
        for i, fold in enumerate(folds):
            for part in fold:
                part.model.solve(alpha, tol=_ROUGH)
                losses[i] += part.loss(part.model.coef, part.model.intercept)
        error[k] = weight @ losses
        se[k] = np.sqrt(weight**2 @ (losses - error[k]) ** 2)
        if k - int(np.nanargmin(error)) >= _PATIENCE:
            break
    return Search(error, se)


def default_alphas(top: float) -> np.ndarray:
    """Strengths from the one that leaves only the intercept down to a thousandth of it."""
    return (top if top > 0 else 1.0) * np.geomspace(1.0, 1e-3, N_ALPHAS)
