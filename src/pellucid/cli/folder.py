"""``pellucid fit`` for a folder of Parquet files: rows that need not fit in memory."""

import time
from typing import Any, Unpack

import pandas as pd

import pellucid
from pellucid.cli import catalog
from pellucid.cli.console import say, show, show_json
from pellucid.cli.errors import UserError, need
from pellucid.cli.explain import global_document
from pellucid.cli.options import Roles
from pellucid.cli.table_spec import TableSpec
from pellucid.cli.task import read_target
from pellucid.data.source_kinds import ParquetSource

_ROWS = 200_000  # from which the task is guessed


def fit_folder(
    folder: str,
    *,
    model: str,
    loss: str | None,
    interactions: Any,
    out: str | None,
    as_json: bool,
    **roles: Unpack[Roles],
) -> None:
    """Fit an additive model to all rows in a folder, tell what it says, and save it."""
    need("pyarrow", "Reading Parquet files")
    if model != "additive":
        raise UserError(f"A folder is for the additive model, and {model!r} was asked for.")
    names = {"y": roles["target"], "sample_weight": roles.get("weights")}
    names |= {key: roles.get(key) for key in ("exposure", "offset")}  # type: ignore[misc]
    given = {role: name for role, name in names.items() if name is not None}
    source = ParquetSource(folder, given, without=roles.get("drop") or ())
    target, seen, n = roles["target"], [], 0
    for piece in source.pieces():
        seen.append(pd.Series(piece.given["y"]))
        n += len(piece)
        if n >= _ROWS:
            break
    column = pd.concat(seen, ignore_index=True).rename(target)
    if column.isna().any():
        raise UserError(f"The target {target!r} is missing in some rows of {folder!r}: drop these first.")
    goal = read_target(column, roles.get("task"), exposure="exposure" in given, loss=loss)
    say(f"Task: {goal.task} of {target} ({goal.why}; --task overrides).")
    options = {"loss": loss, "interactions": interactions, "weights": roles.get("weights_as")}
    estimator = catalog.find(model).make(goal.task, {k: v for k, v in options.items() if v is not None})
    say(f"Rows: {source.n_rows:,} in {folder}; features: {source.n_features}; model: additive.")
    start = time.monotonic()
    with pellucid.settings(verbose=1):
        estimator.fit(source, None)
    seconds = time.monotonic() - start
    kinds = {
        c.name: "category" if c.levels is not None else "date" if c.dates else "number"
        for c in estimator.columns_
    }
    spec = TableSpec(
        model=model,
        task=goal.task,
        target=target,
        columns=kinds,
        weights=given.get("sample_weight"),
        weights_as=roles.get("weights_as"),
        exposure=given.get("exposure"),
        offset=given.get("offset"),
        data=folder,
        rows=source.n_rows or 0,
    )
    if out is not None:
        pellucid.save(estimator, out, notes=spec.to_notes())
    if as_json:
        document = {"model": model, "task": goal.task, "target": target, "data": folder, "rows": spec.rows}
        show_json({**document, "seconds": round(seconds, 3), "file": out, **global_document(estimator)})
        return
    show(str(estimator.summary()))
    say(
        f"Fitted in {seconds:.1f} s"
        + ("; not saved (--out keeps it)." if out is None else f"; saved to {out}.")
    )
