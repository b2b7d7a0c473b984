"""Sparse additive models: the basis, optimality, weights, frames, reading, and bad input."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

from pellucid import SparseAdditiveClassifier, SparseAdditiveRegressor
from pellucid.datasets import make_synthetic
from pellucid.exceptions import NotEnoughMemoryError, UnseenLevelWarning
from pellucid.losses import as_loss
from pellucid.models.sparse_additive import base
from pellucid.models.sparse_additive.basis import smooth_columns
from pellucid.models.sparse_additive.design import AdditiveDesign, column_sums
from pellucid.solvers.group_lasso import GroupLasso


def data(n=200, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    return X, y


def labels(n=200, p=4, seed=0):
    X, y = data(n, p, seed)
    return X, (y > np.median(y)).astype(int)


def mixed(n=300, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"age": rng.normal(size=n), "job": rng.choice(["a", "b", "c"], n), "noise": rng.normal(size=n)}
    )
    y = frame["age"] ** 2 + frame["job"].map({"a": -1.0, "b": 0.0, "c": 2.0}) + 0.2 * rng.normal(size=n)
    return frame, y.to_numpy()


def dense(model, X):
    """Columns of the fitted basis, laid out, with the group of each."""
    design = AdditiveDesign.of(model._smooths_fit, list(np.asarray(X, dtype=float).T))
    return design.dense(slice(0, len(X))), design.groups


# ------------------------------------------------------------------------ basis


@pytest.mark.parametrize("kind", ["normal", "heavy", "few", "lumpy", "levels"])
def test_basis_is_centred_and_orthonormal(kind):
    rng = np.random.default_rng(1)
    x = {
        "normal": rng.normal(size=500),
        "heavy": rng.standard_cauchy(500),
        "few": rng.integers(0, 5, 500).astype(float),
        "lumpy": np.where(rng.uniform(size=500) < 0.9, 0.0, rng.exponential(size=500)),
        "levels": rng.choice([1.0, 2.0, 3.0, 0.0], 500, p=[0.6, 0.3, 0.05, 0.05]),
    }[kind]
    s = rng.integers(1, 4, 500).astype(float)
    levels = tuple("wxyz") if kind == "levels" else None
    smooth = smooth_columns(x, s, n_knots=40, n_columns=6, levels=levels)
    B = AdditiveDesign.of([smooth], [x]).dense(slice(0, 500))
    assert B.shape[1] == {"few": 4, "lumpy": 5, "levels": 3}.get(kind, 6)
    np.testing.assert_allclose(s @ B / s.sum(), 0, atol=1e-8)
    np.testing.assert_allclose(B.T @ (s[:, None] * B) / s.sum(), np.eye(B.shape[1]), atol=1e-7)
    assert smooth.density.sum() == pytest.approx(1)


def test_first_functions_are_the_smooth_ones():
    x = np.linspace(0, 1, 400)
    table = smooth_columns(x, np.ones(400), n_knots=50, n_columns=6).table[:-1]
    turns = [int((np.diff(np.sign(np.diff(f))) != 0).sum()) for f in table.T]
    assert turns == sorted(turns)
    assert abs(np.corrcoef(table[:, 0], np.linspace(0, 1, len(table)))[0, 1]) > 0.99  # nearly a straight line


def test_design_products_agree_with_columns_laid_out():
    X, _ = data(150)
    smooths = [smooth_columns(x, np.ones(150), n_knots=20, n_columns=5) for x in X.T]
    new = np.vstack([X[:50], 10 * X[50:100]])  # some beyond the knots
    design = AdditiveDesign.of(smooths, list(new.T))
    B = design.dense(slice(0, 100))
    rng = np.random.default_rng(0)
    beta, v, w = rng.normal(size=20), rng.normal(size=100), rng.uniform(size=100)
    np.testing.assert_allclose(design.apply(beta), B @ beta, atol=1e-12)
    np.testing.assert_allclose(design.transpose(v), B.T @ v, atol=1e-12)
    np.testing.assert_allclose(design.gram(w)[0], B.T @ (w[:, None] * B), atol=1e-12)
    np.testing.assert_allclose(design.gram(w)[1], B.T @ w, atol=1e-12)
    np.testing.assert_allclose(design.rows(np.arange(7)).dense(slice(0, 7)), B[:7])
    np.testing.assert_allclose(design.trimmed(2).dense(slice(0, 9)), B[:9][:, [0, 1, 5, 6, 10, 11, 15, 16]])
    sums = column_sums(smooths, list(new.T), v, w)
    part = column_sums(smooths, list(new[:30].T), v[:30], w[:30])
    rest = column_sums(smooths, list(new[30:].T), v[30:], w[30:])
    np.testing.assert_allclose((sums - part).G, rest.G, atol=1e-10)
    expected = w[30:] @ (v - B @ beta - 0.5)[30:] ** 2
    assert rest.square_error(beta[:, None], np.array([0.5]))[0] == pytest.approx(expected)


# ------------------------------------------------------------------- optimality


@pytest.mark.parametrize("alpha", [0.3, 0.05, 0.005])
def test_regressor_meets_the_optimality_conditions(alpha):
    X, y = data()
    s = np.random.default_rng(3).integers(1, 4, len(y)).astype(float)
    model = SparseAdditiveRegressor(alpha, n_basis=6).fit(X, y, s)
    B, groups = dense(model, X)
    residual = y - model.predict(X)
    assert s @ residual == pytest.approx(0, abs=1e-7)
    pull = B.T @ (s * residual) / s.sum()
    for j, g in enumerate(groups):
        beta = model._coef[g, 0]
        if model.selected_[j]:
            np.testing.assert_allclose(pull[g], alpha * beta / np.linalg.norm(beta), atol=1e-7)
        else:
            assert np.linalg.norm(pull[g]) <= alpha + 1e-7
    assert model.optimality_ < 1e-8


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("alpha", [0.05, 0.005])
def test_classifier_meets_the_optimality_conditions(loss, alpha):
    X, y = labels()
    s = np.random.default_rng(3).integers(1, 4, len(y)).astype(float)
    model = SparseAdditiveClassifier(alpha, loss=loss, n_basis=5).fit(X, y, s)
    B, groups = dense(model, X)
    v = s / s.sum() * as_loss(loss).gradient(y, model.decision_function(X))
    assert v.sum() == pytest.approx(0, abs=1e-6)
    for j, g in enumerate(groups):
        beta = model._coef[g, 0]
        if model.selected_[j]:
            np.testing.assert_allclose(-(B.T @ v)[g], alpha * beta / np.linalg.norm(beta), atol=1e-6)
        else:
            assert np.linalg.norm((B.T @ v)[g]) <= alpha + 1e-6


def test_held_out_error_is_that_of_refits():
    """Folds are never fitted again on rows: their error must be what fits on the rows would give."""
    X, y = data(120)
    model = SparseAdditiveRegressor(alphas=[0.02, 0.1, 0.5], n_basis=4, cv=3).fit(X, y)
    design = AdditiveDesign.of(model._smooths_fit, list(X.T))
    B = design.dense(slice(0, 120))
    expected = np.zeros(3)
    for train, test in KFold(3, shuffle=True, random_state=0).split(X):
        C, t = B[train] - B[train].mean(0), y[train] - y[train].mean()
        lasso = GroupLasso(C.T @ C / len(train), design.groups)
        for k, alpha in enumerate([0.5, 0.1, 0.02]):
            beta = lasso.solve(C.T @ t / len(train), alpha).coef
            fitted = y[train].mean() + (B[test] - B[train].mean(0)) @ beta
            expected[k] += np.sum((y[test] - fitted) ** 2) / 120
    np.testing.assert_allclose(model.path_.error, expected, rtol=1e-4)
    assert model.path_.best == np.argmin(expected)
    assert model.alpha_ == [0.5, 0.1, 0.02][model.path_.best]


# ------------------------------------------------------------------- the model


def test_finds_the_features_of_a_known_function():
    d = make_synthetic(1, 800, random_state=0)
    X = np.hstack([d.data, np.random.default_rng(0).normal(size=(800, 10))])
    model = SparseAdditiveRegressor().fit(X, d.target)
    assert sorted(model.importances_.top(4)) == ["x0", "x1", "x2", "x3"]
    assert set(model.path_.entered()[:4]) == {"x0", "x1", "x2", "x3"}
    assert model.path_.n_terms[0] == 0


def test_effects_are_the_true_functions():
    d = make_synthetic(1, 3000, noise=0.1, random_state=0)
    model = SparseAdditiveRegressor().fit(d.data, d.target)
    truth = [lambda x: -2 * np.sin(2 * x), np.square, lambda x: x, lambda x: np.exp(-x)]
    for j, f in enumerate(truth):
        effect = model.effects_[f"x{j}"]
        x = effect.grids[0].points
        expected = f(x) - np.average(f(d.data[:, j]))
        inner = np.abs(x) < 1.5
        np.testing.assert_allclose(effect.values[inner], expected[inner], atol=0.15)


@pytest.mark.parametrize("frame", [False, True])
def test_contributions_sum_to_the_predictor(frame):
    X, y = mixed() if frame else data()
    model = SparseAdditiveRegressor(n_basis=5).fit(X, y)
    parts = model.contributions(X)
    assert parts.shape == (len(y), len(model.terms_))
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, model.predict(X), atol=1e-10)
    np.testing.assert_allclose(parts.mean(axis=0), 0, atol=1e-7)
    np.testing.assert_allclose(np.sqrt(np.mean(parts**2, axis=0)), model.importances_.values, rtol=1e-6)
    assert model.term_names_ == list(model.effects_)
    assert [model.path_.names[t[0]] for t in model.terms_] == model.term_names_


def test_effects_agree_with_contributions():
    X, y = mixed()
    model = SparseAdditiveRegressor(0.01, n_basis=5).fit(X, y)
    effect = model.effects_["age"]
    at = pd.DataFrame({"age": effect.grids[0].points, "job": "a", "noise": 0.0})
    np.testing.assert_allclose(model.contributions(at)[:, model.term_names_.index("age")], effect.values)
    jobs = model.effects_["job"]
    assert jobs.grids[0].labels() == ["a", "b", "c"]
    at = pd.DataFrame({"age": 0.0, "job": ["a", "b", "c"], "noise": 0.0})
    np.testing.assert_allclose(model.contributions(at)[:, model.term_names_.index("job")], jobs.values)
    assert np.all(np.diff(jobs.values) > 0.5)


def test_unknown_level_has_the_mean_effect():
    X, y = mixed()
    model = SparseAdditiveRegressor(0.01, n_basis=5).fit(X, y)
    new = X.iloc[:3].assign(job="unheard of")
    with pytest.warns(UnseenLevelWarning, match="'unheard of'"):
        assert np.all(model.contributions(new)[:, model.term_names_.index("job")] == 0)


def test_constant_beyond_the_training_range():
    X, y = data()
    model = SparseAdditiveRegressor(0.01, n_basis=5).fit(X, y)
    high = X.max(axis=0)
    np.testing.assert_allclose(model.predict([high]), model.predict([100 * np.abs(high) + high]))


def test_heavy_tails():
    rng = np.random.default_rng(0)
    X = rng.standard_cauchy(size=(600, 3))
    y = np.tanh(X[:, 0]) + 0.1 * rng.normal(size=600)
    model = SparseAdditiveRegressor().fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > 0.95


# ---------------------------------------------------------------- metamorphic


@pytest.mark.parametrize("kind", [SparseAdditiveRegressor, SparseAdditiveClassifier])
def test_weight_two_is_the_row_twice(kind):
    X, y = data() if kind is SparseAdditiveRegressor else labels()
    s = np.random.default_rng(0).integers(0, 3, len(y))
    a = kind(0.02, n_basis=5).fit(X, y, s)
    b = kind(0.02, n_basis=5).fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    score = "predict" if kind is SparseAdditiveRegressor else "decision_function"
    np.testing.assert_allclose(getattr(a, score)(X), getattr(b, score)(X), atol=1e-6)
    np.testing.assert_allclose(a.importances_.values, b.importances_.values, atol=1e-6)


def test_order_of_rows_and_columns():
    X, y = data()
    model = SparseAdditiveRegressor(0.02, n_basis=5).fit(X, y)
    turned = SparseAdditiveRegressor(0.02, n_basis=5).fit(X[::-1, ::-1], y[::-1])
    np.testing.assert_allclose(turned.predict(X[:, ::-1]), model.predict(X), atol=1e-7)


def test_scale_of_features_and_target():
    X, y = data()
    model = SparseAdditiveRegressor(0.02, n_basis=5).fit(X, y)
    scaled = SparseAdditiveRegressor(2.0, n_basis=5).fit(
        X * [1e6, 1e-6, 3, 1] + [0, 0, 1e3, 0], 100 * y + 1e5
    )
    np.testing.assert_allclose(
        (scaled.predict(X * [1e6, 1e-6, 3, 1] + [0, 0, 1e3, 0]) - 1e5) / 100, model.predict(X), atol=1e-6
    )


def test_smaller_alpha_fits_closer():
    X, y = data()
    scores = [SparseAdditiveRegressor(a, n_basis=5).fit(X, y).score(X, y) for a in (1.0, 0.1, 0.01, 1e-3)]
    assert scores == sorted(scores)


def test_classes_swapped():
    X, y = labels()
    a = SparseAdditiveClassifier(0.01, n_basis=4).fit(X, y)
    b = SparseAdditiveClassifier(0.01, n_basis=4).fit(X, 1 - y)
    np.testing.assert_allclose(a.decision_function(X), -b.decision_function(X), atol=1e-5)


def test_frames_of_both_libraries():
    polars = pytest.importorskip("polars")
    X, y = mixed()
    a = SparseAdditiveRegressor(0.02, n_basis=4).fit(X, y)
    b = SparseAdditiveRegressor(0.02, n_basis=4).fit(polars.DataFrame(X.to_dict("list")), y)
    c = SparseAdditiveRegressor(0.02, n_basis=4).fit(X.astype({"job": "category"}), y)
    np.testing.assert_allclose(a.predict(X), b.predict(polars.DataFrame(X.to_dict("list"))))
    np.testing.assert_allclose(a.predict(X), c.predict(X.astype({"job": "category"})))
    assert a.categorical_.tolist() == [False, True, False]


def test_constant_and_duplicate_columns():
    X, y = data()
    plain = SparseAdditiveRegressor(0.02, n_basis=5).fit(X, y)
    more = SparseAdditiveRegressor(0.02, n_basis=5).fit(
        np.column_stack([X, np.full(len(X), 7.0), X[:, 0]]), y
    )
    assert not more.selected_[4]
    np.testing.assert_allclose(
        more.predict(np.column_stack([X, np.full(len(X), 7.0), X[:, 0]])), plain.predict(X), atol=1e-5
    )


def test_only_constant_columns():
    y = np.arange(20.0)
    model = SparseAdditiveRegressor().fit(np.ones((20, 2)), y)
    assert model.terms_ == []
    assert model.contributions(np.ones((3, 2))).shape == (3, 0)
    np.testing.assert_allclose(model.predict(np.zeros((3, 2))), y.mean())
    assert "in the model" in str(model.summary())


def test_everything_shrunk_away():
    X, y = data()
    model = SparseAdditiveRegressor(1e3).fit(X, y)
    assert not model.selected_.any()
    np.testing.assert_allclose(model.predict(X), y.mean())


# ---------------------------------------------------------------- classification


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_classifier_finds_the_boundary(loss):
    X, y = labels(600)
    model = SparseAdditiveClassifier(loss=loss).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > 0.85
    assert set(model.importances_.top(2)) == {"x0", "x1"}
    assert hasattr(model, "predict_proba") == (loss == "logistic")


def test_probabilities():
    X, y = labels()
    model = SparseAdditiveClassifier(0.01, n_basis=4).fit(X, y)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P[:, 1], 1 / (1 + np.exp(-model.decision_function(X))))
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert P[:, 1].mean() == pytest.approx(y.mean(), abs=1e-6)  # the intercept is not penalised


def test_several_classes():
    X, y = data(300)
    y = np.array(["low", "middle", "high"])[np.digitize(y, np.quantile(y, [0.3, 0.7]))]
    model = SparseAdditiveClassifier(0.01, n_basis=4).fit(X, y)
    assert model.intercept_.shape == (3,)
    parts = model.contributions(X)
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, model.decision_function(X), atol=1e-10)
    assert model.effects_["x0"].outputs == ("high", "low", "middle")
    assert model.effects_["x0"].values.shape[1] == 3
    assert model.score(X, y) > 0.7
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    one = SparseAdditiveClassifier(0.01, n_basis=4).fit(X, y == "low")
    np.testing.assert_allclose(model.decision_function(X)[:, 1], one.decision_function(X), atol=1e-5)


def test_separated_classes():
    X = np.linspace(-1, 1, 60)[:, None]
    model = SparseAdditiveClassifier(1e-4, n_basis=4).fit(X, X[:, 0] > 0)
    assert model.score(X, X[:, 0] > 0) == 1
    assert np.all(np.isfinite(model.decision_function(X)))


# -------------------------------------------------------------------- reporting


def test_summary_and_path_print():
    X, y = data()
    model = SparseAdditiveRegressor().fit(X, y)
    text = str(model.summary())
    assert "chosen on folds" in text
    assert "held-out loss" in text
    assert str(model.path_).count("\n") == len(model.path_.alphas)
    assert "<" in str(model.path_)
    given = SparseAdditiveRegressor(0.1, n_basis=4).fit(X, y)
    assert "given" in str(given.summary())
    assert given.path_.error is None
    assert "held-out" not in str(given.path_)


def test_number_of_functions_is_chosen():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(1000, 1))
    wiggly = SparseAdditiveRegressor().fit(x, np.sin(40 * x[:, 0]) + 0.1 * rng.normal(size=1000))
    straight = SparseAdditiveRegressor().fit(x, x[:, 0] + 0.5 * rng.normal(size=1000))
    assert wiggly.n_basis_ == 16
    assert straight.n_basis_ == 4
    fixed = SparseAdditiveRegressor(0.01).fit(x, np.sin(40 * x[:, 0]))
    assert fixed.n_basis_ == 16
    assert fixed.alpha_ == 0.01


def test_folds_that_leave_rows_out():
    X, y = data(90)
    folds = [(np.arange(40), np.arange(40, 60)), (np.arange(50, 90), np.arange(50))]
    model = SparseAdditiveRegressor(n_basis=4, cv=folds).fit(X, y)
    assert model.alpha_ > 0


# -------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": -1.0}, "alpha must be positive"),
        ({"alpha": "loo"}, "alpha must be a positive number or 'cv', got 'loo'"),
        ({"alpha": [0.1, 0.2]}, "Candidates go into alphas="),
        ({"alphas": [0.0]}, "alphas must be positive"),
        ({"n_basis": 0}, "n_basis must be a whole number of at least 1"),
        ({"n_basis": "many"}, "n_basis must be a whole number or 'cv'"),
        ({"n_knots": 2}, "n_knots must be a whole number of at least 3"),
        ({"cv": 500}, "Pass fewer folds"),
        ({"cv": []}, "cv must give folds"),
    ],
)
def test_bad_parameters(options, words):
    X, y = data()
    with pytest.raises(ValueError, match=words):
        SparseAdditiveRegressor(**options).fit(X, y)


def test_bad_loss_and_one_class():
    X, y = labels()
    with pytest.raises(ValueError, match=r"the loss 'hinge'\. Known names: logistic, squared_hinge\."):
        SparseAdditiveClassifier(loss="hinge").fit(X, y)
    with pytest.raises(ValueError, match="only one class"):
        SparseAdditiveClassifier().fit(X, np.ones(len(y)))
    with pytest.raises(ValueError, match="only one class"):
        SparseAdditiveClassifier().fit(X, y, sample_weight=(y == 1).astype(float))
    with pytest.raises(ValueError, match="target y is None"):
        SparseAdditiveClassifier().fit(X, None)


def test_missing_values_are_named():
    X, y = mixed()
    with pytest.raises(ValueError, match=r"missing values in columns \['job'\]"):
        SparseAdditiveRegressor().fit(X.assign(job=X["job"].where(X["age"] > -1, None)), y)
    with pytest.raises(ValueError, match=r"missing values in columns \['age'\]"):
        SparseAdditiveRegressor().fit(X.assign(age=X["age"].where(X["age"] > -1)), y)
    with pytest.raises(ValueError, match=r"infinity .* in columns \['age'\]"):
        SparseAdditiveRegressor().fit(X.assign(age=np.inf), y)


def test_columns_that_changed_kind():
    X, y = mixed()
    model = SparseAdditiveRegressor(0.1, n_basis=4).fit(X, y)
    with pytest.raises(ValueError, match=r"'age' held numbers in training, and holds 'old' now"):
        model.predict(X.assign(age="old"))
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(X.iloc[:0])


def test_memory_is_checked_beforehand(monkeypatch):
    X, y = data()
    monkeypatch.setattr(base, "available_memory", lambda: 1000)
    with pytest.raises(NotEnoughMemoryError, match="lower n_basis"):
        SparseAdditiveRegressor().fit(X, y)
