"""The verbs of the program ``pellucid``; what each does is in the module of its name."""

from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any, TypeVar

import typer

from pellucid.cli import options as o
from pellucid.cli.forces import forces

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

app.add_typer(forces, name="forces")

F = TypeVar("F", bound=Callable[..., None])


def _verb(function: F) -> F:
    """Add a verb; its docstring is the help, each paragraph on one line as terminals differ in width."""
    paragraphs = (function.__doc__ or "").split("\n\n")
    app.command(help="\n\n".join(" ".join(text.split()) for text in paragraphs))(function)
    return function


def _do(verb: str, given: dict[str, Any]) -> None:
    """Hand the options to the command; its module is imported now, so that help comes at once."""
    getattr(import_module(f"pellucid.cli.{verb}"), f"{verb}_command")(**given)


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
    table: o.Table,
    target: o.Target,
    model: o.ModelName = None,
    kernel: o.KernelFormula = None,
    task: o.Task = None,
    weights: o.Weights = None,
    weights_as: o.WeightsAs = None,
    exposure: o.Exposure = None,
    offset: o.Offset = None,
    drop: o.Drop = None,
    sheet: o.Sheet = None,
    event: o.Event = None,
    loss: o.Loss = None,
    quantile: o.Quantile = None,
    interactions: o.Interactions = None,
    split: o.Split = 0.2,
    refit: o.Refit = True,
    seed: o.Seed = 0,
    out: o.ModelFile = None,
    as_json: o.AsJson = False,
) -> None:
    """Fit a model to a table and say how good it is on rows held out.

    Nothing has to be prepared: categories, dates and missing values are taken as they are. The score comes
    from a fit without the rows held out; the model that is shown and saved is then fitted on all rows.

    A folder of Parquet files is read block by block, whatever its size, and fitted as a whole; the score is
    leave-one-out on a sample of its rows then.

    Strings, molecules and graphs are read by kernels: pellucid fit molecules.csv -t solubility --kernel
    'tanimoto(smiles)'. What the formula leaves open is chosen by leave-one-out.
    """
    _do("fit", locals())


@_verb
def predict(
    model: o.Model,
    table: o.Rows,
    proba: o.Proba = False,
    interval: o.Interval = None,
    keep: o.Keep = False,
    sheet: o.Sheet = None,
    out: o.TableFile = None,
    as_json: o.AsJson = False,
) -> None:
    """Predict the rows of a table with a saved model.

    The table needs the columns that the model was fitted on, in any order; others are ignored. If it has the
    target too, the score is told on standard error. Of a folder of Parquet files the rows are read, predicted
    and written block by block.
    """
    _do("predict", locals())


@_verb
def explain(
    model: o.Model,
    table: o.RowTable = None,
    row: o.Row = None,
    term: o.Term = None,
    output: o.Class = None,
    top: o.Top = 20,
    sheet: o.Sheet = None,
    as_json: o.AsJson = False,
) -> None:
    """Say what a model has learned, or why one prediction is what it is.

    Without a table: the terms by importance, or the coefficients. With one: what each term contributes to the
    prediction of a row. One row can be given as JSON: echo '{"age": 61}' | pellucid explain m.pellucid -
    """
    _do("explain", locals())


@_verb
def report(
    model: o.Model,
    table: o.Table,
    out: o.Page = "report.html",
    title: o.Title = None,
    target: o.KnownTarget = None,
    max_rows: o.MaxRows = 200,
    earlier: o.Earlier = None,
    group: o.Group = None,
    open_it: o.Open = False,
    sheet: o.Sheet = None,
    as_json: o.AsJson = False,
) -> None:
    """Write a saved model as one HTML page that opens without network.

    Give the table that the model was fitted on, so that its leave-one-out results are shown. They do not
    repeat the choice of terms, so they are optimistic if there are few rows and many candidates; the score
    that fit prints is of rows held out from all choices.
    """
    _do("report", locals())


@_verb
def diff(
    old: o.OldModel,
    new: o.NewModel,
    table: o.Table,
    target: o.KnownTarget = None,
    group: o.Group = None,
    top: o.Top = 10,
    sheet: o.Sheet = None,
    as_json: o.AsJson = False,
) -> None:
    """Say what changed from one saved model to another: which terms, by how much, and for whom.

    If the table has the target, both models are scored on it. It also says which columns have drifted away
    from the rows on which the old model was fitted.
    """
    _do("diff", locals())


@_verb
def serve(
    model: o.Model,
    data: o.DataTable = None,
    target: o.KnownTarget = None,
    title: o.Title = None,
    host: o.Host = "127.0.0.1",
    port: o.Port = 8000,
    token: o.Token = None,
    max_bytes: o.BodyLimit = 8_000_000,
    max_rows: o.RowLimit = 20_000,
    sheet: o.Sheet = None,
    open_it: o.Open = False,
) -> None:
    """Serve a saved model: a local page to explore and edit it, and a JSON endpoint that predicts.

    The page is at the address that is told; programs post rows to /predict there, described in /openapi.json.
    Edits are made to a copy, which the page hands out; the model file stays as it is. Ctrl-C ends it.
    """
    _do("serve", locals())


@_verb
def compare(
    table: o.Table,
    target: o.Target,
    models: o.ModelNames = None,
    task: o.Task = None,
    weights: o.Weights = None,
    weights_as: o.WeightsAs = None,
    exposure: o.Exposure = None,
    offset: o.Offset = None,
    drop: o.Drop = None,
    sheet: o.Sheet = None,
    splits: o.Splits = 3,
    split: o.Split = 0.2,
    seed: o.Seed = 0,
    out: o.ScoresFile = None,
    as_json: o.AsJson = False,
) -> None:
    """Compare models, plain and boosted ones among them, on the same random splits."""
    _do("compare", locals())


@_verb
def info(model: o.Model, as_json: o.AsJson = False) -> None:
    """Say what is in a model file: model, data, columns, score, versions, checksums."""
    _do("info", locals())


@_verb
def demo(out: o.Page = "report.html") -> None:
    """Fit a model on bundled data, print what it says, and write its report."""
    _do("demo", locals())
