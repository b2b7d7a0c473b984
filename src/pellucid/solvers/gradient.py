r"""Closed-form gradients of the criteria with respect to the kernel matrix and the ridge strength.

In the units of :mod:`pellucid.linalg.centering`, let :math:`\tilde a = B z`,
:math:`\tilde r = \alpha \tilde a` and the slack :math:`t_i = \alpha B_{ii}`. A criterion
:math:`L(\tilde r, t)` with :math:`u = \partial L/\partial \tilde r` and :math:`v = -\partial L/\partial t`
changes by

.. math::
    dL = \langle W, d\tilde K \rangle + d\alpha\,(\operatorname{tr} W + u^T\tilde a - v^T \operatorname{diag}
    B), \qquad W = -\alpha\, (B u)\, \tilde a^T + \alpha\, B \operatorname{diag}(v) B ,

because :math:`dB = -B\, d\tilde K\, B`. The marginal likelihood has
:math:`W = \tfrac12 (B - \tilde a \tilde a^T/\sigma^2)`, per observation. Half the logarithm of the error is,
per observation too, minus the log likelihood of the leave-one-out residuals at their own variance; added to
the marginal likelihood it makes the mixed criterion.
"""

import numpy as np

from pellucid.linalg import bordered_inverse, cholesky_in_place, prepare, row_blocks


def criterion_gradient(
    K: np.ndarray, Y: np.ndarray, weight: np.ndarray, alpha: float, *, fit_intercept: bool, criterion: str
) -> tuple[float, np.ndarray, float]:
    """Value of a criterion, averaged over outputs, and its gradients.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel matrix; overwritten.
    Y : ndarray of shape (n, q)
        Targets.
    weight : ndarray of shape (n,)
        Positive row weights.
    alpha : float
        Ridge strength.
    fit_intercept : bool
        Whether an unpenalised intercept is fitted.
    criterion : {"loo", "gcv", "ml", "mixed"}
        As in :class:`pellucid.solvers.Fits`; ``"mixed"`` is ``"ml"`` plus half the logarithm of ``"loo"``.

    Returns
    -------
    value : float
    W : ndarray of shape (n, n)
        Gradient with respect to the kernel matrix.
    d_log_alpha : float
        Gradient with respect to the logarithm of ``alpha``.
    """
    p = prepare(K, weight, fit_intercept=fit_intercept)
    Z = p.project(Y)
    A = p.matrix
    A[np.diag_indices_from(A)] += alpha
    L = cholesky_in_place(A)
    log_det = 2.0 * np.log(np.diagonal(L)).sum() - (np.log(p.tau + alpha) if fit_intercept else 0.0)
    B = bordered_inverse(L, p.q, p.tau + alpha)
    a = B @ Z
    value, W, d_alpha = 0.0, None, 0.0
    if criterion != "ml":
        B_ii = np.diagonal(B).copy()
        measure = _generalised_cross_validation if criterion == "gcv" else _leave_one_out
        value, u, v = measure(alpha * a, alpha * B_ii, weight)
        if criterion == "mixed":
            value, u, v = 0.5 * float(np.log(value)), 0.5 * u / value, 0.5 * v / value
        half = B * np.sqrt(v)
        W = half @ half.T
        del half  # three matrices at a time are enough
        Bu = B @ u
        for rows in row_blocks(len(W), 8.0 * 2 * len(W)):
            W[rows] -= 0.5 * (Bu[rows] @ a.T + a[rows] @ Bu.T)
        W *= alpha
        d_alpha = float(np.trace(W) + np.sum(u * a) - v @ B_ii)
    if criterion in ("ml", "mixed"):
        observations = np.maximum(1.0, weight)
        repeats = float((observations - 1.0).sum())
        free = float(observations.sum()) - int(fit_intercept)
        likelihood, B = _likelihood(B, Z, a, log_det + repeats * np.log(alpha), free)
        value += likelihood
        d_alpha += float(np.trace(B)) + 0.5 * repeats / (alpha * free)
        W = B if W is None else np.add(W, B, out=W)
    W *= p.root[:, None]
    W *= p.root
    return value, W, alpha * d_alpha


def _leave_one_out(r: np.ndarray, t: np.ndarray, weight: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    m = np.maximum(1.0, weight)
    room = ((m - 1.0 + t) / m)[:, None]
    e = r / room
    factor = 1.0 / (weight.sum() * r.shape[1])
    u = 2.0 * factor * e / room
    v = np.sum(u * e, axis=1) / m
    return factor * float(np.sum(e**2)), u, v


def _generalised_cross_validation(
    r: np.ndarray, t: np.ndarray, weight: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    n_observations = np.maximum(1.0, weight).sum()
    room = 1.0 - (len(t) - t.sum()) / n_observations
    factor = 1.0 / (weight.sum() * r.shape[1] * room**2)
    value = factor * float(np.sum(r**2))
    return value, 2.0 * factor * r, np.full(len(t), 2.0 * value / (room * n_observations))


def _likelihood(
    B: np.ndarray, Z: np.ndarray, a: np.ndarray, log_det: float, free: float
) -> tuple[float, np.ndarray]:
    """Profile log likelihood per free observation and output, negated, up to a constant; overwrites ``B``."""
    q = Z.shape[1]
    scale = np.einsum("nq,nq->q", Z, a) / free
    value = 0.5 * (np.mean(np.log(scale)) + log_det / free)
    B *= 0.5 / free
    B -= (a / scale) @ (0.5 / (free * q) * a.T)
    return float(value), B
