"""``pellucid report``: a saved model as one HTML page."""

import webbrowser
from pathlib import Path
from typing import Any

import pandas as pd

from pellucid.cli.console import say, show, show_json, working
from pellucid.cli.errors import UserError
from pellucid.cli.stored import load_model
from pellucid.cli.table_spec import no_column, numbers_of
from pellucid.cli.tables import read_table
from pellucid.cli.tally import targets
from pellucid.cli.training import with_target
from pellucid.effects.summary import counted


def report_command(
    model: str,
    table: str,
    *,
    target: str | None,
    title: str | None,
    max_rows: int,
    sheet: str | None,
    out: str,
    earlier: str | None,
    group: str | None,
    open_it: bool,
    as_json: bool,
) -> None:
    """Write the report of a model on the rows of a table."""
    stored = load_model(model)
    if not Path(out).parent.is_dir():
        raise UserError(f"There is no folder {str(Path(out).parent)!r} to write {Path(out).name!r} to.")
    spec = stored.spec
    target = target or (spec.target if spec is not None else None)
    if target is None:
        raise UserError("The model file does not say what is predicted: name the column with --target.")
    source = read_table(table, sheet=sheet)
    if target not in source.frame.columns:
        raise UserError(no_column(source, target))
    source = with_target(source, target)
    y = pd.Series(targets(stored, source.frame[target], comma=source.comma), name=target)
    X, known = stored.rows(source), dict[str, Any](stored.known(source))
    weights = spec.weights if spec is not None else None
    weight = None
    if weights is not None and weights in source.frame.columns:
        weight = numbers_of(source, weights, "weights")
    before = None if earlier is None else load_model(earlier).model
    groups = None
    if group is not None:
        if group not in source.frame.columns:
            raise UserError(no_column(source, group))
        groups = source.frame[group].astype(str).to_numpy()
    from pellucid import build_report

    with working("writing the report"):
        page = build_report(
            stored.model, X, y, sample_weight=weight, title=title, max_rows=max_rows,
            earlier=before, groups=groups, **known,
        )  # fmt: skip
        path = page.save(out).resolve()
    if as_json:
        show_json({"file": str(path), "title": page.title, "bytes": path.stat().st_size, "rows": len(y)})
    else:
        show(str(path))
        say(f"The page opens in a browser, without network: {path.as_uri()}")
        if max_rows and spec is not None:
            rows = counted(min(max_rows, len(y)), "row")
            say(f"The page holds {rows} of {source.name} for all to read; see --max-rows.")
    if open_it:
        webbrowser.open(path.as_uri())
