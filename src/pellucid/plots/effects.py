"""Effects of terms: curves with bands, levels as points, pairs as heat maps, several of them in a grid."""

from typing import Any

import numpy as np

from pellucid.effects.explanation import scale_of
from pellucid.effects.term_table import find_effect
from pellucid.effects.terms import Effect, Grid
from pellucid.effects.visible import Beyond, in_view
from pellucid.plots.names import labels, wrapped
from pellucid.plots.pairs import draw_pair
from pellucid.plots.style import GREY, crowded, line_style, new_axes, pyplot, thin_ticks, tidy

_STRIP = 0.1  # height of the strip that shows where the data are, as a share of the axes
_MOST_LEVELS = 30


def plot_effect(
    effect: Any,
    term: Any = None,
    *,
    output: Any = None,
    band: float | None = 1.96,
    density: bool = True,
    ax: Any = None,
) -> Any:
    """Draw the effect of one term: what it adds to the prediction, over the values of its features.

    One feature is drawn as a curve with its band, levels as points with bars, missing values apart at the
    right. Below, a strip shows where the data are. A pair is drawn as a heat map, blank where there are none.
    A few rows so far out that all others would be squeezed into a corner are left out, and named at the edge.

    Parameters
    ----------
    effect : Effect, fitted model or pipeline
        The effect, or a model with ``effects_``.
    term : str, int or tuple of int, optional
        Which term of the model: its name, its column number, or the column numbers of a pair. By default the
        most important one.
    output : int or str, optional
        Which class or target, where there are several. By default all of them as lines; for a pair, the one
        on which the effect is largest.
    band : float or None, default=1.96
        Half width of the band in standard errors, where the effect has them. ``None`` leaves it out.
    density : bool, default=True
        Whether to show where the data are.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import plot_effect
    >>> from pellucid.effects import Effect, Grid
    >>> age = Grid("age", np.array([20.0, 40.0, 60.0]))
    >>> effect = Effect((0,), "age", (age,), np.array([-1.0, 0.0, 1.0]), np.full(3, 1 / 3))
    >>> plot_effect(effect).get_xlabel()
    'age'
    """
    words = ""
    if not isinstance(effect, Effect):
        model = effect[-1] if hasattr(effect, "steps") else effect
        effect, words = find_effect(model, term), scale_of(model)
    elif term is not None:
        raise ValueError("term chooses among the terms of a model; this is one effect already.")
    return _draw(effect, words, output, band, density, ax)


def plot_effects(model: Any, n: int = 9, *, output: Any = None, columns: int = 3, figure: Any = None) -> Any:
    """Draw the effects of the most important terms side by side.

    Parameters
    ----------
    model : fitted model or pipeline
        A model with ``effects_`` and ``importances_``.
    n : int, default=9
        Number of terms.
    output : int or str, optional
        As in :func:`plot_effect`.
    columns : int, default=3
        Number of figures in a line.
    figure : matplotlib Figure, optional
        Where to draw; a new one by default.

    Returns
    -------
    axes : ndarray of matplotlib Axes, of shape (min(n, n_terms),)
        Most important first.
    """
    if n < 1 or columns < 1:
        raise ValueError(f"n and columns must be at least 1, got {n!r} and {columns!r}.")
    model = model[-1] if hasattr(model, "steps") else model
    effects, importances = model.effects_, model.importances_
    names = [name for name in importances.top(len(importances)) if name in effects][:n]
    if not names:
        raise ValueError("The model has no terms: it predicts the same for every row.")
    across = min(columns, len(names))
    down = -(-len(names) // across)
    if figure is None:
        figure = pyplot().figure(figsize=(4.1 * across, 3.2 * down), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.08, h_pad=0.1)
    axes = np.empty(len(names), dtype=object)
    for i, name in enumerate(names):
        axes[i] = figure.add_subplot(down, across, i + 1)
        _draw(effects[name], scale_of(model), output, 1.96, True, axes[i])
        if i and axes[i].get_legend() is not None:  # once is enough
            axes[i].get_legend().remove()
        if len(effects[name].grids) == 1 and i % across:
            axes[i].set_ylabel("")
    return axes


def _draw(effect: Effect, words: str, output: Any, band: float | None, density: bool, ax: Any) -> Any:
    what = f"effect on the {words}" if words else "effect"
    if len(effect.grids) == 2:
        return draw_pair(effect, output, what, density, ax)
    which = effect.which(output)
    shown = [effect.of(k) for k in which]
    ax = new_axes(ax, size=(5.2, 3.8))
    grid = effect.grids[0]
    draw = _levels if grid.levels else _curve
    names = [labels(effect.outputs, 20)[k] if effect.outputs else f"output {k}" for k in which]
    draw(grid, shown, names, band, density, ax)
    alone = effect.outputs[which[0]] if effect.outputs and len(shown) == 1 else ""
    tidy(ax, wrapped(alone) if alone else "", wrapped(grid.feature), wrapped(what, 30))
    if len(shown) > 1:
        above = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2}
        ax.legend(frameon=False, fontsize="small", ncols=min(len(shown), 4), **above)
    return ax


def _note(ax: Any, text: str) -> None:
    """A remark in the upper right corner."""
    ax.annotate(
        text, (0.99, 0.99), xycoords="axes fraction", fontsize="small", color=GREY, ha="right", va="top"
    )


def _curve(
    grid: Grid, shown: list[Effect], names: list[str], band: float | None, density: bool, ax: Any
) -> None:
    seen = [in_view(effect) for effect in shown]
    shown = [effect for effect, _ in seen]
    _edges(ax, seen[0][1], alone=len(shown) == 1)
    grid = shown[0].grids[0]
    m, rows = len(grid) - int(grid.missing), shown[0].density
    x = np.asarray(grid.points[:m], dtype=float)
    low, high = (float(x[0]), float(x[-1])) if len(x) else (0.0, 1.0)
    span = (high - low) or 1.0
    ax.axhline(0.0, color=GREY, linewidth=1)
    apart = high + 0.13 * span
    for place, effect in enumerate(shown):
        values, se = effect.values, effect.se
        style = line_style(place)
        ax.plot(x, values[:m], linewidth=2, label=names[place], **style)
        if se is not None and band:
            reach = band * se[:m]
            ax.fill_between(
                x, values[:m] - reach, values[:m] + reach, color=style["color"], alpha=0.2, linewidth=0
            )
        if grid.missing:
            at = apart + 0.02 * span * (place - (len(shown) - 1) / 2)
            bar = [band * se[m]] if se is not None and band else None
            ax.errorbar([at], [values[m]], yerr=bar, fmt="D", color=style["color"], markersize=5, capsize=3)
    _room(ax, density, above=0.08 if seen[0][1] else 0.0)
    if density and len(x) > 1:
        edges = np.concatenate([x[:1], (x[1:] + x[:-1]) / 2, x[-1:]])
        _strip(ax, edges, rows[:m] / np.diff(edges))
    thin_ticks(ax)
    ax.set_xlim(low - 0.03 * span, (apart + 0.09 * span) if grid.missing else high + 0.03 * span)
    if grid.missing:
        _missing_tick(ax, low, high, apart)


def _edges(ax: Any, beyond: list[Beyond], *, alone: bool) -> None:
    """At the upper corners, how far rows reach that lie outside of the picture."""
    for one in beyond:
        there = f": {one.values[0]:+.3g}" if alone and one.values else ""
        text = f"{100 * one.share:.2g} % {'up' if one.above else 'down'} to {one.to:.4g}{there}"
        at, side = (0.99, "right") if one.above else (0.01, "left")
        ax.annotate(
            f"{text} ▸" if one.above else f"◂ {text}",
            (at, 0.99), xycoords="axes fraction", fontsize="small", color=GREY, ha=side, va="top",
        )  # fmt: skip


def _missing_tick(ax: Any, low: float, high: float, apart: float) -> None:
    """Ordinary ticks for the numbers, one more for missing values, and a line between them."""
    from matplotlib.ticker import MaxNLocator

    ax.axvline((high + apart) / 2, color=GREY, linewidth=0.8, linestyle=":")
    span = apart - low
    ticks = [t for t in MaxNLocator(5).tick_values(low, high) if low <= t <= high and apart - t > 0.2 * span]
    ax.set_xticks([*ticks, apart], labels=[*(f"{t:.6g}" for t in ticks), "missing"])


def _levels(
    grid: Grid, shown: list[Effect], names: list[str], band: float | None, density: bool, ax: Any
) -> None:
    keep, rows = np.arange(len(grid)), shown[0].density
    if len(keep) > _MOST_LEVELS:
        keep = np.sort(np.argsort(-rows, kind="stable")[:_MOST_LEVELS])
        _note(ax, f"the {_MOST_LEVELS} of {len(grid)} levels with the most rows")
    at = np.arange(len(keep), dtype=float)
    if grid.missing and len(keep) > 1 and keep[-1] == len(grid) - 1:
        at[-1] += 0.6
        ax.axvline(at[-1] - 0.8, color=GREY, linewidth=0.8, linestyle=":")
    ax.axhline(0.0, color=GREY, linewidth=1)
    for place, effect in enumerate(shown):
        values, se = effect.values, effect.se
        aside = 0.5 * (place - (len(shown) - 1) / 2) / max(len(shown), 2)
        bar = band * se[keep] if se is not None and band else None
        colour = line_style(place)["color"]
        marker = "os^Dv"[place % 5]
        ax.errorbar(
            at + aside, values[keep], yerr=bar, fmt=marker, color=colour, markersize=6, capsize=3,
            label=names[place],
        )  # fmt: skip
    _room(ax, density)
    if density:
        heights = _STRIP * rows[keep] / (float(rows[keep].max(initial=0.0)) or 1.0)
        ax.bar(at, heights, width=0.7, color=GREY, alpha=0.35, transform=ax.get_xaxis_transform(), zorder=1)
    levels = labels([grid.labels()[i] for i in keep], 24)
    slanted = crowded(ax, levels)
    ax.set_xticks(at, labels=levels, rotation=45 if slanted else 0, ha="right" if slanted else "center")
    if slanted:
        ax.tick_params(axis="x", labelsize="small")
    ax.set_xlim(-0.6, at[-1] + 0.6)


def _room(ax: Any, density: bool, above: float = 0.0) -> None:
    """Limits that leave the place of the strip at the bottom free, and ``above``, a share, at the top."""
    ax.margins(y=0.06)
    ax.autoscale_view()
    low, high = ax.get_ylim()
    beneath = _STRIP + 0.02 if density else 0.0
    if beneath or above:
        ax.set_ylim(low - beneath * (high - low), high + above * (high - low))


def _strip(ax: Any, edges: np.ndarray, height: np.ndarray) -> None:
    top = float(height.max(initial=0.0)) or 1.0
    ax.stairs(
        _STRIP * height / top, edges, fill=True, color=GREY, alpha=0.35, transform=ax.get_xaxis_transform()
    )
