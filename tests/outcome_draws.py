"""Targets of every kind, drawn beside two known curves."""

import numpy as np

OUTCOMES = ("huber", "quantile", "expectile", "poisson", "negative_binomial")
OUTCOMES += ("gamma", "tweedie", "binomial", "cox", "ordinal")
CURVES = (lambda x: np.sin(3 * x), np.square)


def drawn(loss, rng, n):
    """Rows, and targets whose linear predictor is the sum of the curves."""
    X = rng.uniform(-1, 1, (n, 2))
    eta = sum(curve(x) for curve, x in zip(CURVES, X.T, strict=True))
    mean = np.exp(eta)
    if loss == "poisson":
        return X, rng.poisson(mean).astype(float)
    if loss == "negative_binomial":
        return X, rng.poisson(mean * rng.gamma(2.0, 0.5, n)).astype(float)
    if loss == "gamma":
        return X, mean * rng.gamma(3.0, 1.0 / 3.0, n)
    if loss == "tweedie":
        return X, np.array([rng.gamma(2.0, 0.5, k).sum() for k in rng.poisson(mean)])
    if loss == "binomial":
        trials = rng.integers(1, 9, n)
        hits = rng.binomial(trials, 1 / (1 + np.exp(-eta)))
        return X, np.column_stack([hits, trials - hits])
    if loss == "cox":
        free, left = rng.exponential(1 / mean), rng.exponential(2.0, n)
        return X, np.column_stack([np.minimum(free, left), free <= left])
    if loss == "ordinal":
        return X, np.digitize(eta + rng.logistic(size=n), [-1.0, 0.2, 1.5])
    return X, eta + 0.4 * rng.standard_t(4, n)
