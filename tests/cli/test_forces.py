"""``pellucid forces``: from a file of geometries to a force field and its predictions."""

import json

import numpy as np
import pytest
from force_molecules import ATOMS, energy, forces, geometries

from pellucid.cli.run import run
from pellucid.datasets import Geometries, read_geometries, write_geometries


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forces")
    R = geometries(50)
    write_geometries(folder / "train.xyz", Geometries(R[:40], ATOMS, forces(R[:40]), energy(R[:40])))
    write_geometries(folder / "new.xyz", Geometries(R[40:], ATOMS, forces(R[40:]), energy(R[40:])))
    write_geometries(folder / "bare.xyz", Geometries(R[40:], ATOMS))
    assert run(["forces", "fit", str(folder / "train.xyz"), "--out", str(folder / "nh3.pellucid")]) == 0
    return folder


def test_fit_and_score(files, capsys):
    arguments = ["--test", str(files / "new.xyz"), "--first", "30", "--out", str(files / "b.pellucid")]
    assert run(["forces", "fit", str(files / "train.xyz"), *arguments]) == 0
    printed = capsys.readouterr().out
    assert "N H H H" in printed
    assert "On 10 geometries" in printed
    assert "forces    MAE" in printed


def test_predict(files, capsys):
    out = files / "predicted.xyz"
    assert (
        run(["forces", "predict", str(files / "nh3.pellucid"), str(files / "bare.xyz"), "--out", str(out)])
        == 0
    )
    found = read_geometries(out)
    truth = read_geometries(files / "new.xyz")
    assert np.abs(found.F - truth.F).mean() < 0.05 * np.abs(truth.F).mean()


def test_info(files, capsys):
    assert run(["forces", "info", str(files / "nh3.pellucid")]) == 0
    assert "6 permutations" in capsys.readouterr().out
    assert run(["forces", "info", str(files / "nh3.pellucid"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["atoms"] == [7, 1, 1, 1]


def test_mistakes(files, capsys):
    assert run(["forces", "fit", str(files / "bare.xyz"), "--out", str(files / "c.pellucid")]) == 1
    assert "no forces" in capsys.readouterr().err
    assert run(["forces", "fit", str(files / "none.xyz"), "--out", str(files / "c.pellucid")]) == 1
    assert "There is no file" in capsys.readouterr().err
    assert run(["forces", "fit", str(files / "train.xyz"), "--out", str(files / "no" / "c.pellucid")]) == 1
    assert "There is no folder" in capsys.readouterr().err
    model, table = str(files / "nh3.pellucid"), str(files / "t.csv")
    assert run(["forces", "predict", model, str(files / "bare.xyz"), "--out", table]) == 1
    assert "known are .xyz" in capsys.readouterr().err
    assert run(["forces", "predict", str(files / "new.xyz"), model, "--out", str(files / "p.xyz")]) == 1
    assert "'new.xyz' cannot be used" in capsys.readouterr().err


def test_atoms_of_a_test_are_checked(files, capsys):
    found = read_geometries(files / "new.xyz")
    order = [1, 0, 2, 3]
    write_geometries(
        files / "other.xyz", Geometries(found.R[:, order], [ATOMS[k] for k in order], found.F[:, order])
    )
    arguments = ["--test", str(files / "other.xyz"), "--out", str(files / "d.pellucid")]
    assert run(["forces", "fit", str(files / "train.xyz"), *arguments]) == 1
    assert "another order" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["predict", "explain", "report"])
def test_verbs_for_tables_point_to_those_for_geometries(files, capsys, verb):
    out = ["--out", str(files / "r.html")] if verb == "report" else []
    assert run([verb, str(files / "nh3.pellucid"), str(files / "new.xyz"), *out]) == 1
    assert "pellucid forces predict nh3.pellucid" in capsys.readouterr().err
