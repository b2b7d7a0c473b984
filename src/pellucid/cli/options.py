"""The arguments and options of the program, each declared once."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, TypedDict

import typer

from pellucid.data.weights import READINGS

TASKS = ("regression", "classification", "counts")

_data = partial(typer.Option, rich_help_panel="Table")
_fit = partial(typer.Option, rich_help_panel="How to fit")
_out = partial(typer.Option, rich_help_panel="Output")
_file = partial(_out, "--out", "-o", metavar="FILE")


def _one_of(*choices: str) -> Callable[[str | None], str | None]:
    """What checks that an option is one of several words."""

    def check(value: str | None) -> str | None:
        if value is not None and value not in choices:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(choices)}.")
        return value

    return check


def _names(drop: list[str] | None) -> list[str]:
    """Names of columns, given one by one or with commas between them."""
    return [name.strip() for entry in drop or [] for name in entry.split(",") if name.strip()]


class Roles(TypedDict, total=False):
    """What the columns of a table are for; the options that ``fit`` and ``compare`` share."""

    target: str
    task: str | None
    weights: str | None
    weights_as: str | None
    exposure: str | None
    offset: str | None
    drop: list[str] | None
    event: str | None


# -------------------------------------------------------------------------- the table
Table = Annotated[str, typer.Argument(metavar="TABLE", help="File with the rows, or - for standard input.")]
Rows = Annotated[
    str,
    typer.Argument(
        metavar="TABLE", help="File with the rows, a folder of Parquet files, or - for standard input."
    ),
]
RowTable = Annotated[
    str | None,
    typer.Argument(metavar="TABLE", help="Table with the row to explain; - takes CSV or JSON."),
]
Sheet = Annotated[str | None, _data(metavar="NAME", help="Sheet of an Excel workbook.")]
Target = Annotated[str, _data("--target", "-t", metavar="COLUMN", help="Column to predict.")]
KnownTarget = Annotated[
    str | None,
    _data("--target", "-t", metavar="COLUMN", help="Column to predict, if the model file does not say."),
]
Task = Annotated[
    str | None,
    _data(callback=_one_of(*TASKS), help=f"{', '.join(TASKS)}; guessed from the target if not given."),
]
Weights = Annotated[str | None, _data(metavar="COLUMN", help="Column that says what each row counts for.")]
WeightsAs = Annotated[
    str | None,
    _data(
        callback=_one_of(*READINGS),
        help="How weights are read. counts: 2 is the row twice; precision: only ratios matter, as of survey "
        "weights; auto: counts, unless their mean is far from one.",
    ),
]
Exposure = Annotated[
    str | None,
    _data(metavar="COLUMN", help="Column with time or amount at risk; makes the target counts."),
]
Offset = Annotated[
    str | None, _data(metavar="COLUMN", help="Column with a known part of the linear predictor.")
]
Drop = Annotated[
    list[str] | None,
    _data(
        "--drop",
        "-d",
        metavar="COLUMN",
        callback=_names,
        help="Column to leave out; can be repeated, or a,b,c.",
    ),
]

# ------------------------------------------------------------------------- the model
Model = Annotated[str, typer.Argument(metavar="MODEL", help="Model file, as fit --out writes it.")]
OldModel = Annotated[str, typer.Argument(metavar="OLD", help="Model file to compare with.")]
NewModel = Annotated[str, typer.Argument(metavar="NEW", help="Model file that takes its place.")]
ModelName = Annotated[
    str | None,
    _fit(
        "--model",
        "-m",
        metavar="NAME",
        help="additive (if nothing is said), sparse-additive, isk, interpretable, ridge (with --kernel) or "
        "glm.",
    ),
]
KernelFormula = Annotated[
    str | None,
    _fit(
        "--kernel",
        "-k",
        metavar="FORMULA",
        help="Kernels with the columns that they read, as in 'tanimoto(smiles) + rbf(dose)'; ridge and glm.",
    ),
]
ModelNames = Annotated[
    str | None,
    _fit(
        "--models",
        "-m",
        metavar="NAMES",
        help="Names with commas: models of fit, and dummy, linear, ebm, lightgbm. If not given: those for "
        "the task that are installed and not too slow for the table.",
    ),
]
Loss = Annotated[
    str | None,
    _fit(
        help="squared, huber, quantile, expectile; poisson, negative_binomial; gamma, tweedie; binomial; cox "
        "(with --event); logistic, ordinal."
    ),
]
Quantile = Annotated[
    str | None,
    _fit(metavar="LEVELS", help="Levels of --loss quantile or expectile, such as 0.9 or 0.1,0.5,0.9."),
]
Event = Annotated[
    str | None,
    _data(
        metavar="COLUMN",
        help="Column that is 1 where the target is the time of an event, 0 where a row left without one; "
        "for --loss cox.",
    ),
]
Interactions = Annotated[
    str | None,
    _fit(help="auto, how many pairs at most, or which: age*income,age*sex. Additive only."),
]
Split = Annotated[float, _fit(help="Share of the rows held out for the score; fit takes 0 for none.")]
Splits = Annotated[int, _fit(min=1, help="How many random splits.")]
Refit = Annotated[bool, _fit(help="Whether the model is fitted on all rows after scoring.")]
Seed = Annotated[int, _fit(help="Seed of the random choice of rows.")]

# ------------------------------------------------------------------ what is asked of it
Proba = Annotated[bool, typer.Option("--proba", help="Probabilities of the classes as well.")]
Interval = Annotated[
    float | None, typer.Option(help="Ends of intervals that cover this share of new targets, such as 0.9.")
]
Keep = Annotated[bool, typer.Option("--keep", help="Write the columns of the table as well.")]
Row = Annotated[int | None, typer.Option("--row", "-r", help="Which row, counted from 1.")]
Term = Annotated[
    str | None, typer.Option(help="Show the function of one term as CSV, such as age or age*income.")
]
Class = Annotated[
    str | None, typer.Option("--class", help="Class to speak for; the predicted one if not given.")
]
Top = Annotated[int, typer.Option(min=1, help="How many terms to show.")]
Earlier = Annotated[
    str | None,
    typer.Option("--earlier", metavar="MODEL", help="Model file that this one replaces: show what changed."),
]
Group = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Column of groups for which to measure apart.")
]
Title = Annotated[str | None, typer.Option(help="Heading of the page.")]
MaxRows = Annotated[int, typer.Option(min=0, help="Rows of the table that the page may contain.")]
Open = Annotated[bool, typer.Option("--open", help="Open the page in a browser.")]

# -------------------------------------------------------------------------- the server
DataTable = Annotated[
    str | None,
    typer.Option(
        "--data",
        metavar="TABLE",
        help="Table with rows and targets, such as the training table: to pick rows, to compare before and "
        "after, and to fit again after an edit.",
    ),
]
Host = Annotated[
    str,
    typer.Option(help="Address to listen on; others than this machine can reach any but the default."),
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")]
Token = Annotated[
    str | None,
    typer.Option(
        envvar="PELLUCID_TOKEN",
        help="What requests have to bring; made for any address but this machine's own if not given.",
    ),
]
BodyLimit = Annotated[int, typer.Option("--max-bytes", min=1000, help="Bytes that a request may have.")]
RowLimit = Annotated[int, typer.Option("--max-rows", min=1, help="Rows that a request may have.")]

# --------------------------------------------------------------------------- the output
ModelFile = Annotated[str | None, _file(help="Where to save the model.")]
TableFile = Annotated[
    str | None, _file(help="File to write, by its ending; CSV to standard output if not given.")
]
ScoresFile = Annotated[str | None, _file(help="Table of all scores, one line per split.")]
Page = Annotated[str, _file(help="The page to write.")]
AsJson = Annotated[bool, _out("--json", help="One JSON document instead of text.")]
