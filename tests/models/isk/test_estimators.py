"""ISK: what the two phases promise, on small data, against formulas and against themselves."""

import numpy as np
import pytest
from sklearn.linear_model import ElasticNet, Ridge

from pellucid import ISKClassifier, ISKRegressor
from pellucid.exceptions import SearchWarning
from pellucid.features import PairwiseFourierFeatures
from pellucid.models.isk import ridge

RNG = np.random.default_rng(0)
N, D = 300, 4
X = RNG.normal(size=(N, D))
F = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
Y = F + 0.1 * RNG.normal(size=N)
C = (F > 0).astype(int)
THREE = np.digitize(F, [-0.7, 0.7])
FIXED = {"sigma": 1.5, "alpha": 0.01, "sparse_alpha": 0.001, "l1_ratio": 0.9}
NEW = RNG.normal(size=(50, D))
MODELS = {
    "regression": (ISKRegressor(**FIXED), Y),
    "logistic": (ISKClassifier(**FIXED), C),
    "hinge": (ISKClassifier(loss="hinge", **FIXED), C),
    "squared_hinge": (ISKClassifier(loss="squared_hinge", **FIXED), C),
    "three": (ISKClassifier(**FIXED), THREE),
}


def predictor(model, X):
    return model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)


@pytest.fixture(scope="module", params=MODELS)
def fitted(request):
    model, y = MODELS[request.param]
    return model.fit(X, y)


# ---------------------------------------------------------------------- laws
def test_contributions_sum_to_the_predictor(fitted):
    parts = fitted.contributions(NEW)
    assert parts.shape[:2] == (50, len(fitted.terms_))
    np.testing.assert_allclose(parts.sum(axis=1) + fitted.intercept_, predictor(fitted, NEW), atol=1e-10)


def test_components_are_centred_with_unit_variance_on_training_rows(fitted):
    parts = fitted.contributions(X).reshape(N, len(fitted.terms_), -1)
    beta = fitted._beta
    used = beta != 0
    standard = parts[:, used] / beta[used]
    np.testing.assert_allclose(standard.mean(axis=0), 0.0, atol=1e-7)
    np.testing.assert_allclose(standard.std(axis=0), 1.0, atol=1e-7)


def test_importances_are_absolute_coefficients(fitted):
    assert list(fitted.importances_.names) == fitted.term_names_
    np.testing.assert_array_equal(fitted.importances_.values, np.abs(fitted._beta).max(axis=1))
    assert fitted.importances_.relative.max() == 1.0


def test_effects_are_the_contributions_in_original_units(fitted):
    effects = fitted.effects_
    assert list(effects) == fitted.term_names_
    for k, term in enumerate(fitted.terms_):
        effect = effects[fitted.term_names_[k]]
        assert effect.density.sum() == pytest.approx(1.0)
        assert effect.values.shape[: len(term)] == tuple(len(g) for g in effect.grids)
        at = np.zeros((len(effect.grids[0]), D))
        at[:, term[0]] = effect.grids[0].points
        if len(term) == 2:
            at[:, term[1]] = effect.grids[1].points[3]
        column = effect.values if len(term) == 1 else effect.values[:, 3]
        np.testing.assert_allclose(fitted.contributions(at)[:, k], column, atol=1e-10)


@pytest.mark.parametrize("against", ["marginals", "joint"])
def test_pure_effects_have_the_same_sum(fitted, against):
    pure = fitted.effects(purify=True, against=against)
    raw = fitted.effects_

    def at(effects, place):
        return sum(e.values[tuple(place[j] for j in e.term)] for e in effects.values())

    places = np.random.default_rng(1).integers(0, 40, size=(20, D))
    shift = np.array([at(raw, p) - at(pure, p) for p in places])
    np.testing.assert_allclose(shift, np.broadcast_to(shift[0], shift.shape), atol=1e-8)


def test_summary_names_what_was_used(fitted):
    text = str(fitted.summary())
    assert "sigma" in text
    assert "1.5 (given)" in text
    assert f"{len(fitted.terms_)} of 10" in text


# -------------------------------------------------------------------- oracles
def test_regression_is_ridge_then_elastic_net():
    """The method in a dozen lines: features, ridge, split, standardise, elastic net."""
    model = ISKRegressor(**FIXED).fit(X, Y)
    U = model._scaler.apply(X)
    maker = PairwiseFourierFeatures(20, sigma=1.5, dtype="float64").fit(U)
    Z = maker.transform(U)
    w = Ridge(alpha=0.01).fit(Z, Y).coef_.reshape(6, 10, 2)
    parts, scale = np.zeros((N, 10)), np.sqrt(2 / (6 * 20))
    for k, (p, q) in enumerate(maker.pairs_):
        for i, (w1, w2) in enumerate(maker.frequencies_):
            for f, v in ((np.cos, scale * w[k, i, 0]), (np.sin, scale * w[k, i, 1])):
                a, b = f(w1 * U[:, p]), f(w2 * U[:, q])
                parts[:, p] += v * a
                parts[:, q] += v * b
                parts[:, 4 + k] += v * (f(w1 * U[:, p] + w2 * U[:, q]) - a - b)
    parts = (parts - parts.mean(axis=0)) / parts.std(axis=0)
    net = ElasticNet(alpha=0.001, l1_ratio=0.9, tol=1e-12, max_iter=100_000).fit(parts, Y)
    np.testing.assert_allclose(model.predict(X), net.predict(parts), atol=1e-6)
    every = [(p,) for p in range(4)] + maker.pairs_
    assert model.terms_ == [t for t, b in zip(every, net.coef_, strict=True) if b != 0]


def test_it_finds_the_terms_that_are_there():
    model = ISKRegressor().fit(X, Y)
    assert model.score(NEW, np.sin(2 * NEW[:, 0]) + NEW[:, 1] * NEW[:, 2]) > 0.9
    assert set(model.importances_.top(2)) == {"x0", "x1 × x2"}
    assert ISKClassifier(cv=3).fit(X, C).score(NEW, np.sin(2 * NEW[:, 0]) + NEW[:, 1] * NEW[:, 2] > 0) > 0.85


# ------------------------------------------------------------------ agreement
@pytest.mark.parametrize("kind", ["regression", "logistic", "squared_hinge", "hinge"])
def test_primal_and_dual_agree(monkeypatch, kind):
    model, y = MODELS[kind]
    found = {}
    for solver in ("primal", "dual"):
        monkeypatch.setattr(ridge.Setup, "is_dual", lambda self, F, s=solver: s == "dual")
        found[solver] = model.fit(X, y)
        assert model.solver_ == solver
        found[solver] = predictor(model, NEW)
    np.testing.assert_allclose(found["primal"], found["dual"], atol=1e-6)


@pytest.mark.parametrize("kind", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_large_and_small_problems_are_solved_alike(monkeypatch, kind, solver):
    model, y = MODELS[kind]
    exact = model.fit(X, y).decision_function(NEW)
    monkeypatch.setattr(ridge, "_EXACT", 0.0)  # float32 features and iterative solvers
    monkeypatch.setattr(ridge.Setup, "is_dual", lambda self, F: solver == "dual")
    rough = model.fit(X, y).decision_function(NEW)
    assert np.corrcoef(exact, rough)[0, 1] > 0.9999
    assert np.abs(exact - rough).max() < 0.05 * np.ptp(exact)


def test_float32_regression_is_near(monkeypatch):
    exact = ISKRegressor(**FIXED).fit(X, Y).predict(NEW)
    monkeypatch.setattr(ridge, "_EXACT", 0.0)
    np.testing.assert_allclose(ISKRegressor(**FIXED).fit(X, Y).predict(NEW), exact, atol=0.02)


@pytest.mark.parametrize("kind", ["regression", "logistic"])
def test_blocks_of_rows_change_nothing(monkeypatch, kind):
    from pellucid.models.isk import rows

    model, y = MODELS[kind]
    options = {"sparse_alpha": "cv", "cv": 3}
    whole = model.set_params(**options).fit(X, y)
    expected = predictor(whole, NEW)
    monkeypatch.setattr(rows, "_BLOCK", 20_000)
    monkeypatch.setattr(rows, "_KEEP", 0)
    monkeypatch.setattr(ridge, "_WHOLE", 20_000)
    blocked = model.fit(X, y)
    model.set_params(sparse_alpha=FIXED["sparse_alpha"])
    np.testing.assert_allclose(predictor(blocked, NEW), expected, atol=1e-7)


# ---------------------------------------------------------------- metamorphic
@pytest.mark.parametrize("kind", list(MODELS))
def test_weight_two_is_the_row_twice(kind):
    model, y = MODELS[kind]
    copies = np.random.default_rng(5).integers(0, 3, N)
    rows = np.repeat(np.arange(N), copies)
    one = predictor(model.fit(X, y, sample_weight=copies), NEW)
    many = predictor(model.fit(X[rows], y[rows]), NEW)
    # the hinge losses stop at a small gap, so that rounding shows
    np.testing.assert_allclose(one, many, atol=1e-4 if kind == "hinge" else 1e-6)


def test_weights_count_in_cross_validation_too():
    copies = np.random.default_rng(5).integers(0, 3, N)
    rows = np.repeat(np.arange(N), copies)

    def folds(row):
        return [(np.flatnonzero(row % 3 != f), np.flatnonzero(row % 3 == f)) for f in range(3)]

    one = ISKRegressor(cv=folds(np.arange(N))).fit(X, Y, sample_weight=copies)
    many = ISKRegressor(cv=folds(rows)).fit(X[rows], Y[rows])
    assert one.sigma_ == pytest.approx(many.sigma_)
    assert one.alpha_ == pytest.approx(many.alpha_)
    assert one.sparse_alpha_ == pytest.approx(many.sparse_alpha_)
    np.testing.assert_allclose(one.predict(NEW), many.predict(NEW), atol=1e-6)


def test_shifted_and_scaled_targets():
    lasso = FIXED | {"l1_ratio": 1.0}  # absolute values grow with the target, squares with its square
    plain = ISKRegressor(**lasso).fit(X, Y)
    moved = ISKRegressor(**lasso | {"sparse_alpha": 8 * FIXED["sparse_alpha"]}).fit(X, 8.0 * Y + 1000.0)
    assert moved.terms_ == plain.terms_
    np.testing.assert_allclose(moved.predict(NEW), 8.0 * plain.predict(NEW) + 1000.0, rtol=1e-8)


def test_columns_can_be_rescaled():
    plain = ISKRegressor(**FIXED).fit(X, Y)
    scaled = ISKRegressor(**FIXED).fit(X * [1e6, 1e-3, 5.0, 1.0] + 7.0, Y)
    np.testing.assert_allclose(
        scaled.predict(NEW * [1e6, 1e-3, 5.0, 1.0] + 7.0), plain.predict(NEW), atol=1e-6
    )


def test_values_beyond_the_range_count_as_its_ends():
    model = ISKRegressor(**FIXED).fit(X, Y)
    far = np.vstack([X.max(axis=0), X.max(axis=0) * 1e6])
    assert model.predict(far)[0] == model.predict(far)[1]


# ----------------------------------------------------------------------- path
def test_path_of_sizes():
    model = ISKRegressor(cv=3).fit(X, Y)
    path = model.path_
    assert path.n_terms[0] <= 1
    assert path.n_terms[-1] == 10
    assert path.alphas[path.best] == model.sparse_alpha_
    assert path.n_terms[path.best] == len(model.terms_)
    assert path.error[path.best] == np.nanmin(path.error)


def test_all_terms_shrunk_away():
    model = ISKRegressor(**FIXED | {"sparse_alpha": 1e6}).fit(X, Y)
    assert model.terms_ == []
    assert model.effects_ == {} == model.effects(purify=True)
    assert model.contributions(NEW).shape == (50, 0)
    np.testing.assert_allclose(model.predict(NEW), Y.mean())
    assert "none: all terms were shrunk away" in str(model.summary())


def test_probabilities():
    model = ISKClassifier(**FIXED).fit(X, C)
    P = model.predict_proba(NEW)
    np.testing.assert_allclose(P[:, 1], 1 / (1 + np.exp(-model.decision_function(NEW))))
    P = ISKClassifier(**FIXED).fit(X, THREE).predict_proba(NEW)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    with pytest.raises(AttributeError) as caught:
        _ = ISKClassifier(loss="hinge").predict_proba
    assert "needs loss='logistic'" in str(caught.value.__cause__)
    assert "CalibratedClassifierCV" in str(caught.value.__cause__)


def test_time_that_is_up():
    with pytest.warns(SearchWarning, match="time was up before all values of sigma"):
        model = ISKRegressor(max_time=1e-9).fit(X, Y)
    assert {sigma for sigma, _, _ in model.trials_} == {model.sigma_}
    assert ISKRegressor(max_time=60.0).fit(X, Y).sigma_ == ISKRegressor().fit(X, Y).sigma_
