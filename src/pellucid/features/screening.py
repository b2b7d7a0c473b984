"""Which features and which pairs deserve columns: score statistics that need no fit of their own.

A column φ that were added to the present fit would gain about (φᵀg)² / φᵀWφ, where g is the slope of the loss
and W its curvature. A feature or a pair is ranked by the sum of these gains over its smoothest columns.
"""

from collections.abc import Collection, Sequence
from typing import Protocol

import numpy as np
from scipy.linalg import solve

from pellucid.features.pair_scan import PER_FEATURE, most_features, most_rows, standing_out
from pellucid.features.term_basis import Axes, Term
from pellucid.linalg.sample import sample_rows

_PER_FEATURE = 6
_SHARE = 4  # one of so many places may go to features for the sake of pairs
_MAIN_EFFECTS, _RIDGE = 100, 0.01  # main effects that are taken out before pairs are looked at
_BINS = 16
_PRIOR = 3.0  # rows that the prior of a cell is worth
_ENTRIES = 1 << 18  # rows times pairs that are sorted into cells at once


class _Rows(Protocol):
    @property
    def X(self) -> np.ndarray: ...  # noqa: N802
    @property
    def offset(self) -> np.ndarray: ...
    @property
    def weight(self) -> np.ndarray: ...
    def working(self, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...
    def __len__(self) -> int: ...


def rank_features(
    problem: _Rows,
    axes: Axes,
    features: Sequence[int],
    most: int,
    *,
    keep: Collection[int] = (),
    pairs: bool = True,
    no_interaction: Collection[int] = (),
) -> list[int]:
    """The ``most`` features that a fit gains most from, in their own order.

    Features are ranked by what a fit of one alone gains. With ``pairs``, those of pairs that stand out from
    all pairs take up to a quarter of the places, whatever they do alone. Features in ``no_interaction``
    are in no pair. Features in ``keep`` stay in any case.
    """
    if len(features) <= most:
        return list(features)
    w, r = _residual(problem, np.array(problem.offset))
    gain = np.empty(len(features))
    for k, j in enumerate(features):
        Z = axes.sketch(j, problem.X[:, j], _PER_FEATURE)
        gain[k] = np.sum((Z.T @ (w * r)) ** 2 / np.maximum((Z * Z).T @ w, 1e-300))
    order = [features[k] for k in _best(gain, len(gain))]
    sure = [*dict.fromkeys([*(j for j in order if j in set(keep)), *order[: most - most // _SHARE]])]
    partners = _partners(problem, axes, order, set(no_interaction), w, r) if pairs else []
    extra = [j for j in partners if j not in set(sure)][: most // _SHARE]
    chosen = set([*dict.fromkeys([*sure, *extra, *order])][: max(most, len(sure))])
    return [j for j in features if j in chosen]


def _partners(
    problem: _Rows, axes: Axes, order: Sequence[int], no_interaction: set[int], w: np.ndarray, r: np.ndarray
) -> list[int]:
    """Features of pairs that stand out in what the strongest main effects leave, the clearest first.

    The best features come first in ``order``; of very many features only the first take part, and of very
    many rows some.
    """
    scanned = sorted([j for j in order if j not in no_interaction][: most_features()])
    X = problem.X
    rows = sample_rows([*X.T, np.unique(r, return_inverse=True)[1]], most_rows(len(scanned)))
    X, w, r, weight = X[rows], w[rows], r[rows], problem.weight[rows]
    n_main = min(_MAIN_EFFECTS, int(weight.sum() / (10 * _PER_FEATURE)))
    r = _without_main_effects([axes.sketch(j, X[:, j], _PER_FEATURE) for j in order[:n_main]], w, r)
    found = standing_out(lambda j: axes.sketch(j, X[:, j], PER_FEATURE), scanned, w * r, weight)
    return [*dict.fromkeys(j for pair in found for j in pair)]


def _without_main_effects(columns: Sequence[np.ndarray], w: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Residuals of a regression on columns of a few features, with a ridge of a small share of a variance."""
    total = float(w.sum())
    r = r - float(w @ r) / total
    Z = np.hstack(columns) if columns else np.empty((len(r), 0))
    if Z.shape[1] == 0:
        return r
    Z -= w @ Z / total
    Z /= np.maximum(np.sqrt(w @ (Z * Z) / total), 1e-300)
    G = (Z * w[:, None]).T @ Z / total
    G[np.diag_indices(len(G))] += _RIDGE
    return np.asarray(r - Z @ solve(G, Z.T @ (w * r) / total, assume_a="pos"))


def rank_pairs(problem: _Rows, axes: Axes, eta: np.ndarray, pairs: Sequence[Term], most: int) -> list[Term]:
    """The ``most`` pairs from which the fit ``eta`` gains most, the best first.

    Each feature is cut into at most 16 bins of about equal mass. The gain of a pair, about Σ (slopes in a
    cell)² / (curvatures in it) over the cells of its two features, is compared with its mean and spread under
    noise at several resolutions, for bins joined in fours and sixteens along either feature, and the largest
    excess counts: a pair may be smooth along one feature and rough along the other.
    """
    w, r = _residual(problem, eta)
    g, scale = w * r, float(w @ r**2) / float(problem.weight.sum())
    features = sorted({j for pair in pairs for j in pair})
    place = {j: k for k, j in enumerate(features)}
    bins = np.empty((len(features), len(problem)), dtype=np.intp)
    for k, j in enumerate(features):
        bins[k] = _bins(axes, j)[axes.coarse[j].locate(problem.X[:, j])[0]]
    ends = np.array([[place[p], place[q]] for p, q in pairs], dtype=np.intp).reshape(-1, 2)
    gain = np.empty(len(pairs))
    step = max(1, _ENTRIES // max(len(problem), 1))
    for start in range(0, len(pairs), step):
        some = slice(start, start + step)
        m = len(ends[some])
        cell = bins[ends[some, 0]]
        cell *= _BINS
        cell += bins[ends[some, 1]]
        cell += _BINS**2 * np.arange(m)[:, None]
        slope, curvature = (
            np.bincount(cell.ravel(), np.tile(v, m), m * _BINS**2).reshape(m, _BINS, _BINS) for v in (g, w)
        )
        gain[some] = _excess(slope, curvature, scale)
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


def _excess(slope: np.ndarray, curvature: np.ndarray, scale: float) -> np.ndarray:
    """Largest standardised gain of pairs over resolutions, from their cells: of shape (pairs, bins, bins).

    A cell of slope s and curvature c gains s² / (c + c₀): the effect of a cell has a prior variance, or a
    single surprising row in a cell without curvature would outweigh everything. Under noise its mean is
    c / (c + c₀) and its variance about (2c² + c) / (c + c₀)², as counts and classes are not normal.
    """
    best = np.full(len(slope), -np.inf)
    for a in (16, 4):
        s_a, c_a = (_joined(cells, a, 1) for cells in (slope, curvature))
        for b in (16, 4):
            s, c = _joined(s_a, b, 2), _joined(c_a, b, 2)
            share = 1.0 / (c + _PRIOR)
            gain = ((s**2 / max(scale, 1e-300) - c) * share).sum(axis=(1, 2))
            noise = np.sqrt(((2.0 * c**2 + c) * share**2).sum(axis=(1, 2)))
            best = np.maximum(best, gain / np.maximum(noise, 1e-300))
    return best


def _joined(cells: np.ndarray, n: int, axis: int) -> np.ndarray:
    """Cells with neighbours along an axis added up, so that ``n`` of them are left."""
    if cells.shape[axis] == n:
        return cells
    return np.add.reduceat(cells, np.arange(0, cells.shape[axis], cells.shape[axis] // n), axis=axis)


def _residual(problem: _Rows, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Working weights, and working residuals of mean zero."""
    w, z = problem.working(eta)
    r = z - (eta - problem.offset)
    return w, r - float(w @ r) / float(w.sum())
