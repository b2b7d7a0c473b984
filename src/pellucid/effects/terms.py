"""What is read off a model made of terms: the fitted function of each term, and how much each term matters.

A *term* is one feature or a pair of features, written as a tuple of column numbers. Its *effect* is a
function of these features alone; the model's linear predictor is the intercept plus the sum of the effects.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from pellucid.effects.html import html_table
from pellucid.effects.sketch import effect_svg

Term = tuple[int, ...]

MISSING = "(missing)"
"""The level under which a missing value is shown."""

_MINOR = 1e-3  # share below which a term is not worth a line of its own
_REACH = 0.08  # rows within this share of a grid to either side support a point


def term_name(term: Term, features: Sequence[str]) -> str:
    """Name of a term: ``"age"``, or ``"age × income"`` for a pair.

    Examples
    --------
    >>> term_name((0, 1), ["age", "income"])
    'age × income'
    """
    return " × ".join(str(features[j]) for j in term)


def term_names(terms: Sequence[Term], features: Sequence[str]) -> list[str]:
    """Names of terms, all different: a pair whose name is that of another term is marked.

    Examples
    --------
    >>> term_names([(0,), (2,), (0, 1)], ["a", "b", "a × b"])
    ['a', 'a × b', 'a × b (pair)']
    """
    names: dict[str, None] = {}
    for term in terms:
        name = term_name(term, features)
        while name in names:
            name += " (pair)"
        names[name] = None
    return list(names)


def pair_named(name: str, features: Sequence[str]) -> tuple[str, str] | None:
    """The two features that a pair's name is made of, in either order, or None.

    Examples
    --------
    >>> (
    ...     pair_named("age × income", ["age", "income"]),
    ...     pair_named("income*age", ["age", "income"]),
    ... )
    (('age', 'income'), ('income', 'age'))
    """
    for mark in ("×", "*"):
        parts = name.split(mark)
        for cut in range(1, len(parts)):  # a feature may have the mark in its name
            p, q = (mark.join(some).strip() for some in (parts[:cut], parts[cut:]))
            if p in features and q in features:
                return p, q
    return None


@dataclass(frozen=True)
class Grid:
    """The points of one feature at which an effect is shown, in the units in which the feature came."""

    feature: str
    """Name of the feature."""
    points: np.ndarray
    """Increasing numbers, or the levels of a categorical feature (an array of objects); of shape (m,)."""
    levels: bool = False
    """Whether the points are levels rather than numbers."""
    missing: bool = False
    """Whether the last point stands for a missing value; among numbers it is NaN."""

    def __len__(self) -> int:
        return len(self.points)

    def labels(self) -> list[str]:
        """The points as text."""
        if self.levels:
            return [str(point) for point in self.points]
        text = [f"{point:.6g}" for point in self.points]
        return [*text[:-1], MISSING] if self.missing else text


@dataclass(frozen=True)
class Effect:
    """The fitted function of one term on a grid of its features."""

    term: Term
    """One or two column numbers."""
    name: str
    """The name of the feature, or of both."""
    grids: tuple[Grid, ...]
    """One grid per feature of the term."""
    values: np.ndarray
    """The effect on the linear predictor, of shape (m,) or (m₁, m₂); with several outputs (..., n_outputs).
    Its mean over the training rows is zero."""
    density: np.ndarray
    """Share of the training rows nearest to each point, of shape (m,) or (m₁, m₂); they sum to one."""
    se: np.ndarray | None = None
    """Posterior standard errors shaped like the values, where the model has them."""
    outputs: tuple[str, ...] = ()
    """Names of the classes or targets, where there are several."""

    def band(self, z: float = 1.96) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper end of the pointwise band ``values ± z · se``."""
        if self.se is None:
            raise ValueError(f"The effect of {self.name!r} has no standard errors.")
        return self.values - z * self.se, self.values + z * self.se

    def which(self, output: Any = None) -> list[int]:
        """Positions of the outputs asked for by number or name; all of them by default."""
        count = self.values.shape[-1] if self.values.ndim > len(self.grids) else 1
        if output is None:
            return list(range(count))
        if str(output) in self.outputs:
            return [self.outputs.index(str(output))]
        if isinstance(output, (int, np.integer)) and 0 <= output < count:
            return [int(output)]
        known = ", ".join(self.outputs) if self.outputs else f"0 to {count - 1}"
        raise ValueError(f"There is no output {output!r}; there are {known}.")

    def of(self, k: int) -> Self:
        """The effect on one output."""
        if self.values.ndim == len(self.grids):
            return self
        name = self.outputs[k] if self.outputs else f"output {k}"
        se = None if self.se is None else self.se[..., k]
        return replace(self, values=self.values[..., k], se=se, outputs=(name,))

    @property
    def sizes(self) -> np.ndarray:
        """Root mean square of the effect over the training rows, one number per output."""
        density = self.density.ravel()
        values = self.values.reshape(len(density), -1)
        return np.sqrt(density @ values**2)

    @property
    def supported(self) -> np.ndarray:
        """Whether there are rows at or near each point: near along numbers, at along levels."""
        near = self.density > 0
        for axis, grid in enumerate(self.grids):
            if grid.levels:
                continue
            m = len(grid) - int(grid.missing)
            numbers = np.moveaxis(near, axis, 0)
            around = numbers.copy()
            for step in range(1, min(round(_REACH * m), m - 1) + 1):
                around[step:m] |= numbers[: m - step]
                around[: m - step] |= numbers[step:m]
            near = np.moveaxis(around, 0, axis)
        return near

    def thinned(self, most: int) -> Self:
        """The effect on at most so many points per number axis, for display; densities are added up."""
        effect = self
        for axis, grid in enumerate(self.grids):
            m = len(grid) - int(grid.missing)
            if grid.levels or m <= most:
                continue
            keep = np.unique(np.round(np.linspace(0, m - 1, most)).astype(int))
            owner = np.searchsorted((keep[1:] + keep[:-1]) / 2, np.arange(m))
            if grid.missing:
                keep, owner = np.append(keep, m), np.append(owner, len(keep))
            density = np.zeros((len(keep), *np.moveaxis(effect.density, axis, 0).shape[1:]))
            np.add.at(density, owner, np.moveaxis(effect.density, axis, 0))
            grids = list(effect.grids)
            grids[axis] = replace(grid, points=np.asarray(grid.points)[keep])
            effect = replace(
                effect,
                grids=tuple(grids),
                values=np.take(effect.values, keep, axis=axis),
                se=None if effect.se is None else np.take(effect.se, keep, axis=axis),
                density=np.moveaxis(density, 0, axis),
            )
        return effect

    def columns(self) -> dict[str, np.ndarray]:
        """The effect as a tidy table: one row per grid point (and output), as a dict of columns."""
        shape = self.values.shape
        place = np.indices(shape).reshape(len(shape), -1)
        table: dict[str, np.ndarray] = {}
        for axis, grid in enumerate(self.grids):
            table[grid.feature] = np.asarray(grid.points)[place[axis]]
        if self.outputs:
            table["output"] = np.asarray(self.outputs, dtype=object)[place[-1]]
        table["effect"] = self.values.ravel()
        if self.se is not None:
            table["se"] = self.se.ravel()
        table["density"] = self.density[tuple(place[: self.density.ndim])]
        return table

    def _repr_html_(self) -> str:
        """A small picture, for notebooks."""
        return effect_svg(self)


@dataclass(frozen=True)
class Importances:
    """How much each term matters, in the order of the model's terms; as an array it is :attr:`values`.

    Examples
    --------
    >>> print(
    ...     Importances(("age", "sex", "age × sex"), np.array([1.0, 4.0, 0.5]), measure="|β|")
    ... )
    term         |β|  relative
    sex            4     1.000
    age            1     0.250
    age × sex    0.5     0.125
    """

    names: tuple[str, ...]
    """Names of the terms."""
    values: np.ndarray
    """Importances of shape (n_terms,), in the unit that ``measure`` names."""
    se: np.ndarray | None = None
    """Standard errors of the values."""
    measure: str = "importance"
    """What the values are, in words."""

    @property
    def relative(self) -> np.ndarray:
        """Importances divided by the largest one; zeros where all are zero."""
        top = float(np.max(self.values, initial=0.0))
        return self.values / top if top > 0 else np.zeros_like(self.values)

    @property
    def order(self) -> np.ndarray:
        """Positions of the terms from the most to the least important."""
        return np.argsort(-self.values, kind="stable")

    @property
    def is_share(self) -> bool:
        """Whether the values are shares of one whole."""
        return self.measure.startswith("share")

    @property
    def minor(self) -> np.ndarray:
        """Which terms are below 0.1 % of the whole, or of the sum where the values are no shares.

        If all are, none is said to be.
        """
        whole = 1.0 if self.is_share else float(np.sum(self.values))
        small = self.values < _MINOR * whole
        return small & ~small.all()

    def top(self, n: int = 10) -> list[str]:
        """Names of the ``n`` most important terms."""
        return [self.names[i] for i in self.order[:n]]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype)

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[float]:
        return iter(self.values)

    def __getitem__(self, key: Any) -> Any:
        return self.values[self.names.index(key) if isinstance(key, str) else key]

    def __str__(self) -> str:
        return self.table()

    def table(self, n: int = 20) -> str:
        """The ``n`` most important terms as text."""
        rows = self._rows(n)
        first, *others = zip(*rows, strict=True)
        width = [max(map(len, first)), *(max(6, *map(len, cells)) for cells in others)]
        lines = []
        for name, *cells in rows:
            numbers = [f"{cell:>{w}}" for cell, w in zip(cells, width[1:], strict=True)]
            lines.append("  ".join([f"{name:<{width[0]}}", *numbers]))
        return "\n".join([*lines, *self._left_out(n)])

    def _repr_html_(self) -> str:
        head, *rows = self._rows(20)
        return html_table("Importances", head, [*rows, *([text] for text in self._left_out(20))])

    def _rows(self, n: int) -> list[list[str]]:
        se = [] if self.se is None else ["se"]
        rows = [["term", self.measure, "relative", *se]]
        for i in self.order[:n]:
            cells = [self.names[i], f"{self.values[i]:.4g}", f"{self.relative[i]:.3f}"]
            rows.append(cells if self.se is None else [*cells, f"{self.se[i]:.2g}"])
        return rows

    def _left_out(self, n: int) -> list[str]:
        return [f"... and {len(self) - n} more"] if len(self) > n else []


def columns_read(model: Any) -> frozenset[str] | None:
    """Names of the columns that a fitted model of terms makes use of; ``None`` where it may be all of them.

    Values of the other columns change no prediction.
    """
    model = getattr(model, "best_estimator_", model)
    terms = getattr(model, "terms_", None)
    if terms is None or not hasattr(model, "n_features_in_"):
        return None
    names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])
    return frozenset(str(names[j]) for term in terms for j in term)
