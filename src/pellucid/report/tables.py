"""The machine of a model of terms: its effects as tables that the page interpolates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.effects import Effect, Grid
from pellucid.report.machine import Machine


def machine_of_tables(intercept: Any, effects: Sequence[Effect]) -> Machine:
    """Tables of the effects, in the order in which the page shows them.

    Whether they give what ``predict`` gives is checked by the caller: a model whose effects are known only at
    the points of their grids has no machine of this kind.
    """
    start = np.atleast_1d(np.asarray(intercept, dtype=float))
    return {"intercept": start.tolist(), "terms": [_table(effect) for effect in effects]}


def _table(effect: Effect) -> dict[str, Any]:
    several = effect.values.ndim > len(effect.grids)
    values = effect.values if several else effect.values[..., None]
    return {
        "type": "table",
        "features": list(effect.term),
        "axes": [_axis(grid) for grid in effect.grids],
        "values": values.tolist(),
    }


def _axis(grid: Grid) -> dict[str, Any]:
    m = len(grid) - int(grid.missing)
    axis: dict[str, Any] = {"missing": m if grid.missing else None}
    if grid.levels:
        axis["levels"] = [str(point) for point in grid.points[:m]]
        axis["other"] = None  # a level that was not seen contributes nothing
    else:
        axis["knots"] = [float(point) for point in grid.points[:m]]
    return axis
