"""Graphs with labels, read from networkx, from plain lists, or from SMILES."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from pellucid.kernels.checks import is_missing
from pellucid.kernels.structured.sequences import shown


@dataclass(frozen=True)
class Graph:
    """An undirected graph with a label on each node, and on each edge if there are such."""

    labels: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    edge_labels: tuple[str, ...] = ()

    _in_object_arrays: ClassVar[bool] = True  # model files keep training graphs
    ends: ClassVar[np.ndarray]
    """The edges as an array, which many graphs are put together from faster than from their tuples."""

    def __post_init__(self) -> None:
        ends = np.array(self.edges, dtype=np.intp).reshape(-1, 2)
        object.__setattr__(self, "ends", ends)

    @cached_property
    def neighbours(self) -> list[list[tuple[int, int]]]:
        """For each node, its neighbours with the number of the edge that leads there."""
        around: list[list[tuple[int, int]]] = [[] for _ in self.labels]
        for number, (u, v) in enumerate(self.edges):
            around[u].append((v, number))
            around[v].append((u, number))
        return around

    def around(self, node: int, depth: int) -> tuple[set[int], set[int]]:
        """Nodes within ``depth`` steps of a node, and the edges on the way to them."""
        nodes, border = {node}, {node}
        edges: set[int] = set()
        for _ in range(depth):
            reached = [pair for v in border for pair in self.neighbours[v]]
            edges.update(edge for _, edge in reached)
            border = {u for u, _ in reached} - nodes
            nodes |= border
        return nodes, edges

    @cached_property
    def distances(self) -> np.ndarray:
        """Steps between all pairs of nodes; -1 where there is no path."""
        n = len(self.labels)
        steps = np.full((n, n), -1)
        for source in range(n):
            steps[source, source] = 0
            level, queue = 0, [source]
            while queue:
                level += 1
                fresh = {v for u in queue for v, _ in self.neighbours[u] if steps[source, v] < 0}
                steps[source, list(fresh)] = level
                queue = list(fresh)
        return steps


def read_graph(item: Any) -> Graph:
    """Read one graph.

    Parameters
    ----------
    item : Graph, networkx graph, dict, tuple or str
        A dict or tuple holds ``labels`` of the nodes, ``edges`` as pairs of node numbers, and optionally
        ``edge_labels``. A graph of networkx has the labels of nodes and edges as the attribute ``label``. A
        string is read as SMILES, with atoms and bonds for labels.

    Examples
    --------
    >>> from pellucid.kernels.structured.graph import read_graph
    >>> read_graph((["C", "O"], [(0, 1)]))
    Graph(labels=('C', 'O'), edges=((0, 1),), edge_labels=())
    """
    if isinstance(item, Graph):
        return item
    if isinstance(item, str):
        from pellucid.kernels.structured.chem import molecular_graph

        return molecular_graph(item)
    if hasattr(item, "nodes") and hasattr(item, "adj"):
        return _from_networkx(item)
    if isinstance(item, Mapping):
        if not {"labels", "edges"} <= set(item):
            raise ValueError("a graph given as a dict needs 'labels' of its nodes and 'edges'.")
        parts = [item["labels"], item["edges"], item.get("edge_labels", ())]
    elif isinstance(item, tuple | list) and len(item) in (2, 3):
        parts = [*item, ()][:3]
    else:
        raise TypeError(
            f"expected a graph: of networkx, or (labels, edges[, edge_labels]), got {shown(item)}."
        )
    return _checked(*parts)


def _checked(labels: Any, edges: Any, edge_labels: Any) -> Graph:
    if labels is None:
        raise ValueError("the nodes of a graph need labels; give all the same if there are none.")
    names = _texts(labels, "node")
    pairs = []
    for edge in edges:
        u, v = _ends(edge)
        if not (0 <= u < len(names) and 0 <= v < len(names)):
            raise ValueError(
                f"the edge ({u}, {v}) leads to a node that is not among the {len(names)} labels."
            )
        if u != v:
            pairs.append((min(u, v), max(u, v)))
        elif len(edge_labels):
            raise ValueError(f"the edge ({u}, {v}) leads from a node to itself.")
    marks = _texts(edge_labels, "edge")
    if marks and len(marks) != len(pairs):
        raise ValueError(f"there are {len(pairs)} edges, but {len(marks)} edge labels.")
    if len(set(pairs)) < len(pairs):  # both directions of one edge, as networkx's directed graphs have them
        first = {pair: i for i, pair in reversed(list(enumerate(pairs)))}
        kept = sorted(first.values())
        pairs, marks = [pairs[i] for i in kept], tuple(marks[i] for i in kept) if marks else ()
    return Graph(names, tuple(pairs), marks)


def _texts(labels: Any, of: str) -> tuple[str, ...]:
    """Labels as strings, 1.0 as 1; a missing one would be a label that all missing ones share."""
    labels = tuple(labels)
    for i, label in enumerate(labels):
        if is_missing(label):
            raise ValueError(f"the label of {of} {i} is missing; give '' where there is none.")
    return tuple(str(int(x)) if isinstance(x, float) and x.is_integer() else str(x) for x in labels)


def _ends(edge: Any) -> tuple[int, int]:
    """Ends of an edge as numbers of nodes."""
    try:
        u, v = (int(end) for end in edge)
        whole = (u, v) == tuple(edge)
    except (TypeError, ValueError):
        whole = False
    if not whole:
        raise ValueError(f"an edge is a pair of node numbers, got {edge!r}.")
    return u, v


def _from_networkx(graph: Any) -> Graph:
    number = {node: i for i, node in enumerate(graph.nodes)}
    labels = [data.get("label") for _, data in graph.nodes(data=True)]
    bare = [node for node, label in zip(graph.nodes, labels, strict=True) if label is None]
    if bare:
        raise ValueError(
            f"node {bare[0]!r} has no attribute 'label'. Set it, for instance with "
            f"networkx.set_node_attributes(graph, '', 'label') if nodes are all alike."
        )
    edges = list(graph.edges(data=True))
    marks = [data.get("label") for _, _, data in edges]
    if any(mark is None for mark in marks):
        marks = []
    return _checked(labels, [(number[u], number[v]) for u, v, _ in edges], marks)
