"""Every verb on good input, against what the library itself gives."""

import io
import json
import sys
import types

import numpy as np
import pandas as pd
import pytest

import pellucid as library
from pellucid.cli.catalog import Choice
from pellucid.cli.run import run
from pellucid.cli.table_spec import TableSpec
from pellucid.export import describe


def feed(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(text.encode())))


def frame(folder):
    table = pd.read_csv(folder / "t.csv", parse_dates=["since"])
    return table[["age", "income", "city", "since"]], table


# -------------------------------------------------------------------------- fit
def test_the_saved_model_is_the_one_fitted_on_all_rows(folder):
    X, table = frame(folder)
    expected = library.AdditiveKernelRegressor().fit(X, table["price"]).predict(X)
    np.testing.assert_allclose(library.load(folder / "price.pellucid").predict(X), expected)


def test_fit_says_the_task_and_prints_summary_and_score(pellucid, folder):
    done = pellucid(
        "fit", folder / "t.csv", "-t", "price", "-d", "bought,claims,years", "--interactions", "0"
    )
    assert done.code == 0
    assert "Task: regression of price (it is numeric; --task overrides)." in done.err
    assert "not saved (--out model.pellucid keeps it)" in done.err
    assert "AdditiveKernelRegressor" in done.out
    assert "On 20 % of the rows, held out from all choices:" in done.out
    assert "Leaving one row out does not repeat the choices" in done.out
    assert "×" not in done.out


def test_the_score_is_that_of_rows_not_fitted(pellucid, folder, tmp_path):
    out = tmp_path / "m.pellucid"
    arguments = (
        "-t",
        "price",
        "-d",
        "bought,claims,years",
        "--split",
        "0.3",
        "--no-refit",
        "-o",
        out,
        "--json",
    )
    done = pellucid("fit", folder / "t.csv", *arguments).json
    X, table = frame(folder)
    spec = TableSpec.from_notes(describe(out).notes)
    assert spec.rows == 112
    assert spec.held_out == pytest.approx(done["held_out"])
    # the rows that are left: those whose leave-one-out results the model has
    from sklearn.model_selection import train_test_split

    test = train_test_split(np.arange(160), test_size=0.3, random_state=0)[1]
    error = library.load(out).predict(X.iloc[test]) - table["price"].iloc[test]
    assert done["held_out"]["rmse"] == pytest.approx(float(np.sqrt(np.mean(error**2))))


def test_json_of_fit(pellucid, folder):
    done = pellucid(
        "fit", folder / "t.csv", "-t", "bought", "--drop", "price", "-d", "claims,years", "--json"
    )
    document = done.json
    assert document["task"] == "classification"
    assert document["features"] == {"age": "number", "income": "number", "city": "category", "since": "date"}
    assert document["rows"] == 160
    assert 0.5 < document["held_out"]["accuracy"] <= 1
    importances = [entry["importance"] for entry in document["terms"]]
    assert importances == sorted(importances, reverse=True)


def test_weights_are_counts_of_rows(pellucid, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=60).round(3), "w": rng.integers(1, 3, 60)})
    table["y"] = (np.sin(table["x"]) + 0.1 * rng.normal(size=60)).round(3)
    table.to_csv(tmp_path / "w.csv", index=False)
    table.loc[table.index.repeat(table["w"])].to_csv(tmp_path / "r.csv", index=False)
    for name, more in (("w", ["--weights", "w"]), ("r", ["-d", "w"])):
        out = tmp_path / f"{name}.pellucid"
        assert pellucid("fit", tmp_path / f"{name}.csv", "-t", "y", "--split", 0, "-o", out, *more).code == 0
    models = [library.load(tmp_path / f"{name}.pellucid") for name in "wr"]
    a, b = (model.predict(table[["x"]]) for model in models)
    np.testing.assert_allclose(a, b, atol=1e-6)


def test_weights_as_reaches_the_model():
    class Weighed:
        def __init__(self, weights="auto"):
            self.weights = weights

    choice = Choice("weighed", "", Weighed, Weighed)
    assert choice.make("regression", {"weights": "precision"}).weights == "precision"
    assert choice.make("regression", {}).weights == "auto"


def test_how_weights_are_read_is_said_once(pellucid, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=60), "w": rng.uniform(100, 300, 60)})
    table["y"] = np.sin(table["x"]) + 0.1 * rng.normal(size=60)
    table.to_csv(tmp_path / "w.csv", index=False)
    told = pellucid("fit", tmp_path / "w.csv", "-t", "y", "--weights", "w", "-m", "ridge")  # two fits
    assert told.code == 0
    assert told.err.count("taken for precisions") == 1


def test_weights_as_precisions(pellucid, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=60).round(3), "w": rng.uniform(100, 300, 60).round(1)})
    table["y"] = (np.sin(table["x"]) + 0.1 * rng.normal(size=60)).round(3)
    table.to_csv(tmp_path / "w.csv", index=False)
    out = tmp_path / "w.pellucid"
    arguments = ("-t", "y", "--weights", "w", "--weights-as", "precision", "--split", 0, "-o", out)
    assert pellucid("fit", tmp_path / "w.csv", *arguments).code == 0
    model = library.load(out)
    assert model.weights == "precision"
    same = library.AdditiveKernelRegressor().fit(table[["x"]], table["y"], table["w"] / table["w"].mean())
    np.testing.assert_allclose(model.predict(table[["x"]]), same.predict(table[["x"]]), rtol=1e-8)
    assert "w, read as precision" in pellucid("info", out).out
    assert (
        "name their column with --weights"
        in pellucid("fit", tmp_path / "w.csv", *arguments[:2], *arguments[4:]).err
    )
    assert pellucid("fit", tmp_path / "w.csv", *arguments[:5], "often").code == 2


@pytest.mark.parametrize("model", ["sparse-additive", "isk", "interpretable", "ridge", "glm"])
def test_other_models_take_gaps_and_categories(pellucid, folder, tmp_path, model):
    table = pd.read_csv(folder / "t.csv").head(80)
    table.loc[3, "income"] = None
    table.loc[5, "city"] = None
    table.to_csv(tmp_path / "gaps.csv", index=False)
    out = tmp_path / "m.pellucid"
    arguments = ("-t", "price", "-d", "bought,claims,years", "-m", model, "--split", 0, "-o", out)
    assert pellucid("fit", tmp_path / "gaps.csv", *arguments).code == 0
    predicted = pellucid("predict", out, tmp_path / "gaps.csv")
    assert len(pd.read_csv(io.StringIO(predicted.out))) == 80
    told = pellucid("explain", out, "--top", "2")
    assert told.code == 0
    row = pellucid("explain", out, tmp_path / "gaps.csv", "--row", "4", "--json")
    if model in ("ridge", "glm"):
        assert row.code == 1
        assert "neither terms nor coefficients" in row.err
    else:
        value = pd.read_csv(io.StringIO(predicted.out))["prediction"][3]
        assert row.json["sum"] == pytest.approx(value)


# ------------------------------------------------------------------------ predict
def test_predictions_are_the_librarys(pellucid, folder):
    X, _ = frame(folder)
    done = pellucid("predict", folder / "price.pellucid", folder / "t.csv", "--interval", "0.8")
    made = pd.read_csv(io.StringIO(done.out))
    model = library.load(folder / "price.pellucid")
    np.testing.assert_allclose(made["prediction"], model.predict(X))
    low, high = model.predict_interval(X, coverage=0.8)
    np.testing.assert_allclose(made[["lower", "upper"]], np.column_stack([low, high]))
    assert "The table has price as well: R²" in done.err


def test_probabilities(pellucid, folder):
    X, _ = frame(folder)
    done = pellucid("predict", folder / "bought.pellucid", folder / "t.csv", "--proba", "--json").json
    P = library.load(folder / "bought.pellucid").predict_proba(X)
    np.testing.assert_allclose([row["p_yes"] for row in done["predictions"]], P[:, 1])
    assert {row["prediction"] for row in done["predictions"]} == {"yes", "no"}


def test_exposure_multiplies_counts(pellucid, folder, tmp_path):
    X, table = frame(folder)
    model = library.load(folder / "claims.pellucid")
    done = pellucid("predict", folder / "claims.pellucid", folder / "t.csv")
    with_exposure = pd.read_csv(io.StringIO(done.out))["prediction"]
    np.testing.assert_allclose(with_exposure, model.predict(X) * table["years"])
    table.drop(columns="years").to_csv(tmp_path / "t.csv", index=False)
    done = pellucid("predict", folder / "claims.pellucid", tmp_path / "t.csv")
    np.testing.assert_allclose(pd.read_csv(io.StringIO(done.out))["prediction"], model.predict(X))
    assert "has no column years: predictions are for exposure 1" in done.err


def test_order_of_columns_and_other_columns_do_not_matter(pellucid, folder, tmp_path):
    table = pd.read_csv(folder / "t.csv")
    table[list(table.columns[::-1])].assign(other="?").drop(columns="price").to_parquet(
        tmp_path / "t.parquet"
    )
    a = pellucid("predict", folder / "price.pellucid", folder / "t.csv")
    b = pellucid("predict", folder / "price.pellucid", tmp_path / "t.parquet")
    assert a.out == b.out
    assert "as well" not in b.err  # the target is not needed


def test_an_unknown_category_contributes_nothing(pellucid, folder, tmp_path, monkeypatch):
    row = {"age": 40, "income": 20.0, "city": "Atlantis", "since": "2021-01-01"}
    feed(monkeypatch, json.dumps(row))
    done = pellucid("explain", folder / "price.pellucid", "-", "--json").json
    alone = {entry["term"]: entry["contribution"] for entry in done["contributions"]}
    assert alone["city"] == 0
    assert done["sum"] == pytest.approx(done["prediction"])


def test_blocks_change_nothing(pellucid, folder, monkeypatch):
    arguments = ("predict", folder / "claims.pellucid", folder / "t.csv")
    whole = pellucid(*arguments)
    monkeypatch.setattr("pellucid.cli.predict._BLOCK", 7)
    assert pellucid(*arguments).out == whole.out


def test_keep_and_out(pellucid, folder, tmp_path):
    out = tmp_path / "p.parquet"
    assert pellucid("predict", folder / "price.pellucid", folder / "t.csv", "--keep", "-o", out).out == ""
    made = pd.read_parquet(out)
    assert list(made.columns[:2]) == ["age", "income"]
    assert made.columns[-1] == "prediction"


# ------------------------------------------------------------------------ explain
@pytest.fixture(scope="module")
def noise(tmp_path_factory):
    """Models with a pair that matters and terms that do not."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(size=(150, 3)), columns=["a", "b", "c"]).round(3)
    noise = 0.02 * np.random.default_rng(1).normal(size=150)
    table["y"] = 5 * table["a"] * table["b"] + 0.15 * table["c"] + noise
    place = tmp_path_factory.mktemp("pairs")
    table.to_csv(place / "t.csv", index=False)
    for sign, name in (("*", "star"), (" × ", "times")):
        pairs = f"a{sign}b,c{sign}b,a{sign}c"
        out = str(place / f"{name}.pellucid")
        assert (
            run(["fit", str(place / "t.csv"), "-t", "y", "--interactions", pairs, "--split", "0", "-o", out])
            == 0
        )
    return place


def test_pairs_are_written_either_way(pellucid, noise):
    star, times = (library.load(noise / f"{name}.pellucid") for name in ("star", "times"))
    assert star.term_names_ == times.term_names_
    assert "a × b" in star.term_names_
    wanted = pellucid("explain", noise / "star.pellucid", "--term", "a × b").out
    for term in ("a*b", "a * b", "b*a", "b × a", "a×b"):
        assert pellucid("explain", noise / "star.pellucid", "--term", term).out == wanted
    wrong = pellucid("explain", noise / "star.pellucid", "--term", "a*z")
    assert "it has, for instance, " in wrong.err
    assert "a × b" in wrong.err
    assert "*b" not in wrong.err


def test_small_terms_are_one_line(pellucid, noise):
    model = library.load(noise / "star.pellucid")
    small = [name for name, v in zip(model.term_names_, model.importances_.values, strict=True) if v < 1e-3]
    assert small
    line = f"{len(small)} term{'s' if len(small) > 1 else ''} below 0.1 %"
    told = pellucid("explain", noise / "star.pellucid").out
    assert f"{line} (--json)" in told
    assert not any(f"\n{name} " in told for name in small)
    assert line in str(model.summary())
    assert " 0.0 %" not in str(model.summary()).partition("terms by importance")[2]
    document = pellucid("explain", noise / "star.pellucid", "--json").json
    assert {entry["term"] for entry in document["terms"]} == set(model.term_names_)


def test_the_class_that_a_term_moves_most(pellucid, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"u": rng.normal(size=90), "v": rng.normal(size=90)})
    table["k"] = np.select([table["u"] > 0.5, table["v"] > 0.3], ["high", "side"], "rest")
    table.to_csv(tmp_path / "k.csv", index=False)
    out = tmp_path / "k.pellucid"
    arguments = ("-t", "k", "--interactions", "0", "--split", 0, "-o", out)
    assert pellucid("fit", tmp_path / "k.csv", *arguments).code == 0
    effects = library.load(out).effects_
    largest = {name: e.outputs[int(np.argmax(e.density @ e.values**2))] for name, e in effects.items()}
    document = pellucid("explain", out, "--json").json
    assert {entry["term"]: entry["most_for"] for entry in document["terms"]} == largest
    assert "most for" in pellucid("explain", out).out


def test_explain_the_model(pellucid, folder):
    model = library.load(folder / "price.pellucid")
    told = pellucid("explain", folder / "price.pellucid")
    assert "AdditiveKernelRegressor for price, 160 rows of t.csv" in told.out
    document = pellucid("explain", folder / "price.pellucid", "--json").json
    assert [entry["term"] for entry in document["terms"]] == model.importances_.top(100)
    top = pellucid("explain", folder / "price.pellucid", "--top", 1).out
    assert model.importances_.top(1)[0] in top
    assert "more (--top)" in top


def test_explain_a_row(pellucid, folder):
    X, _ = frame(folder)
    model = library.load(folder / "price.pellucid")
    document = pellucid("explain", folder / "price.pellucid", folder / "t.csv", "-r", 7, "--json").json
    np.testing.assert_allclose(
        [entry["contribution"] for entry in document["contributions"]], model.contributions(X.iloc[[6]])[0]
    )
    assert document["prediction"] == pytest.approx(model.predict(X.iloc[[6]])[0])
    text = pellucid("explain", folder / "price.pellucid", folder / "t.csv", "-r", 7).out
    assert f"age = {X['age'].iloc[6]}" in text


def test_explain_a_class(pellucid, folder, tmp_path):
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"x": rng.normal(size=90).round(2), "z": rng.normal(size=90).round(2)})
    table["kind"] = np.where(table["x"] > 0.5, "high", np.where(table["x"] < -0.5, "low", "middle"))
    table.to_csv(tmp_path / "k.csv", index=False)
    out = tmp_path / "k.pellucid"
    assert pellucid("fit", tmp_path / "k.csv", "-t", "kind", "-o", out).code == 0
    document = pellucid("explain", out, tmp_path / "k.csv", "-r", 1, "--class", "low", "--json").json
    assert document["output"] == "low"
    wrong = pellucid("explain", out, tmp_path / "k.csv", "-r", 1, "--class", "top")
    assert wrong.err == "pellucid: There is no class 'top'; there are high, low, middle.\n"


def test_explain_a_term(pellucid, folder):
    effect = library.load(folder / "price.pellucid").effects_["city"]
    made = pd.read_csv(io.StringIO(pellucid("explain", folder / "price.pellucid", "--term", "city").out))
    assert made["city"].tolist() == list(effect.grids[0].points)
    np.testing.assert_allclose(made["effect"], effect.values)
    document = pellucid("explain", folder / "price.pellucid", "--term", "city", "--json").json
    assert len(document["points"]) == len(made)


# ------------------------------------------------------------------ report and info
def test_report(pellucid, folder, tmp_path):
    out = tmp_path / "page.html"
    arguments = (folder / "price.pellucid", folder / "t.csv", "-o", out, "--title", "Prices & more")
    done = pellucid("report", *arguments)
    assert done.code == 0
    assert done.out.strip() == str(out)
    assert out.as_uri() in done.err
    page = out.read_text(encoding="utf-8")
    assert "<title>Prices &amp; more</title>" in page
    assert "leave-one-out" in page  # the rows are those that the model was fitted on
    document = pellucid("report", *arguments, "--json", "--max-rows", 0).json
    assert document["bytes"] == out.stat().st_size


def test_diff_says_what_changed(pellucid, folder, tmp_path):
    X, table = frame(folder)
    new = tmp_path / "new.pellucid"
    moved = table.assign(price=table["price"] + 3 * (table["city"] == "Oslo"))
    moved.to_csv(tmp_path / "n.csv", index=False)
    assert (
        pellucid("fit", tmp_path / "n.csv", "-t", "price", "-d", "bought,claims,years", "-o", new).code == 0
    )
    arguments = ("diff", folder / "price.pellucid", new, folder / "t.csv")
    done = pellucid(*arguments, "--group", "city")
    assert done.code == 0
    old, later = (library.load(path) for path in (folder / "price.pellucid", new))
    change = later.predict(X) - old.predict(X)
    assert f"by {abs(change).max():.4g} at most" in done.out
    for text in ("What changed in the linear predictor", "For whom it changed most", "New model by group"):
        assert text in done.out
    document = pellucid(*arguments, "--json", "--top", 2).json
    assert document["terms"][0]["name"] == "city"
    assert [row["row"] - 1 for row in document["most_changed"]] == np.argsort(-abs(change), kind="stable")[
        :2
    ].tolist()
    assert document["scores"]["RMSE"]["old"] < document["scores"]["RMSE"]["new"]
    wrong = pellucid("diff", folder / "price.pellucid", folder / "bought.pellucid", folder / "t.csv")
    assert wrong.code == 1
    assert "predict different things" in wrong.err
    lean = tmp_path / "lean.pellucid"
    pellucid("fit", tmp_path / "n.csv", "-t", "price", "-d", "bought,claims,years,city", "-o", lean)
    document = pellucid("diff", lean, new, folder / "t.csv", "--json").json
    assert {term["name"]: term["status"] for term in document["terms"]}["city"] == "added"
    page = tmp_path / "page.html"
    more = ("--earlier", folder / "price.pellucid", "--group", "city", "-o", page)
    assert pellucid("report", new, folder / "t.csv", *more).code == 0
    assert "What changed" in page.read_text(encoding="utf-8")
    assert "did you mean 'city'" in pellucid("report", new, folder / "t.csv", "--group", "City").err


def test_info(pellucid, folder):
    text = pellucid("info", folder / "claims.pellucid").out
    assert "counts of claims" in text
    assert "exposure" in text
    document = pellucid("info", folder / "claims.pellucid", "--json").json
    assert document["intact"] is True
    assert document["fit"]["exposure"] == "years"
    assert document["class"] == "AdditiveKernelRegressor"


def test_models_saved_from_python(pellucid, folder, tmp_path):
    X, table = frame(folder)
    model = library.AdditiveKernelRegressor(0).fit(X, table["price"])
    library.save(model, tmp_path / "own.pellucid", notes="by hand")
    done = pellucid("predict", tmp_path / "own.pellucid", folder / "t.csv")
    np.testing.assert_allclose(pd.read_csv(io.StringIO(done.out))["prediction"], model.predict(X))
    assert "by hand" in pellucid("info", tmp_path / "own.pellucid").out
    wrong = pellucid("report", tmp_path / "own.pellucid", folder / "t.csv", "-o", tmp_path / "r.html")
    assert "name the column with --target" in wrong.err
    right = ("-t", "price", "-o", tmp_path / "r.html")
    assert pellucid("report", tmp_path / "own.pellucid", folder / "t.csv", *right).code == 0
    numbers = table[["age", "income"]].to_numpy(float)
    library.save(library.KernelRidge().fit(numbers, table["price"]), tmp_path / "plain.pellucid")
    table[["age", "income"]].to_csv(tmp_path / "two.csv", index=False)
    assert pellucid("predict", tmp_path / "plain.pellucid", tmp_path / "two.csv").code == 0
    wrong = pellucid("predict", tmp_path / "plain.pellucid", folder / "t.csv")
    assert "takes 2 features without names, and 't.csv' has 8 columns" in wrong.err


# ------------------------------------------------------------------------ compare
def test_compare(pellucid, folder, tmp_path):
    out = tmp_path / "scores.csv"
    models = "dummy,linear,additive,ridge"
    arguments = (folder / "t.csv", "-t", "price", "-d", "bought,claims,years", "-m", models, "--splits", 2)
    document = pellucid("compare", *arguments, "--json", "-o", out).json
    by_name = {entry["model"]: entry for entry in document["models"]}
    assert [entry["rank"] for entry in document["models"]] == sorted(e["rank"] for e in by_name.values())
    assert by_name["dummy"]["rank"] == 4
    assert by_name["additive"]["mean"]["rmse"] < by_name["linear"]["mean"]["rmse"]
    tidy = pd.read_csv(out)
    assert len(tidy) == 8
    assert tidy[tidy["model"] == "linear"]["rmse"].mean() == pytest.approx(by_name["linear"]["mean"]["rmse"])
    text = pellucid("compare", *arguments).out
    places = [text.index(f"\n{entry['model']} ") for entry in document["models"]]
    assert places == sorted(places)


def test_the_score_of_a_rival_is_scikit_learns(pellucid, folder):
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import train_test_split

    arguments = ("-t", "price", "-d", "bought,claims,years,city,since", "-m", "linear,dummy", "--splits", 1)
    document = pellucid("compare", folder / "t.csv", *arguments, "--json").json
    _, table = frame(folder)
    train, test = train_test_split(table, test_size=0.2, random_state=0)
    model = LinearRegression().fit(train[["age", "income"]], train["price"])
    error = model.predict(test[["age", "income"]]) - test["price"]
    mine = document["models"][0]
    assert mine["model"] == "linear"
    assert mine["mean"]["rmse"] == pytest.approx(float(np.sqrt(np.mean(error**2))))


def test_compare_counts_and_classes(pellucid, folder):
    from sklearn.metrics import mean_poisson_deviance
    from sklearn.model_selection import train_test_split

    arguments = ("-t", "claims", "--exposure", "years", "-d", "price,bought", "-m", "dummy,linear,additive")
    document = pellucid("compare", folder / "t.csv", *arguments, "--splits", 1, "--json").json
    assert document["ranked_by"] == "deviance"
    by_name = {entry["model"]: entry["mean"] for entry in document["models"]}
    train, test = train_test_split(frame(folder)[1], test_size=0.2, random_state=0)
    mean = test["years"] * train["claims"].sum() / train["years"].sum()
    assert by_name["dummy"]["deviance"] == pytest.approx(mean_poisson_deviance(test["claims"], mean))
    assert all(entry["failure"] is None for entry in document["models"])
    arguments = ("-t", "bought", "-d", "price,claims,years", "-m", "dummy,linear,additive")
    document = pellucid("compare", folder / "t.csv", *arguments, "--splits", 1, "--json").json
    assert document["ranked_by"] == "log_loss"
    assert document["models"][-1]["model"] == "dummy"


def test_a_model_that_fails_does_not_stop_the_others(pellucid, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=40)})
    table["y"] = table["x"] + rng.normal(size=40)
    table.to_csv(tmp_path / "one.csv", index=False)
    done = pellucid("compare", tmp_path / "one.csv", "-t", "y", "-m", "isk,linear", "--splits", 1)
    assert done.code == 0
    assert "isk could not be fitted" in done.err  # it needs two features
    assert "linear" in done.out


def test_usual_models_depend_on_task_and_size():
    from pellucid.cli.rivals import usual

    assert {"dummy", "linear", "additive", "ridge", "isk"} <= set(usual(TableSpec(task="regression"), 500))
    assert "ridge" not in usual(TableSpec(task="regression"), 10_000)
    assert "isk" not in usual(TableSpec(task="counts"), 500)


def test_rivals_from_elsewhere(pellucid, folder):
    pytest.importorskip("lightgbm")
    arguments = ("-t", "bought", "-d", "price,claims,years", "-m", "lightgbm,dummy", "--splits", 1)
    document = pellucid("compare", folder / "t.csv", *arguments, "--json").json
    assert document["models"][0]["failure"] is None


# --------------------------------------------------------------------------- demo
def test_demo(pellucid, tmp_path):
    done = pellucid("demo", "--out", tmp_path / "report.html")
    assert done.code == 0
    assert "x0 × x1" in done.out
    assert (tmp_path / "report.html").as_uri() in done.out


@pytest.mark.parametrize("model", ["price", "claims"])
def test_serve(pellucid, folder, monkeypatch, model):
    """What the command hands to the server: the model, its rows as they came, and how rows get to it."""
    pytest.importorskip("starlette")
    seen = {}
    monkeypatch.setattr("pellucid.serve.serve", lambda model, **given: seen.update(given, model=model))
    done = pellucid("serve", folder / f"{model}.pellucid", "--data", folder / "t.csv", "--port", "0")
    assert done.code == 0
    assert seen["target"] == model
    assert list(seen["raw"].columns) == list(seen["kinds"])
    assert ("exposure" in seen) == (model == "claims")
    about = {
        k: v for k, v in seen.items() if k not in ("host", "port", "token", "tell", "max_body", "max_rows")
    }
    from pellucid.serve.served import serve_model

    served = serve_model(**about)
    assert [f.kind for f in served.features] == [kind or "number" for kind in seen["kinds"].values()]
    assert len(served.sample) == 160
    assert pellucid("serve", folder / "no.pellucid").code == 1
    assert (
        "no column 'pirce'"
        in pellucid("serve", folder / "price.pellucid", "--data", folder / "t.csv", "-t", "pirce").err
    )


def test_serve_a_model_of_prepared_columns(pellucid, folder, monkeypatch, tmp_path):
    """Rows of the endpoint are those of the table, whatever columns the model sees."""
    pytest.importorskip("starlette")
    from pellucid.serve.answers import predict
    from pellucid.serve.features import rows_of_json
    from pellucid.serve.served import serve_model

    file, seen = tmp_path / "ridge.pellucid", {}
    drop = "bought,claims,years"
    fit = ["fit", folder / "t.csv", "-t", "price", "-d", drop, "-m", "ridge", "--split", "0", "-o", file]
    assert pellucid(*fit).code == 0
    monkeypatch.setattr("pellucid.serve.serve", lambda model, **given: seen.update(given, model=model))
    assert pellucid("serve", file, "--data", folder / "t.csv").code == 0
    about = {
        k: v for k, v in seen.items() if k not in ("host", "port", "token", "tell", "max_body", "max_rows")
    }
    served = serve_model(**about)
    row = {"age": 40, "income": None, "city": "Rome", "since": "2020-05-01"}
    made = predict(seen["model"], served, rows_of_json([row], served.features, [], 10))
    (tmp_path / "row.csv").write_text("age,income,city,since\n40,,Rome,2020-05-01\n")
    wanted = pellucid("predict", file, tmp_path / "row.csv", "--json").json["predictions"][0]["prediction"]
    assert made["predictions"][0]["prediction"] == pytest.approx(wanted)


def test_diff_leaves_rows_without_a_target_out(pellucid, folder, tmp_path):
    table = pd.read_csv(folder / "t.csv")
    table.loc[3, "price"] = np.nan
    table.to_csv(tmp_path / "gap.csv", index=False)
    model = folder / "price.pellucid"
    found = pellucid("diff", model, model, tmp_path / "gap.csv")
    assert "1 row without price was left out" in found.err
    table.assign(price=np.nan).to_csv(tmp_path / "none.csv", index=False)
    found = pellucid("diff", model, model, tmp_path / "none.csv")
    assert found.code == 0, found.err
    assert "Scores" not in found.out
