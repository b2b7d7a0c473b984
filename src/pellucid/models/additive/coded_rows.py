"""All rows of a source as problems of the engine, block by block, in the units of the fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from pellucid.data.coded import Given, Reader
from pellucid.data.passes import Passes
from pellucid.data.source import Block, Source
from pellucid.losses import Loss
from pellucid.models.additive.engine.state import Problem

R = TypeVar("R")


@dataclass(frozen=True)
class ToProblem:
    """Blocks as problems: numbers, in the units of the fit."""

    reader: Reader
    loss: Loss
    unit: float = 1.0
    weight: float = 1.0

    def __call__(self, block: Block) -> Problem:
        """The problem of a block."""
        return self.of(*self.reader(block))

    def of(self, X: np.ndarray, given: Given) -> Problem:
        """The problem of rows that were read."""
        return Problem(X, given.y / self.unit, given.weight / self.weight, given.known / self.unit, self.loss)


@dataclass(eq=False)
class CodedRows:
    """All rows as problems, block by block; kept from pass to pass where they fit in memory."""

    source: Source
    passes: Passes
    to_problem: ToProblem
    n_rows: int
    keep: bool
    _held: list[Problem] = field(default_factory=list)

    def total(self, work: Callable[[Problem], R], add: Callable[[R, R], R], label: str) -> R:
        """Sum of what ``work`` makes of each block."""
        adding = partial(_sum_of_some, add)
        if self.keep and sum(map(len, self._held)) == self.n_rows:
            return self.passes.run(partial(_over, self._held, work, adding), label)
        self._held = []
        held = self._held if self.keep else None
        on_block = partial(_on_block, self.to_problem, work, held)
        return self.passes.run(lambda tell: self.source.total(on_block, adding, tell), label)


@dataclass(frozen=True)
class OfClass:
    """The rows of one output: its class against the rest."""

    rows: CodedRows
    number: int

    def total(self, work: Callable[[Problem], R], add: Callable[[R, R], R], label: str) -> R:
        """Sum of what ``work`` makes of each block."""
        return self.rows.total(partial(_of_class, self.number, work), add, label)


def _on_block(
    to_problem: ToProblem, work: Callable[[Problem], R], held: list[Problem] | None, block: Block
) -> R | None:
    problem = to_problem(block)
    if held is not None:
        held.append(problem)
    return work(problem) if len(problem) else None


def _over(
    problems: Sequence[Problem],
    work: Callable[[Problem], R],
    add: Callable[[R | None, R | None], R | None],
    tell: Callable[[int], None],
) -> Any:
    total = None
    for problem in problems:
        if len(problem):
            total = add(total, work(problem))
        tell(len(problem))
    return total


def _of_class(number: int, work: Callable[[Problem], R], problem: Problem) -> R:
    return work(replace(problem, y=(problem.y == number).astype(float)))


def _sum_of_some(add: Callable[[R, R], R], a: R | None, b: R | None) -> Any:
    return b if a is None else a if b is None else add(a, b)
