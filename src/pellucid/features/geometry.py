r"""Geometries of a molecule as descriptors that no rotation or translation changes.

The descriptor of a geometry :math:`r_1, \dots, r_N` has one entry per pair of atoms, :math:`x_{ab} = 1 /
\|r_a - r_b\|`. Its Jacobian is sparse,

.. math:: \partial x_{ab} / \partial r_a = -x_{ab}^3 (r_a - r_b) = -\partial x_{ab} / \partial r_b,

and vanishes on the six directions of rigid motion. So :math:`J = \tilde J Q^\top` with an orthonormal basis
:math:`Q` of the :math:`m = 3N - 6` others: forces and blocks of kernel matrices are kept in these *internal*
coordinates, which loses nothing and makes matrices smaller.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.linalg import row_blocks


def pairs_of_atoms(n_atoms: int) -> tuple[np.ndarray, np.ndarray]:
    """First and second atom of each pair, in the order of descriptors.

    Examples
    --------
    >>> pairs_of_atoms(3)
    (array([0, 0, 1]), array([1, 2, 2]))
    """
    return np.triu_indices(n_atoms, 1)


def permuted_pairs(permutation: np.ndarray) -> np.ndarray:
    """Position, among the descriptors of a geometry, of each descriptor of the geometry with atoms permuted.

    ``x[permuted_pairs(p)]`` is the descriptor of ``R[p]``.
    """
    n = len(permutation)
    a, b = pairs_of_atoms(n)
    number = np.zeros((n, n), dtype=np.intp)
    number[a, b] = number[b, a] = np.arange(len(a))
    return number[permutation[a], permutation[b]]


def inverse_distances(R: np.ndarray) -> np.ndarray:
    """Descriptors of shape (n, d) of geometries of shape (n, N, 3)."""
    a, b = pairs_of_atoms(R.shape[1])
    return 1.0 / np.linalg.norm(R[:, a] - R[:, b], axis=2)


@dataclass(frozen=True, eq=False)
class Descriptors:
    """Descriptors of geometries, and the derivatives with respect to positions."""

    X: np.ndarray  # (n, d): inverse distances
    G: np.ndarray  # (n, d, 3): derivative of each with respect to the first atom of its pair

    @classmethod
    def of(cls, R: np.ndarray) -> Descriptors:
        """Descriptors of geometries of shape (n, N, 3)."""
        a, b = pairs_of_atoms(R.shape[1])
        difference = R[:, a] - R[:, b]
        X = 1.0 / np.sqrt(np.einsum("ndk,ndk->nd", difference, difference))
        return cls(X, -(X**3)[:, :, None] * difference)

    @property
    def n_atoms(self) -> int:
        """Number of atoms N, from N (N - 1) / 2 = d."""
        return round(0.5 * (1.0 + np.sqrt(1.0 + 8.0 * self.X.shape[1])))

    def push_forward(self, motion: np.ndarray) -> np.ndarray:
        """Derivatives ``J u`` of the descriptors, (n, d), along motions ``u`` of the atoms, (n, N, 3)."""
        a, b = pairs_of_atoms(self.n_atoms)
        return np.einsum("ndk,ndk->nd", self.G, motion[:, a] - motion[:, b])

    def pull_back(self, gradient: np.ndarray) -> np.ndarray:
        """Derivatives with respect to positions, (n, N, 3), where those in ``x`` are ``gradient`` (n, d)."""
        a, b = pairs_of_atoms(self.n_atoms)
        per_pair = gradient[:, :, None] * self.G
        out = np.zeros((len(gradient), self.n_atoms, 3))
        for atom in range(self.n_atoms):  # sums in one order, whatever the machine
            out[:, atom] = per_pair[:, a == atom].sum(axis=1) - per_pair[:, b == atom].sum(axis=1)
        return out

    def jacobians(self) -> np.ndarray:
        """The Jacobians ``J`` of shape (n, d, 3 N)."""
        a, b = pairs_of_atoms(self.n_atoms)
        n, d = self.X.shape
        J = np.zeros((n, d, self.n_atoms, 3))
        J[:, np.arange(d), a] = self.G
        J[:, np.arange(d), b] = -self.G
        return J.reshape(n, d, -1)

    def internal(self) -> tuple[np.ndarray, np.ndarray]:
        """The bases ``Q`` of shape (n, 3 N, m) and the Jacobians ``J Q`` of shape (n, d, m).

        The columns of Q are the eigenvectors of ``JᵀJ`` with the m largest eigenvalues.
        """
        n, d = self.X.shape
        p = 3 * self.n_atoms
        m = max(p - 6, 1)
        Q, JQ = np.empty((n, p, m)), np.empty((n, d, m))
        for block in row_blocks(n, 8.0 * d * p):
            J = Descriptors(self.X[block], self.G[block]).jacobians()
            Q[block] = np.linalg.eigh(np.swapaxes(J, 1, 2) @ J)[1][:, :, p - m :]
            JQ[block] = J @ Q[block]
        return Q, JQ
