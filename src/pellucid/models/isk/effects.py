"""Effects of an ISK model on grids of the original features."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from pellucid.effects import Effect, Grid, Term, purify_effects, term_name
from pellucid.features.scaling import Scaler, Warp
from pellucid.linalg import row_blocks
from pellucid.models.isk.rows import Rows

_POINTS = 49  # per numeric feature


def grids_of(scaler: Scaler, names: Sequence[str]) -> list[Grid]:
    """One grid per feature: levels in their order, or up to 49 numbers at even steps of the scaled value."""
    return [_grid(column, name) for column, name in zip(scaler.columns, names, strict=True)]


def _grid(column: Warp, name: str) -> Grid:
    if column.levels is not None:
        points = np.empty(len(column.levels), dtype=object)
        points[:] = sorted(column.levels, key=column.levels.__getitem__)
        return Grid(name, points, levels=True)
    knots, values = column.knots, column.values
    if len(knots) > _POINTS or len(knots) == 2:
        steps = np.linspace(values[0], values[-1], _POINTS)
        knots = np.unique(np.interp(steps, values, knots))
    return Grid(name, knots)


@dataclass(frozen=True)
class Densities:
    """Share of training rows nearest to each point of the grids: of each feature, and of each kept pair."""

    features: list[np.ndarray]
    pairs: dict[Term, np.ndarray]

    @classmethod
    def count(cls, rows: Rows, grids: list[Grid], terms: Sequence[Term]) -> Self:
        """One pass over the rows."""
        features = [np.zeros(len(grid)) for grid in grids]
        pairs = {t: np.zeros((len(grids[t[0]]), len(grids[t[1]]))) for t in terms if len(t) == 2}
        for block in row_blocks(len(rows), 16.0 * len(grids)):
            weight = rows.weight[block]
            place = [
                _nearest(grid, column, rows.X[block, j])
                for j, (grid, column) in enumerate(zip(grids, rows.scaler.columns, strict=True))
            ]
            for j, count in enumerate(features):
                count += np.bincount(place[j], weight, len(count))
            for (p, q), table in pairs.items():
                flat = place[p] * table.shape[1] + place[q]
                table += np.bincount(flat, weight, table.size).reshape(table.shape)
        total = float(rows.weight.sum())
        return cls([count / total for count in features], {t: table / total for t, table in pairs.items()})

    def of(self, term: Term) -> np.ndarray:
        """Density of a feature or a pair."""
        return self.features[term[0]] if len(term) == 1 else self.pairs[term]


def _nearest(grid: Grid, column: Warp, x: np.ndarray) -> np.ndarray:
    if column.levels is not None:
        return column.places[x.astype(np.intp)].astype(np.intp)
    middle = 0.5 * (grid.points[1:] + grid.points[:-1])
    return np.searchsorted(middle, x.astype(float))


def term_effects(model: Any, purify: str | None) -> dict[str, Effect]:
    """Effects of a model's terms by name; ``purify`` is the distribution to purify against, or ``None``."""
    W, beta, mean, sd = model._W, model._beta, model._mean, model._sd
    pairs, grids, densities, outputs = model._pairs, model._grids, model._densities, model._class_names()
    scaled = [column.at(grid.points) for column, grid in zip(model._scaler.columns, grids, strict=True)]
    names = [grid.feature for grid in grids]
    found = []
    for k, term in enumerate(model.terms_):
        layers = []
        for c in range(W.shape[1]):
            if len(term) == 1:
                part = pairs.curve(scaled[term[0]], term[0], W[:, c])
            else:
                part = pairs.surface(scaled[term[0]], scaled[term[1]], term, W[:, c])
            layers.append(beta[k, c] * (part - mean[k, c]) / sd[k, c])
        values = np.stack(layers, axis=-1) if outputs else layers[0]
        axes = tuple(grids[j] for j in term)
        found.append(Effect(term, term_name(term, names), axes, values, densities.of(term), outputs=outputs))
    if purify is not None:
        marginals = dict(enumerate(densities.features))
        found = purify_effects(found, grids, marginals, against=purify)
    return {effect.name: effect for effect in found}
