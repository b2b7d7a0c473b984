"""Which features and which pairs deserve columns: score statistics that need no fit of their own.

A column φ that were added to the present fit would gain about (φᵀg)² / φᵀWφ, where g is the slope of the loss
and W its curvature. A feature or a pair is ranked by the sum of these gains over its smoothest columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from pellucid.features.term_basis import Axes, Term

_PER_FEATURE = 6
_BINS = 16
_PRIOR = 3.0  # rows that the prior of a cell is worth
_BLOCK = 4096
_EXACT = 300_000  # entries up to which sums are float64


class _Rows(Protocol):
    @property
    def X(self) -> np.ndarray: ...  # noqa: N802
    @property
    def offset(self) -> np.ndarray: ...
    @property
    def weight(self) -> np.ndarray: ...
    def working(self, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...
    def __len__(self) -> int: ...


def rank_features(problem: _Rows, axes: Axes, features: Sequence[int], most: int) -> list[int]:
    """The ``most`` features that a fit of one feature gains most from, in their own order."""
    if len(features) <= most:
        return list(features)
    w, r = _residual(problem, np.array(problem.offset))
    gain = np.empty(len(features))
    for k, j in enumerate(features):
        Z = axes.main[j].at(axes.fine[j].locate(problem.X[:, j]))[:, :_PER_FEATURE]
        gain[k] = np.sum((Z.T @ (w * r)) ** 2 / np.maximum((Z * Z).T @ w, 1e-300))
    best = np.sort(_best(gain, most))
    return [features[k] for k in best]


def rank_pairs(problem: _Rows, axes: Axes, eta: np.ndarray, pairs: Sequence[Term], most: int) -> list[Term]:
    """The ``most`` pairs from which the fit ``eta`` gains most, the best first.

    Each feature is cut into at most 16 bins of about equal mass. With one-hot rows O of all bins of all
    features, Oᵀ diag(g) O holds the sums of slopes g in the cells of every pair, and OᵀWO the curvatures: two
    matrix products, however many pairs there are. The gain of a pair, about Σ (cell slope)² / curvature, is
    compared with its mean and spread under noise at several resolutions, for bins joined in fours and
    sixteens along either feature, and the largest excess counts: a pair may be smooth along one feature and
    rough along the other.
    """
    w, r = _residual(problem, eta)
    scale = float(w @ r**2) / float(problem.weight.sum())
    features = sorted({j for pair in pairs for j in pair})
    place = {j: k for k, j in enumerate(features)}
    bins = [_bins(axes, j) for j in features]
    k = len(features)
    dtype = np.float64 if len(problem) * k <= _EXACT else np.float32
    slope = np.zeros((k * _BINS, k * _BINS), dtype=dtype)
    curvature = np.zeros_like(slope)
    for start in range(0, len(problem), _BLOCK):
        rows = slice(start, start + _BLOCK)
        m = len(w[rows])
        cells: np.ndarray = np.zeros((m, k, _BINS), dtype=dtype)
        for f, j in enumerate(features):
            i, _ = axes.coarse[j].locate(problem.X[rows, j])
            cells[np.arange(m), f, bins[f][i]] = 1.0
        hot = cells.reshape(m, -1)
        slope += (hot * (w[rows] * r[rows]).astype(dtype)[:, None]).T @ hot
        curvature += (hot * w[rows].astype(dtype)[:, None]).T @ hot
    S, C = (A.reshape(k, _BINS, k, _BINS) for A in (slope, curvature))
    gain = np.empty(len(pairs))
    for t, (p, q) in enumerate(pairs):
        gain[t] = _excess(S[place[p], :, place[q]], C[place[p], :, place[q]], scale)
    return [pairs[i] for i in _best(gain, most)]


def _best(gain: np.ndarray, most: int) -> np.ndarray:
    """Positions of the largest gains; what differs by rounding only is a tie, and ties go by position."""
    size = np.max(np.abs(gain), initial=0.0)
    level = np.round(gain / size, 6) if size > 0 else gain
    return np.argsort(-level, kind="stable")[:most]


def _bins(axes: Axes, j: int) -> np.ndarray:
    """Bin of each point of an axis, and of the place that is nowhere."""
    axis = axes.coarse[j]
    mass = axis.mass
    order = np.argsort(-mass, kind="stable") if axis.levels else np.arange(len(mass))
    middle = np.cumsum(mass[order]) - mass[order] / 2
    out = np.zeros(len(mass) + 1, dtype=np.intp)
    out[order] = (
        np.minimum(np.arange(len(mass)), _BINS - 1) if axis.levels else (middle * _BINS).astype(np.intp)
    )
    return np.clip(out, 0, _BINS - 1)


def _excess(slope: np.ndarray, curvature: np.ndarray, scale: float) -> float:
    """Largest standardised gain over resolutions.

    A cell of slope s and curvature c gains s² / (c + c₀): the effect of a cell has a prior variance, or a
    single surprising row in a cell without curvature would outweigh everything. Under noise its mean is
    c / (c + c₀) and its variance about (2c² + c) / (c + c₀)², as counts and classes are not normal.
    """
    best = -np.inf
    for a in (4, 16):
        for b in (4, 16):
            s = slope.reshape(a, _BINS // a, b, _BINS // b).sum(axis=(1, 3), dtype=float)
            c = curvature.reshape(a, _BINS // a, b, _BINS // b).sum(axis=(1, 3), dtype=float)
            gain = s**2 / max(scale, 1e-300) - c
            noise = np.sqrt(np.sum((2.0 * c**2 + c) / (c + _PRIOR) ** 2))
            best = max(best, float(np.sum(gain / (c + _PRIOR))) / max(float(noise), 1e-300))
    return best


def _residual(problem: _Rows, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Working weights, and working residuals of mean zero."""
    w, z = problem.working(eta)
    r = z - (eta - problem.offset)
    return w, r - float(w @ r) / float(w.sum())
