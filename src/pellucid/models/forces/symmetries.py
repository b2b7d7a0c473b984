r"""Permutations of like atoms that leave the energy unchanged, found from training geometries.

A permutation matters if the molecule passes through it (a methyl group turns) while its atoms keep their
names. Then two geometries look alike up to that permutation. So geometries are matched in pairs: with
:math:`D` the matrix of distances of a geometry and :math:`V` the absolute values of its eigenvectors, the
assignment that maximises :math:`\mathrm{tr}(P^\top V_i V_j^\top)` among permutations of like atoms (the
Hungarian algorithm on Umeyama's score [1]_) is nearly the one that minimises :math:`\|D_i - P D_j P^\top\|`.
Single matches err, so they are synchronised: along a minimum spanning tree of the matching errors, each
geometry gets one permutation relative to the root [2]_. The permutations that occur are completed to a group.

References
----------
.. [1] S. Umeyama. An eigendecomposition approach to weighted graph matching problems. IEEE Trans. Pattern
   Anal. Mach. Intell. 10, 695 (1988).
.. [2] S. Chmiela, H. E. Sauceda, K.-R. Müller, A. Tkatchenko. Towards exact molecular dynamics simulations
   with machine-learned force fields. Nat. Commun. 9, 3887 (2018).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

_GEOMETRIES = 120  # that are matched with each other; their pairs are what takes time
_FOUND = 200  # permutations that a search may find: a tert-butyl group has 162; beyond, atoms may be shuffled
_LARGEST = 5000  # elements of a group; beyond, something is wrong


def find_symmetries(R: np.ndarray, atoms: np.ndarray) -> np.ndarray:
    """The group of permutations that training geometries show, of shape (S, N), the identity first.

    Parameters
    ----------
    R : ndarray of shape (n, N, 3)
        Geometries.
    atoms : ndarray of shape (N,)
        Atomic numbers: only like atoms are exchanged.
    """
    n_atoms = R.shape[1]
    if len(R) > _GEOMETRIES:
        R = R[np.linspace(0, len(R) - 1, _GEOMETRIES).astype(int)]
    if len(np.unique(atoms)) == n_atoms or len(R) < 2:
        return np.arange(n_atoms)[None]
    D = np.linalg.norm(R[:, :, None] - R[:, None], axis=3)
    V = np.abs(np.linalg.eigh(D)[1])
    unlike = atoms[:, None] != atoms
    n = len(R)
    error = np.zeros((n, n))
    match = np.empty((n, n, n_atoms), dtype=np.intp)
    identity = np.arange(n_atoms)
    straight = np.linalg.norm(D[:, None] - D, axis=(2, 3))
    for i in range(n):
        for j in range(i):
            cost = -(V[i] @ V[j].T)
            cost[unlike] = n_atoms
            found = linear_sum_assignment(cost)[1]
            there = float(np.linalg.norm(D[i] - D[j][found[:, None], found]))
            p = found if there < straight[i, j] else identity
            match[i, j], match[j, i] = p, np.argsort(p)
            error[i, j] = error[j, i] = min(there, straight[i, j])
    group = group_of(_synchronised(error, match))
    if len(group) > _FOUND:
        raise ValueError(
            f"The geometries show {len(group)} permutations of like atoms, more than a molecule passes "
            f"through: are atoms in the same order in all geometries? If so, pass symmetries=[...], or None."
        )
    return group


def _synchronised(error: np.ndarray, match: np.ndarray) -> np.ndarray:
    """Permutations of every geometry relative to the first, along a minimum spanning tree of the errors.

    Geometries i and j are alike if ``D_i ≈ D_j[p][:, p]`` with ``p = match[i, j]``; along a path the
    permutations are applied one after the other.
    """
    tree = minimum_spanning_tree(csr_array(np.maximum(error, 1e-12) * (1.0 - np.eye(len(error)))))
    order, parent = breadth_first_order(tree, 0, directed=False)
    total = np.empty((len(error), match.shape[2]), dtype=np.intp)
    total[0] = np.arange(match.shape[2])
    for k in order[1:]:
        total[k] = match[parent[k], k][total[parent[k]]]
    return total


def group_of(permutations: Any) -> np.ndarray:
    """Complete permutations to a group, the identity first and the others in lexicographic order.

    Examples
    --------
    >>> group_of([[1, 2, 0]])
    array([[0, 1, 2],
           [1, 2, 0],
           [2, 0, 1]])
    """
    generators = {tuple(int(k) for k in p) for p in permutations}
    n = len(next(iter(generators)))
    group = {tuple(range(n))}
    new = set(group)
    while new:
        new = {tuple(p[k] for k in q) for p in new for q in generators} - group
        group |= new
        if len(group) > _LARGEST:
            raise ValueError(
                f"The permutations generate a group of more than {_LARGEST} elements: are atoms in the same "
                f"order in all geometries? Pass the symmetries of the molecule as symmetries=[...]."
            )
    return np.array(sorted(group), dtype=np.intp)


def check_symmetries(symmetries: Any, R: np.ndarray, atoms: np.ndarray) -> np.ndarray:
    """The group for ``"auto"``, ``None`` (the identity alone) or permutations given by the user."""
    n_atoms = R.shape[1]
    if symmetries is None:
        return np.arange(n_atoms)[None]
    if isinstance(symmetries, str):
        if symmetries != "auto":
            raise ValueError(
                f"symmetries must be 'auto', None or a list of permutations, got {symmetries!r}."
            )
        return find_symmetries(R, atoms)
    given = np.atleast_2d(np.asarray(symmetries))
    if given.ndim != 2 or given.shape[1] != n_atoms or given.dtype.kind not in "iu":
        raise ValueError(f"Each symmetry must list the {n_atoms} atoms, counted from 0, in another order.")
    for p in given:
        if sorted(p.tolist()) != list(range(n_atoms)):
            raise ValueError(f"{p.tolist()} is no permutation of the atoms 0 to {n_atoms - 1}.")
        if np.any(atoms[p] != atoms):
            raise ValueError(f"The permutation {p.tolist()} exchanges atoms of different elements.")
    return group_of(given)
