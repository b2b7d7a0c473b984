"""One look for all figures, and the one place where matplotlib is asked for."""

from collections.abc import Sequence
from typing import Any

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#6b6b6b"  # distinct for colour-blind eyes and in print
PALETTE = (BLUE, ORANGE, "#009e73", "#cc79a7", "#56b4e9", "#b58900", "#2b2b2b")
"""Colours of several lines in one figure, in this order (after Okabe and Ito, the yellow darkened)."""
DASHES = ("-", "--", ":", "-.")
NO_DATA = "0.9"
"""Colour of the cells of a heat map in which there are no rows."""


def pyplot() -> Any:
    """Return ``matplotlib.pyplot``, or say what to install."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("Plots need matplotlib: pip install pellucid[plot]") from None
    return pyplot


def new_axes(ax: Any = None, *, size: tuple[float, float] = (5.2, 4.2)) -> Any:
    """Return ``ax``, or the Axes of a new figure."""
    if ax is not None:
        return ax
    _, ax = pyplot().subplots(figsize=size, layout="constrained")
    return ax


def line_style(i: int) -> dict[str, Any]:
    """Colour and dashes of the i-th line; the dashes change when the colours are used up."""
    dashes = DASHES[i // len(PALETTE) % len(DASHES)]
    return {"color": PALETTE[i % len(PALETTE)], "linestyle": dashes}


def diverging() -> Any:
    """Colour map from orange (negative) over white (zero) to blue (positive)."""
    pyplot()  # says what to install
    from matplotlib.colors import LinearSegmentedColormap

    shades = ["#7a3300", ORANGE, "#f3c9a5", "#ffffff", "#a8cbe2", BLUE, "#003a5c"]
    return LinearSegmentedColormap.from_list("pellucid", shades).with_extremes(bad=(0.0, 0.0, 0.0, 0.0))


def width_of(ax: Any) -> float:
    """Width of the Axes in inches, before labels have taken their part."""
    return float(ax.get_position().width * ax.figure.get_figwidth())


def crowded(ax: Any, names: Sequence[str]) -> bool:
    """Whether names side by side along the bottom would run into each other."""
    characters = 12 * width_of(ax)  # of ten points: some 6 points each
    return len(names) * (max(map(len, names), default=0) + 1) > characters


def thin_ticks(ax: Any) -> None:
    """As many ticks along the bottom as there is room for labels of six characters."""
    pyplot()
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(nbins=max(2, min(7, int(1.5 * width_of(ax))))))


def tidy(ax: Any, title: str, xlabel: str, ylabel: str) -> Any:
    """Label the axes and take the ink off the rest."""
    ax.set_title(title, loc="left", fontsize=11)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
    return ax


def named_rows(ax: Any, names: Sequence[str], title: str, xlabel: str, *, first: int = 0) -> Any:
    """Label a figure of one row per name, at ``first`` and up from it."""
    ax.set_yticks([first + i for i in range(len(names))], labels=names)
    ax.set_ylim(first - 0.6, first + len(names) - 0.4)
    tidy(ax, title, xlabel, "")
    ax.grid(False, axis="y")
    return ax


def key(ax: Any, entries: Sequence[tuple[str, str]]) -> None:
    """Say what colours of bars mean; bars sorted upwards leave the lower right corner free."""
    for colour, label in entries:
        ax.plot([], [], "s", color=colour, markersize=8, label=label)
    ax.legend(frameon=True, framealpha=0.9, edgecolor="none", loc="lower right", fontsize="small")
