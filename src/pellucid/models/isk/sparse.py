"""Phase 2 of ISK: an elastic net on the components of the dense model, its strength chosen by folds.

To hold a fold out honestly, its components must come from a dense model that has not seen it: those of fold f
are made with the weights that phase 1 found without f, for all rows, and standardised on the rows outside f.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.effects import SparsePath
from pellucid.features.pairs import PairMap
from pellucid.losses import Hinge, Loss, Squared
from pellucid.models.common.terms import squared_in
from pellucid.models.isk.dense import Dense
from pellucid.models.isk.rows import Rows
from pellucid.solvers.elastic_net import SparseFit, SparseProblem, elastic_net_path, quadratic_path
from pellucid.solvers.fold_ridge import Sums
from pellucid.solvers.smooth_hinge import _SmoothHinge

_SMOOTH = 0.02  # width of the parabola that rounds the kink of the hinge loss off,
_SMOOTH_PATH = 0.2  # and its width along the path
_ROUGH = 1e-5  # gain at which fits that only serve to choose stop
_BEYOND = 2  # steps by which a path goes on beyond its minimum
_EXACT = 2e6  # components up to which float64 is used for losses other than the squared one


@dataclass(frozen=True)
class Sparse:
    """What phase 2 found, for each output: coefficients of standardised components, intercepts, scaling."""

    beta: np.ndarray  # (P, q)
    intercept: np.ndarray  # (q,)
    mean: np.ndarray  # (P, q)
    sd: np.ndarray  # (P, q)
    sparse_alpha: float
    l1_ratio: float
    path: SparsePath  # with the names of terms left to the model


@dataclass
class Task:
    """Rows, targets and the dense model; ``y`` are numbers in some unit, or zeros and ones for each class."""

    rows: Rows
    y: Sequence[np.ndarray]
    loss: Loss
    dense: Dense
    unit: float = 1.0

    @property
    def pairs(self) -> PairMap:
        """The feature map."""
        return self.dense.pairs


def fit_sparse(task: Task, sparse_alpha: Any, l1_ratio: Any) -> Sparse:
    r"""Choose what is to be chosen, and fit all rows.

    Targets come divided by ``unit``, :math:`u`; parameters and results are those of the targets themselves.
    There the penalty is :math:`\lambda\rho|\beta| + \lambda(1 - \rho)\beta^2/2`, and for coefficients in the
    unit :math:`(\lambda\rho/u)|\beta| + \lambda(1 - \rho)\beta^2/2`: a ratio :math:`\rho'` is chosen, and
    strengths are :math:`\lambda = \lambda' (\rho' u + 1 - \rho')`.
    """
    data = _SquaredData(task) if isinstance(task.loss, Squared) else _GeneralData(task)
    u, (count, depth) = task.unit, data.grid
    ratios = data.ratios() if isinstance(l1_ratio, str) else [_ratio_in(float(l1_ratio), u)]
    chosen = isinstance(sparse_alpha, str)
    grids = {}
    for ratio in ratios:
        top = max(data.largest(ratio), 1e-12)  # drops every term, up to rounding
        given = 0.0 if chosen else float(sparse_alpha) / (ratio * u + (1.0 - ratio))
        grids[ratio] = np.geomspace(top, depth * top, count) if chosen else np.array([given])
    errors = data.held_out(grids) if task.rows.n_folds and (chosen or len(ratios) > 1) else {}
    best = min(errors, key=lambda r: float(np.nanmin(errors[r]))) if errors else ratios[0]
    grid, error, place = grids[best], None, 0
    if best in errors:  # terms are counted as far as the search went
        tried = np.isfinite(errors[best])
        grid, error = grid[tried], squared_in(errors[best][tried], u)
        place = int(np.argmin(errors[best][tried]))
    betas, intercepts = data.path(grid, best)
    beta, intercept = betas[place], intercepts[place]
    if isinstance(data, _GeneralData) and isinstance(task.loss, Hinge):
        beta, intercept = data.sharpen(beta, intercept, float(grid[place]), best)
    stretch = best * u + (1.0 - best)
    path = SparsePath(grid * stretch, np.abs(betas).max(axis=2) * u, (), place, error)
    return Sparse(
        beta * u,
        intercept * u,
        data.mean,
        data.sd,
        float(grid[place] * stretch),
        float(l1_ratio) if not isinstance(l1_ratio, str) else best * u / stretch,
        path,
    )


def _ratio_in(ratio: float, unit: float) -> float:
    """Ratio of the same penalty for coefficients in another unit."""
    return ratio / unit / (ratio / unit + (1.0 - ratio))


def standardise(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Standard deviations; infinite where a component is constant, so that it stays out of the model."""
    size = np.maximum(np.max(variance, initial=0.0), 1e-300)
    return np.where(variance > 1e-14 * size + 1e-26 * mean**2, np.sqrt(np.maximum(variance, 0.0)), np.inf)


# ---------------------------------------------------------------- squared loss
class _SquaredData:
    """Regression: sums over components are all that is needed, so rows are seen once, block by block."""

    grid = (30, 1e-4)  # strengths, and the smallest of them relative to the largest

    def __init__(self, task: Task) -> None:
        dense, rows, pairs = task.dense, task.rows, task.pairs
        P = pairs.D + pairs.K
        y = task.y[0][:, None]
        self.total = Sums.zeros(P, 1)
        self.train = [Sums.zeros(P, 1) for _ in dense.without]
        self.test = [Sums.zeros(P, 1) for _ in dense.without]
        for f, index in rows.by_fold(2.0 * pairs.row_bytes + 16.0 * P):
            factors, s = pairs.factors(rows.scaled(index)), rows.weight[index]
            self.total.add(pairs.components(factors, dense.W[:, 0]), y[index], s)
            for g, W in enumerate(dense.without):
                side = self.test if g == f else self.train
                side[g].add(pairs.components(factors, W[:, 0]), y[index], s)
        mean, self.Q, self.q, self.square, sd = _moments(self.total)
        self.mean, self.sd = mean[:, None], sd[:, None]

    def ratios(self) -> list[float]:
        """Candidates for targets of unit variance, so that they do not depend on the unit of the target."""
        spread = float(np.sqrt(self.square)) or 1.0
        return [_ratio_in(ratio, 1.0 / spread) for ratio in (0.5, 0.9, 1.0)]

    def largest(self, ratio: float) -> float:
        return float(np.max(np.abs(self.q), initial=0.0)) / max(ratio, 1e-3)

    def held_out(self, grids: dict[float, np.ndarray]) -> dict[float, np.ndarray]:
        errors = {ratio: np.zeros(len(grid)) for ratio, grid in grids.items()}
        for train, test in zip(self.train, self.test, strict=True):
            _, Q, q, square, sd = _moments(train)
            for ratio, grid in grids.items():
                for j, beta in enumerate(quadratic_path(Q, q, square, grid, ratio)):
                    w = (beta / sd)[:, None]
                    errors[ratio][j] += float(test.square_error(w, train.intercept(w))[0])
        return {ratio: error / self.total.N for ratio, error in errors.items()}

    def path(self, grid: np.ndarray, ratio: float) -> tuple[np.ndarray, np.ndarray]:
        betas = quadratic_path(self.Q, self.q, self.square, grid, ratio)
        return betas[:, :, None], np.full((len(grid), 1), self.total.y[0] / self.total.N)


def _moments(sums: Sums) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, np.ndarray]:
    """Mean, correlations, correlation with the target (times its spread), variance of the target, spread."""
    G, c = sums.centred()
    mean = sums.z / sums.N
    sd = standardise(mean, np.diagonal(G) / sums.N)
    square = max(float(sums.yy[0] / sums.N - (sums.y[0] / sums.N) ** 2), 0.0)
    return mean, G / np.outer(sd, sd) / sums.N, c[:, 0] / sd / sums.N, square, sd


# ---------------------------------------------------------------- other losses
class _GeneralData:
    """Classes: the components of one class and one fold are held at a time."""

    grid = (10, 1e-3)

    def __init__(self, task: Task) -> None:
        self.task = task
        self.loss = _SmoothHinge(_SMOOTH_PATH) if isinstance(task.loss, Hinge) else task.loss
        P, q = task.pairs.D + task.pairs.K, len(task.y)
        self.mean, self.sd = np.zeros((P, q)), np.ones((P, q))
        self._kept: dict[int, SparseProblem] = {}
        for c in range(q):
            self._whole(c)

    def ratios(self) -> list[float]:
        return [0.5, 1.0]

    def _whole(self, c: int) -> SparseProblem:
        """The problem of one class on all rows; that of a single class is kept."""
        if c in self._kept:
            return self._kept[c]
        weight = self.task.rows.weight
        X = self._components(self.task.dense.W[:, c])
        self.mean[:, c], self.sd[:, c] = _standardise_in_place(X, weight)
        problem = SparseProblem(X, self.task.y[c], weight / weight.sum(), self.loss)
        if len(self.task.y) == 1:
            self._kept[c] = problem
        return problem

    def _components(self, w: np.ndarray) -> np.ndarray:
        rows, pairs = self.task.rows, self.task.pairs
        P = pairs.D + pairs.K
        X = np.empty((len(rows), P), dtype=np.float64 if len(rows) * P <= _EXACT else np.float32)
        for _, index in rows.by_fold(2.0 * pairs.row_bytes + 16.0 * P):
            X[index] = pairs.components(pairs.factors(rows.scaled(index)), w)
        return X

    def largest(self, ratio: float) -> float:
        return max(self._whole(c).largest(ratio) for c in range(len(self.task.y)))

    def held_out(self, grids: dict[float, np.ndarray]) -> dict[float, np.ndarray]:
        """Held-out losses; NaN for strengths far below the best of the first fold, which are not tried."""
        task, rows = self.task, self.task.rows
        errors = {ratio: np.zeros(len(grid)) for ratio, grid in grids.items()}
        for f, W in enumerate(task.dense.without):
            held = rows.fold == f
            for c, y in enumerate(task.y):
                X = self._components(W[:, c])
                _standardise_in_place(X, np.where(held, 0.0, rows.weight))
                s = rows.weight[~held] / rows.weight[~held].sum()
                train = SparseProblem(X[~held], y[~held], s, self.loss)
                test = X[held].astype(float)
                for ratio, grid in grids.items():
                    left = grid[np.isfinite(errors[ratio])]
                    for j, fit in enumerate(elastic_net_path(train, left, ratio, tolerance=_ROUGH)):
                        eta = test @ fit.coef + fit.intercept
                        errors[ratio][j] += float(rows.weight[held] @ task.loss.value(y[held], eta))
                        if f == 0 and len(task.y) == 1 and j - np.argmin(errors[ratio][: j + 1]) >= _BEYOND:
                            errors[ratio][j + 1 :] = np.nan
                            break
        return {ratio: error / float(rows.weight.sum()) for ratio, error in errors.items()}

    def path(self, grid: np.ndarray, ratio: float) -> tuple[np.ndarray, np.ndarray]:
        paths = [list(elastic_net_path(self._whole(c), grid, ratio)) for c in range(len(self.task.y))]
        betas = np.stack([[fit.coef for fit in path] for path in paths], axis=2)
        return betas, np.array([[fit.intercept for fit in path] for path in paths]).T

    def sharpen(
        self, beta: np.ndarray, intercept: np.ndarray, strength: float, ratio: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sharpen the kink of the hinge loss at the strength that was chosen."""
        fits = []
        for c in range(len(self.task.y)):
            problem = replace(self._whole(c), loss=_SmoothHinge(_SMOOTH))
            start = SparseFit(beta[:, c], float(intercept[c]))
            fits.append(next(elastic_net_path(problem, [strength], ratio, start=start, tolerance=1e-8)))
        return np.column_stack([fit.coef for fit in fits]), np.array([fit.intercept for fit in fits])


def _standardise_in_place(X: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centre and scale columns on the rows of positive weight; means and standard deviations."""
    share = weight / weight.sum()
    mean = np.asarray(share.astype(X.dtype) @ X, dtype=float)
    X -= mean.astype(X.dtype)
    rest = np.asarray(share.astype(X.dtype) @ X, dtype=float)  # what rounding left of the mean
    variance = np.einsum("n,np,np->p", share.astype(X.dtype), X, X).astype(float) - rest**2
    sd = standardise(mean, variance)
    X /= sd.astype(X.dtype)
    return mean, sd
