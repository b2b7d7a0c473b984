"""Phase 1 of ISK at one sigma: what the squared loss needs of the rows, for every alpha and every fold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.exceptions import NotEnoughMemoryError
from pellucid.features.pairs import PairMap
from pellucid.linalg import available_memory, format_bytes, row_blocks
from pellucid.models.isk.rows import Rows
from pellucid.solvers.fold_ridge import DualRidge, PrimalRidge, Sums

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
    targets: np.ndarray  # (n, q): centred, or ±1 for classes
    omega: np.ndarray  # (d/2, 2) at sigma = 1
    solver: str = "auto"

    def exact(self, F: int) -> bool:
        """Whether the problem is small enough for float64 throughout."""
        n = len(self.rows)
        return n * min(n, F) * F <= _EXACT

    def pair_map(self, sigma: float) -> PairMap:
        """The feature map for one sigma."""
        D = self.rows.X.shape[1]
        F = D * (D - 1) * len(self.omega)
        return PairMap(self.omega / sigma, D, np.float64 if self.exact(F) else np.float32)

    def is_dual(self, F: int) -> bool:
        """Whether fewer rows than features make the matrix of inner products of rows the smaller one."""
        if self.solver == "auto":
            return len(self.rows) < F
        return self.solver == "dual"


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
        f"{format_bytes(need(F))}, but only {format_bytes(have)} of memory is available. About {columns} "
        f"features would fit, or n_components={2 * parts}: select features first, lower n_components, or fit "
        f"fewer rows."
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
    q = Y.shape[1]
    shift: np.ndarray = mean.astype(pairs.dtype)
    total = Sums.zeros(pairs.F, q)
    parts = [Sums.zeros(pairs.F, q, pairs.dtype) for _ in range(rows.n_folds)]
    for f, index in rows.by_fold(pairs.F * np.dtype(pairs.dtype).itemsize):
        Z = pairs.features(rows.scaled(index))
        Z -= shift
        (parts[f] if parts else total).add(Z, Y[index], rows.weight[index])
        del Z  # or two blocks would be held while the next one is made
    for part in parts:
        total.plus(part)
    return Trial(sigma, pairs, mean, PrimalRidge(total, parts))


def inner_products(rows: Rows, pairs: PairMap, mean: np.ndarray) -> np.ndarray:
    """Inner products of the centred features of all rows: at once if they fit, else block by block."""
    n = len(rows)
    shift: np.ndarray = mean.astype(pairs.dtype)
    K = np.zeros((n, n))
    row_bytes = pairs.F * np.dtype(pairs.dtype).itemsize
    if n * row_bytes <= max(_WHOLE, 0.25 * available_memory()):
        Z = pairs.features(rows.scaled(slice(None)))
        Z -= shift
        for start in range(0, pairs.F, _SHORT):
            part = np.ascontiguousarray(Z[:, start : start + _SHORT])
            K += part @ part.T
        return K
    blocks = list(row_blocks(n, row_bytes, _WHOLE))
    for i, left in enumerate(blocks):
        A = pairs.features(rows.scaled(left)) - shift
        for right in blocks[: i + 1]:
            B = A if right == left else pairs.features(rows.scaled(right)) - shift
            K[left, right] = A @ B.T
            K[right, left] = K[left, right].T
    return K
