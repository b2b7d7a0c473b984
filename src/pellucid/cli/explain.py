"""``pellucid explain``: what a model says as a whole, one term of it, or why one prediction is what it is."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from pellucid.cli.console import say, show, show_json, show_table
from pellucid.cli.errors import UserError
from pellucid.cli.parts import counts_parts, motifs_document, reads_objects, tell_motifs, tell_parts
from pellucid.cli.stored import Stored, load_model
from pellucid.cli.tables import read_table
from pellucid.cli.writing import write_table
from pellucid.data.unseen import collecting
from pellucid.effects import explain_row
from pellucid.effects.parts import without_parts
from pellucid.effects.summary import counted
from pellucid.effects.term_table import TermRow, find_effect, folded, term_rows


def explain_command(
    model: str,
    table: str | None,
    *,
    row: int | None,
    term: str | None,
    output: str | None,
    top: int,
    sheet: str | None,
    as_json: bool,
) -> None:
    """Explain a model, one of its terms, or one row."""
    stored = load_model(model)
    if table is None:
        if row is not None:
            raise UserError("--row needs the table that the row is in: pellucid explain MODEL TABLE --row N")
        if term is not None:
            _explain_term(stored, term, as_json)
        elif as_json:
            show_json({"class": type(stored.model).__name__, **global_document(stored.model)})
        else:
            _tell_model(stored, top)
        return
    if term is not None:
        raise UserError("--term shows a function of the model and needs no table.")
    _explain_one(stored, table, row, output, top, sheet, as_json)


# ------------------------------------------------------------------ one prediction
def _explain_one(
    stored: Stored,
    table: str,
    row: int | None,
    output: str | None,
    top: int,
    sheet: str | None,
    as_json: bool,
) -> None:
    source = read_table(table, sheet=sheet)
    X = stored.rows(source)
    if row is None and len(X) > 1:
        raise UserError(
            f"{source.name!r} has {counted(len(X), 'row')}; say which one with --row, counted from 1."
        )
    number = 1 if row is None else row
    if not 1 <= number <= len(X):
        raise UserError(f"There is no row {number}: {source.name!r} has rows 1 to {len(X)}.")
    one = X.iloc[[number - 1]] if isinstance(X, pd.DataFrame) else X[[number - 1]]
    if counts_parts(stored.model):
        found = stored.model.part_contributions(one, output=_output(stored, output))[0]
        tell_parts(found, stored.model.predict(one).tolist()[0], number, top, as_json)
        return
    if reads_objects(stored.model):
        raise UserError(without_parts(stored.model.kernel_))
    if not hasattr(stored.model, "contributions") and getattr(stored.model, "coef_", None) is None:
        raise UserError(
            f"{type(stored.model).__name__} has neither terms nor coefficients, so its predictions have no "
            f"contributions; fit additive, sparse-additive, isk or interpretable instead."
        )
    with collecting() as unseen:  # in this row alone
        stored.rows(replace(source, frame=source.frame.iloc[[number - 1]]))
        stored.model.predict(one)
    stored.tell_unseen(unseen)
    told = explain_row(stored.model, one, output=_output(stored, output))
    if stored.spec is not None and (stored.spec.exposure or stored.spec.offset):
        say("The prediction is for exposure 1 and offset 0.")
    if as_json:
        values = zip(told.names, told.inputs or [""] * len(told.names), told.contributions, strict=True)
        show_json(
            {
                "row": number,
                "prediction": told.prediction,
                "output": told.output or None,
                "scale": told.scale,
                "intercept": told.intercept,
                "contributions": [{"term": n, "value": v, "contribution": c} for n, v, c in values],
                "sum": told.total,
            }
        )
        return
    shown = told.top(top)
    rows = [("intercept", f"{told.intercept:.5g}")]
    labels = [label.replace(" 00:00:00", "") for label in shown.labels()]  # dates without a time of day
    rows += [(label, f"{c:+.5g}") for label, c in zip(labels, shown.contributions, strict=True)]
    rows.append((f"sum: {told.scale}", f"{told.total:.5g}"))
    prediction = told.prediction
    words = f"{prediction:.6g}" if isinstance(prediction, float | np.floating) else str(prediction)
    show(f"Row {number}: prediction {words}")
    show_table(("term", "contribution"), rows, best=len(rows) - 1)


def _output(stored: Stored, output: str | None) -> Any:
    if output is None:
        return None
    classes = getattr(stored.model, "classes_", None)
    if classes is None:
        raise UserError(f"--class is for classifiers, and {stored.name!r} predicts numbers.")
    for c in classes.tolist():
        if str(c) == output:
            return c
    raise UserError(f"There is no class {output!r}; there are {', '.join(str(c) for c in classes)}.")


# ------------------------------------------------------------------------ one term
def _explain_term(stored: Stored, term: str, as_json: bool) -> None:
    effect = find_effect(stored.model, term)
    frame = pd.DataFrame(effect.columns())
    if as_json:
        show_json({"term": effect.name, "points": frame.to_dict(orient="records")})
    else:
        write_table(frame, None)


# ----------------------------------------------------------------- the whole model
def global_document(model: Any) -> dict[str, Any]:
    """Terms with importances, or coefficients, for programs."""
    importances = getattr(model, "importances_", None)
    if importances is not None:
        terms = [
            {"term": row.name, "importance": row.importance, "relative": row.relative}
            | {key: value for key in ("se", "edf", "p_value") if (value := getattr(row, key)) is not None}
            | ({"most_for": row.most_for} if row.most_for else {})
            for row in term_rows(model)
        ]
        return {"measure": importances.measure, "intercept": model.intercept_, "terms": terms}
    if getattr(model, "coef_", None) is not None:
        coef = np.asarray(model.coef_, dtype=float)
        coef = coef if coef.ndim == 1 else coef.reshape(-1, coef.shape[-1])
        names = list(getattr(model, "coefficient_names_", range(coef.shape[-1])))
        values = coef.T.tolist()
        return {
            "intercept": model.intercept_,
            "coefficients": [{"feature": n, "coefficient": v} for n, v in zip(names, values, strict=True)],
        }
    if counts_parts(model):
        return {"intercept": model.intercept_, "motifs": motifs_document(model.motifs_)}
    return {"terms": None}


def _tell_model(stored: Stored, top: int) -> None:
    model = stored.model
    document = global_document(model)
    if document.get("terms"):
        _tell_terms(stored, top)
        return
    if hasattr(model, "summary"):
        show(f"{model.summary()}\n")
    if "coefficients" in document:
        _tell_coefficients(document, model, top)
    elif "motifs" in document:
        tell_motifs(model, top)
    elif document["terms"] is None:
        show("This model has neither terms nor coefficients: features act together in its kernel.")
        if hasattr(model, "marginal_effects") and not reads_objects(model):
            show("Average effect of a unit more of each feature, on the training rows:")
            show(str(model.marginal_effects()))
    else:
        show("No term is left in this model: it predicts a constant.")


def _tell_terms(stored: Stored, top: int) -> None:
    rows, spec = term_rows(stored.model), stored.spec
    of = "" if spec is None else f" for {spec.target}, {counted(spec.rows, 'row')} of {spec.data}"
    pairs = sum(len(term) == 2 for term in stored.model.terms_)
    alone = f"{counted(len(rows) - pairs, 'feature')} alone, {counted(pairs, 'pair')}"
    show(f"{type(stored.model).__name__}{of}: {alone}")
    if hasattr(stored.model, "receipt_"):
        show(f"\n{stored.model.receipt_}\n")
    columns: dict[str, Callable[[TermRow], str]] = {"term": lambda row: row.name}
    columns[stored.model.importances_.measure] = lambda row: row.size
    if rows[0].se is not None:
        columns["se"] = lambda row: f"{100 * row.se:.1f} %" if row.per_cent else f"{row.se:.2g}"  # type: ignore[operator]
    if rows[0].edf is not None:
        columns |= {"edf": lambda row: f"{row.edf:.1f}", "p value": lambda row: row.p}
    if any(row.most_for for row in rows):
        columns["most for"] = lambda row: row.most_for
    columns[""] = lambda row: "█" * round(20 * row.relative)
    shown, rest = folded(rows, top)
    show_table(list(columns), [[text(row) for text in columns.values()] for row in shown])
    if rest:
        show(rest.replace(" more", " more (--top)").replace("0.1 %", "0.1 % (--json)"))


def _tell_coefficients(document: dict[str, Any], model: Any, top: int) -> None:
    try:
        frame = model.coefficient_frame()
    except (AttributeError, ImportError, ValueError):  # several classes, or a loss without standard errors
        frame = pd.DataFrame(document["coefficients"]).set_index("feature")
    key = "per_sd" if "per_sd" in frame else frame.columns[0]
    size = frame[key].map(lambda v: float(np.max(np.abs(v))))
    frame = frame.loc[size.sort_values(ascending=False, kind="stable").index]
    rows = [
        (name, *(_number(v) for v in values))
        for name, values in zip(frame.index, frame.to_numpy(), strict=True)
    ]
    show_table(("feature", *(str(c).replace("_", " ") for c in frame.columns)), rows[:top])
    if len(rows) > top:
        show(f"... and {len(rows) - top} more (--top)")


def _number(value: Any) -> str:
    return ", ".join(f"{v:.4g}" for v in np.ravel(np.asarray(value, dtype=float)))
