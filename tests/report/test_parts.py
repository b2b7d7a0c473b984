"""Kernels of strings, graphs and molecules in the report: words counted anew, parts of rows, motifs."""

import numpy as np
import pytest
from report_data import WORD_KERNELS, payload, texts

from pellucid import KernelRidge, KernelRidgeClassifier, build_report
from pellucid.kernels import (
    RBF,
    Categorical,
    GappedKmer,
    ShortestPath,
    Spectrum,
    Subsequence,
    Tanimoto,
    WeisfeilerLehman,
)
from pellucid.report.page_model import evaluate
from pellucid.report.page_parts import parts_model
from pellucid.report.words import find_words, word_spec

pandas = pytest.importorskip("pandas")


@pytest.mark.parametrize("kernel", WORD_KERNELS, ids=str)
def test_words_are_those_of_the_kernel(kernel):
    spec = word_spec(kernel)
    for text in texts(kernel, 8):
        found = {}
        for name, _, cover in find_words(spec, text):
            found.setdefault(name, []).append(tuple(cover))
        expected = kernel.occurrences(text)
        assert {name: sorted(covers) for name, covers in found.items()} == {
            name: sorted(covers) for name, covers in expected.items()
        }


@pytest.mark.parametrize("kernel", WORD_KERNELS, ids=str)
def test_the_page_model_predicts(kernel):
    rows = texts(kernel)
    y = np.random.default_rng(1).normal(size=len(rows))
    model = KernelRidge(kernel, alpha=0.1).fit(rows, y)
    new = texts(kernel, 10, seed=2)
    _, eta = evaluate(parts_model(model), [[text] for text in new])
    np.testing.assert_allclose(eta[:, 0], model.predict(new), rtol=1e-10, atol=1e-12)


def test_beside_numbers_in_a_table():
    rows = texts(Spectrum(2))
    X = pandas.DataFrame({"dose": np.linspace(-1, 1, 30), "name": "a", "seq": rows})
    kernel = 2.0 * Spectrum(2).on("seq") + 0.5 * RBF(0.7).on(["dose"]) * RBF(2.0).on(["dose"])
    y = pandas.Series(np.sin(X["dose"]) + X["seq"].str.count("CG"), name="level")
    report = build_report(KernelRidge(kernel, alpha=0.1).fit(X, y), X, y)
    told = payload(report)
    assert told["reading"] == "parts"
    assert told["check"] < 1e-10
    assert [part["kind"] for part in told["page_model"]["parts"]] == ["words", "numbers"]
    assert [feature["used"] for feature in told["features"]] == [True, False, True]
    assert told["features"][2]["text"] == {"alphabet": None}
    assert [term["name"] for term in told["terms"]] == ["dose"]
    assert told["motifs"][0]["names"]
    assert told["columns"][2]["text"].endswith("letters")


def test_probabilities_of_a_classifier_are_computed():
    rows = texts(Spectrum(2))
    two = np.array(["no", "yes"])[[int("CG" in text) for text in rows]]
    three = np.array(["a", "b", "c"])[[min(text.count("C"), 2) for text in rows]]
    for y, link, motifs in ((two, "logit", 1), (three, "softmax", 3)):
        told = payload(build_report(KernelRidgeClassifier(Spectrum(2)).fit(rows, y), rows, y))
        assert told["page_model"]["link"] == link
        assert len(told["motifs"]) == motifs


def test_rows_of_molecules_hold_their_parts():
    pytest.importorskip("rdkit")
    smiles = ["CCO", "CCCO", "C", "O", "c1ccccc1", "CC#N", "CC(=O)[O-]", "C1CC1", "CCN", "CCCl"]
    y = np.arange(10.0)
    model = KernelRidge(Tanimoto(1) + WeisfeilerLehman(1), alpha=0.1).fit(smiles, y)
    told = payload(build_report(model, smiles, y))
    assert told["page_model"] is None
    assert told["columns"][0]["name"] == "molecule"
    assert ["features", "1 (0 numeric, 0 categorical, 1 of objects)"] in told["fit"]["data"]
    assert set(told["motifs"][0]["kernels"]) == {"Tanimoto", "WeisfeilerLehman"}
    for row, answer, text in zip(told["rows"]["why"]["rows"], told["rows"]["answers"], smiles, strict=True):
        assert row["total"] == pytest.approx(answer[0])
        assert row["start"] + sum(item[2] for item in row["items"]) == pytest.approx(row["total"], abs=1e-5)
        for site in row["maps"]:
            assert len(site["places"]) == len(site["labels"]) == len(site["values"])
            assert len(site["kinds"]) == len(site["bonds"]) == len(site["bond_values"])
            assert site["molecule"]
        inside = sum(sum(site["values"]) + sum(site["bond_values"]) for site in row["maps"])
        assert inside == pytest.approx(row["total"] - row["start"], abs=1e-4), text
    assert told["rows"]["why"]["rows"][5]["maps"][0]["kinds"] == ["-", "#"]


def test_kernels_keep_the_parameters_that_tell_them_apart():
    rows = texts(Spectrum(2))
    model = KernelRidge(Spectrum(1) + Spectrum(2), alpha=0.1).fit(rows, np.arange(30.0))
    told = payload(build_report(model, rows, np.arange(30.0)))
    assert set(told["motifs"][0]["kernels"]) == {str(Spectrum(1)), str(Spectrum(2))}


def test_graphs_are_no_columns_and_can_be_shown():
    graphs = [(list("ABC"), [(0, 1), (1, 2)]), (["A"], []), (list("AB"), [(0, 1)]), (list("CA"), [(0, 1)])]
    model = KernelRidge(ShortestPath(), alpha=0.1).fit(graphs, [1.0, 2.0, 3.0, 4.0])
    told = payload(build_report(model, graphs, [1.0, 2.0, 3.0, 4.0]))
    assert told["columns"] == []
    site = told["rows"]["why"]["rows"][0]["maps"][0]
    assert site["labels"] == ["A", "B", "C"]
    assert site["kinds"] is None
    assert not site["molecule"]


def test_kernels_that_a_page_cannot_compute():
    rows, y = texts(Spectrum(2)), np.arange(30.0)
    X = pandas.DataFrame({"seq": rows, "town": ["Ulm", "Bonn"] * 15})
    kernel = Spectrum(2).on("seq") + Categorical().on("town")
    told = payload(build_report(KernelRidge(kernel).fit(X, y), X, y))
    assert told["page_model"] is None
    assert told["rows"]["why"]["what"] == "parts"
    told = payload(build_report(KernelRidge(Subsequence(2)).fit(rows, y), rows, y))
    assert told["motifs"] is None  # it counts no parts
    dashed = ["A-CC", "AC-C", "CC-A"]
    assert parts_model(KernelRidge(GappedKmer(3, 2), alpha=1.0).fit(dashed, [0.0, 1.0, 2.0])) is None


def test_words_are_training_data_too():
    rows, y = texts(Spectrum(3)), np.arange(30.0)
    model = KernelRidge(Spectrum(3)).fit(rows, y)
    told = payload(build_report(model, rows, y, max_rows=0))
    assert told["page_model"] is None
    assert told["rows"]["cells"] == []
