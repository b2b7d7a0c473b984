"""Edits in a session: what they change, their log, the way back, and what can be taken away."""

import io
import sqlite3
import threading
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest
from report_data import payload

import pellucid
from pellucid.serve.versions import Versions

pandas = pytest.importorskip("pandas")

SET = {"version": 0, "term": "age", "where": {"age": {"low": 30, "high": 40}}, "to": 0.25}


def predictions(use, X):
    made = use.table("/predict", X.to_csv(index=False)).json()["predictions"]
    return np.array([one["prediction"] for one in made])


def test_a_part_is_set_and_set_back(models, client):
    model, X, _ = models("tables")
    use = client()
    before = predictions(use, X)
    page = use.post("/api/edit", SET).json()
    assert page["version"] == 1
    assert page["edits"] == ["set age from 30 to 40 to 0.25, by hand"]
    age = X["age"].to_numpy()
    inside, apart = (age > 31) & (age < 39), ~((age > 29) & (age < 41))
    after = predictions(use, X)
    old = model.contributions(X)[:, model.term_names_.index("age")]
    np.testing.assert_allclose(after[inside] - before[inside], 0.25 - old[inside], atol=1e-9)
    np.testing.assert_array_equal(after[apart], before[apart])
    assert use.post("/api/undo", {"version": 0}).status_code == 409
    back = use.post("/api/undo", {"version": 1}).json()
    assert (back["version"], back["edits"], back["can"]["undo"]) == (2, [], False)
    np.testing.assert_array_equal(predictions(use, X), before)
    assert use.post("/api/undo", {"version": 2}).status_code == 409


def test_a_term_is_moved_smoothed_and_taken_out(models, client):
    model, X, _ = models("tables")
    use = client(data=False)
    assert not use.get("/api/page").json()["can"]["refit"]
    before = predictions(use, X)
    use.post("/api/edit", {"version": 0, "term": "town", "where": {"town": {"levels": ["Ulm"]}}, "by": -0.5})
    ulm = (X["town"] == "Ulm").to_numpy()
    np.testing.assert_allclose(predictions(use, X) - before, np.where(ulm, -0.5, 0.0), atol=1e-12)
    gap = {"town": {"only_missing": True}}
    use.post("/api/edit", {"version": 1, "term": "town", "where": gap, "to": 2.0})
    use.post("/api/edit", {"version": 2, "term": "age", "smooth": 3.0})
    of_dose = [name for name in model.term_names_ if "dose" in name.split(" × ")]
    for k, name in enumerate(of_dose):
        page = use.post("/api/edit", {"version": 3 + k, "term": name, "remove": True}).json()
    assert [text.split()[0] for text in page["edits"]] == [
        "move",
        "set",
        "smooth",
        *["remove"] * len(of_dose),
    ]
    assert "dose" not in [term["name"] for term in page["terms"]]
    assert "dose" in page["absent"]
    rows = X.assign(dose=1.0)
    np.testing.assert_allclose(predictions(use, X), predictions(use, rows))
    detail = use.post("/api/term", {"term": "age"}).json()
    at, curves = model.tables_.fine[0].coordinate, (detail["before"][0], detail["values"][0])
    bends = [np.std(v[: len(at)] - np.polyval(np.polyfit(at, v[: len(at)], 1), at)) for v in curves]
    assert bends[1] < 0.3 * bends[0]


def test_the_other_terms_are_fitted_again(models, client):
    model, X, y = models("tables")
    use = client()
    page = use.post("/api/edit", SET | {"refit": True}).json()
    frozen = pellucid.edit_by_hand(model, "age", where=(30, 40), to=0.25)
    wanted = frozen.edit(X, y, freeze=["age"], sample_weight=np.ones(len(y)))
    np.testing.assert_allclose(predictions(use, X), wanted.predict(X), rtol=1e-9)
    assert len(page["edits"]) == 2
    dropped = use.post("/api/edit", {"version": 1, "term": "town", "remove": True, "refit": True})
    assert "drop town" in dropped.json()["edits"][2]
    assert use.post("/api/term", {"term": "town"}).status_code == 404
    smooth = use.post("/api/edit", {"version": 2, "term": "dose", "smooth": 0.25, "refit": True}).json()
    assert "smooth dose by a factor of 25" in smooth["edits"][3]


def test_one_class_of_several(models, client):
    model, X, _ = models("tables classes")
    use = client("tables classes")
    use.post("/api/edit", {"version": 0, "term": "age", "by": 1.0, "output": "mid"})
    made = use.table("/predict", X.to_csv(index=False)).json()["predictions"]
    k, change = list(model.classes_).index("mid"), np.array([list(one["sum"].values()) for one in made])
    gap = change - model.decision_function(X)
    np.testing.assert_allclose(gap, np.eye(3)[[k] * len(X)], atol=1e-9)


@pytest.mark.parametrize(
    ("wish", "says"),
    [
        ({"term": "height", "to": 0}, "no term 'height'"),
        ({"term": "age"}, "Say one thing"),
        ({"term": "age", "to": 1, "by": 1}, "Say one thing"),
        ({"term": "age", "to": "1"}, "must be a number"),
        ({"term": "age", "to": True}, "must be a number"),
        ({"term": "age", "to": 1e999}, "finite"),
        ({"term": "age", "smooth": -1}, "share of the range"),
        ({"term": "town", "smooth": 1}, "no neighbours"),
        ({"term": "age", "to": 0, "where": {"age": {"low": 5, "high": 1}}}, "low to high"),
        ({"term": "age", "to": 0, "where": {"age": {"low": 30.0, "high": 30.000001}}}, "nearest are"),
        ({"term": "age", "to": 0, "where": {"dose": {}}}, "no feature 'dose'"),
        ({"term": "age", "to": 0, "where": {"age": {"levels": ["a"]}}}, "holds numbers"),
        ({"term": "age", "to": 0, "where": {"age": [1, 2]}}, "A segment is"),
        ({"term": "town", "to": 0, "where": {"town": {"levels": ["Rom"]}}}, "no level 'Rom'"),
        ({"term": "town", "to": 0, "where": {"town": {"low": 1}}}, "has levels"),
        ({"term": "dose", "to": 0, "where": {"dose": {"missing": True}}}, "no missing values"),
        ({"term": "age", "remove": True, "output": "mid"}, "one output only"),
        ({"term": ["age"], "to": 1}, "must be a text"),
        ({"term": "age", "to": 1, "file": "/etc/passwd"}, "not known"),
    ],
)
def test_edits_that_make_no_sense(client, wish, says):
    use = client()
    answer = use("POST", "/api/edit", content=_json({"version": 0, **wish}), headers=_kind)
    assert answer.status_code in (400, 422)
    assert says in answer.json()["error"]
    assert use.get("/api/page").json()["version"] == 0


_kind = {"content-type": "application/json"}


def _json(value):
    import json

    return json.dumps(value).replace("Infinity", "1e999").encode()


def test_monotone_features_stay_monotone(client):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 1))
    model = pellucid.AdditiveKernelRegressor(0, monotone={0: 1}).fit(X, X[:, 0] + 0.1 * rng.normal(size=200))
    with pytest.raises(ValueError, match="must rise"):
        pellucid.edit_by_hand(model, "x0", where=(0.2, 0.4), to=5.0)
    pellucid.edit_by_hand(model, "x0", where=(0.9, None), to=5.0)


def test_models_that_cannot_be_edited_say_so(client):
    use = client("kernel")
    answer = use.post("/api/edit", {"version": 0, "term": "age", "to": 1})
    assert "KernelRidge has no tables" in answer.json()["error"]
    assert use.post("/api/edit", SET | {"refit": True}).status_code == 422
    page = use.get("/api/page").json()
    assert page["no_parts"].startswith("KernelRidge is not a sum")
    assert [d["name"] for d in page["downloads"]] == ["model", "report"]
    assert client(data=False).post("/api/edit", SET | {"refit": True}).status_code == 422


def test_edits_at_the_same_time(models):
    from pellucid.serve.errors import RequestError
    from pellucid.serve.served import serve_model

    model, _, _ = models("tables")
    versions = Versions(model, serve_model(model))
    done, refused = [], []

    def go():
        try:
            done.append(versions.edit({"term": "age", "by": 1.0}, 0))
        except RequestError as error:
            refused.append(error.status)

    threads = [threading.Thread(target=go) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 1
    assert refused == [409] * 7
    assert len(versions.now.model.edits_) == 1


# -------------------------------------------------------------- what goes out
def test_before_and_after(models, client):
    model, X, y = models("tables")
    use = client()
    same = use.post("/api/compare", {}).json()
    assert (same["changed"], same["largest"], same["terms"]) == (0, 0.0, [])
    use.post("/api/edit", SET)
    made = use.post("/api/compare", {}).json()
    edited = pellucid.edit_by_hand(model, "age", where=(30, 40), to=0.25)
    gap = edited.predict(X) - model.predict(X)
    assert made["changed"] == np.sum(np.abs(gap) > 1e-9)
    assert made["mean_change"] == pytest.approx(gap.mean())
    assert made["largest"] == pytest.approx(np.abs(gap).max())
    assert [term["name"] for term in made["terms"]] == ["age"]
    assert made["rows_changed"][0]["row"] == np.abs(gap).argmax() + 1
    scores = {label: values for label, *values in made["scores"]}
    wanted = [f"{np.sqrt(np.mean((m.predict(X) - y) ** 2)):.5g}" for m in (model, edited)]
    assert scores["RMSE"] == wanted
    table = X.assign(strength=y).iloc[:30]
    uploaded = use.table("/api/compare", table.to_csv(index=False)).json()
    assert uploaded["rows"] == 30
    assert uploaded["mean_change"] == pytest.approx(gap[:30].mean())
    assert uploaded["scores"]
    assert not use.table("/api/compare", X.to_csv(index=False)).json()["scores"]
    assert client(data=False).post("/api/compare", {}).status_code == 422


def test_classes_before_and_after(models, client):
    _, X, _ = models("tables classes")
    use = client("tables classes")
    use.post("/api/edit", {"version": 0, "term": "dose", "remove": True})
    made = use.post("/api/compare", {}).json()
    assert made["reclassified"] > 0
    assert made["rows_changed"][0]["output"] in ("low", "mid", "high")
    bad = X.assign(strength="huge").to_csv(index=False)
    table = client("tables classes", target="strength").table("/api/compare", bad)
    assert "none of the model's classes" in table.json()["error"]


def test_what_is_taken_away(models, client):
    model, X, _ = models("tables")
    edited = pellucid.edit_by_hand(model, "age", where=(30, 40), to=0.25)
    use = client()
    use.post("/api/edit", SET)
    names = [d["name"] for d in use.get("/api/page").json()["downloads"]]
    files = {name: use.post("/api/download", {"name": name}) for name in names}
    assert {name: a.text for name, a in files.items() if a.status_code != 200} == {}
    assert files["model"].headers["content-disposition"] == 'attachment; filename="model.pellucid"'
    again = pellucid.load(files["model"].content)
    np.testing.assert_array_equal(again.predict(X), edited.predict(X))
    assert str(again.edits_[0]) == "set age from 30 to 40 to 0.25, by hand"
    rows = X.dropna().iloc[:5]
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE data (age, dose, town)")
    db.executemany("INSERT INTO data VALUES (?, ?, ?)", rows.to_numpy().tolist())
    found = [p for (p,) in db.execute(files["sql"].text.rstrip().rstrip(";")).fetchall()]
    np.testing.assert_allclose(found, edited.predict(rows), rtol=1e-9)
    archive = zipfile.ZipFile(io.BytesIO(files["tables"].content))
    assert "contents.json" in archive.namelist()
    assert files["report"].text.startswith("<!doctype html>")
    assert payload(SimpleNamespace(html=files["report"].text))["score"]["loo"] == []
    assert "set age" in files["log"].text
    assert pellucid.export.from_json(files["json"].text).predict(rows) == pytest.approx(edited.predict(rows))


def test_hand_edits_and_what_a_model_holds(models):
    model, X, y = models("tables")
    edited = pellucid.edit_by_hand(model, "dose", remove=True)
    assert edited.importances_["dose"] == 0.0
    assert edited.importances_.values.sum() == pytest.approx(1.0)
    assert np.isnan(next(p for name, _, p in edited.tests_[0] if name == "dose"))
    assert "remove dose, by hand" in str(edited.summary())
    later = edited.edit(X, y, smooth={"age": 3.0})
    assert np.all(later.effects_["dose"].values == 0.0)
    assert model.edits_ == []
    with pytest.raises(ValueError, match="Only additive"):
        pellucid.edit_by_hand(models("kernel")[0], "age", to=0.0)


def test_a_part_of_a_pair():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(400, 2))
    model = pellucid.AdditiveKernelRegressor().fit(X, X[:, 0] * X[:, 1] + 0.05 * rng.normal(size=400))
    name = "x0 × x1"
    edited = pellucid.edit_by_hand(model, name, where={"x0": (0.0, None), "x1": (None, 0.0)}, by=-2.0)
    corner = X[(X[:, 0] > 0.2) & (X[:, 1] < -0.2)]
    other = X[(X[:, 0] < -0.2) | (X[:, 1] > 0.2)]
    np.testing.assert_allclose(edited.predict(corner) - model.predict(corner), -2.0)
    np.testing.assert_array_equal(edited.predict(other), model.predict(other))
    assert str(edited.edits_[0]) == "move x0 × x1 x0 from 0, x1 up to 0 by -2, by hand"
    flat = pellucid.edit_by_hand(model, name, smooth=50.0).effects_[name].values
    assert np.abs(np.diff(flat, 2, axis=0)).max() < 0.1
