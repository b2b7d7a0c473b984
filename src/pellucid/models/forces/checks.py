"""Geometries, forces, atoms and kernels as they enter."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid._callers import warn_caller
from pellucid.data.elements import SYMBOLS, atomic_number
from pellucid.exceptions import GeometryWarning
from pellucid.kernels import RBF, Matern, RationalQuadratic
from pellucid.kernels.stationary import _Stationary

_NAMED: dict[str, _Stationary] = {
    "matern52": Matern(nu=2.5),
    "rbf": RBF(),
    "rational_quadratic": RationalQuadratic(),
}
_ALIKE = 0.5  # share of the variance of energies that forces explain, if need be after a change of unit
_UNLEARNED = 0.95  # of the size of forces: an error above it is that of predicting zero, give or take
_RIGID = (
    0.01  # share of the squares of forces that may move or turn the whole: rounding of programs is far below
)
_SAME = 1e-7  # of the largest inverse distance: what files with eight digits leave of a copy
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
    R = _as_numbers(R, "Geometries")
    if R.ndim not in (2, 3) or R.shape[-1] != 3 or R.shape[-2] < 2:
        raise ValueError(f"Geometries must have the shape (geometries, atoms, 3), got {R.shape}.")
    R = R[None] if R.ndim == 2 else R
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
    F = _as_numbers(F, "Forces")
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
    E = _as_numbers(energies, "energies").reshape(-1)
    if len(E) != n:
        raise ValueError(f"energies has {len(E)} entries, but there are {n} geometries.")
    _finite(E[:, None], "energies")
    return E


def warn_of_rigid_motion(F: np.ndarray, y: np.ndarray) -> None:
    """Say so where forces move or turn the molecule as a whole; ``y`` is what is left without that."""
    left = 1.0 - np.sum(y**2) / max(np.sum(F**2), np.finfo(float).tiny)
    if left > _RIGID:
        warn_caller(
            f"{100 * left:.2g} % of the squares of the forces move or turn the molecule as a whole, which "
            f"no energy of its shape does. They are left out. Are forces and positions in the same "
            f"coordinates, and atoms in the same order?",
            GeometryWarning,
        )


def warn_of_poor_forces(error: float, y: np.ndarray) -> None:
    """Say so where forces of geometries left out are predicted hardly better than by zero."""
    spread = float(np.sqrt(np.mean(y**2, axis=1)).mean())
    if error > _UNLEARNED * spread > 0:
        warn_caller(
            f"Forces of geometries left out have an error of {error:.3g}, and are {spread:.3g} themselves: "
            f"hardly anything was learned. Are atoms in the same order in all geometries, and are there "
            f"enough of them?",
            GeometryWarning,
        )


def warn_of_units(E: np.ndarray, found: np.ndarray) -> None:
    """Say so where a factor would bring energies and those that follow from the forces together."""
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
    warn_caller(
        f"Energies are about {factor:.3g} times those that follow from the forces. {cause}.",
        GeometryWarning,
    )


def check_distinct(images: np.ndarray) -> None:
    """Raise if two geometries have the same descriptors, up to rounding, among their images (n, S, d).

    Each is represented by the image that is largest in one direction, along which copies are neighbours.
    """
    along = images @ np.random.default_rng(0).random(images.shape[2])
    X = images[np.arange(len(images)), along.argmax(axis=1)]
    order = along.max(axis=1).argsort()
    gap = np.abs(np.diff(X[order], axis=0)).max(axis=1)
    k = int(np.argmin(gap))
    if gap[k] <= _SAME * np.abs(X).max():
        one, other = sorted((int(order[k]), int(order[k + 1])))
        raise ValueError(
            f"Geometries {one} and {other} are the same, up to rotation and equivalent atoms: drop one of "
            f"them. A copy adds nothing, and makes leaving one out look better than it is."
        )


def check_same_atoms(atoms: Any, known: np.ndarray) -> None:
    """Raise unless ``atoms`` are those of the force field, in their order."""
    if atoms is None:
        return
    numbers = check_atoms(atoms, len(known))
    if not known.any():
        raise ValueError(
            "The force field was fitted without atoms, so these cannot be compared with any: leave atoms "
            "out, or fit with atoms=."
        )
    if np.array_equal(numbers, known):
        return
    names = " ".join(SYMBOLS[k] for k in known)
    if sorted(numbers) == sorted(known):
        raise ValueError(f"The atoms stand in another order than in training, which was {names}.")
    raise ValueError(f"These are other atoms than those of the force field, {names}.")


def _as_numbers(values: Any, what: str) -> np.ndarray:
    try:
        found = np.asarray(values)
        if found.dtype.kind != "c":
            return found.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{what} must be one array of real numbers, of the same atoms for each geometry.")


def _finite(values: np.ndarray, what: str) -> None:
    bad = ~np.isfinite(values).reshape(len(values), -1).all(axis=1)
    if bad.any():
        raise ValueError(f"The {what} of geometry {int(np.argmax(bad))} contain NaN or infinity.")
