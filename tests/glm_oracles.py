"""Data for every loss, features of a kernel, and quantities computed the slow and obvious way."""

import numpy as np

from pellucid.losses import as_loss

REGRESSION = ("squared", "poisson", "gamma")
BINARY = ("logistic", "squared_hinge", "hinge")
SMOOTH = ("squared", "poisson", "gamma", "logistic", "squared_hinge")


def rbf(X, Y=None, gamma=0.3):
    """Gaussian kernel matrix."""
    Y = X if Y is None else Y
    return np.exp(-gamma * np.square(X[:, None] - Y).sum(axis=2))


def spectral(K):
    """Features ``Z = Q D^{1/2}`` with ``Z Zᵀ = K``."""
    values, vectors = np.linalg.eigh(K)
    keep = values > 1e-12 * values.max()
    return vectors[:, keep] * np.sqrt(values[keep])


def centering(n):
    """The matrix that subtracts the mean."""
    return np.eye(n) - 1.0 / n


def sample(name, n=60, p=3, seed=0, n_classes=3):
    """Rows and targets that suit a loss, with a smooth signal and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    f = np.sin(1.5 * X[:, 0]) + 0.4 * X[:, 1 % p] ** 2 - 0.5
    if name == "squared":
        return X, f + 0.3 * rng.normal(size=n)
    if name == "poisson":
        return X, rng.poisson(np.exp(0.7 + f)).astype(float)
    if name == "gamma":
        return X, rng.gamma(3.0, np.exp(f) / 3.0)
    if name == "multinomial":
        scores = np.column_stack([(c - 1.0) * f for c in range(n_classes)])
        return X, np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
    return X, (f + 0.5 * rng.logistic(size=n) > 0).astype(int)


def side(n, seed=1):
    """Weights and offsets."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.3, 3.0, size=n), 0.5 * rng.normal(size=n)


def gradient(name, y, eta):
    """Derivative of the loss by differences, an independent check of the formulas."""
    loss, h = as_loss(name), 1e-6
    return (loss.value(y, eta + h) - loss.value(y, eta - h)) / (2 * h)
