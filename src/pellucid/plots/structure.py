"""Molecules and graphs with atoms and nodes coloured by what they contribute to a prediction."""

from typing import Any

import numpy as np

from pellucid.effects.layout import flat_layout
from pellucid.kernels.structured.chem import molecule
from pellucid.plots.sequence import _map_of
from pellucid.plots.style import diverging, new_axes, pyplot


def plot_structure(contributions: Any, *, map: int = 0, ax: Any = None) -> Any:
    """Draw a molecule or graph in colours: blue atoms and bonds raise the prediction, orange ones lower it.

    Parameters
    ----------
    contributions : PartContributions or SiteMap
        What ``model.part_contributions(molecule)`` returns. Molecules, given as SMILES, have the layout that
        RDKit finds; other graphs are laid out by their distances.
    map : int, default=0
        Which map, where the model reads several columns of objects. Kernels of one column share a map.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from pellucid import KernelRidge, plot_structure
    >>> from pellucid.kernels import WeisfeilerLehman
    >>> rows = [("CCO", [(0, 1), (1, 2)]), ("CCC", [(0, 1), (1, 2)]), ("CO", [(0, 1)])]
    >>> model = KernelRidge(WeisfeilerLehman(1), alpha=0.1).fit(rows, [1.0, 0.0, 1.0])
    >>> ax = plot_structure(model.part_contributions(rows)[0])
    >>> [text.get_text() for text in ax.texts]
    ['C', 'C', 'O']
    """
    site, total = _map_of(contributions, map)
    if not site.labels:
        raise ValueError("There are no nodes to draw: the graph is empty.")
    places = flat_layout(site)
    ax = new_axes(ax, size=(5.2, 4.6))
    size = float(np.abs(np.concatenate([site.values, site.bond_values])).max()) or 1.0
    colour = diverging()
    shade = pyplot().Normalize(-size, size)
    radius = 140.0 if len(places) > 40 else 420.0 if len(places) <= 20 else 260.0
    for (u, v), value in zip(site.bonds, site.bond_values, strict=True):
        ends = places[[u, v]].T
        ax.plot(*ends, color="0.72", linewidth=7.5, solid_capstyle="round", zorder=1)
        ax.plot(*ends, color=colour(shade(value)), linewidth=6, solid_capstyle="round", zorder=1)
    drawn = ax.scatter(
        *places.T,
        s=radius,
        c=site.values,
        cmap=colour,
        norm=shade,
        edgecolors="0.45",
        linewidths=0.9,
        zorder=2,
    )
    for (x, y), label, value in zip(places, site.labels, site.values, strict=True):
        ink = "white" if abs(value) > 0.62 * size else "black"
        ax.text(x, y, label, ha="center", va="center", fontsize=8 if radius > 200 else 6, color=ink, zorder=3)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.12)
    ax.set_axis_off()
    ax.figure.colorbar(drawn, ax=ax, shrink=0.72, label="contribution")
    title = "Contributions" if total is None else f"Contributions to {total:.4g}"
    ax.set_title(title, loc="left", fontsize=11)
    return ax


def structure_svg(contributions: Any, *, map: int = 0, size: tuple[int, int] = (360, 280)) -> str:
    """Return a molecule as RDKit draws it, with coloured atoms and bonds, as SVG.

    Parameters
    ----------
    contributions, map
        As in :func:`plot_structure`; the object must be a molecule.
    size : tuple of int, default=(360, 280)
        Width and height in pixels.

    Returns
    -------
    svg : str
    """
    site, _ = _map_of(contributions, map)
    if not isinstance(site.item, str):
        raise ValueError("Only molecules given as SMILES can be drawn by RDKit; use plot_structure.")
    from rdkit.Chem.Draw import rdMolDraw2D

    mol = molecule(site.item)
    largest = float(np.abs(np.concatenate([site.values, site.bond_values])).max()) or 1.0
    colour = diverging()

    def shade(values: np.ndarray) -> dict[int, tuple[float, ...]]:
        # half the range of colours: letters and bonds are drawn in black on top
        return {i: tuple(colour(0.5 + 0.33 * float(v) / largest))[:3] for i, v in enumerate(values)}

    drawer = rdMolDraw2D.MolDraw2DSVG(*size)
    drawer.drawOptions().useBWAtomPalette()
    drawer.DrawMolecule(
        mol,
        highlightAtoms=list(range(len(site.labels))),
        highlightBonds=list(range(len(site.bonds))),
        highlightAtomColors=shade(site.values),
        highlightBondColors=shade(site.bond_values),
    )
    drawer.FinishDrawing()
    return str(drawer.GetDrawingText())
