"""The sheet of a scorecard in which values are typed and predictions appear."""

import os
from collections.abc import Mapping
from typing import Any

from pellucid.export.scoring.model import ScoringModel
from pellucid.export.scoring.parts import Line, Products, ScoreAxis, Waves
from pellucid.export.sheets.workbook import TOP, Book


def write_workbook(
    scoring: ScoringModel, importances: Mapping[str, Any] | None, path: str | os.PathLike[str]
) -> None:
    """Write the sheets "Score", "Tables", for an ISK model "Waves", and "Importances"."""
    book = Book(scoring)
    book.tables()
    if any(isinstance(term, Waves) for term in scoring.terms):
        book.waves()
    fill_score_sheet(book)
    if importances is not None:
        sheet = book.workbook.create_sheet("Importances")
        for column, (name, values) in enumerate(importances.items(), 1):
            book.put(sheet, 1, column, name, bold=True)
            for row, value in enumerate(values, 2):
                book.put(sheet, row, column, value)
        sheet.column_dimensions["A"].width = 40
    book.workbook.save(os.fspath(path))


def fill_score_sheet(book: Book) -> None:
    """Features with their values, points on the axes, terms, scores, and at the top the prediction."""
    scoring, sheet, q = book.scoring, book.sheet, book.scoring.n_outputs
    book.put(sheet, 1, 1, f"Scores of a model of the kind {scoring.model}", bold=True)
    book.line(sheet, TOP - 1, 1, ("feature", "value", "what it may be"), bold=True)
    for j, feature in enumerate(scoring.features):
        book.line(sheet, TOP + j, 1, [feature.name, *_example(book, j)])
        sheet.cell(TOP + j, 2).fill = book.fill
    row = _places(book, TOP + len(scoring.features) + 1)
    book.line(sheet, row, 1, ["term", *(scoring.outputs or ["contribution"])], bold=True)
    row += 1
    book.line(sheet, row, 1, ["(intercept)", *scoring.intercept])
    for t, term in enumerate(scoring.terms):
        book.put(sheet, row + 1 + t, 1, term.name)
        for c in range(q):
            book.formula(row + 1 + t, 2 + c, _term(book, t, c))
    last = row + len(scoring.terms)
    book.put(sheet, last + 1, 1, "score", bold=True)
    scores = []
    for column in range(2, 2 + q):
        span = f"{book.letter(column)}{row}:{book.letter(column)}{last}"
        scores.append(book.formula(last + 1, column, f"SUM({span})"))
    _respond(book, last + 3, scores)
    for letter, width in (("A", 36), ("B", 18), ("C", 36)):
        sheet.column_dimensions[letter].width = width
    sheet.freeze_panes = f"A{TOP}"


def _example(book: Book, j: int) -> tuple[Any, str]:
    """A value to begin with, and what else there may be."""
    scoring = book.scoring
    feature = scoring.features[j]
    optional = "" if j in scoring.needed else "; empty for a missing value"
    dates = ", days since 1970" if feature.dates else ""
    if feature.levels is not None:
        value = feature.levels[0] if feature.levels else ""
        return value, f"one of {len(feature.levels)} levels, see Tables{optional}"
    for axis in scoring.axes:
        if axis.feature == j and len(axis.knots):
            knots = axis.knots
            middle = float(knots[len(knots) // 2])
            return middle, f"{knots[0]:.6g} to {knots[-1]:.6g}{dates}{optional}"
    return 0.0, f"a number{dates}"


def _places(book: Book, row: int) -> int:
    """Point, way to the next and, where there is one, warped value of each axis; the next free row."""
    scoring = book.scoring
    if not scoring.axes:
        return row
    head = ("axis", "point", "way to the next", "warped")
    book.line(book.sheet, row, 1, head if scoring.warps else head[:3], bold=True)
    for a, axis in enumerate(scoring.axes):
        row += 1
        x = f"$B${TOP + axis.feature}"
        book.put(book.sheet, row, 1, scoring.features[axis.feature].name)
        point = book.formula(row, 2, _point(book, a, axis, x))
        book.formula(row, 3, _way(book, a, axis, x, point))
        if a in scoring.warps:
            book.formula(row, 4, book.curves["warp", a])
    return row + 2


def _point(book: Book, a: int, axis: ScoreAxis, x: str) -> str:
    missing = "NA()" if axis.missing is None else str(axis.missing + 1)
    if axis.is_levels:
        # EXACT knows capitals and no wildcards, which MATCH does not say of itself
        levels = book.scoring.features[axis.feature].levels or ()
        typed = f'IF(ISLOGICAL({x}),IF({x},"True","False"),{x})' if {"True", "False"} & {*levels} else x
        hit = f"SUMPRODUCT(EXACT({book.points[a]},{typed})*{book.numbers[a]})"
        found = f"IF({hit}=0,{axis.other + 1},{hit})"
    elif len(axis.knots) < 2:
        found = str(1 if len(axis.knots) else axis.size + 1)
    else:
        first = book.points[a].split(":")[0]
        found = f"IF({x}<{first},1,MIN(MATCH({x},{book.points[a]},1),{len(axis.knots) - 1}))"
    return f"IF(ISBLANK({x}),{missing},{found})"


def _way(book: Book, a: int, axis: ScoreAxis, x: str, point: str) -> str:
    if len(axis.knots) < 2:
        return "0"
    left = f"INDEX({book.points[a]},{point})"
    right = f"INDEX({book.points[a]},{point}+1)"
    return f"IF(ISBLANK({x}),0,MAX(0,MIN(1,({x}-{left})/({right}-{left}))))"


def _term(book: Book, t: int, c: int) -> str:
    scoring = book.scoring
    term = scoring.terms[t]
    if isinstance(term, Line):
        x = f"$B${TOP + term.feature}"
        return f"IF(ISBLANK({x}),NA(),Tables!${book.letter(2 + c)}${t + 1}*{x})"
    if isinstance(term, Products):
        if (t, 0, c) not in book.curves:
            return "0"
        return f"SUMPRODUCT({','.join(book.curves[t, side, c] for side in range(len(term.axes)))})"
    assert isinstance(term, Waves)
    span, q = book.blocks[t], scoring.n_outputs
    first, second, cos, sin = (book.range("Waves", column, span) for column in (1, 2, 3 + c, 3 + q + c))
    inputs = [book.place(a)[2] for a in term.axes]
    phase = f"{first}*{inputs[0]}" + (f"+{second}*{inputs[1]}" if len(inputs) > 1 else "")
    return f"{float(term.constant[c])!r}+SUMPRODUCT({cos}*COS({phase})+{sin}*SIN({phase}))"


def _ordered_classes(book: Book, row: int, score: str) -> None:
    """Probabilities of ordered classes from the thresholds between them, and the most probable one."""
    response, sheet = book.scoring.response, book.sheet
    classes = response.classes or ()
    book.put(sheet, row, 1, "class", bold=True)
    book.line(sheet, row, 2, classes)
    book.put(sheet, row + 1, 1, "probability", bold=True)
    below = [f"1/(1+EXP(MAX(-700,MIN(700,{score}-({at!r})))))" for at in response.thresholds]
    edges = ["0", *below, "1"]
    for c in range(len(classes)):
        book.formula(row + 1, 2 + c, f"{edges[c + 1]}-{edges[c]}")
    last = book.letter(1 + len(classes))
    line, names = (f"$B${at}:${last}${at}" for at in (row + 1, row))
    book.formula(2, 2, f"INDEX({names},1,MATCH(MAX({line}),{line},0))")


def _respond(book: Book, row: int, scores: list[str]) -> None:
    """Prediction at the top, probabilities below the scores."""
    response, sheet = book.scoring.response, book.sheet
    q = len(scores)
    book.put(sheet, 2, 1, "prediction", bold=True)
    last = book.letter(1 + q)
    line = f"$B${row - 2}:${last}${row - 2}"
    if response.classes is None:
        for c, score in enumerate(scores):
            mean = {
                "exp": f"EXP(MAX(-708,MIN(709,{score})))",
                "expit": f"1/(1+EXP(-MAX(-700,{score})))",
            }.get(response.link, score)
            if response.link == "ordered":
                mean = f"SMALL({line},{response.ranks[c] + 1})"
            book.formula(2, 2 + c, mean)
        return
    if response.link == "ordinal":
        _ordered_classes(book, row, scores[0])
        return
    book.put(sheet, row, 1, "class", bold=True)
    book.line(sheet, row, 2, response.classes)
    classes = f"$B${row}:${book.letter(1 + len(response.classes))}${row}"
    winner = f"IF({scores[0]}>0,2,1)" if q == 1 else f"MATCH(MAX({line}),{line},0)"
    book.formula(2, 2, f"INDEX({classes},1,{winner})")
    if not response.has_probabilities:
        return
    book.put(sheet, row + 1, 1, "probability", bold=True)
    slope = repr(float(response.slope))
    parts = [f"1/(1+EXP(-MAX(-700,{slope}*{score})))" for score in scores]
    if response.link == "logistic":
        book.formula(row + 1, 2, f"1-{book.formula(row + 1, 3, parts[0])}")
        return
    if response.link == "softmax":
        parts = [f"EXP({slope}*({score}-MAX({line})))" for score in scores]
    book.put(sheet, row + 2, 1, "before division")
    cells = [book.formula(row + 2, 2 + c, part) for c, part in enumerate(parts)]
    for c, cell in enumerate(cells):
        book.formula(row + 1, 2 + c, f"{cell}/SUM({cells[0]}:{cells[-1]})")
