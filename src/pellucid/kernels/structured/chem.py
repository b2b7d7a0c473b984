"""The one place where RDKit is imported: molecules from SMILES, their graphs and fragments."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from pellucid.kernels.structured.graph import Graph

_BONDS = {"SINGLE": "-", "DOUBLE": "=", "TRIPLE": "#", "AROMATIC": ":"}


def rdkit_chem() -> Any:
    """Return ``rdkit.Chem``, or say what to install."""
    try:
        from rdkit import Chem
    except ImportError:
        raise ImportError("Kernels on molecules need RDKit: pip install 'pellucid[chem]'") from None
    return Chem


@lru_cache(maxsize=100_000)
def molecule(smiles: str) -> Any:
    """The molecule that a SMILES string stands for."""
    chem = rdkit_chem()
    if not smiles.isascii():  # RDKit would read up to there, and say nothing
        strange = next(c for c in smiles if not c.isascii())
        raise ValueError(f"{smiles[:60]!r} is not a molecule: SMILES have no {strange!r}.")
    from rdkit.rdBase import BlockLogs

    with BlockLogs():  # what it would print is in our error
        found = chem.MolFromSmiles(smiles)
    if found is None or found.GetNumAtoms() == 0:
        raise ValueError(f"{smiles[:60]!r} is not a molecule: RDKit cannot read it as SMILES.")
    return found


def bonds_of(smiles: str) -> tuple[tuple[int, int], ...]:
    """Ends of the bonds of a molecule."""
    return tuple((b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in molecule(smiles).GetBonds())


def atoms_of(smiles: str) -> tuple[str, ...]:
    """Symbols of the atoms of a molecule, lower case in aromatic rings."""
    return tuple(
        a.GetSymbol().lower() if a.GetIsAromatic() else a.GetSymbol() for a in molecule(smiles).GetAtoms()
    )


@lru_cache(maxsize=100_000)
def molecular_graph(smiles: str) -> Graph:
    """Atoms and bonds of a molecule as a graph with labels; charges are part of them."""
    mol = molecule(smiles)
    charges = [a.GetFormalCharge() for a in mol.GetAtoms()]
    labels = [
        label + ("" if not charge else f"{charge:+d}")
        for label, charge in zip(atoms_of(smiles), charges, strict=True)
    ]
    marks = tuple(_BONDS.get(str(b.GetBondType()), str(b.GetBondType())) for b in mol.GetBonds())
    return Graph(tuple(labels), bonds_of(smiles), marks)


@lru_cache(maxsize=200_000)
def fragments(smiles: str, kind: str, radius: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the fragments of a molecule, one per occurrence, and where each is.

    The places are (atom, radius) for ``"morgan"`` and (atom, atom) for ``"atom_pairs"``.
    """
    from rdkit.Chem.rdFingerprintGenerator import AdditionalOutput

    output = AdditionalOutput()
    if kind == "morgan":
        output.AllocateBitInfoMap()
        _morgan(radius).GetSparseCountFingerprint(molecule(smiles), additionalOutput=output)
        found = output.GetBitInfoMap()
        code = [number for number, places in found.items() for _ in places]
        place = [where for places in found.values() for where in places]
    else:
        mol = molecule(smiles)
        kinds = [_atom_code(atom) for atom in mol.GetAtoms()]
        steps = rdkit_chem().GetDistanceMatrix(mol)
        n = len(kinds)
        place = [(i, j) for i in range(n) for j in range(i + 1, n) if steps[i, j] < 1e6]
        code = [
            (min(kinds[i], kinds[j]) * 2**20 + max(kinds[i], kinds[j])) * 2**10 + int(min(steps[i, j], 1023))
            for i, j in place
        ]
    return np.array(code, dtype=np.int64), np.array(place, dtype=np.intp).reshape(-1, 2)


def _atom_code(atom: Any) -> int:
    """Element, number of neighbours and π electrons, as in Carhart's atom pairs."""
    from rdkit.Chem import rdMolDescriptors

    return int(rdMolDescriptors.GetAtomPairAtomCode(atom))


@lru_cache(maxsize=64)
def _morgan(radius: int) -> Any:
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    return GetMorganGenerator(radius=radius)


def environment(smiles: str, kind: str, place: np.ndarray) -> tuple[list[int], list[int]]:
    """Atoms and bonds that a fragment covers."""
    first, second = int(place[0]), int(place[1])
    if kind != "morgan":
        return [first, second], []
    if second == 0:
        return [first], []
    mol = molecule(smiles)
    bonds = list(rdkit_chem().FindAtomEnvironmentOfRadiusN(mol, second, first, False, False))
    atoms = {first}
    for number in bonds:
        bond = mol.GetBondWithIdx(number)
        atoms |= {bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()}
    return sorted(atoms), bonds


def fragment_name(smiles: str, kind: str, place: np.ndarray, code: int) -> str:
    """A fragment as SMILES with its number, which also tells what it is attached to."""
    mol = molecule(smiles)
    atoms, bonds = environment(smiles, kind, place)
    if kind != "morgan":
        steps = int(rdkit_chem().GetDistanceMatrix(mol)[atoms[0], atoms[1]])
        ends = sorted(atoms_of(smiles)[a] for a in atoms)
        return f"{ends[0]}~{steps}~{ends[1]} [{code:x}]"
    root = int(place[0])
    if "." in smiles:  # RDKit starts from an atom only where all atoms hang together
        mol, number = _component(mol, root)
        pairs = [bonds_of(smiles)[bond] for bond in bonds]
        bonds = [mol.GetBondBetweenAtoms(number[u], number[v]).GetIdx() for u, v in pairs]
        atoms, root = [number[atom] for atom in atoms], number[root]
    text = rdkit_chem().MolFragmentToSmiles(
        mol, atoms, bonds, rootedAtAtom=root, allHsExplicit=len(atoms) == 1
    )
    return f"{text} [{code:x}]"


def _component(mol: Any, atom: int) -> tuple[Any, dict[int, int]]:
    """What hangs together with an atom, such as one ion of a salt, and the numbers of its atoms there."""
    chem = rdkit_chem()
    which = next(i for i, atoms in enumerate(chem.GetMolFrags(mol)) if atom in atoms)
    found = chem.GetMolFrags(mol, asMols=True, sanitizeFrags=False)[which]
    return found, {old: new for new, old in enumerate(chem.GetMolFrags(mol)[which])}


def flat_coordinates(smiles: str) -> np.ndarray:
    """Places of the atoms of a molecule on paper, of shape (n, 2)."""
    from rdkit.Chem.rdDepictor import Compute2DCoords

    drawn = rdkit_chem().Mol(molecule(smiles))
    Compute2DCoords(drawn)
    return np.asarray(drawn.GetConformer().GetPositions())[:, :2]
