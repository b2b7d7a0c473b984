"""Kernels of molecules: shared fragments over all fragments."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.kernels.base import Kernel
from pellucid.kernels.checks import whole
from pellucid.kernels.structured import chem
from pellucid.kernels.structured.counts import CountedParts, Occurrences, Sites
from pellucid.kernels.structured.letters import number_values
from pellucid.kernels.structured.sequences import shown
from pellucid.linalg import count_products, unary

FRAGMENTS = ("morgan", "atom_pairs")


class MolecularKernel(CountedParts, register=False):
    r"""Kernels :math:`k(a, b) = s(a, b) / (s(a, a) + s(b, b) - s(a, b))` of the counts of fragments.

    ``s`` is what two molecules share. The contribution of a fragment to a prediction is its share of
    :math:`s(a, b_i)` over the denominator, summed over training molecules; this is exact, but the
    denominators depend on the whole molecule.
    """

    places = "nodes"
    worth_trying = (("radius", (1, 2, 3)),)
    parameters = ("radius", "fragments", "counts")
    fragments: str

    def __init__(self, radius: int = 2, *, fragments: str = "morgan", counts: bool = True) -> None:
        self.radius = whole(radius, "radius", 0)
        if fragments not in FRAGMENTS:
            raise ValueError(f"fragments must be one of {', '.join(FRAGMENTS)}, got {fragments!r}.")
        self.fragments = fragments
        self.counts = bool(counts)

    @classmethod
    def examples(cls) -> list[Kernel]:
        return [cls(), cls(1, counts=False), cls(fragments="atom_pairs")]

    @classmethod
    def example_rows(cls) -> list[Any]:
        return ["CCO", "CC(=O)O", "c1ccccc1", "c1ccccc1O", "CCN", "O", "CC(C)Cc1ccc(cc1)C(C)C(=O)O"]

    def _read(self, item: Any) -> str:
        if hasattr(item, "GetNumAtoms"):  # a molecule of RDKit
            item = chem.rdkit_chem().MolToSmiles(item)
        if not isinstance(item, str):
            raise TypeError(f"expected SMILES, got {shown(item)}.")
        chem.molecule(item)
        return str(item)

    def sites(self, item: str) -> Sites:
        return Sites(chem.atoms_of(item), chem.bonds_of(item))

    def _occurrences(self, objects: np.ndarray, covers: int = 0) -> Occurrences:
        kind = self.fragments
        found = [chem.fragments(smiles, kind, self.radius) for smiles in objects]
        row = np.repeat(np.arange(len(found)), [len(code) for code, _ in found])
        code = np.concatenate([code for code, _ in found]) if found else np.zeros(0, dtype=np.int64)
        place = np.concatenate([where for _, where in found]) if found else np.zeros((0, 2), dtype=np.intp)
        codes, part = number_values(code)
        first = np.zeros(len(codes), dtype=np.intp)
        first[part[::-1]] = np.arange(len(part))[::-1]
        value = np.ones(len(row))
        if not self.counts and len(row):  # a fragment is there or not; its occurrences share the one
            pair = row * len(codes) + part
            _, which, times = np.unique(pair, return_inverse=True, return_counts=True)
            value = 1.0 / times[which]
        sites: list[list[int]] = []
        for i, where in zip(row[row < covers], place[row < covers], strict=True):
            atoms, bonds = chem.environment(objects[i], kind, where)
            n_atoms = chem.molecule(objects[i]).GetNumAtoms()
            sites.append([*atoms, *(n_atoms + b for b in bonds)])

        def names(parts: np.ndarray) -> list[str]:
            at = first[parts]
            return [chem.fragment_name(objects[row[i]], kind, place[i], int(code[i])) for i in at]

        return Occurrences(row, part, value, len(codes), names, sites)

    @abstractmethod
    def _shared(self, A: sparse.csr_array, B: sparse.csr_array) -> np.ndarray:
        """What each two molecules share."""

    @abstractmethod
    def _own(self, A: sparse.csr_array) -> np.ndarray:
        """What each molecule shares with itself."""

    @abstractmethod
    def _common(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """What counts of the same fragment add to what is shared."""

    def compare(self, A: sparse.csr_array, B: sparse.csr_array) -> np.ndarray:
        same = B is A
        A = self._tidy(A)
        B = A if same else self._tidy(B)
        shared = self._shared(A, B)
        return _over(shared, self._own(A)[:, None] + self._own(B) - shared)

    def _tidy(self, A: sparse.csr_array) -> sparse.csr_array:
        """Counts without the rounding that sums of shares leave."""
        return A if self.counts else sparse.csr_array((np.ones_like(A.data), A.indices, A.indptr), A.shape)

    def _diag(self, X: np.ndarray) -> np.ndarray:
        A = self._occurrences(X).table(len(X))
        return (np.diff(A.indptr) > 0).astype(float)

    def shares(self, A: sparse.csr_array, B: sparse.csr_array, dual: np.ndarray) -> np.ndarray:
        A, B = self._tidy(A), self._tidy(B)
        shared, own = self._shared(A, B), self._own(B)
        out = np.zeros((len(A.data), dual.shape[1]))
        columns = sparse.csc_array(B)
        for i, mine in enumerate(self._own(A)):
            stored = slice(A.indptr[i], A.indptr[i + 1])
            common = columns[:, A.indices[stored]]
            common.data = self._common(np.repeat(A.data[stored], np.diff(common.indptr)), common.data)
            out[stored] = common.T @ _over(dual, (mine + own - shared[i])[:, None])
        return out

    def mean_shares(self, A: sparse.csr_array, parts: np.ndarray) -> np.ndarray:
        A = self._tidy(A)
        shared, own = self._shared(A, A), self._own(A)
        weight = _over(np.ones_like(shared), own[:, None] + own - shared)
        columns = sparse.csc_array(A)[:, parts]
        out = np.zeros((len(parts), A.shape[0]))
        for p in range(len(parts)):
            stored = slice(columns.indptr[p], columns.indptr[p + 1])
            having, count = columns.indices[stored], columns.data[stored]
            out[p, having] = (self._common(count[:, None], count) * weight[np.ix_(having, having)]).mean(
                axis=0
            )
        return out


def _over(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Ratio, zero where there is nothing to divide by."""
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(a.shape, b.shape)), where=b > 0)


class Tanimoto(MolecularKernel):
    r"""The Tanimoto kernel, :math:`a \cdot b / (\|a\|^2 + \|b\|^2 - a \cdot b)` of counts of fragments.

    Parameters
    ----------
    radius : int, default=2
        How many bonds a Morgan fragment reaches from its atom. Larger ones are more specific.
    fragments : {"morgan", "atom_pairs"}, default="morgan"
        Circular surroundings of each atom, or pairs of atoms with the distance between them.
    counts : bool, default=True
        Whether it counts how often a fragment occurs; otherwise whether it does, as in bit fingerprints,
        but without the collisions of folding.

    Notes
    -----
    Rows are SMILES, or molecules of RDKit, which models keep as SMILES. RDKit comes with
    ``pip install 'pellucid[chem]'``.

    References
    ----------
    Ralaivola, Swamidass, Saigo and Baldi (2005), Graph kernels for chemical informatics, Neural Networks 18.

    Examples
    --------
    >>> from pellucid.kernels import Tanimoto
    >>> Tanimoto(radius=1)(["CCO", "CCN", "c1ccccc1"]).round(3)
    array([[1.   , 0.333, 0.   ],
           [0.333, 1.   , 0.   ],
           [0.   , 0.   , 1.   ]])
    """

    def _shared(self, A: sparse.csr_array, B: sparse.csr_array) -> np.ndarray:
        return count_products(A, B)

    def _own(self, A: sparse.csr_array) -> np.ndarray:
        return np.asarray(A.power(2).sum(axis=1), dtype=float)

    def _common(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a * b


class MinMax(MolecularKernel):
    r"""The min-max kernel, :math:`\sum_p \min(a_p, b_p) / \sum_p \max(a_p, b_p)` of counts of fragments.

    For bits it is the Tanimoto kernel; for counts it is what RDKit computes as Tanimoto similarity.

    Parameters
    ----------
    radius, fragments, counts
        As in :class:`Tanimoto`.
    """

    def _shared(self, A: sparse.csr_array, B: sparse.csr_array) -> np.ndarray:
        if B is A:
            ones = unary(A)
            return count_products(ones, ones)
        ones = unary(sparse.csr_array(sparse.vstack([A, B])))
        return count_products(ones[: A.shape[0]], ones[A.shape[0] :])

    def _own(self, A: sparse.csr_array) -> np.ndarray:
        return np.asarray(A.sum(axis=1), dtype=float)

    def _common(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.minimum(a, b)
