"""Axes of one knot, of no knot, and with a missing point between: all exports of one model made by hand."""

import json
import sqlite3

import numpy as np
import pytest

from pellucid.export.document import document, from_json
from pellucid.export.python_source import source
from pellucid.export.scoring import ScoringModel
from pellucid.export.scoring.parts import Feature, Products, Response, ScoreAxis
from pellucid.export.sql.statement import Statement

NONE = float("nan")
EDGES = ScoringModel(
    "ByHand",
    (Feature("one"), Feature("none"), Feature("two"), Feature("level", ("a", "(other)"))),
    (
        ScoreAxis(0, np.array([5.0]), 0, 2, 1, 2),  # one knot, then a point for missing values
        ScoreAxis(1, np.empty(0), 0, 1, 0, 1),  # no knot: training had nothing but missing values
        ScoreAxis(2, np.array([0.0, 1.0]), 0, 2, 2, 2),  # missing values are nowhere
        ScoreAxis(3, np.empty(0), 2, 2, 2, 1),  # unseen levels count as the other ones
    ),
    {},
    (
        Products("one", (0,), (np.array([[1.0], [2.0], [0.0]]),), np.array([0])),
        Products("none", (1,), (np.array([[10.0], [0.0]]),), np.array([0])),
        Products("two", (2,), (np.array([[100.0], [200.0], [0.0]]),), np.array([0])),
        Products("level", (3,), (np.array([[1e3], [2e3], [0.0]]),), np.array([0])),
    ),
    np.array([0.5]),
    Response("identity"),
)
ROWS = [
    {"one": 7.0, "none": 3.0, "two": 0.25, "level": "a"},
    {"one": None, "none": None, "two": None, "level": None},
    {"one": -9.0, "none": None, "two": 9.0, "level": "zzz"},
    {"one": None, "none": 1.0, "two": -9.0, "level": "(other)"},
]
WANT = [0.5 + 1 + 0 + 125 + 1e3, 0.5 + 2 + 10 + 0 + 0, 0.5 + 1 + 10 + 200 + 2e3, 0.5 + 2 + 0 + 100 + 2e3]


def test_by_hand_numpy_json_and_python():
    assert EDGES.predict(ROWS).tolist() == WANT
    assert from_json(json.dumps(document(EDGES))).predict(ROWS).tolist() == WANT
    module = {}
    exec(source(EDGES), module)
    assert [module["predict"](row) for row in ROWS] == WANT


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_by_hand_sql(engine):
    db = sqlite3.connect(":memory:") if engine == "sqlite" else pytest.importorskip("duckdb").connect()
    db.execute("CREATE TABLE t (one REAL, none REAL, two REAL, level VARCHAR, k INTEGER)")
    db.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", [(*row.values(), k) for k, row in enumerate(ROWS)])
    statement = Statement(EDGES, ["t"], ["k"], {}).text(contributions=False, exponential=True)
    got = db.execute(statement + " ORDER BY 1").fetchall()
    assert [prediction for _, prediction in got] == WANT


def test_by_hand_onnx():
    reference = pytest.importorskip("onnx.reference")
    from pellucid.export.onnx.model import _of_terms

    feeds = {
        name: np.array([[NONE if row[name] is None else row[name]] for row in ROWS])
        for name in ("one", "none", "two")
    }
    feeds["level"] = np.array([[row["level"] or ""] for row in ROWS], dtype=object)
    got = reference.ReferenceEvaluator(_of_terms(EDGES)).run(["prediction"], feeds)[0]
    assert got.tolist() == WANT


def test_by_hand_workbook(tmp_path):
    formulas = pytest.importorskip("formulas")
    openpyxl = pytest.importorskip("openpyxl")
    from pellucid.export.sheets.score_sheet import write_workbook

    write_workbook(EDGES, None, tmp_path / "edges.xlsx")
    for k, (row, want) in enumerate(zip(ROWS, WANT, strict=True)):
        book = openpyxl.load_workbook(tmp_path / "edges.xlsx")
        for j, value in enumerate(row.values()):
            book["Score"].cell(5 + j, 2).value = value
        name = f"row{k}.xlsx"
        book.save(tmp_path / name)
        cells = formulas.ExcelModel().loads(str(tmp_path / name)).finish().calculate()
        assert cells[f"'[{name}]SCORE'!B2"].value[0, 0] == want
