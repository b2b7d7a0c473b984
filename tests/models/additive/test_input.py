"""Tables, targets and options as they come: right answers, or errors that say what to do."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mean_poisson_deviance, r2_score

from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor
from pellucid.exceptions import UnseenLevelWarning, WeightWarning

RNG = np.random.default_rng(5)
N = 200


def frame(**columns):
    return pd.DataFrame(columns)


def fit(X, y, **options):
    return AdditiveKernelRegressor(**options).fit(X, y)


# -------------------------------------------------------------------- columns


def test_heavy_tails_and_gross_outliers():
    x = RNG.standard_cauchy(N)
    x[0], x[1] = 1e300, -1.7e308
    y = np.arctan(x) + 0.05 * RNG.normal(size=N)
    model = fit(x[:, None], y)
    assert np.mean((model.predict(x[:, None]) - np.arctan(x)) ** 2) < 0.01 * np.var(y)
    assert np.all(np.isfinite(model.predict([[1.7e308], [-1.7e308], [0.0]])))


def test_an_outlier_in_one_feature_does_not_spoil_its_curve():
    x = RNG.uniform(-1, 1, N)
    y = np.sin(3 * x) + 0.1 * RNG.normal(size=N)
    clean = fit(x[:, None], y)
    spoilt = x.copy()
    spoilt[0] = 1e9
    difference = fit(spoilt[:, None], y).predict(x[1:, None]) - clean.predict(x[1:, None])
    assert np.sqrt(np.mean(difference**2)) < 0.05


def test_categories_and_booleans():
    colour = RNG.choice(["red", "green", "blue"], N)
    level = {"red": 1.0, "green": 0.0, "blue": -1.0}
    flag = RNG.random(N) < 0.5
    y = np.array([level[c] for c in colour]) + 2.0 * flag + 0.1 * RNG.normal(size=N)
    for X in (
        frame(colour=colour, flag=flag),
        frame(colour=pd.Categorical(colour, categories=["green", "red", "blue", "never"]), flag=flag),
    ):
        model = fit(X, y)
        curve = model.effects_["colour"]
        assert list(curve.grids[0].points) == ["blue", "green", "red"]
        np.testing.assert_allclose(curve.values - curve.values[1], [-1, 0, 1], atol=0.1)
        assert model.columns_[1].levels is None
        step = model.effects_["flag"].values
        assert step[1] - step[0] == pytest.approx(2.0, abs=0.1)


def test_unknown_category_contributes_nothing():
    colour = RNG.choice(["red", "green"], N)
    y = (colour == "red") + 0.1 * RNG.normal(size=N)
    model = fit(frame(colour=colour), y)
    new = frame(colour=["purple"])
    with pytest.warns(UnseenLevelWarning, match="'purple'"):
        np.testing.assert_array_equal(model.contributions(new), 0)
    with pytest.warns(UnseenLevelWarning, match="'purple'"):
        assert model.predict(new)[0] == model.intercept_


def test_many_categories():
    """More levels than are told apart: the rarest are one level together, and so is a new one."""
    group = np.append(RNG.integers(0, 40, 2000), np.arange(40, 340))
    y = (group % 3) + 0.2 * RNG.normal(size=len(group))
    X = frame(group=[f"g{g}" for g in group])
    model = fit(X, y)
    assert len(model.columns_[0].levels) == 255
    frequent = group < 40
    assert np.mean((model.predict(X)[frequent] - group[frequent] % 3) ** 2) < 0.02
    rare, new = frame(group=["g339"]), frame(group=["nowhere"])
    levels = model.columns_[0].levels
    assert "g339" not in levels
    np.testing.assert_array_equal(model.predict(rare), model.predict(new))


def test_category_seen_once_is_shrunk():
    colour = np.append(RNG.choice(["a", "b"], N - 1), "once")
    y = np.append((colour[:-1] == "a") + 0.3 * RNG.normal(size=N - 1), 30.0)
    y[-1] = 3.0
    model = fit(frame(colour=colour), y)
    assert model.predict(frame(colour=["once"]))[0] < 3.0


def test_dates():
    day = pd.date_range("2024-01-01", periods=N)
    y = np.sin(np.arange(N) / 20) + 0.1 * RNG.normal(size=N)
    model = fit(frame(day=day), y)
    assert model.columns_[0].dates
    assert np.corrcoef(model.predict(frame(day=day)), y)[0, 1] > 0.95
    as_objects = frame(day=[dt.date(2024, 1, 1) + dt.timedelta(days=i) for i in range(N)])
    np.testing.assert_allclose(model.predict(as_objects), model.predict(frame(day=day)))


def test_missing_values_are_a_level_of_their_own():
    x = RNG.uniform(-1, 1, N)
    gone = RNG.random(N) < 0.3
    y = np.where(gone, 5.0, x) + 0.1 * RNG.normal(size=N)
    X = np.where(gone, np.nan, x)[:, None]
    model = fit(X, y)
    assert model.predict([[np.nan]])[0] == pytest.approx(5.0, abs=0.1)
    grid = model.effects_["x0"].grids[0]
    assert grid.missing
    assert grid.labels()[-1] == "(missing)"
    text = frame(c=np.where(gone, None, "here"))
    grid = fit(text, y).effects_["c"].grids[0]
    assert grid.missing
    assert list(grid.points) == ["here", "(missing)"]


def test_missing_at_prediction_only_contributes_nothing():
    X = RNG.uniform(-1, 1, (N, 2))
    model = fit(X, X[:, 0] + X[:, 0] * X[:, 1])
    parts = model.contributions([[np.nan, 0.5]])[0]
    for term, part in zip(model.terms_, parts, strict=True):
        if 0 in term:
            assert part == 0


@pytest.mark.parametrize("useless", [np.full(N, np.nan), np.full(N, 7.0)], ids=["missing", "constant"])
def test_columns_that_say_nothing(useless):
    x = RNG.uniform(-1, 1, N)
    y = np.sin(3 * x)
    with_it = fit(np.column_stack([useless, x]), y)
    without = fit(x[:, None], y)
    assert with_it.term_names_ == ["x1"]
    np.testing.assert_allclose(
        with_it.predict(np.column_stack([useless, x])), without.predict(x[:, None]), atol=1e-8
    )
    assert np.all(np.isfinite(with_it.predict([[1.0, 0.2], [np.nan, 0.2]])))


def test_nothing_but_useless_columns():
    X = np.full((N, 2), 3.0)
    y = RNG.normal(size=N)
    model = fit(X, y)
    assert model.terms_ == []
    assert len(model.importances_) == 0
    np.testing.assert_allclose(model.predict(X), y.mean())
    assert model.contributions(X).shape == (N, 0)
    assert "0 main effects" in str(model.summary())
    classes = AdditiveKernelClassifier().fit(X, y > 0.5)
    np.testing.assert_allclose(classes.predict_proba(X)[:, 1], np.mean(y > 0.5), atol=1e-6)


# ----------------------------------------------------------------- few rows


def test_fewer_rows_than_terms():
    X = RNG.normal(size=(8, 30))
    y = X[:, 0] + 0.1 * RNG.normal(size=8)
    model = fit(X, y)
    assert np.all(np.isfinite(model.predict(X)))
    assert model.edf_ <= 8
    labels = AdditiveKernelClassifier().fit(X, X[:, 0] > 0)
    assert np.all(np.isfinite(labels.decision_function(X)))


def test_one_row():
    model = fit([[1.0, 2.0]], [3.0])
    np.testing.assert_array_equal(model.predict([[1.0, 2.0], [5.0, 5.0]]), [3.0, 3.0])


def test_two_rows():
    model = fit([[1.0], [2.0]], [0.0, 1.0])
    p = model.predict([[1.0], [2.0]])
    assert 0 <= p[0] <= p[1] <= 1


def test_no_rows_and_no_columns():
    for X in (np.empty((0, 2)), pd.DataFrame({"a": []}), np.empty((3, 0)), pd.DataFrame(index=range(3))):
        with pytest.raises(ValueError, match=r"0 (sample|feature)"):
            fit(X, np.zeros(len(X)))


# -------------------------------------------------------------------- targets


@pytest.mark.parametrize("value", [0.0, 4.0, -1e100])
def test_constant_target(value):
    X = RNG.normal(size=(50, 3))
    model = fit(X, np.full(50, value))
    np.testing.assert_allclose(model.predict(X), value, rtol=1e-12)
    low, high = model.predict_interval(X)
    assert np.all((low <= model.predict(X)) & (model.predict(X) <= high))


def test_no_counts_at_all():
    X = RNG.normal(size=(50, 2))
    model = fit(X, np.zeros(50), loss="poisson")
    assert np.all(model.predict(X) < 1e-3)


def test_one_class_is_an_error():
    with pytest.raises(ValueError, match=r"only one class \('a'\)"):
        AdditiveKernelClassifier().fit(np.zeros((3, 1)), ["a", "a", "a"])
    with pytest.raises(ValueError, match="only one class"):
        AdditiveKernelClassifier().fit(np.zeros((3, 1)), ["a", "a", "b"], sample_weight=[1, 1, 0])


def test_class_of_one_row():
    X = RNG.normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, "a", "b").astype(object)
    y[0] = "rare"
    model = AdditiveKernelClassifier().fit(X, y)
    P = model.predict_proba(X)
    assert np.all(np.isfinite(P))
    assert P[:, 2].max() < 0.7
    two = AdditiveKernelClassifier().fit(X, np.arange(60) == 3)
    assert np.all(np.isfinite(two.decision_function(X)))


def test_separable_classes():
    x = np.linspace(-1, 1, 100)[:, None]
    model = AdditiveKernelClassifier().fit(x, x[:, 0] > 0)
    assert model.score(x, x[:, 0] > 0) == 1.0
    assert np.abs(model.decision_function(x)).max() < 50


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        ("poisson", [-1.0, 2.0], "not negative"),
        ("gamma", [0.0, 2.0], "positive"),
        ("squared", [np.nan, 1.0], "NaN"),
        ("squared", None, "y to be passed"),
        ("squared", [1.0, 2.0, 3.0], "inconsistent numbers of samples"),
    ],
)
def test_bad_targets(loss, y, message):
    with pytest.raises(ValueError, match=message):
        fit([[1.0], [2.0]], y, loss=loss)


def test_targets_too_large():
    with pytest.raises(ValueError, match="choose another unit"):
        fit([[1.0], [2.0]], [1e200, -1e200])


@pytest.mark.parametrize("loss", ["hinge", "logistic", "nonsense"])
def test_bad_loss(loss):
    with pytest.raises(ValueError, match="loss"):
        fit([[1.0], [2.0]], [1.0, 2.0], loss=loss)


@pytest.mark.parametrize(
    ("weight", "message"), [([1, -1], "Negative"), ([0, 0], "zero"), ([1], "entries"), ([1, np.nan], "NaN")]
)
def test_bad_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        AdditiveKernelRegressor().fit([[1.0], [2.0]], [1.0, 2.0], sample_weight=weight)


def test_offset_of_several_classes():
    with pytest.raises(ValueError, match="two classes only"):
        AdditiveKernelClassifier().fit([[1.0], [2.0], [3.0]], [0, 1, 2], offset=[0, 0, 0])


def test_infinity():
    with pytest.raises(ValueError, match="infinity"):
        fit([[np.inf], [1.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match="infinity"):
        fit(frame(a=[np.inf, 1.0]), [1.0, 2.0])


# --------------------------------------------------------------- interactions

X = RNG.uniform(-1, 1, (N, 4))
Y = 2 * X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + X[:, 2] + 0.1 * RNG.normal(size=N)
FRAME = pd.DataFrame(X, columns=["a", "b", "c", "d"])


def pairs_of(model):
    return [name for name, term in zip(model.term_names_, model.terms_, strict=True) if len(term) == 2]


def test_how_many_interactions():
    assert {"a × b", "c × d"} <= set(pairs_of(fit(FRAME, Y)))
    assert pairs_of(fit(FRAME, Y, interactions=1)) == ["a × b"]
    assert set(pairs_of(fit(FRAME, Y, interactions=2))) == {"a × b", "c × d"}
    for none in (0, False, []):
        assert pairs_of(fit(FRAME, Y, interactions=none)) == []


@pytest.mark.parametrize("wanted", [[("d", "c")], [(3, 2)], [("c", 3), (2, "d")], [np.array([2, 3])]])
def test_named_interactions(wanted):
    assert pairs_of(fit(FRAME, Y, interactions=wanted)) == ["c × d"]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("all", "'auto', a number, or a list"),
        (-1, "at least 0"),
        (1.5, "whole number"),
        (None, "whole number"),
        ([("a", "z")], "no feature 'z'"),
        ([("a", "a")], "two different features"),
        (["ab"], "pair of features"),
        ([1, 2], "pair of features"),
        ([("a", "b", "c")], "pair of features"),
        ([(0, 9)], "no feature number 9"),
        ([(0, 1.5)], "name or number"),
    ],
)
def test_bad_interactions(wanted, message):
    with pytest.raises(ValueError, match=message):
        fit(FRAME, Y, interactions=wanted)


def test_names_are_kept():
    model = fit(FRAME, Y)
    assert list(model.feature_names_in_) == ["a", "b", "c", "d"]
    assert set(model.term_names_) <= {"a", "b", "c", "d"} | {f"{p} × {q}" for p in "abcd" for q in "abcd"}
    with pytest.raises(ValueError, match="feature names"):
        model.predict(FRAME[["b", "a", "c", "d"]])


def test_many_features():
    """More pairs than are tried: the one that matters is found by screening."""
    rng = np.random.default_rng(0)
    wide = rng.uniform(-1, 1, (400, 40))
    y = wide[:, 3] + 3 * wide[:, 11] * wide[:, 29] + 0.2 * rng.normal(size=400)
    model = fit(wide, y, interactions=1)
    assert pairs_of(model) == ["x11 × x29"]


@pytest.mark.parametrize("estimator", [AdditiveKernelRegressor, AdditiveKernelClassifier])
def test_weights_of_any_size_mean_the_same_where_they_are_precisions(estimator):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] + rng.normal(size=200)
    y = y if estimator is AdditiveKernelRegressor else y > 0
    fits = [estimator(0).fit(X, y, np.full(200, 1.0))]
    for size in (0.005, 20.0):
        with pytest.warns(WeightWarning):
            fits.append(estimator(0).fit(X, y, np.full(200, size)))
        fits.append(estimator(0, weights="precision").fit(X, y, np.full(200, size)))
    np.testing.assert_allclose([fit.edf_ for fit in fits], fits[0].edf_, rtol=1e-6)
    twice = estimator(0, weights="counts").fit(X, y, np.full(200, 20.0))
    assert twice.edf_ > fits[0].edf_ + 1


def test_score_is_the_share_of_deviance_explained():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    exposure = rng.uniform(0.5, 3.0, 300)
    y = rng.poisson(exposure * np.exp(0.5 * X[:, 0])).astype(float)
    model = AdditiveKernelRegressor(0, loss="poisson").fit(X, y, exposure=exposure)
    mean = model.predict(X, exposure=exposure)
    null = exposure * y.sum() / exposure.sum()
    expected = 1 - mean_poisson_deviance(y, mean) / mean_poisson_deviance(y, null)
    assert model.score(X, y, exposure=exposure) == pytest.approx(expected, abs=1e-9)
    assert model.score(X, y, exposure=exposure) == pytest.approx(model.deviance_explained_, abs=1e-9)
    squared = AdditiveKernelRegressor(0).fit(X, y)
    assert squared.score(X, y) == pytest.approx(r2_score(y, squared.predict(X)), abs=1e-12)


@pytest.mark.parametrize("name", ["a × b", "a*b", "b * a", "b×a"])
def test_pairs_are_named_in_either_spelling(name):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    y = frame["a"] * frame["b"] + 0.1 * rng.normal(size=200)
    model = AdditiveKernelRegressor([name]).fit(frame, y)
    assert "a × b" in model.term_names_
    assert "a × b" not in model.edit(frame, y, drop=[name]).term_names_


def test_features_whose_names_hold_the_mark_of_pairs():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "a*b", "c"])
    y = frame["a*b"] * frame["c"] + 0.1 * rng.normal(size=200)
    model = AdditiveKernelRegressor(["a*b*c"]).fit(frame, y)
    assert (1, 2) in model.terms_
    assert model._term("a*b") == (1,)
    with pytest.raises(ValueError, match="pair of features"):
        AdditiveKernelRegressor(["a*d"]).fit(frame, y)


def test_edit_names_what_it_takes():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 1))
    model = AdditiveKernelClassifier().fit(X, X[:, 0] > 0)
    with pytest.raises(TypeError, match=r"edit\(\) got an unexpected keyword argument 'exposure'.*cap"):
        model.edit(X, X[:, 0] > 0, drop=["x0"], exposure=np.ones(60))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_few_rows_have_a_summary_without_nonsense(n):
    X = np.arange(float(n))[:, None]
    model = AdditiveKernelRegressor().fit(X, X[:, 0] ** 2)
    text = str(model.summary())
    assert "nan" not in text
    assert "1 term that" in text
    assert "1 main effects" not in text
    if n == 1:  # there is nothing to explain
        assert model.receipt_.explained == model.deviance_explained_ == 0


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("value", [0.1, 3.0, 1e6])
def test_constant_target_of_many_rows(columns, value):
    x = np.random.default_rng(0).normal(size=(250, columns))
    model = AdditiveKernelRegressor().fit(x, np.full(250, value))
    assert model.terms_ == []
    np.testing.assert_allclose(model.predict(x[:3]), value)


def test_ordered_categories_without_a_single_value():
    x = np.random.default_rng(1).normal(size=120)
    nothing = pd.Categorical([None] * 120, categories=["low", "high"], ordered=True)
    model = AdditiveKernelRegressor().fit(pd.DataFrame({"x": x, "g": nothing}), x)
    assert model.terms_ == [(0,)]
