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
    terms = []
    for effect in effects:
        several = effect.values.ndim > len(effect.grids)
        values = pack(effect.values if several else effect.values[..., None])
        terms.append(_term(effect, [_axis(grid) for grid in effect.grids], values))
    return {"intercept": np.atleast_1d(np.asarray(intercept, dtype=float)), "terms": terms}


def _term(effect: Effect, axes: list[dict[str, Any]], values: dict[str, Any]) -> dict[str, Any]:
    return {"type": "table", "features": list(effect.term), "axes": axes, "values": values}


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
    terms = []
    for effect in effects:
        t = place[tuple(effect.term)]
        table, axes = np.asarray(compiled.tables[t], dtype=float), compiled.axes(t)
        table = table if table.ndim > len(axes) else table[..., None]
        made = [_compiled_axis(a, compiled.columns[j].levels) for a, j in zip(axes, effect.term, strict=True)]
        terms.append(_term(effect, made, pack_surface(table) if table.ndim == 3 else pack(table)))
    return {"intercept": np.atleast_1d(np.asarray(compiled.intercept, dtype=float)), "terms": terms}


def _compiled_axis(axis: Any, levels: Sequence[Any] | None) -> dict[str, Any]:
    nowhere = len(axis)
    made: dict[str, Any] = {"missing": len(axis.knots) if axis.missing else nowhere}
    if levels is None:
        return made | {"knots": [float(knot) for knot in axis.knots], "empty": nowhere}
    names = [str(level) for level in levels]
    return made | {"levels": names, "other": names.index(_OTHER) if _OTHER in names else nowhere}
