r"""Columns of a table as numbers on one scale, so that one length-scale suits them all.

Fourier features never go flat: a value far outside of what was seen lands anywhere on a wave. So each numeric
column is warped by an increasing function that is constant outside the training range, and then centred and
divided by its standard deviation:

``"robust"``
    the mean of the share of training rows below the value and of a linear scale that is cut beyond the
    outer hundredths, so that neither ties nor tails can pull the other values together;
``"rank"``
    the share of training rows below the value alone;
``"standard"``, ``"minmax"``
    linear, cut at the ends of the training range; ``"minmax"`` is then left at [0, 1].

Levels of a category are put in the order of the mean target in the training rows (shrunk towards the overall
mean, so that rare levels stay near the middle), one step apart, and then scaled like numbers. A level that
was not seen in training takes the mean position. With several outputs the order is that of the first
principal component of the mean targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.linalg import column_scale

SCALINGS = ("robust", "standard", "minmax", "rank")
_KNOTS = 257  # points at which the share of rows below is kept
_TAIL = 0.01  # share of rows beyond each end of the linear scale of "robust",
_REACH = 0.2  # and how far it goes on beyond, in units of its length
_PRIOR = 10.0  # rows of average target added to each level of a category


@dataclass(frozen=True)
class Column:
    """One column: knots, what they become, and for a category the position of each level."""

    knots: np.ndarray
    values: np.ndarray
    spread: float = 1.0  # standard deviation of the scaled values, 0 for a constant column
    levels: dict[Any, float] | None = None
    unknown: float = 0.0  # position of a level that was not seen

    def apply(self, x: np.ndarray) -> np.ndarray:
        """Return scaled values; beyond the outer knots they stay constant."""
        if self.levels is not None:
            x = np.array([self.levels.get(level, self.unknown) for level in x])
        return np.interp(x.astype(float), self.knots, self.values)


@dataclass(frozen=True)
class Scaler:
    """The columns of a table, fitted."""

    columns: tuple[Column, ...]

    @property
    def unit(self) -> float:
        """Root mean square of the spreads of the columns that are not constant; 1 if all are."""
        spreads = [column.spread for column in self.columns if column.spread > 0]
        return float(np.sqrt(np.mean(np.square(spreads)))) if spreads else 1.0

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Return scaled rows, float64."""
        out = np.empty(X.shape)
        for j, column in enumerate(self.columns):
            out[:, j] = column.apply(X[:, j])
        return out


def mixed_rows(X: Any, categorical: Sequence[int]) -> np.ndarray:
    """Return a data frame with columns of levels as an array of objects: numbers, and levels as they are."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    rows = np.empty(frame.shape, dtype=object)
    incomplete = []
    for j, name in enumerate(frame.columns):
        column = frame[name]
        if column.is_null().any() or (column.dtype.is_float() and not column.is_finite().all()):
            incomplete.append(name)
        elif j in categorical:
            rows[:, j] = column.to_list()
        else:
            rows[:, j] = column.to_numpy().astype(float)
    if incomplete:
        raise ValueError(
            f"Input X contains NaN, infinity or missing values in columns {incomplete}: fill or drop them."
        )
    return rows


def fit_scaler(
    X: np.ndarray,
    scaling: str,
    weight: np.ndarray,
    categorical: Sequence[int] = (),
    targets: np.ndarray | None = None,
) -> Scaler:
    """Fit the scaling of every column.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Numbers, or objects where some columns are categories.
    scaling : {"robust", "standard", "minmax", "rank"}
        The warp of numbers.
    weight : ndarray of shape (n,)
        Positive row weights.
    categorical : sequence of int
        Columns of levels.
    targets : ndarray of shape (n, outputs), optional
        What levels are ordered by.

    Returns
    -------
    Scaler
    """
    columns = []
    for j in range(X.shape[1]):
        if j in categorical:
            assert targets is not None
            levels, unknown = order_levels(X[:, j], targets, weight)
            positions = np.array([levels[level] for level in X[:, j]])
            columns.append(Column(*_fit_column(positions, scaling, weight), levels, unknown))
        else:
            columns.append(Column(*_fit_column(X[:, j].astype(float), scaling, weight)))
    return Scaler(tuple(columns))


def order_levels(
    levels: np.ndarray, targets: np.ndarray, weight: np.ndarray
) -> tuple[dict[Any, float], float]:
    """Return a position for each level, by the shrunk mean target, and the mean position.

    Examples
    --------
    >>> order_levels(
    ...     np.array(["a", "b", "a"], dtype=object), np.array([[3.0], [1.0], [3.0]]), np.ones(3)
    ... )
    ({'b': 0.0, 'a': 1.0}, 0.6666666666666666)
    """
    names = sorted(set(levels), key=lambda level: (str(type(level)), level))
    code = {level: k for k, level in enumerate(names)}
    index = np.array([code[level] for level in levels])
    count = np.bincount(index, weight, len(names))
    sums = np.column_stack([np.bincount(index, weight * t, len(names)) for t in targets.T])
    overall = weight @ targets / weight.sum()
    means = (sums + _PRIOR * overall) / (count + _PRIOR)[:, None] - overall
    if means.shape[1] > 1:
        _, _, axes = np.linalg.svd(np.sqrt(count)[:, None] * means, full_matrices=False)
        axis = axes[0] * (1.0 if axes[0][np.argmax(np.abs(axes[0]))] > 0 else -1.0)
        means = (means @ axis)[:, None]
    # means that differ by rounding alone keep the order of the names
    rounded = np.round(means[:, 0] / max(np.abs(means).max(), 1e-300), 12)
    place = np.empty(len(names))
    place[np.lexsort((np.arange(len(names)), rounded))] = np.arange(len(names))
    return {names[k]: float(place[k]) for k in np.argsort(place)}, float(count @ place / count.sum())


def _fit_column(x: np.ndarray, scaling: str, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Knots, scaled values and spread of a column of numbers."""
    if scaling in ("standard", "minmax"):
        knots = np.array([x.min(), x.max()])
        if knots[0] == knots[1]:
            return knots[:1], np.zeros(1), 0.0
        spread = float(column_scale(x[:, None], weight)[0])
        if scaling == "minmax":
            return knots, np.array([0.0, 1.0]), spread / (knots[1] - knots[0])
        mean = x[0] + weight @ (x - x[0]) / weight.sum()
        return knots, (knots - mean) / spread, 1.0
    order = np.argsort(x, kind="stable")
    ordered = x[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] > ordered[:-1]]))
    distinct = ordered[first]
    mass = np.add.reduceat(weight[order], first)
    share = (np.cumsum(mass) - 0.5 * mass) / mass.sum()
    if len(distinct) == 1:
        return distinct, np.zeros(1), 0.0
    warped = share
    if scaling == "robust":
        low, high = np.interp([_TAIL, 1.0 - _TAIL], share, distinct)
        length = high - low
        if length > 0:
            warped = 0.5 * (share + np.clip((distinct - low) / length, -_REACH, 1.0 + _REACH))
    mean = mass @ warped / mass.sum()
    spread = np.sqrt(mass @ (warped - mean) ** 2 / mass.sum())
    kept = _thin(share)
    return distinct[kept], (warped[kept] - mean) / spread, 1.0


def _thin(share: np.ndarray) -> np.ndarray:
    """Numbers of at most ``_KNOTS`` distinct values at even steps of ``share``, both ends among them."""
    if len(share) <= _KNOTS:
        return np.arange(len(share))
    return np.unique(np.searchsorted(share, np.linspace(share[0], share[-1], _KNOTS)).clip(0, len(share) - 1))
