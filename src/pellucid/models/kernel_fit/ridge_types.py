"""What kernel ridge is asked for, and what a fit returns, whichever solver it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

import numpy as np

from pellucid.effects import AlphaPath, SolverReport
from pellucid.kernels import Kernel
from pellucid.solvers import Choice, Fits

R = TypeVar("R")


class Score(Protocol):
    """An extra figure per ridge strength, such as the error rate."""

    def __call__(self, fits: Fits, rows: np.ndarray | None = None) -> np.ndarray:
        """The figure of fits of some of the rows at hand, by default all."""


class RowsBeyond(Protocol):
    """All rows of a fit that has some of them at hand."""

    @property
    def n_rows(self) -> int:
        """Number of rows of positive weight."""

    def coded(self, shift: np.ndarray, unit: np.ndarray) -> Self:
        """The same with targets less ``shift``, in ``unit``."""

    def total(
        self,
        work: Callable[[np.ndarray, np.ndarray, np.ndarray], R],
        add: Callable[[R, R], R],
        label: str,
    ) -> R:
        """Sum over all blocks of what ``work`` makes of their rows, targets and weights."""


@dataclass(frozen=True)
class OfAll:
    """What residuals of the rows at hand do not tell, where these are not all."""

    n_rows: int
    observations: float  # that the rows stand for
    dof: np.ndarray  # (q,)
    squares: np.ndarray  # (q,): weighted sums of squared residuals


def relative_alphas(floor: float) -> np.ndarray:
    """Ridge strengths tried by default, four per decade, relative to the mean variance of the kernel."""
    return 10.0 ** (np.arange(round(4 * np.log10(floor)), 13) / 4.0)


@dataclass(frozen=True)
class Settings:
    """How a ridge is to be fitted; the parameters that estimators have in common."""

    alpha: str | np.ndarray  # a criterion, or one strength per output
    alphas: np.ndarray | None = None
    fit_intercept: bool = True
    solver: str = "auto"
    per_output: bool = False
    indefinite: str = "raise"
    floor: float = 1e-9  # smallest alpha tried, relative to the mean variance of the kernel
    n_components: int | None = None  # landmarks, or rank of the preconditioner
    tol: float = 1e-4  # relative residual of iterative solutions
    random_state: int = 0

    @property
    def criterion(self) -> str | None:
        """The criterion that chooses alpha, ``None`` when alpha is given."""
        return self.alpha if isinstance(self.alpha, str) else None


@dataclass(frozen=True)
class RidgeFit:
    """A fitted kernel ridge with ``q`` outputs."""

    kernel: Kernel
    alpha: np.ndarray  # (q,)
    dual_coef: np.ndarray  # (n, q), or (m, q) for m landmarks
    primal_coef: np.ndarray | None  # (f, q)
    intercept: np.ndarray  # (q,)
    residuals: np.ndarray  # (n, q)
    slack: np.ndarray  # (n, q): one minus the leverages
    held_out: np.ndarray  # (n, q): residuals with one observation left out
    scale: np.ndarray  # (q,): process scale of highest likelihood
    log_likelihood: Callable[[np.ndarray | None], np.ndarray] | None  # of the given scale, or of the best
    path: AlphaPath | None
    choice: Choice
    criteria: dict[str, float]  # every criterion at the alphas used, averaged over outputs, smaller is better
    centres: np.ndarray | None = None  # rows that dual_coef belongs to, where they are not all
    report: SolverReport | None = None
    of_all: OfAll | None = None

    @property
    def loo_residuals(self) -> np.ndarray:
        """Residual of each row in the fit without it."""
        return self.residuals / np.maximum(self.slack, np.finfo(float).tiny)
