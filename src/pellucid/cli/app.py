"""The verbs of the program ``pellucid`` and their options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeVar

import typer

from pellucid.cli.options import (
    FIT_PANEL,
    OUT_PANEL,
    AsJson,
    Drop,
    Exposure,
    Model,
    Offset,
    Page,
    Seed,
    Sheet,
    Table,
    Target,
    Task,
    Weights,
)

app = typer.Typer(
    name="pellucid",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Fit, read and ship models that explain themselves.\n\n"
    "Tables are CSV, TSV, Parquet, Arrow, Excel or JSON files, or - for standard input. Results go to "
    "standard output, everything else to standard error. Exit codes: 0 fine, 1 error, 2 wrong usage.",
    epilog="Begin with: pellucid fit houses.csv --target price --out houses.pellucid",
)

F = TypeVar("F", bound=Callable[..., None])


def _verb(function: F) -> F:
    """Add a verb; its docstring is the help, each paragraph on one line as terminals differ in width."""
    paragraphs = (function.__doc__ or "").split("\n\n")
    app.command(help="\n\n".join(" ".join(text.split()) for text in paragraphs))(function)
    return function


def _version(wanted: bool) -> None:
    if wanted:
        from pellucid import __version__

        print(f"pellucid {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an error comes from, after any verb.")
    ] = False,
) -> None:
    pass


@_verb
def fit(
    table: Table,
    target: Target,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME",
            help="additive, sparse-additive, isk, interpretable, ridge or glm.",
            rich_help_panel=FIT_PANEL,
        ),
    ] = "additive",
    task: Task = None,
    weights: Weights = None,
    exposure: Exposure = None,
    offset: Offset = None,
    drop: Drop = None,
    sheet: Sheet = None,
    loss: Annotated[
        str | None, typer.Option(help="squared, poisson, gamma, logistic, ...", rich_help_panel=FIT_PANEL)
    ] = None,
    interactions: Annotated[
        str | None,
        typer.Option(
            help="auto, how many pairs at most, or which: age*income,age*sex. Additive only.",
            rich_help_panel=FIT_PANEL,
        ),
    ] = None,
    split: Annotated[
        float,
        typer.Option(help="Share of the rows held out for the score; 0 for none.", rich_help_panel=FIT_PANEL),
    ] = 0.2,
    refit: Annotated[
        bool,
        typer.Option(
            help="Whether the model is fitted on all rows after scoring.", rich_help_panel=FIT_PANEL
        ),
    ] = True,
    seed: Seed = 0,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Where to save the model.", rich_help_panel=OUT_PANEL
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Fit a model to a table and say how good it is on rows held out.

    Nothing has to be prepared: categories, dates and missing values are taken as they are. The score comes
    from a fit without the rows held out; the model that is shown and saved is then fitted on all rows.
    """
    from pellucid.cli.fit import fit_command

    fit_command(
        table,
        target=target,
        model=model,
        task=_task(task),
        weights=weights,
        exposure=exposure,
        offset=offset,
        drop=_names(drop),
        split=split,
        refit=refit,
        seed=seed,
        loss=loss,
        interactions=interactions,
        sheet=sheet,
        out=out,
        as_json=as_json,
    )


@_verb
def predict(
    model: Model,
    table: Table,
    proba: Annotated[bool, typer.Option("--proba", help="Probabilities of the classes as well.")] = False,
    interval: Annotated[
        float | None,
        typer.Option(help="Ends of intervals that cover this share of new targets, such as 0.9."),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Write the columns of the table as well.")] = False,
    sheet: Sheet = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="File to write, by its ending; CSV to standard output if not given.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Predict the rows of a table with a saved model.

    The table needs the columns that the model was fitted on, in any order; others are ignored. If it has the
    target too, the score is told on standard error.
    """
    from pellucid.cli.predict import predict_command

    predict_command(
        model, table, proba=proba, interval=interval, keep=keep, sheet=sheet, out=out, as_json=as_json
    )


@_verb
def explain(
    model: Model,
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE", help="Table with the row to explain; - takes CSV or JSON from standard input."
        ),
    ] = None,
    row: Annotated[int | None, typer.Option("--row", "-r", help="Which row, counted from 1.")] = None,
    term: Annotated[
        str | None, typer.Option(help="Show the function of one term as CSV, such as age or age*income.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--class", help="Class to speak for; the predicted one if not given.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many terms to show.")] = 20,
    sheet: Sheet = None,
    as_json: AsJson = False,
) -> None:
    """Say what a model has learned, or why one prediction is what it is.

    Without a table: the terms by importance, or the coefficients. With one: what each term contributes to the
    prediction of a row. One row can be given as JSON: echo '{"age": 61}' | pellucid explain m.pellucid -
    """
    from pellucid.cli.explain import explain_command

    explain_command(model, table, row=row, term=term, output=output, top=top, sheet=sheet, as_json=as_json)


@_verb
def report(
    model: Model,
    table: Table,
    out: Page = "report.html",
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", help="Column that is predicted, if the model file does not say."),
    ] = None,
    max_rows: Annotated[int, typer.Option(min=0, help="Rows of the table that the page may contain.")] = 200,
    open_it: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    sheet: Sheet = None,
    as_json: AsJson = False,
) -> None:
    """Write a saved model as one HTML page that opens without network.

    Give the table that the model was fitted on, so that its leave-one-out results are shown.
    """
    from pellucid.cli.report_page import report_command

    report_command(
        model,
        table,
        target=target,
        title=title,
        max_rows=max_rows,
        sheet=sheet,
        out=out,
        open_it=open_it,
        as_json=as_json,
    )


@_verb
def compare(
    table: Table,
    target: Target,
    models: Annotated[
        str | None,
        typer.Option(
            "--models",
            "-m",
            metavar="NAMES",
            help="Names with commas: models of fit, and dummy, linear, ebm, lightgbm. If not given: those "
            "for the task that are installed and not too slow for the table.",
            rich_help_panel=FIT_PANEL,
        ),
    ] = None,
    task: Task = None,
    weights: Weights = None,
    exposure: Exposure = None,
    offset: Offset = None,
    drop: Drop = None,
    sheet: Sheet = None,
    splits: Annotated[
        int, typer.Option(min=1, help="How many random splits.", rich_help_panel=FIT_PANEL)
    ] = 3,
    split: Annotated[
        float, typer.Option(help="Share of the rows held out.", rich_help_panel=FIT_PANEL)
    ] = 0.2,
    seed: Seed = 0,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Table of all scores, one line per split.",
            rich_help_panel=OUT_PANEL,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare models, plain and boosted ones among them, on the same random splits."""
    from pellucid.cli.compare import compare_command

    compare_command(
        table,
        target=target,
        models=models,
        task=_task(task),
        weights=weights,
        exposure=exposure,
        offset=offset,
        drop=_names(drop),
        splits=splits,
        split=split,
        seed=seed,
        sheet=sheet,
        out=out,
        as_json=as_json,
    )


@_verb
def info(
    model: Model,
    as_json: AsJson = False,
) -> None:
    """Say what is in a model file: model, data, columns, score, versions, checksums."""
    from pellucid.cli.info import info_command

    info_command(model, as_json=as_json)


@_verb
def demo(
    out: Page = "report.html",
) -> None:
    """Fit a model on bundled data, print what it says, and write its report."""
    from pellucid.cli.demo import main

    main(["--report", out])


def _names(drop: list[str] | None) -> list[str]:
    """Names of columns, given one by one or with commas between them."""
    return [name.strip() for entry in drop or [] for name in entry.split(",") if name.strip()]


def _task(task: str | None) -> str | None:
    from pellucid.cli.task import TASKS

    if task is not None and task not in TASKS:
        raise typer.BadParameter(f"{task!r} is not one of {', '.join(TASKS)}.", param_hint="--task")
    return task
