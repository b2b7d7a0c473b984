"""All rows of a fit that are not at hand: what a problem says of them is a sum over blocks.

A linear predictor of such rows is no vector but a rule, η = a·offset + b + Σ Zβ, that every block applies to
its own rows. With it the code that fits rows in memory fits these, too: one pass over the rows for each
sum that it asks for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from pellucid.features.term_basis import TermBasis
from pellucid.linalg.moments import Moments
from pellucid.losses import Loss
from pellucid.models.additive.engine.design import moments_at
from pellucid.models.additive.engine.state import Fitted, Problem

R = TypeVar("R")

_STEPS = 50  # passes that the best constant beside an offset may take


class Blocks(Protocol):
    """Rows that come in blocks."""

    def total(self, work: Callable[[Problem], R], add: Callable[[R, R], R], label: str) -> R:
        """Sum of what ``work`` makes of each block; the ``label`` says what it is, and tells passes apart."""


@dataclass(frozen=True, eq=False)
class Eta:
    """A linear predictor of rows that are not at hand: a·offset + b + Σ Zβ.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    offset, constant : float
        a and b.
    parts : tuple of pairs of TermBasis and ndarray
        Columns Z and coefficients β.
    """

    n_rows: int
    offset: float = 0.0
    constant: float = 0.0
    parts: tuple[tuple[TermBasis, np.ndarray], ...] = ()

    def __len__(self) -> int:
        return self.n_rows

    def __add__(self, other: Eta | float) -> Eta:
        if not isinstance(other, Eta):
            return replace(self, constant=self.constant + other)
        parts = list(self.parts)
        for basis, beta in other.parts:
            same = [k for k, (mine, _) in enumerate(parts) if mine is basis]
            if same:
                parts[same[0]] = basis, parts[same[0]][1] + beta
            else:
                parts.append((basis, beta))
        left = tuple((basis, beta) for basis, beta in parts if np.any(beta))
        return Eta(self.n_rows, self.offset + other.offset, self.constant + other.constant, left)

    __radd__ = __add__

    def __mul__(self, factor: float) -> Eta:
        parts = tuple((basis, factor * beta) for basis, beta in self.parts)
        return Eta(self.n_rows, factor * self.offset, factor * self.constant, parts)

    __rmul__ = __mul__

    def __sub__(self, other: Eta) -> Eta:
        return self + -1.0 * other

    def at(self, rows: Problem, dtype: type | None = None) -> np.ndarray:
        """The predictor at rows in memory."""
        out: np.ndarray = self.offset * rows.offset + self.constant
        for basis, beta in self.parts:
            out = out + rows.design(basis, dtype).times(beta)
        return out


Vector = Any
"""One number per row: an array, or the :class:`Eta` of rows that are not at hand."""


@dataclass(frozen=True, eq=False)
class AllRows(Fitted):
    """What is fitted to rows that come in blocks.

    Attributes
    ----------
    blocks : Blocks
        The rows.
    at_hand : Problem
        Rows in memory that stand for all.
    loss : Loss
        The loss.
    n_rows : int
        Number of rows of positive weight.
    total : float
        Sum of the weights.
    low, high : float
        Smallest and largest target.
    mean : float or None
        Mean of the targets, if no row has an offset.
    places : ndarray
        Place among all rows of each row at hand.
    given_total : float
        Sum of the weights as they were given.
    name : str
        Of the output, to tell its passes from those of others.
    """

    blocks: Blocks
    at_hand: Problem
    loss: Loss
    n_rows: int
    total: float
    low: float
    high: float
    mean: float | None
    places: np.ndarray
    given_total: float
    name: str = ""
    _seen: deque[tuple[Eta, Survey]] = field(default_factory=lambda: deque(maxlen=3))
    _constant: list[float] = field(default_factory=list)

    def __len__(self) -> int:
        return self.n_rows

    @property
    def informative(self) -> float:
        """Observations that tell of the noise, as the rows at hand have them: copies do not."""
        return self.at_hand.informative * self.total / max(self.at_hand.total, 1e-300)

    @property
    def dtype(self) -> type:
        """Double precision: sums are the same whatever the blocks."""
        return np.float64

    @property
    def varies(self) -> bool:
        """Whether the targets differ at all."""
        return self.low < self.high

    @property
    def offset(self) -> Vector:
        """The offset of each row."""
        return Eta(self.n_rows, 1.0)

    @property
    def constant(self) -> float:
        """The best constant beside the offset."""
        if not self._constant:
            self._constant.append(self._best_constant())
        return self._constant[0]

    @property
    def null_predictor(self) -> Vector:
        """Offset and the best constant."""
        return self.offset + self.constant

    def _best_constant(self) -> float:
        start = self.at_hand.constant
        if not self.varies:
            return start
        if self.mean is not None and self.loss.name in _OF_MEAN:
            return float(self.loss.predictor(self.mean))
        for _ in range(_STEPS):  # Newton: the loss is convex, and the sample is near
            slope, curvature = self._total(partial(_slope_and_curvature, self.offset + start), "constant")
            step = slope / max(curvature, 1e-300)
            start -= float(np.clip(step, -3.0, 3.0))
            if abs(step) < 1e-12 * max(abs(start), 1.0):
                break
        return start

    def value(self, eta: Vector) -> float:
        """Sum of the losses."""
        return self.survey(eta).value

    def curvature(self, eta: Eta) -> float:
        """Sum of the curvatures of the quadratic that touches the loss."""
        return self.survey(eta).curvature

    def survey(self, eta: Eta) -> Survey:
        """Loss and curvature at a predictor; the last few are remembered."""
        for known, survey in self._seen:
            if known is eta:
                return survey
        survey = self._total(partial(_survey, eta, self.dtype), "loss", Survey.plus)
        self._seen.append((eta, survey))
        return survey

    def design(self, basis: TermBasis) -> BlockDesign:
        """Products with the columns of a basis at the rows."""
        return BlockDesign(self, basis)

    def beside(self, eta: Eta) -> AllRows:
        """Itself: losses of these rows have no inner parameters."""
        return self

    def moments(
        self, basis: TermBasis, eta: Eta, dtype: type | None = None, *, expected: bool = True
    ) -> Moments:
        """Moments of the quadratic that touches the loss at a predictor."""
        largest = None if self.quadratic else self.survey(eta).largest
        work = partial(_moments, basis, eta, largest, self.dtype if dtype is None else dtype, expected)
        return self._total(work, "sums of products", Moments.plus)

    def takes(self, eta: Vector) -> bool:
        """Whether a predictor is one of these rows, and not of those at hand."""
        return isinstance(eta, Eta)

    def here(self, eta: Eta) -> np.ndarray:
        """A predictor at the rows that are at hand."""
        return eta.at(self.at_hand, self.dtype)

    def _total(self, work: Callable[[Problem], R], label: str, add: Callable[[R, R], R] | None = None) -> R:
        return self.blocks.total(work, _add if add is None else add, f"{self.name}{label}")


def adds_up(loss: Loss) -> bool:
    """Whether all that a fit with a loss asks of its rows are sums over them, one after the other."""
    if loss.name == "squared":
        return True
    plain = loss.smooth and not (loss.joint or loss.multiclass or loss.is_open or loss.degree)
    return plain and loss.link in ("log", "logit") and loss.kind != "proportions"


_OF_MEAN = ("squared", "logistic", "poisson", "gamma", "tweedie")
"""Losses whose best constant without offset is the link of the mean."""


class BlockDesign:
    """Products with the design of a basis at rows that come in blocks."""

    def __init__(self, problem: AllRows, basis: TermBasis) -> None:
        self._problem, self._basis = problem, basis

    def times(self, beta: np.ndarray) -> Vector:
        """Zβ."""
        return Eta(len(self._problem), 0.0, 0.0, ((self._basis, beta),))

    def slopes(self, eta: Eta) -> tuple[np.ndarray, float]:
        """Zᵀs and Σs for the slopes s of the loss at a predictor."""
        work = partial(_slopes, self._basis, eta, self._problem.dtype)
        return self._problem._total(work, "slope of the loss")


Rows = Problem | AllRows
"""What is fitted: rows in memory, or rows that come in blocks."""


# -------------------------------------------------------------------- sums over one block


@dataclass(frozen=True)
class Survey:
    """Loss and curvature of rows at a predictor."""

    value: float
    deviance: float
    curvature: float
    largest: float

    def plus(self, other: Survey) -> Survey:
        """Those of these rows and others."""
        return Survey(
            self.value + other.value,
            self.deviance + other.deviance,
            self.curvature + other.curvature,
            max(self.largest, other.largest),
        )


def _survey(eta: Eta, dtype: type, block: Problem) -> Survey:
    at = eta.at(block, dtype)
    loss, y, w = block.loss, block.y, block.weight
    if block.quadratic:
        return Survey(block.value(at), float(w @ loss.deviance(y, at)), block.total, 1.0)
    largest = float(loss.curvature(y, at).max())
    curvature = float(block.working(at)[0].sum())
    return Survey(block.value(at), float(w @ loss.deviance(y, at)), curvature, largest)


def _moments(
    basis: TermBasis, eta: Eta, largest: float | None, dtype: type, expected: bool, block: Problem
) -> Moments:
    at = block.offset if block.quadratic else eta.at(block, dtype)
    return moments_at(block, basis, *block.working(at, largest, expected=expected), dtype)


def _slopes(basis: TermBasis, eta: Eta, dtype: type, block: Problem) -> tuple[np.ndarray, float]:
    return block.design(basis, dtype).slopes(eta.at(block, dtype))


def _slope_and_curvature(eta: Eta, block: Problem) -> tuple[float, float]:
    at = eta.at(block)
    loss, y, w = block.loss, block.y, block.weight
    return float(w @ loss.gradient(y, at)), float(w @ loss.curvature(y, at))


def _add(a: R, b: R) -> R:
    return tuple(x + y for x, y in zip(a, b, strict=True))  # type: ignore[call-overload, return-value]
