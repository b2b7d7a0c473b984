"""A molecule with the push and pull between its atoms."""

from typing import Any

import numpy as np

from pellucid.data.elements import SYMBOLS
from pellucid.plots.style import diverging, new_axes, pyplot

_COLOURS = {
    1: "#f2f2f2",
    6: "#4d4d4d",
    7: "#56b4e9",
    8: "#d55e00",
    9: "#009e73",
    16: "#e6c700",
    17: "#009e73",
}
_SHOWN = 12  # pairs with the largest tensions


def plot_molecule(
    model: Any,
    geometry: Any,
    *,
    top: int = _SHOWN,
    energy_unit: str = "",
    length_unit: str = "Å",
    ax: Any = None,
) -> Any:
    """Draw one geometry with the forces that a force field sees along its pairs of atoms.

    Atoms carry their symbols, if the model knows them, and their numbers from 0. Numbers are in the units of
    training, which a model does not know: name them to have them written.

    Parameters
    ----------
    model : ForceField
        A fitted force field.
    geometry : array-like of shape (n_atoms, 3)
        Where the atoms are.
    top : int, default=12
        Number of pairs drawn, those with the largest tension first. Blue pairs push apart, orange ones pull.
    energy_unit : str, default=""
        Unit of the energies in training, such as ``"kcal/mol"``; written with the energy and the forces.
    length_unit : str, default="Å"
        Unit of the positions in training.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib Axes
    """
    found = model.explain(geometry)
    R = np.asarray(geometry, dtype=float)
    flat, depth = _projected(R)
    ax = new_axes(ax, size=(5.4, 4.6))
    pyplot()
    size = float(np.abs(found.tension).max()) or 1.0
    shades = diverging()
    for k in np.argsort(np.abs(found.tension))[-top:]:
        a, b = found.pairs[k]
        share = found.tension[k] / size
        ax.plot(
            *flat[[a, b]].T,
            color=shades(0.5 + 0.5 * share),
            linewidth=1.0 + 7.0 * abs(share),
            solid_capstyle="round",
            zorder=1,
        )
    order = np.argsort(depth)
    colours = [_COLOURS.get(int(model.atoms_[k]), "#cc79a7") for k in order]
    ax.scatter(*flat[order].T, s=330, c=colours, edgecolors="0.2", linewidths=1.0, zorder=2)
    for k in range(len(R)):
        dark = int(model.atoms_[k]) in (6, 8, 9, 17)
        name = f"{SYMBOLS[model.atoms_[k]]}{k}" if model.atoms_.any() else f"{k}"
        ax.text(*flat[k], name, ha="center", va="center", fontsize=8, color="w" if dark else "k", zorder=3)
    scale = pyplot().cm.ScalarMappable(pyplot().Normalize(-size, size), shades)
    unit = f", {energy_unit}/{length_unit}" if energy_unit else ""
    label = f"force along the pair{unit} (pulls − · + pushes)"
    bar = ax.figure.colorbar(scale, ax=ax, shrink=0.7, label=label)
    bar.outline.set_visible(False)
    ax.set_title(f"Energy {found.energy:.6g} {energy_unit}".rstrip(), loc="left", fontsize=11)
    ax.set_aspect("equal")
    ax.margins(0.12)
    ax.set_axis_off()
    return ax


def _projected(R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions in the plane in which the molecule is widest, and their height above it."""
    centred = R - R.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2]
    axes = axes * np.sign(axes[np.arange(len(axes)), np.argmax(np.abs(axes), axis=1)])[:, None]
    placed = centred @ axes.T
    return placed[:, :2], placed[:, 2] if placed.shape[1] > 2 else np.zeros(len(R))
