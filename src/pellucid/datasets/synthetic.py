"""Functions of a few features whose terms are known, to see whether a model finds them."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_random_state


@dataclass(frozen=True)
class _Truth:
    """A function of ``n_features`` columns, how they are drawn, and the terms it is made of."""

    function: Callable[[np.ndarray], np.ndarray]
    n_features: int
    uniform: bool
    noise: float
    terms: tuple[tuple[int, ...], ...]
    formula: str


def _additive(X: np.ndarray) -> np.ndarray:
    return -2.0 * np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2 + X[:, 2] + np.exp(-X[:, 3])


def _one_pair(X: np.ndarray) -> np.ndarray:
    return X[:, 0] * np.exp(2.0 * X[:, 1]) + X[:, 2] ** 2


def _several_pairs(X: np.ndarray) -> np.ndarray:
    x1, x2, x3, x4, x5, _, x7, x8, x9, x10 = X.T
    return (
        np.pi ** (x1 * x2) * np.sqrt(2.0 * x3)
        - np.arcsin(x4)
        + np.log(x3 + x5)
        - x9 / x10 * np.sqrt(x7 / x8)
        - x2 * x7
    )


_NARROW = (3, 4, 7, 9)  # columns of Synthetic 3 that stay away from zero: arcsine, logarithm and denominators

_TRUTH = {
    1: _Truth(
        _additive,
        5,
        False,
        1.0,
        ((0,), (1,), (2,), (3,)),
        "-2 sin(2 x1) + x2² + x3 + exp(-x4), features standard normal",
    ),
    2: _Truth(_one_pair, 5, False, 1.0, ((0,), (2,), (0, 1)), "x1 exp(2 x2) + x3², features standard normal"),
    # Products of three and four features enter through their pairs.
    3: _Truth(
        _several_pairs,
        10,
        True,
        0.0,
        (
            *((0,), (1,), (2,), (3,), (4,), (6,), (7,), (8,), (9,)),
            *((0, 1), (0, 2), (1, 2), (2, 4), (1, 6), (6, 7), (6, 8), (6, 9), (7, 8), (7, 9), (8, 9)),
        ),
        "π^(x1 x2) √(2 x3) - arcsin(x4) + log(x3 + x5) - x9/x10 √(x7/x8) - x2 x7, features uniform on "
        "[0, 1], but x4, x5, x8 and x10 on [0.6, 1]",
    ),
}


def make_synthetic(
    which: Any = 1,
    n_samples: Any = 1000,
    *,
    noise: Any = None,
    random_state: Any = None,
    return_X_y: bool = False,
) -> Any:
    r"""Rows of one of three known functions, with the terms that it is made of.

    1. :math:`-2\sin(2x_1) + x_2^2 + x_3 + e^{-x_4}` of five standard normal features: main effects only.
    2. :math:`x_1 e^{2x_2} + x_3^2` of five standard normal features: one pair.
    3. :math:`\pi^{x_1x_2}\sqrt{2x_3} - \sin^{-1}x_4 + \log(x_3+x_5) - \frac{x_9}{x_{10}}\sqrt{x_7/x_8} -
       x_2x_7` of ten uniform features: several pairs, and products of three and four features. The sixth
       feature is noise.

    Parameters
    ----------
    which : {1, 2, 3}
        The function.
    n_samples : int, default=1000
        Number of rows.
    noise : float, optional
        Standard deviation of the normal noise on the target; by default 1, 1 and 0.
    random_state : int, RandomState or None
        Seed.
    return_X_y : bool, default=False
        Whether to return only ``(X, y)``.

    Returns
    -------
    Bunch
        ``data`` of shape (n, 5) or (n, 10), ``target``, ``signal`` (the target without noise), ``terms`` (the
        true ones, as tuples of column numbers, main effects first), ``noise``, ``feature_names`` (``x1``,
        ``x2``, ...) and ``DESCR``. In the second function :math:`x_2` has no main effect, because the mean of
        :math:`x_1` is zero. In the third, all pairs within a product count as terms.

    References
    ----------
    The functions are those of Ravikumar et al. (2009), Radchenko and James (2010) and Hooker (2004).

    Examples
    --------
    >>> from pellucid.datasets import make_synthetic
    >>> data = make_synthetic(2, n_samples=200, random_state=0)
    >>> data.data.shape
    (200, 5)
    >>> data.terms
    ((0,), (2,), (0, 1))
    """
    if isinstance(which, bool) or which not in _TRUTH:
        raise ValueError(f"which must be 1, 2 or 3, got {which!r}.")
    if isinstance(n_samples, bool) or not isinstance(n_samples, Integral) or n_samples < 1:
        raise ValueError(f"n_samples must be a whole number of at least 1, got {n_samples!r}.")
    truth = _TRUTH[which]
    scale = truth.noise if noise is None else noise
    if isinstance(scale, bool) or not isinstance(scale, Real) or not 0 <= float(scale) < np.inf:
        raise ValueError(f"noise must be a number of at least 0, got {noise!r}.")
    random = check_random_state(random_state)
    shape = (int(n_samples), truth.n_features)
    if truth.uniform:
        X = random.uniform(size=shape)
        X[:, _NARROW] = 0.6 + 0.4 * X[:, _NARROW]
    else:
        X = random.standard_normal(shape)
    signal = truth.function(X)
    y = signal + float(scale) * random.standard_normal(len(X))
    if return_X_y:
        return X, y
    return Bunch(
        data=X,
        target=y,
        signal=signal,
        terms=truth.terms,
        noise=float(scale),
        feature_names=[f"x{j + 1}" for j in range(truth.n_features)],
        DESCR=f"Synthetic {which}: {truth.formula}; noise of standard deviation {float(scale):g}.",
    )
