"""Kernels of molecules against RDKit's own similarities."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid.kernels import MinMax, Tanimoto
from pellucid.kernels.structured import chem

SMILES = Tanimoto.example_rows()


@pytest.fixture(name="Chem")
def _chem():
    return pytest.importorskip("rdkit.Chem")


def fingerprints(Chem, radius, counts):
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    generator = GetMorganGenerator(radius=radius)
    make = generator.GetSparseCountFingerprint if counts else generator.GetSparseFingerprint
    return [make(Chem.MolFromSmiles(text)) for text in SMILES]


@pytest.mark.parametrize("radius", [0, 1, 2, 3])
@pytest.mark.parametrize("counts", [True, False])
def test_min_max_is_what_rdkit_calls_tanimoto(Chem, radius, counts):
    from rdkit.DataStructs import BulkTanimotoSimilarity

    prints = fingerprints(Chem, radius, counts)
    expected = [BulkTanimotoSimilarity(one, prints) for one in prints]
    assert_allclose(MinMax(radius, counts=counts)(SMILES), expected, rtol=1e-12)
    if not counts:
        assert_allclose(Tanimoto(radius, counts=False)(SMILES), expected, rtol=1e-12)


def test_tanimoto_of_counts(Chem):
    counts = [one.GetNonzeroElements() for one in fingerprints(Chem, 2, True)]

    def dot(a, b):
        return sum(a[p] * b.get(p, 0) for p in a)

    expected = [[dot(a, b) / (dot(a, a) + dot(b, b) - dot(a, b)) for b in counts] for a in counts]
    assert_allclose(Tanimoto(2)(SMILES), expected, rtol=1e-12)


def test_atom_pairs_are_those_of_rdkit(Chem):
    from rdkit.Chem.rdFingerprintGenerator import GetAtomPairGenerator
    from rdkit.DataStructs import BulkTanimotoSimilarity

    # pairs of neighbours and beyond, up to thirty bonds, as RDKit has them
    generator = GetAtomPairGenerator(minDistance=1, maxDistance=30)
    prints = [generator.GetSparseCountFingerprint(Chem.MolFromSmiles(text)) for text in SMILES]
    expected = np.array([BulkTanimotoSimilarity(one, prints) for one in prints])
    pairs = [text for text in SMILES if Chem.MolFromSmiles(text).GetNumAtoms() > 1]
    kept = [SMILES.index(text) for text in pairs]
    assert_allclose(
        MinMax(fragments="atom_pairs")(pairs), expected[np.ix_(kept, kept)], rtol=1e-12, atol=1e-14
    )


def test_fragments_cover_atoms_and_bonds(Chem):
    found = Tanimoto(radius=1).occurrences("CCO")
    assert sorted(cover for places in found.values() for cover in places) == sorted(
        [(0,), (1,), (2,), (0, 1, 3), (0, 1, 2, 3, 4), (1, 2, 4)]
    )


def test_names_of_atoms_tell_their_hydrogens(Chem):
    assert {name.split()[0] for name in Tanimoto(0).occurrences("CCO")} == {"[CH3]", "[CH2]", "[OH]"}


def test_salts_have_fragments_in_each_ion(Chem):
    salt, acid = "[Na+].CC(=O)[O-]", "CC(=O)[O-]"
    found = Tanimoto(radius=1).occurrences(salt)
    alone = Tanimoto(radius=1).occurrences(acid)
    for name, places in alone.items():  # the same names and places, after the sodium's atom
        shifted = [tuple(site + 1 for site in cover) for cover in places]
        assert found[name] == shifted
    assert set(found) - set(alone) == {name for name in found if name.startswith("[Na+]")}


def test_molecules_of_rdkit_are_as_good_as_smiles(Chem):
    assert_allclose(Tanimoto()([Chem.MolFromSmiles("OCC")], ["CCO"]), 1.0)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("c1ccc", "row 1: 'c1ccc' is not a molecule"),
        ("", "row 1: '' is not a molecule"),
        (None, "row 1: expected SMILES, got a missing value"),
        ("C\u2013C", "row 1: .* is not a molecule: SMILES have no '\u2013'"),
    ],
)
def test_what_is_not_a_molecule_is_named(Chem, bad, message):
    with pytest.raises(ValueError, match=message):
        Tanimoto()(["CCO", bad])


def test_bad_parameters():
    with pytest.raises(ValueError, match="radius must be a whole number"):
        Tanimoto(-1)
    with pytest.raises(ValueError, match="fragments must be one of morgan, atom_pairs"):
        MinMax(fragments="rings")


def test_without_rdkit_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    chem.molecule.cache_clear()
    with pytest.raises(ImportError, match=r"pip install 'pellucid\[chem\]'"):
        Tanimoto()(["CCO"])
