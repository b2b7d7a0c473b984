"""An effect as a small picture in SVG, for notebooks: a curve with its band, bars of levels, or a map."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.effects.visible import in_view

if TYPE_CHECKING:
    from pellucid.effects.terms import Effect

_WIDE, _HIGH, _LEFT, _BOTTOM, _TOP = 420, 220, 56, 34, 24
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#b8860b", "#555555")
_MOST_LEVELS = 24


def effect_svg(effect: Effect) -> str:
    """The picture; all text in it is escaped, and it brings no script and no style sheet."""
    effect, beyond = in_view(effect)
    if len(effect.grids) == 2:
        body, high = _map(effect), _HIGH + 60
    elif effect.grids[0].levels:
        body, high = _levels(effect)
    else:
        body, high = _curve(effect), _HIGH
    title = f'<text x="{_LEFT}" y="15" font-size="13" font-weight="600">{escape(effect.name)}</text>'
    if beyond:
        title += _aside("; ".join(f"{one.to:.4g} {'▸' if one.above else '◂'}" for one in beyond))
    size = f'viewBox="0 0 {_WIDE} {high}" width="{_WIDE}" height="{high}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" '
        f'aria-label="Effect of {escape(effect.name, quote=True)}" font-family="sans-serif" '
        f'font-size="11" fill="currentColor">{title}{body}</svg>'
    )


def _aside(text: str) -> str:
    """A remark in the upper right corner."""
    return f'<text x="{_WIDE - 4}" y="15" text-anchor="end" fill="#777777">{escape(text)}</text>'


def _curve(effect: Effect) -> str:
    """Curves with bands and the density below; a missing value stands apart at the right."""
    effect = effect.thinned(120)
    grid = effect.grids[0]
    m = len(grid) - int(grid.missing)
    points = np.asarray(grid.points[:m], dtype=float)
    values, se = _columns(effect, effect.values), _columns(effect, effect.se)
    right = _WIDE - (84 if grid.missing else 26)
    x = _scale(points[0], points[-1], _LEFT, right) if m else _scale(0.0, 1.0, _LEFT, right)
    ends = np.concatenate([[0.0], (values - 1.96 * se).ravel(), (values + 1.96 * se).ravel()])
    low, high = float(ends.min()), float(ends.max())
    y = _scale(low - 0.15 * (high - low), high, _HIGH - _BOTTOM, _TOP)
    parts = [_ruler(y, low, high), _label(grid.feature, (_LEFT + right) / 2, _HIGH - 4)]
    for value in (points[0], points[-1]) if m else ():
        parts.append(_label(f"{value:.4g}", x(value), _HIGH - 18))
    most = max(float(effect.density[:m].max(initial=0.0)), 1e-300)
    for p, share in zip(points, effect.density[:m], strict=True):
        tall = 22 * share / most
        parts.append(_rect(x(p) - 1.5, _HIGH - _BOTTOM - tall, 3, tall, "#999999", 0.4))
    for k, (line, error) in enumerate(zip(values.T, se.T, strict=True)):
        colour = _COLOURS[k % len(_COLOURS)]
        upper = [f"{x(p):.1f},{y(v):.1f}" for p, v in zip(points, (line + 1.96 * error)[:m], strict=True)]
        lower = [f"{x(p):.1f},{y(v):.1f}" for p, v in zip(points, (line - 1.96 * error)[:m], strict=True)]
        middle = [f"{x(p):.1f},{y(v):.1f}" for p, v in zip(points, line[:m], strict=True)]
        if effect.se is not None:
            parts.append(
                f'<polygon points="{" ".join(upper + lower[::-1])}" fill="{colour}" fill-opacity="0.2"/>'
            )
        parts.append(
            f'<polyline points="{" ".join(middle)}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        if grid.missing:
            parts.append(f'<circle cx="{_WIDE - 22}" cy="{y(line[m]):.1f}" r="3.5" fill="{colour}"/>')
    if grid.missing:
        parts.append(_label("missing", _WIDE - 22, _HIGH - 18))
    return "".join(parts) + _legend(effect)


def _levels(effect: Effect) -> tuple[str, int]:
    """A line for each level, those with the most rows, with 95 % intervals."""
    order = np.sort(np.argsort(-effect.density, kind="stable")[:_MOST_LEVELS])
    values, se = _columns(effect, effect.values)[order], _columns(effect, effect.se)[order]
    labels = np.array(effect.grids[0].labels(), dtype=object)[order]
    ends = np.concatenate([[0.0], (values - 1.96 * se).ravel(), (values + 1.96 * se).ravel()])
    x = _scale(float(ends.min()), float(ends.max()), 150, _WIDE - 16)
    high = _TOP + 18 * len(order) + 24
    parts = [f'<line x1="{x(0):.1f}" x2="{x(0):.1f}" y1="{_TOP}" y2="{high - 22}" stroke="#999999"/>']
    for i, label in enumerate(labels):
        y = _TOP + 18 * i + 11
        parts.append(f'<text x="142" y="{y + 4}" text-anchor="end">{escape(_cut(label, 20))}</text>')
        for k in range(values.shape[1]):
            colour, at = _COLOURS[k % len(_COLOURS)], y + 4 * (k - (values.shape[1] - 1) / 2)
            a, b = x(values[i, k] - 1.96 * se[i, k]), x(values[i, k] + 1.96 * se[i, k])
            parts.append(f'<line x1="{a:.1f}" x2="{b:.1f}" y1="{at:.1f}" y2="{at:.1f}" stroke="{colour}"/>')
            parts.append(f'<circle cx="{x(values[i, k]):.1f}" cy="{at:.1f}" r="3.5" fill="{colour}"/>')
    for end in (float(ends.min()), float(ends.max())):
        parts.append(_label(f"{end:.3g}", x(end), high - 6))
    return "".join(parts) + _legend(effect), high


def _map(effect: Effect) -> str:
    """Cells of a pair, blue above and red below zero; cells without rows nearby are left out."""
    effect = effect.of(0).thinned(28)
    a, b = effect.grids
    rows, columns = effect.values.shape
    wide, tall = (_WIDE - _LEFT - 16) / rows, (_HIGH + 60 - _TOP - _BOTTOM) / columns
    top = float(np.abs(effect.values[effect.supported]).max(initial=0.0)) or 1.0
    parts, floor = [], _HIGH + 60 - _BOTTOM
    for i in range(rows):
        for j in range(columns):
            v = float(effect.values[i, j]) / top
            if effect.supported[i, j]:
                colour = _COLOURS[0] if v >= 0 else _COLOURS[1]
                box = (_LEFT + i * wide, floor - (j + 1) * tall, wide + 0.3, tall + 0.3)
                parts.append(_rect(*box, colour, round(min(abs(v), 1.0), 3)))
    for text, place in ((_end(a, 0), _LEFT + 12), (_end(a, -1), _WIDE - 30)):
        parts.append(_label(_cut(text, 10), place, floor + 13))
    for text, height in ((_end(b, 0), floor), (_end(b, -1), _TOP + 10)):
        parts.append(
            f'<text x="{_LEFT - 4}" y="{height:.1f}" text-anchor="end">{escape(_cut(text, 8))}</text>'
        )
    parts.append(_label(f"{a.feature} across, {b.feature} upwards; ±{top:.3g}", _WIDE / 2, floor + 28))
    return "".join(parts)


# ---------------------------------------------------------------------- parts
class _scale:  # noqa: N801  # used as a function
    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.start, self.end = low, start, end
        self.span = high - low or 1.0

    def __call__(self, v: float) -> float:
        return float(self.start + (v - self.low) / self.span * (self.end - self.start))


def _columns(effect: Effect, values: np.ndarray | None) -> np.ndarray:
    """Values with one column per output; zeros where there are no errors."""
    n = len(effect.density)
    return np.zeros_like(effect.values).reshape(n, -1) if values is None else values.reshape(n, -1)


def _ruler(y: _scale, low: float, high: float) -> str:
    lines = [f'<line x1="{_LEFT}" x2="{_WIDE - 10}" y1="{y(0):.1f}" y2="{y(0):.1f}" stroke="#999999"/>']
    for v in dict.fromkeys((low, 0.0, high)):
        lines.append(f'<text x="{_LEFT - 6}" y="{y(v) + 4:.1f}" text-anchor="end">{v:.3g}</text>')
    return "".join(lines)


def _end(grid: Any, place: int) -> str:
    """Name of the first or last point of a grid, short."""
    point = grid.points[place]
    return grid.labels()[place] if grid.levels or point != point else f"{point:.3g}"


def _rect(x: float, y: float, width: float, height: float, colour: str, opacity: float) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {place} fill="{colour}" fill-opacity="{opacity}"/>'


def _label(text: str, x: float, y: float) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{escape(_cut(text, 60))}</text>'


def _legend(effect: Effect) -> str:
    """Names of the outputs in their colours, where there are several."""
    parts = [
        f'<tspan fill="{_COLOURS[k % len(_COLOURS)]}"> {escape(_cut(name, 14))}</tspan>'
        for k, name in enumerate(effect.outputs[:6])
    ]
    return f'<text x="{_WIDE - 10}" y="15" text-anchor="end">{"".join(parts)}</text>' if parts else ""


def _cut(text: object, most: int) -> str:
    whole = " ".join(str(text).split())
    return whole if len(whole) <= most else whole[: most - 1] + "…"
