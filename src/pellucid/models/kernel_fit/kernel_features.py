"""Features of the training rows whose products are the kernel: exact, or of landmarks."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.data.rows import is_precomputed
from pellucid.exceptions import IndefiniteKernelError
from pellucid.kernels import Kernel
from pellucid.kernels.tiles import gram_tiles, has_fast_tiles
from pellucid.linalg import BlockFeatures, pivoted_cholesky, positive_spectrum, require_memory
from pellucid.models.kernel_fit.landmark_fit import PROPOSED, choose_landmarks, rows_key
from pellucid.models.kernel_fit.ridge_fit import gram

EXACT_ROWS = 4000  # up to here the whole kernel matrix is decomposed; beyond, it is approximated by landmarks
_STORED_BYTES = 1.0e9  # features that take more are made block by block, where the solver allows
_COPIES = 4  # of stored features that live at a time during a fit
_TRACE_ROWS = 2000  # on which the share of the kernel that landmarks keep is measured
_TAIL = 1e-14  # eigenvalues below this share of the largest are rounding error


@dataclass(frozen=True)
class KernelFeatures:
    """Features ``Z`` of the training rows with ``Z Zᵀ = K``, exactly or up to a stated accuracy."""

    Z: Any  # (n, r): an array, or BlockFeatures
    landmarks: np.ndarray | None  # (m,): rows of the approximation, None when exact
    transfer: np.ndarray | None  # (m, r): features of new rows are k(x, landmarks) @ transfer
    accuracy: float  # share of the kernel's trace that is kept; 1 when exact

    def dual(self, delta: np.ndarray) -> np.ndarray:
        """Return coefficients of the kernel at training rows, or landmarks, for those of the features.

        Exact features are orthogonal, so ``Z⁺ᵀ δ`` needs no solve; ``−g/α`` is the same number with fewer
        digits where alpha is small.
        """
        if self.transfer is not None:
            return self.transfer @ delta
        squares: np.ndarray = np.einsum("ij,ij->j", self.Z, self.Z)
        return np.asarray((self.Z / squares) @ delta)


def landmark_count(n_rows: int, wish: int | None) -> int:
    """Number of landmarks for any loss: of the order of the root of the rows, and no fewer than 1000."""
    return min(n_rows, wish or int(np.clip(4 * np.sqrt(n_rows), 1000, 2500)))


def kernel_features(
    kernel: Kernel, X: np.ndarray, n_components: int | None, *, stored: bool = True, random_state: int = 0
) -> KernelFeatures:
    """Features of the training rows: exact, with ``n_components`` landmarks, or what the size suggests.

    Features that are not ``stored`` are made block by block where they would take much memory; those that
    are must fit.
    """
    n = len(X)
    if n_components is None and n <= EXACT_ROWS:
        require_memory(n, 4.1)
        return KernelFeatures(spectral_features(gram(kernel, X), kernel.mercer), None, None, 1.0)
    m = landmark_count(n, n_components)
    given = is_precomputed(kernel)
    if not stored and not given and 8.0 * n * m > _STORED_BYTES:
        return _in_blocks(kernel, X, m, random_state)
    require_memory(n, _COPIES * m / n, what=f"the features of {m} landmarks (n_components asks for fewer)")

    def columns(index: np.ndarray) -> np.ndarray:
        return kernel._gram(X[:, index] if given else X, X[index])

    low_rank = pivoted_cholesky(columns, kernel._diag(X), m, tolerance=1e-6, random_state=random_state)
    return KernelFeatures(low_rank.factor, low_rank.pivots, low_rank.transfer, low_rank.accuracy)


def _in_blocks(kernel: Kernel, X: np.ndarray, m: int, random_state: int) -> KernelFeatures:
    """Features of landmarks among some of the rows, never stored; accuracy as measured on some others."""
    fast = has_fast_tiles(kernel, X)
    rows = np.random.default_rng(random_state).permutation(len(X))[: PROPOSED * m]
    pivots, transfer = choose_landmarks(kernel, X[rows], m, random_state, 1e-7 if fast else 1e-10)
    centres = rows[pivots]
    C = X[centres]
    tile = gram_tiles(kernel, X, C)
    coarse_tile = gram_tiles(kernel, X, C, single=True) if fast else None

    def columns(rows: np.ndarray) -> np.ndarray:
        return tile(rows_key(rows), slice(None))

    def coarse(rows: np.ndarray) -> np.ndarray:
        assert coarse_tile is not None
        return coarse_tile(rows_key(rows), slice(None))

    diagonal = np.asarray(kernel._diag(X), dtype=float)
    Z = BlockFeatures(
        columns, coarse if coarse_tile else None, transfer, np.arange(len(X)), float(np.sqrt(diagonal.max()))
    )
    some = np.random.default_rng(1).choice(len(X), min(len(X), _TRACE_ROWS), replace=False)
    part = Z[np.sort(some)].stored()
    kept = float(np.vdot(part, part)) / float(diagonal[some].sum())
    return KernelFeatures(Z, centres, transfer, min(kept, 1.0))


def spectral_features(K: np.ndarray, positive: bool) -> np.ndarray:
    """Return ``Z = Q D^{1/2}`` with ``Z Zᵀ = K``; ``K`` is overwritten, and looked at unless ``positive``."""
    values, vectors = positive_spectrum(K) if positive else np.linalg.eigh(K)
    worst = float(values.min(initial=0.0))
    if worst < -1e-8 * float(np.abs(values).max(initial=0.0)):
        raise IndefiniteKernelError(
            f"The kernel matrix has negative eigenvalues: the worst is {worst:.4g}, against a largest of "
            f"{values.max():.4g}. Such a matrix is not a kernel. Check the kernel function; KernelRidge and "
            f"KernelRidgeClassifier can drop the negative part with indefinite='clip'."
        )
    keep = values > _TAIL * values.max(initial=0.0)
    return vectors[:, keep] * np.sqrt(values[keep])
