"""Targets as an additive model fits them: one column per output, each in a unit of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.data.outcomes import enter_outcome
from pellucid.data.targets import as_target, check_targets
from pellucid.losses import Expectile, Huber, Loss, Quantile
from pellucid.losses.constant import weighted_quantile

_TOO_LARGE = 1e120
_NORMAL = 1.349  # standard deviations between the quartiles of a normal distribution


class Targets(NamedTuple):
    """Targets of shape (n, outputs), weights that go with them, and names of several outputs."""

    columns: np.ndarray
    weight: np.ndarray
    names: list[str]
    losses: Sequence[Loss]

    def __len__(self) -> int:
        return len(self.columns)


def enter_targets(
    y: Any, table: Any, weight: np.ndarray, losses: Sequence[Loss], *, levels: bool, new: bool
) -> Targets:
    """Targets for losses that are one, one per level of the same target, or one per target.

    A ``new`` model has as many targets as there are; one that is fitted again keeps their number.
    """
    loss = losses[0]
    target: Any = () if y is None else as_target(y, one=False)
    shape = shape_of(target)
    if loss.kind not in ("survival", "proportions") and not levels and len(shape) == 2 and shape[1] > 1:
        Y, known = check_targets(target, table), getattr(target, "columns", None)
        names = [f"y{k}" for k in range(shape[1])] if known is None else [str(name) for name in known]
        every = list(losses) if len(losses) == shape[1] else list(losses) * shape[1]
        if len(every) != shape[1] or not (new or len(losses) == shape[1]):
            raise ValueError(f"The model has {len(losses)} targets, and y has {shape[1]} columns.")
        return Targets(np.column_stack([loss.check_targets(v, weight) for v in Y.T]), weight, names, every)
    if len(losses) > 1 and not levels:
        raise ValueError(f"The model has {len(losses)} targets: y must have as many columns.")
    column, weight = enter_outcome(y, table, weight, loss)
    names = [f"{one.level:g}" for one in losses if isinstance(one, Quantile | Expectile)]
    columns = np.repeat(column[:, None], len(losses), axis=1)
    return Targets(columns, weight, names if len(losses) > 1 else [], losses)


def shape_of(y: Any) -> tuple[int, ...]:
    """Shape of targets, also of those that only become an array."""
    shape: tuple[int, ...] = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    return shape


def units(Y: np.ndarray, known: np.ndarray, weight: np.ndarray, loss: Loss) -> np.ndarray:
    """Unit of each column of targets, beside what is known of them; one where targets have none."""
    if not loss.degree:
        return np.ones(Y.shape[1])
    unit = np.array([_unit(y - known, weight, loss) for y in Y.T])
    if not np.all((unit > 1.0 / _TOO_LARGE) & (unit < _TOO_LARGE)):
        worst = unit[np.argmax(np.abs(np.log(unit)))]
        raise ValueError(
            f"Targets vary by {worst:.1g}, and powers of that are beyond the numbers: choose another unit."
        )
    return unit


def _unit(y: np.ndarray, weight: np.ndarray, loss: Loss) -> float:
    """Spread of targets; for losses that outliers leave cold, one that they leave cold too."""
    if isinstance(loss, Huber | Quantile):
        low, high = (weighted_quantile(y, weight, level) for level in (0.25, 0.75))
        if high > low:
            return high / _NORMAL - low / _NORMAL
    return _spread(y, weight)


def _spread(y: np.ndarray, weight: np.ndarray) -> float:
    """Standard deviation; the size of a constant, 1 for zero."""
    top = float(np.max(np.abs(y)))
    if top == 0:
        return 1.0
    mean = top * float(weight @ (y / top)) / float(weight.sum())
    size = float(np.max(np.abs(y - mean)))
    if size <= 1e-14 * top:
        return top
    return size * float(np.sqrt(weight @ ((y - mean) / size) ** 2 / weight.sum()))
