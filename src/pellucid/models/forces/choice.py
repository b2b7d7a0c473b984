"""Length-scale and ridge by exact leave-one-geometry-out, on a part of the training geometries.

The error of leaving one geometry out is smooth in the logarithm of both and has one valley, so a walk
downhill on a ladder finds it: steps of 2 for the length-scale, of 10 for the ridge relative to the mean
variance of a force. The floor of the valley is flat: a longer length-scale with a smaller ridge fits as well,
at the price of digits lost to cancellation. So a step has to gain half a percent.

What looks like noise to a part of the geometries is mostly detail that more of them resolve. Its variance
falls like the squared error, by a rate that the error on half of the part tells, and so does the ridge for
all geometries.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from pellucid._progress import Progress
from pellucid.exceptions import IllConditionedWarning
from pellucid.models.forces.hessian import ForceKernel, covariance_diagonal
from pellucid.models.forces.solve import ForceProblem, leave_one_out

_UNKNOWNS = 2000  # of the part that decides: a fraction of a second for each pair of values
_START = (64.0, 1e-8)  # length-scale in units of the descriptors' spread, and relative ridge
_STEPS = (2.0, 10.0)
_LOWEST = 1e-11  # relative ridges below this are lost in rounding
_GAIN = 0.995  # a step is taken if the error falls below this share of itself


@dataclass(frozen=True)
class Trials:
    """What was tried: length-scale, alpha and root mean square error of forces left out."""

    length_scales: np.ndarray
    alphas: np.ndarray
    rmse: np.ndarray
    n_geometries: int

    @property
    def best(self) -> int:
        """Number of the best trial."""
        return int(np.argmin(self.rmse))


def mean_variance(kernel: ForceKernel, X: np.ndarray, JQ: np.ndarray) -> float:
    """Mean variance of a force in internal coordinates, over a few geometries."""
    rows = np.linspace(0, len(X) - 1, min(len(X), 20)).astype(int)
    blocks = covariance_diagonal(kernel, X[rows], JQ[rows])
    return float(np.einsum("nii->ni", blocks).mean())


def choose(problem: ForceProblem, *, length_scale: bool, alpha: bool) -> tuple[ForceProblem, Trials]:
    """The problem with the parameters that are to be chosen chosen, and what was tried."""
    n, m = problem.y.shape
    rows = np.linspace(0, n - 1, min(n, max(_UNKNOWNS // m, 2))).astype(int)
    part = replace(problem, X=problem.X[rows], JQ=problem.JQ[rows], y=problem.y[rows])
    spread = float(np.sqrt(part.X.var(axis=0).sum())) or 1.0
    tried: dict[tuple[int, int], tuple[float, float, float]] = {}
    progress = Progress("length-scale and alpha by leave-one-out")

    def error(place: tuple[int, int]) -> float:
        if place not in tried:
            kernel = problem.kernel
            if length_scale:
                kernel = kernel.with_length_scale(spread * _START[0] * _STEPS[0] ** place[0])
            ridge = problem.alpha
            if alpha:
                relative = _START[1] * _STEPS[1] ** place[1]
                if relative < _LOWEST:
                    return np.inf
                ridge = relative * mean_variance(kernel, part.X, part.JQ)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", IllConditionedWarning)
                residuals = leave_one_out(replace(part, kernel=kernel, alpha=ridge))
            rmse = float(np.sqrt(np.mean(residuals**2)))
            tried[place] = (float(kernel.kernel.length_scale), ridge, rmse)
            progress.step(f"error {rmse:.3g}")
        return tried[place][2]

    place = (0, 0)
    moves = [(0, -1), (0, 1)] * alpha + [(-1, 0), (1, 0)] * length_scale
    if alpha and length_scale:  # the valley is oblique: a longer scale wants a smaller ridge
        moves += [(1, -1), (-1, 1)]
    while True:
        best = min(((place[0] + i, place[1] + j) for i, j in moves), key=error)
        if error(best) >= _GAIN * error(place):
            break
        place = best
    progress.close()
    share = 1.0
    if alpha and len(rows) < n:
        kernel = problem.kernel.with_length_scale(tried[place][0])
        half = replace(part, X=part.X[::2], JQ=part.JQ[::2], y=part.y[::2])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IllConditionedWarning)
            coarse = leave_one_out(replace(half, kernel=kernel, alpha=tried[place][1]))
        rate = np.log2(max(np.sqrt(np.mean(coarse**2)) / tried[place][2], 1.0))
        share = float((len(rows) / n) ** (2.0 * rate))
    scales, alphas, rmse = np.array(sorted(tried.values())).T
    chosen = replace(
        problem,
        kernel=problem.kernel.with_length_scale(tried[place][0]) if length_scale else problem.kernel,
        alpha=share * tried[place][1],
    )
    return chosen, Trials(scales, alphas, rmse, len(rows))
