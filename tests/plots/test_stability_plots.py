"""Figures of coefficients, tested through what they draw."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid.effects.stability import Stability
from pellucid.plots import plot_coefficients, plot_stability
from pellucid.plots.style import BLUE, ORANGE

pyplot = pytest.importorskip("matplotlib.pyplot")
colors = pytest.importorskip("matplotlib.colors")


@pytest.fixture(autouse=True)
def _closed():
    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")


def result(p=5, classes=0, splits=11, noise=0.3):
    rng = np.random.default_rng(0)
    centre = np.linspace(-2.0, 2.0, p)
    coef = centre + noise * rng.uniform(-1, 1, size=(splits, p))
    if classes:
        coef = np.stack([coef * (-1) ** c for c in range(classes)], axis=2)
    errors = rng.uniform(1.0, 2.0, size=(splits, 3)) + np.arange(3.0)
    return Stability(
        methods=["ridge", "lasso", "forest"],
        coef={"ridge": coef, "lasso": None, "forest": None},
        train_error=errors,
        test_error=errors,
        names=[f"f{j}" for j in range(p)],
        measure="RMSE",
        classes=[f"kind {c}" for c in range(classes)],
    )


def ticks(ax, axis="y"):
    return [label.get_text() for label in getattr(ax, f"get_{axis}ticklabels")()]


def face(patch):
    return colors.to_hex(patch.get_facecolor())


# ---------------------------------------------------------------- over splits


def test_boxes_are_ordered_by_median_and_coloured_by_sign():
    data = result()
    ax = plot_stability(data)
    coef = data.coef["ridge"]
    assert ticks(ax) == ["f0", "f1", "f2", "f3", "f4"]
    assert len(ax.patches) == 5
    lower, upper = np.quantile(coef, [0.25, 0.75], axis=0)
    assert np.allclose([box.get_x() for box in ax.patches], lower)
    assert np.allclose([box.get_x() + box.get_width() for box in ax.patches], upper)
    assert [face(box) == BLUE for box in ax.patches] == [True, True, False, True, True]
    ends = [segment[:, 0] for segment in ax.collections[0].get_segments()]
    assert np.isclose(min(end.min() for end in ends), coef.min())  # whiskers reach the extremes
    assert np.isclose(max(end.max() for end in ends), coef.max())
    assert "4 of 5 keep their sign" in ax.get_title(loc="left")
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["same sign in all splits", "sign not constant"]


def test_order_follows_the_medians_not_the_columns():
    data = result()
    flipped = Stability(
        data.methods, {"ridge": -data.coef["ridge"]}, data.train_error, data.test_error, data.names
    )
    assert ticks(plot_stability(flipped)) == ["f4", "f3", "f2", "f1", "f0"]


def test_only_constant():
    ax = plot_stability(result(), only_constant=True)
    assert ticks(ax) == ["f0", "f1", "f3", "f4"]
    assert ax.get_legend() is None
    data = result(p=3)
    data.coef["ridge"][:] = np.where(np.arange(11)[:, None] % 2, 1.0, -1.0)
    with pytest.raises(ValueError, match="No coefficient has the same sign"):
        plot_stability(data, only_constant=True)


def test_at_most_so_many_features():
    ax = plot_stability(result(p=50, noise=0.03), max_features=4)
    assert ticks(ax) == ["f0", "f1", "f48", "f49"]
    assert "4 largest of 50 coefficients" in ax.get_title(loc="left")
    constant = int(result(p=50, noise=0.03).constant_sign["ridge"].sum())
    ax = plot_stability(result(p=50, noise=0.03), max_features=4, only_constant=True)
    assert f"4 largest of {constant} of constant sign" in ax.get_title(loc="left")
    assert len(plot_stability(result(p=50, noise=0.03)).patches) == 30


def test_one_class_at_a_time():
    data = result(classes=3)
    ax = plot_stability(data, "ridge", output=1)
    assert ticks(ax) == ["f4", "f3", "f2", "f1", "f0"]
    assert "ridge, class kind 1" in ax.get_title(loc="left")
    unnamed = Stability(data.methods, data.coef, data.train_error, data.test_error, data.names)
    assert "ridge, output 2" in plot_stability(unnamed, output=2).get_title(loc="left")


def test_test_errors_by_method():
    data = result()
    ax = plot_stability(data, kind="errors")
    assert [label.split("\n")[0] for label in ticks(ax)] == ["forest", "lasso", "ridge"]  # the first on top
    assert ticks(ax)[2].endswith(f"mean rank {data.mean_ranks['test'][0]:.2f}")
    lower = np.quantile(data.test_error, 0.25, axis=0)[::-1]
    assert np.allclose([box.get_x() for box in ax.patches], lower)
    assert [face(box) == BLUE for box in ax.patches] == [False, False, True]
    assert "RMSE" in ax.get_xlabel()
    assert len(plot_stability(data, "lasso", kind="errors").patches) == 1
    some = plot_stability(data, ["lasso", "ridge"], kind="errors")
    assert [label.split("\n")[0] for label in ticks(some)] == ["ridge", "lasso"]


def test_drawn_into_given_axes():
    _, axes = pyplot.subplots(1, 3)
    assert plot_stability(result(), ax=axes[0]) is axes[0]
    assert plot_stability(result(), kind="errors", ax=axes[1]) is axes[1]
    assert plot_coefficients([1.0, 2.0], ax=axes[2]) is axes[2]
    assert len(pyplot.get_fignums()) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "bars"}, "kind must be one of coefficients, errors"),
        ({"method": "lasso"}, "has no coefficients"),
        ({"method": "svm"}, "no method 'svm'"),
        ({"method": ["ridge"]}, "one method at a time"),
        ({"method": ["svm"], "kind": "errors"}, "no method 'svm'"),
        ({"max_features": 0}, "max_features"),
    ],
)
def test_bad_wishes(options, message):
    with pytest.raises(ValueError, match=message):
        plot_stability(result(), **options)


# ---------------------------------------------------------------- of one model


def test_the_largest_bars():
    ax = plot_coefficients([0.1, -3.0, 2.0, 0.5], ["a", "b", "c", "d"], top=3)
    assert ticks(ax) == ["d", "c", "b"]
    assert [bar.get_width() for bar in ax.patches] == [0.5, 2.0, -3.0]
    assert [face(bar) for bar in ax.patches] == [BLUE, BLUE, ORANGE]
    assert ax.get_title(loc="left") == "3 largest of 4 coefficients"
    assert ax.get_xlabel() == "coefficient"


class View:
    coef = np.array([[1.0, 10.0], [2.0, -20.0], [3.0, 0.0]])
    feature_sd = np.array([5.0, 1.0, 1.0])
    names = ("u", "v", "w")


def test_a_view_in_units_of_deviations():
    ax = plot_coefficients(View(), output=0)
    assert ticks(ax) == ["v", "w", "u"]
    assert [bar.get_width() for bar in ax.patches] == [2.0, 3.0, 5.0]
    assert ax.get_xlabel() == "coefficient × sd"
    assert [bar.get_width() for bar in plot_coefficients(View(), output=1).patches] == [0.0, -20.0, 50.0]
    with pytest.raises(ValueError, match="between 0 and 1"):
        plot_coefficients(View(), output=2)


def test_estimators_and_pipelines():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(40, 4)), columns=list("abcd"))
    y = X @ [1.0, -2.0, 3.0, 4.0]
    assert ticks(plot_coefficients(Ridge(0.01).fit(X, y))) == ["a", "b", "c", "d"]
    pipe = make_pipeline(StandardScaler(), Ridge(0.01)).fit(X, y)
    assert ticks(plot_coefficients(pipe)) == ["x0", "x1", "x2", "x3"]
    labels = np.arange(40) % 3
    model = LogisticRegression().fit(X, labels)
    drawn = {bar.get_width() for bar in plot_coefficients(model, output=2).patches}
    assert drawn == set(model.coef_[2])
    binary = LogisticRegression().fit(X, labels > 0)
    assert len(plot_coefficients(binary).patches) == 4
    with pytest.raises(ValueError, match="Ridge has no coefficients"):
        plot_coefficients(Ridge())


def test_a_model_of_this_package():
    import pellucid

    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * [1.0, 10.0, 0.1]
    model = pellucid.InterpretableKernelRegressor(alpha=1.0, certify=0).fit(X, X[:, 0] + X[:, 1])
    for view in (model, model.linear_view()):
        ax = plot_coefficients(view)
        expected = np.sort(np.abs(model.coef_ * model.feature_sd_))
        assert np.allclose([abs(bar.get_width()) for bar in ax.patches], expected)
        assert ticks(ax)[-1] == "x1"


def test_profile_over_wavelengths():
    values = np.array([0.0, 1.0, -1.0])
    ax = plot_coefficients(values, ["1300", "1100", "1200.5"], kind="profile")
    x, y = ax.lines[-1].get_data()
    assert np.array_equal(x, [1100, 1200.5, 1300])
    assert np.array_equal(y, [1.0, -1.0, 0.0])


@pytest.mark.parametrize("names", [["a", "b", "c"], ["1", "2", "two"], ["1", "1", "2"], ["1", "2", "nan"]])
def test_profile_over_names(names):
    ax = plot_coefficients([0.0, 1.0, -1.0], names, kind="profile")
    x, y = ax.lines[-1].get_data()
    assert np.array_equal(x, [0, 1, 2])
    assert np.array_equal(y, [0.0, 1.0, -1.0])
    assert ticks(ax, "x") == names


def test_names_of_many_features_are_thinned_and_shortened():
    names = [f"{j}: " + "long" * 20 for j in range(100)]
    ax = plot_coefficients(np.arange(100.0), names, kind="profile")
    assert len(ticks(ax, "x")) == 25
    assert all(len(label) == 32 and label.endswith("…") for label in ticks(ax, "x"))


@pytest.mark.parametrize(
    ("view", "options", "message"),
    [
        ([1.0], {"kind": "boxes"}, "kind must be one of bars, profile"),
        ([1.0], {"names": ["a", "b"]}, "2 names for 1 coefficients"),
        ([1.0], {"top": 0}, "top must be at least 1"),
        (np.ones((2, 2, 2)), {}, "one or two dimensions"),
    ],
)
def test_bad_coefficients(view, options, message):
    with pytest.raises(ValueError, match=message):
        plot_coefficients(view, **options)


# ---------------------------------------------------------------- errors and units


@pytest.mark.parametrize(
    ("names", "places"),
    [
        (["X1100nm", "X1102.5nm", "X1098nm"], [1098, 1100, 1102.5]),
        (["w_3", "w_1", "w_2"], [1, 2, 3]),
        (["a1", "b2", "a3"], [0, 1, 2]),  # not all alike
        (["v1", "v1.0", "v2"], [0, 1, 2]),  # the same number twice
        (["wavelength 1", "wavelength 2", "wavelength 3"], [0, 1, 2]),  # more text than number
    ],
)
def test_numbers_inside_names_are_positions(names, places):
    ax = plot_coefficients([0.0, 1.0, -1.0], names, kind="profile", xlabel="wavelength ($nm$)")
    assert np.array_equal(ax.lines[-1].get_xdata(), places)
    assert ax.get_xlabel() == r"wavelength (\$nm\$)"


def test_standard_errors_are_drawn_in_the_units_of_the_coefficients():
    se = np.array([0.1, 0.2, 0.3])
    ax = plot_coefficients(View(), se=se)  # v, w, u: 2, 3, 1 × 5
    segments = ax.collections[0].get_segments()
    assert np.allclose([np.ptp(s[:, 0]) / 2 for s in segments], 1.96 * np.array([0.2, 0.3, 0.5]))
    ax = plot_coefficients([1.0, 2.0, 3.0], ["3", "1", "2"], kind="profile", se=se)
    band = ax.collections[0].get_paths()[0].vertices
    for x, centre, error in ((3, 1.0, 0.1), (1, 2.0, 0.2), (2, 3.0, 0.3)):
        at = band[band[:, 0] == x, 1]
        assert np.isclose(at.max(), centre + 1.96 * error)
        assert np.isclose(at.min(), centre - 1.96 * error)
    with pytest.raises(ValueError, match="one value per coefficient"):
        plot_coefficients([1.0, 2.0], se=[0.1])
