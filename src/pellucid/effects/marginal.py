r"""Derivatives of a fitted kernel model with respect to its inputs, with standard errors.

.. math:: \frac{\partial f}{\partial x_c}(x)
          = \sum_i a_i\, \frac{\partial k(x, x_i)}{\partial x_c} = g_c(x)^T a .

The dual coefficients are linear in the targets, :math:`a = B y`, so with noise variances
:math:`\sigma^2 / s_i` the standard error of an effect is :math:`\sigma \| S^{-1/2} B g_c(x) \|`, and that of
an average of effects has the average of :math:`g_c` in its place. These are errors of the *penalised* effect
around its own expectation: shrinkage towards a flat function is not in them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.kernels import Kernel
from pellucid.linalg import row_blocks
from pellucid.solvers import Posterior


@dataclass(frozen=True)
class MarginalEffects:
    """Pointwise and average derivatives of the prediction with respect to each feature."""

    pointwise: np.ndarray
    """``∂f/∂x_c`` at each row, of shape (m, features)."""
    pointwise_error: np.ndarray
    """Standard errors of ``pointwise``, shaped alike."""
    average: np.ndarray
    """Mean of ``pointwise`` over the rows, of shape (features,)."""
    average_error: np.ndarray
    """Standard errors of ``average``."""
    names: Sequence[str]
    """Names of the features."""

    def __str__(self) -> str:
        width = max([len(name) for name in self.names] + [7])
        lines = [
            f"{'feature':<{width}}  {'average':>10}  {'std err':>10}  {'z':>7}  {'25 %':>10}  {'75 %':>10}"
        ]
        quartiles = np.quantile(self.pointwise, [0.25, 0.75], axis=0)
        for c, name in enumerate(self.names):
            error = self.average_error[c]
            z = f"{self.average[c] / error:7.2f}" if error > 0 else "      -"
            lines.append(
                f"{name:<{width}}  {self.average[c]:>10.4g}  {error:>10.4g}  {z}  "
                f"{quartiles[0, c]:>10.4g}  {quartiles[1, c]:>10.4g}"
            )
        return "\n".join(lines)


def marginal_effects(
    kernel: Kernel,
    X: np.ndarray,
    X_fit: np.ndarray,
    dual_coef: np.ndarray,
    posterior: Posterior,
    noise_variance: float,
    names: Sequence[str],
) -> MarginalEffects:
    """Compute :class:`MarginalEffects` at the rows of ``X`` for one output (see the module's formula)."""
    n_features = X.shape[1]
    pointwise = np.empty((len(X), n_features))
    squared_error = np.empty((len(X), n_features))
    mean_gradient = np.zeros((len(X_fit), n_features))
    root = posterior.prepared.root[:, None]
    for rows in row_blocks(len(X), 8.0 * 6 * len(X_fit)):
        for c, G in enumerate(kernel.input_gradients(X[rows], X_fit)):
            pointwise[rows, c] = G @ dual_coef
            squared_error[rows, c] = np.sum((posterior.apply(G.T) / root) ** 2, axis=0)
            mean_gradient[:, c] += G.sum(axis=0)
    mean_gradient /= len(X)
    average_square = np.sum((posterior.apply(mean_gradient) / root) ** 2, axis=0)
    return MarginalEffects(
        pointwise,
        np.sqrt(noise_variance * squared_error),
        pointwise.mean(axis=0),
        np.sqrt(noise_variance * average_square),
        list(names),
    )
