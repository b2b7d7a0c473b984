"""A small table with all kinds of columns, and the program run inside the test process."""

import json

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")

from pellucid.cli.run import run  # noqa: E402


class Done:
    """What a run of the program left behind."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def pellucid(capsys):
    def call(*arguments):
        capsys.readouterr()
        code = run([str(a) for a in arguments])
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return call


def make_table(n=160, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "income": rng.lognormal(3.0, 0.5, n).round(2),
            "city": rng.choice(["Rome", "Oslo", "Lima"], n),
            "since": pd.Series(
                pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D")
            ),
        }
    )
    eta = np.sin(table["age"] / 15) + 0.5 * (table["city"] == "Rome") * np.log(table["income"])
    table["price"] = (eta + 0.1 * rng.normal(size=n)).round(4)
    table["bought"] = np.where(eta + 0.3 * rng.normal(size=n) > 0.5, "yes", "no")
    table["years"] = rng.uniform(0.2, 2.0, n).round(2)
    table["claims"] = rng.poisson(table["years"] * np.exp(eta - 1.0))
    return table


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with the table as CSV and three models of it."""
    place = tmp_path_factory.mktemp("cli")
    table = make_table()
    table["since"] = table["since"].dt.strftime("%Y-%m-%d")
    table.to_csv(place / "t.csv", index=False)
    csv = str(place / "t.csv")
    for target, drop, name in (
        ("price", "bought,claims,years", "price"),
        ("bought", "price,claims,years", "bought"),
        ("claims", "price,bought", "claims"),
    ):
        more = ["--exposure", "years"] if target == "claims" else []
        out = str(place / f"{name}.pellucid")
        assert run(["fit", csv, "-t", target, "-d", drop, "-o", out, *more]) == 0
    return place
