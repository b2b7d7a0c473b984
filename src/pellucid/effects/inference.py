r"""Standard errors of penalised coefficients, from the fit's own linear algebra.

At the solution the features' coefficients solve :math:`\alpha\delta + Z_c^T g = 0`, so to first order they
move with the scores of the rows,
:math:`\delta - \bar\delta \approx -A^{-1} Z_c^T (g - \bar g)`, with :math:`A = Z_c^T W Z_c + \alpha I`. Hence

.. math:: \operatorname{Cov}(\delta) = A^{-1} M A^{-1}

with the *meat* :math:`M = \phi\, Z_c^T W Z_c` if the model's variance is taken at its word, :math:`\sum_i
z_i z_i^T g_i^2/(1-h_i)^2` if it is not (robust, HC3), and sums of :math:`z_i g_i/(1-h_i)` within groups if
rows come in clusters. A row of weight :math:`m > 1` counts as :math:`m` observations. For squared loss the
first is exact given the noise variance. Coefficients are linear in :math:`\delta`,
:math:`\gamma = \tilde X^+ R Z \delta`.

These are errors of the *penalised* estimate around its own expectation: intervals cover what the penalised
fit estimates, not the coefficient that an unpenalised fit of infinitely many rows would give. With fewer
features than rows, what is not linear in them counts as noise: intervals are then too wide rather than too
narrow for rows that are given.
"""

import numpy as np
from scipy.linalg import cho_solve

from pellucid.effects.linear import Inference, WeightedColumns
from pellucid.losses import Tweedie
from pellucid.solvers import GLMFit, GLMProblem

_CHUNK = 64  # columns of the covariance factor carried through the features at a time


def coefficient_errors(
    columns: WeightedColumns,
    Z: np.ndarray,
    problem: GLMProblem,
    fit: GLMFit,
    *,
    kind: str = "model",
    groups: np.ndarray | None = None,
) -> Inference:
    """Standard errors of the coefficients γ of one smooth problem (see the module's formula)."""
    if kind not in ("model", "robust", "clustered"):
        raise ValueError(f"kind must be 'model', 'robust' or 'clustered', got {kind!r}.")
    if (kind == "clustered") != (groups is not None):
        raise ValueError("kind='clustered' needs groups, one label per row; other kinds take none.")
    if kind == "model" and not problem.loss.linked:
        raise ValueError(
            f"The {problem.loss.name} loss has no likelihood, so there are no standard errors by the model; "
            f"use kind='robust'."
        )
    copies = np.maximum(1.0, problem.weight)  # how many observations a row stands for
    h = fit.leverage(Z, fit_intercept=problem.fit_intercept)
    free = float(copies.sum() - h.sum())
    if free <= 1e-6 * float(copies.sum()):
        raise ValueError(
            "The fit uses up all degrees of freedom, so standard errors do not exist; raise alpha."
        )
    Zc = Z - fit.center
    if kind == "model":
        phi, free = _dispersion(problem, fit, free)
        half = np.sqrt(phi) * (np.sqrt(fit.curvature)[:, None] * Zc).T  # half @ halfᵀ is the meat
    else:
        own = fit.gradient / np.maximum(1.0 - h / copies, 1e-8)
        if groups is None:
            half = (Zc * (own / np.sqrt(copies))[:, None]).T
        else:
            _, index = np.unique(groups, return_inverse=True)
            n_groups = int(index.max()) + 1
            if n_groups < 2:
                raise ValueError("Clustered standard errors need at least two groups.")
            sums = np.zeros((n_groups, Z.shape[1]))
            np.add.at(sums, index, Zc * own[:, None])
            half, free = sums.T * np.sqrt(n_groups / (n_groups - 1)), float(n_groups - 1)
    root = cho_solve((fit.hessian_factor, True), half, check_finite=False)  # Cov = root @ rootᵀ
    if root.shape[1] > root.shape[0]:
        root = _square_root(root)
    return Inference(_push(columns, Z, root), free, kind)


def _dispersion(problem: GLMProblem, fit: GLMFit, free: float) -> tuple[float, float]:
    """Dispersion φ, and the degrees of freedom behind it (infinite where it is known to be one)."""
    name, loss = problem.loss.name, problem.loss
    if problem.loss.degree:  # of squares of gradients; residuals of any loss are taken as alike in all rows
        steepness = float(fit.curvature.sum() / problem.weight.sum())
        return float(np.sum(fit.gradient**2 / problem.weight)) / (free * steepness), free
    if name == "gamma":
        mean = np.exp(fit.eta)
        return float(problem.weight @ ((problem.y - mean) / mean) ** 2) / free, free
    if isinstance(loss, Tweedie) and loss.power is not None:
        expected = np.exp((2.0 - loss.power) * fit.eta)  # curvature
        return float(np.sum(fit.gradient**2 / problem.weight / expected)) / free, free
    return 1.0, np.inf


def _square_root(root: np.ndarray) -> np.ndarray:
    """A square matrix with the same ``root @ rootᵀ``."""
    return np.asarray(np.linalg.qr(root.T, mode="r")).T


def _push(columns: WeightedColumns, Z: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Root of the diagonal of ``Γ Cov Γᵀ``, ``Γ = X̃⁺ R Z``, a few columns at a time."""
    total = np.zeros(columns.space.X.shape[1])
    for start in range(0, root.shape[1], _CHUNK):
        moved = columns.coefficients(Z @ root[:, start : start + _CHUNK])
        total += np.einsum("ij,ij->i", moved, moved)
    return np.sqrt(total)
