"""Ridge regression with one ridge per group of columns, all chosen at once by restricted maximum likelihood.

The model is z = b + Σ_g Z_g β_g + ε with β_g ~ N(0, τ_g² I) and ε ~ N(0, σ²/w). Everything is read off the
moments G = ZᵀWZ and c = ZᵀWz of the centred columns, whatever the number of rows.

With λ_g = σ²/τ_g², H = G + Λ and β = H⁻¹c, the effective degrees of freedom of a group are
edf_g = m_g - λ_g tr[H⁻¹]_gg, and at the maximum of the restricted likelihood

    σ² = RSS / (n - 1 - Σ edf_g),   λ_g = σ² edf_g / ‖β_g‖²,

which is iterated. (MacKay 1992, Neural Computation 4; Wood and Fasiolo 2017, Biometrics 73.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.linalg import lower_factor, lower_inverse
from pellucid.linalg.moments import Moments

_LEAST_EDF = 0.1  # a group of fewer effective degrees of freedom is noise
_SEEN = 1e-3  # degrees of freedom from which on a group says what is usual for its kind
_SINGLE = 1000  # columns beyond which steps on the way are taken in float32
_LEAST_NOISE = 1e-7  # share of the variance of the targets: less would be lost in rounding
_SMALLEST, _LARGEST = 1e-6, 1e12  # ridges beyond do not change the fit any more


@dataclass(frozen=True)
class VariancePrior:
    """What is known of the variances τ_g² beforehand; by default nothing.

    Attributes
    ----------
    extra : float or ndarray of shape (n_groups,)
        Degrees of freedom added to those of a group in the update, λ_g = σ² (edf_g + extra) / ‖β_g‖²:
        the variances have a prior density proportional to τ_g^{-extra}. A group that is no more than noise
        then loses its variance, one of many degrees of freedom hardly notices. It matters where there are
        many groups for the rows.
    spread : ndarray of shape (n_groups,), optional
        Variance of the rows' predictors per unit of τ_g². If given, the standard deviation of a group's
        contribution has an exponential prior of mean one: then λ_g = σ² (edf_g + τ_g spread_g^{1/2}) /
        ‖β_g‖². It keeps predictors of counts and classes from running away where classes are separable.
    pool : float
        Degrees of freedom a by which groups of one kind pull each other together: λ_g = σ² (edf_g + a) /
        (‖β_g‖² + a τ̄²) with τ̄² = Σ ‖β_h‖² / Σ edf_h over the kind. The variances have scaled inverse
        chi-square priors of a degrees of freedom around what is usual for the kind. Where rows tell little
        about a single group, as those of classes do, many weak effects then survive together.
    kind : ndarray of shape (n_groups,), optional
        Number of the kind of each group; needed if ``pool`` is not zero.
    sparse : ndarray of bool of shape (n_groups,), optional
        Groups for which τ̄² is the geometric mean of ‖β_h‖² / edf_h over the kind instead: then a few strong
        ones do not lend their variance to many that are noise.
    """

    extra: float | np.ndarray = 0.0
    spread: np.ndarray | None = None
    pool: float = 0.0
    kind: np.ndarray | None = None
    sparse: np.ndarray | None = None

    def updated(self, fit: Components, group: np.ndarray) -> np.ndarray:
        """λ_g at which the fixed point would be, were coefficients and degrees of freedom those of a fit."""
        ridge = fit.ridge
        power: np.ndarray = np.bincount(group, fit.beta**2, len(ridge))
        edf = fit.edf + self.extra
        if self.spread is not None:
            edf = edf + np.sqrt(fit.scale * self.spread / ridge)
        if self.pool:
            edf, power = edf + self.pool, power + self.pool * self._usual(fit.edf, power)
        with np.errstate(divide="ignore", invalid="ignore"):
            new = np.clip(fit.scale * edf / power, _SMALLEST, _LARGEST)
        return np.where(np.isfinite(ridge), np.where(power > 0, new, _LARGEST), np.inf)

    def _usual(self, edf: np.ndarray, power: np.ndarray) -> np.ndarray:
        """What variance is usual for the kind of each group."""
        kind, sparse = self.kind, self.sparse
        assert kind is not None
        mean: np.ndarray = (np.bincount(kind, power) / np.maximum(np.bincount(kind, edf), 1e-12))[kind]
        if sparse is None or not sparse.any():
            return mean
        seen = (edf > _SEEN) & (power > 0)
        log = np.log(np.where(seen, power / np.maximum(edf, _SEEN), 1.0))
        n_seen = np.bincount(kind, seen)
        geometric = np.where(n_seen > 0, np.exp(np.bincount(kind, log) / np.maximum(n_seen, 1)), 0.0)
        return np.where(sparse, geometric[kind], mean)


@dataclass(frozen=True)
class Components:
    """Solution with its variances.

    Attributes
    ----------
    beta : ndarray of shape (F,)
        Coefficients, zero in groups that were dropped.
    ridge : ndarray of shape (n_groups,)
        λ_g; infinite for groups that were dropped.
    edf : ndarray of shape (n_groups,)
        Effective degrees of freedom.
    scale : float
        σ².
    rss : float
        Weighted residual sum of squares.
    columns : ndarray of int
        Columns of the groups that are left, to which ``root`` refers.
    root : ndarray of shape (k, k)
        Lower triangular R with H⁻¹ = RᵀR for these columns.
    """

    beta: np.ndarray
    ridge: np.ndarray
    edf: np.ndarray
    scale: float
    rss: float
    columns: np.ndarray
    root: np.ndarray

    def root_of(self, members: np.ndarray) -> np.ndarray:
        """Columns of R for columns of the whole design; those that were dropped have zeros."""
        place = np.full(len(self.beta), -1)
        place[self.columns] = np.arange(len(self.columns))
        at = place[members]
        inside = np.flatnonzero(at >= 0)
        R = np.zeros((len(self.root), len(members)))
        R[:, inside] = self.root[:, at[inside]]
        return R

    def covariance_block(self, members: np.ndarray) -> np.ndarray:
        """Block of H⁻¹ for columns of the whole design; those that were dropped have zeros."""
        R = self.root_of(members)
        return R.T @ R

    def gcv(self, n: float) -> float:
        """Generalised cross-validation score: mean squared error if a row were left out, by its average."""
        return self.rss / n / max(1.0 - (self.edf.sum() + 1.0) / n, 1e-3) ** 2


def fit_components(
    moments: Moments,
    group: np.ndarray,
    ridge: np.ndarray,
    *,
    scale: float | None = None,
    n_iter: int = 10,
    prune: float | np.ndarray | None = None,
    n: float | None = None,
    prior: VariancePrior = VariancePrior(),
    tol: float = 0.02,
    exact: bool = True,
) -> Components:
    """Iterate the fixed point from the ridges given.

    Parameters
    ----------
    moments : Moments
        Moments of the design.
    group : ndarray of shape (F,)
        Number of the group of each column.
    ridge : ndarray of shape (n_groups,)
        λ_g to start from; a group with an infinite one is left out.
    scale : float, optional
        σ² where it is known, as for counts and classes; by default it is estimated.
    n_iter : int
        Largest number of updates of the ridges; 0 solves for those given.
    prune : float or ndarray of shape (n_groups,), optional
        After half of the updates, groups are dropped whose score statistic is less than this many standard
        deviations above what noise alone gives.
    n : float, optional
        Number of observations, if it is not the sum of the weights.
    prior : VariancePrior
        What is known of the variances beforehand.
    tol : float
        Iteration ends when no group of more than a tenth of a degree of freedom changes by more than this
        share.
    exact : bool
        Otherwise the last solution may be rough too, as those on the way are.
    """
    equations = _Equations(moments, group, scale, moments.total if n is None else n)
    ridge = np.array(ridge, dtype=float)
    fit = _solve(equations, ridge, rough=n_iter > 0 or not exact)
    if n_iter == 0:
        return fit
    for it in range(n_iter):
        if prune is not None and it == n_iter // 2:
            noise = noise_groups(fit, group, prune)
            if noise.any():
                ridge[noise] = np.inf
                fit = _solve(equations, ridge, rough=True)
                continue
        new = prior.updated(fit, group)
        live = np.isfinite(ridge) & (fit.edf > 0.1)
        change = float(np.max(np.abs(np.log(new[live] / ridge[live])), initial=0.0))
        ridge = new
        if it == n_iter - 1 or (change < tol and (prune is None or it > n_iter // 2)):
            break
        fit = _solve(equations, ridge, rough=True)
    return _solve(equations, ridge, rough=not exact)


class _Equations:
    """Moments that are solved for one set of ridges after another; no ``scale``: it is estimated."""

    def __init__(self, moments: Moments, group: np.ndarray, scale: float | None, n: float) -> None:
        self.moments, self.group, self.scale, self.n = moments, group, scale, n
        self._columns = np.empty(0, dtype=np.intp)
        self._single: np.ndarray | None = None
        self._unit = 1.0

    def scaled(self, columns: np.ndarray, s: np.ndarray, *, single: bool) -> np.ndarray:
        """diag(s) G diag(s) of some columns.

        In single precision G is kept, in units of its largest entry: most solutions have the columns of the
        one before.
        """
        G = self.moments.G
        with np.errstate(over="ignore", invalid="ignore"):  # who factors it sees what is not finite
            if not single:
                self._single = None
                part = G[np.ix_(columns, columns)] if len(columns) < len(G) else G
            else:
                if self._single is None or not np.array_equal(columns, self._columns):
                    self._columns, self._unit = columns, max(float(G.diagonal().max()), np.finfo(float).tiny)
                    self._single = np.empty((len(columns), len(columns)), dtype=np.float32)
                    part = G[np.ix_(columns, columns)] if len(columns) < len(G) else G
                    np.divide(part, self._unit, out=self._single, casting="same_kind")
                part, s = self._single, s * np.sqrt(self._unit)
            s = s.astype(part.dtype)
            A: np.ndarray = np.multiply(part, s[:, None], order="C")
            A *= s
        return A


def _solve(equations: _Equations, ridge: np.ndarray, *, rough: bool = False) -> Components:
    """Solution for given ridges; a rough one, on the way, of many columns, is in float32.

    With s = λ^{-1/2} per column, A = diag(s) G diag(s) + I = LLᵀ has no eigenvalue below one, so no jitter is
    needed; H⁻¹ = diag(s) A⁻¹ diag(s).
    """
    moments, group, scale, n = equations.moments, equations.group, equations.scale, equations.n
    columns = np.flatnonzero(np.isfinite(ridge[group]))
    member = group[columns]
    beta, edf = np.zeros(len(group)), np.zeros(len(ridge))
    s = 1.0 / np.sqrt(ridge[member])
    single = rough and len(columns) > _SINGLE
    root = A = equations.scaled(columns, s, single=single)
    A[np.diag_indices(len(A))] += 1.0
    c = moments.c[columns]
    if len(columns):
        try:
            root = lower_inverse(lower_factor(A))
        except FloatingPointError:  # moments that are not finite, or rounded by more than the noise
            if single:
                return _solve(equations, ridge)
            raise FloatingPointError(
                "The normal equations are not finite: check the size of targets, offsets and weights."
            ) from None
        spared = np.einsum("ij,ij->j", root, root).astype(float)  # diagonal of A⁻¹
        edf = np.bincount(member, 1.0 - spared, len(ridge)).astype(float)
        v = (root.T @ (root @ (s * c).astype(root.dtype))).astype(float)
        beta[columns] = s * v
        fitted = float(v @ (s * c))  # βᵀc
        rss = max(moments.square - fitted - float(np.sum(v * v)), 0.0)  # yᵀy - βᵀc - βᵀΛβ
        root *= s.astype(root.dtype)
    else:
        rss = moments.square
    free = max(n - 1.0 - edf.sum(), 1e-3 * n, 1e-12)
    floor = _LEAST_NOISE * max(moments.square / max(n, 1.0), np.finfo(float).tiny)
    return Components(
        beta, ridge, edf, max(rss / free, floor) if scale is None else scale, rss, columns, root
    )


def score_test(fit: Components, members: np.ndarray, ridge: np.ndarray) -> tuple[float, np.ndarray]:
    """Score statistic for the columns ``members`` having variance zero, and the weights of its distribution.

    Were they absent, u = Z_jᵀW(z - fit without them) would be N(0, σ²M) with M = S - Λ_j, S = ([H⁻¹]_jj)⁻¹,
    and u = S β_j. The statistic Q = ‖u‖²/σ² is then a sum of independent χ²₁ with the eigenvalues of M as
    weights.
    """
    V = fit.covariance_block(members)
    S = np.linalg.inv(V)
    u = S @ fit.beta[members]
    M = S - np.diag(ridge)
    weights = np.linalg.eigvalsh((M + M.T) / 2)
    return float(u @ u) / fit.scale, np.maximum(weights, 0.0)


def score_test_with_dropped(
    moments: Moments, fit: Components, members: np.ndarray
) -> tuple[float, np.ndarray]:
    """The score test of columns some of which the fit has dropped.

    A test of what was kept alone would reject too often, as it was kept for being large. With the fit β_L
    without the columns j, u = c_j - G_jL β_L and M = G_jj - G_jL (G_LL + Λ)⁻¹ G_Lj.
    """
    inside = members[np.isin(members, fit.columns)]
    a = moments.G[np.ix_(fit.columns, members)]
    a[np.isin(fit.columns, members)] = 0.0
    K = fit.root @ a
    M = moments.G[np.ix_(members, members)] - K.T @ K
    u = moments.c[members] - a.T @ fit.beta[fit.columns]
    if len(inside):  # take the columns themselves out of the fit
        R = fit.root_of(inside)
        B = R.T @ K
        S = np.linalg.inv(R.T @ R)
        M += B.T @ S @ B
        u += B.T @ (S @ fit.beta[inside])
    weights = np.linalg.eigvalsh((M + M.T) / 2)
    return float(u @ u) / fit.scale, np.maximum(weights, 0.0)


def score_test_on_points(
    A: np.ndarray, b: np.ndarray, T: np.ndarray, scale: float
) -> tuple[float, np.ndarray]:
    """The score test of columns that are functions of a few points, beside a fit without them.

    Rows lie on or between the points with weights P. Of A = PᵀWP and of b = Pᵀr, the slopes at the points,
    u = Tᵀ(b - a 1ᵀb / 1ᵀa) and M = Tᵀ(A - aaᵀ / 1ᵀa)T with a = A1: only the constant is taken out of the
    columns T, as if they were orthogonal to the others of the fit, which leaves the test on the safe side.
    """
    a = A.sum(axis=0)
    u = T.T @ (b - a * (b.sum() / a.sum()))
    M = T.T @ (A @ T) - np.outer(T.T @ a, T.T @ a) / a.sum()
    return float(u @ u) / scale, np.maximum(np.linalg.eigvalsh(M), 0.0)


def noise_groups(fit: Components, group: np.ndarray, threshold: float | np.ndarray) -> np.ndarray:
    """Groups whose score is less than ``threshold`` standard deviations above its mean under noise."""
    noise = np.zeros(len(fit.ridge), dtype=bool)
    threshold = np.broadcast_to(threshold, noise.shape)
    order = np.argsort(group, kind="stable")
    edges = np.searchsorted(group[order], np.arange(len(fit.ridge) + 1))
    for g in np.flatnonzero(np.isfinite(fit.ridge)):
        members = order[edges[g] : edges[g + 1]]
        if fit.edf[g] < _LEAST_EDF:
            noise[g] = True
            continue
        Q, weights = score_test(fit, members, np.full(len(members), fit.ridge[g]))
        noise[g] = weights.sum() + threshold[g] * np.sqrt(2.0 * np.sum(weights**2)) > Q
    return noise
