"""Geometries in files: out and in again, other people's spellings, and what is wrong with a file."""

import numpy as np
import pytest

from pellucid.datasets import Geometries, read_geometries, write_geometries


@pytest.fixture
def water():
    rng = np.random.default_rng(0)
    R = np.array([[0.0, 0, 0], [0.96, 0, 0], [-0.24, 0.93, 0]]) + 0.01 * rng.normal(size=(4, 3, 3))
    return Geometries(R, ["O", "H", "H"], rng.normal(size=(4, 3, 3)), rng.normal(size=4) - 47_000.0)


@pytest.mark.parametrize("name", ["w.xyz", "w.extxyz", "w.npz"])
def test_out_and_in_again(water, tmp_path, name):
    write_geometries(tmp_path / name, water)
    again = read_geometries(tmp_path / name)
    for one, other in ((again.R, water.R), (again.F, water.F), (again.E, water.E)):
        np.testing.assert_allclose(one, other, atol=1e-10)
    assert list(again.atoms) == water.atoms


def test_numbers_become_symbols_in_text(water, tmp_path):
    write_geometries(tmp_path / "w.xyz", Geometries(water.R, np.array([8, 1, 1])))
    assert read_geometries(tmp_path / "w.xyz").atoms == water.atoms


def test_geometries_may_stand_apart(tmp_path):
    (tmp_path / "w.xyz").write_text("\n2\n\nH 0 0 0\nH 0 0 1\n\n2\n\nH 0 0 0\nH 0 0 2\n\n\n")
    assert len(read_geometries(tmp_path / "w.xyz").R) == 2
    with pytest.raises(ValueError, match="has no parts"):
        read_geometries(tmp_path / "w.xyz", "train")


def test_positions_alone(water, tmp_path):
    write_geometries(tmp_path / "w.xyz", Geometries(water.R, water.atoms))
    again = read_geometries(tmp_path / "w.xyz")
    assert again.F is None
    assert again.E is None


def test_ase_reads_what_we_write_and_we_what_it_writes(water, tmp_path):
    ase = pytest.importorskip("ase")
    from ase.io import read, write

    write_geometries(tmp_path / "w.xyz", water)
    frames = read(tmp_path / "w.xyz", index=":")
    np.testing.assert_allclose(frames[2].get_forces(), water.F[2], atol=1e-8)
    assert frames[1].get_potential_energy() == pytest.approx(water.E[1])
    write(tmp_path / "a.extxyz", [ase.Atoms("OHH", r) for r in water.R])
    np.testing.assert_allclose(read_geometries(tmp_path / "a.extxyz").R, water.R, atol=1e-7)


def test_archives_of_others(water, tmp_path):
    np.savez(
        tmp_path / "rmd17.npz", coords=water.R, forces=water.F, energies=water.E, nuclear_charges=[8, 1, 1]
    )
    found = read_geometries(tmp_path / "rmd17.npz")
    np.testing.assert_array_equal(found.R, water.R)
    assert found.atoms.tolist() == [8, 1, 1]
    np.savez(tmp_path / "parts.npz", R_train=water.R[:3], R_test=water.R[3:], E_test=water.E[3:], z=[8, 1, 1])
    assert read_geometries(tmp_path / "parts.npz", "test").R.shape == (1, 3, 3)
    assert read_geometries(tmp_path / "parts.npz", "test").F is None
    with pytest.raises(ValueError, match="parts test, train"):
        read_geometries(tmp_path / "parts.npz")
    with pytest.raises(ValueError, match="no part 'valid'"):
        read_geometries(tmp_path / "parts.npz", "valid")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no geometry"),
        ("two\n\nH 0 0 0\n", "number of atoms"),
        ("-3\n\nH 0 0 0\n", "number of atoms"),
        ("0\n\n", "number of atoms"),
        ("2\n\nH 0 0 0\n", "incomplete"),
        ("1\n\nH 0 0\n", "incomplete"),
        ("1\n\nH 0 0 x\n", "no number"),
        ("1\n\nH 0 0 0\n1\n\nO 0 0 0\n", "other atoms"),
        ("1\nenergy=1\nH 0 0 0\n1\n\nH 0 0 0\n", "lack forces or energies"),
        ("1\nProperties=a:S:1\nH 0 0 0\n", "no species"),
    ],
)
def test_bad_files(tmp_path, text, message):
    (tmp_path / "bad.xyz").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_geometries(tmp_path / "bad.xyz")


def test_unknown_endings(water, tmp_path):
    with pytest.raises(ValueError, match=r"known are \.xyz"):
        read_geometries(tmp_path / "a.pdb")
    with pytest.raises(ValueError, match=r"known are \.xyz"):
        write_geometries(tmp_path / "a.pdb", water)
    np.savez(tmp_path / "a.npz", energies=water.E)
    with pytest.raises(ValueError, match="no geometries"):
        read_geometries(tmp_path / "a.npz")


def test_files_of_another_kind(water, tmp_path):
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(ValueError, match="no NumPy archive"):
        read_geometries(tmp_path / "text.npz")
    (tmp_path / "empty.npz").write_bytes(b"")
    with pytest.raises(ValueError, match="no NumPy archive"):
        read_geometries(tmp_path / "empty.npz")
    (tmp_path / "binary.xyz").write_bytes(bytes(range(256)))
    with pytest.raises(ValueError, match="no text file"):
        read_geometries(tmp_path / "binary.xyz")
    mixed = np.array([water.R[0], water.R[1][:2]], dtype=object)
    np.savez(tmp_path / "mixed.npz", R=mixed)
    with pytest.raises(ValueError, match="do all geometries have the same atoms"):
        read_geometries(tmp_path / "mixed.npz")
