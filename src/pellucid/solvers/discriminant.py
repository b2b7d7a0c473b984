r"""Fisher's discriminant directions of scores that are given."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh


class Discriminant(NamedTuple):
    """Directions that separate classes best, with unit variance within classes."""

    scalings: np.ndarray  # (classes, components): θ, by which scores become variates
    explained: np.ndarray  # (components,): share λ of each variate's variance that lies between classes
    means: np.ndarray  # (classes, components): mean variates of each class


def discriminant(F: np.ndarray, labels: np.ndarray, s: np.ndarray, n_components: int) -> Discriminant:
    r"""Solve :math:`B\theta = \lambda (B + W)\theta`, covariances of scores between and within classes.

    Parameters
    ----------
    F : ndarray of shape (n, classes)
        Scores, which sum to one in each row.
    labels : ndarray of shape (n,)
        Index of each row's class; every class occurs.
    s : ndarray of shape (n,)
        Weights.
    n_components : int
        How many directions to keep.
    """
    n_classes = F.shape[1]
    # the scores of a row sum to one: work in the complement of (1, ..., 1)
    basis = np.linalg.svd(np.ones((1, n_classes)))[2][1:].T
    F = F @ basis
    member = (labels[:, None] == np.arange(n_classes)) * s[:, None]
    prior = member.sum(axis=0) / s.sum()
    means = member.T @ F / member.sum(axis=0)[:, None]
    between = means - prior @ means
    within = F - means[labels]
    W = (within * s[:, None]).T @ within / s.sum()
    W += (1e-4 * np.trace(W) / len(W) + np.finfo(float).tiny) * np.eye(len(W))
    B = (between * prior[:, None]).T @ between
    ratio, theta = eigh(B, W)  # theta has unit variance within classes
    order = np.argsort(ratio)[::-1][:n_components]
    ratio = np.maximum(ratio[order], 0.0)
    scalings = basis @ theta[:, order]
    # a sign that does not depend on the solver: the class with the largest score has a positive one
    sign = np.sign(scalings[np.argmax(np.abs(scalings), axis=0), np.arange(scalings.shape[1])])
    return Discriminant(scalings * sign, ratio / (1.0 + ratio), means @ (theta[:, order] * sign))
