"""Kernel parameters by descent: a few quasi-Newton steps on a criterion whose gradient is closed form."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import minimize

from pellucid._progress import Deadline, Progress
from pellucid.exceptions import IllConditionedWarning, IndefiniteKernelError
from pellucid.kernels import Kernel
from pellucid.linalg import require_memory
from pellucid.models.kernel_fit.length_scale import PULL
from pellucid.models.kernel_fit.ridge_fit import gram
from pellucid.solvers import criterion_gradient

_SAMPLE = 1000  # rows on which a long search starts
_REACH = np.log(1e3)  # parameters may move by this factor either way
_FLOOR = 1e-9  # smallest alpha, relative to the kernel's mean diagonal
_NOISE = 1e-2  # an alpha to start from if that is better, likewise: a tiny one has a tiny gradient
_GRID = 100.0  # steps of logarithms are rounded to 1/100: data tell no less, rounding moves no more
# Length-scales of one feature each are taken to lie within a factor of e or so of the start, unless the data
# say otherwise: this is the standard deviation of their logarithms before any data were seen.
_SPREAD = 1.0
MOST_ROWS = 3000  # a descent sees no more rows than this
_GAIN = 1e-3  # a finish on all rows stops when the next step promises less: 0.05 % of the error
_TRIES = 6  # lengths tried for a step of it


@dataclass(frozen=True)
class Data:
    """What parameters are learned from: rows, targets of shape (n, q) and of spread one, positive weights."""

    X: np.ndarray
    Y: np.ndarray
    weight: np.ndarray
    fit_intercept: bool

    def __len__(self) -> int:
        return len(self.Y)

    def at(self, rows: np.ndarray) -> Data:
        """Some of the rows, with those outputs that vary among them."""
        Y = self.Y[rows]
        return replace(self, X=self.X[rows], Y=Y[:, np.ptp(Y, axis=0) > 0], weight=self.weight[rows])


@dataclass(frozen=True)
class Learned:
    """The outcome of a descent."""

    kernel: Kernel
    alpha: float
    n_evaluations: int
    converged: bool  # False when the limit on the number of steps was hit
    n_rows: int = 0  # that there were


def sample_rows(n: int) -> np.ndarray | None:
    """Rows on which a search among ``n`` starts, always the same; ``None`` where few are left out."""
    if n <= 1.5 * _SAMPLE:
        return None
    return np.sort(np.random.default_rng(0).choice(n, _SAMPLE, replace=False))


def learn_parameters(
    kernel: Kernel,
    alpha: float,
    data: Data,
    *,
    criterion: str,
    learn_alpha: bool,
    tied: bool = False,
    ard: bool = False,
    max_iter: int = 100,
    max_time: float | None = None,
    verbose: int = 0,
) -> Learned:
    """Minimise a criterion over the hyperparameters of ``kernel`` and, if ``learn_alpha``, over alpha.

    ``tied`` moves parameters with one value per column, such as length-scales, by one common factor. With
    many rows the descent first runs on a sample of them, to the end, and finishes on all, or on 3000 of them,
    with less patience.
    ``ard`` has many length-scales to learn: a prior holds them near the start, the less the more rows there
    are, and the finish on all rows takes the curvature over from the sample. After ``max_time`` seconds the
    best parameters seen so far are taken.
    """
    diagonal = max(float(kernel._diag(data.X).mean()), np.finfo(float).tiny)
    if ard and learn_alpha:
        alpha = min(alpha, diagonal)  # where all is taken for noise, no length-scale has a gradient
    groups = _groups(kernel, tied)
    n_free = int(groups.max()) + 1
    bounds = np.tile([-_REACH, _REACH], (n_free + 1, 1))  # of logarithms of factors by which parameters move
    if learn_alpha:  # below the floor the system is singular for all purposes
        floor = np.log(_FLOOR * diagonal / alpha)
        bounds[-1] = min(float(floor), 0.0), 2.0 * _REACH
    else:
        bounds[-1] = 0.0
    n_rows = len(data)
    if n_rows > MOST_ROWS:  # always the same rows for the same data
        data = data.at(np.sort(np.random.default_rng(1).choice(len(data), MOST_ROWS, replace=False)))
    progress, deadline = Progress("learning kernel parameters", verbose=verbose), Deadline(max_time)
    found, H, evaluations, converged = np.zeros(n_free + 1), None, 0, True
    sample = sample_rows(len(data))
    for stage in [data] if sample is None else [data.at(sample), data]:
        if stage.Y.shape[1] == 0:  # nothing varies in the sample
            continue
        objective = _Objective(
            kernel, alpha, groups, stage, criterion, _strength(criterion, stage, ard), progress, deadline
        )
        try:
            if ard and learn_alpha and not evaluations and alpha < _NOISE * diagonal:
                noisy = np.append(found[:-1], min(np.log(_NOISE * diagonal / alpha), bounds[-1, 1]))
                found, evaluations = min(found, noisy, key=lambda steps: objective(steps)[0]), 2
            if ard and H is not None:
                found, n, converged = finish(objective, found, H, bounds, max_iter)
            else:
                limits = {"maxiter": max_iter, "ftol": 1e-6 if len(stage) <= _SAMPLE else 1e-4}
                result = minimize(
                    objective, found, jac=True, method="L-BFGS-B", bounds=bounds, options=limits
                )
                found, n, converged = result.x, result.nfev, result.status != 1
                H = result.hess_inv.todense()
        except OutOfTime:
            found = found if objective.best is None else objective.best[1]
            evaluations, converged = evaluations + objective.count, False
            break
        evaluations += n
    progress.close()
    learned, alpha = objective.parameters(np.round(found * _GRID) / _GRID)
    return Learned(learned, alpha, evaluations, converged, n_rows)


def finish(
    objective: _Objective, x: np.ndarray, H: np.ndarray, bounds: np.ndarray, max_steps: int = 100
) -> tuple[np.ndarray, int, bool]:
    """Descend from near the minimum by quasi-Newton steps, ``H`` being about the inverse of the curvature.

    A step promises the gain ``gᵀHg / 2``; the descent ends when that is less than a criterion can tell.

    Returns
    -------
    x : ndarray
        Where it ended.
    n_evaluations : int
    converged : bool
    """
    value, g = objective(x)
    n_evaluations = 1
    for _ in range(max_steps):
        free = ~(((x <= bounds[:, 0]) & (g > 0)) | ((x >= bounds[:, 1]) & (g < 0)))
        step = np.where(free, -H @ np.where(free, g, 0.0), 0.0)
        if -0.5 * (g @ step) <= _GAIN:
            return x, n_evaluations, True
        t = 1.0
        for _ in range(_TRIES):
            new = np.clip(x + t * step, *bounds.T)
            new_value, new_g = objective(new)
            n_evaluations += 1
            if new_value < value:
                break
            rise = t * float(g @ step)  # shorten to the minimum of the parabola through what was seen
            t *= np.clip(0.5 * rise / (rise + value - new_value), 0.1, 0.5)
        else:  # as low as the criterion can be told from its neighbours
            return x, n_evaluations, True
        H = _updated(H, new - x, new_g - g)
        x, value, g = new, new_value, new_g
    return x, n_evaluations, False


def _updated(H: np.ndarray, s: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The inverse of the curvature after the gradient changed by ``y`` over the step ``s`` (BFGS)."""
    curvature = float(s @ y)
    if curvature <= 1e-10 * np.sqrt((s @ s) * (y @ y)):
        return H
    V = np.eye(len(s)) - np.outer(s, y) / curvature
    return V @ H @ V.T + np.outer(s, s) / curvature


def _groups(kernel: Kernel, tied: bool) -> np.ndarray:
    """Index of the free parameter that moves each entry of ``kernel.theta``."""
    if not tied:
        return np.arange(len(kernel.theta))
    stems = [name.partition("[")[0] for name in kernel.theta_names]
    return np.array([list(dict.fromkeys(stems)).index(stem) for stem in stems])


def _strength(criterion: str, data: Data, ard: bool) -> float:
    """How strongly parameters are pulled to the start, in units of the criterion per squared logarithm."""
    if not ard:
        return PULL
    # minus a log prior, per observation as the likelihood is; half a log error weighs as much as that
    unit = 2.0 if criterion in ("loo", "gcv") else 1.0
    return unit / (_SPREAD**2 * float(np.maximum(1.0, data.weight).sum()))


class OutOfTime(Exception):  # noqa: N818  # no error: the search ends with the best so far
    """The time of a search is up."""


@dataclass
class _Objective:
    """A criterion as a function of steps, the logarithms of the factors by which parameters move."""

    kernel: Kernel
    alpha: float
    groups: np.ndarray
    data: Data
    criterion: str
    pull: float
    progress: Progress
    deadline: Deadline = field(default_factory=lambda: Deadline(None))
    best: tuple[float, np.ndarray] | None = None  # the smallest value seen, and where
    count: int = 0

    def parameters(self, steps: np.ndarray) -> tuple[Kernel, float]:
        kernel = self.kernel.with_theta(self.kernel.theta + steps[self.groups])
        return kernel, self.alpha * float(np.exp(steps[-1]))

    def __call__(self, steps: np.ndarray) -> tuple[float, np.ndarray]:
        if self.deadline.over and self.count:
            raise OutOfTime
        self.count += 1
        value, gradient = self._value(steps)
        if self.best is None or value < self.best[0]:
            self.best = value, np.array(steps)
        return value, gradient

    def _value(self, steps: np.ndarray) -> tuple[float, np.ndarray]:
        kernel, alpha = self.parameters(steps)
        data = self.data
        require_memory(len(data), 4.1)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", IllConditionedWarning)
                value, W, d_log_alpha = criterion_gradient(
                    gram(kernel, data.X),
                    data.Y,
                    data.weight,
                    alpha,
                    fit_intercept=data.fit_intercept,
                    criterion=self.criterion,
                )
        except (IllConditionedWarning, IndefiniteKernelError):  # a wall: the line search turns back
            return 1e300, np.zeros(len(steps))
        d_theta = np.bincount(self.groups, kernel.parameter_gradient(data.X, W))
        gradient = np.append(d_theta, d_log_alpha)
        self.progress.step(f"{self.criterion} {value:.4g}")
        if self.criterion in ("loo", "gcv"):  # compare errors by their ratios
            value, gradient = float(np.log(value)), gradient / value
        # lest parameters drift along directions of which the data say nothing
        away = np.append(steps[:-1], 0.0)
        return value + 0.5 * self.pull * float(away @ away), gradient + self.pull * away
