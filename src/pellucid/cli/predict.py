"""``pellucid predict``: predictions of a saved model for the rows of a table."""

from typing import Any

import numpy as np
import pandas as pd

from pellucid.cli import catalog
from pellucid.cli.console import say, show_json, working
from pellucid.cli.errors import UserError
from pellucid.cli.kinds import as_text, convert, understand
from pellucid.cli.scores import in_words, measure
from pellucid.cli.stored import Stored, load_model
from pellucid.cli.tables import Source, read_table, write_table
from pellucid.effects.outcome_measures import losses_of

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
    """Predict every row of a table."""
    if interval is not None and not 0 < interval < 1:
        raise UserError(f"--interval is a probability between 0 and 1, such as 0.9, got {interval:g}.")
    stored = load_model(model)
    source = read_table(table, sheet=sheet)
    X, known = stored.rows(source), stored.known(source)
    frame = _in_blocks(stored, X, known, proba, interval)
    if keep:
        frame = pd.concat(
            [source.frame, frame.rename(columns=lambda c: _free(c, source.frame.columns))], axis=1
        )
    _tell_score(stored, source, X, known)
    if not as_json:
        write_table(frame, out)
        return
    if out is not None:
        write_table(frame, out)
    show_json({"model": stored.name, "rows": len(frame), "predictions": frame.to_dict(orient="records")})


def _in_blocks(
    stored: Stored, X: Any, known: dict[str, np.ndarray], proba: bool, interval: float | None
) -> pd.DataFrame:
    """Predictions, block by block, so that the time left can be told."""
    parts = []
    with working("predicting") as clock:
        for start in range(0, len(X), _BLOCK):
            rows = slice(start, start + _BLOCK)
            some = X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]
            part = {key: values[rows] for key, values in known.items()}
            made = _named(stored.model, catalog.predict(stored.model, some, part))
            if proba:
                made |= _probabilities(stored, some, part)
            if interval is not None:
                made |= _interval(stored, some, part, interval)
            parts.append(pd.DataFrame(made))
            done = start + len(parts[-1])
            clock.left(clock.elapsed / done * (len(X) - done))
    return pd.concat(parts, ignore_index=True)


def _named(model: Any, answers: np.ndarray) -> dict[str, Any]:
    """Predictions as columns; of several outputs with their names."""
    if answers.ndim == 1:
        return {"prediction": answers}
    names = getattr(model, "outputs_", None) or range(answers.shape[1])
    return {f"prediction_{name}": column for name, column in zip(names, answers.T, strict=True)}


def _probabilities(stored: Stored, X: Any, known: dict[str, np.ndarray]) -> dict[str, Any]:
    if not hasattr(stored.model, "classes_"):
        raise UserError(f"--proba is for classifiers, and {stored.name!r} predicts numbers.")
    if not hasattr(stored.model, "predict_proba"):
        raise UserError(
            f"The classifier in {stored.name!r} has no probabilities: its loss gives scores only."
        )
    P = catalog.predict(stored.model, X, known, "predict_proba")
    return {f"p_{c}": P[:, k] for k, c in enumerate(stored.model.classes_)}


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


def _tell_score(stored: Stored, source: Source, X: Any, known: dict[str, np.ndarray]) -> None:
    """If the table has the target as well, say how good the predictions are."""
    spec = stored.spec
    if spec is None or spec.target not in source.frame.columns:
        return
    if any(loss.kind == "survival" for loss in losses_of(stored.model)):
        return  # times alone do not say which of them ended with an event
    column = source.frame[spec.target]
    if understand(column, comma=source.comma).values.isna().any():
        return
    try:
        y = targets(stored, column, comma=source.comma)
        found = measure(stored.model, X, y, spec.task, None, known)
    except (UserError, ValueError):  # the column is of that name, but something else
        return
    score = f"The table has {spec.target} as well: {in_words(found)}"
    say(f"{score}; flattering if the model was fitted on these rows.")


def targets(stored: Stored, column: pd.Series, *, comma: bool = False) -> np.ndarray:
    """Targets as the model knows them: numbers, or classes of the type of its own."""
    classes = getattr(stored.model, "classes_", None)
    if classes is None:
        return convert(column, "number", comma=comma).to_numpy(dtype=float)
    known = {str(c): c for c in classes.tolist()}
    text = as_text(column)
    known |= {name.lower(): c for name, c in known.items() if isinstance(c, bool)}
    strange = [v for v in text.unique() if v is not None and v not in known and v.lower() not in known]
    if strange:
        raise UserError(f"{column.name!r} holds {strange[0]!r}, which is none of the model's classes.")
    return np.array([known.get(v, known.get(str(v).lower())) for v in text])
