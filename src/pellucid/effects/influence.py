"""Which training rows carry a prediction, and what happens to it when one of them leaves."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Influence:
    """Influence of training rows on predictions; ``m`` predictions, ``n`` training rows."""

    contributions: np.ndarray
    """``k(x_j, x_i) · a_i``, shape (m, n) or (m, n, outputs); with the intercept, rows sum to predictions."""
    deletion: np.ndarray
    """Change of prediction ``j`` when row ``i`` leaves and the model is fitted again; shaped alike. Exact."""
    intercept: float | np.ndarray
    """The model's intercept."""

    def top(self, row: int = 0, n_rows: int = 5) -> np.ndarray:
        """Indices of the training rows whose leaving moves prediction ``row`` most, largest first."""
        size = np.abs(self.deletion[row])
        size = size.max(axis=-1) if size.ndim == 2 else size
        return np.argsort(-size, kind="stable")[:n_rows]
