r"""Length-scales for kernels that were named by a string, found by the criterion that chooses alpha.

Each column's length-scale is its standard deviation times one common factor, so that units do not matter.
Factor and ridge strength live on a grid of logarithms, :math:`(2^{j/2}, 10^{k/4})`. A coarse sweep over a
sample of the rows, one decomposition per factor, finds where to start; a pattern search on all rows, one
Cholesky factor per step, finds the best point of the grid. A grid rather than a continuum makes the answer
independent of rounding: the same for permuted rows, other machines, and weights in place of repeated rows.
"""

import warnings
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from pellucid.effects import AlphaPath
from pellucid.exceptions import IllConditionedWarning, IndefiniteKernelError
from pellucid.kernels import Kernel
from pellucid.kernels.convert import Alias
from pellucid.linalg import ColumnSpace, column_moments, column_scale, is_sparse, require_memory
from pellucid.models.kernel_fit.ridge_fit import gram, walk_path
from pellucid.models.kernel_fit.ridge_types import Score, Settings
from pellucid.solvers import CholeskySolver, SpectralSolver

_SAMPLE = 600  # rows of the coarse sweep
SEARCH_ROWS = 4000  # up to here the search sees all rows, beyond a sample of this size
_FULL_PATH = 2000  # up to here the whole path over alphas is walked at the end, one decomposition
_FACTORS = np.arange(-8, 9, 2)  # exponents j of the coarse sweep
# A length-scale 20 times from where it started must lower the error by one per cent to be worth it. Where the
# data cannot tell, as with a nearly linear function, length-scale and alpha would otherwise drift together.
PULL = 2e-3
_LARGEST = 16  # largest exponent k
_WIDE = 8192  # columns beyond which the data are read in blocks


@dataclass(frozen=True)
class Scaling:
    """A named kernel with the scales and centres of the columns that it is to see."""

    alias: Alias
    scale: np.ndarray  # (p,): spread of the columns, grown with their number
    center: np.ndarray  # (p,)

    @classmethod
    def of(cls, alias: Alias, X: np.ndarray, weight: np.ndarray) -> Self:
        """Take scales and centres from the data; very wide data are read by column blocks."""
        if X.shape[1] > _WIDE or is_sparse(X):
            center, spread = column_moments(X, weight)
        else:
            spread = column_scale(X, weight)
            first = np.asarray(X[0], dtype=float)  # differences from it are exactly zero in a constant column
            center = first + weight / weight.sum() @ (X - first)
        return cls(alias, spread * X.shape[1] ** alias.growth, center)

    def kernel(self, factor: float = 1.0) -> Kernel:
        """Return the kernel with length-scales ``factor`` times the scales."""
        return self.alias.build(factor * self.scale, self.center)

    def rotated(self, X: np.ndarray, weight: np.ndarray) -> tuple[Self, np.ndarray]:
        """Return as many columns as rows, or fewer, that have the same distances and products, for a search.

        Scaled rows may be rotated at will before a kernel that sees only distances and products. With more
        columns than rows, few coordinates are enough, and the data need not be read again for each factor.
        """
        if not self.alias.rotatable or X.shape[1] <= max(len(X), 256):
            return self, X
        space = ColumnSpace.of(X, weight, scale=self.scale)
        rows = space.basis * space.singular
        return replace(self, scale=np.ones(rows.shape[1]), center=np.zeros(rows.shape[1])), rows


def choose_length_scale(
    alias: Alias, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, settings: Settings, score: Score | None
) -> tuple[Kernel, AlphaPath | None]:
    """Return the kernel with the best length-scales, and the path over alphas where it is already known.

    The path is ``None`` when walking all of it is cheap, so that the caller does.
    """
    scaling = Scaling.of(alias, X, weight)
    if not alias.searched or len(Y) < 3 or not np.any(np.var(Y, axis=0) > 0):
        return scaling.kernel(), None
    if len(Y) > SEARCH_ROWS:
        some = np.sort(np.random.default_rng(0).choice(len(Y), SEARCH_ROWS, replace=False))
        return _on_sample(scaling, X[some], Y[some], weight[some], settings), None
    inner, rows = scaling.rotated(X, weight)
    j, k = _coarse(inner, rows, Y, weight, settings)
    search = _PatternSearch(inner, rows, Y, weight, settings, score)
    j, k = search.run(j, k)
    kernel = scaling.kernel(2.0 ** (j / 2))
    walk_all = len(Y) <= _FULL_PATH or settings.per_output or settings.alphas is not None
    if settings.criterion is None or walk_all:
        return kernel, None
    return kernel, search.path(j)


def _on_sample(
    scaling: Scaling, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, settings: Settings
) -> Kernel:
    """The kernel with length-scales that suit some of the rows; scales are those of all of them."""
    inner, rows = scaling.rotated(X, weight)
    search = _PatternSearch(inner, rows, Y, weight, settings, None)
    return scaling.kernel(2.0 ** (search.run(*_coarse(inner, rows, Y, weight, settings))[0] / 2))


def _coarse(
    scaling: Scaling, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, settings: Settings
) -> tuple[int, int]:
    rows = np.arange(len(Y))
    if len(rows) > _SAMPLE:  # always the same rows for the same data
        rows = np.sort(np.random.default_rng(0).choice(rows, _SAMPLE, replace=False))
    X, Y, weight = X[rows], Y[rows], weight[rows]
    best = (np.inf, 0, 0)
    for j in _FACTORS[::-1]:
        K = gram(scaling.kernel(2.0 ** (j / 2)), X)
        strengths = np.array([0]) if settings.criterion is None else np.arange(_smallest(settings), 13, 2)
        alphas = _strengths(settings, _diagonal_unit(K, weight), strengths)
        solver = SpectralSolver.start(K, weight, fit_intercept=settings.fit_intercept)
        path = walk_path(solver, Y, alphas, None)
        values = _scores(path, settings, Y, weight, int(j))
        for value, k in zip(values, strengths, strict=True):
            best = min(best, (float(value), int(j), int(k)))
    return best[1], best[2]


@dataclass
class _PatternSearch:
    """Best point of the grid (j, k), by steps to better neighbours and ever smaller steps."""

    scaling: Scaling
    X: np.ndarray
    Y: np.ndarray
    weight: np.ndarray
    settings: Settings
    score: Score | None
    values: dict[tuple[int, int], float] = field(default_factory=dict)
    paths: dict[tuple[int, int], AlphaPath] = field(default_factory=dict)
    _solver: tuple[int, CholeskySolver, float] | None = None  # of the factor seen last

    def run(self, j: int, k: int) -> tuple[int, int]:
        fixed = self.settings.criterion is None
        for step_j, step_k in ((2, 4), (1, 2), (1, 1)):
            while True:
                near = [(j, k)]
                if not fixed:
                    near += [(j, k + step_k), (j, k - step_k)]
                near += [(j + step_j, k), (j - step_j, k)]
                best = min(near, key=lambda point: (self.value(*point), near.index(point)))
                if best == (j, k):
                    break
                j, k = best
        return j, k

    def path(self, j: int) -> AlphaPath:
        """The path over the alphas that were visited at factor ``j``."""
        return AlphaPath.join([path for (at, _), path in self.paths.items() if at == j])

    def value(self, j: int, k: int) -> float:
        if (j, k) not in self.values:
            self.values[j, k] = self._evaluate(j, k)
        return self.values[j, k]

    def _evaluate(self, j: int, k: int) -> float:
        if abs(j) > 16 or not _smallest(self.settings) <= k <= _LARGEST:
            return np.inf
        solver, unit = self._start(j)
        alphas = _strengths(self.settings, unit, np.array([k]))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", IllConditionedWarning)
                fits = solver.fits(self.Y, alphas)
        except (IllConditionedWarning, IndefiniteKernelError):  # too close to singular to be worth having
            return np.inf
        path = AlphaPath.of(fits, self.score)
        self.paths[j, k] = path
        return float(_scores(path, self.settings, self.Y, self.weight, j)[0])

    def _start(self, j: int) -> tuple[CholeskySolver, float]:
        if self._solver is None or self._solver[0] != j:
            self._solver = None  # free the old matrix before the new one is made
            require_memory(len(self.Y), 2.1)
            K = gram(self.scaling.kernel(2.0 ** (j / 2)), self.X)
            unit = _diagonal_unit(K, self.weight)
            solver = CholeskySolver.start(K, self.weight, fit_intercept=self.settings.fit_intercept)
            self._solver = (j, solver, unit)
        return self._solver[1], self._solver[2]


def _scores(path: AlphaPath, settings: Settings, Y: np.ndarray, weight: np.ndarray, j: int) -> np.ndarray:
    """Criterion along a path (errors as logarithms), plus a weak pull to the spread of the data (j = 0)."""
    criterion = settings.criterion or "loo"
    values = path.criterion(criterion, Y, weight)
    if isinstance(settings.alpha, np.ndarray):  # given: each output has its own
        values = values[np.searchsorted(path.alphas, settings.alpha), np.arange(Y.shape[1])][None, :]
    values = values.mean(axis=1)
    if criterion != "ml":
        values = np.log(np.maximum(values, np.finfo(float).tiny))
    # differences beyond the eighth digit are left to rounding error, which must not choose
    return np.round(values + 0.5 * PULL * (j * np.log(2.0) / 2.0) ** 2, 8)


def _strengths(settings: Settings, unit: float, exponents: np.ndarray) -> np.ndarray:
    """Ridge strengths for exponents k, or those that are given."""
    if isinstance(settings.alpha, np.ndarray):
        return np.unique(settings.alpha)
    return unit * 10.0 ** (exponents / 4)


def _smallest(settings: Settings) -> int:
    """Smallest exponent k."""
    return round(4 * np.log10(settings.floor))


def _diagonal_unit(K: np.ndarray, weight: np.ndarray) -> float:
    unit = float(weight @ np.diagonal(K) / weight.sum())
    return unit if unit > 0 else 1.0
