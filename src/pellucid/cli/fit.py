"""``pellucid fit``: a model from a table."""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from sklearn.base import clone

import pellucid
from pellucid.cli import catalog
from pellucid.cli.console import on_terminal, say, show, show_json, working
from pellucid.cli.errors import UserError
from pellucid.cli.explain import global_document
from pellucid.cli.formula import choose, columns_read, machine
from pellucid.cli.options import Roles
from pellucid.cli.scores import measure
from pellucid.cli.table_spec import TableSpec
from pellucid.cli.tables import read_table
from pellucid.cli.training import Training, held_out_rows, training_rows
from pellucid.effects.measures import as_words, title
from pellucid.effects.term_table import features_of

_PILOT = 2000  # most rows of the small fit from which a large one is forecast, at most a quarter of them all
_LARGE = 4000  # rows from which this is worth while


@dataclass(frozen=True)
class Fitted:
    """A fitted model with its spec and the seconds that it took."""

    model: Any
    spec: TableSpec
    seconds: float


def fit_command(
    table: str,
    *,
    model: str | None,
    kernel: str | None,
    split: float,
    refit: bool,
    seed: int,
    loss: str | None,
    quantile: str | None,
    interactions: str | None,
    sheet: str | None,
    out: str | None,
    as_json: bool,
    **roles: Unpack[Roles],
) -> None:
    """Fit a model, score it on rows held out, and save it."""
    if not 0 <= split < 1:
        raise UserError(f"--split is a share of the rows from 0 to below 1, got {split:g}.")
    if out is not None and not Path(out).parent.is_dir():
        raise UserError(f"There is no folder {str(Path(out).parent)!r} to write {Path(out).name!r} to.")
    if any(Path(table).rglob("*.parquet")):
        from pellucid.cli.folder import fit_folder

        fit_folder(
            table, model=machine(model, kernel), loss=loss, interactions=_pairs(interactions), out=out,
            as_json=as_json, **roles,
        )  # fmt: skip
        return
    choice = catalog.find(machine(model, kernel))
    training = training_rows(read_table(table, sheet=sheet), loss=loss, kernel=kernel, **roles)
    if training.formula is not None and columns_read(training.formula.kernel()):
        choice = replace(choice, takes="filled")  # kernels read the columns that they name, as they are
    options = {
        "loss": loss,
        "quantile": _levels(quantile),
        "interactions": _pairs(interactions),
        "weights": roles.get("weights_as"),
    }
    estimator = choice.make(training.target.task, {k: v for k, v in options.items() if v is not None})
    say(f"Rows: {len(training):,}; features: {training.X.shape[1]}; model: {choice.name}, {choice.title}.")
    fitted = _fit_and_score(estimator, training, choice, split, refit, seed)
    if out is not None:
        pellucid.save(fitted.model, out, notes=fitted.spec.to_notes())
    if as_json:
        show_json(_document(fitted, out))
    else:
        _tell(fitted, out)


def _fit_and_score(
    estimator: Any, training: Training, choice: catalog.Choice, split: float, refit: bool, seed: int
) -> Fitted:
    spec = replace(training.spec, model=choice.name, takes=choice.takes)
    everything = np.arange(len(training))
    if split == 0:
        return _fit_rows(clone(estimator), training, everything, spec, choice)
    train, test = held_out_rows(training, split, seed)
    first = _fit_rows(clone(estimator), training, train, spec, choice, label="fitting (to be scored)")
    X, y, weight, known = training.part(test)
    held_out = measure(first.model, first.spec.apply(X), y, spec.task, weight, known)
    if not refit:
        return replace(first, spec=replace(first.spec, held_out=held_out, split=split, rows=len(train)))
    expected = first.seconds * (len(training) / len(train)) ** choice.growth
    spec = replace(spec, held_out=held_out, split=split)
    final = _fit_rows(clone(estimator), training, everything, spec, choice, expected, "fitting on all rows")
    return replace(final, seconds=first.seconds + final.seconds)


def _fit_rows(
    estimator: Any,
    training: Training,
    rows: np.ndarray,
    spec: TableSpec,
    choice: catalog.Choice,
    expected: float | None = None,
    label: str = "fitting",
) -> Fitted:
    """Fit on some of the rows, with the time left on a terminal."""
    X, y, weight, known = training.part(rows)
    spec = spec.learn(X)
    table = spec.apply(X)
    if expected is None and on_terminal() and len(rows) >= _LARGE:
        expected = _forecast(estimator, table, y, weight, known, choice)
    start = time.monotonic()
    with working(label, expected):
        if training.formula is not None:
            estimator = choose(estimator, training.formula, table, y, weight)
        catalog.fit(estimator, table, y, weight, known, choice.name)
    return Fitted(estimator, spec, time.monotonic() - start)


def _forecast(
    estimator: Any, X: Any, y: np.ndarray, weight: Any, known: dict[str, np.ndarray], choice: catalog.Choice
) -> float | None:
    """Seconds that a fit will take, from one on evenly spaced rows; ``None`` if these cannot be fitted."""
    m = min(len(y) // 4, _PILOT)
    some = np.linspace(0, len(y) - 1, m).astype(np.intp)
    part = {key: values[some] for key, values in known.items()}
    start = time.monotonic()
    try:
        with working("looking how long it will take"):
            pilot = None if weight is None else weight[some]
            catalog.fit(clone(estimator), X.iloc[some], y[some], pilot, part, choice.name)
    except Exception:  # a class that is not among these rows, say; the fit itself will tell
        return None
    return (time.monotonic() - start) * (len(y) / m) ** choice.growth


def _pairs(text: str | None) -> Any:
    """``auto``, a number, or pairs such as ``age*income,age*sex``."""
    if text is None or text == "auto":
        return text
    if text.isdigit():
        return int(text)
    pairs = [features_of(pair) for pair in text.split(",")]
    if any(len(pair) != 2 for pair in pairs):
        raise UserError(
            f"--interactions is auto, a number, or pairs such as age*income,age*sex, got {text!r}."
        )
    return pairs


def _levels(text: str | None) -> float | list[float] | None:
    """One level, or several with commas."""
    if text is None:
        return None
    try:
        levels = [float(level) for level in text.split(",")]
    except ValueError:
        raise UserError(f"--quantile is a level such as 0.9, or several as 0.1,0.9; got {text!r}.") from None
    return levels if len(levels) > 1 else levels[0]


# ----------------------------------------------------------------------- telling
def _document(fitted: Fitted, out: str | None) -> dict[str, Any]:
    spec = fitted.spec
    return {
        "model": spec.model,
        "class": type(fitted.model).__name__,
        "task": spec.task,
        "target": spec.target,
        "data": spec.data,
        "rows": spec.rows,
        "features": spec.columns,
        "held_out": spec.held_out or None,
        "held_out_share": spec.split,
        "seconds": round(fitted.seconds, 3),
        "file": out,
        **global_document(fitted.model),
    }


def _tell(fitted: Fitted, out: str | None) -> None:
    spec = fitted.spec
    if hasattr(fitted.model, "summary"):
        show(str(fitted.model.summary()))
    if hasattr(fitted.model, "loo_"):
        show(
            "\nLeaving one row out does not repeat the choices made on all rows, such as that of the terms: "
            "with few rows and many candidates it is optimistic."
        )
    if spec.held_out:
        show(f"\nOn {100 * spec.split:g} % of the rows, held out from all choices:")
        width = max(len(title(name)) for name in spec.held_out)
        for name, value in spec.held_out.items():
            show(f"  {title(name):<{width}}  {as_words(name, value)}")
    took = f"Fitted in {fitted.seconds:.1f} s"
    if out is None:
        say(f"{took}; not saved (--out model.pellucid keeps it).")
    else:
        say(f"{took}; saved to {out}. What it says: pellucid explain {out}")
