"""Kernels typed on the command line, from the table to explanations."""

import numpy as np
import pandas as pd
import pytest

import pellucid as library
from pellucid.cli.formula import choose, read_formula
from pellucid.kernels import RBF, Spectrum
from pellucid.kernels.structured.parse import Formula


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Sequences whose number of CG decides, beside a dose and a town."""
    rng = np.random.default_rng(0)
    made = pd.DataFrame({"seq": ["".join(rng.choice(list("ACGT"), 30)) for _ in range(60)]})
    made["dose"] = rng.normal(size=60).round(3)
    made["town"] = rng.choice(["Ulm", "Bonn"], 60)
    made["level"] = (made["seq"].str.count("CG") + np.sin(made["dose"])).round(3)
    made["high"] = np.where(made["level"] > made["level"].median(), "yes", "no")
    path = tmp_path_factory.mktemp("formula") / "s.csv"
    made.to_csv(path, index=False)
    return made, path


def test_a_model_of_a_sequence_and_a_number(pellucid, table, tmp_path):
    frame, path = table
    out = tmp_path / "s.pellucid"
    formula = "spectrum(seq, k=2) + rbf(dose)"
    done = pellucid("fit", path, "-t", "level", "--kernel", formula, "-o", out, "--json")
    assert done.code == 0
    assert "model: ridge" in done.err
    assert "Kernel: Spectrum(k=2" in done.err
    assert done.json["features"] == {"seq": "text", "dose": "number"}
    assert done.json["held_out"]["r2"] > 0.5
    assert done.json["motifs"][0]["part"] == "CG"

    model = library.load(out)
    scale = model.kernel_.operands[1].base.length_scale
    assert scale in [f * frame["dose"].std(ddof=0) for f in (0.25, 0.5, 1.0, 2.0, 4.0)]
    told = pellucid("predict", out, path, "--json").json
    expected = model.predict(frame[["seq", "dose"]])
    np.testing.assert_allclose([row["prediction"] for row in told["predictions"]], expected)

    one = pellucid("explain", out, path, "--row", "7", "--json").json
    total = one["intercept"] + sum(part["contribution"] for part in one["contributions"])
    assert total == pytest.approx(expected[6])
    assert len(one["places"][0]["labels"]) == 30
    words = pellucid("explain", out, path, "--row", "7", "--top", "2").out
    assert "other parts (--top)" in words
    assert "Strongest places" in words
    assert "What matters most" in pellucid("explain", out).out
    assert formula in pellucid("info", out).out


def test_parameters_left_open_are_those_with_the_least_error(table):
    frame, _ = table
    formula = read_formula("spectrum(seq)", ["seq"])
    model = choose(library.KernelRidge(), formula, frame[["seq"]], frame["level"].to_numpy(), None)
    grid = {"kernel": [Spectrum(k).on("seq") for k in (3, 4, 5, 6)]}
    best = library.LooSearch(library.KernelRidge(), grid).fit(frame[["seq"]], frame["level"])
    assert model.kernel == best.best_params_["kernel"]


def test_without_leave_one_out_length_scales_are_the_spread(table):
    frame, _ = table
    glm = choose(library.KernelGLMRegressor(), Formula("rbf(dose)"), frame[["dose"]], frame["level"], None)
    assert glm.kernel == RBF(frame["dose"].std(ddof=0)).on("dose")


def test_one_column_needs_no_name_and_categories_are_read(pellucid, table):
    _, path = table
    drop = ("--split", "0", "--json")
    done = pellucid("fit", path, "-t", "high", "-d", "dose,town,level", "--kernel", "spectrum(k=2)", *drop)
    assert done.json["features"] == {"seq": "text"}
    done = pellucid("fit", path, "-t", "high", "--kernel", "spectrum(seq) + categorical(town)", *drop)
    assert done.json["features"] == {"seq": "text", "town": "category"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--kernel", "spectrum"], "does not say which column Spectrum reads: write spectrum(seq)"),
        (["--kernel", "spectrum(seq) + rbf"], "does not say which column RBF reads: write rbf(column)"),
        (["--kernel", "spectrum(sequence)"], "reads a column 'sequence', which is not among the features"),
        (["--kernel", "spectrum(seq, dose)"], "Spectrum reads one column"),
        (["--kernel", "spectrum(town) * rbf(town)"], "reads the column 'town' as text and as numbers"),
        (["--kernel", "rbf(town)"], "reads 'town' as numbers, and it holds"),
        (["--kernel", "spectrum(seq"], "is not a kernel"),
        (["--kernel", "spectrum(seq, alphabet='AC')"], "Column 'seq', row 1: the letters 'G', 'T'"),
        (["--kernel", "spectrum(seq)", "-m", "additive"], "for the models ridge and glm"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(pellucid, table, options, message):
    done = pellucid("fit", table[1], "-t", "level", *options)
    assert done.code == 1
    assert message in done.err.strip().splitlines()[-1]


def test_a_product_has_no_parts_and_says_so(pellucid, table, tmp_path):
    out = tmp_path / "p.pellucid"
    formula = "spectrum(seq, k=2) * rbf(dose, length_scale=1)"
    pellucid("fit", table[1], "-t", "level", "--kernel", formula, "--split", 0, "-o", out)
    assert "features act together in its kernel" in pellucid("explain", out).out
    done = pellucid("explain", out, table[1], "--row", 1)
    assert done.code == 1
    assert "inside a product or power" in done.err


def test_a_row_without_a_sequence_is_named(pellucid, table, tmp_path):
    frame, path = table
    out = tmp_path / "s.pellucid"
    assert (
        pellucid("fit", path, "-t", "level", "--kernel", "spectrum(seq)", "--split", 0, "-o", out).code == 0
    )
    broken = frame.copy()
    broken.loc[4, "seq"] = None
    broken.to_csv(tmp_path / "b.csv", index=False)
    done = pellucid("predict", out, tmp_path / "b.csv")
    assert done.code == 1
    assert "Column 'seq', row 5: expected a string, got a missing value" in done.err
