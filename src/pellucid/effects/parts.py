"""Which parts of a sequence, graph or molecule make its prediction, and where in it they are."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.kernels import Constant, CountedParts, Kernel, Product, Restricted, Sum


@dataclass(frozen=True)
class Summand:
    """One of the kernels of which a kernel is the sum, with its factor and the rows that it sees."""

    kernel: Kernel
    name: str
    factor: float
    select: Callable[[np.ndarray], np.ndarray]
    where: str
    """The columns that it reads, as in ``.on(['promoter'])``."""

    @property
    def place(self) -> tuple[str, str]:
        """What its contributions are drawn on: kernels with the same place share one map."""
        assert isinstance(self.kernel, CountedParts)
        return self.where, self.kernel.places


def summands(kernel: Kernel) -> list[Summand]:
    """Take a kernel apart into its sum; factors and columns are told apart from what they apply to."""
    return list(_summands(kernel, 1.0, lambda rows: rows, ""))


def counts_parts(kernel: Kernel) -> bool:
    """Whether some kernel of the sum counts words, subtrees or fragments."""
    return any(isinstance(term.kernel, CountedParts) for term in summands(kernel))


def without_parts(kernel: Kernel) -> str:
    """Say why there are no parts, and what to do where they stand in a product."""
    if any(isinstance(node, CountedParts) for node in kernel._nodes()):
        return (
            f"In the kernel {kernel} parts are counted inside a product or power, so that each acts together "
            f"with all others and has no contribution of its own. Add the kernels instead, as in "
            f"Tanimoto().on('smiles') + RBF().on(['dose'])."
        )
    return f"The kernel {kernel} counts no parts."


def _summands(
    kernel: Kernel, factor: float, select: Callable[[np.ndarray], np.ndarray], where: str
) -> Iterator[Summand]:
    if isinstance(kernel, Sum):
        for child in kernel.children:
            yield from _summands(child, factor, select, where)
        return
    if isinstance(kernel, Product):
        constants = [k.value for k in kernel.children if isinstance(k, Constant)]
        others = [k for k in kernel.children if not isinstance(k, Constant)]
        if len(others) == 1:
            yield from _summands(others[0], factor * float(np.prod(constants)), select, where)
            return
    if isinstance(kernel, Restricted):
        inner = kernel
        yield from _summands(
            inner.base, factor, lambda rows: inner._select(select(rows)), f".on({inner.columns!r})"
        )
        return
    yield Summand(kernel, f"{kernel}{where}", factor, select, where)


@dataclass(frozen=True)
class SiteMap:
    """Contributions to one prediction, spread over the places of the object."""

    kernels: tuple[str, ...]
    """The kernels that read the object."""
    item: Any
    """The object."""
    labels: tuple[str, ...]
    """Letters, nodes or atoms."""
    values: np.ndarray
    """What each of them contributes."""
    bonds: tuple[tuple[int, int], ...]
    """Ends of edges or bonds; none in sequences."""
    bond_values: np.ndarray
    """What each of them contributes."""
    places: str = "nodes"
    """``"letters"`` of a text, or ``"nodes"`` of a graph or molecule."""

    @property
    def kernel(self) -> str:
        """The kernels that read the object, as their sum."""
        return " + ".join(self.kernels)

    @property
    def on_labels(self) -> np.ndarray:
        """Contributions of the labels, with half of what each bond contributes at either end; same sum."""
        out = self.values.copy()
        if self.bonds:
            np.add.at(out, np.array(self.bonds).ravel(), np.repeat(self.bond_values / 2.0, 2))
        return out

    @property
    def total(self) -> float:
        """Sum over labels and bonds: what the kernel contributes to the prediction."""
        return float(self.values.sum() + self.bond_values.sum())


@dataclass(frozen=True)
class PartContributions:
    """One prediction as a sum over the parts of its object.

    ``intercept + contributions.sum()`` is the prediction (for classifiers and models with a link, the score),
    up to rounding. A kernel of the model that does not count parts is one part of this list, under its own
    name.
    """

    intercept: float
    parts: tuple[str, ...]
    """Words, subtrees or fragments, by kernel, in the order of the size of what they contribute."""
    kernels: tuple[str, ...]
    """The kernel to which each part belongs."""
    counts: np.ndarray
    """How much of each part the object has; 1 for kernels without parts."""
    contributions: np.ndarray
    """What each part adds to the prediction."""
    maps: tuple[SiteMap, ...]
    """The same contributions over letters, or atoms and bonds, one map for each column of objects."""
    output: str = ""
    """The class or target that the prediction is of, where there are several."""

    @property
    def weights(self) -> np.ndarray:
        """What one occurrence of each part adds; for normalised kernels, given the norm of this object."""
        return self.contributions / self.counts

    @property
    def prediction(self) -> float:
        """The sum: the prediction, or the score of a classifier."""
        return float(self.intercept + self.contributions.sum())

    @property
    def positions(self) -> np.ndarray:
        """Contributions over the letters, nodes or atoms of the first column of objects, bonds included."""
        if not self.maps:
            raise ValueError("No kernel of this model counts parts.")
        return self.maps[0].on_labels

    def __str__(self) -> str:
        lines = [
            f"prediction {self.prediction:.4g} = intercept {self.intercept:.4g} + {len(self.parts)} parts"
        ]
        for part, count, value in list(zip(self.parts, self.counts, self.contributions, strict=True))[:12]:
            lines.append(f"{value:+10.4g}  {part}" + ("" if count == 1 else f"  × {count:.3g}"))
        rest = self.contributions[12:]
        return "\n".join([*lines, f"{rest.sum():+10.4g}  {len(rest)} other parts"] if len(rest) else lines)


@dataclass(frozen=True)
class _Shares:
    """Shares of the parts of one kernel in some predictions."""

    table: sparse.csr_array
    values: np.ndarray  # one per stored count
    names: list[str]  # one per stored count
    maps: list[SiteMap]


def explain_parts(
    kernel: Kernel, rows: np.ndarray, train: np.ndarray, dual: np.ndarray, intercept: float, output: str = ""
) -> list[PartContributions]:
    """Split the predictions ``k(rows, train) @ dual + intercept`` into contributions of parts.

    Parameters
    ----------
    kernel : Kernel
        The kernel of the model.
    rows, train : ndarrays
        Rows to explain, and those of the model.
    dual : ndarray of shape (n,)
        Its dual coefficients.
    intercept : float
        Its intercept.
    output : str
        What the prediction is of.
    """
    if not counts_parts(kernel) and any(isinstance(node, CountedParts) for node in kernel._nodes()):
        raise ValueError(without_parts(kernel))
    counted: list[tuple[Summand, _Shares]] = []
    others: list[tuple[str, np.ndarray]] = []
    for term in summands(kernel):
        weighted = term.factor * dual
        x, fitted = term.select(rows), term.select(train)
        if isinstance(term.kernel, CountedParts):
            counted.append((term, _shares(term.kernel, term.name, x, fitted, weighted)))
        else:
            others.append((term.name, term.kernel._gram(x, fitted[:]) @ weighted))
    places: dict[tuple[str, str], list[_Shares]] = {}
    for term, shares in counted:
        places.setdefault(term.place, []).append(shares)
    out = []
    for i in range(len(rows)):
        parts, kernels, counts, values = [], [], [], []
        for term, shares in counted:
            stored = slice(shares.table.indptr[i], shares.table.indptr[i + 1])
            parts += shares.names[stored]
            kernels += [term.name] * len(shares.names[stored])
            counts.append(shares.table.data[stored])
            values.append(shares.values[stored])
        parts += [name for name, _ in others]
        kernels += [name for name, _ in others]
        counts.append(np.ones(len(others)))
        values.append(np.array([value[i] for _, value in others]))
        value = np.concatenate(values)
        order = np.argsort(-np.abs(value), kind="stable")
        out.append(
            PartContributions(
                intercept,
                tuple(parts[p] for p in order),
                tuple(kernels[p] for p in order),
                np.concatenate(counts)[order],
                value[order],
                tuple(_together([shares.maps[i] for shares in same]) for same in places.values()),
                output,
            )
        )
    return out


def _together(maps: list[SiteMap]) -> SiteMap:
    """What several kernels see at the same places of an object."""
    first = maps[0]
    return replace(
        first,
        kernels=tuple(name for one in maps for name in one.kernels),
        values=np.sum([one.values for one in maps], axis=0),
        bond_values=np.sum([one.bond_values for one in maps], axis=0),
    )


def _shares(
    kernel: CountedParts, name: str, rows: np.ndarray, train: np.ndarray, dual: np.ndarray
) -> _Shares:
    m = len(rows)
    found = kernel._occurrences(np.concatenate([rows, train]), covers=m)
    table = found.table(m + len(train))
    A, B = table[:m], table[m:]
    values = kernel.shares(A, B, dual[:, None])[:, 0]
    distinct, which = np.unique(A.indices, return_inverse=True)
    words = found.names(distinct)
    # each occurrence has its share of the part, and each site it covers an equal share of that
    shown = found.row < m
    row, part, value = found.row[shown], found.part[shown].astype(np.int64), found.value[shown]
    stored = np.repeat(np.arange(m), np.diff(A.indptr)) * np.int64(table.shape[1]) + A.indices
    at = np.searchsorted(stored, row * np.int64(table.shape[1]) + part)
    share = values[at] * value / A.data[at]
    sites = [kernel.sites(item) for item in rows]
    spread = [np.zeros(len(site)) for site in sites]
    for i, amount, cover in zip(row.tolist(), share.tolist(), found.covers, strict=True):
        spread[i][np.asarray(cover, dtype=np.intp)] += amount / len(cover)
    maps = [
        SiteMap((name,), item, s.labels, v[: len(s.labels)], s.bonds, v[len(s.labels) :], kernel.places)
        for item, s, v in zip(rows, sites, spread, strict=True)
    ]
    return _Shares(A, values, [words[w] for w in which], maps)
