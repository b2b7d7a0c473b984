"""Blocks of a source as numbers: what comes with rows, checked, and features by the columns of training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.data.source import Block
from pellucid.data.table import Column, read_table
from pellucid.data.targets import check_offset
from pellucid.losses import Loss


@dataclass(frozen=True)
class Given:
    """What comes with rows: targets, weights as given, and the known part of the linear predictor."""

    y: np.ndarray
    weight: np.ndarray
    known: np.ndarray

    def at(self, rows: np.ndarray) -> Given:
        """That of some rows."""
        return Given(self.y[rows], self.weight[rows], self.known[rows])

    def and_also(self, other: Given) -> Given:
        """That of these rows and others."""
        pairs = ((self.y, other.y), (self.weight, other.weight), (self.known, other.known))
        return Given(*(np.concatenate(pair) for pair in pairs))


@dataclass(frozen=True)
class Reading:
    """How what comes with rows is to be read.

    Attributes
    ----------
    loss : Loss
        Whose targets they are.
    log_link : bool
        Whether an exposure has a meaning.
    classes : bool
        Whether targets are labels.
    """

    loss: Loss
    log_link: bool = False
    classes: bool = False

    def given(self, block: Block) -> Given:
        """Targets, weights and offsets of a block."""
        n, given = len(block), block.given
        weight = np.ones(n)
        if "sample_weight" in given:
            weight = np.asarray(given["sample_weight"], dtype=np.float64)
            if weight.shape != (n,) or not np.all(np.isfinite(weight)) or np.any(weight < 0):
                raise ValueError("sample_weight must have one finite number per row, none of them negative.")
        known = check_offset(given.get("offset"), given.get("exposure"), n, log_link=self.log_link)
        y = np.asarray(given["y"])
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        if y.shape != (n,):
            raise ValueError(f"y has the shape {y.shape} for {n} rows.")
        if self.classes:
            _check_labels(y)
            return Given(y, weight, known)
        return Given(self.loss.check_targets(y, weight), weight, known)


def _check_labels(y: np.ndarray) -> None:
    if y.dtype.kind == "f" and not np.all(np.isfinite(y)):
        raise ValueError("y holds NaN or infinity: drop rows without a class first.")
    if y.dtype.kind == "O" and any(label is None or label != label for label in y):
        raise ValueError("y holds no class in some rows: drop rows without a class first.")
    if y.dtype.kind == "f" and np.any(y != np.floor(y)):
        raise ValueError("Unknown label type: continuous. y holds numbers that are no classes.")


@dataclass(frozen=True)
class Reader:
    """Blocks as numbers.

    Attributes
    ----------
    reading : Reading
        How what comes with rows is read.
    names : tuple of str
        Names of the features.
    columns : tuple of Column
        What they are.
    classes : ndarray or None
        Classes whose numbers take the place of targets.
    """

    reading: Reading
    names: tuple[str, ...]
    columns: tuple[Column, ...]
    classes: np.ndarray | None = None

    def __call__(self, block: Block) -> tuple[np.ndarray, Given]:
        """Features and what comes with them, of rows of positive weight."""
        given = self.reading.given(block)
        X = read_table(block.X).named(self.names).rows(self.columns)
        used = np.flatnonzero(given.weight > 0)
        if len(used) < len(X):
            X, given = X[used], given.at(used)
        return X, self.numbered(given)

    def numbered(self, given: Given) -> Given:
        """Classes by their numbers."""
        if self.classes is None:
            return given
        number: np.ndarray = np.searchsorted(self.classes, given.y).astype(np.float64)
        return Given(number, given.weight, given.known)


def names_of(names: Sequence[str] | None, n_features: int) -> tuple[str, ...]:
    """Names of features, which matrices do not have."""
    return tuple(names) if names is not None else tuple(f"x{j}" for j in range(n_features))
