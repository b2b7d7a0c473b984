"""Kernels that count parts: an object is the table of how often each of its parts occurs in it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from pellucid.kernels.base import Kernel
from pellucid.linalg import count_products, count_table


@dataclass(frozen=True)
class Occurrences:
    """Parts found in some objects, one entry for each place where one was found."""

    row: np.ndarray
    """Number of the object."""
    part: np.ndarray
    """Number of the part, in a vocabulary of these objects."""
    value: np.ndarray
    """What the occurrence adds to the count."""
    n_parts: int
    names: Callable[[np.ndarray], list[str]]
    """Gives the names of parts by their numbers."""
    covers: Sequence[Any] | np.ndarray = ()
    """Sites that each occurrence covers, of the occurrences in the objects for which this was asked."""
    code: np.ndarray | None = None
    """Number of each part among all parts that there can be, where these are finitely many."""

    def table(self, n_objects: int) -> sparse.csr_array:
        """Counts, objects by parts."""
        return count_table(self.row, self.part, self.value, (n_objects, self.n_parts))


@dataclass(frozen=True)
class Sites:
    """Places of an object to which contributions are assigned: letters or atoms, and the bonds between."""

    labels: tuple[str, ...]
    bonds: tuple[tuple[int, int], ...] = field(default=())

    def __len__(self) -> int:
        return len(self.labels) + len(self.bonds)


class CountedParts(Kernel, register=False):
    r"""Kernels with one feature per part: :math:`k(x, y) = \sum_p \phi_p(x)\,\phi_p(y)`.

    A subclass says in ``_occurrences`` how objects fall into parts, and in ``sites`` what a part may cover;
    :math:`\phi_p(x)` is the sum of the values of the occurrences of part ``p`` in ``x``. With ``normalise``
    the features are divided by their norm, so that :math:`k(x, x) = 1`; an object without parts is alike to
    nothing, itself included. The vocabulary is made anew for the objects at hand: a part that was not seen in
    training adds to the norm of an object, and to nothing else.
    """

    vectors = False
    _is_of_objects: ClassVar[bool] = True
    normalise: bool = False
    places: ClassVar[str] = "letters"
    """What the sites of an object are: its letters, or nodes and edges."""

    @abstractmethod
    def _occurrences(self, objects: np.ndarray, covers: int = 0) -> Occurrences:
        """All parts of the objects, and the sites that those of the first ``covers`` objects cover."""

    @abstractmethod
    def sites(self, item: Any) -> Sites:
        """Places of one object, in the order in which ``covers`` numbers them: labels first, then bonds."""

    @abstractmethod
    def _read(self, item: Any) -> Any:
        """Check one object, and bring it to the form that models keep."""

    def read_objects(self, rows: np.ndarray) -> np.ndarray:
        if rows.ndim == 2 and rows.shape[1] == 1:
            rows = rows[:, 0]
        if rows.ndim != 1:
            raise ValueError(
                f"The kernel {self} compares single objects, but X has {rows.shape[1]} columns. Say which "
                f"one it reads, as in {self}.on('name')."
            )
        out = np.empty(len(rows), dtype=object)
        for i, item in enumerate(rows):
            try:
                out[i] = self._read(item)
            except (ValueError, TypeError) as error:
                raise ValueError(f"row {i}: {error}") from None
        return out

    def occurrences(self, item: Any) -> dict[str, list[tuple[int, ...]]]:
        """Return the parts of one object, each with the sites that its occurrences cover.

        Examples
        --------
        >>> from pellucid.kernels import Spectrum
        >>> Spectrum(k=2).occurrences("ABAB")
        {'AB': [(0, 1), (2, 3)], 'BA': [(1, 2)]}
        """
        found = self._occurrences(self._rows([item]), covers=1)
        names = found.names(np.arange(found.n_parts))
        out: dict[str, list[tuple[int, ...]]] = {}
        for part, cover in zip(found.part, found.covers, strict=True):
            out.setdefault(names[part], []).append(tuple(int(site) for site in cover))
        return out

    # ---------------------------------------------------------------- values
    def _gram(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        if Y is X:
            A = self._occurrences(X).table(len(X))
            return self.compare(A, A)
        table = self._occurrences(np.concatenate([X, Y])).table(len(X) + len(Y))
        return self.compare(table[: len(X)], table[len(X) :])

    def _diag(self, X: np.ndarray) -> np.ndarray:
        squares = self.scaled(self._occurrences(X).table(len(X))).power(2)
        return np.asarray(squares.sum(axis=1), dtype=float)

    def scaled(self, A: sparse.csr_array) -> sparse.csr_array:
        """Features: the counts, of unit norm if normalised."""
        if not self.normalise:
            return A
        norm = np.sqrt(np.asarray(A.power(2).sum(axis=1)))
        scale = np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0)
        data = A.data * np.repeat(scale, np.diff(A.indptr))  # a product of matrices would lose the order
        return sparse.csr_array((data, A.indices, A.indptr), A.shape)

    def compare(self, A: sparse.csr_array, B: sparse.csr_array) -> np.ndarray:
        """Values of the kernel between objects, from their counts."""
        a = self.scaled(A)
        return count_products(a, a if B is A else self.scaled(B))

    def shares(self, A: sparse.csr_array, B: sparse.csr_array, dual: np.ndarray) -> np.ndarray:
        r"""Split ``k(A, B) @ dual`` exactly among the parts of each object of ``A``.

        The result has one row for each count stored in ``A``, in its order, and the columns of ``dual``: the
        value :math:`\phi_p(x)\, w_p` with the weights :math:`w_p = \sum_i \alpha_i \phi_p(x_i)`.
        """
        a = self.scaled(A)
        weights = np.asarray(self.scaled(B).T @ dual)
        return a.data[:, None] * weights[a.indices]

    def mean_shares(self, A: sparse.csr_array, parts: np.ndarray) -> np.ndarray:
        r"""Rows ``G`` with which ``G @ dual`` is the mean share of parts in the objects that have them."""
        a = sparse.csc_array(self.scaled(A))[:, parts]
        mean = np.asarray(a.sum(axis=0)) / np.maximum(np.diff(a.indptr), 1)
        return mean[:, None] * a.T.toarray()

    # ------------------------------------------------------- explicit features
    def _space(self) -> int | None:
        """How many parts there can be; ``None`` if there is no end to them."""
        return None

    def feature_count(self, n_columns: int) -> int | None:
        return self._space()

    def features(self, X: np.ndarray) -> np.ndarray:
        space = self._space()
        if space is None:
            raise self._missing("finite set of explicit features")
        found = self._occurrences(X)
        assert found.code is not None  # given where the space is finite
        counts = count_table(found.row, found.code[found.part], found.value, (len(X), space))
        return self.scaled(counts).toarray()
