"""One feature as a few smooth columns: centred and orthonormal over the training rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_RARE = 0.01  # shares of the rows at both ends outside of which the straight part of the scale is cut


@dataclass(frozen=True)
class Smooth:
    """Functions of one feature, given by their values at knots and straight in between.

    Beyond the outer knots they are constant; at a level that was not seen in training they are zero, which is
    their mean.
    """

    knots: np.ndarray  # (m,): increasing numbers taken from the data, or levels (objects)
    levels: bool  # whether the knots are levels
    table: np.ndarray
    """Values of the functions at the knots, (m + 1, r), from the smoothest on; the last row is zero."""
    density: np.ndarray  # (m,): share of the training rows nearest to each knot

    @property
    def size(self) -> int:
        """Number of functions."""
        return self.table.shape[1]

    def locate(self, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Row ``i`` lies between knots ``index[i]`` and the next, at the fraction ``part[i]`` of the way."""
        m = len(self.knots)
        if self.levels:
            return np.where(column < 0, m, column).astype(np.int32), np.zeros(len(column))
        index = np.clip(np.searchsorted(self.knots, column, side="right") - 1, 0, m - 1).astype(np.int32)
        left = self.knots[index]
        width = np.append(np.diff(self.knots), np.inf)[index]
        return index, np.clip((column - left) / width, 0.0, 1.0)


def smooth_columns(
    column: np.ndarray,
    weight: np.ndarray,
    *,
    n_knots: int,
    n_columns: int,
    levels: Sequence[str] | None = None,
) -> Smooth:
    r"""Leading eigenfunctions of a smoothing kernel under the distribution of a feature.

    With :math:`M` the Gram matrix of the hat functions of the knots over the rows, and :math:`K` the kernel
    on the knots, centred so that :math:`K M 1 = 0`, the functions have knot values :math:`KLq/\kappa` where
    :math:`M = LL^\top` and :math:`L^\top K L\,q = \kappa q`. They have mean zero and are orthonormal over
    the rows.
    """
    if levels is not None:
        return _level_columns(column, weight, n_columns, levels)
    knots = _quantiles(column, weight, n_knots)
    place = Smooth(knots, False, np.zeros((len(knots) + 1, 0)), np.zeros(len(knots)))
    index, part = place.locate(column)
    M = _hat_gram(index, part, weight, len(knots))
    K = spline_kernel(_warp(column, weight, knots))
    mass = M.sum(axis=1)
    K = K - np.add.outer(K @ mass, K @ mass) + mass @ K @ mass
    table = _eigenfunctions(K, M, min(n_columns, len(knots) - 1))
    near = np.minimum(index + (part > 0.5), len(knots) - 1)
    density = np.bincount(near, weight, len(knots)) / weight.sum()
    return Smooth(knots, False, table, density)


def _level_columns(codes: np.ndarray, weight: np.ndarray, n_columns: int, levels: Sequence[str]) -> Smooth:
    """Levels, the frequent ones first in the order of the functions."""
    share = np.bincount(codes.astype(np.intp), weight, len(levels)) / weight.sum()
    K = np.eye(len(levels))
    K = K - np.add.outer(share, share) + share @ share
    table = _eigenfunctions(K, np.diag(share), min(n_columns, len(levels) - 1))
    return Smooth(np.array(levels, dtype=object), True, table, share)


def _quantiles(column: np.ndarray, weight: np.ndarray, n_knots: int) -> np.ndarray:
    """Values of the data at equally spaced shares of the weight, the ends included."""
    order = np.argsort(column, kind="stable")
    reached = np.cumsum(weight[order])
    wanted = np.linspace(0.0, 1.0, n_knots) * reached[-1]
    place = np.minimum(np.searchsorted(reached, wanted * (1.0 - 1e-12)), len(order) - 1)
    distinct_values = np.unique(column)
    if len(distinct_values) <= n_knots:
        return distinct_values
    return np.unique(np.concatenate([column[order][place], distinct_values[[0, -1]]]))


def _warp(column: np.ndarray, weight: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Coordinate of the knots: half their rank, half their value on a scale that outliers do not stretch."""
    order = np.argsort(column, kind="stable")
    ordered, reached = column[order], np.append(0.0, np.cumsum(weight[order]))
    low, high = (reached[np.searchsorted(ordered, knots, side)] for side in ("left", "right"))
    rank = (low + high) / (2.0 * reached[-1])
    first, last = (ordered[np.searchsorted(reached[1:], q * reached[-1])] for q in (_RARE, 1.0 - _RARE))
    if last <= first:  # nearly all rows have one value
        return rank
    linear = np.clip((knots - first) / (last - first), -0.2, 1.2)
    return 0.5 * (rank + linear)


def spline_kernel(u: np.ndarray) -> np.ndarray:
    """Kernel of natural cubic splines on the unit interval, straight lines included."""
    span = u[-1] - u[0]
    t = (u - u[0]) / span if span > 0 else np.zeros_like(u)
    k1 = t - 0.5
    k2 = 0.5 * (k1**2 - 1.0 / 12.0)
    d = np.abs(t[:, None] - t[None, :]) - 0.5
    k4 = (d**4 - 0.5 * d**2 + 7.0 / 240.0) / 24.0
    return np.outer(k1, k1) + np.outer(k2, k2) - k4


def _hat_gram(index: np.ndarray, part: np.ndarray, weight: np.ndarray, m: int) -> np.ndarray:
    """Gram matrix of the hat functions over the rows, divided by the sum of the weights; tridiagonal."""
    s = weight / weight.sum()
    here = np.bincount(index, s * (1 - part) ** 2, m + 1)
    here[1:] += np.bincount(index, s * part**2, m + 1)[:-1]
    beside = np.bincount(index, s * part * (1 - part), m + 1)
    return np.diag(here[:m]) + np.diag(beside[: m - 1], 1) + np.diag(beside[: m - 1], -1)


def _eigenfunctions(K: np.ndarray, M: np.ndarray, r: int) -> np.ndarray:
    m = len(K)
    if r < 1:
        return np.zeros((m + 1, 0))
    L = np.linalg.cholesky(M + 1e-14 * np.trace(M) / m * np.eye(m))
    kappa, q = np.linalg.eigh(L.T @ K @ L)
    keep = np.argsort(-kappa)[:r]
    keep = keep[kappa[keep] > 1e-10 * kappa[keep[0]]]
    table = K @ (L @ q[:, keep]) / kappa[keep]
    largest = np.argmax(np.abs(table), axis=0)
    table *= np.sign(table[largest, np.arange(len(keep))])  # signs do not depend on the library
    return np.vstack([table, np.zeros(len(keep))])
