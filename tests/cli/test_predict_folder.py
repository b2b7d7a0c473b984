"""``pellucid predict`` for a folder of Parquet files, and what it tells of rows unlike those of training."""

import json

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from pellucid import AdditiveKernelRegressor, KernelRidge, save  # noqa: E402
from pellucid.kernels import RBF, Categorical  # noqa: E402

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"age": RNG.uniform(20, 80, 300), "city": RNG.choice(["Rome", "Oslo"], 300)})
TABLE["price"] = np.sin(TABLE["age"] / 15) + (TABLE["city"] == "Rome") + 0.1 * RNG.normal(size=300)
TABLE["dear"] = np.where(TABLE["price"] > 0.5, "yes", "no")
NOTE = "Note: Column 'city' has a level in 60 rows that training did not have: 'Lima'."


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Files of 80, 80, 80 and 60 rows, the same as one CSV file, and some models."""
    from pellucid.cli.run import run

    where = tmp_path_factory.mktemp("predict")
    TABLE.to_csv(where / "train.csv", index=False)
    new = TABLE.assign(city=["Lima"] * 60 + list(TABLE["city"][60:]))
    new.to_csv(where / "new.csv", index=False)
    (where / "new").mkdir()
    for k, start in enumerate(range(0, 300, 80)):
        new.iloc[start : start + 80].to_parquet(where / "new" / f"{k}.parquet")
    for name, drop, target in (("numbers", "dear", "price"), ("classes", "price", "dear")):
        for model in ("additive", "ridge"):
            made = where / f"{name}-{model}.pellucid"
            given = ["fit", str(where / "train.csv"), "-t", target, "-d", drop, "-m", model, "-o", str(made)]
            assert run(given) == 0
    return where


@pytest.mark.parametrize("model", ["numbers-additive", "numbers-ridge", "classes-additive", "classes-ridge"])
def test_a_folder_is_predicted_as_one_table(pellucid, place, model):
    file = place / f"{model}.pellucid"
    for options in ([], ["--keep"], ["--proba"] if "classes" in model else ["--interval", "0.9"]):
        whole, parts = (pellucid("predict", file, place / rows, *options) for rows in ("new.csv", "new"))
        assert parts.code == whole.code == 0
        a, b = (pd.read_csv(pd.io.common.StringIO(done.out)) for done in (whole, parts))
        pd.testing.assert_frame_equal(a, b)
        assert len(b) == 300
        if model == "classes-additive" or model == "numbers-additive":
            assert parts.err == whole.err
        assert parts.err.count("The table has ") == 1


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow", "json", "xlsx"])
def test_every_kind_of_file_is_written(pellucid, place, tmp_path, ending):
    read = {"csv": pd.read_csv, "tsv": lambda f: pd.read_csv(f, sep="\t"), "parquet": pd.read_parquet,
            "arrow": pd.read_feather, "json": pd.read_json, "xlsx": pd.read_excel}[ending]  # fmt: skip
    out = tmp_path / f"out.{ending}"
    done = pellucid("predict", place / "numbers-additive.pellucid", place / "new", "--keep", "-o", out)
    assert done.code == 0
    assert done.out == ""
    found = read(out)
    assert list(found) == [*TABLE, "prediction"]
    wanted = pellucid("predict", place / "numbers-additive.pellucid", place / "new.csv")
    np.testing.assert_allclose(found["prediction"], [float(v) for v in wanted.out.splitlines()[1:]])


def test_as_json(pellucid, place):
    done = pellucid("predict", place / "numbers-additive.pellucid", place / "new", "--json")
    assert done.json["rows"] == len(done.json["predictions"]) == 300


def test_levels_that_training_did_not_have_are_told_once(pellucid, place):
    for rows in ("new", "new.csv"):
        for model in ("numbers-additive", "classes-additive"):
            done = pellucid("predict", place / f"{model}.pellucid", place / rows)
            assert done.err.count("that training did not have") == 1
            assert NOTE in done.err
    assert (
        "that training"
        not in pellucid("predict", place / "numbers-additive.pellucid", place / "train.csv").err
    )
    file = place / "numbers-additive.pellucid"
    assert "'Lima'" in pellucid("explain", file, place / "new.csv", "--row", "1").err
    assert "'Lima'" not in pellucid("explain", file, place / "new.csv", "--row", "100").err


def test_nothing_is_left_of_a_file_that_cannot_be_finished(pellucid, place, tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    TABLE.iloc[:50].to_parquet(folder / "0.parquet")
    bad = TABLE.iloc[50:].copy()
    bad["age"] = np.inf
    bad.to_parquet(folder / "1.parquet")
    done = pellucid("predict", place / "numbers-additive.pellucid", folder, "-o", tmp_path / "out.csv")
    assert done.code == 1
    assert "infinity" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["rows"]


def test_what_does_not_go_with_a_folder_is_said(pellucid, place, tmp_path):
    file = place / "numbers-additive.pellucid"
    assert "--sheet is for Excel" in pellucid("predict", file, place / "new", "--sheet", "one").err
    (tmp_path / "empty").mkdir()
    assert "no Parquet file" in pellucid("predict", file, tmp_path / "empty").err
    TABLE[["age"]].to_parquet(tmp_path / "empty" / "0.parquet")
    assert "has no column 'city', which the model needs" in pellucid("predict", file, tmp_path / "empty").err


@pytest.mark.parametrize(
    "model",
    [AdditiveKernelRegressor(0), KernelRidge(RBF().on(["age"]) * Categorical().on(["city"]), alpha=0.1)],
)
def test_models_saved_from_python(pellucid, place, tmp_path, model):
    model.fit(TABLE[["age", "city", "price"]], "price")
    save(model, tmp_path / "m.pellucid")
    whole, parts = (pellucid("predict", tmp_path / "m.pellucid", place / rows) for rows in ("new.csv", "new"))
    np.testing.assert_allclose(*([float(v) for v in d.out.splitlines()[1:]] for d in (whole, parts)))
    assert NOTE in parts.err
    assert "The table has price as well" in parts.err


def test_columns_without_values_in_the_first_file(pellucid, place, tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    for k, note in enumerate((None, "late")):
        TABLE.iloc[:20].assign(note=pd.Series([note] * 20, dtype="string")).to_parquet(
            folder / f"{k}.parquet"
        )
    out = tmp_path / "out.parquet"
    assert pellucid("predict", place / "numbers-additive.pellucid", folder, "--keep", "-o", out).code == 0
    found = pd.read_parquet(out)
    assert found["note"].isna().sum() == 20
    assert json.dumps(found["note"].iloc[-1]) == '"late"'
