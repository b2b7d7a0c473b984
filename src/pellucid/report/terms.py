"""Effects and importances as numbers for the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.effects import Effect, Grid, Importances
from pellucid.effects.explanation import scale_of
from pellucid.plots.pairs import supported
from pellucid.report.captions import effect_caption
from pellucid.report.evidence import rounded
from pellucid.report.reading import Reading, thin

_CURVE, _MAP = 80, 32  # points of a curve; points along each side of a map


def importance_payload(importances: Importances | None) -> dict[str, Any] | None:
    """Names and sizes, most important first."""
    if importances is None:
        return None
    order = importances.order
    return {
        "names": [str(importances.names[i]) for i in order],
        "values": rounded(np.asarray(importances.values)[order]),
        "se": None if importances.se is None else rounded(np.asarray(importances.se)[order]),
        "measure": importances.measure,
    }


def term_payload(effect: Effect, reading: Reading, model: Any) -> dict[str, Any]:
    """One effect: its grids, its values to six digits, its density and its caption."""
    scale = "average prediction" if reading.kind == "averages" else scale_of(model)
    pair = len(effect.grids) == 2
    shown = thin(effect, _MAP if pair else _CURVE)
    values = shown.values if shown.values.ndim > len(shown.grids) else shown.values[..., None]
    outputs = range(values.size // max(shown.density.size, 1))
    se = None if shown.se is None or pair else shown.se.reshape(values.shape)
    place = reading.importances.names.index(effect.name) if reading.importances is not None else None
    size = None if place is None else float(reading.importances.values[place])  # type: ignore[union-attr]
    payload = {
        "name": effect.name,
        "columns": list(effect.term),
        "kind": "pair" if pair else "levels" if shown.grids[0].levels else "curve",
        "grids": [_grid(grid) for grid in shown.grids],
        "values": [_nested(values[..., k]) for k in outputs],
        "se": None if se is None else [_nested(se[..., k]) for k in outputs],
        "density": _nested(shown.density),
        "caption": effect_caption(effect, scale),
        "importance": None if size is None else float(f"{size:.6g}"),
    }
    if pair:
        payload["shown"] = supported(shown).astype(int).tolist()
    return payload


def _grid(grid: Grid) -> dict[str, Any]:
    m = len(grid) - int(grid.missing)
    points = (
        [str(p) for p in grid.points[:m]]
        if grid.levels
        else rounded(np.asarray(grid.points[:m], dtype=float), 8)
    )
    return {"feature": str(grid.feature), "points": points, "levels": grid.levels, "missing": grid.missing}


def _nested(values: np.ndarray) -> list[Any]:
    flat: list[Any] = rounded(values)
    if values.ndim == 1:
        return flat
    width = int(values.size // max(len(values), 1))
    return [flat[i * width : (i + 1) * width] for i in range(len(values))]
