"""Whether a factor of the stored kernel matrix costs less than conjugate gradients would."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.kernels import Kernel
from pellucid.models.kernel_fit.ridge_types import Settings
from pellucid.models.kernel_fit.tall_fit import START_ROWS, rank_for, start_alpha

_STEPS_OF_A_FACTOR = 1 / 60  # that cost as much as a Cholesky factor with leave-one-out, for each row
_FACTOR_ROWS = 15_000  # of which two matrices take less than 4 GB


@dataclass(frozen=True)
class BadlyConditioned:
    """That a factor of the stored matrix costs less than the steps would."""

    start: float  # alpha from which to go downhill
    unit: float  # mean variance of the kernel
    reason: str


def badly_conditioned(
    kernel: Kernel, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, settings: Settings
) -> BadlyConditioned | None:
    """Compare steps with a factor, by the spectrum of some rows: a count, which no other work changes."""
    n = len(Y)
    if settings.solver != "auto" or settings.per_output or n > _FACTOR_ROWS:
        return None
    rows = np.arange(n)
    if n > START_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(n, START_ROWS, replace=False))
    share = weight[rows] / weight[rows].sum()
    unit = float(share @ np.asarray(kernel._diag(X[rows]), dtype=float))
    if settings.criterion is None:
        start = float(np.min(settings.alpha))
    else:
        start = start_alpha(kernel, X, Y, weight, settings, unit)
    rank = rank_for(n, settings.n_components)
    K = np.array(kernel._gram(X[rows], X[rows]), dtype=float)
    # each of the first eigenvalues of all rows is about that of a sample, times the ratio of their numbers
    values = np.linalg.eigvalsh(K)[::-1] * (n / len(rows))
    left = max(float(values[min(rank, len(values) - 1)]), 0.0)
    steps = 0.5 * np.sqrt(left / start) * np.log(2.0 / settings.tol)
    if steps <= n * _STEPS_OF_A_FACTOR:
        return None
    reason = f"{steps:.0f} steps of conjugate gradients would cost more than a factor: alpha is small"
    return BadlyConditioned(start, unit, reason)
