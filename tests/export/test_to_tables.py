"""Tidy tables, and workbooks computed by a spreadsheet engine, against ``predict``."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from export_models import HOSTILE, KINDS, TOWNS, dicts, fitted, said

import pellucid

# rows of these tests have levels that training did not have
pytestmark = pytest.mark.filterwarnings("ignore::pellucid.exceptions.UnseenLevelWarning")

openpyxl = pytest.importorskip("openpyxl")
pandas = pytest.importorskip("pandas")


# ------------------------------------------------------------------------ tables
@pytest.mark.parametrize("kind", KINDS)
def test_tables(kind):
    model, _ = fitted(kind)
    tables = pellucid.to_tables(model)
    several = np.size(tables["intercept"]["intercept"]) > 1
    assert all(("output" in table) == several for name, table in tables.items() if name != "importances")
    if "coefficients" in tables:
        coef = getattr(model, "coef_", None)
        if kind.startswith("coefficients"):
            np.testing.assert_array_equal(tables["coefficients"]["coefficient"], np.ravel(coef))
        return
    assert set(tables) == {"intercept", "importances", *model.term_names_}
    assert tables["importances"]["term"].tolist() == model.importances_.top(99)


def test_tables_are_the_whole_model():
    model, rows = fitted("additive gaps")
    tables, eta = pellucid.to_tables(model), np.full(len(rows), model.intercept_)
    first, second, third = HOSTILE
    for name, term in zip(model.term_names_, model.terms_, strict=True):
        table = tables[name]
        if len(term) == 2 or term == (2,):
            continue
        point = table[HOSTILE[term[0]]].to_numpy()
        known = ~np.isnan(point)
        effect = table["effect"].to_numpy()
        x = rows[HOSTILE[term[0]]].to_numpy()
        gone = effect[~known][0] if (~known).any() else 0.0
        value = np.where(np.isnan(x), gone, np.interp(x, point[known], effect[known]))
        t = model.term_names_.index(name)
        np.testing.assert_allclose(value, model.contributions(rows)[:, t], atol=1e-12)
        eta += value
    towns = tables[third].set_index(third)["effect"]
    assert set(towns.index) == {*TOWNS, "(missing)"}
    assert towns["(missing)"] == model.contributions(rows)[10, model.term_names_.index(third)]
    pair = tables[f"{first} × {second}"]
    assert list(pair) == [first, second, "effect", "density"] or list(pair) == [first, second, "effect"]
    shape = [len(np.unique(pair[c])) for c in (first, second)]
    assert len(pair) == shape[0] * shape[1]


def test_names_that_meet():
    X = pandas.DataFrame({"effect": np.arange(60.0), "intercept": np.tile([1.0, 2.0, 4.0], 20)})
    model = pellucid.AdditiveKernelRegressor(0).fit(X, X["effect"] / 10 + X["intercept"])
    tables = pellucid.to_tables(model)
    assert list(tables)[2:] == ["effect", "intercept_"]
    assert {"effect_", "effect"} < set(tables["effect"])


def test_dicts_of_columns_without_pandas(monkeypatch):
    model, _ = fitted("sparse three")
    frames = pellucid.to_tables(model)
    monkeypatch.setitem(sys.modules, "pandas", None)
    plain = pellucid.to_tables(model)
    assert type(plain["intercept"]) is dict
    assert list(plain) == list(frames)
    for name, table in plain.items():
        assert list(table) == list(frames[name])
        assert all(np.array_equal(column, frames[name][key].to_numpy()) for key, column in table.items())


# --------------------------------------------------------------------- workbooks
def calculated(path, model, rows):
    """A function from cells to values for each row, computed by a spreadsheet engine."""
    formulas = pytest.importorskip("formulas")
    whole, found = engine(formulas, path), []
    for k, record in enumerate(dicts(model, rows)):
        book, name, inputs = whole, path.name, {}
        absent = [j for j, value in enumerate(record.values()) if value is None]
        if absent:  # empty the cells themselves
            copy = openpyxl.load_workbook(path)
            for j in absent:
                copy["Score"].cell(5 + j, 2).value = None
            name = f"copy{k}.xlsx"
            copy.save(path.with_name(name))
            book = engine(formulas, path.with_name(name))
        for j, value in enumerate(record.values()):
            if value is not None:
                inputs[f"'[{name}]SCORE'!B{5 + j}"] = value
        cells = book.calculate(inputs=inputs)
        found.append(lambda a, cells=cells, name=name: cells[f"'[{name}]SCORE'!{a}"].value[0, 0])
    return found


def engine(formulas, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return formulas.ExcelModel().loads(str(path)).finish()


def labelled_row(path, label):
    sheet = openpyxl.load_workbook(path)["Score"]
    return next(row for row in range(1, sheet.max_row + 1) if sheet.cell(row, 1).value == label)


@pytest.mark.parametrize(
    "kind", sorted({*KINDS} - {"additive", "additive two", "additive three", "additive numbers"})
)
def test_workbook_predicts_what_the_model_predicts(kind, tmp_path):
    pytest.importorskip("formulas")
    model, rows = fitted(kind)
    path = tmp_path / "scorecard.xlsx"
    pellucid.to_tables(model, path)
    some = [0, 1, 4, 5, 8, 11]
    rows = rows[some] if isinstance(rows, np.ndarray) else rows.iloc[some]
    answers = calculated(path, model, rows)
    want = said(model, "predict", rows)
    if want.ndim == 2:
        got = np.array([[cell("B2"), cell("C2")] for cell in answers], dtype=float)
        np.testing.assert_allclose(got, want, rtol=1e-9)
    elif want.dtype.kind == "f":
        np.testing.assert_allclose([float(cell("B2")) for cell in answers], want, rtol=1e-9, atol=1e-9)
    else:
        assert [cell("B2") for cell in answers] == want.tolist()
    if hasattr(model, "predict_proba"):
        row = labelled_row(path, "probability")
        columns = "BCD"[: len(model.classes_)]
        got = np.array([[float(cell(f"{c}{row}")) for c in columns] for cell in answers])
        np.testing.assert_allclose(got, said(model, "predict_proba", rows), atol=1e-9)


def test_truth_values_and_numbers_are_found_among_the_levels(tmp_path):
    pytest.importorskip("formulas")
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, 60) == 1, rng.choice([1, 2, 30], 60)
    X = pandas.DataFrame({"a": a, "b": b}).astype("category")
    model = pellucid.SparseAdditiveRegressor(1e-3).fit(X, a + np.log(b))
    path = tmp_path / "scorecard.xlsx"
    pellucid.to_tables(model, path)
    texts = [str(cell.value) for row in openpyxl.load_workbook(path)["Score"].iter_rows() for cell in row]
    assert sum("ISLOGICAL" in text for text in texts) == 1  # EXACT would read a truth value as TRUE
    book = engine(pytest.importorskip("formulas"), path)
    name = f"'[{path.name}]SCORE'!"
    for k, want in enumerate(model.predict(X[:6])):
        cells = book.calculate(inputs={f"{name}B5": bool(a[k]), f"{name}B6": int(b[k])})
        assert float(cells[f"{name}B2"].value[0, 0]) == pytest.approx(want)


@pytest.mark.parametrize("kind", ["sparse", "coefficients"])
def test_an_empty_cell_that_is_needed_gives_no_prediction(kind, tmp_path):
    pytest.importorskip("formulas")
    model, rows = fitted(kind)
    path = tmp_path / "scorecard.xlsx"
    pellucid.to_tables(model, path)
    rows = rows.iloc[:2].copy()
    rows.iloc[0, 1] = np.nan
    empty, whole = calculated(path, model, rows)
    assert str(empty("B2")) == "#N/A"
    assert float(whole("B2")) == pytest.approx(said(model, "predict", rows.iloc[1:])[0], rel=1e-9)


def test_texts_of_the_data_are_never_formulas(tmp_path):
    model, _ = fitted("additive gaps")
    path = tmp_path / "scorecard.xlsx"
    pellucid.to_tables(model, path)
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["Score", "Tables", "Importances"]
    texts = [*HOSTILE, *TOWNS]
    seen = 0
    for sheet in book:
        for row in sheet.iter_rows():
            for cell in row:
                if cell.data_type == "f":
                    formula = cell.value
                    assert not any(text in formula for text in ['"', "'", "cmd", "{x}", "Ulm"])
                elif isinstance(cell.value, str):
                    seen += cell.value in texts
    assert seen > len(texts)
    assert [book["Score"].cell(5 + j, 1).value for j in range(3)] == list(HOSTILE)


def test_control_characters(tmp_path):
    X = pandas.DataFrame({"a\x01b": np.arange(50.0), "z": np.tile([0.0, 1.0], 25)})
    model = pellucid.AdditiveKernelRegressor(0).fit(X, np.sin(X["z"]) + X["a\x01b"])
    pellucid.to_tables(model, tmp_path / "s.xlsx")
    assert openpyxl.load_workbook(tmp_path / "s.xlsx")["Score"]["A5"].value == "a\ufffdb"


def test_without_the_package():
    code = (
        "import sys; sys.modules['openpyxl'] = None; import numpy as np, pellucid\n"
        "model = pellucid.SparseAdditiveRegressor(0.1, n_basis=2).fit(np.eye(20), np.arange(20.0))\n"
        "assert 'intercept' in pellucid.to_tables(model)\n"
        "try: pellucid.to_tables(model, 'x.xlsx')\nexcept ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "An Excel workbook needs the package openpyxl: pip install 'pellucid[excel]'\n"
