"""Purification of effects whose curves and surfaces have grids of their own."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from pellucid.effects.purify import purify_surface
from pellucid.effects.terms import Effect, Grid


def purify_jointly(effects: Mapping[str, Effect]) -> dict[str, Effect]:
    """Make surfaces orthogonal to functions of one of their features under the joint distribution of rows.

    Parameters
    ----------
    effects : mapping from names to Effect
        Curves and surfaces, linear between the points of their grids; surfaces need the density of the rows.

    Returns
    -------
    dict of Effect
        Curves first. Conditional means of every surface under its own density are zero along both features;
        the curves hold what that took away, on the points of both grids, and have mean zero. The sum of all
        effects changes by a constant. A feature that takes part in surfaces only gets a curve. There are no
        standard errors: those of the parts are not those of the sum.

    Examples
    --------
    >>> a, b = Grid("a", np.array([0.0, 1.0])), Grid("b", np.array([0.0, 1.0]))
    >>> density = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> product = np.array([[1.0, -1.0], [-1.0, 1.0]])  # pure if a and b were independent
    >>> pure = purify_jointly({"a × b": Effect((0, 1), "a × b", (a, b), product, density)})
    >>> pure["a"].values, pure["a × b"].values
    (array([0., 0.]), array([[ 0.4, -1.6],
           [-1.6,  0.4]]))
    """
    curves = {e.term[0]: e for e in effects.values() if len(e.term) == 1}
    surfaces: dict[str, Effect] = {}
    for name, effect in effects.items():
        if len(effect.term) == 1:
            continue
        surface, *parts, _ = purify_surface(effect.values, effect.density)
        surfaces[name] = replace(effect, values=surface, se=None)
        for axis, (j, grid, part) in enumerate(zip(effect.term, effect.grids, parts, strict=True)):
            density = effect.density.sum(axis=1 - axis)
            share = Effect((j,), grid.feature, (grid,), part, density, outputs=effect.outputs)
            curves[j] = _added(curves[j], share) if j in curves else share
    pure = {}
    for j in sorted(curves):
        curve = curves[j]
        mean = np.tensordot(curve.density, curve.values, 1) / max(curve.density.sum(), 1e-300)
        pure[curve.name] = replace(curve, values=curve.values - mean, se=None)
    return pure | surfaces


def _added(curve: Effect, share: Effect) -> Effect:
    """Sum of two curves of a feature on the points of both; the density stays where it was."""
    a, b = curve.grids[0], share.grids[0]
    if a.levels:
        return replace(curve, values=curve.values + share.values)
    inner_a, inner_b = a.points[: len(a) - a.missing], b.points[: len(b) - b.missing]
    points = np.union1d(inner_a, inner_b)
    values = _at(points, inner_a, curve.values) + _at(points, inner_b, share.values)
    density = np.zeros(len(points))
    density[np.searchsorted(points, inner_a)] = curve.density[: len(inner_a)]
    if a.missing:
        points = np.append(points, np.nan)
        values = np.concatenate([values, curve.values[-1:] + share.values[-1:]])
        density = np.append(density, curve.density[-1])
    grid = Grid(a.feature, points, False, a.missing)
    return replace(curve, grids=(grid,), values=values, density=density, se=None)


def _at(points: np.ndarray, knots: np.ndarray, values: np.ndarray) -> np.ndarray:
    """A curve, linear between knots, at points; with one column per output where there are several."""
    values = values[: len(knots)]
    if values.ndim == 1:
        return np.interp(points, knots, values)
    return np.stack([np.interp(points, knots, v) for v in values.T], axis=-1)
