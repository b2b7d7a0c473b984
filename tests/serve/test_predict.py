"""The endpoint: its answers are those of the model, and add up."""

import json

import numpy as np
import pytest
from report_data import KINDS

pandas = pytest.importorskip("pandas")


def as_rows(X):
    return [{k: None if pandas.isna(v) else v for k, v in row.items()} for row in X.to_dict(orient="records")]


def told(model, X):
    if not hasattr(model, "classes_"):
        return model.predict(X)
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.decision_function(X)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("data", [True, False])
def test_answers_of_every_kind_of_model(models, client, kind, data):
    model, X, _ = models(kind)
    some = X.iloc[:12]
    made = client(kind, data=data).post("/predict", {"rows": as_rows(some)})
    assert made.status_code == 200, made.text
    found, wanted = made.json()["predictions"], told(model, some)
    if made.json()["kind"] == "number":
        np.testing.assert_allclose([one["prediction"] for one in found], wanted, rtol=1e-12)
    else:
        assert [one["prediction"] for one in found] == [str(c) for c in model.predict(some)]
        what = "probabilities" if "probabilities" in found[0] else "scores"
        values = np.array([[*one[what].values()] for one in found])
        np.testing.assert_allclose(values if values.shape[1] > 1 else values[:, 0], wanted, rtol=1e-10)
    if kind == "kernel":
        assert "no exact contributions" in made.json()["note"]
        return
    for one in found:
        outputs = one["sum"] if isinstance(one["sum"], dict) else {"": one["sum"]}
        for name, total in outputs.items():
            parts = [v[name] if name else v for v in one["contributions"].values()]
            start = one["intercept"][name] if name else one["intercept"]
            assert start + sum(parts) == pytest.approx(total, rel=1e-9, abs=1e-9)
    if kind in ("coefficients", "additive", "isk", "tables"):
        np.testing.assert_allclose([one["sum"] for one in found], wanted, rtol=1e-9)


def test_moves_of_a_kernel_model(models, client):
    model, X, _ = models("kernel")
    row = X.iloc[[0]]
    made = client("kernel").post("/predict", {"rows": as_rows(row), "moves": True}).json()
    moved = row.assign(dose=np.quantile(X["dose"], 0.5, method="nearest"))
    wanted = model.predict(row)[0] - model.predict(moved)[0]
    assert made["predictions"][0]["moves"]["dose"] == pytest.approx(wanted, abs=1e-9)


def test_a_table_as_csv(models, client):
    model, X, _ = models("tables")
    use = client()
    text = X.assign(more="is left out").iloc[:20, ::-1].to_csv(index=False)
    made = use.table("/predict", text).json()
    np.testing.assert_allclose([o["prediction"] for o in made["predictions"]], model.predict(X.iloc[:20]))
    german = "dose;age;town\n1,5;40;Ulm\n;NA;\n"
    found = [o["prediction"] for o in use.table("/predict", german).json()["predictions"]]
    rows = pandas.DataFrame({"age": [40.0, np.nan], "dose": [1.5, np.nan], "town": ["Ulm", None]})
    np.testing.assert_allclose(found, model.predict(rows))


def test_values_that_training_did_not_see_are_named(client):
    row = {"age": 400, "dose": 1, "town": "Atlantis"}
    one = client().post("/predict", {"rows": [row]}).json()["predictions"][0]
    assert one["outside"] == ["age", "town"]
    assert one["contributions"]["town"] == 0.0


def test_exposure_and_offset_come_with_the_rows(client, models):
    from pellucid import AdditiveKernelRegressor
    from pellucid.serve import create_app

    _, X, y = models("tables")
    counts = np.round(np.exp(y / 3))
    time = np.linspace(0.5, 2, len(y))
    model = AdditiveKernelRegressor(0, loss="poisson").fit(X[["dose"]], counts, exposure=time)
    use = type(client())(create_app(model, X[["dose"]], counts, exposure=time))
    rows = [{"dose": 1.0, "exposure": 2.0}, {"dose": 3.0, "exposure": 0.5}]
    made = use.post("/predict", {"rows": rows}).json()["predictions"]
    wanted = model.predict(pandas.DataFrame({"dose": [1.0, 3.0]}), exposure=[2.0, 0.5])
    np.testing.assert_allclose([one["prediction"] for one in made], wanted)
    np.testing.assert_allclose(np.log(wanted), [one["sum"] for one in made])
    refused = use.post("/predict", {"rows": [{"dose": 1.0, "exposure": -1}]})
    assert refused.status_code == 422
    assert "positive" in refused.json()["error"]


def test_too_many_contributions_are_not_computed(models, client, monkeypatch):
    monkeypatch.setattr("pellucid.serve.answers._MOST_NUMBERS", 20)
    model, X, _ = models("tables")
    rows = as_rows(X.iloc[:8])
    refused = client().post("/predict", {"rows": rows})
    assert refused.status_code == 413
    assert f"8 rows have {8 * len(model.terms_)} contributions" in refused.json()["error"]
    bare = client().post("/predict", {"rows": rows, "contributions": False}).json()["predictions"]
    assert set(bare[0]) <= {"prediction", "outside"}


def test_dates_are_text_or_days(client):
    from pellucid import AdditiveKernelRegressor
    from pellucid.serve import create_app

    days = np.arange(0, 2000, 20)
    X = pandas.DataFrame({"when": pandas.Timestamp("2015-01-01") + pandas.to_timedelta(days, "D")})
    model = AdditiveKernelRegressor(0).fit(X, np.sin(days / 300))
    use = type(client())(create_app(model))
    wanted = model.predict(pandas.DataFrame({"when": pandas.to_datetime(["2018-03-05"])}))[0]
    for value in ("2018-03-05", 17595):
        made = use.post("/predict", {"rows": {"when": value}}).json()
        assert made["predictions"][0]["prediction"] == pytest.approx(wanted)
    assert "is not a date" in use.post("/predict", {"rows": {"when": "5.3.2018"}}).json()["error"]


def test_the_description_fits_what_is_sent(client):
    use = client()
    made = use.get("/openapi.json").json()
    assert made["openapi"].startswith("3.1")
    example = made["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"]["example"]
    answer = use.post("/predict", example)
    assert answer.status_code == 200
    prediction = made["components"]["schemas"]["Prediction"]["properties"]
    assert set(answer.json()["predictions"][0]) <= set(prediction)
    text = json.dumps(made)
    for name in made["components"]["schemas"]:
        assert name == "Error" or f'"#/components/schemas/{name}"' in text
    assert "security" not in made
    assert (
        "security"
        in client(token="0123456789abcdef")
        .get("/openapi.json", headers={"authorization": "Bearer 0123456789abcdef"})
        .json()
    )


def test_rows_may_come_without_features_that_no_term_reads(connect):
    from pellucid import AdditiveKernelRegressor
    from pellucid.serve import create_app

    rng = np.random.default_rng(0)
    X = pandas.DataFrame({"x": rng.uniform(0, 6, 120), "noise": rng.normal(size=120), "town": "Ulm"})
    model = AdditiveKernelRegressor(0).fit(X, np.sin(X["x"]))
    assert model.term_names_ == ["x"]
    asked = connect(create_app(model))
    told = asked.post("/predict", {"rows": [{"x": 1.0}]}).json()
    assert told["predictions"][0]["prediction"] == pytest.approx(model.predict(X.head(1).assign(x=1.0))[0])
    assert asked.table("/predict", "x\n1.0\n").json()["predictions"] == told["predictions"]
    assert "lacks 'x'" in asked.post("/predict", {"rows": [{"noise": 1.0}]}).text
    row = asked.get("/openapi.json").json()["components"]["schemas"]["Row"]
    assert row["required"] == ["x"]
