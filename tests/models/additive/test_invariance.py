"""Changes of the input whose effect on an additive model is known."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor
from pellucid.linalg import moments

RNG = np.random.default_rng(3)
N = 160
NUMBERS = RNG.normal(size=(N, 3))
NUMBERS[RNG.random(N) < 0.1, 1] = np.nan
LEVELS = RNG.choice(["red", "green", "blue"], N)
SIGNAL = np.sin(2 * NUMBERS[:, 0]) + np.nan_to_num(NUMBERS[:, 1]) * NUMBERS[:, 2] + (LEVELS == "red")
Y = SIGNAL + 0.2 * RNG.normal(size=N)
COUNT = RNG.poisson(np.exp(0.5 * SIGNAL)).astype(float)
LABEL = SIGNAL > 0.3
FRAME = pd.DataFrame(NUMBERS, columns=["a", "b", "c"]).assign(colour=LEVELS)
CASES = {
    "squared": (AdditiveKernelRegressor, {}, Y),
    "main effects": (AdditiveKernelRegressor, {"interactions": 0}, Y),
    "poisson": (AdditiveKernelRegressor, {"loss": "poisson"}, COUNT),
    "logistic": (AdditiveKernelClassifier, {}, LABEL),
    "monotone": (AdditiveKernelClassifier, {"monotone": {"a": 1}}, LABEL),
}


@pytest.fixture(params=CASES, ids=str)
def case(request):
    return CASES[request.param]


def scores(model, rows):
    return model.decision_function(rows) if hasattr(model, "decision_function") else model.predict(rows)


def assert_same(a, b, rows, tolerance=1e-6):
    one, two = scores(a, rows), scores(b, rows)
    assert a.term_names_ == b.term_names_
    np.testing.assert_allclose(one, two, atol=tolerance * np.ptp(one))


def test_weights_are_repeats(case):
    kind, options, y = case
    weight = np.random.default_rng(0).integers(0, 4, N)
    place = np.repeat(np.arange(N), weight)
    a = kind(**options).fit(FRAME, y, sample_weight=weight)
    b = kind(**options).fit(FRAME.iloc[place], y[place])
    assert_same(a, b, FRAME)
    assert a.edf_ == pytest.approx(b.edf_, rel=1e-5)
    assert a.scale_ == pytest.approx(b.scale_, rel=1e-5)


def test_row_order(case):
    kind, options, y = case
    order = np.random.default_rng(1).permutation(N)
    assert_same(
        kind(**options).fit(FRAME, y), kind(**options).fit(FRAME.iloc[order], np.asarray(y)[order]), FRAME
    )


def test_block_size(case, monkeypatch):
    kind, options, y = case
    whole = kind(**options).fit(FRAME.iloc[np.arange(2 * N) % N], y[np.arange(2 * N) % N])
    monkeypatch.setattr(moments, "_BLOCK", 1)  # 256 rows at a time
    parts = kind(**options).fit(FRAME.iloc[np.arange(2 * N) % N], y[np.arange(2 * N) % N])
    assert_same(whole, parts, FRAME)


def test_kind_of_table():
    """pandas, polars, arrays of objects; the numbers alone also as lists and in other precisions."""
    reference = AdditiveKernelRegressor().fit(FRAME, Y)
    assert reference.term_names_[0] in FRAME.columns
    polars = pl.DataFrame({name: FRAME[name].to_list() for name in FRAME})
    np.testing.assert_allclose(
        AdditiveKernelRegressor().fit(polars, Y).predict(polars), reference.predict(FRAME), atol=1e-9
    )
    objects = FRAME.to_numpy(dtype=object)
    np.testing.assert_allclose(
        AdditiveKernelRegressor().fit(objects, Y).predict(objects), reference.predict(FRAME), atol=1e-9
    )
    category = FRAME.astype({"colour": "category"})
    np.testing.assert_allclose(
        AdditiveKernelRegressor().fit(category, Y).predict(FRAME), reference.predict(FRAME), atol=1e-9
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int8, np.uint16])
def test_precision_of_the_input(dtype):
    whole = np.random.default_rng(2).integers(0, 50, (N, 3))
    y = np.sin(whole[:, 0] / 8) + 0.1 * RNG.normal(size=N)
    reference = AdditiveKernelRegressor().fit(whole.tolist(), y).predict(whole)
    X = whole.astype(dtype)
    np.testing.assert_array_equal(AdditiveKernelRegressor().fit(X, y).predict(X), reference)
    np.testing.assert_array_equal(
        AdditiveKernelRegressor().fit(np.asfortranarray(X), y).predict(X), reference
    )


@pytest.mark.parametrize("factor", [1e-8, 1e8, -1.0])
def test_units_of_the_target(factor):
    a = AdditiveKernelRegressor().fit(FRAME, Y)
    b = AdditiveKernelRegressor().fit(FRAME, factor * Y)
    np.testing.assert_allclose(
        b.predict(FRAME), factor * a.predict(FRAME), rtol=1e-6, atol=1e-7 * abs(factor)
    )
    assert b.scale_ == pytest.approx(factor**2 * a.scale_, rel=1e-6)
    low, high = (factor * v for v in a.predict_interval(FRAME))
    got = b.predict_interval(FRAME)
    np.testing.assert_allclose(
        np.sort(got, axis=0), np.sort([low, high], axis=0), rtol=1e-5, atol=1e-7 * abs(factor)
    )
    np.testing.assert_allclose(a.importances_.values, b.importances_.values, atol=1e-6)


def test_level_of_the_target():
    a = AdditiveKernelRegressor().fit(FRAME, Y)
    b = AdditiveKernelRegressor().fit(FRAME, Y + 1e6)
    np.testing.assert_allclose(b.predict(FRAME) - 1e6, a.predict(FRAME), atol=1e-5)


def test_units_of_the_features():
    """A power of two changes neither ranks nor the linear scale."""
    a = AdditiveKernelRegressor().fit(NUMBERS, Y)
    b = AdditiveKernelRegressor().fit(NUMBERS * 1024, Y)
    np.testing.assert_allclose(a.predict(NUMBERS), b.predict(NUMBERS * 1024), atol=1e-9)


def test_zero_weights_are_rows_left_out(case):
    kind, options, y = case
    weight = np.ones(N)
    weight[::5] = 0
    keep = weight > 0
    a = kind(**options).fit(FRAME, y, sample_weight=weight)
    b = kind(**options).fit(FRAME[keep], y[keep])
    np.testing.assert_array_equal(scores(a, FRAME), scores(b, FRAME))


def test_duplicate_columns_share_their_effect():
    """Two copies predict like one, nearly: their surface is one more smooth function of the same feature."""
    X = NUMBERS[:, :1]
    y = np.sin(2 * X[:, 0]) + 0.1 * RNG.normal(size=N)
    one = AdditiveKernelRegressor().fit(X, y)
    two = AdditiveKernelRegressor().fit(np.hstack([X, X]), y)
    difference = one.predict(X) - two.predict(np.hstack([X, X]))
    assert np.sqrt(np.mean(difference**2)) < 0.05


def test_duplicate_rows_are_weights():
    X, y = np.vstack([NUMBERS, NUMBERS]), np.append(Y, Y)
    a = AdditiveKernelRegressor().fit(X, y)
    b = AdditiveKernelRegressor().fit(NUMBERS, Y, sample_weight=np.full(N, 2.0))
    np.testing.assert_allclose(a.predict(NUMBERS), b.predict(NUMBERS), atol=1e-6)


# ------------------------------------------------------------- offset and exposure


def test_offset_of_squared_loss_is_subtracted():
    known = RNG.normal(size=N)
    a = AdditiveKernelRegressor().fit(FRAME, Y + known, offset=known)
    b = AdditiveKernelRegressor().fit(FRAME, Y)
    np.testing.assert_allclose(a.predict(FRAME), b.predict(FRAME), atol=1e-8)
    np.testing.assert_allclose(a.predict(FRAME, offset=known), b.predict(FRAME) + known, atol=1e-8)


@pytest.mark.parametrize("name", ["squared", "poisson", "logistic"])
def test_a_constant_offset_moves_the_intercept(name):
    kind, options, y = CASES[name]
    a, b = kind(**options).fit(FRAME, y), kind(**options).fit(FRAME, y, offset=np.full(N, 0.7))
    assert b.intercept_ == pytest.approx(a.intercept_ - 0.7, abs=1e-5)
    np.testing.assert_allclose(a.contributions(FRAME), b.contributions(FRAME), atol=1e-5)


def test_exposure_is_an_offset_of_its_logarithm():
    hours = RNG.uniform(0.5, 4, N)
    y = RNG.poisson(hours * np.exp(0.5 * SIGNAL))
    a = AdditiveKernelRegressor(loss="poisson").fit(FRAME, y, exposure=hours)
    b = AdditiveKernelRegressor(loss="poisson").fit(FRAME, y, offset=np.log(hours))
    np.testing.assert_array_equal(a.predict(FRAME), b.predict(FRAME))
    np.testing.assert_allclose(a.predict(FRAME, exposure=hours), hours * a.predict(FRAME))
    with pytest.raises(ValueError, match="exposure"):
        AdditiveKernelRegressor().fit(FRAME, Y, exposure=hours)


def test_rates_with_weights_are_counts_with_exposure():
    """No warning: rate times weight is a whole count."""
    hours = RNG.integers(1, 5, N).astype(float)
    y = RNG.poisson(hours * np.exp(0.5 * SIGNAL)).astype(float)
    model = AdditiveKernelRegressor(loss="poisson").fit(FRAME, y / hours, sample_weight=hours)
    other = AdditiveKernelRegressor(loss="poisson").fit(FRAME, y, exposure=hours)
    assert np.corrcoef(np.log(model.predict(FRAME)), np.log(other.predict(FRAME)))[0, 1] > 0.99


def test_row_order_where_a_sample_decides(monkeypatch):
    """With more rows than the structure is decided on, the sample does not depend on where rows are."""
    from pellucid.models.additive.engine import held_out, structure

    monkeypatch.setattr(structure, "WORK", 1e6)
    monkeypatch.setattr(held_out, "_WORK", 0.0)
    order = np.random.default_rng(1).permutation(N)
    a = AdditiveKernelRegressor().fit(FRAME, Y)
    b = AdditiveKernelRegressor().fit(FRAME.iloc[order], Y[order])
    assert_same(a, b, FRAME)
    c = AdditiveKernelRegressor().fit(FRAME, 1e6 * Y)
    np.testing.assert_allclose(c.predict(FRAME), 1e6 * a.predict(FRAME), rtol=1e-5, atol=1.0)


@pytest.mark.parametrize("unit", [1e-3, 1e6])
def test_the_receipt_does_not_depend_on_the_unit_of_the_target(unit):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 4))
    y = np.sin(6 * X[:, 0]) + X[:, 1] + 3 * (X[:, 2] - 0.5) * (X[:, 3] - 0.5) + 0.3 * rng.normal(size=300)
    one, other = (AdditiveKernelRegressor().fit(X, u * y).receipt_ for u in (1.0, unit))
    np.testing.assert_allclose(other.main, one.main, atol=1e-6)
    np.testing.assert_allclose(other.pairs, one.pairs, atol=1e-6)
