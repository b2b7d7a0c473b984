"""The effect of a pair of features as a heat map, blank where there are no data."""

from typing import Any

import numpy as np

from pellucid.effects.terms import Effect, Grid
from pellucid.effects.visible import in_view
from pellucid.plots.names import labels, wrapped
from pellucid.plots.style import GREY, NO_DATA, crowded, diverging, new_axes, thin_ticks


def draw_pair(effect: Effect, output: Any, what: str, density: bool, ax: Any) -> Any:
    """Draw the heat map; the first feature runs along the bottom."""
    # one output: where there is most to see, if none is asked for
    which = int(np.argmax(effect.sizes)) if output is None else effect.which(output)[0]
    effect, beyond = in_view(effect.of(which))
    values, name = effect.values, "".join(effect.outputs)
    shown = effect.supported if density else np.ones(values.shape, dtype=bool)
    top = float(np.abs(values[shown]).max(initial=0.0)) or 1.0
    ax = new_axes(ax, size=(5.8, 4.4))
    across, up = (_axis(grid) for grid in effect.grids)
    mesh = None
    for rows_x, edges_x in across:
        for rows_y, edges_y in up:
            block = np.ma.masked_array(values, ~shown)[np.ix_(rows_x, rows_y)].T
            mesh = ax.pcolormesh(
                edges_x, edges_y, block, cmap=diverging(), vmin=-top, vmax=top, rasterized=True
            )
            if density:
                _no_data(ax, edges_x, edges_y)
    _ticks(ax.xaxis, effect.grids[0], across)
    _ticks(ax.yaxis, effect.grids[1], up)
    bar = ax.figure.colorbar(mesh, ax=ax, pad=0.02)
    bar.set_label(wrapped(what, 30))
    bar.outline.set_visible(False)
    ax.set_title(wrapped(name) if name else "", loc="left", fontsize=11)
    if beyond:
        text = "\n".join(wrapped(f"{one.feature}: {one}", 70) for one in beyond)
        ax.set_title(text, loc="right", fontsize="small", color=GREY)
    ax.set_xlabel(wrapped(effect.grids[0].feature))
    ax.set_ylabel(wrapped(effect.grids[1].feature, 30))
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(False)
    return ax


def _axis(grid: Grid) -> list[tuple[np.ndarray, np.ndarray]]:
    """Blocks of grid points with the edges of their cells; missing values are a block of their own."""
    m = len(grid) - int(grid.missing)
    x = np.arange(m, dtype=float) if grid.levels else np.asarray(grid.points[:m], dtype=float)
    if grid.levels or m == 1:
        edges = np.append(x - 0.5, x[-1] + 0.5) if m else np.array([0.0])
    else:
        edges = np.concatenate([x[:1], (x[1:] + x[:-1]) / 2, x[-1:]])
    blocks = [(np.arange(m), edges)] if m else []
    if grid.missing:
        width = 1.0 if grid.levels else 0.07 * ((edges[-1] - edges[0]) or 1.0)
        start = edges[-1] + 0.4 * width
        blocks.append((np.array([m]), np.array([start, start + width])))
    return blocks


def _ticks(axis: Any, grid: Grid, blocks: list[tuple[np.ndarray, np.ndarray]]) -> None:
    sideways = axis.axis_name == "y"
    if grid.levels:
        at = np.concatenate([(edges[1:] + edges[:-1]) / 2 for _, edges in blocks])
        step = -(-len(at) // 30)
        names = labels(grid.labels(), 20)
        slanted = not sideways and crowded(axis.axes, names[::step])
        axis.set_ticks(at[::step], labels=names[::step], rotation=45 if slanted else 0)
        for text in axis.get_ticklabels() if slanted else ():
            text.set(ha="right", rotation_mode="anchor")
    elif grid.missing and len(blocks) == 2:
        from matplotlib.ticker import MaxNLocator

        low, high = blocks[0][1][0], blocks[0][1][-1]
        apart = float(blocks[1][1].mean())
        free = 0.08 if sideways else 0.18
        ticks = [
            t
            for t in MaxNLocator(5).tick_values(low, high)
            if low <= t <= high and apart - t > free * (high - low)
        ]
        axis.set_ticks([*ticks, apart], labels=[*(f"{t:.6g}" for t in ticks), "missing"])
    elif not sideways:
        thin_ticks(axis.axes)


def _no_data(ax: Any, edges_x: np.ndarray, edges_y: np.ndarray) -> None:
    """A hatch behind the cells, to be seen where they are blank."""
    from matplotlib.patches import Rectangle

    corner = (edges_x[0], edges_y[0])
    size = (edges_x[-1] - edges_x[0], edges_y[-1] - edges_y[0])
    ax.add_patch(
        Rectangle(corner, *size, facecolor=NO_DATA, edgecolor="0.75", linewidth=0, hatch="////", zorder=0.5)
    )
