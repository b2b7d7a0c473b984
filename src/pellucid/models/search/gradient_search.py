"""Kernel parameters by descent: a few L-BFGS steps on a criterion whose gradient is closed form."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from pellucid._progress import Progress
from pellucid.exceptions import IllConditionedWarning, IndefiniteKernelError
from pellucid.kernels import Kernel
from pellucid.linalg import require_memory
from pellucid.models.common.length_scale import PULL
from pellucid.models.common.ridge_fit import gram
from pellucid.solvers import criterion_gradient

_SAMPLE = 1000  # rows on which a long search starts
_REACH = np.log(1e3)  # parameters may move by this factor either way
_FLOOR = 1e-9  # smallest alpha, relative to the kernel's mean diagonal
_GRID = (
    100.0  # steps of logarithms are rounded to 1/100: below what data can tell, above what rounding can move
)


@dataclass(frozen=True)
class Learned:
    """The outcome of a descent."""

    kernel: Kernel
    alpha: float
    n_evaluations: int
    converged: bool  # False when the limit on the number of steps was hit


def learn_parameters(
    kernel: Kernel,
    alpha: float,
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    *,
    fit_intercept: bool,
    criterion: str,
    learn_alpha: bool,
    tied: bool = False,
    max_iter: int = 100,
) -> Learned:
    """Minimise a criterion over the hyperparameters of ``kernel`` and, if ``learn_alpha``, over alpha.

    ``tied`` moves parameters with one value per column, such as length-scales, by one common factor. With
    many rows the descent first runs on a sample of them, to the end, and finishes on all, with less patience.
    """
    groups = _groups(kernel, tied)
    n_free = int(groups.max()) + 1
    bounds = np.tile(
        [-_REACH, _REACH], (n_free + 1, 1)
    )  # of the logarithms of factors by which parameters move
    if learn_alpha:  # below the floor the system is singular for all purposes
        floor = np.log(_FLOOR * max(float(kernel._diag(X).mean()), np.finfo(float).tiny) / alpha)
        bounds[-1] = min(float(floor), 0.0), 2.0 * _REACH
    else:
        bounds[-1] = 0.0
    progress = Progress("learning kernel parameters")
    found = np.zeros(n_free + 1)
    evaluations = 0
    stages = [np.arange(len(Y))]
    if len(Y) > 1.5 * _SAMPLE:
        stages.insert(0, np.sort(np.random.default_rng(0).choice(len(Y), _SAMPLE, replace=False)))
    for rows in stages:
        objective = _Objective(
            kernel, alpha, groups, X[rows], Y[rows], weight[rows], fit_intercept, criterion, progress
        )
        result = minimize(
            objective,
            found,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": max_iter, "ftol": 1e-6 if len(rows) <= _SAMPLE else 1e-4},
        )
        found, evaluations = result.x, evaluations + result.nfev
    progress.close()
    learned, alpha = objective.parameters(np.round(found * _GRID) / _GRID)
    return Learned(learned, alpha, evaluations, result.status != 1)


def _groups(kernel: Kernel, tied: bool) -> np.ndarray:
    """Index of the free parameter that moves each entry of ``kernel.theta``."""
    if not tied:
        return np.arange(len(kernel.theta))
    stems = [name.partition("[")[0] for name in kernel.theta_names]
    return np.array([list(dict.fromkeys(stems)).index(stem) for stem in stems])


@dataclass
class _Objective:
    """A criterion as a function of steps, the logarithms of the factors by which parameters move."""

    kernel: Kernel
    alpha: float
    groups: np.ndarray
    X: np.ndarray
    Y: np.ndarray
    weight: np.ndarray
    fit_intercept: bool
    criterion: str
    progress: Progress

    def parameters(self, steps: np.ndarray) -> tuple[Kernel, float]:
        kernel = self.kernel.with_theta(self.kernel.theta + steps[self.groups])
        return kernel, self.alpha * float(np.exp(steps[-1]))

    def __call__(self, steps: np.ndarray) -> tuple[float, np.ndarray]:
        kernel, alpha = self.parameters(steps)
        require_memory(len(self.Y), 4.1)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", IllConditionedWarning)
                value, W, d_log_alpha = criterion_gradient(
                    gram(kernel, self.X),
                    self.Y,
                    self.weight,
                    alpha,
                    fit_intercept=self.fit_intercept,
                    criterion=self.criterion,
                )
        except (IllConditionedWarning, IndefiniteKernelError):  # a wall: the line search turns back
            return 1e300, np.zeros(len(steps))
        d_theta = np.bincount(self.groups, kernel.parameter_gradient(self.X, W))
        gradient = np.append(d_theta, d_log_alpha)
        self.progress.step(f"{self.criterion} {value:.4g}")
        if self.criterion != "ml":  # compare errors by their ratios
            value, gradient = float(np.log(value)), gradient / value
        # a weak pull to the start, lest parameters drift along directions of which the data say nothing
        pull = np.append(steps[:-1], 0.0)
        return value + 0.5 * PULL * float(pull @ pull), gradient + PULL * pull
