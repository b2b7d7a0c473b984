"""Kernels of graphs with labels: subtrees around nodes, and shortest paths between them."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import numpy as np

from pellucid.kernels.base import Kernel
from pellucid.kernels.checks import whole
from pellucid.kernels.structured.counts import CountedParts, Occurrences, Sites
from pellucid.kernels.structured.graph import Graph, read_graph

_LONGEST = 60  # characters of a label, beyond which its digest stands for it

Found = Iterator[tuple[str, tuple[int, ...], float]]


class GraphKernel(CountedParts, register=False):
    """What kernels of graphs share; subclasses say what is found in one graph."""

    def _find(self, graph: Graph, covers: bool) -> Found:
        """Yield the name of each part, the sites it covers (nodes, then edges after them) and its value."""
        raise NotImplementedError

    @classmethod
    def example_rows(cls) -> list[Any]:
        ring = [(i, (i + 1) % 5) for i in range(5)]
        return [
            (list("CCO"), [(0, 1), (1, 2)]),
            (list("CCCCC"), ring, list("12121")),
            {"labels": list("CNCCO"), "edges": [*ring, (0, 2)]},
            (["C"], []),
            (list("OCO"), [(0, 1), (1, 2)], ["=", "="]),
            (list("CCNO"), [(0, 1), (2, 3)]),
        ]

    @classmethod
    def examples(cls) -> list[Kernel]:
        return [cls(), cls(normalise=False)]  # type: ignore[call-arg]

    def _read(self, item: Any) -> Graph | str:
        graph = read_graph(item)
        return item if isinstance(item, str) else graph  # SMILES are kept as such

    def sites(self, item: Any) -> Sites:
        graph = read_graph(item)
        return Sites(graph.labels, graph.edges)

    def _occurrences(self, objects: np.ndarray, covers: int = 0) -> Occurrences:
        row, part, values, sites = [], [], [], []
        number: dict[str, int] = {}
        for i, item in enumerate(objects):
            for name, cover, value in self._find(read_graph(item), i < covers):
                row.append(i)
                values.append(value)
                part.append(number.setdefault(name, len(number)))
                if i < covers:
                    sites.append(cover)
        names = list(number)
        return Occurrences(
            np.array(row, dtype=np.intp),
            np.array(part, dtype=np.intp),
            np.array(values, dtype=float),
            len(number),
            lambda parts: [names[p] for p in parts],
            sites,
        )


class WeisfeilerLehman(GraphKernel):
    r"""The Weisfeiler–Lehman subtree kernel: how often the same surroundings of a node occur.

    At depth 0 a part is the label of a node; at depth ``h + 1`` it is the label of depth ``h`` with those of
    all neighbours, such as ``C(-C,=O)``. Counts of all depths up to ``depth`` are the features. Labels do not
    depend on the other graphs, so that training and prediction agree; long ones are cut, with a digest at the
    end.

    Parameters
    ----------
    depth : int, default=3
        How far a part reaches. Deeper ones are more specific, and shared by fewer graphs.
    edge_labels : bool, default=True
        Whether labels of edges, where there are any, are read.
    normalise : bool, default=True
        Whether features have unit norm, so that large graphs do not weigh more. A graph without nodes is
        alike to nothing.

    Notes
    -----
    Rows are graphs of networkx, ``(labels, edges[, edge_labels])``, dicts with these keys, or SMILES, which
    need RDKit. A part covers its nodes and the edges by which it was found. Labels that were not seen in
    training match nothing.

    References
    ----------
    Shervashidze et al. (2011), Weisfeiler-Lehman graph kernels, Journal of Machine Learning Research 12.

    Examples
    --------
    >>> from pellucid.kernels import WeisfeilerLehman
    >>> chain, star = ("CCO", [(0, 1), (1, 2)]), ("COC", [(0, 1), (1, 2)])
    >>> WeisfeilerLehman(depth=1, normalise=False)([chain, star])
    array([[ 8.,  5.],
           [ 5., 10.]])
    """

    worth_trying = (("depth", (1, 2, 3, 4)),)
    parameters = ("depth", "edge_labels", "normalise")

    def __init__(self, depth: int = 3, *, edge_labels: bool = True, normalise: bool = True) -> None:
        self.depth = whole(depth, "depth", 0)
        self.edge_labels = bool(edge_labels)
        self.normalise = bool(normalise)

    def _find(self, graph: Graph, covers: bool) -> Found:
        around = graph.neighbours
        n = len(graph.labels)
        marks = [plain(mark) for mark in graph.edge_labels] if self.edge_labels else []
        labels = [plain(label) for label in graph.labels]
        steps = graph.distances() if covers else None
        for depth in range(self.depth + 1):
            if depth:
                labels = [
                    _short(
                        f"{labels[v]}("
                        + ",".join(sorted((marks[e] if marks else "") + labels[u] for u, e in around[v]))
                        + ")"
                    )
                    for v in range(n)
                ]
            for v, label in enumerate(labels):
                yield label, () if steps is None else _ball(graph, steps[v], depth), 1.0


class ShortestPath(GraphKernel):
    r"""The shortest-path kernel: how often two labels occur at the same distance.

    A part such as ``C~2~O`` is a pair of nodes with these labels, two steps apart, and :math:`k(x, y)` is the
    number of pairs in ``x`` and ``y`` with the same labels and distance.
    The kernel counts ordered pairs, so that a pair has the value 2 if its labels are equal, and otherwise
    :math:`\sqrt 2`, as it stands for two.

    Parameters
    ----------
    most : int, optional
        The largest distance; by default any. Nodes without a path between them are no pair.
    normalise : bool, default=True
        As in :class:`WeisfeilerLehman`. A graph without edges is alike to nothing.

    References
    ----------
    Borgwardt and Kriegel (2005), Shortest-path kernels on graphs.

    Examples
    --------
    >>> from pellucid.kernels import ShortestPath
    >>> chain, star = ("CCO", [(0, 1), (1, 2)]), ("COC", [(0, 1), (1, 2)])
    >>> ShortestPath(normalise=False)([chain, star])
    array([[ 8.,  4.],
           [ 4., 12.]])
    """

    parameters = ("most", "normalise")
    _quiet = ("most",)

    def __init__(self, most: int | None = None, *, normalise: bool = True) -> None:
        self.most = None if most is None else whole(most, "most")
        self.normalise = bool(normalise)

    def _find(self, graph: Graph, covers: bool) -> Found:
        steps = graph.distances()
        labels = [plain(label) for label in graph.labels]
        for u, v in zip(*np.nonzero(np.triu(steps > 0)), strict=True):
            distance = int(steps[u, v])
            if self.most is None or distance <= self.most:
                first, last = sorted((labels[u], labels[v]))
                value = 2.0 if first == last else np.sqrt(2.0)  # both directions, of one part or of two
                yield f"{first}~{distance}~{last}", (int(u), int(v)), value


def _ball(graph: Graph, steps: np.ndarray, depth: int) -> tuple[int, ...]:
    """Nodes within ``depth`` steps, and the edges on the way to them."""
    n = len(graph.labels)
    nodes = np.flatnonzero((steps >= 0) & (steps <= depth)).tolist()
    inside = (steps >= 0) & (steps < depth)
    return (*nodes, *(n + i for i, (u, v) in enumerate(graph.edges) if inside[u] or inside[v]))


def plain(label: str) -> str:
    """A label in which the signs that join labels do not occur."""
    if label.isalnum():
        return label
    return "".join(f"\\{c}" if c in "(),~\\…" else c for c in label)


def _short(label: str) -> str:
    if len(label) <= _LONGEST:
        return label
    return f"{label[:20]}…{blake2b(label.encode(), digest_size=8).hexdigest()}"
