"""A folder of Parquet files on the command line."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


@pytest.fixture
def rows(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.uniform(20, 80, 300), "city": rng.choice(["Rome", "Oslo"], 300)})
    table["price"] = np.sin(table["age"] / 15) + (table["city"] == "Rome") + 0.1 * rng.normal(size=300)
    table["number"] = np.arange(300)
    folder = tmp_path / "rows"
    folder.mkdir()
    for k in range(3):
        table.iloc[100 * k : 100 * k + 100].to_parquet(folder / f"part-{k}.parquet", index=False)
    return folder


def test_a_folder_is_fitted_and_the_model_predicts_files(pellucid, rows, tmp_path):
    model = tmp_path / "m.pellucid"
    done = pellucid("fit", rows, "-t", "price", "-d", "number", "--interactions", "0", "-o", model, "--json")
    assert done.code == 0
    assert (done.json["rows"], done.json["task"]) == (300, "regression")
    assert "Rows: 300" in done.err
    predicted = pellucid("predict", model, rows / "part-0.parquet")
    assert predicted.code == 0
    assert len(predicted.out.splitlines()) == 101
    shown = pellucid("fit", rows, "-t", "price", "-d", "number", "--interactions", "0")
    assert "city" in shown.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-t", "cost"], "no column 'cost'"),
        (["-t", "price", "-d", "weight"], "no column 'weight'"),
        (["-t", "price", "-m", "ridge"], "for the additive model"),
    ],
)
def test_what_does_not_go_with_a_folder_is_said(pellucid, rows, arguments, message):
    done = pellucid("fit", rows, *arguments)
    assert done.code != 0
    assert message in done.err
