"""Training geometries in internal coordinates, and the problem that they state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.data.parameters import check_alphas
from pellucid.features.geometry import Descriptors
from pellucid.models.forces.checks import as_force_kernel, check_distinct, unit_of
from pellucid.models.forces.choice import Trials, choose
from pellucid.models.forces.hessian import ForceKernel
from pellucid.models.forces.solve import ForceProblem


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Geometries with forces in the directions that are no rigid motion, and energies, in one unit."""

    D: Descriptors
    Q: np.ndarray  # (n, 3 N, m): bases of the internal coordinates
    JQ: np.ndarray  # (n, d, m): Jacobians
    y: np.ndarray  # (n, m): forces
    E: np.ndarray | None  # (n,): energies about their mean
    unit: float  # of forces and energies: root mean square of the forces

    @classmethod
    def of(cls, R: np.ndarray, F: np.ndarray, E: np.ndarray | None = None) -> TrainingData:
        """Take in geometries and forces of shape (n, N, 3) and energies (n,)."""
        D = Descriptors.of(R)
        Q, JQ = D.internal()
        y = np.einsum("npm,np->nm", Q, F.reshape(len(F), -1))
        unit = unit_of(y)
        return cls(D, Q, JQ, y / unit, None if E is None else (E - E.mean()) / unit, unit)

    def problem(self, kernel: ForceKernel, alpha: float) -> ForceProblem:
        """The problem with kernel and ridge."""
        return ForceProblem(kernel, self.D.X, self.JQ, self.y, alpha, self.E)

    def state(self, kernel: Any, alpha: Any, permutations: np.ndarray) -> tuple[ForceProblem, Trials | None]:
        """The problem with kernel and ridge as given, or chosen, and what was tried for that."""
        named, chosen = isinstance(kernel, str), isinstance(alpha, str)
        if chosen and alpha != "loo":
            raise ValueError(f"alpha must be a positive number or 'loo', got {alpha!r}.")
        ridge = 1.0 if chosen else float(check_alphas(alpha, "alpha")[0])
        problem = self.problem(ForceKernel(as_force_kernel(kernel), permutations), ridge)
        check_distinct(problem.kernel.images(self.D.X))
        if not (named or chosen):
            return problem, None
        if len(self.y) < 3:
            raise ValueError("Choosing length-scale or alpha needs at least 3 geometries; pass both.")
        problem, trials = choose(problem, length_scale=named, alpha=chosen)
        return problem, trials.in_units(self.unit)

    def to_atoms(self, a: np.ndarray) -> np.ndarray:
        """Vectors in internal coordinates as vectors on atoms (n, N, 3), in the unit of the data."""
        onto = np.einsum("npm,nm->np", self.Q, a.reshape(self.y.shape))
        return self.unit * onto.reshape(len(onto), -1, 3)

    def from_atoms(self, F: np.ndarray) -> np.ndarray:
        """The way back, of shape (n m,)."""
        return np.einsum("npm,np->nm", self.Q, F.reshape(len(F), -1)).ravel() / self.unit
