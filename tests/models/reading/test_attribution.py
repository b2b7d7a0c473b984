"""Shapley values of every machine against their definition."""

import numpy as np
import pandas as pd
import pytest
from shapley_oracle import by_definition, product_rows
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid import (
    AdditiveKernelClassifier,
    AdditiveKernelRegressor,
    InterpretableKernelRegressor,
    ISKClassifier,
    ISKRegressor,
    KernelClassifier,
    KernelFisherDiscriminant,
    KernelGLMRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    LooSearch,
    SparseAdditiveRegressor,
    shapley_values,
    sobol_shares,
)
from pellucid.kernels import RBF, Categorical, Constant, Linear, Matern, Spectrum

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 4))
SIGNAL = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * X[:, 3]
NUMBERS = SIGNAL + 0.1 * rng.normal(size=90)
COUNTS = rng.poisson(np.exp(0.5 * SIGNAL)).astype(float)
LABELS = np.array(["a", "b"])[(SIGNAL > 0).astype(int)]
THREE = np.array(["a", "b", "c"])[np.digitize(SIGNAL, [-0.6, 0.6])]
FIXED = {"sigma": 1.5, "alpha": 0.1, "sparse_alpha": 1e-3, "l1_ratio": 0.5, "n_components": 8}

MIXED = RBF(1.5) * Linear() + 2 * Matern(1.0).on([3]) + 1.0
MODELS = [
    (KernelRidge("rbf", alpha=0.1), NUMBERS),
    (KernelRidge("rbf", alpha=0.1), np.column_stack([NUMBERS, COUNTS])),
    (KernelRidge("additive_pairs", alpha=0.1), NUMBERS),
    (KernelRidge("linear", alpha=0.1), NUMBERS),
    (KernelRidge(MIXED, alpha=0.1), NUMBERS),
    (KernelRidge(Constant(2.0) * RBF(1.0), alpha=0.1, fit_intercept=False), NUMBERS),
    (KernelRidgeClassifier(RBF(1.5), alpha=0.1), THREE),
    (KernelFisherDiscriminant(RBF(1.5), alpha=0.1), THREE),
    (KernelFisherDiscriminant(RBF(1.5), alpha=0.1), LABELS),
    (KernelGLMRegressor(RBF(1.5), alpha=0.1), COUNTS),
    (KernelGLMRegressor(RBF(1.5), loss="squared", alpha=0.1, n_components=20), NUMBERS),
    (KernelClassifier(RBF(1.5), alpha=0.1), LABELS),
    (InterpretableKernelRegressor(RBF(3.0), loss="poisson", alpha=1.0), COUNTS),
    (ISKRegressor(**FIXED), NUMBERS),
    (ISKClassifier(**FIXED), THREE),
    (SparseAdditiveRegressor(alpha=1e-2, n_basis=8), NUMBERS),
    (AdditiveKernelRegressor([(1, 2), (0, 3)]), NUMBERS),
    (AdditiveKernelRegressor([(1, 2)], loss="poisson"), COUNTS),
    (AdditiveKernelClassifier([(1, 2), (1, 3)]), THREE),
    (LooSearch(KernelRidge("rbf"), {"alpha": [0.1, 1.0]}), NUMBERS),
    (make_pipeline(StandardScaler(), Ridge()), NUMBERS),
    (make_pipeline(StandardScaler(), KernelRidge("rbf", alpha=0.1)), NUMBERS),
]


def predictor_of(model):
    if hasattr(model, "decision_function"):
        return model.decision_function
    counts = getattr(model, "loss_", None) is not None and model.loss_.name == "poisson"
    return (lambda rows: np.log(model.predict(rows))) if counts else model.predict


@pytest.mark.parametrize(("model", "y"), MODELS, ids=lambda v: str(v)[:60] if hasattr(v, "fit") else "")
@pytest.mark.filterwarnings("ignore::pellucid.exceptions.FidelityWarning")
def test_values_are_those_of_the_definition(model, y):
    predictor = predictor_of(model.fit(X, y))
    rows, some = X[:3], X[20:25]
    for independent, Z in ((False, some), (True, product_rows(some[:3]))):
        found = shapley_values(model, rows, some[:3] if independent else some, independent=independent)
        values, base = by_definition(predictor, rows, Z)
        assert np.allclose(found.values.reshape(values.shape), values, rtol=1e-8, atol=1e-8)
        assert np.allclose(found.base, base, rtol=1e-8, atol=1e-8)
        assert np.allclose(found.predictor, predictor(rows), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kernel", ["rbf", "additive_pairs"])
def test_twelve_features(kernel):
    X = np.random.default_rng(1).uniform(-1, 1, size=(25, 12))
    model = KernelRidge(kernel, alpha=1e-3).fit(X, np.prod(1 + X[:, :6], axis=1) - X[:, 6] * X[:, 11])
    values, base = by_definition(model.predict, X[:1], X[3:5])
    found = shapley_values(model, X[:1], X[3:5])
    assert np.abs(found.values - values[:, :, 0]).max() < 1e-8
    assert abs(found.base - base[0]) < 1e-8


def test_many_features_add_up():
    X = np.random.default_rng(1).normal(size=(30, 300))
    model = KernelRidge(RBF(10.0), alpha=1e-3).fit(X, X[:, 0] + X[:, 1] ** 2)
    found = shapley_values(model, X[:2], X[2:12])
    assert np.allclose(found.predictor, model.predict(X[:2]), rtol=1e-10)
    assert found.base == pytest.approx(model.predict(X[2:12]).mean(), rel=1e-10)
    assert np.allclose(shapley_values(model, X[:2]).predictor, model.predict(X[:2]), rtol=1e-10)


def test_without_a_background_kernels_compare_with_their_training_rows_by_weight():
    few, y, weight = X[:4, :3], NUMBERS[:4], np.array([1.0, 2.0, 0.0, 1.0])
    model = KernelRidge(RBF(1.0), alpha=0.1, weights="counts").fit(few, y, weight)
    written_out = product_rows(few[[0, 1, 1, 3]])
    values, base = by_definition(model.predict, few[:2], written_out)
    found = shapley_values(model, few[:2])
    assert np.allclose(found.values, values[:, :, 0], atol=1e-10)
    assert found.base == pytest.approx(base[0])
    whole = shapley_values(model, few[:2], independent=False)
    assert whole.base == pytest.approx(weight @ model.predict(few) / 4)


@pytest.mark.parametrize(
    "model", [AdditiveKernelRegressor([(1, 2)]), SparseAdditiveRegressor(1e-2, n_basis=8)]
)
def test_centred_terms_give_the_curve_and_half_of_each_surface(model):
    model.fit(X, NUMBERS)
    found, parts = shapley_values(model, X[:5]), model.contributions(X[:5])
    assert found.base == model.intercept_
    for j in range(4):
        halves = sum(parts[:, t] / len(term) for t, term in enumerate(model.terms_) if j in term)
        assert np.allclose(found.values[:, j], halves)
    against = shapley_values(
        model, X[:5], X, independent=True
    )  # the distribution that they are centred under
    assert np.allclose(found.values, against.values, atol=1e-10)
    assert found.base == pytest.approx(against.base)


def test_tables_with_categories_and_missing_values():
    frame = pd.DataFrame({"a": X[:, 0], "kind": np.where(X[:, 1] > 0, "up", "down"), "b": X[:, 2]})
    y = X[:, 0] * np.where(X[:, 1] > 0, 1.0, -1.0)
    kernel = RBF().on(["a", "b"]) * Categorical(0.3).on(["kind"])
    ridge = KernelRidge(kernel, alpha=0.1).fit(frame, y)
    holes = frame.assign(b=frame["b"].mask(X[:, 3] > 1))
    additive = AdditiveKernelRegressor([("a", "kind")]).fit(holes, y)
    for model, table in ((ridge, frame), (additive, holes)):

        def predictor(rows, model=model):
            return model.predict(pd.DataFrame(rows, columns=frame.columns).infer_objects())

        cells = table.to_numpy(dtype=object)
        values, _ = by_definition(predictor, cells[:2], cells[50:54])
        found = shapley_values(model, table[:2], table[50:54])
        assert found.names == ("a", "kind", "b")
        assert np.allclose(found.values, values[:, :, 0], atol=1e-8)
        assert "kind = " in str(found.explanation(1))


def test_objects_are_one_feature():
    words = ["banana", "ananas", "bandana", "cabana", "panama", "savanna"]
    model = KernelRidge(Spectrum(k=2), alpha=0.1).fit(words, np.arange(6.0))
    found = shapley_values(model, words[:2], words)
    assert np.allclose(found.values[:, 0], model.predict(words[:2]) - model.predict(words).mean())


def test_float32_and_extreme_units():
    model = KernelRidge("rbf", alpha=0.1).fit(X.astype(np.float32), 1e12 * NUMBERS.astype(np.float32))
    found = shapley_values(model, X[:3].astype(np.float32), X.astype(np.float32))
    assert np.allclose(found.predictor, model.predict(X[:3].astype(np.float32)), rtol=1e-5)
    assert np.all(np.isfinite(found.values))


def test_what_cannot_be_done_is_refused():
    with pytest.raises(ValueError, match=r"compares 4 columns at once.*Matern\(\)\.on"):
        shapley_values(KernelRidge("matern", alpha=1.0).fit(X, NUMBERS), X[:1])
    with pytest.raises(ValueError, match="keeps only its landmarks"):
        shapley_values(KernelGLMRegressor(RBF(), alpha=1.0, n_components=9).fit(X, COUNTS), X[:1])
    with pytest.raises(ValueError, match="precomputed"):
        shapley_values(KernelRidge("precomputed").fit(X @ X.T, NUMBERS), X @ X.T)
    with pytest.raises(ValueError, match="pass rows"):
        shapley_values(ISKRegressor(**FIXED).fit(X, NUMBERS), X[:1])
    with pytest.raises(ValueError, match="pass them as background"):
        shapley_values(AdditiveKernelRegressor(0).fit(X, NUMBERS), X[:1], independent=False)
    with pytest.raises(ValueError, match="does not know the means"):
        shapley_values(Ridge().fit(X, NUMBERS), X[:1])
    with pytest.raises(ValueError, match="4 features like X"):
        shapley_values(Ridge().fit(X, NUMBERS), X[:1], X[:, :2])


def test_one_row_and_importances():
    model = KernelRidgeClassifier(RBF(1.5), alpha=0.1).fit(X, THREE)
    found = shapley_values(model, X[:6], X)
    assert found.outputs == ("a", "b", "c")
    one = found.explanation(2)
    assert one.output == model.predict(X[[2]])[0]
    assert one.total == pytest.approx(
        model.decision_function(X[[2]])[0, list(found.outputs).index(one.output)]
    )
    assert np.allclose(found.importances.values, np.abs(found.values).mean(axis=(0, 2)))
    assert found.of("b").base == found.base[1]
    assert "background rows" in str(found)
    assert "<table>" in found._repr_html_()
    with pytest.raises(ValueError, match="no output 'd'; there are a, b, c"):
        found.of("d")


# ------------------------------------------------------------------------- Sobol
def variances_by_definition(predictor, Z):
    """First-order and total variances, and the whole one, from the predictor on the grid of all values."""
    b, p = Z.shape
    grid = np.asarray(predictor(product_rows(Z)), dtype=float).reshape(*(b,) * p, -1)
    whole = grid.var(axis=tuple(range(p)))
    rest = [tuple(a for a in range(p) if a != j) for j in range(p)]
    first = np.array([grid.mean(axis=others).var(axis=0) for others in rest])
    return first, np.array([grid.var(axis=j).mean(axis=tuple(range(p - 1))) for j in range(p)]), whole


@pytest.mark.parametrize(("model", "y"), MODELS, ids=lambda v: str(v)[:60] if hasattr(v, "fit") else "")
@pytest.mark.filterwarnings("ignore::pellucid.exceptions.FidelityWarning")
def test_sobol_shares_are_those_of_the_definition(model, y):
    predictor = predictor_of(model.fit(X, y))
    Z = X[30:34]
    first, total, whole = variances_by_definition(predictor, Z)
    found = sobol_shares(model, Z)
    assert np.allclose(found.variance, whole, rtol=1e-7)
    assert np.allclose(found.first.reshape(first.shape), first / whole, atol=1e-8)
    assert np.allclose(found.total.reshape(first.shape), total / whole, atol=1e-8)
    assert np.allclose(found.interactions, 1 - (first / whole).sum(axis=0), atol=1e-7)


def test_sobol_shares_under_the_training_rows():
    few, y, weight = X[:4, :3], NUMBERS[:4], np.array([1.0, 2.0, 0.0, 1.0])
    model = KernelRidge(RBF(1.0), alpha=0.1, weights="counts").fit(few, y, weight)
    first, total, whole = variances_by_definition(model.predict, few[[0, 1, 1, 3]])
    found = sobol_shares(model)
    assert np.allclose(found.first, first[:, 0] / whole)
    assert np.allclose(found.total, total[:, 0] / whole)
    assert "with others" in str(found)
    flat = sobol_shares(KernelRidge(alpha=1.0).fit(X, np.ones(90)))
    assert np.all(flat.first == 0)
    with pytest.raises(ValueError, match="pass them as background"):
        sobol_shares(AdditiveKernelRegressor(0).fit(X, NUMBERS))
