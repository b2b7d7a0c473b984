"""Features of the training rows whose products are the kernel: exact, or of landmarks."""

from dataclasses import dataclass

import numpy as np

from pellucid.data.rows import is_precomputed
from pellucid.exceptions import IndefiniteKernelError
from pellucid.kernels import Kernel
from pellucid.linalg import pivoted_cholesky, positive_spectrum, require_memory
from pellucid.models.kernel_fit.ridge_fit import gram

EXACT_ROWS = 4000  # up to here the whole kernel matrix is decomposed; beyond, it is approximated by landmarks
_TAIL = 1e-14  # eigenvalues below this share of the largest are rounding error


@dataclass(frozen=True)
class KernelFeatures:
    """Features ``Z`` of the training rows with ``Z Zᵀ = K``, exactly or up to a stated accuracy."""

    Z: np.ndarray  # (n, r)
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
        return (self.Z / np.einsum("ij,ij->j", self.Z, self.Z)) @ delta


def kernel_features(kernel: Kernel, X: np.ndarray, n_components: int | None) -> KernelFeatures:
    """Features of the training rows: exact, with ``n_components`` landmarks, or what the size suggests."""
    if n_components is None and len(X) <= EXACT_ROWS:
        require_memory(len(X), 4.1)
        return KernelFeatures(spectral_features(gram(kernel, X), kernel.mercer), None, None, 1.0)
    m = min(n_components or 1000, len(X))
    given = is_precomputed(kernel)

    def columns(index: np.ndarray) -> np.ndarray:
        return kernel._gram(X[:, index] if given else X, X[index])

    low_rank = pivoted_cholesky(columns, kernel._diag(X), m, tolerance=1e-6, random_state=0)
    return KernelFeatures(low_rank.factor, low_rank.pivots, low_rank.transfer, low_rank.accuracy)


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
