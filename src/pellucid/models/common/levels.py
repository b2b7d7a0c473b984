"""Levels of quantiles and expectiles: what users ask for, what new rows get, and curves that do not cross."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.losses import Expectile, Loss, Quantile


def losses_at_levels(loss: Loss, levels: Any, stated: Any) -> list[Loss]:
    """The loss, or one per level of quantiles or expectiles; ``stated`` is how the user gave the loss."""
    wished = np.atleast_1d(np.asarray(levels, dtype=object))
    if not (isinstance(stated, str) and isinstance(loss, Quantile | Expectile)):
        if np.ndim(levels) or levels != 0.5:
            raise ValueError(
                f"quantile={levels!r} goes with loss='quantile' or loss='expectile', not with {stated!r}."
            )
        return [loss]
    if wished.ndim != 1 or not len(wished):
        raise ValueError(f"quantile must be a level between 0 and 1, or a list; got {levels!r}.")
    return [type(loss)(level) for level in wished]


def in_order(values: np.ndarray, levels: Sequence[float]) -> np.ndarray:
    """Values of each row rearranged so that they rise with the levels: curves that do not cross.

    Where curves of a row cross, this is never farther from the true quantiles than they are [1]_.

    References
    ----------
    .. [1] V. Chernozhukov, I. Fernández-Val and A. Galichon, "Quantile and probability curves without
       crossing", Econometrica 78 (2010).

    Examples
    --------
    >>> in_order(np.array([[3.0, 1.0, 2.0]]), [0.9, 0.1, 0.5])
    array([[3., 1., 2.]])
    >>> in_order(np.array([[3.0, 1.0, 2.0]]), [0.1, 0.5, 0.9])
    array([[1., 2., 3.]])
    """
    rank = np.argsort(np.argsort(levels, kind="stable"), kind="stable")
    return np.sort(values, axis=1)[:, rank]


def level_shift(residuals: np.ndarray, weight: np.ndarray, level: float) -> float:
    """What to add to a quantile so that a share ``level`` of new targets is at or below it.

    ``residuals`` are targets minus quantiles of rows that the quantiles have not seen. Of n such rows the one
    of rank k is not exceeded by a new one with probability k / (n + 1), whatever the distribution, as all
    n + 1 orders are alike. The shift is the residual of rank ``level · (n + 1)``, between two ranks on the
    line through both. A row of weight 2 has two ranks.

    References
    ----------
    Y. Romano, E. Patterson and E. Candès, "Conformalized quantile regression", NeurIPS (2019).

    Examples
    --------
    >>> (
    ...     level_shift(np.arange(1.0, 10.0), np.ones(9), 0.9),
    ...     level_shift(np.arange(1.0, 10.0), np.ones(9), 0.55),
    ... )
    (9.0, 5.5)
    """
    order = np.argsort(residuals, kind="stable")
    r, s = residuals[order], weight[order]
    last = np.cumsum(s)
    first = last - s + np.minimum(s, 1.0)
    ranks = np.column_stack([first, last]).ravel()
    return float(np.interp(level * (last[-1] + 1.0), ranks, np.repeat(r, 2)))
