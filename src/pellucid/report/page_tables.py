"""The page model of a model of terms: its functions as tables that the page interpolates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.effects import Effect, Grid
from pellucid.report.packing import pack, pack_surface
from pellucid.report.page_model import PageModel

_OTHER = "(other)"  # the level under which compiled tables gather rare ones


def table_model(intercept: Any, effects: Sequence[Effect]) -> PageModel:
    """Tables of the effects, in the order in which the page shows them.

    Whether they give what ``predict`` gives is checked by the caller: a model whose effects are known only at
    the points of their grids has no page model of this kind.
    """
    start = np.atleast_1d(np.asarray(intercept, dtype=float))
    return {"intercept": start.tolist(), "terms": [_table(effect) for effect in effects]}


def _table(effect: Effect) -> dict[str, Any]:
    several = effect.values.ndim > len(effect.grids)
    return {
        "type": "table",
        "features": list(effect.term),
        "axes": [_axis(grid) for grid in effect.grids],
        "values": pack(effect.values if several else effect.values[..., None]),
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


def compiled_model(compiled: Any, effects: Sequence[Effect]) -> PageModel:
    """The tables that a model predicts with, in the order of ``effects``.

    The last entry along an axis, zero, is for values that are nowhere: missing values and levels that
    training did not see.
    """
    place = {tuple(term): t for t, term in enumerate(compiled.terms)}
    start = np.atleast_1d(np.asarray(compiled.intercept, dtype=float))
    terms = []
    for effect in effects:
        t = place[tuple(effect.term)]
        table = np.asarray(compiled.tables[t], dtype=float)
        axes = compiled.axes(t)
        terms.append(
            {
                "type": "table",
                "features": list(effect.term),
                "axes": [
                    _compiled_axis(axis, compiled.columns[j].levels)
                    for axis, j in zip(axes, effect.term, strict=True)
                ],
                "values": _values(table if table.ndim > len(axes) else table[..., None]),
            }
        )
    return {"intercept": start.tolist(), "terms": terms}


def _values(table: np.ndarray) -> dict[str, Any]:
    return pack_surface(table) if table.ndim == 3 else pack(table)


def _compiled_axis(axis: Any, levels: Sequence[Any] | None) -> dict[str, Any]:
    nowhere = len(axis)
    made: dict[str, Any] = {"missing": len(axis.knots) if axis.missing else nowhere}
    if levels is None:
        return made | {"knots": [float(knot) for knot in axis.knots], "empty": nowhere}
    names = [str(level) for level in levels]
    return made | {"levels": names, "other": names.index(_OTHER) if _OTHER in names else nowhere}
