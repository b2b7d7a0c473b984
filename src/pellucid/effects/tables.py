"""An additive model compiled to tables: one number per point of a feature, or of a pair of features.

The tables are the whole model. Prediction looks up one entry per term, linear between the points of numeric
features; what is plotted, stored and exported are the same numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from pellucid.data.table import Column
from pellucid.effects.terms import Grid, Term, term_names
from pellucid.features.axis import Axis
from pellucid.features.lookup import Lookup
from pellucid.features.lookup_layout import lay_out

_BLOCK = 8192


@dataclass(frozen=True)
class TermTables:
    """A fitted additive model as numbers."""

    columns: tuple[Column, ...]  # names and levels of the features
    fine: tuple[Axis, ...]  # points of every feature in main effects,
    coarse: tuple[Axis, ...]  # and in pairs
    terms: tuple[Term, ...]  # features of each term
    tables: tuple[np.ndarray, ...]
    """Values of each term at the points of its features, of shape (m + 1,) or (m₁ + 1, m₂ + 1), the last
    entry along an axis, zero, being for values that are nowhere: levels or missing values that training did
    not see. With several outputs there is one more axis, of length n_outputs."""
    intercept: float | np.ndarray  # what a row of no effect gets; (n_outputs,) where there are several

    @property
    def names(self) -> list[str]:
        """Names of the terms."""
        features = [column.name for column in self.columns]
        return term_names(self.terms, features)

    def axes(self, t: int) -> tuple[Axis, ...]:
        """Axes of term ``t``."""
        term = self.terms[t]
        return (self.fine[term[0]],) if len(term) == 1 else tuple(self.coarse[j] for j in term)

    def grid(self, feature: int, axis: Axis, points: np.ndarray | None = None) -> Grid:
        """Points of an axis in the units in which the feature came."""
        column = self.columns[feature]
        knots: np.ndarray = axis.knots
        if column.levels is not None:
            knots = np.array(column.levels, dtype=object)
        if axis.missing:
            mark = "(missing)" if column.levels is not None else np.nan
            knots = np.append(knots, np.array([mark], dtype=knots.dtype))
        some = knots if points is None else knots[points]
        has_missing = axis.missing and (points is None or len(axis) - 1 in points)
        return Grid(column.name, some, column.levels is not None, has_missing)

    def contributions(self, X: np.ndarray) -> np.ndarray:
        """Value of every term at coded rows; of shape (n, n_terms), or (n, n_terms, n_outputs)."""
        if self._lookup is not None:
            return self._lookup.values(np.asarray(X, dtype=np.float64))
        extra = np.shape(self.intercept)
        out = np.zeros((len(X), len(self.terms), *extra))
        for start in range(0, len(X), _BLOCK):
            rows = slice(start, start + _BLOCK)
            self._look_up(X[rows], out[rows])
        return out

    def predictor(self, X: np.ndarray) -> np.ndarray:
        """Linear predictor: the intercept plus all contributions."""
        if self._lookup is not None:
            total = self._lookup.total(np.asarray(X, dtype=np.float64))
            total += self.intercept
            return total
        return self.contributions(X).sum(axis=1) + self.intercept

    def contributions_and_predictor(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Both in one pass over the rows, the same numbers as one at a time."""
        if self._lookup is not None:
            values, total = self._lookup.both(np.asarray(X, dtype=np.float64))
            total += self.intercept
            return values, total
        values = self.contributions(X)
        return values, values.sum(axis=1) + self.intercept

    @cached_property
    def _lookup(self) -> Lookup | None:
        """The tables laid out for speed; None for several outputs and for knots that need special care."""
        if np.ndim(self.intercept):
            return None
        return lay_out(self.fine, self.coarse, self.terms, self.tables)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # without the layout

    def _look_up(self, X: np.ndarray, out: np.ndarray) -> None:
        fine = {t[0] for t in self.terms if len(t) == 1}
        coarse = {j for t in self.terms if len(t) == 2 for j in t}
        at_fine = {j: self.fine[j].locate(X[:, j]) for j in fine}
        at_coarse = {
            j: at_fine[j] if j in fine and self.coarse[j] is self.fine[j] else self.coarse[j].locate(X[:, j])
            for j in coarse
        }
        for t, (term, table) in enumerate(zip(self.terms, self.tables, strict=True)):
            if len(term) == 1:
                out[:, t] = _along(table, *at_fine[term[0]])
            else:
                out[:, t] = _across(table, at_coarse[term[0]], at_coarse[term[1]])


def _along(table: np.ndarray, i: np.ndarray, w: np.ndarray) -> np.ndarray:
    left = table.take(i, axis=0)
    right = table.take(i + 1, axis=0, mode="clip")
    return left + _like(w, left) * (right - left)


def _across(
    table: np.ndarray, first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    (i, u), (j, v) = first, second
    m = table.shape[1]
    flat = table.reshape(table.shape[0] * m, *table.shape[2:])
    base = i * m + j
    a, b = flat.take(base, axis=0), flat.take(base + 1, axis=0, mode="clip")
    c, d = flat.take(base + m, axis=0, mode="clip"), flat.take(base + m + 1, axis=0, mode="clip")
    u, v = _like(u, a), _like(v, a)
    low, high = a + v * (b - a), c + v * (d - c)
    return low + u * (high - low)


def _like(w: np.ndarray, values: np.ndarray) -> np.ndarray:
    return w.reshape(-1, *(1,) * (values.ndim - 1))


def stack_tables(
    parts: Sequence[dict[Term, np.ndarray]], shapes: dict[Term, tuple[int, ...]]
) -> tuple[tuple[Term, ...], tuple[np.ndarray, ...]]:
    """Tables of several outputs side by side, zeros where an output lacks a term; one output stays."""
    terms = tuple(shapes)
    if len(parts) == 1:
        return terms, tuple(parts[0][term] for term in terms)
    return terms, tuple(
        np.stack([part.get(term, np.zeros(shapes[term])) for part in parts], axis=-1) for term in terms
    )
