"""Shapley values of many rows: how far each feature moves predictions, and one feature along its values."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.effects.shapley import ShapleyValues
from pellucid.plots.names import labels, plain, wrapped
from pellucid.plots.style import BLUE, GREY, ORANGE, named_rows, new_axes, tidy

_LEVELS = 30  # levels of one feature that have places of their own


def plot_shapley(
    values: ShapleyValues, feature: Any = None, *, output: Any = None, top: int = 15, ax: Any = None
) -> Any:
    """Draw Shapley values: their distribution for each feature, or those of one feature along its values.

    Of all features: the thin line holds the middle 90 % of the rows, the thick one the middle half, and the
    dot is the median; the feature of the largest mean absolute value is on top. Of one feature: a dot for
    each row. Dots above each other are rows that share the value and differ elsewhere: where there are no
    interactions, none are.

    Parameters
    ----------
    values : ShapleyValues
        What :func:`pellucid.shapley_values` returns.
    feature : str or int, optional
        One feature, by name or number.
    output : int or class label, optional
        Which class or target, where there are several; by default the first.
    top : int, default=15
        Number of features shown.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import plot_shapley
    >>> from pellucid.effects import ShapleyValues
    >>> found = ShapleyValues(("age", "dose"), np.array([[1.0, -4.0], [2.0, 4.0]]), 10.0)
    >>> [label.get_text() for label in plot_shapley(found).get_yticklabels()]
    ['age', 'dose']
    """
    if top < 1:
        raise ValueError(f"top must be at least 1, got {top!r}.")
    one = values.of(output)
    which = f" ({one.outputs[0]})" if one.outputs and one.outputs[0] not in one.scale else ""
    scale = f"Shapley value: part of the {one.scale}{which}"
    if feature is not None:
        return _along(one, _position(one, feature), scale, ax)
    order = one.importances.order[:top][::-1]  # the largest on top
    ax = new_axes(ax, size=(6.4, 1.4 + 0.3 * max(len(order), 4)))
    low, first, middle, third, high = np.quantile(one.values[:, order], [0.05, 0.25, 0.5, 0.75, 0.95], axis=0)
    at = np.arange(len(order))
    ax.axvline(0.0, color=GREY, linewidth=1, linestyle="--", zorder=1)
    ax.hlines(at, low, high, color=BLUE, linewidth=1.2, zorder=2)
    ax.hlines(at, first, third, color=BLUE, linewidth=5, zorder=3)
    ax.plot(middle, at, "o", color=ORANGE, markersize=6, zorder=4)
    few = f"{len(order)} of {len(one.names)} features, " if len(order) < len(one.names) else ""
    title = f"{few}middle 90 % and half of {len(one):,} rows\nagainst {one.background}"
    title = title[:1].upper() + title[1:]
    names = labels(one.names, 40)
    return named_rows(ax, [names[i] for i in order], plain(title), wrapped(scale, 60))


def _position(values: ShapleyValues, feature: Any) -> int:
    if feature in values.names:
        return values.names.index(feature)
    if isinstance(feature, (int, np.integer)) and 0 <= feature < len(values.names):
        return int(feature)
    raise ValueError(f"There is no feature {feature!r}; there are {', '.join(values.names[:20])}.")


def _along(values: ShapleyValues, j: int, scale: str, ax: Any) -> Any:
    if values.inputs is None:
        raise ValueError("These Shapley values do not know the rows they belong to.")
    cells, y = values.inputs[:, j], values.values[:, j]
    name = wrapped(values.names[j])
    ax = new_axes(ax)
    ax.axhline(0.0, color=GREY, linewidth=1, linestyle="--", zorder=1)
    try:
        x = np.array([np.nan if cell is None else cell for cell in cells], dtype=float)
    except (TypeError, ValueError):  # levels, which have no order but that of their names
        text = np.array([str(cell) for cell in cells])
        levels, x = np.unique(text, return_inverse=True)
        if len(levels) > _LEVELS:
            raise ValueError(f"{values.names[j]!r} has {len(levels)} levels, too many to draw.") from None
        ax.set_xticks(range(len(levels)), labels(list(levels), 16), rotation=45, ha="right")
    gone = np.isnan(x)
    ax.scatter(x[~gone], y[~gone], s=14, color=BLUE, alpha=0.5, linewidths=0, zorder=2)
    title = f"against {values.background}"
    if gone.any():
        title += f"; {int(gone.sum()):,} rows without a value not drawn"
    return tidy(ax, plain(title), name, wrapped(scale, 60))
