"""Axes and tables laid out as a :class:`~pellucid.features.lookup.Lookup`, once for many look-ups."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.features.axis import Axis
from pellucid.features.bucket_index import MARK, Guide
from pellucid.features.lookup import Lookup

_LARGEST, _SMALLEST = 1e300, 1e-290  # spans of knots and gaps between them that need no special care
_PARTS = ("edge", "left", "value", "slope", "left2", "inverse", "point")


def lay_out(
    fine: Sequence[Axis],
    coarse: Sequence[Axis],
    terms: Sequence[tuple[int, ...]],
    tables: Sequence[np.ndarray],
) -> Lookup | None:
    """Lay out tables: of one column on the points of its fine axis, of two on those of their coarse ones.

    Tables are of shape (m + 1,) or (m₁ + 1, m₂ + 1) for axes of m points, the last entries for values that
    are nowhere. ``None`` where knots are so far apart, or so close, that this arithmetic would overflow, and
    where there are more pieces than fit into the numbers used here.
    """
    used = sorted({j for term in terms for j in term})
    if not used or any(np.ndim(table) != len(term) for term, table in zip(terms, tables, strict=True)):
        return None
    curves = {term[0]: table for term, table in zip(terms, tables, strict=True) if len(term) == 1}
    in_pairs = {j for term in terms if len(term) == 2 for j in term}
    columns = []
    for j in used:
        with np.errstate(over="ignore", invalid="ignore"):
            column = _column(
                fine[j] if j in curves else None, coarse[j] if j in in_pairs else None, curves.get(j)
            )
        if column is None:
            return None
        columns.append(column)
    first = np.cumsum([0, *(len(c["edge"]) for c in columns)])[:-1]
    many = np.array([len(c["edge"]) - 2 for c in columns])
    guides = [c["guide"] for c in columns]
    position = {j: k for k, j in enumerate(used)}
    pairs = [np.asarray(table, dtype=np.float64) for table in tables]
    size = [t.size if t.ndim == 2 else 0 for t in pairs]
    widest = max([t.shape[1] for t in pairs if t.ndim == 2], default=0)
    if sum(size) >= 1 << 31 or many.max() >= MARK:
        return None
    flat = [t.ravel() for t in pairs if t.ndim == 2]
    parts = {name: np.concatenate([c[name] for c in columns]) for name in _PARTS}
    if not all(np.isfinite(v).all() for name, v in parts.items() if name != "edge"):
        return None
    return Lookup(
        used=np.array(used),
        levels=np.array([c["levels"] for c in columns]),
        low=np.array([g.low for g in guides]),
        scale=np.array([g.scale for g in guides]),
        lowest=np.array([c["ends"][0] for c in columns], dtype=np.float64),
        highest=np.array([c["ends"][1] for c in columns], dtype=np.float64),
        start=np.stack([g.before + MARK * g.crowded for g in guides]).astype(np.uint16),
        first=first,
        missing=first + many,
        nowhere=first + many + 1,
        **{name: v for name, v in parts.items() if name != "point"},
        point=parts["point"].astype(np.uint32),
        terms=np.array([[position[t[0]], position[t[1]] if len(t) == 2 else -1] for t in terms]),
        offset=np.cumsum([0, *size])[:-1],
        width=np.array([t.shape[1] if t.ndim == 2 else 0 for t in pairs]),
        flat=np.concatenate([*flat, np.zeros(widest + 2)]),
    )


def _column(fine: Axis | None, coarse: Axis | None, curve: np.ndarray | None) -> dict[str, Any] | None:
    """Pieces of one column, and what they need; None if its knots are extraordinary."""
    axes = [axis for axis in (fine, coarse) if axis is not None]
    cut = [axis for axis in axes if not axis.levels and len(axis.knots) > 1]
    for axis in cut:
        gaps = np.diff(axis.knots)
        if not axis.knots[-1] - axis.knots[0] < _LARGEST or not gaps.min() > _SMALLEST:
            return None
    ends = {(float(axis.knots[0]), float(axis.knots[-1])) for axis in cut}
    if len(ends) > 1 or len({axis.levels for axis in axes}) > 1 or (cut and np.abs([*ends]).max() > _LARGEST):
        return None
    if axes[0].levels:
        ends = {(0.0, float(max(len(axis.knots) for axis in axes)))}
    inner = np.unique(np.concatenate([_inner(axis) for axis in axes]))
    middle = np.concatenate([[-np.inf], inner])
    n = len(inner) + 3
    out: dict[str, Any] = {name: np.zeros(n) for name in _PARTS}
    out["edge"] = np.concatenate([inner, np.full(3, np.nan)])
    out |= {"levels": axes[0].levels, "ends": ends.pop() if ends else (0.0, 0.0), "guide": Guide.to(inner)}
    if fine is not None and curve is not None:
        point, left, inverse = _pieces(fine, middle)
        out["left"] = left
        out["value"] = curve[point]
        out["slope"] = (curve[np.minimum(point + 1, len(curve) - 1)] - out["value"]) * inverse
    if coarse is not None:
        out["point"], out["left2"], out["inverse"] = _pieces(coarse, middle)
    return out


def _inner(axis: Axis) -> np.ndarray:
    """Knots at which one point to the left follows another."""
    if axis.levels:
        return axis.knots[1:]
    return axis.knots[1:-1]


def _pieces(axis: Axis, middle: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Point, left end and inverse length of pieces, and of the two for a missing value and for nowhere."""
    k, m = len(axis.knots), len(axis)
    point = np.searchsorted(_inner(axis), middle, "right") if k else np.full(len(middle), m)
    point = np.concatenate([point, [k if axis.missing else m, m]])
    left, inverse = np.zeros(len(point)), np.zeros(len(point))
    if k > 1 and not axis.levels:
        left[:-2] = axis.knots[point[:-2]]
        inverse[:-2] = 1.0 / np.diff(axis.knots)[point[:-2]]
    return point, left, inverse
