"""Phase 1 of ISK for classes: the dense model with a loss of its own, for all rows and without each fold.

Both ways return weights of the features, of shape (F, q), for all rows and then without each fold; the
largest number of steps; and whether every fit converged.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from pellucid.linalg import cholesky_in_place, positive_spectrum
from pellucid.losses import Hinge, Loss
from pellucid.models.isk.ridge import CURVATURE, RidgeAtSigma
from pellucid.models.isk.rows import Features, Rows
from pellucid.solvers import GLMProblem, fit_glm, fit_hinge
from pellucid.solvers.fold_ridge import DualRidge
from pellucid.solvers.matvec_glm import MatvecFit, MatvecProblem, Products, factor, fit_matvec
from pellucid.solvers.smooth_hinge import _SmoothHinge

Found = tuple[list[np.ndarray], int, bool]

_FOLD_WIDTH = 0.3  # of the parabola that rounds the hinge loss off in fits that only serve to choose


def _fold_weights(rows: Rows) -> list[np.ndarray]:
    """Weights of all rows, then without each fold."""
    return [rows.weight, *(np.where(rows.fold == f, 0.0, rows.weight) for f in range(rows.n_folds))]


def fit_exactly(at: RidgeAtSigma, y: Sequence[np.ndarray], loss: Loss, alpha: float, max_iter: int) -> Found:
    """Newton's method, or a quadratic programme for the hinge loss, on explicit features."""
    rows, ridge = at.setup.rows, at.ridge
    back = None
    if isinstance(ridge, DualRidge):
        values, vectors = positive_spectrum(ridge.K.copy())
        kept = values > 1e-13 * np.max(values, initial=0.0)
        values, vectors = values[kept], vectors[:, kept]
        Z = vectors * np.sqrt(values)
        back = vectors / np.sqrt(values)
    else:
        Z = rows.features(at.pairs, slice(None), at.mean)
    steps, converged, found = 0, True, []
    for weight in _fold_weights(rows):
        kept = weight > 0
        W = np.empty((Z.shape[1], len(y)))
        for c, target in enumerate(y):
            problem = GLMProblem(target[kept], weight[kept], np.zeros(int(kept.sum())), loss)
            fit: Any = (fit_glm if loss.smooth else fit_hinge)(Z[kept], problem, alpha, max_iter=max_iter)
            steps, converged = max(steps, fit.n_iter), converged and fit.converged
            W[:, c] = fit.delta
        found.append(W if back is None else at.of_rows(back @ W))
    return found, steps, converged


def fit_by_products(
    at: RidgeAtSigma, y: Sequence[np.ndarray], loss: Loss, alpha: float, max_iter: int
) -> Found:
    """Preconditioned quasi-Newton steps; fits without a fold start from the fit to all rows."""
    rows, ridge, curvature = at.setup.rows, at.ridge, CURVATURE[loss.name]
    ls = ridge.fit(alpha / curvature)  # where to start: scores of the squared loss, on the scale of this loss
    stretch = 2.0 if loss.name == "logistic" else 1.0
    if isinstance(ridge, DualRidge):
        K = ridge.K.copy()
        K[np.diag_indices_from(K)] += 30.0 * np.finfo(at.pairs.dtype).eps  # before centring all were one
        B = np.tril(cholesky_in_place(K))  # features of the rows in as many dimensions as there are rows
        products = Products(lambda v: B @ v, lambda r: B.T @ r, lambda h: _weighted_gram(B, h))
        first = factor(products.gram(curvature * rows.weight), alpha)
        W = B.T @ ls.W
    else:
        features = Features(rows, at.pairs, at.mean)
        products = Products(features.times, features.transposed, features.gram)
        first = factor(curvature * ridge.total.centred()[0], alpha)
        W = ls.W
    found = [np.empty((len(first), len(y))) for _ in range(1 + rows.n_folds)]
    steps, converged = 0, True
    for c, target in enumerate(y):
        eta = stretch * (products.times(W[:, c]) + ls.b[c])
        start = MatvecFit(stretch * W[:, c], stretch * float(ls.b[c]), eta, first)
        for f, weight in enumerate(_fold_weights(rows)):
            # the fits without a fold only serve to choose, for which a rounded kink is sharp enough
            own = _SmoothHinge(_FOLD_WIDTH) if f and isinstance(loss, Hinge) else loss
            problem = MatvecProblem(products, target, weight, own, alpha)
            fit = fit_matvec(problem, start, max_iter=max_iter, refresh=0 if f else 3)
            found[f][:, c] = fit.w
            steps, converged = max(steps, fit.n_iter), converged and fit.converged
            start = start if f else fit
    if isinstance(ridge, DualRidge):
        found = [at.of_rows(solve_triangular(B, v, lower=True, trans=1)) for v in found]
    return found, steps, converged


def _weighted_gram(B: np.ndarray, h: np.ndarray) -> np.ndarray:
    mean = h @ B / h.sum()
    root = B * np.sqrt(h)[:, None]
    return root.T @ root - h.sum() * np.outer(mean, mean)
