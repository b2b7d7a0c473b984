"""Tail of a weighted sum of independent χ² variables with one degree of freedom each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import chi2, ncx2


def mixture_tail(q: float, weights: np.ndarray) -> float:
    r"""Probability that :math:`\sum_k \lambda_k \chi^2_{1,k}` exceeds ``q``, nearly.

    Above the mean it is taken from the χ² distribution, possibly non-central, whose mean, spread and
    skewness, and if it can be kurtosis, are those of the sum. Below the mean that distribution may have no
    mass left where the sum has some; there it has the form of the scaled χ² of the same mean and spread.

    References
    ----------
    Liu, Tang and Zhang (2009), Computational Statistics and Data Analysis 53.

    Examples
    --------
    >>> round(mixture_tail(3.841, np.array([1.0])), 3)
    0.05
    """
    weights = np.asarray(weights, dtype=float)
    top = float(np.max(weights, initial=0.0))
    if top <= 0:
        return 1.0
    weights, q = weights / top, q / top
    c1, c2, c3, c4 = (float(np.sum(weights**k)) for k in (1, 2, 3, 4))
    s1, s2 = c3 / c2**1.5, c4 / c2**2
    if s1**2 > s2:
        a = 1.0 / (s1 - np.sqrt(s1**2 - s2))
        delta = s1 * a**3 - a**2
        dof = a**2 - 2.0 * delta
    else:
        a, delta, dof = 1.0 / s1, 0.0, 1.0 / s1**2
    at = max(q - c1, 0.0) / np.sqrt(c2) * a + dof + delta
    tail = float(ncx2.sf(at, dof, delta) if delta > 0 else chi2.sf(at, dof))
    if q >= c1:
        return tail
    k = c1**2 / c2
    return 1.0 - (1.0 - tail) * float(chi2.cdf(q * c1 / c2, k) / chi2.cdf(k, k))


def combined_p_value(p: Sequence[float]) -> float:
    r"""One p-value from several that may depend on each other, by the Cauchy combination.

    The mean of :math:`\tan((1/2 - p_k)\pi)` has about a Cauchy tail whatever the dependence.

    References
    ----------
    Liu and Xie (2020), Journal of the American Statistical Association 115.

    Examples
    --------
    >>> (
    ...     round(combined_p_value([0.02, 0.02, 0.02]), 3),
    ...     round(combined_p_value([0.01, 0.6, 0.9]), 3),
    ... )
    (0.02, 0.033)
    """
    values = np.clip(np.asarray(p, dtype=float), 1e-300, 1.0 - 1e-6)
    if len(values) == 0:
        return 1.0
    small = values < 1e-15
    tangent = np.where(small, 1.0 / (values * np.pi), np.tan((0.5 - values) * np.pi))
    mean = float(tangent.mean())
    return min(1.0 / (mean * np.pi) if mean > 1e15 else 0.5 - float(np.arctan(mean)) / np.pi, 1.0)
