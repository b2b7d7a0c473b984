"""``pellucid serve``: a saved model as a local page and an endpoint."""

from __future__ import annotations

import webbrowser
from typing import Any

import pandas as pd

from pellucid.cli.console import say, show, working
from pellucid.cli.errors import UserError, need
from pellucid.cli.stored import Stored, load_model
from pellucid.cli.table_spec import no_column, numbers_of
from pellucid.cli.tables import read_table
from pellucid.cli.tally import targets
from pellucid.cli.training import with_target


def serve_command(
    model: str,
    *,
    data: str | None,
    target: str | None,
    title: str | None,
    host: str,
    port: int,
    token: str | None,
    max_bytes: int,
    max_rows: int,
    sheet: str | None,
    open_it: bool,
) -> None:
    """Serve a model until the program is interrupted."""
    for package in ("starlette", "uvicorn"):
        need(package, "Serving a model")
    from pellucid.serve import serve

    stored = load_model(model)
    spec = stored.spec
    about: dict[str, Any] = {"title": title, "target": target or (spec.target if spec is not None else None)}
    if spec is not None:
        about |= {
            "kinds": spec.columns,
            "prepare": None if spec.takes == "all" else spec.apply,
            "known": {
                k: v for k, v in (("exposure", spec.exposure), ("offset", spec.offset)) if v is not None
            },
            "notes": spec.to_notes(),
        }
    with working("reading the data"):
        rows = {} if data is None else _rows(stored, data, about["target"], sheet)

    def tell(address: str) -> None:
        show(address)
        say(f"{stored.name} is served there until Ctrl-C. Programs post rows to /predict; see /openapi.json.")
        if open_it:
            webbrowser.open(address)

    serve(
        stored.model,
        host=host,
        port=port,
        token=token,
        tell=tell,
        max_body=max_bytes,
        max_rows=max_rows,
        **about,
        **rows,
    )


def _rows(stored: Stored, data: str, target: str | None, sheet: str | None) -> dict[str, Any]:
    """Rows of a table with their targets, as the model takes them and as they came."""
    if target is None:
        raise UserError("The model file does not say what is predicted: name the column with --target.")
    source = read_table(data, sheet=sheet)
    if target not in source.frame.columns:
        raise UserError(no_column(source, target))
    source, spec = with_target(source, target), stored.spec
    y = pd.Series(targets(stored, source.frame[target], comma=source.comma), name=target)
    found: dict[str, Any] = {"X": stored.rows(source), "y": y, "source": source.name, **stored.known(source)}
    if spec is not None:
        found["raw"] = stored.pick(source)
        if spec.weights is not None and spec.weights in source.frame.columns:
            found["sample_weight"] = numbers_of(source, spec.weights, "weights")
    return found
