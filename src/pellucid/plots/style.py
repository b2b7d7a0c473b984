"""One look for all figures, and the one place where matplotlib is asked for."""

from typing import Any

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#6b6b6b"  # distinct for colour-blind eyes and in print


def new_axes(ax: Any = None, *, size: tuple[float, float] = (5.2, 4.2)) -> Any:
    """Return ``ax``, or the Axes of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("Plots need matplotlib: pip install pellucid[plot]") from None
    _, ax = pyplot.subplots(figsize=size, layout="constrained")
    return ax


def tidy(ax: Any, title: str, xlabel: str, ylabel: str) -> Any:
    """Label the axes and take the ink off the rest."""
    ax.set_title(title, loc="left", fontsize=11)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
    return ax
