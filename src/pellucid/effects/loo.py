"""What leave-one-out has to say about a fitted model."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class AlphaPath:
    """The model at every ridge strength that was tried, at the chosen kernel."""

    alphas: np.ndarray
    """Ridge strengths, increasing, of shape (m,)."""
    mse: np.ndarray
    """Leave-one-out mean squared error, of shape (m,), or (m, outputs) for several outputs.

    With weights above one this leaves out one observation of a row, as the choice of alpha does.
    """
    gcv: np.ndarray
    """Generalised cross-validation error, shaped like ``mse``."""
    log_marginal_likelihood: np.ndarray
    """Log marginal likelihood at the best process scale, shaped like ``mse``."""
    dof: np.ndarray
    """Effective degrees of freedom, of shape (m,)."""
    error_rate: np.ndarray | None = None
    """Leave-one-out error rate, of shape (m,); classifiers only."""


@dataclass(frozen=True)
class LeaveOneOut:
    """Exact leave-one-out results of a fitted model, from the one fit."""

    predictions: np.ndarray
    """Prediction for each training row by the model fitted without it; scores in case of a classifier."""
    residuals: np.ndarray
    """Target minus ``predictions``."""
    leverages: np.ndarray
    """Derivative of each fitted value with respect to its own target, between 0 and 1."""
    mse: float | np.ndarray
    """Weighted mean of the squared residuals, one per output where there are several."""
    path: AlphaPath | None = None
    """The whole path over alphas; ``None`` when alpha was given."""
    error_rate: float | None = None
    """Share of rows that the model fitted without them gets wrong; classifiers only."""

    @property
    def rmse(self) -> float | np.ndarray:
        """Square root of ``mse``."""
        root = np.sqrt(self.mse)
        return root if np.ndim(root) else float(root)
