"""Geometries, forces, atoms and kernels as they enter."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from pellucid.data.elements import SYMBOLS, atomic_number
from pellucid.exceptions import UnitsWarning
from pellucid.kernels import RBF, Matern, RationalQuadratic
from pellucid.kernels.stationary import _Stationary

_NAMED: dict[str, _Stationary] = {
    "matern52": Matern(nu=2.5),
    "rbf": RBF(),
    "rational_quadratic": RationalQuadratic(),
}
_ALIKE = 0.5  # share of the variance of energies that forces explain, if need be after a change of unit
_TOUCHING = 1e-3  # of the median distance: atoms nearer than this coincide


def as_force_kernel(kernel: Any) -> _Stationary:
    """A kernel of the distance with a second derivative, by name or given."""
    if isinstance(kernel, str):
        if kernel not in _NAMED:
            raise ValueError(f"Unknown kernel {kernel!r} for forces. Known names: {', '.join(_NAMED)}.")
        return _NAMED[kernel]
    if not isinstance(kernel, _Stationary) or np.ndim(kernel.length_scale):
        raise ValueError(
            f"Forces need a kernel of the distance with one length-scale, such as "
            f"Matern(20.0, nu=2.5), RBF(20.0) or RationalQuadratic(20.0); got {kernel!r}."
        )
    kernel._bend(np.zeros(1))  # raises where there is no second derivative
    return kernel


def check_atoms(atoms: Any, n_atoms: int) -> np.ndarray:
    """Atomic numbers of shape (N,) from numbers or symbols; zeros, for all alike, where none are given."""
    if atoms is None:
        return np.zeros(n_atoms, dtype=np.intp)
    listed = list(atoms)
    if len(listed) != n_atoms:
        raise ValueError(f"atoms lists {len(listed)} atoms, but the geometries have {n_atoms}.")
    return np.array([atomic_number(atom) for atom in listed], dtype=np.intp)


def check_geometries(R: Any, n_atoms: int | None = None) -> np.ndarray:
    """Geometries as float64 of shape (n, N, 3); a single one may come as (N, 3)."""
    R = np.asarray(R, dtype=np.float64)
    R = R[None] if R.ndim == 2 else R
    if R.ndim != 3 or R.shape[2] != 3 or R.shape[1] < 2:
        raise ValueError(f"Geometries must have the shape (geometries, atoms, 3), got {R.shape}.")
    if len(R) == 0:
        raise ValueError("Found 0 geometries.")
    if n_atoms is not None and R.shape[1] != n_atoms:
        raise ValueError(
            f"The force field is of a molecule of {n_atoms} atoms; these geometries have {R.shape[1]}."
        )
    _finite(R, "positions")
    a, b = np.triu_indices(R.shape[1], 1)
    distance = np.linalg.norm(R[:, a] - R[:, b], axis=2)
    row, pair = np.unravel_index(np.argmin(distance), distance.shape)
    if distance[row, pair] <= _TOUCHING * np.median(distance):
        raise ValueError(f"Atoms {a[pair]} and {b[pair]} of geometry {row} are at the same place.")
    return R


def check_forces(F: Any, R: np.ndarray) -> np.ndarray:
    """Forces of the shape of the geometries."""
    if F is None:
        raise ValueError("This estimator requires forces to be passed as the second argument of fit.")
    F = np.asarray(F, dtype=np.float64)
    F = F[None] if F.ndim == 2 else F
    if F.shape != R.shape:
        raise ValueError(f"Forces must have the shape of the geometries, {R.shape}; got {F.shape}.")
    _finite(F, "forces")
    return F


def unit_of(y: np.ndarray) -> float:
    """Root mean square of forces, 1 if there are none; refused where its square is no number."""
    top = float(np.abs(y).max())
    if top == 0:
        return 1.0
    if not 1e-150 < top < 1e150:
        raise ValueError(
            f"Forces of up to {top:.1g} have squares that no number can hold: choose another unit."
        )
    return top * float(np.sqrt(np.mean((y / top) ** 2)))


def check_energies(energies: Any, n: int) -> np.ndarray | None:
    """Energies of shape (n,), or ``None``."""
    if energies is None:
        return None
    E = np.asarray(energies, dtype=np.float64).reshape(-1)
    if len(E) != n:
        raise ValueError(f"energies has {len(E)} entries, but there are {n} geometries.")
    _finite(E[:, None], "energies")
    return E


def warn_of_units(E: np.ndarray, found: np.ndarray) -> None:
    """Say so where a factor would bring energies and those that follow from forces together."""
    spread = float(found.std())
    if spread == 0.0 or E.std() == 0.0:
        return
    correlation = float(np.corrcoef(E, found)[0, 1])
    factor = correlation * float(E.std()) / spread
    if correlation**2 < _ALIKE or np.var(E - found) < (1.0 - _ALIKE) * np.var(E):
        return
    cause = (
        "Are they gradients? Forces are minus the gradient of the energy"
        if factor < 0
        else "Are their units the same? kcal/mol and kcal/mol/Å, or eV and eV/Å"
    )
    warnings.warn(
        f"Energies are about {factor:.3g} times those that follow from the forces. {cause}.",
        UnitsWarning,
        stacklevel=3,
    )


def check_distinct(X: np.ndarray) -> None:
    """Raise if two geometries have the same descriptors, up to rounding."""
    order = np.lexsort(X.T[::-1])
    gap = np.abs(np.diff(X[order], axis=0)).max(axis=1)
    if np.any(gap <= 1e-12 * np.abs(X).max()):
        k = int(np.argmin(gap))
        one, other = sorted((int(order[k]), int(order[k + 1])))
        raise ValueError(
            f"Geometries {one} and {other} are the same, up to rotation: drop one of them. A copy adds "
            f"nothing, and makes leaving one out look better than it is."
        )


def check_same_atoms(atoms: Any, known: np.ndarray) -> None:
    """Raise unless ``atoms`` are those of the force field, in their order."""
    if atoms is None:
        return
    numbers = check_atoms(atoms, len(known))
    if np.array_equal(numbers, known):
        return
    names = " ".join(SYMBOLS[k] for k in known)
    if sorted(numbers) == sorted(known):
        raise ValueError(f"The atoms stand in another order than in training, which was {names}.")
    raise ValueError(f"These are other atoms than those of the force field, {names}.")


def _finite(values: np.ndarray, what: str) -> None:
    bad = ~np.isfinite(values).reshape(len(values), -1).all(axis=1)
    if bad.any():
        raise ValueError(f"The {what} of geometry {int(np.argmax(bad))} contain NaN or infinity.")
