"""Statements, run by SQLite and DuckDB against ``predict``."""

import sqlite3

import numpy as np
import pytest
from export_models import HOSTILE, KINDS, dicts, fitted, hard_rows, said

import pellucid
from pellucid.export.sql import text as sql_text

# rows of these tests have levels that training did not have
pytestmark = pytest.mark.filterwarnings("ignore::pellucid.exceptions.UnseenLevelWarning")

duckdb = pytest.importorskip("duckdb")
pandas = pytest.importorskip("pandas")

ENGINES = ["sqlite", "duckdb"]
KEY = 'row "id"'


def run(engine, statement, model, rows, table="data"):
    """Result of a statement on a table with the rows and a key, in the order of the key."""
    records = dicts(model, rows)
    names = list(records[0])
    types = ["VARCHAR" if any(isinstance(r[n], str) for r in records) else "DOUBLE PRECISION" for n in names]
    columns = ", ".join(f"{sql_text.name(n)} {t}" for n, t in zip(names, types, strict=True))
    db = sqlite3.connect(":memory:") if engine == "sqlite" else duckdb.connect()
    db.execute(f"CREATE TABLE {sql_text.name(table)} ({sql_text.name(KEY)} INTEGER, {columns})")
    marks = ", ".join("?" * (len(names) + 1))
    cells = [(k, *record.values()) for k, record in enumerate(records)]
    db.executemany(f"INSERT INTO {sql_text.name(table)} VALUES ({marks})", cells)
    cursor = db.execute(statement)
    frame = pandas.DataFrame(cursor.fetchall(), columns=[d[0] for d in cursor.description], dtype=object)
    db.close()
    return frame.sort_values(KEY).reset_index(drop=True) if KEY in frame else frame


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", KINDS)
def test_statement_predicts_what_the_model_predicts(kind, engine):
    model, rows = fitted(kind)
    explained = hasattr(model, "contributions")
    got = run(engine, pellucid.to_sql(model, keep=[KEY], contributions=explained), model, rows)
    want = said(model, "predict", rows)
    if want.ndim == 2:
        columns = [f"prediction_{c}" for c in range(want.shape[1])]
        np.testing.assert_allclose(got[columns].astype(float), want, rtol=1e-9, atol=1e-9)
    elif want.dtype.kind == "f":
        np.testing.assert_allclose(got["prediction"].astype(float), want, rtol=1e-9, atol=1e-9)
    else:
        assert got["prediction"].tolist() == want.tolist()
    if hasattr(model, "predict_proba"):
        P, classes = said(model, "predict_proba", rows), model.classes_
        for c in [1] if len(classes) == 2 else range(len(classes)):
            np.testing.assert_allclose(got[f"probability_{classes[c]}"].astype(float), P[:, c], atol=1e-9)
    elif hasattr(model, "classes_"):
        np.testing.assert_allclose(
            got["score"].astype(float), said(model, "decision_function", rows), atol=1e-9
        )
    if explained:
        parts = model.contributions(rows)
        values = got.iloc[:, -parts[0].size :].to_numpy(float)
        np.testing.assert_allclose(values, parts.reshape(len(parts), -1), atol=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["sparse", "sparse three", "isk", "coefficients", "coefficients three"])
def test_no_prediction_without_a_value_that_is_needed(kind, engine):
    model, rows = fitted(kind)
    whole = run(engine, pellucid.to_sql(model, keep=[KEY]), model, rows)
    holes = rows.copy()
    for j in range(rows.shape[1]):
        holes.iloc[j, j] = np.nan
    got = run(engine, pellucid.to_sql(model, keep=[KEY]), model, holes)
    n = rows.shape[1]
    assert got.iloc[:n, 1:].isna().all(axis=None)
    assert got.iloc[n:].astype(str).equals(whole.iloc[n:].astype(str))


@pytest.mark.parametrize("engine", ENGINES)
def test_scores_need_no_exponential(engine):
    for kind in ("additive counts", "additive two", "additive three", "linear fisher"):
        model, rows = fitted(kind)
        statement = pellucid.to_sql(model, keep=[KEY], output="score")
        assert "EXP(" not in statement
        assert "EXP(" in pellucid.to_sql(model)
        got = run(engine, statement, model, rows)
        scores = got[[c for c in got if c.startswith("score")]].to_numpy(float)
        if kind == "additive counts":
            want = np.log(model.predict(rows))
        else:
            want = model.decision_function(rows)
        np.testing.assert_allclose(scores, want.reshape(len(want), -1), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("table", ["pellucid_input", 'x"; DROP TABLE y; --', "select", "🌡️"])
def test_names_of_tables(engine, table):
    model, rows = fitted("coefficients")
    got = run(engine, pellucid.to_sql(model, table, keep=[KEY]), model, rows, table)
    np.testing.assert_allclose(got["prediction"].astype(float), said(model, "predict", rows), rtol=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
def test_other_column_names_and_kept_columns(engine):
    model, rows = fitted("coefficients")
    renamed = rows.rename(columns={HOSTILE[0]: "prediction", HOSTILE[1]: "k0"})
    statement = pellucid.to_sql(
        model, keep=[KEY, "prediction"], columns={HOSTILE[0]: "prediction", HOSTILE[1]: "k0"}
    )
    got = run(engine, statement, model, renamed)
    assert list(got) == [KEY, "prediction", "prediction_2"]
    np.testing.assert_allclose(got["prediction_2"].astype(float), said(model, "predict", rows), rtol=1e-9)
    with pytest.raises(ValueError, match="features that the model does not have"):
        pellucid.to_sql(model, columns={"nobody": "x"})


def test_an_absent_column_is_an_error_not_a_text():
    model, rows = fitted("coefficients")
    other = rows.rename(columns={HOSTILE[0]: "other"})
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        run("sqlite", pellucid.to_sql(model), model, other)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("values", "types"),
    [([1, 2, 30], ["INTEGER", "DOUBLE PRECISION", "VARCHAR"]), ([True, False], ["BOOLEAN", "VARCHAR"])],
)
def test_levels_in_columns_of_any_type(engine, values, types):
    x = pandas.Series(values * 20, dtype="category")
    model = pellucid.SparseAdditiveRegressor(1e-3).fit(x.to_frame("a"), np.arange(len(x)) % len(values))
    want = model.predict(x[: len(values)].to_frame("a"))
    assert np.ptp(want) > 0.5
    for kind in types:
        db = sqlite3.connect(":memory:") if engine == "sqlite" else duckdb.connect()
        db.execute(f"CREATE TABLE data (k INTEGER, a {kind})")
        cells = [str(v) if kind == "VARCHAR" else v for v in values]
        db.executemany("INSERT INTO data VALUES (?, ?)", list(enumerate(cells)))
        got = [row[1] for row in sorted(db.execute(pellucid.to_sql(model, keep=["k"])).fetchall())]
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12, err_msg=kind)
        db.close()


@pytest.mark.parametrize("kind", ["additive", "additive gaps", "coefficients"])
def test_nan_is_missing_in_duckdb(kind):
    model, rows = fitted(kind)
    rows = rows.copy()
    rows.iloc[8, 0] = np.nan
    data = rows.assign(key=range(len(rows)))
    db = duckdb.connect()
    db.register("frame", data)
    db.execute("CREATE TABLE data AS SELECT * FROM frame")
    db.execute(f"UPDATE data SET {sql_text.name(HOSTILE[0])} = 'nan'::DOUBLE WHERE key = 8")
    got = db.execute(pellucid.to_sql(model, keep=["key"]) + " ORDER BY 1").fetchall()
    if kind == "coefficients":
        assert got[8][1] is None
    else:
        np.testing.assert_allclose([p for _, p in got], model.predict(rows), rtol=1e-9)


def test_integer_and_decimal_columns():
    rng = np.random.default_rng(0)
    X = pandas.DataFrame({"whole": rng.integers(0, 9, 150), "cents": rng.integers(0, 900, 150) / 100})
    model = pellucid.AdditiveKernelRegressor(0).fit(X, X["whole"] ** 2 + X["cents"])
    db = duckdb.connect()
    db.register("frame", X.assign(key=range(len(X))))
    db.execute("CREATE TABLE data AS SELECT key, whole, CAST(cents AS DECIMAL(9, 2)) AS cents FROM frame")
    got = db.execute(pellucid.to_sql(model, keep=["key"]) + " ORDER BY 1").fetchall()
    np.testing.assert_allclose([p for _, p in got], model.predict(X), rtol=1e-9)


def test_many_features_and_a_qualified_table(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 90))
    model = pellucid.SparseAdditiveRegressor(1e-3, n_basis=3).fit(X, X.sum(axis=1))
    assert len(model.terms_) > 80  # more joins than one SELECT may have
    path = tmp_path / "score.sql"
    statement = pellucid.to_sql(model, ("main", "data"), keep=[KEY], path=path)
    assert path.read_text(encoding="utf-8") == statement + ";\n"
    got = run("sqlite", statement, model, X[:20])
    np.testing.assert_allclose(got["prediction"].astype(float), model.predict(X[:20]), rtol=1e-9)


def test_a_model_without_terms():
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = pellucid.SparseAdditiveRegressor(100.0, n_basis=3).fit(X, X[:, 0])
    assert model.terms_ == []
    for engine in ENGINES:
        got = run(engine, pellucid.to_sql(model), model, X[:3])
        np.testing.assert_allclose(got["prediction"].astype(float), model.predict(X[:3]), atol=1e-12)


def test_pieces():
    assert sql_text.name('a"b') == '"a""b"'
    assert sql_text.quoted("it's") == "'it''s'"
    assert sql_text.number(-1.5) == "(-1.5e0)"
    assert "\n" not in sql_text.comment("a\nb\u2028c\r")
    for bad in ("", "a\x00b"):
        with pytest.raises(ValueError, match="SQL has no name"):
            sql_text.name(bad)
    with pytest.raises(ValueError, match="SQL has no literal"):
        sql_text.quoted("\x00")
    with pytest.raises(ValueError, match="output must be"):
        pellucid.to_sql(fitted("coefficients")[0], output="cube")
    assert hard_rows().shape == (12, 3)
