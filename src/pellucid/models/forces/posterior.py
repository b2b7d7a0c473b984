r"""Posterior standard deviations of forces: the prior minus what the training forces explain.

In internal coordinates, with :math:`k` the covariance of new forces with those of training,

.. math:: \mathrm{Var}(F) = \sigma^2 \left[ k(F, F) - k^\top (K + \alpha I)^{-1} k \right],

which the basis Q of the internal coordinates takes back to atoms.
"""

from __future__ import annotations

import numpy as np

from pellucid.features.geometry import Descriptors
from pellucid.linalg import row_blocks, solve_cholesky
from pellucid.models.forces.hessian import covariance_columns, covariance_diagonal
from pellucid.models.forces.solve import ForceProblem, solve_closed


def posterior_std(problem: ForceProblem, D: Descriptors, scale: float) -> np.ndarray:
    """Standard deviations of shape (n, N, 3) at geometries; ``scale`` is the variance of the process."""
    n, m = problem.y.shape
    _, L = solve_closed(problem)
    Q, JQ = D.internal()
    variance = np.empty((len(D.X), 3 * D.n_atoms))
    for rows in row_blocks(len(D.X), 8.0 * 3 * m * problem.size):
        k = len(D.X[rows])
        X, J = np.concatenate([problem.X, D.X[rows]]), np.concatenate([problem.JQ, JQ[rows]])
        cross = covariance_columns(problem.kernel, X, J, np.arange(n * m, (n + k) * m))[: n * m]
        solved = solve_cholesky(L, cross)
        prior = covariance_diagonal(problem.kernel, D.X[rows], JQ[rows])
        for i in range(k):
            c = slice(i * m, (i + 1) * m)
            left = prior[i] - cross[:, c].T @ solved[:, c]
            q = Q[rows.start + i]
            variance[rows.start + i] = np.einsum("pm,mk,pk->p", q, left, q)
    return np.sqrt(scale * np.maximum(variance, 0.0)).reshape(len(D.X), D.n_atoms, 3)
