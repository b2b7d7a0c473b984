"""How far the mean of the posterior is from its mode: what makes a quadratic Laplace's approximation.

Around the mode η̂ a loss is not quadratic. With H = ZᵀWZ + Λ, the variance v_i = z_iᵀH⁻¹z_i of a predictor and
the third derivative ℓ‴ of the loss, the posterior has, to first order, the mean

    E β = β̂ - ½ σ² H⁻¹ Σ s_i ℓ‴(η_i) v_i z_i.

Laplace's likelihood of the prior variances, -Σ s_i ℓ_i/σ² - ½ Σ β̂_j²/d_j - ½ log |H| + ½ log |Λ|, has the
derivative ½ (β̂_j²/d_j - edf_j - β̂_j a_j/d_j) by log d_j, as the mode moves, and W with it; a is twice the way
from mean to mode. To first order in a that is ½ ((E β_j)²/d_j - edf_j): the derivative for a quadratic, read
off the mean. Without it, variances of classes come out too small.

Wood, S. N. (2011). Fast stable restricted maximum likelihood and marginal likelihood estimation of
semiparametric generalized linear models. Journal of the Royal Statistical Society B 73, 3-36.
"""

from __future__ import annotations

import numpy as np

from pellucid.features.term_basis import TermBasis
from pellucid.linalg.moments import Moments, blocks
from pellucid.models.additive.engine.all_rows import Rows, Vector
from pellucid.solvers.variance_components import Components

_ROWS, _WORK = 2000, 3e9  # rows that the sum is taken over at least, and multiplications that more may cost
_STEP = 1e-3  # of the predictor, in a difference of curvatures


def skewness(problem: Rows, basis: TermBasis, moments: Moments, fit: Components, eta: Vector) -> np.ndarray:
    """Σ s_i ℓ‴(η_i) v_i (z_i - z̄), from a sample of the rows; zero where the link is the identity."""
    out = np.zeros(basis.size)
    if problem.quadratic or problem.loss.link == "identity" or not basis.size:
        return out
    at_hand, eta = problem.at_hand, problem.here(eta)
    rows = at_hand.sample(int(max(_ROWS, _WORK / basis.size**2)))
    eta = eta[rows]
    some = at_hand.part(rows).beside(eta)
    loss, y = some.loss, some.y
    third = (loss.curvature(y, eta + _STEP) - loss.curvature(y, eta - _STEP)) / (2.0 * _STEP)
    root: np.ndarray = fit.root.astype(problem.dtype)
    mean: np.ndarray = moments.column_mean.astype(problem.dtype)[:, None]
    for part in blocks(len(rows), basis.size, problem.dtype):
        Z = basis.design(some.X[part], problem.dtype) - mean
        v = np.sum(np.square(root @ Z), axis=0) + 1.0 / moments.total
        out += Z @ (some.weight[part] * third[part] * v).astype(problem.dtype)
    return out * (problem.total / some.total)
