"""Effects and importances as numbers for the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.effects import Effect, Grid
from pellucid.effects.explanation import scale_of
from pellucid.effects.term_table import term_rows
from pellucid.effects.visible import Beyond, in_view, sentences
from pellucid.report.captions import effect_caption
from pellucid.report.decomposition import Decomposition
from pellucid.report.packing import rounded

_CURVE, _MAP = 80, 32  # points of a curve; points along each side of a map


def importance_payload(shown: Decomposition, model: Any) -> dict[str, Any] | None:
    """Names, sizes and tests, most important first; ``minor`` are the last ones, those below 0.1 %."""
    importances = shown.importances
    if importances is None:
        return None
    order, rows = importances.order, term_rows(model) if shown.kind == "terms" else []
    tested = bool(rows) and rows[0].edf is not None
    return {
        "names": [str(importances.names[i]) for i in order],
        "values": rounded(importances.values[order]),
        "se": None if importances.se is None else rounded(importances.se[order]),
        "minor": int(importances.minor.sum()),
        "measure": importances.measure,
        "share": importances.is_share,
        "edf": [f"{row.edf:.1f}" for row in rows] if tested else None,
        "p": [row.p for row in rows] if tested else None,
        "most_for": [row.most_for for row in rows] if any(row.most_for for row in rows) else None,
    }


def term_payload(effect: Effect, shown_as: Decomposition, model: Any) -> dict[str, Any]:
    """One effect: its grids, its values to six digits, its density and its caption."""
    scale = "average prediction" if shown_as.kind == "averages" else scale_of(model)
    pair = len(effect.grids) == 2
    seen, beyond = in_view(effect)
    shown = seen.thinned(_MAP if pair else _CURVE)
    values = shown.values if shown.values.ndim > len(shown.grids) else shown.values[..., None]
    outputs = range(values.size // max(shown.density.size, 1))
    se = None if shown.se is None or pair else shown.se.reshape(values.shape)
    sizes = shown_as.importances
    place = None if sizes is None else sizes.names.index(effect.name)
    payload = {
        "name": effect.name,
        "columns": list(effect.term),
        "kind": "pair" if pair else "levels" if shown.grids[0].levels else "curve",
        "grids": [_grid(grid) for grid in shown.grids],
        "values": [_nested(values[..., k]) for k in outputs],
        "se": None if se is None else [_nested(se[..., k]) for k in outputs],
        "density": _nested(shown.density),
        "caption": " ".join([effect_caption(effect, scale), sentences(beyond)]).rstrip(),
        "beyond": [_beyond(one) for one in beyond],
        "importance": None if sizes is None else rounded(sizes.values[place])[0],
        "minor": sizes is not None and bool(sizes.minor[place]),
    }
    if pair:
        payload["shown"] = shown.supported.astype(int)
    return payload


def _beyond(one: Beyond) -> dict[str, Any]:
    """Rows outside of the picture: the outermost value, and the effect there."""
    return {
        "feature": one.feature,
        "above": one.above,
        "edge": rounded([one.edge], 8)[0],
        "to": rounded([one.to], 8)[0],
        "share": rounded([one.share])[0],
        "values": rounded(list(one.values)),
    }


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
