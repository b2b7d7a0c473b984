"""Features that act in pairs only: a scan of all pairs of many features by products of smooth columns.

A feature without a main effect is lost where features are ranked one by one. The two smoothest columns of
each feature, roughly its slope and its curvature, make four products for every pair of features. With all
columns in Φ and slopes g of the loss, the sums over rows of g times every product are the entries of
Φᵀ diag(g) Φ: one matrix product, however many pairs there are.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import chdtri

from pellucid.features.term_basis import Term

PER_FEATURE = 2
_FALSE_ALARM = 0.05  # probability that noise alone brings any pair
_WORK = 2e10  # rows times squared number of features
_LEAST_ROWS = 500
_BLOCK = 256  # features in one block of the matrix product


def most_features() -> int:
    """Features that a scan can take without falling short of rows."""
    return int(np.sqrt(_WORK / _LEAST_ROWS))


def most_rows(n_features: int) -> int:
    """Rows that a scan of so many features can take."""
    return int(_WORK / max(n_features, 1) ** 2)


def standing_out(
    columns: Callable[[int], np.ndarray], features: Sequence[int], slope: np.ndarray, weight: np.ndarray
) -> list[Term]:
    """Pairs that have to do with the slopes beyond doubt, the clearest first.

    The statistic of a product v of columns is (Σ g v)² / Σ (g v)² / weight, which under noise is about χ²₁
    whatever the distribution of the slopes, also where their variance differs from row to row. The sum over
    the four products of a pair is compared with the quantile of χ²₄ that the largest of all pairs exceeds in
    one of twenty tables of noise.

    Parameters
    ----------
    columns : callable
        The columns of a feature at the rows, of shape (n, at most 2), each of mean about zero.
    features : sequence of int
        The features.
    slope : ndarray of shape (n,)
        Slopes g of the loss, weights included, after the main effects.
    weight : ndarray of shape (n,)
        Weights of the rows.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(400, 20))
    >>> g = X[:, 3] * X[:, 8]
    >>> standing_out(lambda j: X[:, [j]], range(20), g, np.ones(400))
    [(3, 8)]
    """
    p = len(features)
    limit = float(chdtri(PER_FEATURE**2, _FALSE_ALARM / max(p * (p - 1) / 2, 1.0)))
    Phi: np.ndarray = np.zeros((p, PER_FEATURE, len(slope)), dtype=np.float32)
    for k, j in enumerate(features):
        Z = columns(j)[:, :PER_FEATURE]
        Phi[k, : Z.shape[1]] = (Z / np.maximum(np.abs(Z).max(axis=0, initial=0.0), 1e-300)).T
    size = float(np.abs(slope).max(initial=0.0))
    if size == 0.0:
        return []
    g = slope / size
    square = np.divide(g * g, weight, out=np.zeros_like(g), where=weight > 0)
    found: list[tuple[float, Term]] = []
    for a in range(0, p, _BLOCK):
        A = Phi[a : a + _BLOCK].reshape(-1, len(g))
        first, second = A * g.astype(np.float32), A * A * square.astype(np.float32)
        for b in range(a, p, _BLOCK):
            B = Phi[b : b + _BLOCK].reshape(-1, len(g))
            score, noise = first @ B.T, second @ (B * B).T
            z = np.divide(score**2, noise, out=np.zeros_like(score), where=noise > 0)
            total = z.reshape(len(A) // PER_FEATURE, PER_FEATURE, -1, PER_FEATURE).sum(axis=(1, 3))
            for i, k in np.argwhere(total > limit):
                if a + i < b + k:
                    found.append((round(float(total[i, k]), 2), (features[a + i], features[b + k])))
    return [pair for _, pair in sorted(found, key=lambda z: (-z[0], z[1]))]
