"""Arguments and options that several verbs of the program share."""

from __future__ import annotations

from typing import Annotated

import typer

DATA_PANEL = "Table"
FIT_PANEL = "How to fit"
OUT_PANEL = "Output"

Table = Annotated[str, typer.Argument(metavar="TABLE", help="File with the rows, or - for standard input.")]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="Model file, as fit --out writes it.")]
Target = Annotated[
    str,
    typer.Option("--target", "-t", metavar="COLUMN", help="Column to predict.", rich_help_panel=DATA_PANEL),
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Column that says how often each row counts.", rich_help_panel=DATA_PANEL
    ),
]
Exposure = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column with time or amount at risk; makes the target counts.",
        rich_help_panel=DATA_PANEL,
    ),
]
Offset = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Column with a known part of the linear predictor.", rich_help_panel=DATA_PANEL
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        "-d",
        metavar="COLUMN",
        help="Column to leave out; can be repeated, or a,b,c.",
        rich_help_panel=DATA_PANEL,
    ),
]
Task = Annotated[
    str | None,
    typer.Option(
        help="regression, classification or counts; guessed from the target if not given.",
        rich_help_panel=DATA_PANEL,
    ),
]
Sheet = Annotated[
    str | None, typer.Option(metavar="NAME", help="Sheet of an Excel workbook.", rich_help_panel=DATA_PANEL)
]
Seed = Annotated[int, typer.Option(help="Seed of the random choice of rows.", rich_help_panel=FIT_PANEL)]
AsJson = Annotated[
    bool, typer.Option("--json", help="One JSON document instead of text.", rich_help_panel=OUT_PANEL)
]
Page = Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The page to write.")]
