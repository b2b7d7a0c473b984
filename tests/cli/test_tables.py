"""Reading and writing tables of all formats."""

import io
import json
import sys
import types

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from pellucid.cli.errors import UserError
from pellucid.cli.tables import read_table
from pellucid.cli.writing import write_table

FRAME = pd.DataFrame({"a": [1.5, 2.0], "b": ["x", "y"]})


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "feather", "arrow", "xlsx", "json"])
def test_what_is_written_can_be_read(tmp_path, ending):
    if ending == "xlsx":
        pytest.importorskip("openpyxl")
    path = tmp_path / f"t.{ending}"
    write_table(FRAME, str(path))
    read = read_table(str(path)).frame
    assert read["b"].tolist() == ["x", "y"]
    assert pd.to_numeric(read["a"]).tolist() == [1.5, 2.0]
    assert [p.name for p in tmp_path.iterdir()] == [path.name]  # nothing is left beside it


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_are_found(tmp_path, separator):
    path = tmp_path / "t.csv"
    path.write_text(f"a{separator}b\n1{separator}x\n")
    assert read_table(str(path)).frame.to_dict("records") == [{"a": "1", "b": "x"}]


def test_cells_of_text_files_stay_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("\ufeffcode,land\n007,NA\n".encode())
    assert read_table(str(path)).frame.to_dict("records") == [{"code": "007", "land": "NA"}]


def test_other_encodings_are_said(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_bytes("città\nRomà\n".encode("cp1252"))
    assert read_table(str(path)).frame["città"].tolist() == ["Romà"]
    assert "Windows-1252" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (b"a,b\n1,x\n", 1),
        (b'{"a": 1, "b": "x"}', 1),
        (b'[{"a": 1}, {"a": 2}]', 2),
        (b'{"a": 1}\n{"a": 2}\n', 2),
    ],
)
def test_standard_input(monkeypatch, content, rows):
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(content)))
    assert len(read_table("-").frame) == rows


def test_parquet_on_standard_input(monkeypatch):
    stream = io.BytesIO()
    FRAME.to_parquet(stream)
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(stream.getvalue())))
    assert_frame_equal(read_table("-").frame, FRAME)


def test_sheets(tmp_path, capsys):
    pytest.importorskip("openpyxl")
    path = tmp_path / "t.xlsx"
    with pd.ExcelWriter(path) as book:
        FRAME.to_excel(book, sheet_name="first", index=False)
        FRAME.head(1).to_excel(book, sheet_name="second", index=False)
    assert len(read_table(str(path)).frame) == 2
    assert "'first' was read" in capsys.readouterr().err
    assert len(read_table(str(path), sheet="second").frame) == 1
    with pytest.raises(UserError, match="no sheet 'third'; it has first, second"):
        read_table(str(path), sheet="third")


def test_a_column_that_counts_rows_is_left_out(tmp_path):
    path = tmp_path / "t.csv"
    FRAME.to_csv(path)
    assert list(read_table(str(path)).frame) == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"", "'t.csv' is empty"),
        ("t.csv", b"\n\n", "'t.csv' is empty"),
        ("t.csv", b"a,b\n", "has column names but no rows"),
        ("t.csv", b"a,a\n1,2\n", "two columns called 'a'"),
        ("t.csv", b"a,b\n1,2\n1,2,3\n", "not a regular table"),
        ("t.csv", b"\x00\x01\x02", "not a text file"),
        ("t.doc", b"x", "an ending that is not known here; known are .csv"),
        ("t.json", b"[1, 2]", "one JSON object per row"),
        ("t.json", b'{"a": [1]}', "lists or objects within a row"),
        ("t.json", b"{", "not valid JSON"),
        ("t.parquet", b"PAR1 and nothing", "cannot be read as parquet"),
        ("t.xlsx", b"no workbook", "cannot be read as excel"),
    ],
)
def test_bad_files(tmp_path, name, content, message):
    if name.endswith("xlsx"):
        pytest.importorskip("openpyxl")
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises((UserError, ValueError), match=message):
        read_table(str(path))


def test_nothing_is_written_where_writing_fails(tmp_path):
    with pytest.raises(UserError, match="no folder"):
        write_table(FRAME, str(tmp_path / "nowhere" / "t.csv"))
    with pytest.raises(UserError, match="ending that is not known"):
        write_table(FRAME, str(tmp_path / "t.doc"))
    assert list(tmp_path.iterdir()) == []


def test_csv_to_standard_output(capsys):
    write_table(FRAME, None)
    assert capsys.readouterr().out == "a,b\n1.5,x\n2.0,y\n"
    write_table(FRAME, "-")
    assert json.dumps(capsys.readouterr().out) == '"a,b\\n1.5,x\\n2.0,y\\n"'
