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
principal component of the mean targets. Levels of an ordered category keep the order they have.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.data.table import Column
from pellucid.linalg import column_scale

SCALINGS = ("robust", "standard", "minmax", "rank")
_KNOTS = 257  # points at which the share of rows below is kept
_TAIL = 0.01  # share of rows beyond each end of the linear scale of "robust",
_REACH = 0.2  # and how far it goes on beyond, in units of its length
_PRIOR = 10.0  # rows of average target added to each level of a category


@dataclass(frozen=True)
class Warp:
    """One column: knots, what they become, and for a category the position of each level."""

    knots: np.ndarray
    values: np.ndarray
    spread: float = 1.0  # standard deviation of the scaled values, 0 for a constant column
    levels: dict[Any, float] | None = None  # in the order of their codes
    unknown: float = 0.0  # position of a level that was not seen

    @property
    def places(self) -> np.ndarray:
        """Position of each level by its code; the last one is that of a level that was not seen."""
        return np.array([*(self.levels or {}).values(), self.unknown])

    def apply(self, x: np.ndarray) -> np.ndarray:
        """Return scaled values of numbers or codes; beyond the outer knots they stay constant."""
        return self._scale(x if self.levels is None else self.places[x.astype(np.intp)])

    def at(self, points: np.ndarray) -> np.ndarray:
        """Return scaled values of numbers, or of levels by their names."""
        return self._scale(points if self.levels is None else [self.levels[level] for level in points])

    def _scale(self, position: Any) -> np.ndarray:
        return np.interp(np.asarray(position, dtype=float), self.knots, self.values)


@dataclass(frozen=True)
class Scaler:
    """The columns of a table, fitted."""

    columns: tuple[Warp, ...]

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


def fit_scaler(
    X: np.ndarray,
    scaling: str,
    weight: np.ndarray,
    columns: Sequence[Column] = (),
    targets: np.ndarray | None = None,
) -> Scaler:
    """Fit the scaling of every column.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Numbers, and codes of levels.
    scaling : {"robust", "standard", "minmax", "rank"}
        The warp of numbers.
    weight : ndarray of shape (n,)
        Positive row weights.
    columns : sequence of Column, optional
        What the columns are; numbers, if it is not given.
    targets : ndarray of shape (n, outputs), optional
        What levels are ordered by.

    Returns
    -------
    Scaler
    """
    warps = []
    for x, column in zip(X.T, columns or [Column("")] * X.shape[1], strict=True):
        if column.levels is None:
            warps.append(Warp(*_fit_column(x.astype(float), scaling, weight)))
            continue
        assert targets is not None
        codes = x.astype(np.intp)
        place = np.arange(float(len(column.levels)))
        if not column.ordered:
            place = order_levels(codes, len(place), targets, weight)
        positions = place[codes]
        mean = float(weight @ positions / weight.sum())
        levels = dict(zip(column.levels, place.tolist(), strict=True))
        warps.append(Warp(*_fit_column(positions, scaling, weight), levels, mean))
    return Scaler(tuple(warps))


def order_levels(codes: np.ndarray, n_levels: int, targets: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return a position for each level, by the shrunk mean target.

    Examples
    --------
    >>> order_levels(np.array([0, 1, 0]), 2, np.array([[3.0], [1.0], [3.0]]), np.ones(3))
    array([1., 0.])
    """
    count = np.bincount(codes, weight, n_levels)
    sums = np.column_stack([np.bincount(codes, weight * t, n_levels) for t in targets.T])
    overall = weight @ targets / weight.sum()
    means = (sums + _PRIOR * overall) / (count + _PRIOR)[:, None] - overall
    if means.shape[1] > 1:
        _, _, axes = np.linalg.svd(np.sqrt(count)[:, None] * means, full_matrices=False)
        axis = axes[0] * (1.0 if axes[0][np.argmax(np.abs(axes[0]))] > 0 else -1.0)
        means = (means @ axis)[:, None]
    # means that differ by rounding alone keep the order of the names
    rounded = np.round(means[:, 0] / max(np.abs(means).max(), 1e-300), 12)
    place = np.empty(n_levels)
    place[np.lexsort((np.arange(n_levels), rounded))] = np.arange(n_levels)
    return place


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
