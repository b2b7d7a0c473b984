"""Bad input: one sentence on standard error, exit code 1, nothing on standard output."""

import numpy as np
import pandas as pd
import pytest

import pellucid as library


@pytest.fixture
def bad(tmp_path):
    files = {
        "empty.csv": "",
        "header.csv": "x,y\n",
        "one.csv": "x,y\n1,5\n2,5\n3,5\n",
        "mixed.csv": "x,y\n1,1.5\n2,abc\n3,2.5\n4,3.5\n",
        "blank.csv": "x,y\n1,\n2,\n",
        "only.csv": "y\n1\n2\n3\n",
        "weights.csv": "x,y,w\n1,1,1\n2,2,\n3,4,1\n",
        "tiny.csv": "x,y\n1,a\n2,b\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.csv", "-t", "y"], "There is no file '{0}absent.csv'."),
        (["", "-t", "y"], "is a folder, not a file"),
        (["empty.csv", "-t", "y"], "'empty.csv' is empty."),
        (["header.csv", "-t", "y"], "'header.csv' has column names but no rows."),
        (["one.csv", "-t", "y"], "The target 'y' has the same value, 5, in every row"),
        (["one.csv", "-t", "Y"], "'one.csv' has no column 'Y'; did you mean 'y'?"),
        (["one.csv", "-t", "price"], "'one.csv' has no column 'price'; it has x, y."),
        (["one.csv", "-t", "y", "-d", "z"], "has no column 'z'"),
        (["mixed.csv", "-t", "y"], "mixes numbers and text such as 'abc' (1 of 4 rows)"),
        (["mixed.csv", "-t", "y", "--task", "regression"], "needs numbers, and the target 'y' holds 'abc'"),
        (["blank.csv", "-t", "y"], "The target 'y' is empty in every row."),
        (["only.csv", "-t", "y"], "has no column left to predict from"),
        (
            ["weights.csv", "-t", "y", "--weights", "w"],
            "The weights column 'w' has a missing value in row 2.",
        ),
        (["weights.csv", "-t", "y", "-m", "forest"], "There is no model 'forest'; there are additive"),
        (["weights.csv", "-t", "y", "-m", "isk", "--task", "counts"], "isk has no Poisson loss for counts"),
        (["weights.csv", "-t", "y", "-m", "ridge", "--interactions", "3"], "has no option --interactions"),
        (["weights.csv", "-t", "y", "--interactions", "x"], "--interactions is auto, a number, or pairs"),
        (["weights.csv", "-t", "y", "--split", "1.5"], "--split is a share"),
        (["weights.csv", "-t", "y", "-o", "nowhere/m.pellucid"], "There is no folder"),
        (["weights.csv", "-t", "y", "--sheet", "a"], "--sheet is for Excel workbooks"),
        (["weights.csv", "-t", "y", "--loss", "hinge", "--task", "regression"], "hinge"),
        (
            ["weights.csv", "-t", "y", "--loss", "gamma", "--task", "counts"],
            "Counts go with the losses poisson and negative_binomial",
        ),
        (["tiny.csv", "-t", "y"], "too few rows"),
        (["weights.csv", "-t", "y", "-m", "ridge", "--offset", "x"], "ridge takes no offset"),
    ],
)
def test_fit(pellucid, bad, arguments, message):
    place = f"{bad}/"
    done = pellucid("fit", place + arguments[0], *arguments[1:])
    assert done.code == 1
    assert done.out == ""
    last = done.err.splitlines()[-1]
    assert last.startswith("pellucid: ")
    assert message.format(place) in last
    assert "Traceback" not in done.err


def test_mixed_columns_are_categories_and_said(pellucid, tmp_path):
    rows = [f"{i % 7},{i * 0.5}" for i in range(40)]
    (tmp_path / "m.csv").write_text("x,y\nabc,3\n" + "\n".join(rows) + "\n")
    done = pellucid("fit", tmp_path / "m.csv", "-t", "y", "--json", "--split", 0)
    assert done.json["features"] == {"x": "category"}
    assert "x is taken as categories because 1 of its 41 values are no numbers: 'abc'" in done.err


def test_rows_and_columns_without_content_are_left_out(pellucid, tmp_path):
    rows = [f"{i % 7},,{i * 0.5}" for i in range(40)]
    (tmp_path / "m.csv").write_text("x,void,y\n3,,\n" + "\n".join(rows) + "\n")
    done = pellucid("fit", tmp_path / "m.csv", "-t", "y", "--json", "--split", 0)
    assert done.json["rows"] == 40
    assert "1 row without y was left out." in done.err
    assert "Left out, as they are empty: void" in done.err


@pytest.mark.parametrize("verb", [["predict"], ["explain"], ["report"]])
def test_tables_that_lack_a_column(pellucid, folder, tmp_path, verb):
    pd.DataFrame({"age": [30], "income": [10], "since": ["2020-01-01"], "price": [1]}).to_csv(
        tmp_path / "less.csv", index=False
    )
    done = pellucid(*verb, folder / "price.pellucid", tmp_path / "less.csv")
    assert done.code == 1
    assert done.err == "pellucid: 'less.csv' has no column 'city', which the model needs.\n"


def test_columns_that_no_term_reads_may_be_absent_or_of_another_kind(pellucid, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.uniform(0, 6, 90), "noise": rng.normal(size=90), "day": "2020-01-01"})
    table["y"] = np.sin(table["x"])
    table.to_csv(tmp_path / "t.csv", index=False)
    made = pellucid("fit", tmp_path / "t.csv", "-t", "y", "--split", 0, "--out", tmp_path / "m.pellucid")
    assert made.code == 0, made.err
    whole, part, other = (
        pellucid("predict", tmp_path / "m.pellucid", path, "--json")
        for path in (
            tmp_path / "t.csv",
            _written(table[["x"]], tmp_path / "part.csv"),
            _written(table[["x"]].assign(noise="loud", day=3), tmp_path / "other.csv"),
        )
    )
    assert part.code == other.code == 0, part.err + other.err
    assert part.json["predictions"] == other.json["predictions"] == whole.json["predictions"]


def _written(table, path):
    table.to_csv(path, index=False)
    return path


def test_a_number_that_has_become_text(pellucid, folder, tmp_path):
    table = pd.read_csv(folder / "t.csv").head(3).astype({"age": object})
    table.loc[1, "age"] = "old"
    table.to_csv(tmp_path / "t.csv", index=False)
    done = pellucid("predict", folder / "price.pellucid", tmp_path / "t.csv")
    assert done.err == "pellucid: Column 'age' held numbers in training, and holds 'old' now.\n"
    assert done.out == ""


@pytest.mark.parametrize("verb", ["predict", "explain", "report", "info"])
def test_files_that_are_no_models(pellucid, folder, tmp_path, verb):
    more = [] if verb == "info" else [folder / "t.csv"]
    wrong = pellucid(verb, folder / "t.csv", *more)
    assert wrong.code == 1
    assert "'t.csv' cannot be" in wrong.err
    assert "not a model file" in wrong.err
    whole = (folder / "price.pellucid").read_bytes()
    (tmp_path / "cut.pellucid").write_bytes(whole[: len(whole) // 2])
    assert pellucid(verb, tmp_path / "cut.pellucid", *more).code == 1
    assert pellucid(verb, tmp_path / "absent.pellucid", *more).code == 1
    assert "is a folder" in pellucid(verb, tmp_path, *more).err


def test_files_that_hold_no_model(pellucid, folder, tmp_path):
    library.save(library.kernels.RBF(), tmp_path / "k.pellucid")
    done = pellucid("predict", tmp_path / "k.pellucid", folder / "t.csv")
    assert done.err == "pellucid: 'k.pellucid' holds a RBF, which is not a model.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["predict", "price", "t.csv", "--proba"], "--proba is for classifiers"),
        (["predict", "bought", "t.csv", "--interval", "0.9"], "has no intervals"),
        (["predict", "claims", "t.csv", "--interval", "0.9"], "not available together with an exposure"),
        (["predict", "price", "t.csv", "--interval", "90"], "between 0 and 1, such as 0.9, got 90"),
        (["explain", "price", "t.csv"], "'t.csv' has 160 rows; say which one with --row"),
        (["explain", "price", "t.csv", "-r", "161"], "There is no row 161: 't.csv' has rows 1 to 160."),
        (["explain", "price", "t.csv", "-r", "1", "--class", "a"], "--class is for classifiers"),
        (["explain", "price", "t.csv", "--term", "age"], "needs no table"),
        (["explain", "price", "", "--term", "nix"], "The model has no term 'nix'; it has, for instance, "),
        (["explain", "price", "", "-r", "1"], "--row needs the table"),
        (["report", "price", "t.csv", "-t", "nix"], "has no column 'nix'"),
        (["report", "price", "t.csv", "-o", "nowhere/r.html"], "There is no folder 'nowhere'"),
        (["compare", "", "t.csv", "-t", "price", "-m", "nix"], "There is no model 'nix'; there are dummy"),
        (["compare", "", "t.csv", "-t", "price", "--split", "0"], "--split is a share"),
    ],
)
def test_other_verbs(pellucid, folder, arguments, message):
    verb, model, table, *rest = arguments
    files = [folder / f"{model}.pellucid"] if model else []
    files += [folder / table] if table else []
    done = pellucid(verb, *files, *rest)
    assert done.code == 1
    assert message in done.err.splitlines()[-1]
    assert done.out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "t.csv"],
        ["frobnicate"],
        ["fit", "t.csv", "-t", "y", "--task", "guessing"],
        ["predict", "--nix"],
    ],
)
def test_wrong_usage(pellucid, arguments):
    done = pellucid(*arguments)
    assert done.code == 2
    assert "Usage: pellucid" in done.err


def test_debug_shows_where(pellucid, tmp_path):
    with pytest.raises(FileNotFoundError):
        pellucid("fit", tmp_path / "absent.csv", "-t", "y", "--debug")


def test_errors_nobody_foresaw_are_told_as_such(pellucid, folder, monkeypatch):
    def broken(*arguments, **options):
        raise KeyError("oops")

    monkeypatch.setattr("pellucid.cli.info.info_command", broken)
    done = pellucid("info", folder / "price.pellucid")
    assert done.code == 1
    assert done.err == "pellucid: 'oops' (KeyError; --debug shows where)\n"


def test_names_cannot_write_to_the_terminal(pellucid, tmp_path):
    rows = "\n".join(f"{i % 9},{i % 9 + i * 0.01}" for i in range(40))
    (tmp_path / "h.csv").write_text("[bold red]x\x1b[31m,y\n" + rows + "\n")
    out = tmp_path / "h.pellucid"
    assert pellucid("fit", tmp_path / "h.csv", "-t", "y", "-o", out, "--split", 0).code == 0
    done = pellucid("explain", out)
    assert "[bold red]x\\x1b[31m" in done.out
    assert "\x1b" not in done.out


def test_warnings_are_notes(pellucid, folder, monkeypatch):
    import warnings

    def warns(*arguments, **options):
        warnings.warn("close to\n the edge", UserWarning, stacklevel=1)
        warnings.warn("of interest to programmers", DeprecationWarning, stacklevel=1)

    monkeypatch.setattr("pellucid.cli.info.info_command", warns)
    assert pellucid("info", folder / "price.pellucid").err == "Note: close to the edge\n"
