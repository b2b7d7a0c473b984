"""Main effects that must rise or fall: everywhere monotone, optimal, and what cannot be asked for."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor, load, save
from pellucid.losses import as_loss
from pellucid.models.additive.engine.held_out import leave_one_out
from pellucid.models.additive.engine.state import Problem
from pellucid.models.additive.engine.structure import build_axes, fit_additive
from pellucid.models.additive.monotonicity import Shapes, shape_rows
from pellucid.models.additive.refit import into_cone, refit

RNG = np.random.default_rng(11)
N = 250
X = RNG.uniform(-1, 1, (N, 3))
X[RNG.random(N) < 0.1, 0] = np.nan
SIGNAL = np.sin(4 * np.nan_to_num(X[:, 0], nan=0.4)) - X[:, 1] ** 3 + X[:, 1] + X[:, 2]
TARGETS = {
    "squared": SIGNAL + 0.3 * RNG.normal(size=N),
    "poisson": RNG.poisson(np.exp(SIGNAL)).astype(float),
    "gamma": np.exp(SIGNAL) * RNG.gamma(4, 0.25, N),
    "logistic": (SIGNAL + 0.5 * RNG.logistic(size=N) > 0).astype(float),
}
LINE = np.linspace(-2, 2, 4001)


def estimator(loss, monotone):
    if loss == "logistic":
        return AdditiveKernelClassifier(monotone=monotone)
    return AdditiveKernelRegressor(loss=loss, monotone=monotone)


@pytest.mark.parametrize("loss", TARGETS)
def test_monotone_everywhere(loss):
    model = estimator(loss, {0: "increasing", 1: -1}).fit(X, TARGETS[loss])
    rows = np.tile([0.3, -0.2, 0.1], (len(LINE), 1))
    for feature, sign in ((0, 1), (1, -1)):
        moved = rows.copy()
        moved[:, feature] = LINE
        predictions = model.predict_proba(moved)[:, 1] if loss == "logistic" else model.predict(moved)
        assert np.min(sign * np.diff(predictions)) >= -1e-12 * np.abs(predictions).max()
        assert feature == 1 or np.ptp(predictions) > 0  # the second rises in part: a constant may be best
        curve = model.effects_[f"x{feature}"]
        knots = curve.values[: len(curve.grids[0]) - curve.grids[0].missing]
        assert np.all(sign * np.diff(knots) >= 0)
    assert all(len(term) == 1 or not {0, 1} & set(term) for term in model.terms_)
    parts = model.contributions(X)
    np.testing.assert_allclose(parts.mean(axis=0), 0, atol=1e-8)


@pytest.mark.parametrize("loss", TARGETS)
def test_optimality_of_the_constrained_fit(loss):
    """The slope of the penalised loss is a sum of binding constraints with multipliers of at least zero."""
    n = 120
    problem = Problem(X[:n], TARGETS[loss][:n], np.ones(n), np.zeros(n), as_loss(loss))
    axes = build_axes(problem.X, problem.weight)
    free = fit_additive(problem, axes, None, None, no_interaction=[0])
    A = shape_rows(free.basis, Shapes({0: 1}))
    state = into_cone(problem, free, A)
    beta = state.fit.beta
    size = np.abs(A) @ np.abs(beta) + 1e-12
    slack = A @ beta
    assert np.all(slack >= -1e-9 * size)
    assert np.any(slack < 1e-9 * size)  # something binds
    Z = state.basis.design(problem.X)
    slope = problem.loss.gradient(problem.y, state.eta)
    gradient = Z @ slope + state.fit.ridge * beta
    from scipy.optimize import nnls

    binding = slack < 1e-7 * size
    _, left = nnls(A[binding].T, gradient, maxiter=10_000)
    assert left < 1e-4 * np.linalg.norm(np.abs(Z) @ np.abs(slope))
    assert abs(slope.sum()) < 1e-5 * np.abs(slope).sum()
    assert problem.value(state.eta) >= problem.value(free.eta) - 1e-9 or loss != "squared"
    assert 0 < state.fit.edf.sum() <= free.fit.edf.sum() + 1e-6 or loss != "squared"


def test_constraints_that_hold_change_nothing():
    x = RNG.uniform(-1, 1, (200, 1))
    y = 3 * x[:, 0]
    free, held = AdditiveKernelRegressor().fit(x, y), AdditiveKernelRegressor(monotone={0: 1}).fit(x, y)
    np.testing.assert_allclose(held.predict(x), free.predict(x), atol=0.02)


def test_the_wrong_direction_gives_a_constant():
    x = RNG.uniform(-1, 1, (200, 1))
    model = AdditiveKernelRegressor(monotone={0: -1}).fit(x, 3 * x[:, 0] + 0.1 * RNG.normal(size=200))
    assert np.ptp(model.predict(x)) < 1e-6


def test_missing_values_are_free():
    x = RNG.uniform(-1, 1, N)
    gone = RNG.random(N) < 0.2
    y = np.where(gone, 10.0, x)
    model = AdditiveKernelRegressor(monotone={0: "increasing"}).fit(np.where(gone, np.nan, x)[:, None], y)
    assert model.predict([[np.nan]])[0] == pytest.approx(10, abs=0.2)


def test_leave_one_out_keeps_what_binds():
    """Refits in the cone: near, as a few constraints come and go."""
    n = 100
    problem = Problem(X[:n], TARGETS["squared"][:n], np.ones(n), np.zeros(n), as_loss("squared"))
    axes = build_axes(problem.X, problem.weight)
    free = fit_additive(problem, axes, None, 0)
    A = shape_rows(free.basis, Shapes({0: 1}))
    state = into_cone(problem, free, A)
    _, eta = leave_one_out(problem, state, np.arange(n))
    truth = []
    some = np.arange(0, n, 10)
    for i in some:
        part = problem.part(np.arange(n) != i)
        left = into_cone(part, refit(part, state.basis, state.fit.ridge), A)
        truth.append(left.intercept + left.fit.beta @ state.basis.design(problem.X[[i]])[:, 0])
    moved = np.sqrt(np.mean((np.array(truth) - state.eta[some]) ** 2))
    assert np.sqrt(np.mean((np.array(truth) - eta[some]) ** 2)) < 0.25 * moved


def test_names_and_numbers():
    frame = pd.DataFrame(np.nan_to_num(X), columns=["a", "b", "c"])
    by_name = AdditiveKernelRegressor(monotone={"a": "increasing"}).fit(frame, TARGETS["squared"])
    by_number = AdditiveKernelRegressor(monotone={0: 1}).fit(frame, TARGETS["squared"])
    np.testing.assert_array_equal(by_name.predict(frame), by_number.predict(frame))
    assert clone(by_name).get_params()["monotone"] == {"a": "increasing"}


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"z": 1}, "no feature 'z'"),
        ({5: 1}, "no feature number 5"),
        ({"a": "up"}, "'increasing' or 'decreasing'"),
        ({"a": 0}, "'increasing' or 'decreasing'"),
        ({"a": True}, "'increasing' or 'decreasing'"),
        ({"colour": 1}, "holds categories"),
        ({"a": 1, 0: -1}, "twice"),
        ({"a": "convex concave"}, "'convex' or 'concave'"),
        ({"a": "increasing fast"}, "one of each"),
        (["a"], "must be a dict"),
        ("a", "must be a dict"),
    ],
)
def test_bad_wishes(wish, message):
    frame = pd.DataFrame({"a": np.arange(20.0), "colour": ["red", "blue"] * 10})
    with pytest.raises(ValueError, match=message):
        AdditiveKernelRegressor(monotone=wish).fit(frame, np.arange(20.0))


def test_bent_features_take_part_in_no_pair():
    with pytest.raises(ValueError, match="'x0', whose effect must be convex"):
        AdditiveKernelRegressor([(0, 1)], monotone={0: "convex"}).fit(X, TARGETS["squared"])


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_named_pairs_are_monotone_in_the_sum(loss):
    rng = np.random.default_rng(6)
    n = 400
    x = rng.uniform(-1, 1, (n, 3))
    x[rng.random(n) < 0.1, 1] = np.nan
    z = np.nan_to_num(x[:, 1], nan=0.7)
    signal = 2 * x[:, 0] + 2 * x[:, 0] * z + np.sin(4 * x[:, 0]) * x[:, 2]
    y = signal + 0.3 * rng.normal(size=n)
    y = (y > 0) * 1 if loss == "logistic" else y
    pairs = [(0, 1), (0, 2)]
    make = AdditiveKernelClassifier if loss == "logistic" else AdditiveKernelRegressor
    held, free = make(pairs, monotone={0: 1}).fit(x, y), make(pairs).fit(x, y)
    line = np.linspace(-1.2, 1.2, 300)
    steps = {}
    for name, model in (("held", held), ("free", free)):
        along = [
            np.diff(model._predictor(np.column_stack([line, np.full(300, a), np.full(300, b)])))
            for a in (-1.0, -0.3, 0.4, 1.0, np.nan)
            for b in np.linspace(-1, 1, 9)
        ]
        steps[name] = np.min(along)
    assert steps["held"] >= -1e-12
    assert steps["free"] < -1e-3
    assert "x0 × x1" in held.term_names_
    alone = make(0, monotone={0: 1}).fit(x, y)
    assert alone.loo_deviance_explained_ < held.loo_deviance_explained_ <= free.loo_deviance_explained_ + 0.01
    again = held.edit(x, y, smooth={"x0 × x1": 2.0})
    rows = np.column_stack([line, np.full(300, -1.0), np.full(300, 1.0)])
    assert np.min(np.diff(again._predictor(rows))) >= -1e-12


def test_several_classes():
    with pytest.raises(ValueError, match="two classes"):
        AdditiveKernelClassifier(monotone={0: 1}).fit(X, np.arange(N) % 3)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_ordered_categories_rise_in_the_declared_order(loss):
    rng = np.random.default_rng(2)
    names = ["poor", "fair", "good", "very good", "excellent"]  # not the order of the alphabet
    code = rng.integers(0, 5, 120)
    grade = pd.Categorical.from_codes(code, names, ordered=True)
    frame = pd.DataFrame({"grade": grade, "x": rng.normal(size=120)})
    frame.loc[:9, "grade"] = np.nan
    signal = np.array([0.0, 1.0, 0.6, 1.4, 1.3])[code]
    y = signal + 0.3 * rng.normal(size=120)
    y = y if loss == "squared" else y + 0.5 * rng.logistic(size=120) > 0.8
    model = estimator(loss, {"grade": "increasing"}).fit(frame, y)
    rows = pd.DataFrame({"grade": pd.Categorical(names, names, ordered=True), "x": 0.0})
    effect = model.contributions(rows)[:, model.term_names_.index("grade")]
    assert np.all(np.diff(effect) >= 0)
    assert np.ptp(effect) > 0.3
    curve = model.effects_["grade"]
    assert curve.grids[0].points.tolist() == [*names, "(missing)"]
    assert np.all(np.diff(curve.values[:5]) >= 0)
    if loss == "squared":  # of so few classes the free curve may rise by itself
        free = estimator(loss, None).fit(frame, y)
        assert np.any(np.diff(free.effects_["grade"].values[:5]) < 0)


def test_categories_without_an_order_are_refused_with_the_remedy():
    frame = pd.DataFrame({"grade": ["good", "poor"] * 20})
    with pytest.raises(ValueError, match="ordered category, such as"):
        AdditiveKernelRegressor(monotone={"grade": 1}).fit(frame, np.arange(40.0))


# --------------------------------------------------------------------------- convex and concave
@pytest.mark.parametrize(
    ("wish", "loss"),
    [
        ("convex", "squared"),
        ("increasing concave", "squared"),
        ("decreasing, convex", "poisson"),
        ("concave", "quantile"),
    ],
)
def test_effects_bend_as_wished(wish, loss):
    y = TARGETS["poisson" if loss == "poisson" else "squared"]
    model = estimator(loss, {0: wish}).fit(X, y)
    effect = model.effects_["x0"]
    k = len(effect.grids[0]) - effect.grids[0].missing
    x, f = effect.grids[0].points[:k].astype(float), effect.values[:k]
    slopes = np.diff(f) / np.diff(x)
    size = np.abs(slopes).max() + 1e-12
    sign = 1 if "convex" in wish else -1
    assert np.all(sign * np.diff(slopes) >= -1e-6 * size)
    if "creasing" in wish:
        assert np.all((1 if "increasing" in wish else -1) * np.diff(f) >= 0)
    assert all(len(term) == 1 or 0 not in term for term in model.terms_)


def test_a_bend_that_is_there_is_left_alone():
    x = np.random.default_rng(3).uniform(-1, 1, (300, 1))
    y = x[:, 0] ** 2 + 0.02 * np.random.default_rng(4).normal(size=300)
    free, held = (
        AdditiveKernelRegressor().fit(x, y),
        AdditiveKernelRegressor(monotone={0: "convex"}).fit(x, y),
    )
    np.testing.assert_allclose(held.predict(x), free.predict(x), atol=0.02)
    against = AdditiveKernelRegressor(monotone={0: "concave"}).fit(x, y)
    line = np.polyval(np.polyfit(x[:, 0], y, 1), x[:, 0])  # the best concave function of a parabola
    np.testing.assert_allclose(against.predict(x), line, atol=0.05)


def test_a_bend_outlives_files_and_edits(tmp_path):
    model = AdditiveKernelRegressor(monotone={0: "concave"}).fit(X, TARGETS["squared"])
    save(model, tmp_path / "m.pellucid")
    again = load(tmp_path / "m.pellucid").edit(X, TARGETS["squared"], smooth={"x1": 2.0})
    effect = again.effects_["x0"]
    k = len(effect.grids[0]) - effect.grids[0].missing
    slopes = np.diff(effect.values[:k]) / np.diff(effect.grids[0].points[:k].astype(float))
    assert np.all(np.diff(slopes) <= 1e-6 * np.abs(slopes).max())
