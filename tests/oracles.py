"""Slow and obviously right: the bordered system solved by brute force, and leave-one-out by n refits."""

import numpy as np


def bordered(K, weight, alpha, fit_intercept):
    """The matrix of the system ``[K + α S⁻¹, 1; 1ᵀ, 0] [a; b] = [y; 0]``."""
    A = K + alpha * np.diag(1.0 / weight)
    if not fit_intercept:
        return A
    one = np.ones((len(K), 1))
    return np.block([[A, one], [one.T, np.zeros((1, 1))]])


def solve(K, Y, weight, alpha, fit_intercept):
    """Dual coefficients and intercepts for targets of shape (n, q)."""
    n = len(K)
    right = np.vstack([Y, np.zeros((int(fit_intercept), Y.shape[1]))])
    solution = np.linalg.solve(bordered(K, weight, alpha, fit_intercept), right)
    return solution[:n], solution[n] if fit_intercept else np.zeros(Y.shape[1])


def without(K, K_new, Y, weight, alpha, fit_intercept, row):
    """Predictions for new rows by the model that was fitted without ``row``."""
    rest = np.arange(len(K)) != row
    a, b = solve(K[np.ix_(rest, rest)], Y[rest], weight[rest], alpha, fit_intercept)
    return K_new[:, rest] @ a + b


def loo_residuals(K, Y, weight, alpha, fit_intercept):
    """Leave-one-out residuals by n refits."""
    left_out = [without(K, K[i : i + 1], Y, weight, alpha, fit_intercept, i)[0] for i in range(len(K))]
    return Y - np.array(left_out)


def relative_error(actual, desired):
    """Largest difference, relative to the largest value that is expected."""
    return np.abs(np.asarray(actual) - desired).max() / max(np.abs(desired).max(), 1e-300)


def curve(n=40, p=2, q=None, seed=0, noise=0.1):
    """Rows and noisy values of a smooth function, of one output or of ``q``."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(n, p))
    directions = rng.normal(size=(p, q or 1))
    Y = np.sin(X @ directions) + 0.3 * X[:, :1] + 1.5 + noise * rng.normal(size=(n, q or 1))
    return X, Y if q else Y[:, 0]


def blobs(n_classes=2, n=45, p=2, seed=0, spread=1.0):
    """Overlapping clouds of points, one per class."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % n_classes
    centers = 1.5 * rng.normal(size=(n_classes, p))
    return centers[labels] + spread * rng.normal(size=(n, p)), labels
