"""``pellucid diff``: what changed from one saved model to another, on the rows of a table."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from pellucid.cli.console import show, show_json, show_table, working
from pellucid.cli.errors import UserError
from pellucid.cli.kinds import understand
from pellucid.cli.stored import Stored, load_model
from pellucid.cli.table_spec import no_column
from pellucid.cli.tables import Source, read_table
from pellucid.cli.tally import targets
from pellucid.cli.training import with_target
from pellucid.effects.comparison import ModelComparison


def diff_command(
    old: str,
    new: str,
    table: str,
    *,
    target: str | None,
    group: str | None,
    top: int,
    sheet: str | None,
    as_json: bool,
) -> None:
    """Tell how two models differ."""
    first, second = load_model(old), load_model(new)
    source = read_table(table, sheet=sheet)
    name = _target_name(second, source, target)
    if name is not None:
        source = with_target(source, name)
    rows = _joined(first.rows(source), second.rows(source))
    if rows is None:
        raise UserError(
            f"{first.name!r} and {second.name!r} take the same columns differently: fit both on tables with "
            f"the same features."
        )
    known = _known(first, second, source)
    y = None if name is None else targets(second, source.frame[name], comma=source.comma)
    groups = None
    if group is not None:
        if group not in source.frame.columns:
            raise UserError(no_column(source, group))
        if y is None:
            raise UserError("--group compares predictions with targets: name their column with --target.")
        groups = source.frame[group].astype(str).to_numpy()
    from pellucid import compare

    with working("comparing the models"):
        found = compare(first.model, second.model, rows, y, groups=groups, top=top, **known)
    if as_json:
        show_json(_document(found))
        return
    show(found.headline())
    for note in found.notes:
        show(note)
    for title, head, lines in found.tables(top):
        show("")
        show_table(head, _from_one(head, lines), title=title)


def _joined(a: Any, b: Any) -> Any:
    """Rows with the columns of both models, if those that both take are the same; else nothing."""
    if not (isinstance(a, pd.DataFrame) and isinstance(b, pd.DataFrame)):
        return b if type(a) is type(b) and a.shape == b.shape else None
    shared = [name for name in a.columns if name in b.columns]
    return b.join(a.drop(columns=shared)) if a[shared].equals(b[shared]) else None


def _known(first: Stored, second: Stored, source: Source) -> dict[str, np.ndarray]:
    a, b = first.known(source), second.known(source)
    if sorted(a) != sorted(b) or any(not np.array_equal(a[key], b[key]) for key in a):
        raise UserError("One of the models has an exposure or offset that the other has not.")
    return b


def _target_name(stored: Stored, source: Source, target: str | None) -> str | None:
    """The column of targets, if the table has one."""
    name = target or (stored.spec.target if stored.spec is not None else None)
    if name is None or (target is None and name not in source.frame.columns):
        return None
    if name not in source.frame.columns:
        raise UserError(no_column(source, name))
    if (
        target is None and understand(source.frame[name]).values.isna().all()
    ):  # a form that is still to be filled in
        return None
    return name


def _from_one(head: list[str], lines: list[list[str]]) -> list[list[str]]:
    """Rows counted from 1, as everywhere on the command line."""
    at = next((i for i, title in enumerate(head) if title in ("row", "at row")), None)
    if at is None:
        return lines
    return [[*line[:at], str(int(line[at]) + 1), *line[at + 1 :]] for line in lines]


def _document(found: ModelComparison) -> dict[str, Any]:
    drift = found.drift
    moved = [] if drift is None else zip(drift.names, drift.psi, drift.hellinger, drift.unseen, strict=True)
    size = np.abs(found.difference)
    return {
        "rows": found.n_rows,
        "compared": found.kind,
        "mean_change": float(size.mean()),
        "largest_change": float(size.max()),
        "decisions_changed": found.decisions,
        "attribution": found.attribution,
        "terms": [asdict(term) | {"row": term.row + 1} for term in found.terms],
        "most_changed": [asdict(row) | {"row": row.row + 1} for row in found.rows],
        "scores": {name: {"old": a, "new": b} for name, (a, b) in found.scores.items()},
        "drift": [{"feature": n, "psi": p, "hellinger": h, "unseen": u} for n, p, h, u in moved],
        "groups": None
        if found.groups is None
        else {
            which: [
                {"group": name, "rows": int(table.counts[g])} | {k: v[g] for k, v in table.values.items()}
                for g, name in enumerate(table.groups)
            ]
            for which, table in zip(("old", "new"), found.groups, strict=True)
        },
        "notes": list(found.notes),
    }
