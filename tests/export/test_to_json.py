"""Documents to score with, against ``predict``."""

import json

import numpy as np
import pytest
from export_models import HOSTILE, KINDS, dicts, fitted, hard_rows, said

import pellucid
from pellucid.export import from_json
from pellucid.export.scoring.parts import low_rank

# rows of these tests have levels that training did not have
pytestmark = pytest.mark.filterwarnings("ignore::pellucid.exceptions.UnseenLevelWarning")


@pytest.mark.parametrize("kind", KINDS)
def test_document_predicts_what_the_model_predicts(kind):
    model, rows = fitted(kind)
    again = from_json(pellucid.to_json(model))
    want = said(model, "predict", rows)
    for form in (rows, dicts(model, rows)):
        got = again.predict(form)
        if want.dtype.kind == "f":
            np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)
        else:
            assert got.tolist() == want.tolist()
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(
            again.predict_proba(rows), said(model, "predict_proba", rows), rtol=0, atol=1e-10
        )
    elif hasattr(model, "classes_"):
        np.testing.assert_allclose(
            again.decision_function(rows), said(model, "decision_function", rows), atol=1e-10
        )
        with pytest.raises(ValueError, match="has no class probabilities"):
            again.predict_proba(rows)
    if hasattr(model, "contributions"):
        assert again.term_names == list(model.term_names_)
        np.testing.assert_allclose(again.contributions(rows), model.contributions(rows), atol=1e-10)


def test_document_round_trip_is_exact(tmp_path):
    model, rows = fitted("additive gaps")
    path = tmp_path / "model.json"
    text = pellucid.to_json(model, path)
    assert path.read_text(encoding="utf-8") == text + "\n"
    content = json.loads(text)
    assert [f["name"] for f in content["features"]] == list(HOSTILE)
    once = from_json(path)
    assert np.array_equal(once.predict(rows), from_json(text.encode()).predict(rows))


def test_surfaces_take_little_room():
    model, _ = fitted("additive gaps")
    tables = model.compiled()
    surfaces = sum(
        table.size for term, table in zip(tables.terms, tables.tables, strict=True) if len(term) == 2
    )
    content = json.loads(pellucid.to_json(model))
    factors = sum(np.size(F) for t in content["terms"] if len(t["axes"]) == 2 for F in t["factors"])
    assert surfaces > 0
    assert factors < surfaces / 2


def test_low_rank_is_exact_and_keeps_zero_rows():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(30, 4)) @ rng.normal(size=(4, 20)) * 1e6
    table[-1], table[:, -1] = 0.0, 0.0
    L, R = low_rank(table)
    assert L.shape == (30, 4)
    np.testing.assert_allclose(L @ R.T, table, atol=1e-7)
    assert not L[-1].any()
    assert not R[-1].any()
    assert low_rank(np.zeros((3, 2)))[0].shape == (3, 0)


@pytest.mark.parametrize("kind", ["sparse", "isk", "coefficients"])
def test_a_model_that_needs_values_says_which_is_missing(kind):
    model, rows = fitted(kind)
    rows = rows.copy()
    rows.iloc[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"has no value in row 3, and this model needs one"):
        from_json(pellucid.to_json(model)).predict(rows)


def test_dates_are_days():
    pandas = pytest.importorskip("pandas")
    day = pandas.date_range("2020-01-01", periods=200, freq="7h")
    X = pandas.DataFrame({"day": day, "z": np.arange(200) % 5})
    model = pellucid.AdditiveKernelRegressor(0).fit(X, np.sin(np.arange(200) / 30))
    again = from_json(pellucid.to_json(model))
    np.testing.assert_allclose(again.predict(X), model.predict(X), atol=1e-10)


def test_kernel_models_are_sent_elsewhere():
    X = np.linspace(0, 1, 20)[:, None]
    model = pellucid.KernelRidge().fit(X, X[:, 0] ** 2)
    with pytest.raises(ValueError, match=r"is a sum over its training rows.*use to_onnx or save"):
        pellucid.to_json(model)
    with pytest.raises(TypeError, match="needs a fitted model of pellucid, got int"):
        pellucid.to_json(3)
    from sklearn.exceptions import NotFittedError
    from sklearn.linear_model import LinearRegression

    with pytest.raises(NotFittedError):
        pellucid.to_json(pellucid.AdditiveKernelRegressor())
    with pytest.raises(TypeError, match="cannot write a LinearRegression"):
        pellucid.to_json(LinearRegression().fit(X, X[:, 0]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="other"), "no document of the format"),
        (lambda d: d.update(version=2), "has version 2"),
        (lambda d: d.pop("terms"), "not complete"),
        (lambda d: d.update(link="cube"), "the link 'cube'"),
        (lambda d: d["terms"][0]["axes"].__setitem__(0, 99), "axes that are not there"),
        (lambda d: d["terms"][0]["factors"][0][0].pop(), "wrong size|uneven|complete|inhomogeneous"),
        (lambda d: d["terms"][0].update(kind="cube"), "of the kind 'cube'"),
        (lambda d: d["axes"][0]["knots"].reverse(), "do not increase"),
        (lambda d: d["axes"][0].update(missing=10**6), "points are not there"),
        (lambda d: d["terms"][0]["factors"][0][0].__setitem__(0, "x"), "could not convert|complete"),
    ],
)
def test_bad_documents(change, message):
    model, _ = fitted("additive gaps")
    content = json.loads(pellucid.to_json(model))
    change(content)
    with pytest.raises(ValueError, match=message):
        from_json(json.dumps(content))


def test_not_json_and_wrong_columns():
    with pytest.raises(ValueError, match="no JSON document"):
        from_json("{")
    model, rows = fitted("coefficients")
    again = from_json(pellucid.to_json(model))
    with pytest.raises(ValueError, match="lacks the columns"):
        again.predict(rows.rename(columns={HOSTILE[0]: "other"}))
    with pytest.raises(ValueError, match="Rows need 2 columns"):
        again.predict(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="needs numbers"):
        again.predict(hard_rows().assign(**{HOSTILE[0]: "text"}))


def test_levels_that_are_whole_numbers():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, 120)
    X = pandas.DataFrame({"code": pandas.Categorical(codes), "z": rng.normal(size=120)})
    model = pellucid.AdditiveKernelRegressor(0).fit(X, codes % 2 + 0.1 * X["z"])
    rows = X.assign(code=codes.astype(float))  # as they come from a table with gaps
    want = model.predict(rows)
    np.testing.assert_allclose(want, model.predict(X), atol=1e-12)
    np.testing.assert_allclose(from_json(pellucid.to_json(model)).predict(rows), want, atol=1e-9)
    module = {}
    exec(pellucid.to_python(model), module)
    np.testing.assert_allclose([module["predict"](row) for row in rows.to_dict("records")], want, atol=1e-9)
