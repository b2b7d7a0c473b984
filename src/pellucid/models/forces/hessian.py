r"""Covariance of forces under a Gaussian process on energies, symmetrised over permutations of atoms.

Energies are :math:`E(r) = f(x(r))` with :math:`f \sim GP(0, k)`, :math:`k(x, x') = h(s)`, :math:`s = \|x -
x'\|^2 / \ell^2`; forces are :math:`F = -J^\top \nabla f`. With :math:`\delta = x - x'`, :math:`A = -2 h'(s) /
\ell^2` and :math:`B = -4 h''(s) / \ell^4`,

.. math::
    \mathrm{Cov}(F, F') = J^\top (A\, I + B\, \delta\delta^\top) J', \qquad
    \mathrm{Cov}(E, F') = -A\, J'^\top \delta .

A group of permutations :math:`S` enters as a sum over the images of the second geometry: :math:`k_S(x, x') =
\sum_{q \in S} k(x, qx')`, which is symmetric in both and the same for all images of either.

Two forms of the same numbers. *Blocks*, for a factorisation: an :math:`m \times m` block per pair of
geometries. *Sums*, for predictions and for products with the whole matrix: coefficients :math:`a_j` enter
only through :math:`v_j = J_j a_j`, a vector of length d per training geometry, so that

.. math::
    E(x) = -\sum_{jq} A\, \delta \cdot q v_j, \qquad
    -\nabla E(x) = \sum_{jq} \left[ A\, q v_j + B\, (\delta \cdot q v_j)\, \delta \right],

four matrix products for all geometries at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pellucid.features.geometry import permuted_pairs
from pellucid.kernels.stationary import _Stationary
from pellucid.linalg import row_blocks, side_by_side

_BLOCK = 4 << 20  # bytes of weights at a time, so that they stay near the processor


@dataclass(frozen=True, eq=False)
class ForceKernel:
    """The kernel between geometries, with the group of permutations that leave energies unchanged."""

    kernel: _Stationary
    permutations: np.ndarray  # (S, N): images of the atoms, the identity first

    @cached_property
    def pairs(self) -> np.ndarray:
        """Where each descriptor of an image comes from, (S, d)."""
        return np.array([permuted_pairs(p) for p in self.permutations])

    def with_length_scale(self, length_scale: float) -> ForceKernel:
        """The same kernel with another length-scale."""
        kernel = type(self.kernel)(**(self.kernel.get_params() | {"length_scale": length_scale}))
        return replace(self, kernel=kernel)

    def images(self, values: np.ndarray) -> np.ndarray:
        """All images of descriptors, or of rows of Jacobians: (n, d, ...) to (n, S, d, ...)."""
        return np.stack([values[:, index] for index in self.pairs], axis=1)

    def weights(self, X: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The numbers A and B between descriptors (n, d) and points (t, d)."""
        scale = float(self.kernel.length_scale)
        centre = points.mean(axis=0)
        U, V = (X - centre) / scale, (points - centre) / scale
        s = -2.0 * (U @ V.T)
        s += np.einsum("nd,nd->n", U, U)[:, None]
        s += np.einsum("td,td->t", V, V)
        np.maximum(s, 0.0, out=s)
        A = self.kernel._slope(s)
        A *= -2.0 / scale**2
        B = self.kernel._bend(s)
        B *= -4.0 / scale**4
        return A, B


@dataclass(frozen=True, eq=False)
class ForceSum:
    """The fitted function: a sum over the images of training geometries, each with a vector ``v``."""

    kernel: ForceKernel
    points: np.ndarray  # (t, d): images of the training descriptors
    vectors: np.ndarray  # (t, d): images of v = J a

    @classmethod
    def of(cls, kernel: ForceKernel, X: np.ndarray, v: np.ndarray) -> ForceSum:
        """Images of training descriptors and vectors, both of shape (n, d)."""
        d = X.shape[1]
        return cls(kernel, kernel.images(X).reshape(-1, d), kernel.images(v).reshape(-1, d))

    @cached_property
    def _inner(self) -> np.ndarray:
        return np.einsum("td,td->t", self.points, self.vectors)

    def evaluate(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Energies (n,) without the constant, and minus their gradients (n, d), at descriptors."""

        def work(rows: slice) -> tuple[np.ndarray, np.ndarray]:
            return self.combine(X[rows], *self.kernel.weights(X[rows], self.points))

        blocks = list(row_blocks(len(X), 8.0 * 4 * len(self.points), _BLOCK))
        energy, downhill = zip(*side_by_side(work, blocks), strict=True)
        return np.concatenate(energy), np.concatenate(downhill)

    def combine(self, X: np.ndarray, A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same from weights that are already there; ``A`` and ``B`` are left as they are."""
        along = X @ self.vectors.T - self._inner  # δ · v
        energy = -np.einsum("nt,nt->n", A, along)
        along *= B
        downhill = A @ self.vectors
        downhill -= along @ self.points
        downhill += along.sum(axis=1)[:, None] * X
        return energy, downhill

    def parts(self, x: np.ndarray) -> np.ndarray:
        """What each training geometry adds to the energy at one descriptor, summed over its images."""
        A, _ = self.kernel.weights(x[None], self.points)
        along = self.vectors @ x - self._inner
        return -(A[0] * along).reshape(-1, len(self.kernel.permutations)).sum(axis=1)


def fill_covariance(
    K: np.ndarray,
    kernel: ForceKernel,
    X: np.ndarray,
    JQ: np.ndarray,
    step: Callable[[], None] = lambda: None,
) -> None:
    """Write the covariance of all forces in internal coordinates into ``K`` of shape (n m, n m).

    For geometry i, the sum over images q of the second geometry j is taken before the product with the
    Jacobian of i: ``Σ_q A J_jq`` is d × m, and the rest is of rank one per image. Only blocks j ≤ i are
    computed; the others are their mirror images.
    """
    n, d = X.shape
    S, m = len(kernel.pairs), JQ.shape[2]
    points = kernel.images(X)  # (n, S, d)
    images = kernel.images(JQ)  # (n, S, d, m)
    offsets = np.einsum("jqd,jqdm->jqm", points, images)
    flat = points.reshape(-1, d)
    blocks = K.reshape(n, m, n, m)

    def work(rows: slice) -> None:
        last = rows.stop
        A, B = kernel.weights(X[rows], flat[: last * S])
        along = np.einsum("id,jqdm->ijqm", X[rows], images[:last], optimize=True) - offsets[:last]
        for i in range(rows.start, rows.stop):
            j = i + 1
            a = A[i - rows.start].reshape(last, 1, S)[:j]
            b = B[i - rows.start].reshape(last, S)[:j]
            mixed = (a @ images[:j].reshape(j, S, d * m)).reshape(j, d, m)
            left = (X[i] - points[:j]) @ JQ[i]  # (j, S, m): Jᵢᵀδ
            left *= b[:, :, None]
            block = JQ[i].T @ mixed + np.swapaxes(left, 1, 2) @ along[i - rows.start, :j]
            blocks[i, :, :j] = block.transpose(1, 0, 2)
            blocks[:j, :, i] = block.transpose(0, 2, 1)
            step()

    for rows in row_blocks(n, 8.0 * n * S * (m + 2)):
        work(rows)


def covariance_columns(kernel: ForceKernel, X: np.ndarray, JQ: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Columns ``index`` of the covariance matrix, of shape (n m, len(index))."""
    n, d = X.shape
    m, S = JQ.shape[2], len(kernel.pairs)
    j, c = np.divmod(index, m)
    points = kernel.images(X[j])  # (k, S, d)
    vectors = kernel.images(JQ[j, :, c])  # (k, S, d)
    inner = np.einsum("kqd,kqd->kq", points, vectors)
    out = np.empty((n, m, len(index)))
    for rows in row_blocks(n, 8.0 * len(index) * (3 * S + 2 * d)):
        A, B = kernel.weights(X[rows], points.reshape(-1, d))
        A, B = (w.reshape(-1, len(index), S) for w in (A, B))
        along = np.einsum("id,kqd->ikq", X[rows], vectors, optimize=True) - inner
        along *= B
        total = np.einsum("ikq,kqd->ikd", A, vectors, optimize=True)
        total -= np.einsum("ikq,kqd->ikd", along, points, optimize=True)
        total += along.sum(axis=2)[:, :, None] * X[rows, None, :]
        out[rows] = np.swapaxes(JQ[rows], 1, 2) @ np.swapaxes(total, 1, 2)
    return out.reshape(n * m, -1)


def covariance_of_energies(kernel: ForceKernel, X: np.ndarray, JQ: np.ndarray) -> np.ndarray:
    """Covariance of the energies of all geometries with all forces, of shape (n, n m)."""
    n, m = len(X), JQ.shape[2]
    S = len(kernel.pairs)
    points, images = kernel.images(X), kernel.images(JQ)
    offsets = np.einsum("jqd,jqdm->jqm", points, images)
    out = np.empty((n, n, m))
    for rows in row_blocks(n, 8.0 * n * S * (m + 2)):
        A, _ = kernel.weights(X[rows], points.reshape(n * S, -1))
        along = np.einsum("id,jqdm->ijqm", X[rows], images, optimize=True) - offsets
        np.einsum("ijq,ijqm->ijm", -A.reshape(-1, n, S), along, out=out[rows])
    return out.reshape(n, n * m)


def covariance_diagonal(kernel: ForceKernel, X: np.ndarray, JQ: np.ndarray) -> np.ndarray:
    """Diagonal blocks of the covariance, of shape (n, m, m)."""
    points, images = kernel.images(X), kernel.images(JQ)
    scale = float(kernel.kernel.length_scale)
    delta = X[:, None] - points  # (n, S, d)
    s = np.einsum("nqd,nqd->nq", delta, delta) / scale**2
    A, B = -2.0 / scale**2 * kernel.kernel._slope(s), -4.0 / scale**4 * kernel.kernel._bend(s)
    mixed = np.einsum("nq,nqdm->ndm", A, images)
    left = np.einsum("ndm,nqd->nqm", JQ, delta)
    right = np.einsum("nqd,nqdm->nqm", delta, images)
    return np.swapaxes(JQ, 1, 2) @ mixed + np.einsum("nq,nqk,nqm->nkm", B, left, right)
