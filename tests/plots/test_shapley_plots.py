"""Shapley values as pictures: what is drawn is what they are."""

import numpy as np
import pytest

from pellucid import plot_contributions, plot_shapley
from pellucid.effects import ShapleyValues

pytest.importorskip("matplotlib")
VALUES = np.column_stack([np.linspace(-1, 1, 21), np.linspace(-4, 8, 21), np.zeros(21)])
CELLS = np.array([[i, "up" if i > 9 else "down", np.nan] for i in range(21)], dtype=object)
FOUND = ShapleyValues(("age", "$kind", "dose"), VALUES, 10.0, CELLS, "7 background rows")


def test_all_features_show_their_quantiles_largest_on_top():
    ax = plot_shapley(FOUND, top=2)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["age", r"\$kind"]
    assert ax.lines[1].get_xdata().tolist() == [0.0, 2.0]
    wide = [segment[:, 0].tolist() for segment in ax.collections[0].get_segments()]
    assert np.allclose(wide, np.quantile(VALUES[:, :2], [0.05, 0.95], axis=0).T)
    assert (
        ax.get_title(loc="left")
        == "2 of 3 features, middle 90 % and half of 21 rows\nagainst 7 background rows"
    )


def test_one_feature_along_its_values():
    dots = plot_shapley(FOUND, "age").collections[0].get_offsets()
    assert np.allclose(dots, np.column_stack([np.arange(21), VALUES[:, 0]]))
    ax = plot_shapley(FOUND, 1)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["down", "up"]
    assert "21 rows without a value" in plot_shapley(FOUND, "dose").get_title(loc="left")


def test_a_row_as_a_waterfall_begins_with_the_mean():
    ax = plot_contributions(FOUND.explanation(20))
    assert ax.get_title(loc="left").startswith("From 10 (mean over 7 background rows) to 19")


def test_refusals():
    with pytest.raises(ValueError, match="no feature 'size'; there are age"):
        plot_shapley(FOUND, "size")
    with pytest.raises(ValueError, match="at least 1"):
        plot_shapley(FOUND, top=0)
    with pytest.raises(ValueError, match="do not know the rows"):
        plot_shapley(ShapleyValues(("a",), np.ones((2, 1)), 0.0), "a")
    many = ShapleyValues(
        ("a",), np.ones((40, 1)), 0.0, np.array([[f"l{i}"] for i in range(40)], dtype=object)
    )
    with pytest.raises(ValueError, match="40 levels, too many"):
        plot_shapley(many, "a")
