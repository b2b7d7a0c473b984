"""ISK and the data it is given: frames, categories, odd columns, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pellucid import ISKClassifier, ISKRegressor
from pellucid.exceptions import NotEnoughMemoryError, UnseenLevelWarning
from pellucid.kernels import Linear, Matern

RNG = np.random.default_rng(0)
N = 200
FIXED = {"sigma": 1.5, "alpha": 0.01, "sparse_alpha": 0.001, "l1_ratio": 0.9}
FRAME = pd.DataFrame(
    {
        "age": RNG.normal(40, 10, N),
        "town": RNG.choice(["Ulm", "Bonn", "Kiel"], N),
        "member": RNG.integers(0, 2, N).astype(bool),
        "visits": RNG.integers(0, 9, N),
    }
)
EFFECT = FRAME["town"].map({"Ulm": 0.0, "Bonn": 3.0, "Kiel": 1.0}).to_numpy()
Y = EFFECT + 0.05 * FRAME["age"].to_numpy() * FRAME["member"] + 0.1 * RNG.normal(size=N)
X = FRAME[["age", "visits"]].to_numpy(float)


def test_frames_with_text_and_booleans():
    model = ISKRegressor(**FIXED).fit(FRAME, Y)
    assert model.score(FRAME, Y) > 0.95
    assert model.importances_.top(1) == ["town"]
    assert "age × member" in model.term_names_
    grid = model.effects_["town"].grids[0]
    assert grid.levels
    assert list(grid.points) == ["Ulm", "Kiel", "Bonn"]  # by mean target
    assert np.all(np.diff(model.effects_["town"].values) > 0)


@pytest.mark.parametrize(
    "make",
    [pl.from_pandas, lambda f: f.astype({"town": "category"})],
    ids=["polars", "pandas category"],
)
def test_kinds_of_frames_agree(make):
    expected = ISKRegressor(**FIXED).fit(FRAME, Y).predict(FRAME)
    other = make(FRAME)
    np.testing.assert_allclose(ISKRegressor(**FIXED).fit(other, Y).predict(other), expected, atol=1e-10)


def test_numbers_of_a_category_are_levels():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"code": pd.Categorical(rng.choice([10, 20, 30], N)), "x": FRAME["age"]})
    y = np.where(frame["code"] == 20, 5.0, 0.0) + 0.01 * rng.normal(size=N)
    model = ISKRegressor(**FIXED).fit(frame, y)
    assert model.effects_["code"].grids[0].levels
    assert model.score(frame, y) > 0.98


def test_new_level_is_between_the_others():
    model = ISKRegressor(**FIXED).fit(FRAME, Y)
    rows = FRAME.iloc[:3].copy()
    ends = [model.predict(rows.assign(town=t)) for t in ("Ulm", "Bonn")]
    with pytest.warns(UnseenLevelWarning, match="'Jena'"):
        new = model.predict(rows.assign(town="Jena"))
    assert np.all((new > np.minimum(*ends)) & (new < np.maximum(*ends)))


def test_constant_and_duplicate_columns():
    odd = np.column_stack([X, np.full(N, 3.0), X[:, 0]])
    model = ISKRegressor(**FIXED).fit(odd, Y)
    assert np.all(np.isfinite(model.predict(odd)))
    assert all(2 not in term or len(term) == 2 for term in model.terms_)  # a constant has no main effect
    assert model.score(odd, Y) >= ISKRegressor(**FIXED).fit(X, Y).score(X, Y) - 0.02


def test_all_columns_constant():
    model = ISKRegressor(cv=3).fit(np.ones((20, 3)), np.arange(20.0))
    np.testing.assert_allclose(model.predict(np.ones((2, 3))), 9.5)


def test_constant_target():
    model = ISKRegressor(cv=3).fit(X, np.full(N, 4.0))
    np.testing.assert_allclose(model.predict(X), 4.0)


def test_two_columns_are_enough_and_one_is_not():
    assert ISKRegressor(**FIXED).fit(X, Y).n_features_in_ == 2
    with pytest.raises(ValueError, match="1 feature"):
        ISKRegressor(**FIXED).fit(X[:, :1], Y)
    with pytest.raises(ValueError, match="1 feature"):
        ISKRegressor(**FIXED).fit(FRAME[["town"]], Y)


@pytest.mark.parametrize("n", [1, 3])
def test_odd_and_tiny_numbers_of_features(n):
    odd = ISKRegressor(n_components=n, **FIXED).fit(X, Y).predict(X)
    np.testing.assert_array_equal(odd, ISKRegressor(n_components=n + 1, **FIXED).fit(X, Y).predict(X))


def test_other_kernels():
    assert ISKRegressor(kernel=Matern(nu=2.5), **FIXED).fit(X, Y).solver_ == "primal"
    with pytest.raises(TypeError, match="no spectral sampler"):
        ISKRegressor(kernel=Linear(), **FIXED).fit(X, Y)


@pytest.mark.parametrize("scaling", ["standard", "minmax", "rank"])
def test_scalings(scaling):
    model = ISKRegressor(scaling=scaling, cv=3).fit(FRAME, Y)
    assert model.score(FRAME, Y) > 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, "n_components must be a whole number of at least 1"),
        ({"sigma": -1.0}, "sigma must be a positive number or 'cv'"),
        ({"alpha": "loo"}, "alpha must be a positive number or 'cv'"),
        ({"sparse_alpha": 0}, "sparse_alpha must be a positive number"),
        ({"l1_ratio": 0.0}, r"l1_ratio must be a number in \(0, 1\]"),
        ({"scaling": "log"}, "scaling must be one of robust"),
        ({"kernel": "cosine"}, "kernel must be one of rbf"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"cv": 1000}, "Pass fewer folds"),
        ({"cv": [(np.arange(100), np.arange(100, 150))]}, "exactly once"),
        ({"cv": [(np.arange(100), np.arange(N)), (np.arange(9), np.arange(N))]}, "overlap"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        ISKRegressor(**options).fit(X, Y)


def test_bad_data():
    with pytest.raises(ValueError, match="only one class"):
        ISKClassifier(**FIXED).fit(X, np.zeros(N))
    with pytest.raises(
        ValueError, match=r"the loss 'squared'\. Known names: hinge, logistic, squared_hinge\."
    ):
        ISKClassifier(loss="squared").fit(X, Y > 1)
    with pytest.raises(ValueError, match="NaN"):
        ISKRegressor(**FIXED).fit(np.where(X > 40, np.nan, X), Y)
    missing = FRAME.assign(town=FRAME["town"].where(FRAME["age"] > 30, None))
    with pytest.raises(ValueError, match=r"missing values in columns \['town'\]"):
        ISKRegressor(**FIXED).fit(missing, Y)


def test_more_pairs_than_memory_allows(monkeypatch):
    monkeypatch.setenv("PELLUCID_MEMORY", "2e6")
    wide = np.random.default_rng(1).normal(size=(3000, 12))
    with pytest.raises(
        NotEnoughMemoryError, match=r"12 features make 66 pairs.*features would fit, or n_comp"
    ):
        ISKRegressor(**FIXED).fit(wide, wide[:, 0])
    with pytest.raises(NotEnoughMemoryError, match="fit fewer rows"):
        ISKRegressor(n_components=200, **FIXED).fit(wide[:400], wide[:400, 0])


def test_products_of_more_pairs_than_memory_allows(monkeypatch):
    monkeypatch.setenv("PELLUCID_MEMORY", "2e7")
    wide = np.random.default_rng(1).normal(size=(30, 60))
    with pytest.raises(NotEnoughMemoryError, match=r"1770 pairs, whose products.* 27 features"):
        ISKRegressor(n_components=4).fit(wide, wide[:, 0])


def test_dual_where_rows_are_few():
    model = ISKRegressor(n_components=300, **FIXED).fit(X, Y)
    assert model.solver_ == "dual"
    assert ISKRegressor(**FIXED).fit(X, Y).solver_ == "primal"
