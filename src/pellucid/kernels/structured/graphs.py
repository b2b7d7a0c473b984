"""Kernels of graphs with labels: subtrees around nodes, and shortest paths between them."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import numpy as np

from pellucid.kernels.base import Kernel
from pellucid.kernels.checks import whole
from pellucid.kernels.structured.batch import Batch
from pellucid.kernels.structured.counts import CountedParts, Occurrences, Sites
from pellucid.kernels.structured.graph import Graph, read_graph
from pellucid.kernels.structured.letters import number_values, require_room

_MANY = 2**20  # parts after which it is asked whether as many again would fit
_LONGEST = 60  # characters of a label, beyond which its digest stands for it

Found = Iterator[tuple[str, tuple[int, ...], float]]


class GraphKernel(CountedParts, register=False):
    """What kernels of graphs share; subclasses say what is found in one graph."""

    places = "nodes"

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
                if len(row) % _MANY == 0:
                    require_room(2.0 * len(row), f"More than {len(row)} parts of {type(self).__name__}")
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

    def _occurrences(self, objects: np.ndarray, covers: int = 0) -> Occurrences:
        batch = Batch.of([read_graph(item) for item in objects], self.edge_labels)
        colours, parts, n_parts = batch.labels, [], 0
        for depth in range(self.depth + 1):
            if depth:
                colours = batch.refine(colours)
            parts.append(colours + n_parts)
            n_parts += int(colours.max(initial=-1)) + 1
        part, n_nodes = np.concatenate(parts), len(batch.labels)
        seen: dict[tuple[int, int], str] = {}

        def names(chosen: np.ndarray) -> list[str]:
            first = np.zeros(n_parts, dtype=np.intp)  # place at which each part is seen first
            first[part[::-1]] = np.arange(len(part))[::-1]
            places = (divmod(int(first[p]), n_nodes) for p in chosen)
            return [self._name(batch, node, depth, seen) for depth, node in places]

        return Occurrences(
            np.tile(batch.row, self.depth + 1),
            part,
            np.ones(len(part)),
            n_parts,
            names,
            [
                cover
                for depth in range(self.depth + 1)
                for graph in batch.graphs[:covers]
                for cover in _balls(graph, depth)
            ],
        )

    def _name(self, batch: Batch, node: int, depth: int, seen: dict[tuple[int, int], str]) -> str:
        """The label of a node at a depth, from those of depth less one."""
        if (node, depth) not in seen:
            g = int(np.searchsorted(batch.first, node, side="right")) - 1
            graph, start = batch.graphs[g], int(batch.first[g])
            if depth == 0:
                name = plain(graph.labels[node - start])
            else:
                marks = graph.edge_labels if self.edge_labels else ()
                around = sorted(
                    _reached(marks[e] if marks else "", self._name(batch, start + u, depth - 1, seen))
                    for u, e in graph.neighbours[node - start]
                )
                name = _short(f"{self._name(batch, node, depth - 1, seen)}({','.join(around)})")
            seen[node, depth] = name
        return seen[node, depth]


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

    def _occurrences(self, objects: np.ndarray, covers: int = 0) -> Occurrences:
        batch = Batch.of([read_graph(item) for item in objects], edge_labels=False)
        sizes = np.diff(batch.first).astype(float)
        require_room(sizes @ sizes, "Distances between all nodes of each graph")
        steps = batch.distances()
        pairs = [np.nonzero(np.triu(D > 0)) for D in steps]
        if self.most is not None:
            near = [D[pair] <= self.most for D, pair in zip(steps, pairs, strict=True)]
            pairs = [(u[n], v[n]) for (u, v), n in zip(pairs, near, strict=True)]
        row = np.repeat(np.arange(len(pairs)), [len(u) for u, _ in pairs])
        distance = _joined([D[pair] for D, pair in zip(steps, pairs, strict=True)])
        ends = batch.labels[
            np.stack([_joined([pair[end] for pair in pairs]) for end in (0, 1)]) + batch.first[row]
        ]
        low, high = ends.min(axis=0), ends.max(axis=0)
        base = len(batch.names)
        found, part = number_values((distance * base + low) * base + high)

        def names(chosen: np.ndarray) -> list[str]:
            made = []
            for code in found[chosen].tolist():
                rest, last = divmod(code, base)
                length, label = divmod(rest, base)
                one, other = sorted((plain(batch.names[label]), plain(batch.names[last])))
                made.append(f"{one}~{length}~{other}")
            return made

        return Occurrences(
            row,
            part,
            np.where(low == high, 2.0, np.sqrt(2.0)),  # both directions, of one part or of two
            len(found),
            names,
            [ends for u, v in pairs[:covers] for ends in zip(u.tolist(), v.tolist(), strict=True)],
        )


def _joined(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros(0, dtype=np.intp), *arrays])


def _balls(graph: Graph, depth: int) -> Iterator[tuple[int, ...]]:
    """For each node, the nodes within ``depth`` steps, and the edges on the way to them."""
    n = len(graph.labels)
    for v in range(n):
        nodes, edges = graph.around(v, depth)
        yield (*sorted(nodes), *(n + e for e in sorted(edges)))


def plain(label: str) -> str:
    """A label in which the signs that join labels do not occur."""
    if label.isalnum():
        return label
    return "".join(f"\\{c}" if c in "(),~\\…" else c for c in label)


def _reached(mark: str, name: str) -> str:
    """A neighbour with the label of the edge to it: ``=O``, or ``1~O`` where the two would run together."""
    apart = name[:1].isalnum() if len(mark) == 1 and not mark.isalnum() else not mark
    return plain(mark) + ("" if apart else "~") + name


def _short(label: str) -> str:
    if len(label) <= _LONGEST:
        return label
    return f"{label[:20]}…{blake2b(label.encode(), digest_size=8).hexdigest()}"
