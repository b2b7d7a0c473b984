"""Kernels that measure columns in units of a length-scale, one for all of them or one for each."""

from typing import Any, ClassVar

import numpy as np

from pellucid.kernels.base import Kernel
from pellucid.kernels.checks import Floats, matches_columns, positive_or_vector
from pellucid.linalg import is_sparse


class _Scaled(Kernel):
    """What kernels with a ``length_scale`` share."""

    parameters: ClassVar[tuple[str, ...]] = ("length_scale",)
    hyperparameters: ClassVar[tuple[str, ...]] = ("length_scale",)

    def __init__(self, length_scale: Floats = 1.0) -> None:
        self.length_scale = positive_or_vector(length_scale, "length_scale")

    def _scales(self, X: np.ndarray) -> np.ndarray:
        """Length-scale of each column of ``X``."""
        matches_columns(self.length_scale, "length_scale", X)
        return np.broadcast_to(self.length_scale, X.shape[1:])

    def _scaled(self, X: Any) -> Any:
        matches_columns(self.length_scale, "length_scale", X)
        if is_sparse(X):
            return X.scaled(self.length_scale)
        return np.asarray(X, dtype=float) / self.length_scale

    def _diag(self, X: np.ndarray) -> np.ndarray:
        return np.ones(len(X))  # of a row with itself, as most of these kernels have it

    def _by_length_scale(self, per_column: np.ndarray) -> np.ndarray:
        """Derivatives by the logarithm of each column's length-scale, summed when it is shared."""
        return per_column if np.ndim(self.length_scale) else np.array([per_column.sum()])
