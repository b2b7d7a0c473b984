"""What of an effect is drawn: all of it, unless a few rows far out would squeeze the others into a corner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pellucid.effects.terms import Effect

_BULK = 0.05  # share of the rows at either end that are not the bulk
_FENCE = 1.5  # widths of the bulk to either side of it, beyond which rows lie far out
_OUTSIDE = 0.005  # share of the rows at either end that may be left out in any case
_MOST = 0.025  # and at most, where they lie far out
_SQUEEZED = 3.0  # widths of what would be drawn, beyond which something is left out
_FEWEST = 10  # points of an axis from which something is


@dataclass(frozen=True)
class Beyond:
    """Rows that lie outside of a picture, on one side of it."""

    feature: str
    above: bool
    """Whether they lie above, or below."""
    edge: float
    """The last value in the picture."""
    to: float
    """The outermost value."""
    share: float
    """Share of the rows."""
    values: tuple[float, ...] = ()
    """The effect at the outermost value, one per output; of curves only."""

    def __str__(self) -> str:
        where = f"above {self.edge:.4g}, up to" if self.above else f"below {self.edge:.4g}, down to"
        text = f"{100 * self.share:.2g} % of the rows lie {where} {self.to:.4g}"
        text = f"{text} ({self.values[0]:+.3g} there)" if len(self.values) == 1 else text
        return text.replace("-", "−")


def visible(points: np.ndarray, density: np.ndarray) -> slice:
    """Which points of an axis are drawn, from the shares of the rows at them.

    What is far from the bulk of the rows is left out, if it is a few of them and the rest would otherwise
    have less than a third of the picture. No more is left out than is needed for that.

    Examples
    --------
    >>> x = np.append(np.linspace(0.0, 1.0, 99), 500.0)
    >>> visible(x, np.full(100, 0.01)), visible(x[:99], np.full(99, 0.01))
    (slice(0, 99, None), slice(0, 99, None))
    """
    whole, total = slice(0, len(points)), float(np.sum(density))
    if len(points) < _FEWEST or total <= 0:
        return whole
    reached = np.cumsum(density) / total

    def between(share: float) -> tuple[int, int]:
        last = int(np.searchsorted(reached, 1 - share - 1e-12))
        return int(np.searchsorted(reached, share + 1e-12)), min(last, len(points) - 1)

    first, last = between(_BULK)
    width = points[last] - points[first]
    low, high = points[first] - _FENCE * width, points[last] + _FENCE * width
    one = min(float(np.min(density[density > 0])) / total, _BULK)  # a row, where they are few
    part = whole
    for share in (_OUTSIDE, max(_MOST, one)) if width > 0 else (_OUTSIDE,):  # as little as does
        a, b = between(share)
        kept = np.flatnonzero((points >= min(low, points[a])) & (points <= max(high, points[b])))
        part = slice(int(kept[0]), int(kept[-1]) + 1)
        if points[kept[-1]] - points[kept[0]] <= _SQUEEZED * (high - low):
            break
    shown = points[part.stop - 1] - points[part.start]
    return part if 0 < _SQUEEZED * shown < points[-1] - points[0] else whole


def in_view(effect: Effect) -> tuple[Effect, list[Beyond]]:
    """The part of an effect that is drawn, and what lies outside of it."""
    beyond: list[Beyond] = []
    single = len(effect.grids) == 1
    for axis, grid in enumerate(effect.grids):
        if grid.levels:
            continue
        m = len(grid) - int(grid.missing)
        points = np.asarray(grid.points[:m], dtype=float)
        rows = effect.density.sum(axis=tuple(a for a in range(len(effect.grids)) if a != axis))[:m]
        part = visible(points, rows)
        if part.stop - part.start == m:
            continue
        for above, out, end in ((False, slice(0, part.start), 0), (True, slice(part.stop, m), m - 1)):
            if len(points[out]):
                edge = points[part.stop - 1 if above else part.start]
                at = tuple(np.atleast_1d(effect.values[end]).tolist()) if single else ()
                beyond.append(
                    Beyond(grid.feature, above, float(edge), float(points[end]), float(rows[out].sum()), at)
                )
        keep = np.append(np.arange(part.start, part.stop), [m] if grid.missing else []).astype(int)
        effect = _kept(effect, axis, keep)
    return effect, beyond


def _kept(effect: Effect, axis: int, keep: np.ndarray) -> Effect:
    grids = list(effect.grids)
    grids[axis] = replace(grids[axis], points=np.asarray(grids[axis].points)[keep])
    return replace(
        effect,
        grids=tuple(grids),
        values=np.take(effect.values, keep, axis=axis),
        se=None if effect.se is None else np.take(effect.se, keep, axis=axis),
        density=np.take(effect.density, keep, axis=axis),
    )


def sentences(beyond: Sequence[Beyond]) -> str:
    """What lies outside of a picture, in words."""
    several = len({one.feature for one in beyond}) > 1
    return " ".join(f"{f'{one.feature}: ' if several else ''}{one}." for one in beyond)
