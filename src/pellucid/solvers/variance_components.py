"""Ridge regression in which every column has a prior variance, and the evidence for those of some columns.

The model is z = b + Zβ + ε with β_j ~ N(0, d_j) and ε ~ N(0, σ²/w). Everything is read off the moments
G = ZᵀWZ and c = ZᵀWz of the centred columns, whatever the number of rows. With λ_j = σ²/d_j and H = G + Λ,

    β = H⁻¹c,   edf_j = 1 - λ_j [H⁻¹]_jj,   σ² = RSS / (n - 1 - Σ edf_j),

and the derivative of the restricted likelihood by log d_j is (β_j²/d_j - edf_j) / 2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pellucid.linalg import lower_factor, lower_inverse
from pellucid.linalg.moments import Moments

_NO_PART = 1e-7  # share of the expected statistic of a test that a column need not have
_LEAST_NOISE = 1e-7  # share of the variance of the targets: less would be lost in rounding
_TINY = 1e-200  # variance of targets that are all alike


@dataclass(frozen=True)
class Components:
    """Solution for given prior variances.

    Attributes
    ----------
    beta : ndarray of shape (F,)
        Coefficients.
    ridge : ndarray of shape (F,)
        λ_j.
    edf : ndarray of shape (F,)
        Effective degrees of freedom of the columns.
    scale : float
        σ².
    rss : float
        Weighted residual sum of squares.
    root : ndarray of shape (k, F)
        R with H⁻¹ = RᵀR, as a rule lower triangular.
    likelihood : float
        Logarithm of the restricted likelihood, up to a constant; where σ² is estimated, its largest value.
    degrees : float
        Degrees of freedom that tell of σ², coefficients integrated out: n - 1, infinite where it is known.
    """

    beta: np.ndarray
    ridge: np.ndarray
    edf: np.ndarray
    scale: float
    rss: float
    root: np.ndarray
    likelihood: float = 0.0
    degrees: float = np.inf

    def covariance_block(self, members: slice | np.ndarray) -> np.ndarray:
        """Block of H⁻¹ for some columns."""
        R = self.root[:, members]
        return R.T @ R

    def about_mean(self, skew: np.ndarray) -> Components:
        """The same with the mean of a skew posterior in place of its mode; see ``engine.skewness``.

        What a quadratic says of σ² is then not to be compared with other variances: it counts as known.
        """
        if not skew.any():
            return self
        shift = self.root.T @ (self.root @ skew)
        return replace(self, beta=self.beta - 0.5 * self.scale * shift, degrees=np.inf)

    def gcv(self, n: float) -> float:
        """Generalised cross-validation score: mean squared error if a row were left out, by its average."""
        return self.rss / n / max(1.0 - (self.edf.sum() + 1.0) / n, 1e-3) ** 2


class Equations:
    """Moments that are solved for one set of prior variances after another.

    Parameters
    ----------
    moments : Moments
        Moments of the design.
    scale : float or None
        σ² where it is known, as for classes; None: it is estimated.
    n : float
        Number of observations.
    least : float, default=0.0
        Least σ² where it is estimated: counts vary as much as chance has it, or more.
    share : float, default=1.0
        Share of the rows that are such observations; the others are copies of them.
    """

    def __init__(
        self, moments: Moments, scale: float | None, n: float, least: float = 0.0, share: float = 1.0
    ) -> None:
        self.moments, self.scale, self.n, self.least, self.share = moments, scale, n, least, share

    def solve(self, ridge: np.ndarray) -> Components:
        """Solution for ridges λ_j > 0.

        With s = λ^{-1/2}, A = diag(s) G diag(s) + I = LLᵀ has no eigenvalue below one, so no jitter is
        needed; H⁻¹ = diag(s) A⁻¹ diag(s).
        """
        m = self.moments
        s, c = 1.0 / np.sqrt(ridge), m.c
        root = A = self._scaled(s)
        log_det, penalised = 0.0, m.square
        edf, beta, rss = np.zeros(len(c)), np.zeros(len(c)), m.square
        if len(c):
            A[np.diag_indices(len(A))] += 1.0
            try:
                root = lower_inverse(lower_factor(A))
            except FloatingPointError:  # moments that are not finite, or rounded by more than the noise
                raise FloatingPointError(
                    "The normal equations are not finite: check the size of targets, offsets and weights."
                ) from None
            edf = 1.0 - np.einsum("ij,ij->j", root, root)  # 1 - diagonal of A⁻¹
            v = root.T @ (root @ (s * c))
            beta = s * v
            penalised = m.square - float(v @ (s * c))
            rss = max(penalised - float(v @ v), 0.0)  # zᵀz - βᵀc - βᵀΛβ
            log_det = -2.0 * float(np.log(np.diagonal(root)).sum())
            root *= s
        free = max(self.n - 1.0 - edf.sum(), 1e-3 * self.n, 1e-12)
        floor = _LEAST_NOISE * max(m.square / max(self.n, 1.0), _TINY)
        if self.scale is not None:
            scale, fitted, degrees = self.scale, penalised / self.scale, np.inf
        else:
            scale, most = max(self.share * rss / free, floor, self.least), max(self.n - 1.0, 1.0)
            penalised *= self.share
            best = max(penalised / most, floor, self.least)  # σ² of largest likelihood
            fitted = most * float(np.log(best)) + penalised / best
            degrees = most if scale > self.least else np.inf
        return Components(beta, ridge, edf, scale, rss, root, -0.5 * (log_det + fitted), degrees)

    def _scaled(self, s: np.ndarray) -> np.ndarray:
        """diag(s) G diag(s)."""
        with np.errstate(over="ignore", invalid="ignore"):  # who factors it sees what is not finite
            A: np.ndarray = np.multiply(self.moments.G, s[:, None], order="C")
            A *= s
        return A


@dataclass(frozen=True)
class Evidence:
    """What the data say about the variances of some columns, those of all others given.

    In units of their prior standard deviations the coefficients have prior N(0, cI), and the likelihood is
    that of scores ζ ~ N(Aγ, A). With A = Q diag(λ) Qᵀ and z = Qᵀζ the evidence for c against c = 0 is

        log B(c) = ½ Σ_j [c z_j² / (1 + cλ_j) - log(1 + cλ_j)].

    Attributes
    ----------
    value : ndarray of shape (m,)
        λ.
    score : ndarray of shape (m,)
        z.
    direction : ndarray of shape (m, m)
        σΛ^{-1/2}Q, which takes Qᵀγ to the coefficients.
    """

    value: np.ndarray
    score: np.ndarray
    direction: np.ndarray

    def log_bayes_factor(self, c: np.ndarray) -> np.ndarray:
        """Log B(c) for several factors c of the variances."""
        x = np.multiply.outer(c, self.value)
        gain = np.multiply.outer(c, self.score**2) / (1.0 + x)
        return 0.5 * (gain - np.log1p(x)).sum(axis=-1)

    def function_moments(
        self, functions: np.ndarray, c: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """First and second moments of functions Φβ, where the factor is c with given probabilities.

        Given c the components of Qᵀγ are independent with means cz/(1 + cλ) and variances c/(1 + cλ).
        """
        F = functions @ self.direction
        shrunk = c[:, None] / (1.0 + np.multiply.outer(c, self.value))
        mean = F @ (shrunk * self.score).T
        return mean @ weight, (np.square(F) @ shrunk.T + np.square(mean)) @ weight


def evidence(fit: Components, members: slice) -> Evidence:
    """Evidence for the variances of some columns.

    With B = Λ^{1/2} [H⁻¹] Λ^{1/2} = (I + A)⁻¹ of these columns, ζ = B⁻¹ Λ^{1/2} β / σ.
    """
    root = np.sqrt(fit.ridge[members])
    R = fit.root[:, members]
    if not R[: members.start].any():  # lower triangular, which it need not be where constraints hold
        R = R[members.start :]
    B = (R.T @ R) * np.multiply.outer(root, root)
    b, Q = np.linalg.eigh(B)
    b = np.clip(b, 1e-12, 1.0)
    z = Q.T @ (root * fit.beta[members]) / (b * np.sqrt(fit.scale))
    return Evidence(1.0 / b - 1.0, z, np.sqrt(fit.scale) * Q / root[:, None])


ScoreTest = tuple[float, np.ndarray]
"""A statistic, and the weights of the independent χ²₁ whose sum it is under the hypothesis."""


def score_tests(fit: Components, members: slice, shapes: np.ndarray) -> list[ScoreTest]:
    """Score statistics for columns having variance zero against variances of given shapes.

    Were they absent, u = Zᵀ W (z - fit without them) would be N(0, σ²M) with M = S - Λ, S = ([H⁻¹] of these
    columns)⁻¹, and u = Sβ. The statistic Q = Σ_j v_j u_j²/σ² for a shape v is then a sum of independent χ²₁
    with the eigenvalues of v^{1/2} M v^{1/2} as weights. Columns that have next to no part in their sum are
    left out of both.
    """
    S = np.linalg.inv(fit.covariance_block(members))
    u = S @ fit.beta[members]
    M = S - np.diag(fit.ridge[members])
    tests = []
    for shape in shapes:
        part = shape * np.maximum(np.diagonal(M), 0.0)
        some = np.flatnonzero(part > _NO_PART * part.sum())
        v = np.sqrt(shape[some])
        A = v[:, None] * M[np.ix_(some, some)] * v
        weights = np.linalg.eigvalsh((A + A.T) / 2)
        tests.append((float(np.sum((v * u[some]) ** 2)) / fit.scale, np.maximum(weights, 0.0)))
    return tests
