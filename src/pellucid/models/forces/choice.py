r"""Length-scale and ridge by exact leave-one-geometry-out, on growing parts of the training geometries.

The error of forces is the mean over geometries of the root mean square of their residuals, so that a few at
the edge of what was sampled do not decide. Where energies are known, their mean absolute error counts too: a
geometry has m forces and one energy, so the loss is :math:`(m \log e_F + \log e_E) / (m + 1)`, as in a
likelihood of independent residuals with a scale for forces and one for energies. Forces decide, and where
they leave the ridge free, within a factor of a few, energies do.

The loss is smooth in the logarithm of both parameters and has one valley, which a walk downhill on a ladder
finds: steps of 2 for the length-scale, of 10 for the ridge relative to the mean variance of a force. The
floor of the valley is flat: a longer length-scale with a smaller ridge fits as well, at the price of digits
lost to cancellation. So a step has to gain half a percent.

The walk takes place on a small part. What looks like noise to it is mostly detail that more geometries
resolve, so a ridge of its size would be too large for all of them: by far, and it is the large side that is
costly. The ridge therefore goes on to the best one for parts of twice, four times ... as many geometries,
found between the steps of the ladder by a parabola. On those of up to a quarter of all geometries, a
length-scale above that of the start has to gain its half percent again, as few geometries are smoothed best
by a kernel that is too long for many. From the last part to all geometries the ridge follows the power of
their number by which it fell before.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from pellucid._progress import Progress
from pellucid.exceptions import IllConditionedWarning
from pellucid.models.forces.hessian import ForceKernel, covariance_diagonal
from pellucid.models.forces.solve import ForceProblem, leave_one_out

_UNKNOWNS = 1000  # of the first part: hundredths of a second for each pair of values
_FEWEST = 40  # geometries of the first part, however many unknowns they have
_CHEAP = 3000  # unknowns up to which a part may be more than half of the whole: half a second for each ridge
_MOST = 10_000  # unknowns of the largest part
_FAR = 0.25  # of all geometries: on parts up to that, a long length-scale has to prove itself again
_NEARLY = 0.75  # of all geometries: a part as good as the whole
_START = (64.0, 1e-8)  # length-scale in units of the descriptors' spread, and relative ridge
_STEPS = (2.0, 10.0)
_LOWEST = 1e-11  # relative ridges below this are lost in rounding
_GAIN = 0.995  # a step is taken if the loss falls below this share of itself


@dataclass(frozen=True)
class Trials:
    """What was tried, and the errors that leaving geometries out has shown."""

    length_scales: np.ndarray
    alphas: np.ndarray
    errors: np.ndarray  # of forces: the mean over geometries of the root mean square
    n_geometries: np.ndarray  # in the part that each was tried on
    energy_errors: np.ndarray | None = None  # mean absolute errors, where energies are known
    energy_weight: float = 0.0  # of their logarithm beside that of the errors of forces

    @property
    def losses(self) -> np.ndarray:
        """What was made small: the weighted geometric mean of both errors, or that of forces."""
        if self.energy_errors is None:
            return self.errors
        return self.errors ** (1.0 - self.energy_weight) * self.energy_errors**self.energy_weight

    @property
    def best(self) -> int:
        """Number of the best trial on the largest part."""
        return int(np.argmin(np.where(self.n_geometries == self.n_geometries.max(), self.losses, np.inf)))

    def in_units(self, unit: float) -> Trials:
        """The same with errors in units of the data."""
        energies = None if self.energy_errors is None else unit * self.energy_errors
        return replace(self, errors=unit * self.errors, energy_errors=energies)


def mean_variance(kernel: ForceKernel, X: np.ndarray, JQ: np.ndarray) -> float:
    """Mean variance of a force in internal coordinates, over a few geometries."""
    rows = np.linspace(0, len(X) - 1, min(len(X), 20)).astype(int)
    blocks = covariance_diagonal(kernel, X[rows], JQ[rows])
    return float(np.einsum("nii->ni", blocks).mean())


class _Bench:
    """Errors of leaving one geometry out, on parts of the geometries, and what was tried."""

    def __init__(self, problem: ForceProblem) -> None:
        self.problem = problem
        self.tried: dict[tuple[int, float, float], tuple[float, ...]] = {}
        self.weight = 1.0 / (problem.y.shape[1] + 1.0)
        self.progress = Progress("length-scale and alpha by leave-one-out")

    def rows(self, size: int) -> np.ndarray:
        """Geometries of a part, spread evenly."""
        return np.linspace(0, len(self.problem.X) - 1, size).astype(int)

    def start(self, size: int) -> float:
        """The length-scale at which the walk on a part begins."""
        X = self.problem.X[self.rows(size)]
        return _START[0] * (float(np.sqrt(X.var(axis=0).sum())) or 1.0)

    def ridge(self, length_scale: float, relative: float | None) -> float:
        """Alpha from the ridge relative to the mean variance of a force; as given where that is ``None``."""
        if relative is None:
            return self.problem.alpha
        kernel = self.problem.kernel.with_length_scale(length_scale)
        alpha = relative * mean_variance(kernel, self.problem.X, self.problem.JQ)
        return float(f"{alpha:.12g}")  # the same number, whichever way the walk comes to it

    def loss(self, size: int, length_scale: float, relative: float | None) -> float:
        """Weighted geometric mean of the errors, for ``size`` geometries spread evenly."""
        if relative is not None and relative < _LOWEST:
            return np.inf
        key = (size, length_scale, self.ridge(length_scale, relative))
        if key not in self.tried:
            problem, rows = self.problem, self.rows(size)
            part = replace(
                problem,
                kernel=problem.kernel.with_length_scale(length_scale),
                X=problem.X[rows],
                JQ=problem.JQ[rows],
                y=problem.y[rows],
                alpha=key[2],
                E=None if problem.E is None else problem.E[rows],
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", IllConditionedWarning)
                forces, energies = leave_one_out(part)
            found = (float(np.sqrt(np.mean(forces**2, axis=1)).mean()),)
            self.tried[key] = found if energies is None else (*found, float(np.abs(energies).mean()))
            self.progress.step(f"error {found[0]:.3g}")
        return self._loss(key)

    def _loss(self, key: tuple[int, float, float]) -> float:
        errors = self.tried[key]
        return errors[0] if len(errors) == 1 else errors[0] ** (1.0 - self.weight) * errors[1] ** self.weight

    def lowest(self, size: int, length_scale: float) -> float:
        """Lowest loss of the ridges tried with a length-scale."""
        return min(self._loss(key) for key in self.tried if key[:2] == (size, length_scale))

    def trials(self) -> Trials:
        """What was tried, part by part."""
        sizes, scales, alphas, *errors = np.array([(*key, *self.tried[key]) for key in sorted(self.tried)]).T
        if len(errors) == 1:
            return Trials(scales, alphas, errors[0], sizes.astype(int))
        return Trials(scales, alphas, errors[0], sizes.astype(int), errors[1], self.weight)


def choose(problem: ForceProblem, *, length_scale: bool, alpha: bool) -> tuple[ForceProblem, Trials]:
    """The problem with the parameters that are to be chosen chosen, and what was tried."""
    n, m = problem.y.shape
    bench, sizes = _Bench(problem), _parts(n, m)
    shortest = bench.start(sizes[0]) if length_scale else float(problem.kernel.kernel.length_scale)
    scale, relative = _walk(bench, sizes[0], shortest, length_scale=length_scale, alpha=alpha)
    if relative is not None:
        first = relative = _settle(bench, sizes[0], scale, relative)
        for size in sizes[1:]:
            relative = _settle(bench, size, scale, relative)
            if size <= _FAR * n:
                longer, (scale, relative) = scale, _shorten(bench, size, scale, relative, shortest)
                if scale < longer:
                    first = _settle(bench, sizes[0], scale, relative)
        if len(sizes) > 1:
            power = np.log(relative / first) / np.log(sizes[-1] / sizes[0])
            relative = max(relative * (n / sizes[-1]) ** min(power, 0.0), _LOWEST)
    bench.progress.close()
    kernel = problem.kernel.with_length_scale(scale)
    return replace(problem, kernel=kernel, alpha=bench.ridge(scale, relative)), bench.trials()


def _parts(n: int, m: int) -> list[int]:
    """Numbers of geometries in the parts: each twice the last, while a part costs little beside the whole."""
    sizes = [min(n, max(_UNKNOWNS // m, _FEWEST))]
    while sizes[-1] < _NEARLY * n:
        size = min(2 * sizes[-1], n)
        if size * m > (_CHEAP if size > n // 2 else _MOST):
            break
        sizes.append(size)
    return sizes


def _walk(
    bench: _Bench, size: int, first: float, *, length_scale: bool, alpha: bool
) -> tuple[float, float | None]:
    """Downhill to the length-scale and the relative ridge of one part; ``None`` for a ridge that is given."""

    def at(place: tuple[int, int]) -> tuple[float, float | None]:
        return first * _STEPS[0] ** place[0], _START[1] * _STEPS[1] ** place[1] if alpha else None

    moves = [(0, -1), (0, 1)] * alpha + [(-1, 0), (1, 0)] * length_scale
    if alpha and length_scale:  # the valley is oblique: a longer scale wants a smaller ridge
        moves += [(1, -1), (-1, 1)]
    place = (0, 0)
    while True:
        around = [(place[0] + i, place[1] + j) for i, j in moves]
        best = min(around, key=lambda other: bench.loss(size, *at(other)))
        if bench.loss(size, *at(best)) >= _GAIN * bench.loss(size, *at(place)):
            return at(place)
        place = best


def _shorten(
    bench: _Bench, size: int, length_scale: float, relative: float, shortest: float
) -> tuple[float, float]:
    """The shortest length-scale over which a longer one gains less than steps have to, and its ridge."""
    for steps in range(round(np.log(length_scale / shortest) / np.log(_STEPS[0])), 0, -1):
        shorter = length_scale / _STEPS[0] ** steps
        ridge = _settle(bench, size, shorter, relative * _STEPS[1] ** steps)
        if bench.lowest(size, length_scale) >= _GAIN**steps * bench.lowest(size, shorter):
            return shorter, ridge
    return length_scale, relative


def _settle(bench: _Bench, size: int, length_scale: float, relative: float) -> float:
    """The best relative ridge for a part, from that of a smaller one; it is looked for below first.

    Between the steps it is where the parabola through the lowest loss and its neighbours is lowest.
    """

    def loss(at: float) -> float:
        return bench.loss(size, length_scale, at)

    for step in (1.0 / _STEPS[1], _STEPS[1]):
        start = relative
        while loss(step * relative) < loss(relative):
            relative *= step
        if relative != start:
            break
    below, here, above = (loss(step * relative) for step in (1.0 / _STEPS[1], 1.0, _STEPS[1]))
    bend = below - 2.0 * here + above
    if not (np.isfinite(bend) and bend > 0):
        return relative
    return relative * _STEPS[1] ** (0.5 * (below - above) / bend)
