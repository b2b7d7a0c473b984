"""``pellucid predict``: predictions of a saved model for the rows of a table."""

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pellucid.cli import catalog
from pellucid.cli.console import show_json, working
from pellucid.cli.errors import UserError
from pellucid.cli.row_blocks import row_blocks
from pellucid.cli.stored import Stored, load_model
from pellucid.cli.tables import Source
from pellucid.cli.tally import Tally
from pellucid.cli.writing import writing
from pellucid.data.unseen import collecting

_BLOCK = 20_000  # rows predicted at a time


def predict_command(
    model: str,
    table: str,
    *,
    proba: bool,
    interval: float | None,
    keep: bool,
    sheet: str | None,
    out: str | None,
    as_json: bool,
) -> None:
    """Predict every row of a table, or of all tables in a folder."""
    if interval is not None and not 0 < interval < 1:
        raise UserError(f"--interval is a probability between 0 and 1, such as 0.9, got {interval:g}.")
    stored = load_model(model)
    n_rows, sources = row_blocks(table, sheet=sheet)
    wish, tally, done = Wish(proba, interval, keep), Tally(), 0
    records: list[dict[Any, Any]] = []
    with ExitStack() as open_file, working("predicting") as clock, collecting() as unseen:
        put = open_file.enter_context(writing(out)) if out is not None or not as_json else None
        for source in sources:
            stored = stored.settled(source)
            X, known = stored.rows(source), stored.known(source, tell=done == 0)
            tally.open(stored, source)
            for start in range(0, len(X), _BLOCK):
                rows = slice(start, start + _BLOCK)
                frame = _predicted(stored, source, X, known, rows, wish, tally)
                done += len(frame)
                clock.left(clock.elapsed / done * (n_rows - done))
                if put is not None:
                    put(frame)
                if as_json:
                    records += frame.to_dict(orient="records")
    stored.tell_unseen(unseen)
    tally.tell(stored)
    if as_json:
        show_json({"model": stored.name, "rows": done, "predictions": records})


@dataclass(frozen=True)
class Wish:
    """What is wanted beside predictions: probabilities, intervals, the columns of the table."""

    proba: bool
    interval: float | None
    keep: bool


def _predicted(
    stored: Stored,
    source: Source,
    X: Any,
    known: dict[str, np.ndarray],
    rows: slice,
    wish: Wish,
    tally: Tally,
) -> pd.DataFrame:
    """What is to be written of some rows."""
    some = X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]
    part = {key: values[rows] for key, values in known.items()}
    said = catalog.predict(stored.model, some, part)
    made: dict[str, Any] = _named(stored.model, said)
    P: Any = None
    with collecting():  # levels that training did not have are noted already
        if wish.proba or tally.wants_probabilities(stored):
            P = _probabilities(stored, some, part)
        if wish.proba:
            made |= {f"p_{c}": P[:, k] for k, c in enumerate(stored.model.classes_)}
        if wish.interval is not None:
            made |= _interval(stored, some, part, wish.interval)
    tally.add(rows, said, P, part)
    frame = pd.DataFrame(made)
    if not wish.keep:
        return frame
    own = source.frame.iloc[rows].reset_index(drop=True)
    return pd.concat([own, frame.rename(columns=lambda c: _free(c, own.columns))], axis=1)


def _named(model: Any, answers: np.ndarray) -> dict[str, Any]:
    """Predictions as columns; of several outputs with their names."""
    if answers.ndim == 1:
        return {"prediction": answers}
    names = getattr(model, "outputs_", None) or range(answers.shape[1])
    return {f"prediction_{name}": column for name, column in zip(names, answers.T, strict=True)}


def _probabilities(stored: Stored, X: Any, known: dict[str, np.ndarray]) -> Any:
    if not hasattr(stored.model, "classes_"):
        raise UserError(f"--proba is for classifiers, and {stored.name!r} predicts numbers.")
    if not hasattr(stored.model, "predict_proba"):
        raise UserError(
            f"The classifier in {stored.name!r} has no probabilities: its loss gives scores only."
        )
    return catalog.predict(stored.model, X, known, "predict_proba")


def _interval(stored: Stored, X: Any, known: dict[str, np.ndarray], coverage: float) -> dict[str, Any]:
    if not hasattr(stored.model, "predict_interval"):
        raise UserError(f"The {type(stored.model).__name__} in {stored.name!r} has no intervals.")
    if known:
        raise UserError("Intervals are not available together with an exposure or offset.")
    ends = stored.model.predict_interval(X, coverage=coverage)
    low, high = ends if isinstance(ends, tuple) else np.asarray(ends).T
    return {"lower": low, "upper": high}


def _free(name: str, taken: Any) -> str:
    while name in taken:
        name = f"{name}_"
    return name
