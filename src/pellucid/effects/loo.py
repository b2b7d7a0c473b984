"""What leave-one-out has to say about a fitted model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from pellucid.solvers import Fits


@dataclass(frozen=True, repr=False)
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

    @classmethod
    def of(cls, fits: Fits, score: Callable[[Fits], np.ndarray] | None = None) -> Self:
        """Reduce fits to their criteria, of shape (m, outputs), and an extra figure per ridge strength."""
        rate = None if score is None else score(fits)
        loo, gcv = fits.criterion("loo"), fits.criterion("gcv")
        return cls(fits.alphas, loo, gcv, fits.profile_log_likelihood, fits.dof, rate)

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Put pieces of one path together, in increasing order of alpha."""
        order = np.argsort(np.concatenate([p.alphas for p in parts]), kind="stable")
        whole = {
            f.name: np.concatenate([getattr(p, f.name) for p in parts])[order]
            for f in fields(cls)
            if getattr(parts[0], f.name) is not None
        }
        return cls(**whole)

    def criterion(self, name: str, Y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Criterion, smaller is better, with outputs in comparable units; shape (m, outputs)."""
        if name == "ml":
            return -self.log_marginal_likelihood / np.maximum(1.0, weight).sum()
        share = weight / weight.sum()
        spread = share @ (Y - share @ Y) ** 2
        return (self.mse if name == "loo" else self.gcv) / np.where(spread > 0, spread, 1.0)

    def __repr__(self) -> str:
        return f"AlphaPath({len(self.alphas)} alphas from {self.alphas[0]:.3g} to {self.alphas[-1]:.3g})"


@dataclass(frozen=True, repr=False)
class LeaveOneOut:
    """Exact leave-one-out results of a fitted model, from the one fit.

    Where alpha or parameters of the kernel were chosen on the same rows, the errors are those of the best
    choice for these rows, so a little too small for new ones, the more so the fewer the rows.

    Examples
    --------
    >>> LeaveOneOut(np.zeros(3), np.ones(3), np.zeros(3), 1.0, error_rate=0.25)
    LeaveOneOut(3 rows, rmse=1, error_rate=0.25)
    """

    predictions: np.ndarray
    """Prediction for each training row by the model fitted without it; scores in case of a classifier."""
    residuals: np.ndarray
    """Target minus ``predictions``."""
    leverages: np.ndarray
    """Derivative of each fitted value with respect to its own target, between 0 and 1."""
    mse: float | np.ndarray
    """Weighted mean of the squared residuals, one per output where there are several; zero or infinite where
    squares of the targets are beyond the numbers that a computer has."""
    path: AlphaPath | None = None
    """The whole path over alphas; ``None`` when alpha was given."""
    error_rate: float | None = None
    """Share of rows that the model fitted without them gets wrong; classifiers only."""
    root_mse: float | np.ndarray | None = None
    """Square root of ``mse`` where it was computed without squares that could overflow."""

    @property
    def rmse(self) -> float | np.ndarray:
        """Square root of ``mse``."""
        root = np.sqrt(self.mse) if self.root_mse is None else self.root_mse
        return root if np.ndim(root) else float(root)

    def __repr__(self) -> str:
        rmse = ", ".join(f"{value:.4g}" for value in np.ravel(self.rmse)[:6])
        facts = [f"{len(self.residuals)} rows", f"rmse={rmse if np.ndim(self.rmse) == 0 else f'[{rmse}]'}"]
        if self.error_rate is not None:
            facts.append(f"error_rate={self.error_rate:.4g}")
        return f"LeaveOneOut({', '.join(facts)})"
