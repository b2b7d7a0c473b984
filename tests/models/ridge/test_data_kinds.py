"""Data as they come: tables, strings, objects, functions; and models that travel."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import blobs, curve
from sklearn.base import clone
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid import KernelFisherDiscriminant, KernelRidge, KernelRidgeClassifier
from pellucid.exceptions import UnseenLevelWarning
from pellucid.kernels import RBF, Categorical, Laplacian, Linear, Matern, PairFunction

X, y = curve(30, 2)
COLOURS = np.array(["red", "green", "blue"])[np.arange(30) % 3]
FRAMES = ["pandas", "polars", "pyarrow"]


def table(kind, columns):
    module = pytest.importorskip(kind)
    return module.table(columns) if kind == "pyarrow" else module.DataFrame(columns)


@pytest.mark.parametrize("kind", FRAMES)
def test_tables_with_named_columns(kind):
    frame = table(kind, {"age": X[:, 0], "dose": X[:, 1]})
    kernel = RBF(0.7).on(["dose"]) + Linear().on(["age"])
    model = KernelRidge(kernel).fit(frame, y)
    other = KernelRidge(RBF(0.7).on([1]) + Linear().on([0])).fit(X, y)
    assert list(model.feature_names_in_) == ["age", "dose"]
    assert np.allclose(model.predict(frame), other.predict(X))
    assert list(model.marginal_effects(frame).names) == ["age", "dose"]
    assert np.allclose(model.predict(frame, return_std=True)[1], other.predict(X, return_std=True)[1])


@pytest.mark.parametrize("kind", FRAMES)
def test_other_names_when_predicting(kind):
    model = KernelRidge(RBF()).fit(table(kind, {"age": X[:, 0], "dose": X[:, 1]}), y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table(kind, {"dose": X[:, 1], "age": X[:, 0]}))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table(kind, {"age": X[:, 0], "amount": X[:, 1]}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)


@pytest.mark.parametrize("kind", FRAMES)
def test_names_that_are_not_there(kind):
    with pytest.raises(ValueError, match=r"names columns that X does not have: \['sex'\]"):
        KernelRidge(RBF().on(["sex"])).fit(table(kind, {"age": X[:, 0], "dose": X[:, 1]}), y)


@pytest.mark.parametrize("kind", FRAMES)
def test_columns_of_strings(kind):
    frame = table(kind, {"x": X[:, 0], "colour": COLOURS})
    with pytest.raises(ValueError, match=r"columns \['colour'\] are not numeric.*Categorical"):
        KernelRidge().fit(frame, y)
    with pytest.raises(ValueError, match=r"columns \['colour'\] are not numeric"):
        KernelRidge(RBF().on(["x"])).fit(frame, y)
    shifted = y + 2.0 * (COLOURS == "red")
    model = KernelRidge(RBF(0.7).on(["x"]) + Categorical(0.1).on(["colour"])).fit(frame, shifted)
    codes = np.column_stack([X[:, 0], np.arange(30) % 3])
    other = KernelRidge(RBF(0.7).on([0]) + Categorical(0.1).on([1])).fit(codes, shifted)
    assert np.allclose(model.predict(frame), other.predict(codes))
    new = table(kind, {"x": [0.0, 0.0], "colour": ["red", "violet"]})  # one of them never seen
    with pytest.warns(UnseenLevelWarning, match="'violet'"):
        red, violet = model.predict(new)
    assert np.isfinite(violet)
    assert red > violet


def test_pandas_with_whole_numbers_booleans_and_targets():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"n": np.arange(30), "flag": np.arange(30) % 2 == 0})
    model = KernelRidge().fit(frame, pandas.Series(y, index=np.arange(100, 130)))
    assert np.allclose(
        model.predict(frame), KernelRidge().fit(frame.to_numpy(float), y).predict(frame.to_numpy(float))
    )
    labels = pandas.Series(COLOURS, dtype="category")
    assert set(KernelRidgeClassifier().fit(frame, labels).predict(frame)) <= set(COLOURS)


def test_polars_targets_and_weights():
    polars = pytest.importorskip("polars")
    model = KernelRidge(RBF(), alpha=0.1, weights="counts")
    expected = model.fit(X, y, sample_weight=np.arange(30)).predict(X)
    model.fit(X, polars.Series(y), sample_weight=polars.Series(range(30)))
    assert np.allclose(model.predict(X), expected)
    assert KernelRidgeClassifier(RBF()).fit(X, polars.Series(COLOURS)).predict(X)[0] in COLOURS


# --------------------------------------------------------------------- objects
WORDS = ["spam", "ham", "eggs", "bacon", "beans", "toast", "jam", "tea", "milk", "peas"]


def overlap(a, b):
    return float(len(set(a) & set(b)))


@pytest.mark.parametrize("kernel", [overlap, PairFunction(overlap)])
@pytest.mark.parametrize("container", [list, np.array, tuple])
def test_strings_with_a_function_of_two(kernel, container):
    lengths = [float(len(w)) for w in WORDS]
    model = KernelRidge(kernel, alpha=0.1).fit(container(WORDS), lengths)
    K = np.array([[overlap(a, b) for b in WORDS] for a in WORDS])
    other = KernelRidge("precomputed", alpha=0.1).fit(K, lengths)
    assert np.allclose(model.predict(container(WORDS)), other.predict(K))
    assert np.allclose(model.predict(["sausage"]), other.predict([[overlap("sausage", w) for w in WORDS]]))
    assert model.influence(["sausage"]).deletion.shape == (1, 10)
    assert model.predict_interval(["sausage"], 0.5).shape == (1, 2)
    weighted = model.fit(container(WORDS), lengths, sample_weight=[0, *[1] * 9])
    assert len(weighted.X_fit_) == 9


def test_objects_of_any_kind_and_classes_of_them():
    sets = [frozenset(w) for w in WORDS]
    labels = ["a" in w for w in WORDS]
    model = KernelRidgeClassifier(lambda a, b: float(len(a & b)), alpha=0.01).fit(sets, labels)
    assert model.score(sets, labels) == 1.0
    ragged = [[1.0, 2.0], [1.0], [3.0, 4.0, 5.0], [2.0]]
    lengths = KernelRidge(lambda a, b: float(min(len(a), len(b))), alpha=0.1).fit(
        ragged, [2.0, 1.0, 3.0, 1.0]
    )
    assert lengths.predict([[0.0] * 3])[0] > lengths.predict([[0.0]])[0]
    images = np.random.default_rng(0).normal(size=(8, 4, 4))
    flat = images.reshape(8, 16)
    model = KernelRidge(PairFunction(lambda a, b: float(np.sum(a * b))), alpha=0.1).fit(
        images, np.arange(8.0)
    )
    assert np.allclose(
        model.predict(images), KernelRidge(Linear(), alpha=0.1).fit(flat, np.arange(8.0)).predict(flat)
    )


def test_no_objects_at_all():
    with pytest.raises(ValueError, match="0 sample"):
        KernelRidge(overlap, alpha=0.1).fit([], [])


def test_functions_of_arrays_and_of_rows():
    expected = KernelRidge(Laplacian.from_gamma(0.5), alpha=0.1).fit(X, y).predict(X)
    whole = KernelRidge(lambda a, b: laplacian_kernel(a, b, gamma=0.5), alpha=0.1).fit(X, y)
    rows = KernelRidge(lambda a, b: np.exp(-0.5 * np.abs(a - b).sum()), alpha=0.1).fit(X, y)
    assert np.allclose(whole.predict(X), expected)
    assert np.allclose(rows.predict(X), expected)
    assert np.allclose(rows.fit(X.tolist(), y).predict(X), expected)


# --------------------------------------------------------- travelling and tuning
@pytest.mark.parametrize(
    "model", [KernelRidge("matern"), KernelRidge(RBF() + Linear().on([0])), KernelRidge(Linear())], ids=str
)
def test_pickles_hold_the_model_but_not_the_factor(model):
    model.fit(X, y)
    before = len(pickle.dumps(model))
    std = model.predict(X, return_std=True)[1]
    assert "_posterior" in vars(model)
    assert len(pickle.dumps(model)) == before
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X))
    assert np.allclose(again.predict(X, return_std=True)[1], std)
    assert again.loo_.mse == model.loo_.mse


def test_the_factor_is_forgotten_by_a_new_fit():
    model = KernelRidge(RBF(), alpha=0.1).fit(X, y)
    model.predict(X, return_std=True)
    fresh = KernelRidge(RBF(), alpha=0.1).fit(X[:20], y[:20])
    model.fit(X[:20], y[:20])
    assert np.allclose(model.predict(X, return_std=True)[1], fresh.predict(X, return_std=True)[1])


def test_later_changes_of_the_data_do_not_reach_the_model():
    rows, targets = X.copy(), y.copy()
    model = KernelRidge(RBF(), alpha=0.1).fit(rows, targets)
    before = model.predict(X), model.predict(X, return_std=True)[1]
    rows[:], targets[:] = 0.0, 0.0
    model.__dict__.pop("_posterior")
    assert np.array_equal(model.predict(X), before[0])
    assert np.array_equal(model.predict(X, return_std=True)[1], before[1])


def test_clones_do_not_share_kernels():
    model = KernelRidge(RBF(2.0) + Linear())
    copy = clone(model)
    copy.set_params(kernel__rbf__length_scale=5.0)
    assert model.get_params()["kernel__rbf__length_scale"] == 2.0
    assert copy.kernel.get_params()["rbf__length_scale"] == 5.0
    fitted = model.fit(X, y)
    assert not hasattr(clone(fitted), "X_fit_")


def test_parameters_of_kernels_in_grid_search():
    grid = {"kernel__length_scale": [0.5, 1.0], "alpha": [0.01, 0.1]}
    search = GridSearchCV(KernelRidge(RBF()), grid, cv=3).fit(X, y)
    assert set(search.best_params_) == set(grid)
    best = search.best_estimator_
    assert best.kernel_.length_scale == search.best_params_["kernel__length_scale"]
    piped = make_pipeline(StandardScaler(), KernelRidge(Matern()))
    nested = GridSearchCV(piped, {"kernelridge__kernel__length_scale": [1.0, 2.0]}, cv=3).fit(X, y)
    assert nested.best_estimator_[-1].kernel_.length_scale in (1.0, 2.0)


# ---------------------------------------------------------------- single precision
@pytest.mark.parametrize("kernel", ["rbf", "linear", RBF(), Matern(nu=0.5)], ids=str)
def test_single_precision_stays(kernel):
    X32, y32 = X.astype(np.float32), y.astype(np.float32)
    model = KernelRidge(kernel).fit(X32, y32)
    assert model.X_fit_.dtype == np.float32
    mean, std = model.predict(X32, return_std=True)
    assert mean.dtype == std.dtype == model.predict_interval(X32).dtype == np.float32
    double = KernelRidge(kernel).fit(X, y)
    assert np.allclose(mean, double.predict(X), atol=1e-3)
    assert model.predict(X).dtype == np.float64


# ------------------------------------------------------------------- any scale
@st.composite
def anything(draw):
    n, p, q = draw(st.integers(2, 12)), draw(st.integers(1, 4)), draw(st.integers(0, 2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dtype = draw(st.sampled_from([np.float64, np.float32, np.int64]))
    X = rng.normal(size=(n, p))
    Y = rng.normal(size=(n, q) if q else n)
    X_unit = Y_unit = 1.0
    if dtype is np.float64:
        X_unit, Y_unit = 10.0 ** draw(st.integers(-148, 148)), 10.0 ** draw(st.integers(-148, 148))
    if draw(st.booleans()):
        X[:, 0] = X[0, 0]  # a constant column
    if draw(st.booleans()):
        X[1] = X[0]  # a repeated row
    return (10 * X if dtype is np.int64 else X_unit * X).astype(dtype), Y_unit * Y, X_unit, Y_unit


@given(data=anything(), name=st.sampled_from(["rbf", "matern", "laplacian", "linear", "polynomial"]))
@settings(deadline=None, max_examples=60)
def test_any_shape_scale_and_type(data, name):
    X, Y, _, Y_unit = data
    model = KernelRidge(name).fit(X, Y)
    mean, std = model.predict(X, return_std=True)
    for values in (
        mean,
        std,
        model.loo_.residuals,
        model.loo_.rmse,
        model.log_marginal_likelihood_,
        model.intercept_,
    ):
        assert np.all(np.isfinite(values))
    assert mean.shape == Y.shape
    assert np.abs(mean).max() < 1e3 * Y_unit
    assert np.all(model.loo_.leverages <= 1.0 + 1e-12)


@given(data=anything())
@settings(deadline=None, max_examples=30)
def test_the_unit_of_everything_cancels(data):
    X, Y, X_unit, Y_unit = data
    if X.dtype != np.float64:
        return
    one = KernelRidge("matern", alpha=0.1).fit(X, Y)
    other = KernelRidge("matern", alpha=0.1).fit(X / X_unit, Y / Y_unit)
    assert np.allclose(one.predict(X) / Y_unit, other.predict(X / X_unit), rtol=1e-6, atol=1e-9)


@given(data=anything(), estimator=st.sampled_from([KernelRidgeClassifier, KernelFisherDiscriminant]))
@settings(deadline=None, max_examples=40)
def test_any_scale_for_classes(data, estimator):
    X = data[0]
    labels = np.arange(len(X)) % 2
    model = estimator().fit(X, labels)
    assert np.all(np.isfinite(model.predict_proba(X)))
    assert np.isfinite(model.loo_.error_rate)


@pytest.mark.parametrize("unit", [1e-150, 1e-80, 1e-40, 1e40, 1e80, 1e150])
def test_given_kernels_on_extreme_data(unit):
    for kernel in (RBF(), Matern(unit)):
        assert np.all(np.isfinite(KernelRidge(kernel).fit(unit * X, y).predict(unit * X)))
    for solver in ("primal", "spectral"):
        model = KernelRidge(Linear(), solver=solver)
        if 1e-50 < unit < 1e50:
            assert np.all(np.isfinite(model.fit(unit * X, y).predict(unit * X)))
        else:
            with pytest.raises(ValueError, match="Rescale the features"):
                model.fit(unit * X, y)


def test_blobs_of_strings_are_labels():
    rows, labels = blobs(3)
    model = KernelFisherDiscriminant().fit(rows, COLOURS[labels])
    assert set(model.predict(rows)) <= set(COLOURS)
