"""What travels in the notes of a model file, and what models that take numbers alone are given."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

import pellucid as library
from pellucid.cli.errors import UserError
from pellucid.cli.table_spec import MISSING, TableSpec
from pellucid.cli.tables import Source

X = pd.DataFrame({"a": [1.0, np.nan, 3.0, 8.0], "c": ["x", None, "y", "x"], "s": ["p", "q", "q", "p"]})
KINDS = {"a": "number", "c": "category", "s": "category"}


def test_notes_and_back():
    spec = TableSpec(model="ridge", target="y", columns=KINDS, takes="numbers", exposure="e").learn(X)
    assert TableSpec.from_notes(spec.to_notes()) == spec


@pytest.mark.parametrize("notes", [None, "", "for the board", "[1]", "{}", '{"pellucid fit": 2}'])
def test_notes_of_another_kind(notes):
    assert TableSpec.from_notes(notes) is None


@pytest.mark.parametrize("wrong", [{"columns": []}, {"exposure": 3}, {"rows": "many"}, {"target": None}])
def test_damaged_notes(wrong):
    notes = json.loads(TableSpec().to_notes()) | wrong
    with pytest.raises(UserError, match=f"notes are damaged: {next(iter(wrong))}"):
        TableSpec.from_notes(json.dumps(notes))


def test_numbers_alone():
    spec = TableSpec(columns=KINDS, takes="numbers").learn(X)
    made = spec.apply(X)
    assert made.columns.tolist() == ["a", f"c={MISSING}", "c=x", "c=y", "s=q"]  # two levels: one column
    assert made["a"].tolist() == [1.0, 3.0, 3.0, 8.0]  # the median of 1, 3 and 8
    assert made["c=x"].tolist() == [1.0, 0.0, 0.0, 1.0]
    unknown = spec.apply(pd.DataFrame({"a": [0.0], "c": ["z"], "s": ["z"]}))
    assert unknown.to_numpy().tolist() == [[0.0] * 5]


def test_many_levels_are_cut_to_the_most_frequent():
    column = pd.DataFrame({"c": [f"v{i:03}" for i in range(80)] + ["v079"] * 3})
    levels = TableSpec(columns={"c": "category"}, takes="numbers").learn(column).levels["c"]
    assert len(levels) == 50
    assert "v079" in levels


def test_several_columns_missing():
    with pytest.raises(UserError, match="lacks 2 columns that the model needs: 'c', 's'"):
        TableSpec(columns=KINDS).pick(Source(pd.DataFrame({"a": ["1"]}), "t.csv"))


def test_an_offset_is_added(pellucid, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=80).round(3), "o": rng.normal(size=80).round(3)})
    table["y"] = (np.sin(table["x"]) + 2 * table["o"]).round(3)
    table.to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "m.pellucid"
    assert pellucid("fit", tmp_path / "t.csv", "-t", "y", "--offset", "o", "-o", out).code == 0
    made = pellucid("predict", out, tmp_path / "t.csv", "--json").json["predictions"]
    model = library.load(out)
    np.testing.assert_allclose(
        [row["prediction"] for row in made], model.predict(table[["x"]]) + table["o"], rtol=1e-9
    )
    arguments = ("-t", "y", "--offset", "o", "-m", "linear,additive,dummy", "--splits", 1, "--json")
    compared = pellucid("compare", tmp_path / "t.csv", *arguments).json
    train, test = train_test_split(table, test_size=0.2, random_state=0)
    slope = LinearRegression().fit(train[["x"]], train["y"] - train["o"])
    error = slope.predict(test[["x"]]) + test["o"] - test["y"]
    linear = next(entry for entry in compared["models"] if entry["model"] == "linear")
    assert linear["mean"]["rmse"] == pytest.approx(float(np.sqrt(np.mean(error**2))))
    told = pellucid("explain", out, tmp_path / "t.csv", "-r", 1)
    assert "for exposure 1 and offset 0" in told.err


def test_named_pairs_and_other_losses(pellucid, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(size=(150, 3)).round(3), columns=["u", "v", "w"])
    table["y"] = np.exp(table["u"] * table["v"] + 0.1 * rng.normal(size=150)).round(4)
    table.to_csv(tmp_path / "t.csv", index=False)
    arguments = ("-t", "y", "--interactions", "u*v", "--loss", "gamma", "--split", 0, "--json")
    document = pellucid("fit", tmp_path / "t.csv", *arguments).json
    assert document["task"] == "regression"
    pairs = {entry["term"] for entry in document["terms"] if "×" in entry["term"]}
    assert pairs <= {"u × v"}


def test_truth_values_as_classes(pellucid, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=80).round(3)})
    table["hit"] = table["x"] > 0
    table.to_parquet(tmp_path / "t.parquet")
    out = tmp_path / "m.pellucid"
    assert pellucid("fit", tmp_path / "t.parquet", "-t", "hit", "-o", out).code == 0
    table.to_csv(tmp_path / "t.csv", index=False)
    done = pellucid("predict", out, tmp_path / "t.csv", "--json")
    assert {row["prediction"] for row in done.json["predictions"]} == {True, False}
    assert "The table has hit as well: accuracy" in done.err
    pd.DataFrame({"x": [1.0], "hit": ["perhaps"]}).to_csv(tmp_path / "odd.csv", index=False)
    assert "as well" not in pellucid("predict", out, tmp_path / "odd.csv").err
    wrong = pellucid("report", out, tmp_path / "odd.csv", "-o", tmp_path / "r.html")
    assert "holds 'perhaps', which is none of the model's classes" in wrong.err


def test_rare_classes(pellucid, tmp_path):
    rows = "\n".join(f"{i},{'a' if i % 2 else 'b'}" for i in range(60))
    (tmp_path / "t.csv").write_text(f"x,kind\n{rows}\n60,c\n")
    done = pellucid("fit", tmp_path / "t.csv", "-t", "kind", "--json")
    assert done.code == 0
    assert done.json["held_out"]["log_loss"] > 0


@pytest.mark.parametrize("word", ["NA", "", "n/a", "?"])
def test_words_for_nothing_in_a_target_of_numbers(pellucid, tmp_path, word):
    rng = np.random.default_rng(0)
    x = rng.normal(size=60).round(3)
    rows = [f"{v},{word if i % 20 == 7 else round(float(np.sin(v)), 3)}" for i, v in enumerate(x)]
    (tmp_path / "t.csv").write_text("x,y\n" + "\n".join(rows) + "\n")
    out = tmp_path / "m.pellucid"
    done = pellucid("fit", tmp_path / "t.csv", "-t", "y", "-o", out)
    assert done.code == 0
    assert "3 rows without y were left out" in done.err
    told = pellucid("predict", out, tmp_path / "t.csv", "--json")
    assert len(told.json["predictions"]) == 60
    assert "The table has y as well" not in told.err  # not in every row
    page = pellucid("report", out, tmp_path / "t.csv", "-o", tmp_path / "r.html", "--json")
    assert page.json["rows"] == 57


def test_dates_and_ordered_categories_of_parquet_in_a_new_table_of_text(pellucid, tmp_path):
    rng = np.random.default_rng(0)
    sizes = ["small", "medium", "large"]
    table = pd.DataFrame(
        {
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 90), unit="D"),
            "size": pd.Categorical(rng.choice(sizes, 90), sizes, ordered=True),
        }
    )
    table["y"] = np.where(table["size"] == "medium", 2.0, 0.0) + 0.01 * table["day"].dt.day_of_year
    table.to_parquet(tmp_path / "t.parquet")
    table.assign(day=table["day"].dt.strftime("%Y-%m-%d"))[["size", "day"]].to_csv(tmp_path / "new.csv")
    for model in ("additive", "sparse-additive", "ridge"):
        out = tmp_path / f"{model}.pellucid"
        assert pellucid("fit", tmp_path / "t.parquet", "-t", "y", "-m", model, "-o", out).code == 0
        old, new = (pellucid("predict", out, tmp_path / name, "--json") for name in ("t.parquet", "new.csv"))
        assert new.json["predictions"] == old.json["predictions"]
        fitted = library.load(out)
        if model == "additive":
            assert fitted.columns_[1].ordered
            assert list(fitted.effects_["size"].grids[0].points) == sizes
    library.save(library.AdditiveKernelRegressor().fit(table[["day", "size"]], table["y"]), out)
    plain = pellucid("predict", out, tmp_path / "new.csv", "--json")
    assert len(plain.json["predictions"]) == 90
