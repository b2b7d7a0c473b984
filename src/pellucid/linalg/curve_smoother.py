"""A curve on points made smoother: the penalty is on its second derivative, straight lines stay."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solveh_banded


def smooth_curve(values: np.ndarray, weight: np.ndarray, at: np.ndarray, width: float) -> np.ndarray:
    r"""Smooth values at increasing points.

    .. math:: \min_f \; \sum_i w_i (f_i - t_i)^2 + \lambda \int f''^2, \qquad \lambda = (width / 2\pi)^4

    with weights that sum to one, and points that are taken to the range from 0 to 1. Where the weight is
    spread evenly, a wave of length ``width`` loses half its height, shorter waves lose more and longer ones
    less. Constants and straight lines stay as they are, so the weighted mean of the values does too.

    Parameters
    ----------
    values : ndarray of shape (m,) or (m, q)
        One curve, or one per column.
    weight : ndarray of shape (m,)
        How much each point counts.
    at : ndarray of shape (m,)
        Where the points are, increasing.
    width : float
        Length of the waves that lose half their height, as a share of the range.

    Returns
    -------
    ndarray of the shape of ``values``

    Examples
    --------
    >>> x = np.linspace(0, 1, 201)
    >>> wave = np.sin(2 * np.pi * x / 0.1)
    >>> smooth = smooth_curve(wave, np.ones(201), x, 0.1)
    >>> float(np.round(np.abs(smooth[50:150]).max(), 2))
    0.5
    """
    m = len(values)
    if m < 3:
        return np.array(values, dtype=float)
    # points that all but coincide are kept apart, as differences are divided by their gaps
    gap = np.maximum(np.diff(np.asarray(at, dtype=float)), 0.0)
    gap = np.maximum(gap, 1e-3 * max(float(gap.sum()), np.finfo(float).tiny) / m)
    gap = gap / gap.sum()
    w = np.asarray(weight, dtype=float) / max(float(np.sum(weight)), np.finfo(float).tiny)
    w = np.maximum(w, 1e-6)  # a point that no row is at follows its neighbours
    left, right = gap[:-1], gap[1:]
    middle = (left + right) / 2
    # D f has the second derivatives at the inner points, times the root of what each stands for. With
    # (1/λ + D W⁻¹ Dᵀ) γ = D t the minimum is f = t - W⁻¹ Dᵀ γ, for small and for large λ alike.
    root = np.sqrt(middle)
    D = [root / (left * middle), -root * (1 / left + 1 / right) / middle, root / (right * middle)]
    band = np.zeros((3, m - 2))  # upper band form
    band[2] = (2 * np.pi / width) ** 4 + sum(d**2 / w[i : i + m - 2] for i, d in enumerate(D))
    band[1, 1:] = D[1][:-1] * D[0][1:] / w[1 : m - 2] + D[2][:-1] * D[1][1:] / w[2 : m - 1]
    band[0, 2:] = D[2][:-2] * D[0][2:] / w[2 : m - 2]
    t = np.asarray(values, dtype=float).T
    bend = sum(d * t[..., i : i + m - 2] for i, d in enumerate(D))
    gamma = solveh_banded(band, np.asarray(bend).T).T
    pull = np.zeros_like(t)
    for i, d in enumerate(D):
        pull[..., i : i + m - 2] += d * gamma
    return (t - pull / w).T
