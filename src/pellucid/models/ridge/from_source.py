"""Kernel ridge of rows that come in blocks: a sample of them at hand, and sums over all.

1. One look at all rows finds levels, missing values and classes, and a sample.
2. On the sample the kernel's length-scale, landmarks and alpha are chosen (``kernel_fit/landmark_fit.py``).
3. A pass over all rows takes the sums that determine the coefficients, and another, where these were in
   float32, corrects them in float64.

A table in memory whose rows are more than the sample chooses on the same sample, so it has the same model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from pellucid._settings import current
from pellucid.data.coded import Reader, Reading, names_of
from pellucid.data.first_look import Look, looking
from pellucid.data.passes import Passes
from pellucid.data.rows import check_rows, reads_vectors
from pellucid.data.source import Block, Source, block_rows
from pellucid.data.source_kinds import as_source, is_source
from pellucid.data.table import Column, Table
from pellucid.data.weights import taken_for_precisions
from pellucid.exceptions import NotEnoughMemoryError
from pellucid.linalg import format_bytes
from pellucid.models.kernel_fit.landmark_fit import PROPOSED, landmarks_for
from pellucid.solvers import ITERATIVE_ROWS

R = TypeVar("R")
Codes = Callable[[np.ndarray], np.ndarray]  # from targets, or numbers of classes, to columns

_SQUARES = 12  # matrices of landmarks by landmarks that live at a time
_COPIES = 4  # of the sample
_BESIDE = 200 << 20  # bytes of blocks of the kernel, and of what reads files


def source_of(model: Any, X: Any, y: Any, sample_weight: Any) -> Source | None:
    """The source that ``X`` is; ``None`` for rows that are taken as they are."""
    if not reads_vectors(model.kernel):  # of which a table alone is a source, for the columns named in it
        named = isinstance(y, str) or isinstance(sample_weight, str)
        if not named or is_source(X):
            return None
    return as_source(X, y, sample_weight=sample_weight)


def few_rows(model: Any, source: Source) -> Block | None:
    """All rows, where they are fitted as a table: where they are few, or no vectors."""
    most = ITERATIVE_ROWS
    if not reads_vectors(model.kernel) and source.n_rows is not None:
        most = max(most, source.n_rows)
    return source.first_rows(most)


@dataclass(frozen=True)
class Sample:
    """The rows at hand of a source of many, as a fit takes them."""

    X: np.ndarray
    y: np.ndarray  # targets, or numbers of classes
    weight: np.ndarray
    places: np.ndarray
    classes: np.ndarray | None
    masses: np.ndarray | None  # of the classes, over all rows
    beyond: BlocksBeyond


@dataclass(frozen=True)
class BlocksBeyond:
    """All rows, block by block, with targets as columns in the unit of the fit."""

    source: Source
    passes: Passes
    reader: Reader
    n_rows: int
    unit_of_weight: float
    codes: Codes
    shift: Any = 0.0
    unit: Any = 1.0

    def coded(self, shift: np.ndarray, unit: np.ndarray) -> BlocksBeyond:
        """The same with targets less ``shift``, in ``unit``."""
        return replace(self, shift=shift, unit=unit)

    def total(
        self,
        work: Callable[[np.ndarray, np.ndarray, np.ndarray], R],
        add: Callable[[R, R], R],
        label: str,
    ) -> R:
        """Sum over all blocks of what ``work`` makes of their rows, targets and weights."""
        on_block = _OnBlock(work, self.reader, self.unit_of_weight, self.codes, self.shift, self.unit)
        return self.passes.run(lambda tell: self.source.total(on_block, add, tell), label)


@dataclass(frozen=True)
class _OnBlock:
    """What some work makes of a block; it can be sent to where the block is."""

    work: Callable[[np.ndarray, np.ndarray, np.ndarray], Any]
    reader: Reader
    unit_of_weight: float
    codes: Codes
    shift: Any
    unit: Any

    def __call__(self, block: Block) -> Any:
        X, given = self.reader(block)
        Y = (self.codes(given.y) - self.shift) / self.unit
        return self.work(X, Y, given.weight / self.unit_of_weight)


def enter_source(model: Any, source: Source, reading: Reading) -> Sample:
    """Look at all rows, check them, and take a sample."""
    model._begin()
    _refuse(model, source)
    passes = Passes(current(), f"{model!r} {source.describe()} {source.roles}", source.n_rows)
    check_rows(model, source.head(), model.kernel, reset=True)
    vars(model).pop("levels_", None)  # of the first few rows
    names = names_of(source.names, source.n_features)
    first = looking(reading, ITERATIVE_ROWS, names)
    look: Look = passes.run(lambda tell: source.total(first, Look.plus, tell), "first look")
    if look.n_rows == 0:
        raise ValueError("All entries of sample_weight are zero: no row is left to fit.")
    look = replace(look, sample=look.sample.thinned())
    columns = _numbers(model, look, names)
    classes = look.classes() if reading.classes else None
    mean = float(f"{look.total / look.n_rows:.12g}")  # whatever the order in which it was summed up
    unit = mean if taken_for_precisions(mean, model.weights) else 1.0
    reader = Reader(reading, names, columns, classes)
    given = reader.numbered(look.sample.given)
    return Sample(
        Table(look.sample.cells).rows(columns, complete=True),
        given.y,
        given.weight / unit,
        look.places(),
        classes,
        None if classes is None else np.array([look.labels[c] for c in classes.tolist()]) / unit,
        BlocksBeyond(source, passes, reader, look.n_rows, unit, as_column),
    )


def as_column(y: np.ndarray) -> np.ndarray:
    """Targets as a matrix of one column."""
    return y[:, None]


def _numbers(model: Any, look: Look, names: Sequence[str]) -> tuple[Column, ...]:
    """Columns, all of which must be numbers without gaps."""
    for seen in look.columns:
        if seen.levels is not None or seen.dates:
            raise ValueError(
                f"Column {seen.name!r} holds {seen.kind} in {seen.where}, and kernels of rows that come in "
                f"blocks compare numbers: encode it, leave it out, or take AdditiveKernelRegressor or "
                f"AdditiveKernelClassifier, which read categories and dates."
            )
        if seen.missing:
            raise ValueError(
                f"Input X contains NaN or missing values in column {seen.name!r}. Fill them or drop these "
                f"rows first; the additive machine takes them as they are."
            )
    return tuple(Column(name) for name in names)


def _refuse(model: Any, source: Source) -> None:
    """Raise for what needs all rows at once, and for a limit of memory that is too small."""
    what = type(model).__name__
    if "y" not in source.roles:
        raise ValueError("This estimator requires y to be passed: the name of a column, or an array.")
    if model.solver not in ("auto", "landmarks"):
        raise ValueError(
            f"solver={model.solver!r} needs all rows in memory, and of rows that come in blocks there may be "
            f"{ITERATIVE_ROWS} then: use solver='landmarks', or pass a table of a sample of them."
        )
    if getattr(model, "updatable", False):
        raise ValueError(
            "updatable=True needs rows in memory: fit a table of the first rows, and give the others to "
            "update(X, y) one table after another."
        )
    need, limit = memory_needed(source.n_features, source.n_rows, model.n_components), current().most_memory
    if need > limit:
        raise NotEnoughMemoryError(
            f"A fit of {what} to rows of {source.n_features} features takes about {format_bytes(need)} of "
            f"memory, and {format_bytes(limit)} may be used: allow pellucid.settings(memory_limit="
            f"'{-(-need // 10_000_000) * 10}MB'), the smallest that would do, or ask for fewer landmarks "
            f"(n_components)."
        )


def memory_needed(n_features: int, n_rows: int | None, n_components: int | None) -> int:
    """Bytes that a fit takes: the sample, sums over landmarks, and a block of rows at a time."""
    m = landmarks_for(n_rows or 10**12, n_components)
    sample = ITERATIVE_ROWS * (n_features + 8) * 8 * _COPIES
    block = block_rows(n_features) * (n_features + 4) * 8 * 5
    return sample + (_SQUARES + PROPOSED) * m * m * 8 + block + _BESIDE
