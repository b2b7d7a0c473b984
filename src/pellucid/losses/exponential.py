"""The exponential function, with an end that solvers cannot fall off."""

import numpy as np

# Beyond this exponent the losses go on as the parabola that continues exp with the same value, slope and
# curvature: they stay convex, derivatives stay true, and squares of 1e130 still are numbers. No fit ends
# there.
EXPONENT_LIMIT = 300.0


def _split(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    inner = np.minimum(x, EXPONENT_LIMIT)
    return inner, x - inner


def bent_exp(x: np.ndarray) -> np.ndarray:
    """``exp(x)``, a parabola from 300 on."""
    inner, rest = _split(x)
    return np.exp(inner) * (1.0 + rest * (1.0 + 0.5 * rest))


def bent_exp_slope(x: np.ndarray) -> np.ndarray:
    """Derivative of :func:`bent_exp`."""
    inner, rest = _split(x)
    return np.exp(inner) * (1.0 + rest)


def bent_exp_curvature(x: np.ndarray) -> np.ndarray:
    """Second derivative of :func:`bent_exp`."""
    return np.exp(np.minimum(x, EXPONENT_LIMIT))


def excess(r: np.ndarray) -> np.ndarray:
    """``exp(r) − 1 − r``, which is never negative, accurate near zero."""
    inner, rest = _split(r)
    near = np.expm1(inner) - inner
    return np.maximum(near + rest * (np.exp(inner) * (1.0 + 0.5 * rest) - 1.0), 0.0)
