"""Effects and importances, tested through what the figures draw."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from pellucid import (
    AdditiveKernelRegressor,
    InterpretableKernelRegressor,
    plot_effect,
    plot_effects,
    plot_importance,
)
from pellucid.effects import Effect, Grid, Importances
from pellucid.plots.style import PALETTE, pyplot

colors = pytest.importorskip("matplotlib.colors")
POINTS = np.array([20.0, 30.0, 50.0, 60.0])


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def bands(ax):
    """Paths of the shaded bands."""
    from matplotlib.collections import PolyCollection

    return [c.get_paths()[0].vertices for c in ax.collections if isinstance(c, PolyCollection)]


# ---------------------------------------------------------------- one feature


def test_a_curve_its_band_and_its_missing_value(model):
    ax = plot_effect(model, "age")
    zero, curve, *rest = ax.lines
    assert np.array_equal(zero.get_ydata(), [0.0, 0.0])
    assert np.array_equal(curve.get_xdata(), POINTS)
    assert np.allclose(curve.get_ydata(), POINTS / 10 - 4)
    (band,) = bands(ax)
    reach = 1.96 * 0.1 * np.arange(1, 5)
    for x, y, r in zip(POINTS, POINTS / 10 - 4, reach, strict=True):
        at = band[band[:, 0] == x, 1]
        assert np.isclose(at.min(), y - r)
        assert np.isclose(at.max(), y + r)
    missing = next(line for line in rest if line.get_marker() == "D")
    assert missing.get_ydata()[0] == 0.5
    assert missing.get_xdata()[0] > 60  # beside the curve
    assert ticks(ax.xaxis)[-1] == "missing"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "effect on the prediction")


def test_the_band_can_be_left_out_or_widened(model):
    assert bands(plot_effect(model, "age", band=None)) == []
    (band,) = bands(plot_effect(model, "age", band=5.0))
    assert np.isclose(band[:, 1].max(), 2 + 5 * 0.4)


def strip(ax):
    from matplotlib.patches import StepPatch

    return next((patch for patch in ax.patches if isinstance(patch, StepPatch)), None)


def test_the_strip_is_a_density_not_a_share(model):
    """Shares are divided by the width of their cells, or a quantile grid would look uniform."""
    heights, edges, _ = strip(plot_effect(model, "age")).get_data()
    assert np.allclose(edges, [20, 25, 40, 55, 60])
    wanted = np.array([0.1, 0.2, 0.3, 0.2]) / np.diff(edges)
    assert np.allclose(heights / heights.max(), wanted / wanted.max())
    assert strip(plot_effect(model, "age", density=False)) is None


def test_the_strip_leaves_the_curve_free(model):
    ax = plot_effect(model, "age")
    lowest = min(band[:, 1].min() for band in bands(ax))
    bottom, top = ax.get_ylim()
    assert (lowest - bottom) / (top - bottom) > 0.1


def test_levels_are_points_with_bars(model):
    ax = plot_effect(model, 1)
    container = ax.containers[0]
    assert np.allclose(container.lines[0].get_ydata(), [1.0, -1.0, 0.25])
    assert np.allclose(container.lines[0].get_xdata(), [0, 1, 2.6])  # missing apart
    assert ticks(ax.xaxis) == ["flat", "house", "(missing)"]
    segments = container.lines[2][0].get_segments()
    assert np.allclose([np.ptp(s[:, 1]) / 2 for s in segments], 1.96 * 0.1 * np.arange(1, 4))
    heights = np.array([bar.get_height() for bar in ax.patches])
    assert np.allclose(heights / heights.max(), [1.0, 0.6, 0.4])


def test_of_many_levels_the_frequent_ones():
    levels = np.array([f"town {i}" for i in range(80)], dtype=object)
    density = np.arange(80.0) / np.arange(80.0).sum()
    ax = plot_effect(Effect((0,), "town", (Grid("town", levels, levels=True),), np.arange(80.0), density))
    assert ticks(ax.xaxis) == [f"town {i}" for i in range(50, 80)]
    assert any("30 of 80 levels" in text.get_text() for text in ax.texts)


def test_a_line_per_class_or_one(classifier):
    ax = plot_effect(classifier, "age")
    curves = [line for line in ax.lines if line.get_label().startswith("c")]
    for k, line in enumerate(curves):
        assert np.allclose(line.get_ydata(), (POINTS / 10 - 4) * (k + 1))
        assert line.get_color() == PALETTE[k]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["c0", "c1", "c2"]
    for output in ("c2", 2):
        ax = plot_effect(classifier, "age", output=output)
        assert np.allclose(ax.lines[1].get_ydata(), 3 * (POINTS / 10 - 4))
        assert ax.get_title(loc="left") == "c2"
    levels = plot_effect(classifier, "kind")
    assert len(levels.containers) == 4  # three classes and the strip


# ---------------------------------------------------------------- pairs


def meshes(ax):
    from matplotlib.collections import QuadMesh

    return [c for c in ax.collections if isinstance(c, QuadMesh)]


def test_a_pair_is_a_map_centred_at_zero_and_blank_without_data(model):
    ax = plot_effect(model, (2, 0))
    numbers, missing = meshes(ax)
    values = model.effects_["age × dose"].values
    drawn = numbers.get_array()
    assert np.array_equal(drawn.mask, np.eye(4, 3).T == 0)
    assert np.allclose(drawn.filled(0.0), values[:4].T * np.eye(4, 3).T)
    assert missing.get_array().mask.all()
    assert numbers.norm.vmin == -numbers.norm.vmax
    assert numbers.norm.vmax == 1.0  # the largest value with data, not 2
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "dose")
    assert ticks(ax.xaxis)[-1] == "missing"
    edges = numbers.get_coordinates()[0, :, 0]
    assert np.allclose(edges, [20, 25, 40, 55, 60])
    assert ax.figure.axes[-1].get_ylabel() == "effect on the prediction"
    everywhere = plot_effect(model, "dose × age", density=False)
    assert not np.ma.getmaskarray(meshes(everywhere)[0].get_array()).any()


def test_cells_near_data_are_shown():
    m = 50
    grids = (Grid("u", np.arange(m + 1.0), missing=True), Grid("v", np.array(list("ab")), levels=True))
    density = np.zeros((m + 1, 2))
    density[10, 0] = density[m, 1] = 0.5
    near = Effect((0, 1), "u × v", grids, np.zeros((m + 1, 2)), density).supported
    assert np.array_equal(np.flatnonzero(near[:, 0]), np.arange(6, 15))  # eight per cent to either side
    assert np.array_equal(np.flatnonzero(near[:, 1]), [m])  # neither across levels nor from missing values


def test_the_class_of_a_pair(classifier):
    ax = plot_effect(classifier, (0, 2))
    assert ax.get_title(loc="left") == "c2"  # where the effect is largest
    chosen = plot_effect(classifier, (0, 2), output="c1")
    ratio = meshes(ax)[0].norm.vmax / meshes(chosen)[0].norm.vmax
    assert np.isclose(ratio, 3 / 2)


# ---------------------------------------------------------------- which term


def test_the_most_important_term_is_the_default(model):
    assert plot_effect(model).get_ylabel() == "dose"
    pipe = make_pipeline(FunctionTransformer(), model)
    assert plot_effect(pipe, "age").get_xlabel() == "age"


@pytest.mark.parametrize(
    ("term", "options", "message"),
    [
        ("agee", {}, "no term 'agee'.*age"),
        (7, {}, "no term 7"),
        ((0, 1), {}, r"no term \(0, 1\)"),
        ("age", {"output": 3}, "no output 3"),
        ((0, 2), {"output": "c9"}, "no output 'c9'.*c0, c1, c2"),
    ],
)
def test_what_is_not_there(classifier, term, options, message):
    with pytest.raises(ValueError, match=message):
        plot_effect(classifier, term, **options)


def test_models_without_terms(model):
    with pytest.raises(ValueError, match="has no effects_"):
        plot_effect(InterpretableKernelRegressor())
    with pytest.raises(ValueError, match="one effect already"):
        plot_effect(model.effects_["age"], "age")
    model.effects_ = {}
    for draw in (plot_effect, plot_effects):
        with pytest.raises(ValueError, match="has no terms"):
            draw(model)


def test_several_in_a_grid(model):
    axes = plot_effects(model, columns=2)
    assert axes.shape == (3,)
    assert [ax.get_xlabel() for ax in axes] == ["age", "age", "kind"]  # the pair first
    assert len(plot_effects(model, 1)) == 1
    figure = pyplot().figure()
    assert all(ax.figure is figure for ax in plot_effects(model, figure=figure))
    with pytest.raises(ValueError, match="at least 1"):
        plot_effects(model, 0)


def test_given_axes_are_used(model):
    _, axes = pyplot().subplots(1, 3)
    assert plot_effect(model, "age", ax=axes[0]) is axes[0]
    assert plot_effect(model, (0, 2), ax=axes[1]) is axes[1]
    assert plot_importance(model, ax=axes[2]) is axes[2]


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("name", ["$", "$x_{$", "a\nb", "<b>", "x" * 300, "温度 🌡", "", r"\frac$\alpha$"])
def test_any_name_can_be_drawn(name):
    numbers = Grid(name, np.arange(3.0))
    levels = Grid(name, np.array([name, "b"], dtype=object), levels=True)
    for grids, shape in (((numbers,), 3), ((levels,), 2), ((numbers, levels), (3, 2))):
        made = Effect((0,), name, grids, np.ones(shape), np.ones(shape) / np.prod(shape))
        plot_effect(made).figure.canvas.draw()
    plot_importance(Importances((name, "b"), np.ones(2))).figure.canvas.draw()


# ---------------------------------------------------------------- importances


def test_importances_are_ordered(model):
    ax = plot_importance(model)
    assert ticks(ax.yaxis) == ["kind", "age", "age × dose"]
    assert [bar.get_width() for bar in ax.patches] == [0.7, 1.0, 2.0]
    assert ax.get_xlabel() == "sd"
    shades = [colors.to_hex(bar.get_facecolor()) for bar in ax.patches]
    assert shades[0] == shades[1] != shades[2]  # pairs are paler
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one feature", "pair"]


def test_the_first_of_hundreds_with_errors():
    names = tuple(f"a very long name of some measurement, number {i:03d}" for i in range(300))
    table = Importances(names, np.arange(300.0), se=np.full(300, 2.0))
    ax = plot_importance(table, top=5)
    assert ax.get_title(loc="left") == "5 most important of 300 terms"
    assert [label[-3:] for label in ticks(ax.yaxis)] == ["295", "296", "297", "298", "299"]
    (bars,) = [c for c in ax.collections if c.get_segments()]
    assert all(np.isclose(np.ptp(s[:, 0]), 4.0) for s in bars.get_segments())


def test_importances_of_coefficients():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * [1.0, 10.0, 0.1]
    fitted = InterpretableKernelRegressor(alpha=1.0, certify=0).fit(X, X[:, 0] + X[:, 1])
    for thing in (fitted, fitted.linear_view()):
        ax = plot_importance(thing)
        widths = [bar.get_width() for bar in ax.patches]
        assert np.allclose(widths, np.sort(np.abs(fitted.coef_ * fitted.feature_sd_)))
        assert ticks(ax.yaxis)[-1] == "x1"
    with pytest.raises(ValueError, match="no importances_"):
        plot_importance(InterpretableKernelRegressor())
    with pytest.raises(ValueError, match="top"):
        plot_importance(fitted, top=0)
    with pytest.raises(ValueError, match="no terms"):
        plot_importance(Importances((), np.array([])))


def test_one_row_far_out_does_not_squeeze_the_others():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(100, 2))
    y = np.sin(6 * X[:, 0]) + 2 * X[:, 0] * X[:, 1]
    X[3, 0] = 5000.0
    fitted = AdditiveKernelRegressor(interactions=[(0, 1)]).fit(X, y)
    ax = plot_effect(fitted, "x0")
    assert ax.get_xlim()[1] < 1.5
    (note,) = [text.get_text() for text in ax.texts]
    assert note.startswith("1 % up to 5000: ")
    inside = fitted.effects_["x0"].values[:-1]
    assert ax.lines[1].get_ydata().max() == inside.max()
    if (0, 1) in fitted.terms_:
        ax = plot_effect(fitted, (0, 1))
        assert ax.get_xlim()[1] < 1.5
        assert "up to 5000" in ax.get_title(loc="right")
    assert "5000 ▸" in fitted.effects_["x0"]._repr_html_()
    X[3, 0] = 0.5
    assert not plot_effect(AdditiveKernelRegressor(0).fit(X, y), "x0").texts
