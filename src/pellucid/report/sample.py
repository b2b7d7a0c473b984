"""The rows a report is about: features column by column, targets, weights, and what is known of each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, check_consistent_length

from pellucid.data.cells import Cells
from pellucid.data.outcomes import pairs_as_one
from pellucid.data.roles import table_in_memory
from pellucid.data.table import collected, without_roles
from pellucid.data.weights import check_weight
from pellucid.effects.outcome_measures import losses_of
from pellucid.effects.summary import counted
from pellucid.report.columns import fingerprint, read_columns


def cells_of(columns: Sequence[Cells], rows: np.ndarray) -> list[list[Any]]:
    """Some rows, each as the list of its values."""
    return [list(row) for row in zip(*(column.plain(rows) for column in columns), strict=True)]


@dataclass(frozen=True)
class Sample:
    """The rows of a report that have a target."""

    X: Any
    y: np.ndarray
    weight: np.ndarray
    known: dict[str, np.ndarray]
    """``offset`` and ``exposure``, as far as they were given."""
    columns: list[Cells]
    """The features; empty if the rows are no table, or not the model's features."""
    numbers: np.ndarray
    """Numbers of the rows in the table that was given."""
    notes: list[str]
    """What was done to the rows, in sentences."""

    def __len__(self) -> int:
        return len(self.y)

    @property
    def amount(self) -> np.ndarray:
        """By what a rate is multiplied in each row: exposure times the exponential of the offset."""
        ones = np.ones(len(self))
        return self.known.get("exposure", ones) * np.exp(self.known.get("offset", 0.0 * ones))

    @property
    def digest(self) -> str:
        """SHA-256 of the data."""
        if self.columns:
            return fingerprint(self.columns, self.y)
        return fingerprint([Cells.of_levels("rows", map(repr, self.X))], self.y)  # no table: their text


def read_sample(model: Any, X: Any, y: Any, **given: Any) -> Sample:
    """Take the rows that have a target; ``given`` holds weights, offset and exposure or ``None``."""
    X, known = table_in_memory(X, y=y, **given)
    targets, sample_weight = np.asarray(collected(known.pop("y"), "y")), known.pop("sample_weight", None)
    X = without_roles(model, X)
    check_consistent_length(X, targets)
    n = len(targets)
    weight = check_weight(sample_weight, n)
    losses = losses_of(model)
    if losses and (targets.dtype.names or targets.ndim == 2):  # times and events, successes and failures
        targets, weight = pairs_as_one(targets, weight, losses[0])
    given = {key: np.broadcast_to(np.asarray(v, float), n) for key, v in known.items() if v is not None}
    cells = targets.reshape(n, -1)
    if targets.dtype == object:
        gone = np.array([[value is None or value != value for value in row] for row in cells]).any(axis=1)
    else:
        gone = np.isnan(cells).any(axis=1) if targets.dtype.kind == "f" else np.zeros(n, dtype=bool)
    numbers, notes = np.flatnonzero(~gone), []
    if not len(numbers):
        raise ValueError("y has no value in any row: there is nothing to compare predictions with.")
    if gone.any():
        verb = "was" if gone.sum() == 1 else "were"
        notes.append(f"{counted(int(gone.sum()), 'row')} without a target {verb} left out.")
        X, targets, weight = _safe_indexing(X, numbers), targets[numbers], weight[numbers]
        given = {key: values[numbers] for key, values in given.items()}
        check_weight(weight, len(weight))
    return Sample(X, targets, weight, given, read_columns(X, model), numbers, notes)
