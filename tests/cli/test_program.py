"""The program as it is installed: started by the interpreter, with pipes, without optional packages."""

import io
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pandas as pd
import pytest

import pellucid

SOURCE = str(Path(pellucid.__file__).parents[1])


def start(*arguments, text=None, code=None):
    environment = os.environ | {
        "PYTHONPATH": SOURCE,
        "PYTHONIOENCODING": "utf-8",
        "PYTHONWARNINGS": "default",
    }
    program = ["-m", "pellucid"] if code is None else ["-c", textwrap.dedent(code)]
    return subprocess.run(
        [sys.executable, *program, *map(str, arguments)],
        input=text,
        capture_output=True,
        encoding="utf-8",
        env=environment,
        timeout=300,
        check=False,
    )


def test_from_a_table_to_a_report_through_pipes(folder, tmp_path):
    table = (folder / "t.csv").read_text()
    model = tmp_path / "m.pellucid"
    fitted = start("fit", "-", "-t", "price", "-d", "bought,claims,years", "-o", model, "--json", text=table)
    assert fitted.returncode == 0, fitted.stderr
    assert json.loads(fitted.stdout)["data"] == "standard input"
    predicted = start("predict", model, "-", text=table)
    assert len(pd.read_csv(io.StringIO(predicted.stdout))) == 160
    row = json.dumps({"age": 40, "income": 20, "city": "Rome", "since": "2021-05-05"})
    explained = start("explain", model, "-", text=row)
    assert "city = Rome" in explained.stdout
    assert explained.stderr == ""
    assert start("report", model, folder / "t.csv", "-o", tmp_path / "r.html").returncode == 0
    assert "regression of price" in start("info", model).stdout


def test_exit_codes_and_streams():
    version = start("--version")
    assert (version.returncode, version.stdout) == (0, f"pellucid {pellucid.__version__}\n")
    error = start("fit", "absent.csv", "-t", "y")
    assert (error.returncode, error.stdout) == (1, "")
    assert error.stderr == "pellucid: There is no file 'absent.csv'.\n"
    assert start("fit").returncode == 2


def test_help_reads_well(pellucid):
    for verb in ([], ["fit"], ["predict"], ["explain"], ["report"], ["compare"], ["info"], ["demo"]):
        done = pellucid(*verb, "--help")
        assert done.code == 0
        assert "Usage: pellucid" in done.out
    everything = pellucid("--help").out
    for verb in ("fit", "predict", "explain", "report", "compare", "info", "demo"):
        assert f" {verb} " in everything


BLOCKED = """
    import sys

    class Block:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in {blocked!r}:
                raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

    sys.meta_path.insert(0, Block())
    import pellucid
    from pellucid.cli.main import main
    main(sys.argv[1:])
    """

OPTIONAL = ("typer", "rich", "click", "pandas", "pyarrow", "polars", "openpyxl", "matplotlib", "numba")


def test_the_program_with_the_core_only():
    done = start("--help", code=BLOCKED.format(blocked=OPTIONAL))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        "pellucid: the command line needs typer, rich, pandas and pyarrow: pip install 'pellucid[cli]'\n"
    )


def test_the_demo_with_the_core_only(tmp_path):
    code = BLOCKED.format(blocked=OPTIONAL).replace("pellucid.cli.main", "pellucid.cli.demo")
    done = start("--report", tmp_path / "r.html", code=code)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "r.html").exists()


def test_workbooks_without_openpyxl(tmp_path):
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04")
    done = start("fit", tmp_path / "t.xlsx", "-t", "y", code=BLOCKED.format(blocked=("openpyxl",)))
    assert done.returncode == 1
    assert done.stderr == "pellucid: Reading Excel workbooks needs openpyxl: pip install 'pellucid[excel]'\n"


def test_rivals_that_are_not_installed(pellucid, folder, monkeypatch):
    monkeypatch.setattr("pellucid.cli.rivals.find_spec", lambda name: None)
    done = pellucid("compare", folder / "t.csv", "-t", "price", "-m", "ebm")
    assert done.err.splitlines()[-1] == "pellucid: The model ebm needs interpret: pip install interpret"


@pytest.mark.parametrize("module", ["typer", "rich"])
def test_one_package_missing(module):
    done = start(code=BLOCKED.format(blocked=(module,)))
    assert done.stderr == f"pellucid: the command line needs {module}: pip install 'pellucid[cli]'\n"
