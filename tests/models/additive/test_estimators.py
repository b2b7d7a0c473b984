"""The additive kernel machine: laws of terms, recovery of known ones, oracles for bands and leave-one-out."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor
from pellucid.losses import as_loss
from pellucid.models.additive.engine.held_out import leave_one_out
from pellucid.models.additive.engine.hierarchy import T
from pellucid.models.additive.engine.state import Problem
from pellucid.models.additive.engine.structure import build_axes, fit_additive
from pellucid.models.additive.refit import refit

RNG = np.random.default_rng(0)
N = 400
X = RNG.uniform(-1, 1, (N, 4))
X[:, 3] = RNG.integers(0, 4, N)
TRUTH = {"x0": np.sin(3 * X[:, 0]), "x1": X[:, 1] ** 2, "x1 × x2": X[:, 1] * X[:, 2]}
SIGNAL = 2.0 * TRUTH["x0"] + TRUTH["x1"] + 2.0 * TRUTH["x1 × x2"]
Y = SIGNAL + 0.2 * RNG.normal(size=N)
LABEL = np.where(SIGNAL + RNG.logistic(size=N) * 0.3 > 0, "yes", "no")
THREE = np.digitize(SIGNAL, [-0.7, 0.9])
COUNT = RNG.poisson(np.exp(0.7 * SIGNAL)).astype(float)
AMOUNT = np.exp(0.7 * SIGNAL) * RNG.gamma(5.0, 0.2, N)

MODELS = {
    "squared": (AdditiveKernelRegressor(), Y),
    "poisson": (AdditiveKernelRegressor(loss="poisson"), COUNT),
    "gamma": (AdditiveKernelRegressor(loss="gamma"), AMOUNT),
    "logistic": (AdditiveKernelClassifier(), LABEL),
    "classes": (AdditiveKernelClassifier(), THREE),
    "monotone": (AdditiveKernelRegressor(monotone={0: 1}), Y),
}
FITTED = {}


@pytest.fixture(params=MODELS, ids=str)
def model(request):
    if request.param not in FITTED:
        estimator, y = MODELS[request.param]
        FITTED[request.param] = estimator.fit(X, y)
    return FITTED[request.param]


@pytest.fixture
def squared():
    if "squared" not in FITTED:
        FITTED["squared"] = MODELS["squared"][0].fit(X, Y)
    return FITTED["squared"]


def predictor(model, rows):
    if isinstance(model, AdditiveKernelClassifier):
        return model.decision_function(rows)
    eta = model.predict(rows)
    return eta if model.loss_.name == "squared" else np.log(eta)


# ------------------------------------------------------------------------- laws


def test_contributions_sum_to_the_predictor(model):
    rows = np.vstack([X, RNG.uniform(-3, 3, (50, 4))])
    parts = model.contributions(rows)
    assert parts.shape[:2] == (len(rows), len(model.terms_))
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, predictor(model, rows), atol=1e-10)


def test_contributions_and_predictor_in_one_call(model):
    parts, eta = model.contributions(X, return_predictor=True)
    np.testing.assert_array_equal(parts, model.contributions(X))
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, eta, rtol=0, atol=1e-10)
    if isinstance(model, AdditiveKernelClassifier):
        np.testing.assert_array_equal(eta, model.decision_function(X))
    else:
        np.testing.assert_array_equal(model.loss_.mean(eta), model.predict(X))


def test_main_effects_have_mean_zero(model):
    parts = model.contributions(X)
    size = np.abs(parts).max()
    for t, term in enumerate(model.terms_):
        if len(term) == 1:
            np.testing.assert_allclose(parts[:, t].mean(axis=0), 0, atol=1e-8 * size)


def test_pairs_hold_no_main_effect(model):
    """Zero means along each feature under the product of the features' own distributions, at every point."""
    tables = model.tables_
    seen = 0
    for t, term in enumerate(tables.terms):
        if len(term) == 1:
            continue
        seen += 1
        first, second = (axis.mass for axis in tables.axes(t))
        inner = tables.tables[t][:-1, :-1]
        size = np.abs(inner).max()
        np.testing.assert_allclose(np.tensordot(first, inner, 1), 0, atol=1e-8 * size)
        np.testing.assert_allclose(np.tensordot(inner, second, (1, 0)), 0, atol=1e-8 * size)
    assert seen


def test_effects_are_the_tables_on_a_grid(model):
    assert list(model.effects_) == model.term_names_
    for t, effect in enumerate(model.effects_.values()):
        assert effect.density.sum() == pytest.approx(1)
        assert effect.se.shape == effect.values.shape
        assert np.all(effect.se >= 0)
        if len(effect.term) == 1:
            rows = np.zeros((len(effect.grids[0]), 4))
            rows[:, effect.term[0]] = effect.grids[0].points
        else:
            p, q = np.meshgrid(*(g.points for g in effect.grids), indexing="ij")
            rows = np.zeros((p.size, 4))
            rows[:, effect.term[0]], rows[:, effect.term[1]] = p.ravel(), q.ravel()
        got = model.contributions(rows)[:, t]
        np.testing.assert_allclose(got, effect.values.reshape(got.shape), atol=1e-10)


def test_importances_are_shares(model):
    share = model.importances_
    assert share.names == tuple(model.term_names_)
    assert share.values.sum() == pytest.approx(1)
    assert np.all(share.values >= 0)
    assert np.all(share.se >= 0)


def test_receipt_and_summary(model):
    r = model.receipt_
    assert 0 <= r.main <= r.explained <= 1
    assert r.beyond >= 0
    assert r.unexplained >= -1e-12
    text = str(model.summary())
    for word in (
        "effective degrees",
        "scale",
        "deviance explained",
        "leave-one-out, terms held fixed",
        "x1 × x2",
    ):
        assert word in text
    assert 0 < model.loo_deviance_explained_ < model.deviance_explained_ < 1


def test_deterministic(model):
    again = type(model)(**model.get_params()).fit(X, MODELS[_name(model)][1])
    for a, b in zip(model.tables_.tables, again.tables_.tables, strict=True):
        np.testing.assert_array_equal(a, b)


def _name(model):
    return next(name for name, fitted in FITTED.items() if fitted is model)


def test_pickle(model):
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    assert str(back.summary()) == str(model.summary())


# --------------------------------------------------------------------- recovery


def test_known_terms_are_found(squared):
    assert squared.importances_.top(3) == ["x0", "x1 × x2", "x1"]
    tests = {name: p for name, _, p in squared.tests_[0]}
    for name in TRUTH:
        assert tests[name] < 1e-4
    assert tests.get("x3", 1.0) > 0.01
    parts = dict(zip(squared.term_names_, squared.contributions(X).T, strict=True))
    for name, factor in (("x0", 2), ("x1", 1), ("x1 × x2", 2)):
        truth = factor * (TRUTH[name] - TRUTH[name].mean())
        error = np.sqrt(np.mean((parts[name] - truth) ** 2))
        assert error < 0.12  # the noise has 0.2
    rest = sum(part for name, part in parts.items() if name not in TRUTH)
    assert np.sqrt(np.mean(np.asarray(rest) ** 2)) < 0.1


def test_scale_is_that_of_the_noise(squared):
    assert squared.scale_ == pytest.approx(0.04, rel=0.25)


@pytest.mark.parametrize("name", ["poisson", "gamma"])
def test_log_links_recover_the_predictor(name):
    estimator, y = MODELS[name]
    got = np.log(estimator.fit(X, y).predict(X))
    assert np.sqrt(np.mean((got - 0.7 * SIGNAL) ** 2)) < 0.3  # of a spread of one


def test_bands_cover_the_truth(squared):
    effect = squared.effects_["x0"]
    truth = 2 * (np.sin(3 * effect.grids[0].points) - TRUTH["x0"].mean())
    low, high = effect.band(1.96)
    assert np.mean((low <= truth) & (truth <= high)) > 0.85


def test_intervals_cover_new_rows(squared):
    rng = np.random.default_rng(8)
    new = rng.uniform(-1, 1, (2000, 4))
    new[:, 3] = rng.integers(0, 4, 2000)
    y = 2 * np.sin(3 * new[:, 0]) + new[:, 1] ** 2 + 2 * new[:, 1] * new[:, 2] + 0.2 * rng.normal(size=2000)
    low, high = squared.predict_interval(new, coverage=0.9)
    assert 0.86 < np.mean((low <= y) & (y <= high)) < 0.95


def test_intervals_are_for_squared_loss():
    model = AdditiveKernelRegressor(0, loss="poisson").fit(X, COUNT)
    with pytest.raises(ValueError, match="Intervals are for squared and Huber loss"):
        model.predict_interval(X)


def test_counts_that_vary_more_than_by_chance_are_no_signal():
    rng = np.random.default_rng(3)
    rows = rng.uniform(-1, 1, (1500, 6))
    mean = np.exp(1.0 + 0.3 * rows[:, 0])
    y = rng.poisson(mean * rng.gamma(0.25, 4.0, 1500))  # variance μ + 4 μ²
    model = AdditiveKernelRegressor(loss="poisson").fit(rows[:1000], y[:1000])
    pearson = np.mean((y - mean) ** 2 / mean)
    assert pearson > 8
    assert 0.7 * pearson < model.scale_ < 1.3 * pearson
    found, truth = np.log(model.predict(rows[1000:])), np.log(mean[1000:])
    assert np.sqrt(np.mean((found - truth) ** 2)) < 0.2
    assert model.edf_ < 6


def test_counts_that_vary_less_than_by_chance_have_its_dispersion():
    model = AdditiveKernelRegressor(0, loss="poisson").fit(X, np.rint(np.exp(1.0 + X[:, 0])))
    assert model.scale_ == 1.0


def test_classifier_beats_chance_and_sums_to_one():
    for name in ("logistic", "classes"):
        model, y = MODELS[name]
        model.fit(X, y)
        P = model.predict_proba(X)
        np.testing.assert_allclose(P.sum(axis=1), 1)
        assert model.score(X, y) > 0.75
        assert model.loo_.error_rate < 0.25
        np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))


# ---------------------------------------------------------------------- oracles


def fit_state(y, loss="squared", n=90):
    problem = Problem(X[:n, :3], np.asarray(y[:n], float), np.ones(n), np.zeros(n), as_loss(loss))
    axes = build_axes(problem.X, problem.weight)
    return problem, fit_additive(problem, axes, None, None)


@pytest.mark.parametrize("name", ["squared", "poisson", "gamma", "logistic"])
def test_compiled_tables_equal_the_uncompiled_model(name):
    """Design in double precision times coefficients, against the look-up of tables."""
    model, y = MODELS[name]
    model.fit(X, y)
    target = (y == "yes").astype(float) if name == "logistic" else y
    unit = np.std(target) if name == "squared" else 1.0
    problem = Problem(X, target / unit, np.ones(N), np.zeros(N), model.loss_)
    state = fit_additive(problem, build_axes(X, problem.weight), None, None)
    rows = np.vstack([X, RNG.uniform(-2, 2, (30, 4))])
    direct = unit * (state.intercept + state.fit.beta @ state.basis.design(rows))
    np.testing.assert_allclose(predictor(model, rows), direct, atol=1e-9)


def test_band_against_the_dense_formula():
    """Moments of the function over the distribution of its variance, around the function fitted.

    The variances of all others are those expected.
    """
    model = AdditiveKernelRegressor().fit(X[:90, :3], Y[:90])
    unit = np.std(Y[:90])
    problem, state = fit_state(Y / unit)
    Z = state.basis.design(problem.X).T
    C = Z - Z.mean(axis=0)
    posteriors, variances = state.prior.posteriors, state.prior.variances
    total = {term: post.weight @ np.exp(2 * T) for term, post in posteriors.items()}
    d = state.basis.prior({term: v / v.sum() * total[term] for term, v in variances.items()})
    H = C.T @ C + np.diag(state.fit.scale / d)
    V, beta = state.fit.scale * np.linalg.inv(H), np.linalg.solve(H, C.T @ problem.y)
    for t, term in enumerate(state.basis.terms):
        name = model.term_names_[model.terms_.index(term)]
        effect = model.effects_[name]
        if len(term) == 2:
            continue
        s = state.basis.slices[t]
        Phi = state.basis.functions(t, [np.arange(len(effect.grids[0]))])
        precision, square = np.linalg.inv(V[s, s]), 0.0
        for t_, p in zip(T, posteriors[term].weight, strict=True):
            cov = np.linalg.inv(precision - np.diag(1 / d[s]) + np.diag(total[term] / np.exp(2 * t_) / d[s]))
            mean = Phi @ (cov @ (precision @ beta[s]) - state.fit.beta[s])
            square = square + p * (np.einsum("ij,jk,ik->i", Phi, cov, Phi) + mean**2)
        se = unit * np.sqrt(square)
        np.testing.assert_allclose(effect.se, se, rtol=1e-4)  # ridges are those of the scale before


def without(problem, i):
    keep = np.arange(len(problem)) != i
    return problem.part(keep)


@pytest.mark.parametrize(
    ("loss", "y", "tolerance"),
    [("squared", Y, 1e-8), ("logistic", LABEL == "yes", 0.05), ("poisson", COUNT, 0.1)],
)
def test_leave_one_out_against_refits(loss, y, tolerance):
    """Refits with the basis and the ridges held: exact for squared loss, near for one Newton step."""
    problem, state = fit_state(y, loss)
    _, eta = leave_one_out(problem, state, np.arange(len(problem)))
    fitted = state.eta
    some = range(0, 90, 9)
    truth = []
    for i in some:
        part = refit(without(problem, i), state.basis, state.fit.ridge)
        row = state.basis.design(problem.X[[i]])[:, 0]
        truth.append(part.intercept + part.fit.beta @ row)
    moved = np.sqrt(np.mean((np.array(truth) - fitted[list(some)]) ** 2))
    error = np.sqrt(np.mean((np.array(truth) - eta[list(some)]) ** 2))
    assert error <= tolerance * moved


def test_refit_reaches_the_minimum_that_the_fit_found():
    for loss, y in (("logistic", LABEL == "yes"), ("gamma", AMOUNT)):
        problem, state = fit_state(y, loss)
        again = refit(problem, state.basis, state.fit.ridge)
        assert again.converged
        np.testing.assert_allclose(again.eta, state.eta, atol=1e-4)
        slope = problem.loss.gradient(problem.y, again.eta)
        ridge = state.fit.ridge
        gradient = state.basis.design(problem.X) @ slope + ridge * again.fit.beta
        assert np.abs(gradient).max() < 1e-3 * np.abs(state.basis.design(problem.X) @ np.abs(slope)).max()


def test_offset_of_a_problem_in_other_units():
    problem, state = fit_state(Y)
    double = problem.in_units(2.0)
    np.testing.assert_array_equal(double.y, 2 * problem.y)
    twice = state.in_units(2.0)
    np.testing.assert_allclose(twice.eta, 2 * state.eta)
    assert replace(twice, intercept=0.0).intercept == 0.0


# ------------------------------------------------------------- choice of terms


def test_main_effects_leave_where_rows_say_that_there_is_nothing():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2500, 20))
    y = np.sin(2 * rows[:, 0]) + rows[:, 1] + rng.normal(size=2500)
    many = AdditiveKernelRegressor(interactions=0).fit(rows, y)
    assert {(0,), (1,)} <= set(many.terms_)
    assert len(many.terms_) <= 8
    few = AdditiveKernelRegressor(interactions=0).fit(rows[:100, :6], y[:100])
    assert len(few.terms_) == 6  # a hundred rows do not say that of any
    for name in few.term_names_[2:]:
        effect = few.effects_[name]
        assert np.all(np.abs(effect.values) < 2 * effect.se + 1e-9) or few.tests_[0][int(name[1:])][2] < 0.2


def test_pairs_have_to_show_their_worth_where_rows_are_few():
    without = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rows = rng.uniform(-1, 1, (200, 6))
        main = np.sin(3 * rows[:, 0]) + rows[:, 1]
        noisy = AdditiveKernelRegressor().fit(rows, main + rng.normal(size=200))
        without += all(len(term) == 1 for term in noisy.terms_)
        y = main + 2 * rows[:, 2] * rows[:, 3] + 0.5 * rng.normal(size=200)
        assert (2, 3) in AdditiveKernelRegressor().fit(rows, y).terms_
    assert without >= 2


def test_size_of_the_tests_of_pairs():
    rejected = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows = rng.uniform(-1, 1, (250, 5))
        y = np.sin(3 * rows[:, 0]) + 2 * rows[:, 0] * rows[:, 1] + 0.5 * rng.normal(size=250)
        fitted = AdditiveKernelRegressor(interactions=10).fit(rows, y)
        p = {name: value for name, _, value in fitted.tests_[0]}
        assert p["x0 × x1"] < 1e-6
        null = [f"x{i} × x{j}" for i in range(5) for j in range(i + 1, 5) if (i, j) != (0, 1)]
        rejected += [p.get(name, 1.0) < 0.05 for name in null]
    assert np.mean(rejected) < 0.11  # 5 % with a standard error of 2 %


def test_named_pairs_need_not_be_significant():
    rng = np.random.default_rng(4)
    rows = rng.uniform(-1, 1, (300, 4))
    y = rows[:, 0] + 0.8 * rows[:, 2] * rows[:, 3] + rng.normal(size=300)
    named = AdditiveKernelRegressor(interactions=[(2, 3)]).fit(rows, y)
    assert (2, 3) in named.terms_
