"""Sequences and structures drawn by contribution."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid import KernelRidge, plot_sequence, plot_structure, structure_svg
from pellucid.effects import SiteMap
from pellucid.effects.layout import by_distance
from pellucid.kernels import RBF, Spectrum, Tanimoto, WeisfeilerLehman

WORDS = ["TATAAT", "GCGCGC", "TATACC", "GGCCGG"]


@pytest.fixture(name="plt", autouse=True)
def _pyplot():
    plt = pytest.importorskip("matplotlib.pyplot")
    yield plt
    plt.close("all")


@pytest.fixture(name="explained")
def _explained():
    model = KernelRidge(Spectrum(2), alpha=0.1).fit(WORDS, [1.0, 0.0, 1.0, 0.0])
    return model.part_contributions("GGTATA")


def test_letters_are_as_high_as_they_contribute(explained):
    ax = plot_sequence(explained)
    values = explained.positions
    assert len(ax.patches) == 6
    for patch, value in zip(ax.patches, values, strict=True):
        box = patch.get_path().get_extents()
        assert_allclose(box.height, max(abs(value), 0.04 * np.abs(values).max()), rtol=1e-6)
        assert box.y0 >= -1e-12 if value >= 0 else box.y1 <= 1e-12
    assert f"{explained.prediction:.4g}" in ax.get_title(loc="left")


def test_long_sequences_go_on_below(explained):
    site = SiteMap("k", "A C" * 50, tuple("A C" * 50), np.linspace(-1, 1, 150), (), np.zeros(0))
    ax = plot_sequence(site, per_track=60, start=100)
    assert len(ax.patches) == 100  # blanks are not drawn
    assert [label.get_text() for label in ax.get_yticklabels()] == ["100", "160", "220"]
    ax.figure.canvas.draw()


def test_nodes_and_edges(explained):
    graph = (list("CCO"), [(0, 1), (1, 2)])
    model = KernelRidge(WeisfeilerLehman(1), alpha=0.1).fit(
        [graph, (list("CCC"), [(0, 1), (1, 2)]), (["C"], [])], [1.0, 0.0, 0.0]
    )
    one = model.part_contributions([graph])[0]
    ax = plot_structure(one)
    assert_allclose(ax.collections[0].get_array(), one.maps[0].values)
    places = ax.collections[0].get_offsets()
    steps = np.linalg.norm(places[1:] - places[:-1], axis=1)
    assert_allclose(steps, steps[0], rtol=1e-3)  # a chain is drawn with equal steps
    ax.figure.canvas.draw()
    for graph in (["C"], []), (list("CCNN"), [(0, 1), (2, 3)]):
        plot_structure(model.part_contributions([graph])[0]).figure.canvas.draw()


def test_molecules():
    pytest.importorskip("rdkit")
    model = KernelRidge(Tanimoto(), alpha=0.1).fit(["CCO", "CCC", "c1ccccc1O"], [1.0, 0.0, 2.0])
    one = model.part_contributions("CC(=O)Oc1ccccc1")
    ax = plot_structure(one)
    assert len(ax.texts) == 10
    ax.figure.canvas.draw()
    svg = structure_svg(one, size=(200, 150))
    assert "<svg" in svg
    assert "200px" in svg


def test_what_cannot_be_drawn(explained):
    with pytest.raises(TypeError, match="Pass what model"):
        plot_sequence([explained])
    with pytest.raises(ValueError, match="There are 1 maps"):
        plot_sequence(explained, map=1)
    with pytest.raises(ValueError, match="per_track"):
        plot_sequence(explained, per_track=0)
    empty = SiteMap("k", "", (), np.zeros(0), (), np.zeros(0))
    with pytest.raises(ValueError, match="empty"):
        plot_sequence(empty)
    with pytest.raises(ValueError, match="empty"):
        plot_structure(empty)
    with pytest.raises(ValueError, match="Only molecules"):
        structure_svg(SiteMap("k", ("A", []), ("A",), np.zeros(1), (), np.zeros(0)))
    numbers = KernelRidge(RBF(), alpha=1.0).fit(np.eye(3), np.arange(3)).part_contributions(np.eye(3))[0]
    assert numbers.parts == ("RBF(length_scale=1)",)
    with pytest.raises(ValueError, match="No kernel of this model counts parts"):
        _ = numbers.positions


def test_large_graphs_are_laid_out_by_landmarks():
    """A path stays in order, and the distances of a grid are kept by and large."""
    n = 900
    path = by_distance(n, tuple((v, v + 1) for v in range(n - 1)))
    steps = np.diff(path[:, 0])
    assert (steps > 0).all() or (steps < 0).all()
    side = 30
    grid = [(v, v + 1) for v in range(n) if (v + 1) % side] + [(v, v + side) for v in range(n - side)]
    places = by_distance(n, tuple(grid))
    far = np.linalg.norm(places[0] - places[-1])
    assert far > 0.9 * np.linalg.norm(places - places.mean(axis=0), axis=1).max()
    near = np.array([np.linalg.norm(places[u] - places[v]) for u, v in grid])
    assert near.max() < 0.1 * far
    assert np.isfinite(by_distance(n, ())).all()
