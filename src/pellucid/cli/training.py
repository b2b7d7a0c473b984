"""From a table and the names of its columns to what a model is fitted on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from pellucid.cli.console import say, warn
from pellucid.cli.errors import UserError
from pellucid.cli.formula import check_objects, columns_read, read_formula
from pellucid.cli.kinds import as_text, understand
from pellucid.cli.table_spec import TableSpec, no_column, numbers_of
from pellucid.cli.tables import Source
from pellucid.cli.task import Target, read_target
from pellucid.effects.summary import counted
from pellucid.kernels.structured.parse import Formula


@dataclass(frozen=True)
class Training:
    """Rows to learn from: features by kind, target with task, weights, exposure and offset."""

    X: pd.DataFrame
    kinds: dict[str, str]
    target: Target
    weight: np.ndarray | None
    known: dict[str, np.ndarray]
    spec: TableSpec
    formula: Formula | None = None

    def __len__(self) -> int:
        return len(self.X)

    def part(
        self, rows: np.ndarray
    ) -> tuple[pd.DataFrame, np.ndarray, np.ndarray | None, dict[str, np.ndarray]]:
        """Features, target, weights, and exposure and offset of some rows."""
        weight = None if self.weight is None else self.weight[rows]
        return (
            self.X.iloc[rows].reset_index(drop=True),
            self.target.values[rows],
            weight,
            {key: values[rows] for key, values in self.known.items()},
        )


def training_rows(
    source: Source,
    target: str,
    *,
    task: str | None = None,
    weights: str | None = None,
    weights_as: str | None = None,
    exposure: str | None = None,
    offset: str | None = None,
    drop: Sequence[str] | None = None,
    event: str | None = None,
    loss: str | None = None,
    kernel: str | None = None,
) -> Training:
    """Take a table apart, and say on standard error how it was understood."""
    if weights_as is not None and weights is None:
        raise UserError("--weights-as says how weights are read: name their column with --weights.")
    if (event is not None) != (loss == "cox"):
        raise UserError("--loss cox goes with --event, the column that says which times are those of events.")
    roles = {"target": target, "weights": weights, "exposure": exposure, "offset": offset, "event": event}
    for name in (*roles.values(), *(drop or ())):
        if name is not None and name not in source.frame.columns:
            raise UserError(no_column(source, name))
    source = with_target(source, target)
    goal = read_target(
        source.frame[target], task, exposure=exposure is not None, loss=loss, comma=source.comma
    )
    say(f"Task: {goal.task} of {target} ({goal.why}; --task overrides).")
    if goal.hint:
        warn(goal.hint)
    if event is not None:
        goal = replace(goal, values=_signed(goal.values, numbers_of(source, event, "event"), target))
    weight = None if weights is None else numbers_of(source, weights, "weights")
    known = {
        key: numbers_of(source, name, key)
        for key, name in (("exposure", exposure), ("offset", offset))
        if name is not None
    }
    aside = {name for name in roles.values() if name is not None} | set(drop or ())
    names = [name for name in source.frame.columns if name not in aside]
    formula = None if kernel is None else read_formula(kernel, names)
    read = {} if formula is None else columns_read(formula.kernel())
    X, kinds = _read_by_kernel(source, read) if read else _features(source, names)
    if formula is not None:
        check_objects(formula.kernel(), X)
    spec = TableSpec(
        task=goal.task,
        target=target,
        columns=kinds,
        weights=weights,
        weights_as=weights_as,
        exposure=exposure,
        offset=offset,
        data=source.name,
        rows=len(X),
        kernel=kernel or "",
    )
    return Training(X, kinds, goal, weight, known, spec, formula)


def _signed(times: np.ndarray, event: np.ndarray, target: str) -> np.ndarray:
    """Times with a minus sign where there was no event."""
    if not np.all(np.isin(event, (0.0, 1.0))):
        raise UserError("The column of --event must hold 0 and 1, or false and true.")
    if np.any(times < 0):
        raise UserError(f"Times must not be negative, and {target!r} holds {times.min():g}.")
    return np.where(event > 0, times, -times)


def with_target(source: Source, target: str) -> Source:
    """The rows in which the target is known; an empty cell, and a word for nothing among numbers, is not."""
    present = understand(source.frame[target], comma=source.comma).values.notna()
    if not present.any():
        raise UserError(f"The target {target!r} is empty in every row.")
    if present.all():
        return source
    gone = int((~present).sum())
    say(f"{counted(gone, 'row')} without {target} {'was' if gone == 1 else 'were'} left out.")
    return replace(source, frame=source.frame[present].reset_index(drop=True))


def _features(source: Source, names: Sequence[str]) -> tuple[pd.DataFrame, dict[str, str]]:
    made: dict[str, pd.Series] = {}
    kinds: dict[str, str] = {}
    empty = []
    for name in names:
        told = understand(source.frame[name], comma=source.comma)
        if told.values.isna().all():
            empty.append(name)
            continue
        if told.strange:
            examples = ", ".join(repr(v) for v in told.strange)
            warn(
                f"{name} is taken as categories because {told.n_strange} of its {len(told.values)} values "
                f"are no numbers: {examples}."
            )
        n = len(told.values)
        if told.kind == "category" and n >= 50 and told.values.nunique() > 0.9 * n:
            warn(f"{name} holds a different text in nearly every row; --drop it if it is only a label.")
        made[name], kinds[name] = told.values, told.kind
    if empty:
        say(f"Left out, as they are empty: {', '.join(empty)}.")
    if not made:
        raise UserError(f"{source.name!r} has no column left to predict from.")
    return pd.DataFrame(made), kinds


def _read_by_kernel(source: Source, read: dict[str, str]) -> tuple[pd.DataFrame, dict[str, str]]:
    """The columns that a kernel names: text as it is, levels, or numbers."""
    made: dict[str, pd.Series] = {}
    kinds: dict[str, str] = {}
    for name, what in read.items():
        told = understand(source.frame[name], comma=source.comma)
        if what != "numbers":
            made[name], kinds[name] = as_text(source.frame[name]), "text" if what == "text" else "category"
        elif told.kind == "category":
            bad = told.strange[0] if told.strange else told.values.dropna().iloc[0]
            raise UserError(f"--kernel reads {name!r} as numbers, and it holds {str(bad)!r}.")
        else:
            made[name], kinds[name] = told.values, told.kind
    return pd.DataFrame(made), kinds


def held_out_rows(training: Training, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random rows to fit on and to score on; classes with two rows or more are shared out evenly."""
    from sklearn.model_selection import train_test_split

    y = training.target.values
    stratify = None
    if training.target.task == "classification":
        counts = np.unique(y, return_counts=True)[1]
        n_test = int(np.ceil(share * len(y)))
        if counts.min() >= 2 and min(n_test, len(y) - n_test) >= len(counts):
            stratify = y
    try:
        train, test = train_test_split(
            np.arange(len(y)), test_size=share, random_state=seed, stratify=stratify
        )
    except ValueError:
        raise UserError(f"{len(y)} rows are too few to hold some out; say --split 0.") from None
    if len(np.unique(y[train])) < 2:
        raise UserError("The rows to fit on hold one class only; there are too few rows: say --split 0.")
    return np.sort(train), np.sort(test)
