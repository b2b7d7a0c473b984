"""Sparse models of terms: units of targets, meaning of weights, losses, and summaries of classes."""

import numpy as np
import pytest

from pellucid import ISKClassifier, ISKRegressor, SparseAdditiveClassifier, SparseAdditiveRegressor
from pellucid.exceptions import WeightWarning

FIXED = {"sigma": 1.5, "alpha": 0.01, "sparse_alpha": 0.01, "l1_ratio": 0.9}
REGRESSORS = [ISKRegressor(n_components=10, cv=3), SparseAdditiveRegressor(cv=3)]
EVERY = [
    ISKRegressor(**FIXED),
    ISKClassifier(**FIXED),
    SparseAdditiveRegressor(0.05, n_basis=4),
    SparseAdditiveClassifier(0.02, n_basis=4),
]
CLASSIFIERS = [EVERY[1], EVERY[3]]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * X[:, 3] ** 2 + 0.2 * rng.normal(size=120)


def fitted(model, X, y, *weight):
    return model.fit(X, y > 0.3 if hasattr(model, "loss") else y, *weight)


def predictor(model, X):
    return model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)


# ----------------------------------------------------------------------- units
@pytest.mark.parametrize("c", [1e-200, 1e-60, 1e-12, 1e12, 1e160])
@pytest.mark.parametrize("model", REGRESSORS, ids=lambda m: type(m).__name__)
def test_units_of_the_target(model, c, table):
    X, y = table
    plain = model.fit(X, y)
    one = plain.predict(X), plain.terms_, plain.importances_.values, plain.path_, plain.intercept_
    parts, effects, score = plain.contributions(X), plain.effects_, plain.score(X, y)
    model.fit(X, c * y)
    np.testing.assert_allclose(model.predict(X), c * one[0], rtol=1e-9, atol=1e-9 * c)
    assert model.terms_ == one[1]
    np.testing.assert_allclose(model.importances_.values, c * one[2], rtol=1e-8)
    np.testing.assert_allclose(model.path_.alphas, c * one[3].alphas, rtol=1e-8)
    np.testing.assert_allclose(model.path_.norms[model.path_.best], c * one[3].norms[one[3].best], rtol=1e-8)
    assert model.intercept_ == pytest.approx(c * one[4], rel=1e-9)
    np.testing.assert_allclose(model.contributions(X), c * parts, rtol=1e-7, atol=1e-9 * c)
    for name, effect in model.effects_.items():
        np.testing.assert_allclose(effect.values, c * effects[name].values, rtol=1e-6, atol=1e-8 * c)
    square = c * c if 1e-60 <= c <= 1e12 else np.nan  # squared errors of the others are no numbers
    if np.isfinite(square):
        np.testing.assert_allclose(model.path_.error, square * one[3].error, rtol=1e-6)
    assert not np.any(np.isnan(model.path_.error))
    assert model.score(X, c * y) == pytest.approx(score)
    assert type(model).__name__ in str(model.summary())


def test_ratios_are_chosen_for_targets_of_unit_variance(table):
    """The squares in an elastic net have another unit than its absolute values."""
    X, y = table
    y = y[:, None].repeat(2, axis=1) @ [0.5, 0.5] + 2.0 * np.random.default_rng(1).normal(size=len(y))
    folds = [
        (np.flatnonzero(np.arange(120) % 3 != f), np.flatnonzero(np.arange(120) % 3 == f)) for f in range(3)
    ]
    found = [ISKRegressor(1.5, alpha=1e-4, cv=folds).fit(X, c * y) for c in (1.0, 1000.0)]
    scores = [model.path_.error[model.path_.best] for model in found]
    assert scores[1] == pytest.approx(1e6 * scores[0], rel=1e-6)
    l1, l2 = zip(*(np.array([m.l1_ratio_, 1 - m.l1_ratio_]) * m.sparse_alpha_ for m in found), strict=True)
    assert l1[1] == pytest.approx(1000 * l1[0], rel=1e-6)
    assert l2[1] == pytest.approx(l2[0], rel=1e-6, abs=1e-9)
    again = ISKRegressor(1.5, alpha=1e-4, sparse_alpha=found[1].sparse_alpha_, l1_ratio=found[1].l1_ratio_)
    np.testing.assert_allclose(again.fit(X, 1000 * y).predict(X), found[1].predict(X), rtol=1e-6)


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda m: type(m).__name__)
def test_targets_too_large_for_their_variance(model, table):
    X, y = table
    with pytest.raises(ValueError, match="variance overflows; choose a larger unit"):
        model.fit(X, 1e307 * y)


# --------------------------------------------------------------------- weights
@pytest.mark.parametrize("model", EVERY, ids=lambda m: type(m).__name__)
def test_equal_weights_of_any_size_are_one_model(model, table):
    X, y = table
    expected = predictor(fitted(model, X, y), X)
    for size in (0.005, 20.0, 1e12):
        with pytest.warns(WeightWarning, match="taken for precisions"):
            found = predictor(fitted(model, X, y, np.full(120, size)), X)
        np.testing.assert_allclose(found, expected, atol=1e-7)
    np.testing.assert_allclose(predictor(fitted(model, X, y, np.ones(120)), X), expected, atol=1e-12)


@pytest.mark.parametrize("model", EVERY, ids=lambda m: type(m).__name__)
def test_precisions_only_compare_rows(model, table):
    X, y = table
    s = np.random.default_rng(2).integers(0, 4, 120).astype(float)
    model.set_params(weights="precision")
    one, other = (predictor(fitted(model, X, y, f * s), X) for f in (1.0, 1000.0))
    model.set_params(weights="auto")
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_counts_weigh_against_the_ridge(table):
    X, y = table
    few, many = (
        ISKRegressor(**FIXED | {"alpha": 1.0}, weights="counts").fit(X, y, np.full(120, f))
        for f in (0.01, 100)
    )
    assert few.score(X, y) < many.score(X, y)
    with pytest.raises(ValueError, match=r"alpha=0.01 .* weights sum to 1.2e\+20.* weights='precision'"):
        ISKRegressor(**FIXED, weights="counts").fit(X, y, np.full(120, 1e18))


@pytest.mark.parametrize("model", EVERY, ids=lambda m: type(m).__name__)
def test_unknown_meaning_of_weights(model, table):
    with pytest.raises(ValueError, match="'auto', 'counts' or 'precision', got 'survey'"):
        fitted(type(model)(weights="survey"), *table)


# --------------------------------------------------------------------- classes
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)
def test_losses_that_are_taken(model, table):
    X, y = table
    for wrong in ("cauchy", "poisson"):
        with pytest.raises(ValueError, match=f"does not take the loss '{wrong}'") as caught:
            type(model)(loss=wrong).fit(X, y > 0)
        assert str(caught.value).endswith(f"Known names: {', '.join(sorted(model._losses))}.")


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)
def test_summary_of_classes(model, table):
    X, y = table
    lines = str(model.fit(X, np.digitize(y, [0.0, 1.0])).summary()).splitlines()
    assert any(line.split() == ["loss", "logistic"] for line in lines)
    for c in range(3):
        (line,) = (line for line in lines if line.startswith(f"class {c} "))
        kept = int(np.count_nonzero(np.any(model.contributions(X)[:, :, c] != 0, axis=0)))
        assert f"{kept} term" in line
    assert "class" not in str(fitted(model, X, y).summary()).lower().replace(type(model).__name__.lower(), "")
    with pytest.raises(ValueError, match=r"one class \(1\)"):
        model.fit(X, np.ones(120, dtype=int))
