"""Which task a target sets: regression, classification or counts, guessed by one documented rule."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from pellucid.cli.errors import UserError
from pellucid.cli.kinds import Told, as_text, understand
from pellucid.data.cells import level_name
from pellucid.losses import REGISTRY

_MANY_CLASSES = 100
_MANY_SCORES = 20  # different numbers with decimals that may still be classes, such as 0.5, 1, 1.5
_TASK_OF_LOSS = {
    name: {"counts": "counts", "classification": "classification", "ordinal": "classification"}.get(
        loss.kind, "regression"
    )
    for name, loss in REGISTRY.items()
    if name != "squared"
}
_FEW = 12  # whole numbers with so few different values may be codes of classes


@dataclass(frozen=True)
class Target:
    """A target ready for a model, the task, and why it was taken for that task."""

    values: np.ndarray
    task: str
    why: str
    hint: str = ""


def read_target(
    column: pd.Series,
    task: str | None = None,
    *,
    exposure: bool = False,
    loss: str | None = None,
    comma: bool = False,
) -> Target:
    """Read a target without missing values and decide on the task, unless ``task`` says it.

    A loss says what the target is. Else text, truth values and anything with two different values are
    classes. Whole numbers from zero up are counts if there is an exposure, or if more than half of them are
    zero. All other numbers are regression.

    Examples
    --------
    >>> (
    ...     read_target(pd.Series([0, 0, 0, 1, 3])).task,
    ...     read_target(pd.Series([0.5, 1.5, 2.5])).task,
    ... )
    ('counts', 'regression')
    >>> read_target(pd.Series(["yes", "no"])).task, read_target(pd.Series([1, 2, 2])).task
    ('classification', 'classification')
    """
    name = str(column.name)
    told = understand(column, comma=comma)
    if told.values.nunique() < 2:
        only = level_name(told.values.iloc[0])
        raise UserError(f"The target {name!r} has the same value, {only}, in every row: nothing to predict.")
    why, stated = "as --task says", task is not None
    if task is None and loss in _TASK_OF_LOSS:
        task, why = _TASK_OF_LOSS[loss], "as --loss says"
    if task == "classification":
        return Target(_classes(told, column), task, why)
    if task is not None:
        values = _numbers(told, name, f"--task {task}" if stated else f"--loss {loss}")
        if task == "counts":
            _check_counts(values, name)
        return Target(values, task, why)
    return _guess(told, column, name, exposure)


def _guess(told: Told, column: pd.Series, name: str, exposure: bool) -> Target:
    if told.strange:
        raise UserError(
            f"The target {name!r} mixes numbers and text such as {told.strange[0]!r} ({told.n_strange} of "
            f"{len(column)} rows): correct these, or say --task classification."
        )
    if told.kind == "date":
        raise UserError(f"The target {name!r} holds dates, which cannot be predicted; give it as a number.")
    if told.kind in ("category", "boolean"):
        k = int(told.values.nunique())
        if k > _MANY_CLASSES:
            raise UserError(
                f"The target {name!r} is text with {k} different values: is this the right column? If so, "
                f"say --task classification."
            )
        what = "true or false" if told.kind == "boolean" else f"text with {k} different values"
        return Target(_classes(told, column), "classification", f"it is {what}")
    values = told.values.to_numpy(dtype=float)
    distinct = np.unique(values)
    whole = bool(np.all(values == np.round(values)) and distinct[0] >= 0)
    if exposure:
        _check_counts(values, name)
        return Target(values, "counts", "there is an exposure")
    if len(distinct) == 2:
        return Target(_classes(told, column), "classification", "it has two different values")
    if whole and np.mean(values == 0) > 0.5:
        return Target(values, "counts", "whole numbers from zero up, more than half of them zero")
    hint = ""
    if whole and len(distinct) <= _FEW:
        hint = (
            f"{name} has {len(distinct)} different whole numbers; if they are codes of classes, say "
            f"--task classification, and if they are counts, --task counts."
        )
    return Target(values, "regression", "it is numeric", hint)


def _classes(told: Told, column: pd.Series) -> np.ndarray:
    """Classes as whole numbers, truth values or text."""
    if told.kind == "boolean" and pd.api.types.is_bool_dtype(column):
        return told.values.to_numpy(dtype=bool)
    if told.kind == "number":
        numbers = told.values.to_numpy(dtype=float)
        whole, distinct = bool(np.all(numbers == np.round(numbers))), len(np.unique(numbers))
        if (distinct > _MANY_SCORES and not whole) or distinct > max(_MANY_CLASSES, len(numbers) / 2):
            raise UserError(
                f"The target {str(column.name)!r} is continuous, {distinct} different numbers in "
                f"{len(numbers)} rows: say --task regression, or give classes."
            )
        if whole:
            return numbers.astype(np.int64)
    return as_text(column).to_numpy(dtype=object).astype(str)


def _numbers(told: Told, name: str, what: str) -> np.ndarray:
    if told.kind not in ("number", "boolean"):
        example = told.strange[0] if told.strange else told.values.iloc[0]
        raise UserError(f"{what} needs numbers, and the target {name!r} holds {str(example)!r}.")
    return told.values.to_numpy(dtype=float)


def _check_counts(values: np.ndarray, name: str) -> None:
    bad = values[(values < 0) | ~np.isfinite(values)]
    if len(bad):
        raise UserError(f"Counts cannot be below zero, and the target {name!r} holds {bad[0]:g}.")
