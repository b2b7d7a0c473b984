"""Prediction intervals by the jackknife+, from leave-one-out quantities alone."""

import numpy as np


def jackknife_plus(
    without: np.ndarray, residuals: np.ndarray, weight: np.ndarray, coverage: float
) -> tuple[np.ndarray, np.ndarray]:
    r"""Lower and upper ends of jackknife+ intervals.

    With :math:`f_{-i}(x)` the prediction by the model fitted without row *i* and :math:`e_i` the
    leave-one-out residual of that row, the interval reaches from the :math:`\lfloor(1-c)(n+1)\rfloor`-th
    smallest of :math:`f_{-i}(x) - |e_i|` to the :math:`\lceil c(n+1)\rceil`-th smallest of
    :math:`f_{-i}(x) + |e_i|`. For exchangeable rows it covers a new target with probability at least
    :math:`2c - 1`, and in practice about :math:`c`. Rows count by their weight; weights that
    are all below one, such as shares, are relative, so that each row counts once on average.

    Parameters
    ----------
    without : ndarray of shape (m, n)
        Predictions for ``m`` new rows by each of the ``n`` models that lack a row.
    residuals : ndarray of shape (n,) or (m, n)
        Leave-one-out residuals, or what they would be at each new row.
    weight : ndarray of shape (n,)
        Row weights.
    coverage : float
        The coverage ``c``, between 0 and 1.

    References
    ----------
    Barber, Candès, Ramdas and Tibshirani (2021), Predictive inference with the jackknife+, Annals of
    Statistics 49.
    """
    total = np.maximum(1.0, weight).sum()
    weight = weight * (total / weight.sum())
    check_coverage(coverage, total)
    reach = np.abs(residuals)
    upper = _order_statistic(without + reach, weight, coverage * (total + 1.0))
    lower = -_order_statistic(reach - without, weight, coverage * (total + 1.0))
    return lower, upper


def _order_statistic(values: np.ndarray, weight: np.ndarray, rank: float) -> np.ndarray:
    """Smallest value in each row at which the weight of all values up to it reaches ``rank``."""
    order = np.argsort(values, axis=1, kind="stable")
    reached = np.cumsum(weight[order], axis=1) >= rank - 1e-9
    position = np.argmax(reached, axis=1)
    rows = np.arange(len(values))
    return values[rows, order[rows, position]]


def check_coverage(coverage: float, total: float) -> None:
    """Raise if so many observations cannot tell an interval of this coverage."""
    if not 0.0 < coverage < 1.0:
        raise ValueError(f"coverage must lie between 0 and 1, got {coverage!r}.")
    if coverage * (total + 1.0) > total + 1e-9:
        needed = int(np.ceil(coverage / (1.0 - coverage) - 1e-9))
        raise ValueError(
            f"An interval of coverage {coverage:g} needs at least {needed} rows, got {total:g}. Ask for less "
            f"coverage."
        )
