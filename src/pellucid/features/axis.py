"""One feature as an axis: points, where a value lies between them, and an eigenbasis of functions on them.

Functions of a feature are tables on at most a few hundred points, linear in between. The points of a numeric
feature are knots at quantiles of the data; those of a categorical feature are its levels; a missing value is
a point of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import eigh

from pellucid.data.table import UNKNOWN
from pellucid.features.bucket_index import Guide

WARP_RANK = 0.5  # share of the rank in the warped coordinate; the rest is the clipped linear scale
_CLIP = (0.01, 0.99)  # quantiles between which the linear scale runs from 0 to 1
_BEYOND = 0.2  # how far beyond 0 and 1 it may go
_REPEATS = 5.0  # rows at a value, on average, from which on it may differ from its neighbours
_ATOM = 0.05  # least share of the rows at a value that stands out
_MANY = 2000  # values from which on a guide to the knots pays
_SMALLEST = 1e-11  # eigenvalues below this share of the largest one carry no function of their own
_NO_MASS = 1e-12  # points with less tell no functions apart

LINE, CURVE, POINT, LEVEL = range(4)


@dataclass(frozen=True)
class Axis:
    """Points of one feature under a distribution of rows.

    Attributes
    ----------
    knots : ndarray of shape (k,)
        Increasing values of a numeric feature, or the codes 0, ..., k-1 of levels.
    levels : bool
        Whether the knots are levels: nothing lies between them.
    missing : bool
        Whether a point for missing values follows the knots.
    mass : ndarray of shape (m,)
        Share of the training rows at each point, a row between two knots counting for both; m is k, plus one
        with ``missing``.
    coordinate : ndarray of shape (k,)
        Where the knots lie on the warped scale, roughly from 0 to 1.
    repeats : bool
        Whether every value is a knot, and occurs often enough to tell a jump from noise and from copies of
        rows.
    """

    knots: np.ndarray
    levels: bool
    missing: bool
    mass: np.ndarray
    coordinate: np.ndarray
    repeats: bool = False

    @classmethod
    def numeric(cls, x: np.ndarray, weight: np.ndarray, n_knots: int) -> Axis:
        """Axis of a numeric column; NaN is missing.

        A value that a large part of the rows share is a knot, and so is every value if there are few.
        """
        seen = ~np.isnan(x) & (weight > 0)
        value, inverse = np.unique(x[seen], return_inverse=True)
        mass = np.bincount(inverse, weight[seen], len(value)) if len(value) else np.empty(0)
        knots, place = value, np.arange(len(value))
        middle = (np.cumsum(mass) - mass / 2) / max(mass.sum(), np.finfo(float).tiny)
        if len(value) > n_knots:
            place = _quantiles(middle, n_knots)
            knots = value[place]
        coordinate = _warp(value, mass, middle)[place] if len(value) else np.empty(0)
        missing = bool(np.isnan(x[weight > 0]).any())
        repeats = len(knots) == len(value) and float(mass.sum()) >= _REPEATS * len(value)
        axis = cls(knots, False, missing, np.empty(0), coordinate, repeats)
        return axis._weigh(x, weight)

    @classmethod
    def of_levels(
        cls, codes: np.ndarray, weight: np.ndarray, n_levels: int, *, ordered: bool = False
    ) -> Axis:
        """Axis of a column of level codes; NaN is missing, ``UNKNOWN`` is nowhere.

        Levels that are ``ordered`` lie on the warped scale as numbers do.
        """
        knots = np.arange(float(n_levels))
        missing = bool(np.isnan(codes[weight > 0]).any())
        repeats = float(weight.sum()) >= _REPEATS * n_levels
        axis = cls(knots, True, missing, np.empty(0), np.zeros(n_levels), repeats)._weigh(codes, weight)
        if not ordered:
            return axis
        mass = axis.mass[:n_levels]
        middle = (np.cumsum(mass) - mass / 2) / max(mass.sum(), np.finfo(float).tiny)
        return replace(axis, coordinate=_warp(knots, mass, middle))

    @property
    def unordered(self) -> bool:
        """Whether the knots are levels that have no order."""
        return self.levels and not self.coordinate.any()

    def _weigh(self, x: np.ndarray, weight: np.ndarray) -> Axis:
        return self.weighed(self.masses(x, weight))

    def masses(self, x: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Sum of the weights of rows at each point, a row between two knots counting for both."""
        i, w = self.locate(x)
        m = len(self)
        return (np.bincount(i, (1.0 - w) * weight, m + 2) + np.bincount(i + 1, w * weight, m + 2))[:m]

    def weighed(self, masses: np.ndarray) -> Axis:
        """The axis under a distribution of rows, given by sums of weights at its points."""
        return replace(self, mass=masses / max(masses.sum(), np.finfo(float).tiny))

    def thinned(self, n_knots: int) -> Axis:
        """The axis on about ``n_knots`` of its knots, for a first look; levels stay as they are.

        Mass at a knot that goes moves to its two neighbours that stay.
        """
        k = len(self.knots)
        if self.levels or k <= n_knots:
            return self
        mass = self.mass[:k]
        place = _quantiles((np.cumsum(mass) - mass / 2) / max(mass.sum(), np.finfo(float).tiny), n_knots)
        thin = Axis(self.knots[place], False, self.missing, np.empty(0), self.coordinate[place])
        return thin._weigh(np.append(self.knots, [np.nan] * self.missing), self.mass)

    def __len__(self) -> int:
        return len(self.knots) + self.missing

    @property
    def flat(self) -> bool:
        """Whether there is nothing to tell apart, and so no function but constants."""
        return len(self) < 2 or not self.mass.any()

    def locate(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Point to the left of each value, and how far it is on the way to the next point, from 0 to 1.

        Beyond the outermost knots a value is at the outermost knot. The point ``len(axis)`` is nowhere: an
        unknown level, or a missing value where training had none; tables have zero there.
        """
        k, m = len(self.knots), len(self)
        gone = np.isnan(x)
        if self.levels or k < 2:
            known = ~gone & (x != UNKNOWN) if self.levels else ~gone
            at = np.clip(np.where(gone, 0.0, x), 0, max(k - 1, 0))
            i = np.where(known & (k > 0), at, m).astype(np.intp)
            w = np.zeros(len(x))
        else:
            if len(x) < _MANY:
                i = np.searchsorted(self.knots, x, "right").astype(np.intp)
            else:
                i = self._guide.count(x)
            i -= 1
            np.clip(i, 0, k - 2, out=i)
            with np.errstate(over="ignore"):  # beyond the outermost knots an infinite way is cut off
                if not np.isfinite(self.knots[-1] - self.knots[0]):
                    x = x / 4
                    left, right = self.knots[i] / 4, self.knots[i + 1] / 4
                else:
                    left, right = self.knots[i], self.knots[i + 1]
                w = np.clip((x - left) / (right - left), 0.0, 1.0)
            w[gone] = 0.0
        i[gone] = k if self.missing else m
        return i, w

    @cached_property
    def _guide(self) -> Guide:
        return Guide.to(self.knots)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # without the guide

    def standing_out(self) -> np.ndarray:
        """Knots that many rows share, beyond what their neighbours have: the effect may jump there.

        The zero of an amount is one, as most rows have none of it.
        """
        mass = self.mass[: len(self.knots)]
        if self.unordered or len(mass) < 3:
            return np.zeros(len(mass), dtype=bool)
        return (mass >= _ATOM) & (mass >= 10.0 * np.median(mass))

    def basis(self, n_columns: int) -> Basis:
        """Columns of functions of the axis, of mean zero and variance one under the data, smooth ones first.

        Levels without an order have the eigenfunctions of a kernel that is 1 for equal levels and 0
        otherwise, see :func:`_of_levels`. Other axes have a straight line in the warped coordinate, then the
        functions into which a smoothing spline falls apart (Demmler and Reinsch), see :func:`_curves`; a
        missing value has a column of its own, and so has a value that stands out where columns are too few
        to tell it from its neighbours.
        """
        k, m = len(self.knots), len(self)
        if self.flat:
            return Basis(
                np.empty(0), np.empty(0, dtype=np.intp), np.zeros((m + 1, 0)), np.zeros((m, 0)), False
            )
        if self.unordered:
            columns, frequency = _of_levels(self.mass, n_columns)
            part = np.full(len(frequency), LEVEL)
        else:
            mass = self.mass[:k]
            line, curves, frequency = _curves(self.coordinate, mass, n_columns)
            points = np.zeros((m, 0))
            if curves.shape[1] + 2 < np.count_nonzero(mass > _NO_MASS):
                points = np.eye(m)[:, np.flatnonzero(self.standing_out())]
            if self.missing and mass.any():
                points = np.hstack([points, np.eye(m)[:, [k]]])
            line, curves = (np.vstack([T, np.zeros((m - k, T.shape[1]))]) for T in (line, curves))
            columns = np.hstack([line, points, curves])
            part = np.repeat([LINE, POINT, CURVE], [line.shape[1], points.shape[1], curves.shape[1]])
            frequency = np.concatenate([np.ones(line.shape[1] + points.shape[1]), frequency])
        columns = columns - self.mass @ columns
        columns /= np.sqrt(self.mass @ columns**2)
        largest = columns[np.abs(columns).argmax(axis=0), np.arange(columns.shape[1])]
        columns *= np.where(largest < 0, -1.0, 1.0)
        square = np.square(columns[self.mass > _NO_MASS])
        return Basis(frequency, part, np.vstack([columns, np.zeros(columns.shape[1])]), square, self.repeats)


@dataclass(frozen=True)
class Basis:
    """Columns of functions on an axis, of mean zero and variance one under the data.

    Attributes
    ----------
    frequency : ndarray of shape (r,)
        How fast each column varies: about the number of half waves of a curve, 1 for straight lines and
        single points; of levels without an order, one over the root of the eigenvalue.
    part : ndarray of int of shape (r,)
        What each column is: ``LINE``, ``CURVE``, ``POINT`` or ``LEVEL``.
    table : ndarray of shape (m + 1, r)
        The columns at the points; the last row is zero, for values that are nowhere.
    square : ndarray of shape (points that rows are at, r)
        Squares of the columns there: how much a function varies at a point follows from these.
    repeats : bool
        Whether values occur often enough to tell a jump from noise.
    """

    frequency: np.ndarray
    part: np.ndarray
    table: np.ndarray
    square: np.ndarray
    repeats: bool

    def __len__(self) -> int:
        return len(self.frequency)

    def first(self, n_columns: int) -> Basis:
        """The same with a table of the first few columns only; frequencies of all say what shapes are."""
        return replace(self, table=self.table[:, :n_columns].copy())

    def at(
        self, place: tuple[np.ndarray, np.ndarray], dtype: type = np.float64, n_columns: int | None = None
    ) -> np.ndarray:
        """The columns at located values, linear between points, or the first few; of shape (n, r).

        Each column is in one piece.
        """
        i, w = place
        table: np.ndarray = np.ascontiguousarray(self.table[:, :n_columns].T, dtype=dtype)
        out = table.take(i, axis=1)
        some = np.flatnonzero(w)
        between = slice(None) if 2 * len(some) > len(w) else some
        step = np.diff(table, axis=1, append=table[:, -1:]).take(i[between], axis=1)
        step *= w[between].astype(dtype)
        out[:, between] += step
        return out.T


def _quantiles(middle: np.ndarray, n: int) -> np.ndarray:
    """Positions of about ``n`` values at even ranks, the outermost two included."""
    place = np.searchsorted(middle, np.linspace(0.0, 1.0, n)).clip(0, len(middle) - 1)
    return np.unique(np.concatenate([[0], place, [len(middle) - 1]]))


def _warp(value: np.ndarray, mass: np.ndarray, middle: np.ndarray) -> np.ndarray:
    """Blend of rank and clipped linear scale: heavy tails and gross outliers do not stretch it."""
    if not mass.any():
        return np.zeros(len(value))
    low, high = (float(value[min(int(np.searchsorted(middle, q)), len(value) - 1)]) for q in _CLIP)
    if not high > low:
        low, high = float(value[0]), float(value[-1])
    spread = high - low
    with np.errstate(over="ignore"):
        linear = (value - low) / spread if 0 < spread < np.inf else middle
    return WARP_RANK * middle + (1 - WARP_RANK) * np.clip(linear, -_BEYOND, 1 + _BEYOND)


def _of_levels(mass: np.ndarray, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Eigenfunctions of the kernel of exchangeable levels, and one over the roots of their eigenvalues.

    Centred under the mass π the kernel is k̃ = I - ππᵀ / πᵀπ. With π^{1/2} k̃ π^{1/2} = QDQᵀ the functions are
    π^{-1/2} Q: a prior of variances D of their coefficients makes levels exchangeable.
    """
    root = np.sqrt(np.maximum(mass, _NO_MASS))
    K = np.eye(len(mass)) - np.outer(mass, mass) / float(mass @ mass)
    value, vector = eigh(root[:, None] * K * root, driver="evd", check_finite=False)
    most = min(n_columns, np.count_nonzero(mass > _NO_MASS) - 1)
    keep = np.flatnonzero(value > _SMALLEST * value[-1])[::-1][: max(most, 0)]
    return vector[:, keep] / root[:, None], 1.0 / np.sqrt(value[keep])


def _curves(u: np.ndarray, mass: np.ndarray, n_columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A straight line, then the natural cubic splines of Demmler and Reinsch, and the frequencies of these.

    The splines diagonalise ∫ f''² under the mass, and have no straight line in them. They are the
    eigenfunctions of the covariance ∫ (u - t)₊ (v - t)₊ dt of the integrated Brownian motion without its
    part in lines; their eigenvalues are about (πω)⁻⁴ with ω = 1.5, 2.5, ... on a uniform axis of length one.
    """
    line = u - float(mass @ u) / max(float(mass.sum()), np.finfo(float).tiny)
    size = float(mass @ line**2)
    if len(u) < 2 or not size > 0:
        return np.zeros((len(u), 0)), np.zeros((len(u), 0)), np.empty(0)
    low = np.minimum(u[:, None], u) - u.min()
    high = np.maximum(u[:, None], u) - u.min()
    C = low**2 * (3.0 * high - low) / 6.0
    root = np.sqrt(np.maximum(mass, _NO_MASS))
    N = np.linalg.qr(np.column_stack([root, root * line]))[0]
    A = root[:, None] * C * root
    A -= N @ (N.T @ A)
    A -= (A @ N) @ N.T
    value, vector = eigh((A + A.T) / 2, driver="evd", check_finite=False)
    most = max(min(n_columns - 1, np.count_nonzero(mass > _NO_MASS) - 2), 0)
    keep = np.flatnonzero(value > _SMALLEST * max(value[-1], 1e-300))[::-1][:most]
    curves = vector[:, keep] / root[:, None]
    return line[:, None], curves, np.maximum(value[keep] ** -0.25 / np.pi, 1.0)
