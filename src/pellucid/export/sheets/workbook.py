"""An Excel workbook with the tables of a model and a sheet that scores with them.

Every text of the data (names, levels, classes) is a cell of its own kind, never part of a formula: what looks
like a formula in a column name stays a text.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from pellucid.effects.terms import MISSING
from pellucid.export.scoring.model import ScoringModel
from pellucid.export.scoring.parts import Line, Products, Waves

TOP = 5
"""Row of the first feature in the sheet for scoring; values are in column B."""

_NOW, _FIRST = 3, 4  # rows of the sheet of tables: values for what was typed, and the first point


def load_openpyxl() -> Any:
    """The package openpyxl, or a sentence on how to get it."""
    try:
        import openpyxl
    except ImportError:
        raise ImportError(
            "An Excel workbook needs the package openpyxl: pip install 'pellucid[excel]'"
        ) from None
    return openpyxl


class Book:
    """The workbook as it grows, with the places of what formulas refer to."""

    def __init__(self, scoring: ScoringModel) -> None:
        self.openpyxl = load_openpyxl()
        self.scoring = scoring
        self.workbook = self.openpyxl.Workbook()
        self.sheet = self.workbook.active
        self.sheet.title = "Score"
        self.letter = self.openpyxl.utils.get_column_letter
        self.bold = self.openpyxl.styles.Font(bold=True)
        self.fill = self.openpyxl.styles.PatternFill("solid", fgColor="FFF2CC")
        self.points: dict[int, str] = {}  # range of the points of an axis
        self.numbers: dict[int, str] = {}  # range of their numbers
        self.curves: dict[tuple[Any, ...], str] = {}  # range of the values of functions for what was typed
        self.blocks: dict[int, tuple[int, int]] = {}  # first and last row of the waves of a term

    def put(self, sheet: Any, row: int, column: int, value: Any, *, bold: bool = False) -> None:
        """Write a number, a text or, with :meth:`formula`, nothing else."""
        cell = sheet.cell(row, column)
        if isinstance(value, bool | np.bool_):
            cell.value = bool(value)
        elif isinstance(value, int | float | np.number):
            cell.value = None if value != value else float(value)
        else:
            text = self.openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE.sub("\ufffd", str(value))[:32767]
            cell.value = text
            cell.data_type = "s"  # also if it begins with an equals sign
        if bold:
            cell.font = self.bold

    def line(self, sheet: Any, row: int, column: int, values: Iterable[Any], *, bold: bool = False) -> None:
        """Write values side by side."""
        for n, value in enumerate(values):
            self.put(sheet, row, column + n, value, bold=bold)

    def formula(self, row: int, column: int, text: str, sheet: Any = None) -> str:
        """Write a formula, by default into the sheet for scoring, and return the cell's address."""
        (self.sheet if sheet is None else sheet).cell(row, column).value = "=" + text
        return f"${self.letter(column)}${row}"

    def place(self, a: int) -> tuple[str, str, str]:
        """Cells that hold the point of an axis, the way to the next, and the warped value."""
        row = TOP + len(self.scoring.features) + 2 + a
        return f"Score!$B${row}", f"Score!$C${row}", f"Score!$D${row}"

    def range(self, sheet: str, column: int, rows: tuple[int, int], width: int = 1) -> str:
        """Address of some cells."""
        last = self.letter(column + width - 1)
        return f"{sheet}!${self.letter(column)}${rows[0]}:${last}${rows[1]}"

    # ------------------------------------------------------------------ tables
    def tables(self) -> None:
        """Points of every axis, and the functions on it."""
        sheet = self.workbook.create_sheet("Tables")
        column = 1
        for a, axis in enumerate(self.scoring.axes):
            rows = axis.size + 2  # what is none of the points, and a row to look to the right from there
            self.put(sheet, 1, column, self.scoring.features[axis.feature].name, bold=True)
            self.line(sheet, 2, column, ("number", "point"), bold=True)
            self.put(sheet, _NOW, column + 1, "now", bold=True)
            for i, label in enumerate(self._labels(a)):
                self.line(sheet, _FIRST + i, column, (i + 1, label))
            known = axis.levels if axis.is_levels else len(axis.knots)
            span = (_FIRST, _FIRST + max(known, 1) - 1)
            self.numbers[a] = self.range("Tables", column, span)
            self.points[a] = self.range("Tables", column + 1, span)
            column += 2
            for key, name, F in self._functions(a):
                self.curves[key] = self.range("Tables", column, (_NOW, _NOW), F.shape[1])
                for values in F.T:
                    self.put(sheet, 2, column, name, bold=True)
                    self.formula(_NOW, column, self._now(a, column, rows), sheet)
                    for i, value in enumerate([*values, 0.0]):
                        self.put(sheet, _FIRST + i, column, value)
                    column += 1
            column += 1
        for row, term in enumerate(self.scoring.terms, 1):
            if isinstance(term, Line):
                self.line(sheet, row, 1, [term.name, *term.coef])

    def _now(self, a: int, column: int, rows: int) -> str:
        """Value of a function at the point of its axis, and some way on to the next."""
        (point, way, _), letter = self.place(a), self.letter(column)
        table = f"${letter}${_FIRST}:${letter}${_FIRST + rows - 1}"
        left, right = f"INDEX({table},{point})", f"INDEX({table},{point}+1)"
        return f"{left}+{way}*({right}-{left})"

    def _labels(self, a: int) -> list[Any]:
        axis = self.scoring.axes[a]
        feature = self.scoring.features[axis.feature]
        labels: list[Any] = list(feature.levels or ()) if axis.is_levels else axis.knots.tolist()
        labels += [MISSING] * (axis.size - len(labels))
        return [*labels, "(any other)", "(end)"]

    def _functions(self, a: int) -> list[tuple[tuple[Any, ...], str, np.ndarray]]:
        """Key, name and table of the functions on an axis: of each term, side and output, and the warp."""
        found: list[tuple[tuple[Any, ...], str, np.ndarray]] = []
        if a in self.scoring.warps:
            found.append((("warp", a), "warped", self.scoring.warps[a][:, None]))
        for t, side, F in self.scoring.functions(a):
            term = self.scoring.terms[t]
            assert isinstance(term, Products)
            for c in np.unique(term.outputs).tolist():
                found.append(((t, side, c), term.name, F[:, term.outputs == c]))
        return found

    def waves(self) -> None:
        """Frequencies and weights of every term."""
        sheet = self.workbook.create_sheet("Waves")
        row = 1
        for t, term in enumerate(self.scoring.terms):
            if isinstance(term, Waves):
                self.put(sheet, row, 1, term.name, bold=True)
                # a frequency of zero where there is no second feature
                omega = np.column_stack([term.omega, np.zeros((len(term.omega), 2 - len(term.axes)))])
                for k, values in enumerate(np.hstack([omega, term.cos, term.sin]), 1):
                    self.line(sheet, row + k, 1, values)
                self.blocks[t] = (row + 1, row + len(omega))
                row += len(omega) + 2
