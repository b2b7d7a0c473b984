r"""Purification: main effects take back what is theirs from the interactions.

A sum of curves and surfaces can be written in many ways: :math:`f_{pq} + f_p` is also
:math:`(f_{pq} - g_p) + (f_p + g_p)` for any curve :math:`g_p`. The pure form is the one in which every
surface has mean zero along each axis, so that it holds nothing that a curve could hold. Along an axis means

* under the *product of the marginals*, :math:`\sum_j \pi_q(j) f_{pq}(i, j) = 0` for every i, which takes one
  step;
* under the *joint* distribution of the pair, :math:`\sum_j \pi_{pq}(i, j) f_{pq}(i, j) = 0`, which is reached
  by moving conditional means of one axis after the other until nothing is left to move.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pellucid.effects.terms import Effect, Grid

_ROUNDS = 1000
_PURE = 1e-12  # largest conditional mean that may stay, relative to the largest value


def purify_surface(
    values: np.ndarray, density: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Split a surface into a pure surface, two curves and a constant whose sum it is.

    Parameters
    ----------
    values : ndarray of shape (m₁, m₂) or (m₁, m₂, n_outputs)
    density : ndarray of shape (m₁, m₂)
        Mass of each point; need not sum to one.

    Returns
    -------
    surface, first, second, constant : ndarrays of shapes (m₁, m₂, ...), (m₁, ...), (m₂, ...), (...)
        Conditional means of the surface under ``density`` are zero along both axes, and so are the means of
        the curves under its marginals. Where a row or column of points has no mass, the curve there is that
        of the mean over the other axis.

    Examples
    --------
    >>> values = np.add.outer([0.0, 1.0], [0.0, 10.0])  # no interaction at all
    >>> surface, first, second, constant = purify_surface(values, np.full((2, 2), 0.25))
    >>> surface, first, second, float(constant)
    (array([[0., 0.],
           [0., 0.]]), array([-0.5,  0.5]), array([-5.,  5.]), 5.5)
    """
    values = np.asarray(values, dtype=float)
    extra = (...,) + (None,) * (values.ndim - 2)
    mass = density / density.sum()
    rows, columns = mass.sum(axis=1), mass.sum(axis=0)
    # the share of each point within its row and its column; without mass there, the marginal of the other
    in_row = np.where(rows[:, None] > 0, mass / np.where(rows > 0, rows, 1.0)[:, None], columns)
    in_column = np.where(columns > 0, mass / np.where(columns > 0, columns, 1.0), rows[:, None])
    surface = values.copy()
    first, second = np.zeros_like(values[:, 0]), np.zeros_like(values[0])
    size = max(float(np.max(np.abs(values), initial=0.0)), 1e-300)
    for _ in range(_ROUNDS):
        along_row = np.sum(surface * in_row[extra], axis=1)
        surface -= along_row[:, None]
        first += along_row
        along_column = np.sum(surface * in_column[extra], axis=0)
        surface -= along_column
        second += along_column
        if np.max(np.abs(np.sum(surface * in_row[extra], axis=1))) <= _PURE * size:
            break
    levels = np.tensordot(rows, first, 1), np.tensordot(columns, second, 1)
    return surface, first - levels[0], second - levels[1], levels[0] + levels[1]


def purify_effects(
    effects: Sequence[Effect],
    grids: Sequence[Grid],
    marginals: Mapping[int, np.ndarray],
    *,
    against: str = "marginals",
) -> list[Effect]:
    """Purify all surfaces of a model; the curves take what they lose.

    Parameters
    ----------
    effects : sequence of Effect
        Curves and surfaces on ``grids``; the model is their sum.
    grids : sequence of Grid
        The grid of each feature.
    marginals : mapping from feature number to ndarray
        Share of rows at each point of the grid of the feature.
    against : {"marginals", "joint"}
        The distribution under which surfaces are made pure.

    Returns
    -------
    effects : list of Effect
        Curves first. A feature that had no curve gets one if it takes part in a surface. The sum over all
        effects at any point of the grids changes by at most one constant, the same for all points: curves and
        surfaces have mean zero.
    """
    if against not in ("marginals", "joint"):
        raise ValueError(f"against must be 'marginals' or 'joint', got {against!r}.")
    curves: dict[int, np.ndarray] = {e.term[0]: np.array(e.values) for e in effects if len(e.term) == 1}
    outputs = effects[0].outputs if effects else ()
    surfaces = []
    for effect in effects:
        if len(effect.term) != 2:
            continue
        p, q = effect.term
        mass = np.outer(marginals[p], marginals[q]) if against == "marginals" else effect.density
        surface, first, second, _ = purify_surface(effect.values, mass)
        for j, part in ((p, first), (q, second)):
            curves[j] = curves[j] + part if j in curves else part
        surfaces.append(replace(effect, values=surface, se=None))
    found = []
    for j in sorted(curves):
        values = curves[j] - np.tensordot(marginals[j], curves[j], 1)
        found.append(Effect((j,), grids[j].feature, (grids[j],), values, marginals[j], outputs=outputs))
    return found + surfaces
