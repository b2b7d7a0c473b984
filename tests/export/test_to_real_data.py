"""Every export on real tables, against ``predict``."""

import os
import sqlite3
import warnings
from pathlib import Path

import numpy as np
import pytest

import pellucid
from pellucid.export import from_json

pandas = pytest.importorskip("pandas")
duckdb = pytest.importorskip("duckdb")
onnxruntime = pytest.importorskip("onnxruntime")

pytestmark = pytest.mark.data

ISK = {"sigma": 1.0, "n_components": 6, "alpha": 1e-2, "sparse_alpha": 1e-3, "l1_ratio": 0.5}
REGRESSION = {
    "additive": pellucid.AdditiveKernelRegressor(),
    "sparse": pellucid.SparseAdditiveRegressor(0.02, n_basis=6),
    "isk": pellucid.ISKRegressor(**ISK),
    "coefficients": pellucid.InterpretableKernelRegressor(alpha=1.0, certify=0),
}
CLASSES = {
    "additive": pellucid.AdditiveKernelClassifier(),
    "sparse": pellucid.SparseAdditiveClassifier(0.02, n_basis=6),
    "isk": pellucid.ISKClassifier(**ISK),
    "coefficients": pellucid.InterpretableKernelClassifier(alpha=1.0, certify=0),
}
SETS = {  # each kind on two tables or more, each table with some kind
    "airfoil": REGRESSION,
    "california_housing": {"additive": REGRESSION["additive"]},
    "kin8nm": {"coefficients": REGRESSION["coefficients"]},
    "parkinsons_updrs": {"sparse": REGRESSION["sparse"]},
    "randhie": {"additive": pellucid.AdditiveKernelRegressor(loss="poisson")},
    "credit_default": {"sparse": CLASSES["sparse"]},
    "bank_additional_full": CLASSES,
    "spambase": {"coefficients": CLASSES["coefficients"]},
    "eeg_eye_state": {"isk": CLASSES["isk"]},
}
CASES = [(table, kind) for table, models in SETS.items() for kind in models]


def read(name):
    folder = os.environ.get("PELLUCID_DATA")
    if not folder:
        pytest.skip("PELLUCID_DATA does not name a folder with the real datasets")
    path = Path(folder) / f"{name}.parquet"
    if not path.exists():
        pytest.skip(f"the folder of PELLUCID_DATA has no {path.name}")
    table = pandas.read_parquet(path)
    table = table.sample(min(len(table), 700), random_state=0).reset_index(drop=True)
    return table.iloc[:, :-1], table.iloc[:, -1].to_numpy()


def python_answers(model, rows):
    module = {}
    exec(compile(pellucid.to_python(model), "scores.py", "exec"), module)
    records = rows.astype(object).where(rows.notna(), None).to_dict("records")
    return [module["predict"](record) for record in records]


def sql_answers(model, rows, engine):
    statement = pellucid.to_sql(model, keep=["_key_"]) + " ORDER BY 1"
    data = rows.assign(_key_=range(len(rows)))
    if engine == "duckdb":
        db = duckdb.connect()
        db.register("frame", data)
        db.execute("CREATE TABLE data AS SELECT * FROM frame")
        return [row[1] for row in db.execute(statement).fetchall()]
    db = sqlite3.connect(":memory:")
    columns = ", ".join('"' + c.replace('"', '""') + '"' for c in data.columns)
    db.execute(f"CREATE TABLE data ({columns})")
    cells = data.astype(object).where(data.notna(), None).to_numpy().tolist()
    db.executemany(f"INSERT INTO data VALUES ({', '.join('?' * data.shape[1])})", cells)
    return [row[1] for row in db.execute(statement).fetchall()]


def onnx_answers(model, rows):
    graph = pellucid.to_onnx(model)
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    if [i.name for i in session.get_inputs()] == ["X"]:
        feeds = {"X": rows.to_numpy(float)}
    else:
        feeds = {}
        for spec in session.get_inputs():
            values = rows[spec.name]
            text = spec.type == "tensor(string)"
            feeds[spec.name] = (values.astype(str) if text else values.astype(float)).to_numpy(
                object if text else float
            )[:, None]
    return session.run(None, feeds)[0]


@pytest.mark.parametrize(("table", "kind"), CASES)
def test_exports_agree_with_predict(table, kind):
    from sklearn.base import clone

    X, y = read(table)
    if kind == "coefficients":
        X = X.select_dtypes("number")
    model = clone(SETS[table][kind])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[:500], y[:500])
        rows = X[500:]
        want = model.predict(rows)
    classes = hasattr(model, "classes_")
    for answers in (
        from_json(pellucid.to_json(model)).predict(rows),
        python_answers(model, rows),
        sql_answers(model, rows, "sqlite"),
        sql_answers(model, rows, "duckdb"),
        onnx_answers(model, rows),
    ):
        if classes:
            assert list(answers) == want.tolist()
        else:
            np.testing.assert_allclose(np.array(answers, dtype=float), want, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("table", ["airfoil", "california_housing", "credit_default", "spambase"])
def test_kernel_models_as_graphs(table):
    X, y = read(table)
    numbers = X.to_numpy(float)
    numbers = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)
    classes = table in ("credit_default", "spambase")
    model = pellucid.KernelClassifier(alpha=1.0) if classes else pellucid.KernelRidge("matern")
    model.fit(numbers[:300], y[:300])
    got = onnx_answers(model, pandas.DataFrame(numbers[500:]))
    want = model.predict(numbers[500:])
    if classes:
        assert got.tolist() == want.tolist()
    else:
        np.testing.assert_allclose(got, want, rtol=1e-7)
