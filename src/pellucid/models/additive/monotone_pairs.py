"""Features that must rise or fall and take part in pairs: constraints on the sum of all their terms.

Between knots the slope of the sum along such a feature j is

    f_j' + Σ_k ∂f_jk(x_j, z_k) ,

and each z_k moves by itself. So it is nowhere negative if in every interval the slope of the main effect and
the smallest slopes of the pairs, over the points of their other features, add up to no less than zero. There
are too many combinations to ask for all: those that are broken at the present fit are added, until none is
broken by much. What is left of that, the tables of the main effects make up for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pellucid.features.term_basis import Axes, Term, TermBasis
from pellucid.models.additive.engine.state import State
from pellucid.models.additive.monotonicity import Shapes, shape_rows
from pellucid.solvers.monotone import nearest_in_cone

_CUTS = 25  # constraints that one feature may add at a time
_ROUNDS = 30  # times that constraints are added
_TOLERANCE = 1e-3  # by which a slope may be broken, as a share of the steepest one


def cone_rows(state: State, shapes: Shapes) -> np.ndarray:
    """Constraints Aβ ≥ 0 on main effects, and as many on sums with pairs as the fit needs."""
    A, beta = shape_rows(state.basis, shapes), state.fit.beta
    if not any(len(term) == 2 and set(term) & set(shapes.moves) for term in state.basis.terms):
        return A
    for _ in range(_ROUNDS):
        new = broken(state.basis, beta, shapes.moves)
        if not len(new):
            break
        A = np.vstack([A, new])
        beta = nearest_in_cone(state.fit.beta, state.fit.root, A).beta
    return A


def broken(basis: TermBasis, beta: np.ndarray, moves: Mapping[int, int]) -> np.ndarray:
    """Constraints that coefficients break, the worst of each feature: rows of A with Aβ < 0."""
    rows = [np.zeros((0, basis.size))]
    tables = {term: basis.table(t, beta[basis.slices[t]]) for t, term in enumerate(basis.terms)}
    for j, sign in moves.items():
        pairs: list[Term] = [term for term in basis.terms if len(term) == 2 and j in term]
        if not pairs:
            continue
        grid = _Grid.of(basis.axes, j)
        slope, places = grid.least(tables, pairs, j, sign)
        size = np.abs(slope).max(initial=0.0)
        worst = np.argsort(slope, kind="stable")[:_CUTS]
        worst = worst[slope[worst] < -_TOLERANCE * size]
        part = np.zeros((len(worst), basis.size))
        for term, s, pick in zip(basis.terms, basis.slices, basis.picks, strict=True):
            if term == (j,):
                part[:, s] = sign * grid.slopes(basis.axes.main[j].table[:, pick[0]], fine=True)[worst]
            elif term in pairs:
                side = term.index(j)
                own, other = (basis.axes.pair[i].table for i in (j, term[1 - side]))
                along = grid.slopes(own, fine=False)[worst][:, pick[side]]
                part[:, s] = sign * along * other[places[term][worst]][:, pick[1 - side]]
        rows.append(part)
    return np.vstack(rows)


def made_up(tables: dict[Term, np.ndarray], axes: Axes, moves: Mapping[int, int]) -> dict[Term, np.ndarray]:
    """Tables whose main effects make up for what slopes are still broken by, mean zero as before."""
    out = dict(tables)
    for j, sign in moves.items():
        pairs: list[Term] = [t for t in tables if len(t) == 2 and j in t and np.any(tables[t])]
        if not pairs:
            continue
        axis, grid = axes.fine[j], _Grid.of(axes, j)
        k = len(axis.knots)
        main = out.get((j,), np.zeros(len(axis) + 1)).copy()
        out[(j,)] = main
        slope, _ = grid.least(out, pairs, j, sign)
        lack = np.zeros(max(k - 1, 0))
        np.maximum.at(lack, grid.fine[grid.in_fine], np.maximum(-slope[grid.in_fine], 0.0))
        lack[lack > 0] *= 1.0 + 1e-9
        main[1:k] += sign * np.cumsum(lack * np.diff(axis.knots))
        main[:-1] -= axis.mass @ main[:-1] / axis.mass.sum()
    return out


@dataclass(frozen=True)
class _Grid:
    """Intervals of a feature between the knots of main effects and of pairs, and where they lie in either."""

    fine: np.ndarray
    in_fine: np.ndarray
    coarse: np.ndarray
    in_coarse: np.ndarray
    knots: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(cls, axes: Axes, j: int) -> _Grid:
        knots = axes.fine[j].knots, axes.coarse[j].knots
        every = np.union1d(*knots)
        middle = (every[1:] + every[:-1]) / 2
        (fine, in_fine), (coarse, in_coarse) = (_placed(k, middle) for k in knots)
        return cls(fine, in_fine, coarse, in_coarse, knots)

    def slopes(self, table: np.ndarray, *, fine: bool) -> np.ndarray:
        """Slopes along the first axis of a table in all intervals; zero beyond its knots."""
        knots = self.knots[0 if fine else 1]
        place, inside = (self.fine, self.in_fine) if fine else (self.coarse, self.in_coarse)
        if len(knots) < 2:
            return np.zeros((len(place), *table.shape[1:]))
        step = np.diff(table[: len(knots)], axis=0)
        slope = step / np.diff(knots).reshape(-1, *(1,) * (table.ndim - 1))
        return np.where(inside.reshape(-1, *(1,) * (table.ndim - 1)), slope[place], 0.0)

    def least(
        self, tables: Mapping[Term, np.ndarray], pairs: list[Term], j: int, sign: int
    ) -> tuple[np.ndarray, dict[Term, np.ndarray]]:
        """Smallest slope of the sum in each interval, and the points of the other features where it is."""
        total = np.zeros(len(self.fine))
        if (j,) in tables:
            total = sign * self.slopes(tables[(j,)], fine=True)
        places = {}
        for term in pairs:
            table = tables[term] if term[0] == j else tables[term].T
            slope = sign * self.slopes(table, fine=False)
            places[term] = slope.argmin(axis=1)
            total = total + slope.min(axis=1)
        return total, places


def _placed(knots: np.ndarray, middle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Interval between knots of each point, and whether it is between them at all."""
    place = np.clip(np.searchsorted(knots, middle, "right") - 1, 0, max(len(knots) - 2, 0))
    return place, (middle > knots[0]) & (middle < knots[-1])
