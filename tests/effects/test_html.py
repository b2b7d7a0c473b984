"""Results as tables in notebooks: what the text says, escaped."""

import numpy as np

from pellucid.effects import Summary
from pellucid.effects.html import html_table
from pellucid.effects.receipt import Receipt
from pellucid.effects.terms import Importances


def test_text_is_escaped_everywhere():
    text = html_table("<b>", ["<i>"], [["<u>", "a & b"]])
    assert "<b>" not in text
    assert "<i>" not in text
    assert "<u>" not in text
    assert "a &amp; b" in text


def test_summary_receipt_and_importances_have_tables():
    summary = Summary("A<B", [("rows", 3), ("alpha", 0.25)])._repr_html_()
    assert "A&lt;B" in summary
    assert summary.count("<tr>") == 2
    receipt = Receipt(main=0.6, pairs=0.25, beyond=0.05, how="leave-one-out")._repr_html_()
    assert "60.0 %" in receipt
    assert "leave-one-out" in receipt
    names = tuple(f"x{i}" for i in range(30))
    many = Importances(names, np.arange(30.0), np.ones(30), measure="share")._repr_html_()
    assert many.count("<tr>") == 22
    assert "... and 10 more" in many
    assert "<th>term</th>" in many


def test_effects_are_pictures_in_which_text_is_escaped():
    from xml.etree import ElementTree

    from pellucid.effects import Effect, Grid

    name = "<a> & 'b'"
    points, levels = np.array([0.0, 1.0, 2.0, np.nan]), np.array(["<u>", "x", "(missing)"], dtype=object)
    numbers, names = Grid(name, points, missing=True), Grid("<i>", levels, levels=True, missing=True)
    curve = Effect((0,), name, (numbers,), np.array([0.0, 1.0, -1.0, 0.5]), np.full(4, 0.25), np.full(4, 0.1))
    classes = Effect(
        (0,), name, (numbers,), np.arange(8.0).reshape(4, 2), np.full(4, 0.25), None, ("<c>", "d")
    )
    bars = Effect((1,), "<i>", (names,), np.array([1.0, -1.0, 0.0]), np.array([0.5, 0.5, 0.0]))
    surface = Effect(
        (0, 1), name, (numbers, names), np.arange(12.0).reshape(4, 3) - 5, np.full((4, 3), 1 / 12)
    )
    flat = Effect((0,), "c", (Grid("c", np.array([3.0])),), np.zeros(1), np.ones(1))
    shapes = {}
    for effect in (curve, classes, bars, surface, flat):
        text = effect._repr_html_()
        root = ElementTree.fromstring(text)
        assert "nan" not in text
        tags = [node.tag.rpartition("}")[2] for node in root.iter()]
        assert set(tags) <= {"svg", "text", "tspan", "line", "rect", "circle", "polygon", "polyline"}
        shapes[effect.name, len(effect.outputs), len(effect.grids)] = tags
    assert shapes[name, 0, 1].count("polygon") == 1
    assert shapes[name, 2, 1].count("polyline") == 2
    assert shapes["<i>", 0, 1].count("circle") == 3
    assert shapes[name, 0, 2].count("rect") == 12
