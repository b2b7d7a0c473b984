"""Generated modules, run against ``predict``."""

import ast
import subprocess
import sys

import numpy as np
import pytest
from export_models import KINDS, dicts, fitted, said

import pellucid

# rows of these tests have levels that training did not have
pytestmark = pytest.mark.filterwarnings("ignore::pellucid.exceptions.UnseenLevelWarning")


def module_of(model):
    module = {}
    exec(compile(pellucid.to_python(model), "scores.py", "exec"), module)
    return module


@pytest.mark.parametrize("kind", KINDS)
def test_module_predicts_what_the_model_predicts(kind):
    model, rows = fitted(kind)
    module, records = module_of(model), dicts(model, rows)
    want = said(model, "predict", rows)
    got = [module["predict"](row) for row in records]
    if want.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)
    else:
        assert got == want.tolist()
    assert ("predict_proba" in module) == hasattr(model, "predict_proba")
    if hasattr(model, "predict_proba"):
        P = np.array([[module["predict_proba"](row)[c] for c in model.classes_.tolist()] for row in records])
        np.testing.assert_allclose(P, said(model, "predict_proba", rows), rtol=0, atol=1e-9)
    if hasattr(model, "contributions"):
        parts = [module["contributions"](row) for row in records]
        assert [name for name, _ in parts[0]] == list(model.term_names_)
        values = np.array([[value for _, value in part] for part in parts])
        np.testing.assert_allclose(values, model.contributions(rows), atol=1e-9)


def test_module_runs_in_a_bare_interpreter(tmp_path):
    model, rows = fitted("additive three")
    path = tmp_path / "scores.py"
    text = pellucid.to_python(model, path)
    assert path.read_text(encoding="utf-8") == text
    imported = {
        node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported == {"math", "bisect"}
    record = dicts(model, rows)[0]
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import scores"
    code += f"; print(ascii(scores.predict({record!r})))"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert ast.literal_eval(done.stdout) == model.predict(rows)[0]


def test_values_that_are_needed():
    model, rows = fitted("coefficients")
    module = module_of(model)
    row = dicts(model, rows)[0]
    with pytest.raises(ValueError, match="no value for"):
        module["predict"]({})
    row[next(iter(row))] = float("nan")
    with pytest.raises(ValueError, match="no value for"):
        module["predict"](row)


def test_nan_and_absent_names_are_missing_values():
    model, rows = fitted("additive gaps")
    module = module_of(model)
    assert module["predict"]({}) == pytest.approx(model.predict(rows)[11], abs=1e-9)
    nothing = dict.fromkeys(dicts(model, rows)[0], float("nan"))
    assert module["predict"](nothing) == module["predict"]({})


def test_dates():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(
        {"day": pandas.date_range("2020-01-01", periods=200, freq="7h"), "z": np.arange(200) % 5}
    )
    model = pellucid.AdditiveKernelRegressor(0).fit(X, np.sin(np.arange(200) / 30))
    predict = module_of(model)["predict"]
    got = [predict(row) for row in X.to_dict("records")]
    np.testing.assert_allclose(got, model.predict(X), atol=1e-9)
    assert predict({"day": X["day"][0].to_pydatetime().date(), "z": 0}) == pytest.approx(got[0], abs=1e-9)
