"""Which features and which pairs deserve columns: score statistics that need no fit of their own.

A column φ that were added to the present fit would gain about (φᵀg)² / φᵀWφ, where g is the slope of the loss
and W its curvature. A feature or a pair is ranked by the sum of these gains over its smoothest columns.
"""

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
from scipy.linalg import solve
from scipy.special import logsumexp

from pellucid.features.pair_scan import PER_FEATURE, most_features, most_rows, standing_out
from pellucid.features.term_basis import Axes, Term, pair_shapes
from pellucid.linalg.sample import sample_rows

_PER_FEATURE = 6
_SHARE = 4  # one of so many places may go to features for the sake of pairs
_MAIN_EFFECTS, _RIDGE = 100, 0.01  # main effects that are taken out before pairs are looked at
_PRODUCTS = 6  # columns of a feature whose products stand for a pair


class _Rows(Protocol):
    @property
    def X(self) -> np.ndarray: ...  # noqa: N802
    @property
    def offset(self) -> np.ndarray: ...
    @property
    def weight(self) -> np.ndarray: ...
    def working(self, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...


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
    order = [features[k] for k in _largest_first(gain)]
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


def pair_evidence(
    problem: _Rows, axes: Axes, eta: np.ndarray, scale: float, pairs: Sequence[Term], variances: np.ndarray
) -> np.ndarray:
    """Log Bayes factor of each pair for having each of some variances, against nothing: (pairs, variances).

    A product φ of two columns has the score u = Σ φ g and the information m = Σ φ²w under the fit ``eta``.
    With prior variance d and λ = d m / σ² its evidence is ½ [λ/(1 + λ) u²/(σ²m) - log(1 + λ)]. Products of
    the first columns of two features count as independent; a pair has the mean over its shapes. Scores of all
    pairs are one matrix product, Φᵀ diag(g) Φ.
    """
    w, r = _residual(problem, eta)
    features = sorted({j for pair in pairs for j in pair})
    parts = [
        axes.pair[j].at(axes.coarse[j].locate(problem.X[:, j]), np.float32, _PRODUCTS).T for j in features
    ]
    edges = np.cumsum([0, *(len(part) for part in parts)]).tolist()
    columns = {j: slice(*ends) for j, ends in zip(features, pairwise(edges), strict=True)}
    Phi: np.ndarray = np.concatenate(parts)
    U = _products(Phi, w * r)
    M = _products(np.square(Phi, out=Phi), w)
    shapes = {j: np.array(list(pair_shapes(axes.pair[j]).values()))[:, :_PRODUCTS] for j in features}
    out = np.empty((len(pairs), len(variances)))
    for i, (p, q) in enumerate(pairs):
        a, b = columns[p], columns[q]
        m = np.maximum(M[a, b].ravel(), 1e-30)
        z2 = (U[a, b].ravel() / np.sqrt(m)) ** 2 / scale
        S = np.einsum("ij,kl->ikjl", shapes[p], shapes[q]).reshape(-1, len(m))
        x = variances[:, None, None] * (S * m / scale)
        log_b = 0.5 * (x / (1.0 + x) * z2 - np.log1p(x)).sum(axis=-1)
        out[i] = logsumexp(log_b, axis=1) - np.log(len(S))
    return out


def _products(Phi: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Φ diag(v) Φᵀ in single precision, whatever the unit of v."""
    unit = max(float(np.abs(v).max(initial=0.0)), np.finfo(float).tiny)
    return unit * ((Phi * (v / unit).astype(Phi.dtype)) @ Phi.T).astype(float)


def _largest_first(gain: np.ndarray) -> np.ndarray:
    """Positions by gain; what differs by rounding only is a tie, and ties go by position."""
    size = np.max(np.abs(gain), initial=0.0)
    level = np.round(gain / size, 6) if size > 0 else gain
    return np.argsort(-level, kind="stable")


def _residual(problem: _Rows, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Working weights, and working residuals of mean zero."""
    w, z = problem.working(eta)
    r = z - (eta - problem.offset)
    return w, r - float(w @ r) / float(w.sum())
