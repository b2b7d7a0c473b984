r"""All that a ridge on explicit features needs of its rows: sums, to which those of other rows can be added.

With features :math:`\Phi`, targets :math:`Y` and weights :math:`s`, the centred sums of products of the
columns of :math:`Z = [\Phi, Y]`,

.. math:: M = \sum_i s_i (z_i - \bar z)(z_i - \bar z)^T
            = \begin{pmatrix} G & C \\ C^T & Q \end{pmatrix},

give the coefficients :math:`w = (G + \alpha I)^{-1} C`, the intercept :math:`\bar y - \bar\phi^T w`, the sum
of squared residuals and the degrees of freedom. Without an intercept the sums are taken about zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.linalg import eigh

from pellucid.data.weights import counts_observations
from pellucid.linalg import is_sparse, row_blocks


@dataclass(frozen=True)
class FeatureSums:
    """Sums over rows of explicit features and targets, under the weights as they were given."""

    n_rows: int  # of positive weight
    total: float  # sum of the weights
    observations: float  # that the rows stand for: one each, or more where a weight counts more
    mean: np.ndarray  # (f + q,): weighted means of features and targets
    lower: np.ndarray  # centred sums of products, lower triangle row by row
    n_features: int

    @classmethod
    def of(cls, Phi: Any, Y: np.ndarray, weight: np.ndarray) -> Self:
        """Sums over rows of features of shape (n, f), dense or sparse, and targets of shape (n, q)."""
        kept = weight > 0
        Phi, Y, s = Phi[kept], Y[kept], weight[kept]
        n, f = Phi.shape
        share = s / s.sum()
        y = share @ Y
        M = np.zeros((f + Y.shape[1],) * 2)
        root = np.sqrt(s)
        if is_sparse(Phi):
            phi = Phi.transposed_times(share)
            Z = Phi.shifted(phi).weighted(root)
            M[:f, :f] = Z.column_products()
            C = Z.transposed_times(root[:, None] * (Y - y))
            M[:f, f:], M[f:, :f], M[f:, f:] = C, C.T, (Y - y).T @ (s[:, None] * (Y - y))
            mean = np.append(phi, y)
        else:
            mean = np.append(share @ Phi, y)
            for rows in row_blocks(n, 8.0 * 3 * len(M)):
                part = root[rows, None] * (np.column_stack([Phi[rows], Y[rows]]) - mean)
                M += part.T @ part
        return cls(n, float(s.sum()), float(np.maximum(1.0, s).sum()), mean, M[np.tril_indices(len(M))], f)

    @property
    def matrix(self) -> np.ndarray:
        """``M``, of shape (f + q, f + q)."""
        size = len(self.mean)
        M = np.zeros((size, size))
        M[np.tril_indices(size)] = self.lower
        M += np.tril(M, -1).T
        return M

    def plus(self, other: Self) -> Self:
        """Sums over these rows and others.

        With δ the difference of the means and k = ab/(a + b) of the two sums of weights, centred sums of
        products are the sum of the two and kδδᵀ.
        """
        total = self.total + other.total
        d, k = other.mean - self.mean, self.total * other.total / total
        lower = self.lower + other.lower + k * np.outer(d, d)[np.tril_indices(len(d))]
        mean = self.mean + (other.total / total) * d
        observations = self.observations + other.observations
        n_rows = self.n_rows + other.n_rows
        return type(self)(n_rows, total, observations, mean, lower, self.n_features)

    def counted(self, reading: str) -> float:
        """Observations under weights read as ``weights`` says; precisions make each row one."""
        counts = counts_observations(self.total / self.n_rows, reading)
        return self.observations if counts else float(self.n_rows)

    def solution(self, alpha: np.ndarray, *, fit_intercept: bool, reading: str) -> SumsFit:
        """Ridge with one strength for each output, under weights read as the estimator's ``weights`` says."""
        f, M, total = self.n_features, self.matrix, self.total
        if not fit_intercept:
            M += total * np.outer(self.mean, self.mean)
        if not counts_observations(total / self.n_rows, reading):
            M = M * (self.n_rows / total)
        values, V = eigh(M[:f, :f], driver="evd", check_finite=False)
        values, C = np.maximum(values, 0.0), M[:f, f:]
        w = V @ ((V.T @ C) / (values[:, None] + alpha))
        squares = np.einsum("fq,fq->q", w, M[:f, :f] @ w - 2.0 * C) + np.diagonal(M[f:, f:])
        dof = np.sum(values[:, None] / (values[:, None] + alpha), axis=0) + fit_intercept
        level = self.mean[f:] - self.mean[:f] @ w if fit_intercept else np.zeros(len(alpha))
        size = np.einsum("fq,fq->q", w, w)
        return SumsFit(w, level, np.maximum(squares, 0.0), size, dof)


@dataclass(frozen=True)
class SumsFit:
    """A ridge from sums: per output coefficients, intercept, and what the rows would have told of the fit."""

    coef: np.ndarray  # (f, q)
    intercept: np.ndarray  # (q,)
    squares: np.ndarray  # (q,): weighted sum of squared residuals
    size: np.ndarray  # (q,): squared norms of the coefficients
    dof: np.ndarray  # (q,)
