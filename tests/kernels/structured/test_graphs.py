"""Kernels of graphs against loops over subtrees and paths."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from pellucid.kernels import ShortestPath, WeisfeilerLehman
from pellucid.kernels.structured.graph import read_graph


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 6))
    labels = draw(st.lists(st.sampled_from("AB"), min_size=n, max_size=n))
    pairs = [(u, v) for u in range(n) for v in range(u + 1, n)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    marks = draw(st.lists(st.sampled_from("12"), min_size=len(edges), max_size=len(edges)))
    return labels, edges, marks


def subtrees(graph, depth):
    """Nested tuples: the tree that a walker sees from each node, at each depth."""
    labels, edges, marks = graph
    around = {v: [] for v in range(len(labels))}
    for (u, v), mark in zip(edges, marks, strict=True):
        around[u].append((mark, v))
        around[v].append((mark, u))

    def tree(v, d):
        if d == 0:
            return (labels[v],)
        return (tree(v, d - 1), tuple(sorted((mark, tree(u, d - 1)) for mark, u in around[v])))

    return Counter(tree(v, d) for d in range(depth + 1) for v in range(len(labels)))


def paths(graph):
    """Floyd and Warshall's distances, one pair at a time."""
    labels, edges, _ = graph
    n = len(labels)
    D = np.full((n, n), np.inf)
    for u, v in edges:
        D[u, v] = D[v, u] = 1
    for w in range(n):
        D = np.minimum(D, D[:, [w]] + D[[w]])
    pairs = [(u, v) for u in range(n) for v in range(u + 1, n) if np.isfinite(D[u, v])]
    return Counter((*sorted((labels[u], labels[v])), D[u, v]) for u, v in pairs)


def products(counts):
    return [[float(sum(a[p] * b[p] for p in a)) for b in counts] for a in counts]


@settings(max_examples=40, deadline=None)
@given(st.lists(graphs(), min_size=1, max_size=4), st.integers(0, 4))
def test_subtrees(rows, depth):
    expected = products([subtrees(graph, depth) for graph in rows])
    assert_allclose(WeisfeilerLehman(depth, normalise=False)(rows), expected)


@settings(max_examples=40, deadline=None)
@given(st.lists(graphs(), min_size=1, max_size=4))
def test_shortest_paths(rows):
    assert_allclose(ShortestPath(normalise=False)(rows), products([paths(graph) for graph in rows]))


def test_nodes_in_another_order_make_the_same_graph():
    one = (list("ABC"), [(0, 1), (1, 2)], ["x", "y"])
    other = (list("CBA"), [(0, 1), (2, 1)], ["y", "x"])
    for kernel in (WeisfeilerLehman(3), ShortestPath()):
        assert_allclose(kernel([one, other]), 1.0)


def test_labels_cannot_be_mistaken_for_subtrees():
    tree, name = (["C", "N"], [(0, 1)]), (["C(N)", "N(C)"], [(0, 1)])
    assert WeisfeilerLehman(1, normalise=False)([tree], [name])[0, 0] == 0.0


def test_networkx():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_node("a", label="C")
    graph.add_node("b", label="O")
    graph.add_edge("a", "b", label="=")
    assert read_graph(graph) == read_graph((["C", "O"], [(0, 1)], ["="]))
    bare = networkx.path_graph(3)
    with pytest.raises(ValueError, match="row 0: node 0 has no attribute 'label'"):
        ShortestPath()([bare])


def test_smiles_are_graphs_of_atoms():
    pytest.importorskip("rdkit")
    acid = (["C", "C", "O", "O-1"], [(0, 1), (1, 2), (1, 3)], ["-", "=", "-"])
    assert_allclose(WeisfeilerLehman(2)(["CC(=O)[O-]"], [acid]), 1.0)


def test_occurrences_cover_nodes_and_edges():
    chain = (list("ABC"), [(0, 1), (1, 2)])
    found = WeisfeilerLehman(1).occurrences(chain)
    assert found["A"] == [(0,)]
    assert found["A(B)"] == [(0, 1, 3)]
    assert found["B(A,C)"] == [(0, 1, 2, 3, 4)]
    assert ShortestPath().occurrences(chain)["A~2~C"] == [(0, 2)]
    assert "A~2~C" not in ShortestPath(most=1).occurrences(chain)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ((["A"], [(0, 1)]), r"row 0: the edge \(0, 1\) leads to a node that is not among the 1 labels"),
        ((["A", "B"], [(0, 1)], []), None),
        ((["A", "B"], [(0, 1)], ["x", "y"]), "there are 1 edges, but 2 edge labels"),
        ((None, [(0, 1)]), "nodes of a graph need labels"),
        ({"edges": []}, "needs 'labels'"),
        (7, "expected a graph"),
        (None, "expected a graph: .* got a missing value"),
    ],
)
def test_bad_graphs(graph, message):
    if message is None:
        assert WeisfeilerLehman()([graph]).shape == (1, 1)
        return
    with pytest.raises(ValueError, match=message):
        WeisfeilerLehman()([graph])


def test_unseen_labels_match_nothing():
    known, new = (["A", "A"], [(0, 1)]), (["Z", "Z"], [(0, 1)])
    assert WeisfeilerLehman()([new], [known])[0, 0] == 0.0
