"""Sequences with letters as large as what they contribute to a prediction."""

from typing import Any

import numpy as np

from pellucid.effects.parts import PartContributions, SiteMap
from pellucid.plots.style import BLUE, GREY, ORANGE, new_axes, pyplot, tidy

_LETTERS_PER_TRACK = 60


def plot_sequence(
    contributions: Any, *, map: int = 0, per_track: int = _LETTERS_PER_TRACK, start: int = 0, ax: Any = None
) -> Any:
    """Draw a sequence with its letters scaled by contribution: up for positive, down for negative ones.

    Parameters
    ----------
    contributions : PartContributions or SiteMap
        What ``model.part_contributions(sequence)`` returns.
    map : int, default=0
        Which map, where the model reads several columns of objects. Kernels of one column share a map.
    per_track : int, default=60
        Letters in a row; longer sequences are continued below, on the same scale.
    start : int, default=0
        Number of the first position.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from pellucid import KernelRidge, plot_sequence
    >>> from pellucid.kernels import Spectrum
    >>> words = ["TATAAT", "GCGCGC", "TATACC", "GGCCGG"]
    >>> model = KernelRidge(Spectrum(k=2), alpha=0.1).fit(words, [1.0, 0.0, 1.0, 0.0])
    >>> ax = plot_sequence(model.part_contributions("GGTATA"))
    >>> len(ax.patches)
    6
    """
    site, total = _map_of(contributions, map)
    if per_track < 1:
        raise ValueError(f"per_track must be at least 1, got {per_track!r}.")
    values, letters = site.on_labels, site.labels
    if not letters:
        raise ValueError("There are no letters to draw: the sequence is empty.")
    n_tracks = -(-len(letters) // per_track)
    width = min(len(letters), per_track)
    ax = new_axes(ax, size=(max(4.0, min(11.0, 0.2 * width + 1.2)), 1.2 + 1.3 * n_tracks))
    size = float(np.abs(values).max()) or 1.0
    high, low = max(values.max(), 0.1 * size), min(values.min(), -0.1 * size)
    step = 1.15 * (high - low)  # from one track to the next
    for track in range(n_tracks):
        middle = -step * track
        end = min(width, len(letters) - track * per_track)
        ax.plot([-0.5, end - 0.5], [middle, middle], color=GREY, linewidth=0.8, zorder=1)
        for column in range(end):
            at = track * per_track + column
            _letter(ax, letters[at], column, middle, values[at], 0.04 * size)
    ax.set_xlim(-0.7, width - 0.3)
    ax.set_ylim(-step * (n_tracks - 1) + low - 0.08 * size, high + 0.08 * size)
    title = "Contributions of letters" if total is None else f"Contributions of letters to {total:.4g}"
    tidy(
        ax,
        title,
        "position",
        "contribution" if n_tracks == 1 else f"position; contributions up to {size:.2g}",
    )
    ax.grid(visible=False)
    ticks = np.arange(0, width, 5 if width <= 40 else 10)
    ax.set_xticks(ticks, labels=[str(start + int(t)) for t in ticks])
    if n_tracks > 1:
        firsts = [start + track * per_track for track in range(n_tracks)]
        ax.set_yticks([-step * t for t in range(n_tracks)], labels=[f"{first}" for first in firsts])
        ax.set_xlabel("position from the one on the left")
    return ax


def _letter(ax: Any, letter: str, column: float, base: float, value: float, least: float) -> None:
    """One letter as an outline, stretched from the base line to its value; thin ones are only a stroke."""
    if not letter.strip():
        return
    pyplot()
    from matplotlib.font_manager import FontProperties
    from matplotlib.patches import PathPatch
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D

    shape = TextPath((0, 0), letter, size=1, prop=FontProperties(family="DejaVu Sans Mono", weight="bold"))
    box = shape.get_extents()
    height = max(abs(value), least)
    narrow = min(box.width, 0.62)  # an I stays narrow
    grow = Affine2D().translate(-(box.x0 + box.width / 2), -box.y0).scale(0.86 * narrow / 0.62 / box.width, 1)
    grow = grow.scale(1, height / box.height)
    below = base if value >= 0 else base - height
    path = grow.translate(column, below).transform_path(shape)
    ax.add_patch(PathPatch(path, facecolor=BLUE if value >= 0 else ORANGE, edgecolor="none", zorder=2))


def _map_of(contributions: Any, number: int) -> tuple[SiteMap, float | None]:
    """The map to draw, and the prediction where it is known."""
    if isinstance(contributions, SiteMap):
        return contributions, None
    if isinstance(contributions, PartContributions):
        if not 0 <= number < len(contributions.maps):
            raise ValueError(
                f"There are {len(contributions.maps)} maps of columns with parts, got map={number!r}."
            )
        return contributions.maps[number], contributions.prediction
    raise TypeError(
        f"Pass what model.part_contributions(x) returns for one object, got {type(contributions).__name__}."
    )
