"""Kernels of graphs with labels: walks along the edges, and small connected pieces."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import numpy as np

from pellucid.kernels.base import Kernel
from pellucid.kernels.checks import positive, whole
from pellucid.kernels.structured.graph import Graph
from pellucid.kernels.structured.graphs import Found, GraphKernel, plain
from pellucid.kernels.structured.letters import require_room

Walk = tuple[tuple[int, ...], tuple[int, ...], tuple[str, ...]]
"""Nodes, edges, and the labels that are met on the way."""


class RandomWalk(GraphKernel):
    r"""The random walk kernel: how often the same labels follow one another on walks.

    A walk goes from node to neighbour and may turn back; a part is the sequence of labels that it meets, such
    as ``C~=~O`` with labels of edges and ``C~~O`` without. :math:`k(x, y) = \sum_{l=0}^{L} \lambda^{l} n_l`,
    with the number :math:`n_l` of pairs of walks of :math:`l` steps in ``x`` and ``y`` that meet the same
    labels. This is the series :math:`\sum_l \lambda^l\, \mathbf{1}^\top A_\times^l \mathbf{1}` of the
    adjacency matrix of the direct product of the two graphs, up to :math:`L`. A walk and its reverse are one
    part.

    Parameters
    ----------
    length : int, default=4
        The longest walk :math:`L`, in steps.
    decay : float, default=0.5
        The factor :math:`\lambda` for each step. Small values give weight to short walks.
    edge_labels : bool, default=True
        Whether labels of edges, where there are any, are read.
    normalise : bool, default=True
        As in :class:`WeisfeilerLehman`.

    Notes
    -----
    The number of walks grows as the mean number of neighbours to the power of the length. Long walks mostly
    turn back and forth ("tottering"), so long ones add little.

    References
    ----------
    Gärtner, Flach and Wrobel (2003), On graph kernels: hardness results and efficient alternatives.

    Examples
    --------
    >>> from pellucid.kernels import RandomWalk
    >>> chain, star = ("CCO", [(0, 1), (1, 2)]), ("COC", [(0, 1), (1, 2)])
    >>> RandomWalk(length=1, decay=1.0, normalise=False)([chain, star])
    array([[11.,  8.],
           [ 8., 13.]])
    """

    parameters = ("length", "decay", "edge_labels", "normalise")
    worth_trying = (("length", (2, 4, 6)),)

    def __init__(
        self, length: int = 4, decay: float = 0.5, *, edge_labels: bool = True, normalise: bool = True
    ) -> None:
        self.length = whole(length, "length", 0)
        self.decay = positive(decay, "decay")
        self.edge_labels = bool(edge_labels)
        self.normalise = bool(normalise)

    @classmethod
    def examples(cls) -> list[Kernel]:
        return [cls(), cls(2, 1.0, edge_labels=False, normalise=False)]

    def _find(self, graph: Graph, covers: bool) -> Found:
        n = len(graph.labels)
        labels = [plain(label) for label in graph.labels]
        marks = [plain(m) for m in graph.edge_labels] if self.edge_labels else []
        degree = np.array([len(around) for around in graph.neighbours], dtype=float)
        require_room(n * max(degree.max(initial=1.0), 1.0) ** self.length, f"Walks of {self.length} steps")
        walks: list[Walk] = [((v,), (), (labels[v],)) for v in range(n)]
        for steps in range(self.length + 1):
            for nodes, edges, met in walks:
                back = met[::-1]
                if met <= back:  # the reverse is there as well, and is the same part
                    cover = (*sorted(set(nodes)), *sorted(n + e for e in set(edges))) if covers else ()
                    yield "~".join(met), cover, self._value(steps, met == back)
            if steps < self.length:
                walks = [
                    ((*nodes, u), (*edges, e), (*met, marks[e] if marks else "", labels[u]))
                    for nodes, edges, met in walks
                    for u, e in graph.neighbours[nodes[-1]]
                ]

    def _value(self, steps: int, palindrome: bool) -> float:
        """The root of the weight; a part that stands for a walk and its reverse counts for both."""
        return float(np.sqrt(self.decay**steps * (1.0 if palindrome else 2.0)))


class Graphlet(GraphKernel):
    """The graphlet kernel: how often the same small connected pieces occur.

    A part is a set of up to ``size`` nodes that hang together, with their labels and all edges among them,
    whatever the order of the nodes: ``C,C,O(01,02)`` is a chain
    of three with the first carbon in the middle.

    Parameters
    ----------
    size : int, default=3
        Nodes of the largest pieces, at most 5; there are many more large ones.
    edge_labels, normalise
        As in :class:`WeisfeilerLehman`.

    References
    ----------
    Shervashidze, Vishwanathan, Petri, Mehlhorn and Borgwardt (2009), Efficient graphlet kernels for large
    graph comparison, AISTATS.

    Examples
    --------
    >>> from pellucid.kernels import Graphlet
    >>> chain, ring = ("CCO", [(0, 1), (1, 2)]), ("CCO", [(0, 1), (1, 2), (0, 2)])
    >>> Graphlet(normalise=False)([chain, ring])
    array([[ 8.,  8.],
           [ 8., 12.]])
    """

    parameters = ("size", "edge_labels", "normalise")
    worth_trying = (("size", (2, 3, 4)),)

    def __init__(self, size: int = 3, *, edge_labels: bool = True, normalise: bool = True) -> None:
        self.size = whole(size, "size")
        if self.size > 5:
            raise ValueError(f"size must be at most 5, as pieces become too many, got {size!r}.")
        self.edge_labels = bool(edge_labels)
        self.normalise = bool(normalise)

    def _find(self, graph: Graph, covers: bool) -> Found:
        n = len(graph.labels)
        labels = [plain(label) for label in graph.labels]
        marks = [plain(m) for m in graph.edge_labels] if self.edge_labels else [""] * len(graph.edges)
        number = {edge: i for i, edge in enumerate(graph.edges)}
        known: dict[tuple[tuple[str, ...], tuple[tuple[int, int, str], ...]], str] = {}
        for nodes in _pieces(graph, self.size):
            inside = [
                (i, j, number[u, v])
                for i, u in enumerate(nodes)
                for j, v in enumerate(nodes)
                if i < j and (u, v) in number
            ]
            key = (
                tuple(labels[v] for v in nodes),
                tuple((i, j, marks[e] if marks else "") for i, j, e in inside),
            )
            name = known.get(key) or known.setdefault(key, _canonical(*key))
            yield name, (*nodes, *(n + e for _, _, e in inside)) if covers else (), 1.0


def _pieces(graph: Graph, size: int) -> Iterator[tuple[int, ...]]:
    """All sets of up to ``size`` nodes that hang together, each once and in increasing order."""
    around = [{u for u, _ in neighbours} for neighbours in graph.neighbours]

    def grow(
        nodes: tuple[int, ...], border: set[int], seen: set[int], root: int
    ) -> Iterator[tuple[int, ...]]:
        yield tuple(sorted(nodes))
        if len(nodes) == size:
            return
        rest = set(border)
        while rest:
            v = rest.pop()
            fresh = {u for u in around[v] if u > root and u not in seen}
            yield from grow((*nodes, v), rest | fresh, seen | fresh, root)

    for root in range(len(graph.labels)):
        border = {u for u in around[root] if u > root}
        yield from grow((root,), border, border | {root}, root)


def _canonical(labels: tuple[str, ...], edges: tuple[tuple[int, int, str], ...]) -> str:
    """The first of the names that a piece has, over all orders of its nodes."""
    names = []
    for order in permutations(range(len(labels))):
        place = {v: i for i, v in enumerate(order)}
        lines = sorted(f"{min(place[i], place[j])}{max(place[i], place[j])}{mark}" for i, j, mark in edges)
        names.append(",".join(labels[v] for v in order) + (f"({','.join(lines)})" if lines else ""))
    return min(names)
