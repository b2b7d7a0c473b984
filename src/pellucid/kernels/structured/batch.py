"""Many graphs side by side as one large graph of whole numbers, so that all are read at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

from pellucid.kernels.structured.graph import Graph
from pellucid.kernels.structured.letters import number_values

_SMALL = 96  # nodes up to which distances come from powers of dense matrices


@dataclass(frozen=True)
class Batch:
    """The nodes of all graphs, numbered through, with both directions of every edge."""

    graphs: Sequence[Graph]
    first: np.ndarray
    """Number of the first node of each graph, and the number of nodes at the end."""
    labels: np.ndarray
    """Number of the label of each node."""
    names: list[str]
    """The labels by their numbers."""
    source: np.ndarray
    target: np.ndarray
    marks: np.ndarray
    """Ends and label of each direction of each edge, sorted by the first end."""

    @classmethod
    def of(cls, graphs: Sequence[Graph], edge_labels: bool) -> Batch:
        """Put graphs side by side; without ``edge_labels`` all edges are alike."""
        first = np.concatenate([[0], np.cumsum([len(g.labels) for g in graphs], dtype=np.intp)])
        names, labels = _numbered(chain.from_iterable(g.labels for g in graphs))
        sizes = [len(g.edges) for g in graphs]
        ends = [np.zeros((0, 2), dtype=np.intp), *(g.ends for g in graphs)]
        pairs = np.concatenate(ends) + np.repeat(first[:-1], sizes)[:, None]
        marks = np.zeros(len(pairs), dtype=np.intp)
        if edge_labels:
            told = (g.edge_labels or ("",) * len(g.edges) for g in graphs)
            marks = _numbered(chain.from_iterable(told))[1]
        source = np.concatenate([pairs[:, 0], pairs[:, 1]])
        order = np.sort(source * len(source) + np.arange(len(source))) % max(len(source), 1)
        return cls(
            graphs,
            first,
            labels,
            names,
            source[order],
            np.concatenate([pairs[:, 1], pairs[:, 0]])[order],
            np.concatenate([marks, marks])[order],
        )

    @property
    def row(self) -> np.ndarray:
        """Number of the graph of each node."""
        return np.repeat(np.arange(len(self.graphs)), np.diff(self.first))

    def refine(self, colours: np.ndarray) -> np.ndarray:
        """Colours after one step: alike are nodes of the same colour whose neighbours are alike.

        Neighbours are folded in one after the other, in the order of their colours: the colour so far and
        that of the next neighbour make a new one.
        """
        n = len(colours)
        degree = np.bincount(self.source, minlength=n)
        base = int(colours.max(initial=0)) + 1
        codes = number_values(self.marks * base + colours[self.target])[1] + 1
        width = np.int64(codes.max(initial=0)) + 1
        codes = np.sort(self.source * width + codes) - self.source * width  # sorted around each node
        start = np.cumsum(degree) - degree
        made = colours
        for j in range(int(degree.max(initial=0))):
            code = np.zeros(n, dtype=np.int64)  # 0: there is no such neighbour
            has = np.flatnonzero(degree > j)
            code[has] = codes[start[has] + j]
            made = number_values(made * width + code)[1]
        return made

    def distances(self) -> list[np.ndarray]:
        """Steps between all nodes of each graph, -1 where there is no path; graphs of one size together."""
        sizes = np.diff(self.first)
        out: list[np.ndarray] = [np.zeros((0, 0), dtype=np.intp)] * len(sizes)
        edges = np.searchsorted(self.source, self.first)
        for n in np.unique(sizes[sizes > 0]):
            which = np.flatnonzero(sizes == n)
            if n > _SMALL:
                for g in which:
                    part = slice(edges[g], edges[g + 1])
                    u, v = self.source[part] - self.first[g], self.target[part] - self.first[g]
                    A = coo_array((np.ones(len(u)), (u, v)), shape=(n, n))
                    D = shortest_path(A.tocsr(), unweighted=True)
                    out[g] = np.where(np.isfinite(D), D, -1).astype(np.intp)
                continue
            A = np.zeros((len(which), n, n), dtype=np.float32)
            for i, g in enumerate(which):
                part = slice(edges[g], edges[g + 1])
                A[i, self.source[part] - self.first[g], self.target[part] - self.first[g]] = 1.0
            for g, D in zip(which, _steps(A), strict=True):
                out[g] = D
        return out


def _numbered(labels: Iterable[str]) -> tuple[list[str], np.ndarray]:
    """Distinct labels in the order in which they come, and the number of each one."""
    number: defaultdict[str, int] = defaultdict()
    number.default_factory = number.__len__
    numbers = np.fromiter(map(number.__getitem__, labels), np.intp)
    return list(number), numbers


def _steps(A: np.ndarray) -> np.ndarray:
    """Distances in graphs of one size, level by level: who is reached first from the level before."""
    n = A.shape[1]
    D = np.where(A > 0, 1, -1)
    D[:, np.arange(n), np.arange(n)] = 0
    frontier = A
    for level in range(2, n):
        fresh = (frontier @ A > 0) & (D < 0)
        if not fresh.any():
            break
        D[fresh] = level
        frontier = fresh.astype(np.float32)
    return D
