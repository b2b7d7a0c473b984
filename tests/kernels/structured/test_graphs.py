"""Kernels of graphs against loops over subtrees and paths."""

from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.exceptions import NotEnoughMemoryError
from pellucid.kernels import Graphlet, RandomWalk, ShortestPath, WeisfeilerLehman
from pellucid.kernels.structured.batch import Batch
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
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v and np.isfinite(D[u, v])]
    return Counter((labels[u], labels[v], D[u, v]) for u, v in pairs)


def walks_in_common(one, other, length, decay):
    """The series of powers of the adjacency matrix of the direct product of two graphs."""
    mark = [{frozenset(edge): m for edge, m in zip(g[1], g[2], strict=True)} for g in (one, other)]
    nodes = [(u, v) for u, a in enumerate(one[0]) for v, b in enumerate(other[0]) if a == b]
    A = np.zeros((len(nodes), len(nodes)))
    for i, (u, v) in enumerate(nodes):
        for j, (x, y) in enumerate(nodes):
            edges = mark[0].get(frozenset((u, x))), mark[1].get(frozenset((v, y)))
            A[i, j] = edges[0] is not None and edges[0] == edges[1]
    return sum(decay**n * np.linalg.matrix_power(A, n).sum() for n in range(length + 1))


def pieces(graph, size):
    """All subsets of nodes, those kept that hang together, named by their smallest matrix of labels."""
    labels, edges, marks = graph
    mark = dict(zip(edges, marks, strict=True))
    mark |= {(v, u): m for (u, v), m in mark.items()}
    found = Counter()
    for k in range(1, size + 1):
        for nodes in combinations(range(len(labels)), k):
            reached = {nodes[0]}
            for _ in nodes:
                reached |= {v for v in nodes for u in reached if (u, v) in mark}
            if len(reached) == k:
                orders = permutations(nodes)
                found[
                    min(tuple((labels[u], *(mark.get((u, v), "") for v in o)) for u in o) for o in orders)
                ] += 1
    return found


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


@settings(max_examples=40, deadline=None)
@given(graphs(), graphs(), st.integers(0, 4), st.sampled_from([0.3, 1.0]))
def test_walks(one, other, length, decay):
    kernel = RandomWalk(length, decay, normalise=False)
    rows = [one, other]
    expected = [[walks_in_common(a, b, length, decay) for b in rows] for a in rows]
    assert_allclose(kernel(rows), expected, rtol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.lists(graphs(), min_size=1, max_size=3), st.integers(1, 5))
def test_graphlets(rows, size):
    expected = products([pieces(graph, size) for graph in rows])
    assert_allclose(Graphlet(size, normalise=False)(rows), expected)


def test_walks_and_pieces_cover_what_they_touch():
    graph = (list("CCO"), [(0, 1), (1, 2)], ["-", "="])
    assert RandomWalk(1).occurrences(graph) == {
        "C": [(0,), (1,)],
        "O": [(2,)],
        "C~-~C": [(0, 1, 3), (0, 1, 3)],
        "C~=~O": [(1, 2, 4)],
    }
    assert Graphlet().occurrences(graph)["C,C,O(01-,02=)"] == [(0, 1, 2, 3, 4)]
    with pytest.raises(ValueError, match="at most 5"):
        Graphlet(6)


def test_walks_too_many_to_list_are_refused_before():
    n = 200
    dense = ("C" * n, [(u, v) for u in range(n) for v in range(u + 1, n)])
    with pytest.raises(NotEnoughMemoryError, match="Walks of 9 steps"):
        RandomWalk(9)([dense])


def test_memory_of_large_graphs_is_estimated(monkeypatch):
    path = ("A" * 300, [(v, v + 1) for v in range(299)])
    monkeypatch.setenv("PELLUCID_MEMORY", "1e6")
    with pytest.raises(NotEnoughMemoryError, match="Distances between all nodes"):
        ShortestPath()([path])
    monkeypatch.setattr("pellucid.kernels.structured.graphs._MANY", 100)
    monkeypatch.setenv("PELLUCID_MEMORY", "1e4")
    with pytest.raises(NotEnoughMemoryError, match="More than 100 parts of Graphlet"):
        Graphlet(3)([path])


def test_surroundings_are_found_without_all_distances():
    """Nodes and edges within some steps, by the distances between all pairs."""
    rng = np.random.default_rng(2)
    edges = {tuple(sorted(rng.choice(12, 2, replace=False).tolist())) for _ in range(14)}
    graph = read_graph((["A"] * 12, sorted(edges)))
    for node in range(12):
        steps = graph.distances[node]
        for depth in range(4):
            inside = (steps >= 0) & (steps < depth)
            on_the_way = {e for e, (u, v) in enumerate(graph.edges) if inside[u] or inside[v]}
            within = set(np.flatnonzero((steps >= 0) & (steps <= depth)).tolist())
            assert graph.around(node, depth) == (within, on_the_way)


@pytest.mark.parametrize("depth", [1, 3])
def test_the_same_as_grakel(depth):
    grakel = pytest.importorskip("grakel", reason="GraKeL is not installed")
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(12):
        n = int(rng.integers(3, 9))
        pairs = [(u, v) for u in range(n) for v in range(u + 1, n)]
        edges = [pairs[i] for i in np.flatnonzero(rng.random(len(pairs)) < 0.5)] or pairs[:1]
        rows.append(_without_lone_nodes(rng.choice(list("ABC"), n).tolist(), edges))

    def peers():  # their kernels change the graphs that they are given
        both = [[*edges, *((v, u) for u, v in edges)] for _, edges in rows]
        names = [dict(enumerate(labels)) for labels, _ in rows]
        return [grakel.Graph(b, node_labels=own) for b, own in zip(both, names, strict=True)]

    base = grakel.VertexHistogram
    for normalise in (False, True):
        theirs = grakel.WeisfeilerLehman(n_iter=depth, base_graph_kernel=base, normalize=normalise)
        assert_allclose(
            WeisfeilerLehman(depth, normalise=normalise)(rows), theirs.fit_transform(peers()), rtol=1e-10
        )
        theirs = grakel.ShortestPath(normalize=normalise)
        assert_allclose(ShortestPath(normalise=normalise)(rows), theirs.fit_transform(peers()), rtol=1e-10)


def _without_lone_nodes(labels, edges):
    """GraKeL knows the nodes of its edges only."""
    kept = sorted({v for edge in edges for v in edge})
    place = {v: i for i, v in enumerate(kept)}
    return [labels[v] for v in kept], [(place[u], place[v]) for u, v in edges]


def test_nodes_in_another_order_make_the_same_graph():
    one = (list("ABC"), [(0, 1), (1, 2)], ["x", "y"])
    other = (list("CBA"), [(0, 1), (2, 1)], ["y", "x"])
    for kernel in (WeisfeilerLehman(3), ShortestPath(), RandomWalk(3), Graphlet(3)):
        assert_allclose(kernel([one, other]), 1.0)


def test_large_graphs_have_the_same_distances():
    rng = np.random.default_rng(0)
    n = 120
    edges = [(int(rng.integers(v)), v) for v in range(1, n) if v % 40] + [(0, 7), (45, 60)]
    graph = read_graph((["A"] * n, edges))
    found = Batch.of([read_graph((["B"], [])), graph], edge_labels=True).distances()
    assert_array_equal(found[0], [[0]])
    assert_array_equal(found[1], graph.distances)
    assert (graph.distances < 0).any()


def test_labels_cannot_be_mistaken_for_subtrees():
    tree, name = (["C", "N"], [(0, 1)]), (["C(N)", "N(C)"], [(0, 1)])
    assert WeisfeilerLehman(1, normalise=False)([tree], [name])[0, 0] == 0.0


def test_labels_of_edges_and_nodes_do_not_run_together():
    found = WeisfeilerLehman(1).occurrences((["11", "1", "2"], [(0, 1), (1, 2)], ["1", "11"]))
    assert {"11(1~1)", "1(11~2,1~11)", "2(11~1)"} < set(found)
    found = WeisfeilerLehman(1).occurrences((["-C", "C", "C"], [(0, 1), (1, 2)], ["-", ""]))
    assert {"-C(-C)", "C(-~-C,C)", "C(C)"} < set(found)


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
        ((["A", None], [(0, 1)]), "the label of node 1 is missing"),
        ((["A", np.nan], [(0, 1)]), "the label of node 1 is missing"),
        ((["A", "B"], [(0, 1)], [None]), "the label of edge 0 is missing"),
        ((["A", "B"], [("A", "B")]), r"row 0: an edge is a pair of node numbers, got \('A', 'B'\)"),
        ((["A", "B"], [(0, 1, 1)]), "an edge is a pair of node numbers"),
        ((["A", "B"], [(0.0, 0.5)]), "an edge is a pair of node numbers"),
        ((["A", "B"], [0, 1]), "an edge is a pair of node numbers, got 0"),
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


def test_equal_numbers_are_the_same_label():
    whole, floats = ([1, 2], [(0, 1)], [3]), (np.array([1.0, 2.0]), [(0, 1)], [3.0])
    assert read_graph(floats) == read_graph(whole)
    assert read_graph(([0.5, 1], [])).labels == ("0.5", "1")


def test_unseen_labels_match_nothing():
    known, new = (["A", "A"], [(0, 1)]), (["Z", "Z"], [(0, 1)])
    assert WeisfeilerLehman()([new], [known])[0, 0] == 0.0
