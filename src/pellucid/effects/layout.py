"""Where to draw the nodes of a molecule or graph on paper."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

from pellucid.effects.parts import SiteMap
from pellucid.kernels.structured.chem import flat_coordinates
from pellucid.kernels.structured.graph import Graph


def flat_layout(site: SiteMap) -> np.ndarray:
    """Coordinates of the nodes, of shape (n, 2): RDKit's for molecules, otherwise by distances."""
    if isinstance(site.item, str):
        return flat_coordinates(site.item)
    return by_distance(len(site.labels), site.bonds)


_LARGE = 400  # nodes, beyond which all distances are too many
_LANDMARKS = 60


def by_distance(n: int, bonds: tuple[tuple[int, int], ...]) -> np.ndarray:
    """Places whose distances are near those along the graph: classical scaling, then stress majorisation.

    Of large graphs only the distances to some landmarks are taken, and scaled.
    """
    if n > _LARGE:
        return _by_landmarks(n, bonds)
    D = Graph(("",) * n, bonds).distances.astype(float)
    D[D < 0] = max(D.max(), 1.0) + 1.0  # what is not connected stands apart
    H = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * H @ D**2 @ H)
    X = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 1e-9))
    X = np.pad(X, ((0, 0), (0, 2 - X.shape[1])))
    X = X + 1e-3 * np.random.default_rng(0).normal(size=X.shape)  # nodes that are alike would coincide
    weight = 1.0 / np.where(D > 0, D, 1.0) ** 2
    np.fill_diagonal(weight, 0.0)
    inverse = np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight)
    for _ in range(100):
        apart = np.linalg.norm(X[:, None] - X, axis=2)
        B = -weight * np.divide(D, apart, out=np.zeros_like(D), where=apart > 0)
        np.fill_diagonal(B, 0.0)
        np.fill_diagonal(B, -B.sum(axis=1))
        X = inverse @ (B @ X)
    return X


def _by_landmarks(n: int, bonds: tuple[tuple[int, int], ...]) -> np.ndarray:
    """Classical scaling of the squared distances from a few nodes to all others."""
    u, v = np.array(bonds, dtype=np.intp).reshape(-1, 2).T
    A = coo_array((np.ones(len(u)), (u, v)), shape=(n, n)).tocsr()
    landmarks = np.random.default_rng(0).choice(n, _LANDMARKS, replace=False)
    D = shortest_path(A, directed=False, unweighted=True, indices=landmarks)
    D[np.isinf(D)] = D[np.isfinite(D)].max() + 1.0
    C = D**2
    C = C - C.mean(axis=0) - C.mean(axis=1)[:, None] + C.mean()
    _, size, axes = np.linalg.svd(C, full_matrices=False)
    return axes[:2].T * np.sqrt(size[:2])
