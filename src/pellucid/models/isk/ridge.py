"""Phase 1 of ISK at one sigma: what the squared loss needs of the rows, for every alpha and every fold."""

from dataclasses import dataclass

import numpy as np

from pellucid.exceptions import NotEnoughMemoryError
from pellucid.features.pairs import PairMap
from pellucid.linalg import available_memory, format_bytes, row_blocks
from pellucid.models.isk.rows import Rows
from pellucid.solvers.fold_ridge import DualRidge, PrimalRidge, Solution, Sums

_WHOLE = 1 << 28  # bytes of features held at once where memory is short
_SHORT = 8192  # features whose products are summed in float32 before they join a sum in float64
_EXACT = 3e9  # multiplications up to which features are float64 and every fit is exact
# Near the decision boundary a loss of ±1 targets looks like a multiple of the squared loss; the same multiple
# of alpha gives a fit of about the same smoothness. (Logistic: ¼ of the squared loss of scores twice as big.)
CURVATURE = {"squared": 1.0, "logistic": 0.25, "squared_hinge": 2.0, "hinge": 0.5}


@dataclass
class Setup:
    """Everything that stays the same while sigma and alpha vary."""

    rows: Rows
    targets: np.ndarray  # (n, q): centred numbers, or ±1 for classes
    omega: np.ndarray  # (d/2, 2) at sigma = 1

    def n_features(self) -> int:
        """Number F of Fourier features."""
        D = self.rows.X.shape[1]
        return D * (D - 1) * len(self.omega)

    def exact(self) -> bool:
        """Whether the problem is small enough for float64 throughout."""
        n, F = len(self.rows), self.n_features()
        return n * min(n, F) * F <= _EXACT

    def pair_map(self, sigma: float) -> PairMap:
        """The feature map for one sigma."""
        return PairMap(self.omega / sigma, self.rows.X.shape[1], np.float64 if self.exact() else np.float32)

    def is_dual(self, F: int) -> bool:
        """Whether fewer rows than features make the matrix of inner products of rows the smaller one."""
        return len(self.rows) < F


def check_memory(setup: Setup, *, products: bool = False) -> None:
    """Raise before anything large is allocated if the matrices of a phase would not fit.

    ``products`` says that phase 2 holds products of the components: of all rows, and in and out of each fold.
    """
    D, m, n = setup.rows.X.shape[1], len(setup.omega), len(setup.rows)
    size, have = 8.0 if setup.exact() else 4.0, available_memory()

    def first(columns: int, m: int) -> float:
        F = columns * (columns - 1) * m
        if setup.is_dual(F):
            return 8.0 * 3 * n**2 + size * 2.0 * F * min(n, 4096)
        return F**2 * (8.0 * 4 + size * setup.rows.n_folds * 2)

    def second(columns: int) -> float:
        P = columns * (columns + 1) // 2
        return 8.0 * P**2 * (5 + 2 * setup.rows.n_folds) if products else 0.0

    def need(columns: int, m: int) -> float:
        return max(first(columns, m), second(columns))

    if need(D, m) <= 0.9 * have:
        return
    if second(D) > 0.9 * have:
        columns = next((c for c in range(D, 2, -1) if need(c, 1) <= 0.9 * have), 2)
        raise NotEnoughMemoryError(
            f"{D} features make {D * (D - 1) // 2} pairs, whose products in phase 2 would need about "
            f"{format_bytes(second(D))}, but only {format_bytes(have)} of memory is available. About "
            f"{columns} features would fit: select features first."
        )
    columns = next((c for c in range(D, 2, -1) if need(c, m) <= 0.9 * have), 2)
    parts = next((k for k in range(m, 1, -1) if need(D, k) <= 0.9 * have), 1)
    raise NotEnoughMemoryError(
        f"{D} features make {D * (D - 1) // 2} pairs and {setup.n_features()} Fourier features; phase 1 "
        f"would need about {format_bytes(need(D, m))}, but only {format_bytes(have)} of memory is available. "
        f"About {columns} features would fit, or n_components={2 * parts}: select features first, lower "
        f"n_components, or fit fewer rows."
    )


@dataclass
class RidgeAtSigma:
    """The squared loss at one sigma: everything that alpha needs."""

    setup: Setup
    sigma: float
    pairs: PairMap
    mean: np.ndarray
    ridge: PrimalRidge | DualRidge

    def weights(self, solution: Solution) -> np.ndarray:
        """Weights of the features, of shape (F, q)."""
        return solution.W if isinstance(self.ridge, PrimalRidge) else self.of_rows(solution.W)

    def of_rows(self, A: np.ndarray) -> np.ndarray:
        """Weights ``Z_cᵀ A`` of the features for coefficients ``A`` (n, q) of the rows."""
        rows, pairs = self.setup.rows, self.pairs
        W = -np.outer(self.mean, A.sum(axis=0))
        for _, index in rows.by_fold(4.0 * pairs.row_bytes):
            factors = pairs.factors(rows.scaled(index))
            for c in range(A.shape[1]):
                W[:, c] += pairs.transposed_times(factors, A[index, c])
        return W


def ridge_at(setup: Setup, sigma: float) -> RidgeAtSigma:
    """One pass over the rows: sums of each fold, or inner products of all rows."""
    pairs = setup.pair_map(sigma)
    rows, Y = setup.rows, setup.targets
    mean = rows.sample_mean(pairs)
    if setup.is_dual(pairs.F):
        folds = [np.flatnonzero(rows.fold == f) for f in range(rows.n_folds)]
        dual = DualRidge(inner_products(rows, pairs, mean), Y, rows.weight, folds)
        return RidgeAtSigma(setup, sigma, pairs, mean, dual)
    total = Sums.zeros(pairs.F, Y.shape[1])
    parts = [Sums.zeros(pairs.F, Y.shape[1], pairs.dtype) for _ in range(rows.n_folds)]
    for f, index in rows.by_fold(pairs.F * np.dtype(pairs.dtype).itemsize):
        Z = rows.features(pairs, index, mean)
        (parts[f] if parts else total).add(Z, Y[index], rows.weight[index])
        del Z  # or two blocks would be held while the next one is made
    for part in parts:
        total += part
    return RidgeAtSigma(setup, sigma, pairs, mean, PrimalRidge(total, parts))


def inner_products(rows: Rows, pairs: PairMap, mean: np.ndarray) -> np.ndarray:
    """Inner products of the centred features of all rows: at once if they fit, else block by block."""
    n = len(rows)
    K = np.zeros((n, n))
    row_bytes = pairs.F * np.dtype(pairs.dtype).itemsize
    if n * row_bytes <= max(_WHOLE, 0.25 * available_memory()):
        Z = rows.features(pairs, slice(None), mean)
        for start in range(0, pairs.F, _SHORT):
            part = np.ascontiguousarray(Z[:, start : start + _SHORT])
            K += part @ part.T
        return K
    blocks = list(row_blocks(n, row_bytes, _WHOLE))
    for i, left in enumerate(blocks):
        A = rows.features(pairs, left, mean)
        for right in blocks[: i + 1]:
            B = A if right == left else rows.features(pairs, right, mean)
            K[left, right] = A @ B.T
            K[right, left] = K[left, right].T
    return K
