r"""A prediction of a force field taken apart, exactly.

The energy is a sum over training geometries j and their images. Its slope in the descriptor :math:`x_{ab} = 1
/ \|r_a - r_b\|` of a pair, times :math:`\|\partial x_{ab} / \partial r_a\| = x_{ab}^2`, is the force with
which atoms a and b push each other apart; forces on atoms are sums of these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.features.geometry import Descriptors, pairs_of_atoms
from pellucid.models.forces.hessian import ForceSum


@dataclass(frozen=True)
class ForceExplanation:
    """An energy as a sum over training geometries, and its slope as a sum over pairs of atoms."""

    energy: float
    constant: float
    parts: np.ndarray  # (n,): what each training geometry adds; constant + parts.sum() = energy
    pairs: np.ndarray  # (d, 2): numbers of the atoms of each pair
    tension: np.ndarray  # (d,): force along each pair, positive where the atoms repel each other
    forces: np.ndarray  # (N, 3): the sum of the pairs' forces on each atom

    @classmethod
    def of(cls, fitted: ForceSum, D: Descriptors, constant: float) -> ForceExplanation:
        """Take the first geometry of ``D`` apart."""
        parts = fitted.parts(D.X[0])
        downhill = fitted.evaluate(D.X[:1])[1]
        return cls(
            energy=float(constant + parts.sum()),
            constant=float(constant),
            parts=parts,
            pairs=np.column_stack(pairs_of_atoms(D.n_atoms)),
            tension=-downhill[0] * np.linalg.norm(D.G[0], axis=1),
            forces=D.pull_back(downhill)[0],
        )
