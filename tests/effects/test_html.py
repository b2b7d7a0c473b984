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
