"""Edits of additive models: what they do, that the rest is fitted anew, and the log that travels."""

import io
import pickle

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor

RNG = np.random.default_rng(21)
N = 260
X = pd.DataFrame(RNG.uniform(-1, 1, (N, 3)), columns=["a", "b", "c"])
X["kind"] = RNG.choice(["u", "v", "w"], N)
SIGNAL = np.sin(3 * X["a"]) + 1.5 * X["b"] * X["c"] + X["b"] + (X["kind"] == "u")
SIGNAL = SIGNAL.to_numpy()
TARGETS = {
    "squared": SIGNAL + 0.2 * RNG.normal(size=N),
    "poisson": RNG.poisson(np.exp(0.8 * SIGNAL)).astype(float),
    "logistic": np.where(SIGNAL + 0.4 * RNG.logistic(size=N) > 0.4, "yes", "no"),
    "classes": np.digitize(SIGNAL, [-0.5, 1.0]),
}
FITTED = {}


def fitted(loss):
    if loss not in FITTED:
        kind = (
            AdditiveKernelClassifier()
            if loss in ("logistic", "classes")
            else AdditiveKernelRegressor(loss=loss)
        )
        FITTED[loss] = kind.fit(X, TARGETS[loss])
    return FITTED[loss]


@pytest.fixture(params=TARGETS, ids=str)
def case(request):
    return fitted(request.param), TARGETS[request.param]


def parts(model, name):
    return model.contributions(X)[:, model.term_names_.index(name)]


def test_a_refit_without_a_change_is_the_model(case):
    """Smoothing by one fits the same columns with the same ridges."""
    model, y = case
    again = model.edit(X, y, smooth={"a": 1.0})
    for one, two in zip(model.tables_.tables, again.tables_.tables, strict=True):
        np.testing.assert_allclose(two, one, atol=1e-3 * np.abs(one).max())
    assert again.deviance_explained_ == pytest.approx(model.deviance_explained_, abs=1e-4)
    assert again.receipt_.explained == pytest.approx(model.receipt_.explained, abs=1e-2)
    np.testing.assert_allclose(again.importances_.values, model.importances_.values, atol=0.01)


def test_the_original_stays_as_it_is(case):
    model, y = case
    before = pickle.dumps(model)
    model.edit(X, y, drop=["a"], cap={"b": (-0.1, 0.1)})
    assert pickle.dumps(model) == before


def test_drop(case):
    model, y = case
    new = model.edit(X, y, drop=["a"])
    assert "a" not in new.term_names_
    assert "a" not in new.effects_
    assert set(new.term_names_) == set(model.term_names_) - {"a"}
    assert new.deviance_explained_ < model.deviance_explained_
    assert new.loo_deviance_explained_ < model.loo_deviance_explained_


def test_freeze(case):
    model, y = case
    new = model.edit(X, y, freeze=["a"], drop=["kind"])
    np.testing.assert_array_equal(parts(new, "a"), parts(model, "a"))
    assert not np.array_equal(parts(new, "b"), parts(model, "b"))
    np.testing.assert_array_equal(new.effects_["a"].se, model.effects_["a"].se)
    assert "frozen" in str(new.summary())
    assert new.edf_ < model.edf_
    later = new.edit(X, y, smooth={"b": 3.0})  # frozen in later edits, too
    np.testing.assert_array_equal(parts(later, "a"), parts(model, "a"))
    gone = new.edit(X, y, drop="a")
    assert "a" not in gone.term_names_


def test_cap(case):
    model, y = case
    new = model.edit(X, y, cap={"a": (-0.3, None)})
    np.testing.assert_allclose(parts(new, "a"), np.maximum(_capped_curve(model), -0.3), atol=1e-9)
    assert parts(new, "a").min() >= -0.3
    twice = new.edit(X, y, cap={"a": (None, 0.2)})
    assert parts(twice, "a").max() <= 0.2
    assert parts(twice, "a").min() >= -0.3


def _capped_curve(model):
    """Contributions of ``a``; the table is cut at its points, which few rows lie between."""
    values = model.tables_.tables[model.term_names_.index("a")]
    axis = model.tables_.fine[0]
    i, w = axis.locate(X["a"].to_numpy())
    cut = np.maximum(values, -0.3)
    weight = w if values.ndim == 1 else w[:, None]
    return (1 - weight) * cut[i] + weight * cut[i + 1]


def test_smooth(case):
    model, y = case
    new = model.edit(X, y, smooth={"a": 1e4})
    assert np.std(parts(new, "a")) < np.std(parts(model, "a"))
    assert (
        np.abs(np.diff(new.effects_["a"].values, axis=0)).max()
        < np.abs(np.diff(model.effects_["a"].values, axis=0)).max()
    )
    rough = model.edit(X, y, smooth={"a": 0.01})
    assert rough.deviance_explained_ >= model.deviance_explained_ - 1e-9


def test_the_rest_is_fitted_to_what_frozen_terms_leave():
    """With squared loss: ridge regression of the residuals, the frozen term being an offset."""
    model, y = fitted("squared"), TARGETS["squared"]
    new = model.edit(X, y, cap={"a": (-0.2, 0.2)})
    residual = y - new.predict(X)
    assert abs(residual.mean()) < 1e-10  # the intercept is fitted again
    frozen = parts(new, "a")
    other = model.edit(X, y - frozen, drop=["a"])
    np.testing.assert_allclose(other.predict(X) + frozen, new.predict(X), atol=1e-8)


def test_pairs_by_any_name():
    model, y = fitted("squared"), TARGETS["squared"]
    for name in ("b × c", ("b", "c"), ("c", "b"), (1, 2)):
        assert "b × c" not in model.edit(X, y, drop=[name]).term_names_
    receipt = model.edit(X, y, freeze=["b × c"]).receipt_
    assert receipt.pairs == pytest.approx(model.receipt_.pairs, abs=0.05)
    capped = model.edit(X, y, cap={"b × c": (-0.2, 0.2)})
    assert np.abs(parts(capped, "b × c")).max() <= 0.2


def test_everything_dropped_or_frozen():
    model, y = fitted("squared"), TARGETS["squared"]
    bare = model.edit(X, y, drop=model.term_names_)
    np.testing.assert_allclose(bare.predict(X), np.mean(y))
    assert bare.terms_ == []
    assert bare.edits_[-1].after == pytest.approx(0, abs=1e-12)
    stone = model.edit(X, y, freeze=model.term_names_)
    np.testing.assert_allclose(stone.predict(X), model.predict(X), atol=1e-8)
    assert stone.edf_ == 1.0


def test_log(case):
    model, y = case
    assert model.edits_ == []
    new = model.edit(X, y, drop=["kind"], smooth={"a": 10}).edit(X, y, cap={"b": (None, 0.5)})
    assert [(e.action, e.term) for e in new.edits_] == [("drop", "kind"), ("smooth", "a"), ("cap", "b")]
    first = new.edits_[0]
    assert first.before == pytest.approx(model.deviance_explained_, abs=1e-6)
    assert new.edits_[2].before == pytest.approx(first.after, abs=1e-6)
    assert new.edits_[2].after == pytest.approx(new.deviance_explained_, abs=1e-12)
    assert "cap b between -inf and 0.5: deviance explained" in str(new.summary())
    stream = io.BytesIO()
    pellucid.save(new, stream)
    for back in (pickle.loads(pickle.dumps(new)), pellucid.load(stream.getvalue())):
        assert back.edits_ == new.edits_
        assert str(back.summary()) == str(new.summary())
        again = back.edit(X, y, drop=["a"])  # what was saved can be edited further
        assert len(again.edits_) == 4


def test_weights_and_offset():
    model, y = fitted("poisson"), TARGETS["poisson"]
    hours = np.full(N, 2.0)
    a = model.edit(X, y, drop=["kind"], exposure=hours)
    b = model.edit(X, y, drop=["kind"])
    np.testing.assert_allclose(a.predict(X), b.predict(X) / 2, rtol=1e-5)
    weight = RNG.integers(0, 3, N)
    place = np.repeat(np.arange(N), weight)
    a = model.edit(X, y, drop=["kind"], sample_weight=weight)
    b = model.edit(X.iloc[place], y[place], drop=["kind"])
    np.testing.assert_allclose(a.predict(X), b.predict(X), rtol=1e-5)


def test_monotone_stays_monotone():
    y = TARGETS["squared"]
    model = AdditiveKernelRegressor(monotone={"a": "increasing"}).fit(X, y)
    new = model.edit(X, y, drop=["kind"], smooth={"a": 0.1})
    assert np.all(np.diff(new.effects_["a"].values) >= 0)
    np.testing.assert_allclose(model.edit(X, y, smooth={"a": 1.0}).predict(X), model.predict(X), atol=1e-6)


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({}, "Nothing to edit"),
        ({"drop": ["z"]}, "no term 'z'; its terms are"),
        ({"drop": [("a", "z")]}, "no term"),
        ({"freeze": [17]}, "no term 17"),
        ({"drop": {"a": 1}}, "list of terms"),
        ({"smooth": ["a"]}, "dict from terms"),
        ({"smooth": {"a": -1}}, "positive factor"),
        ({"smooth": {"a": "much"}}, "positive factor"),
        ({"cap": {"a": 3}}, "pair"),
        ({"cap": {"a": (2, 1)}}, "pair"),
        ({"cap": {"a": (1, 2, 3)}}, "pair"),
        ({"drop": ["a"], "freeze": ["a"]}, "dropped, so nothing else"),
        ({"smooth": {"a": 2}, "cap": {"a": (0, 1)}}, "smoothed"),
    ],
)
def test_bad_wishes(wishes, message):
    with pytest.raises(ValueError, match=message):
        fitted("squared").edit(X, TARGETS["squared"], **wishes)


def test_frozen_terms_cannot_be_smoothed():
    model = fitted("squared").edit(X, TARGETS["squared"], freeze=["a"])
    with pytest.raises(ValueError, match="frozen by an earlier edit"):
        model.edit(X, TARGETS["squared"], smooth={"a": 2})


def test_other_rows_must_fit_the_model():
    with pytest.raises(ValueError, match="model is of classes"):
        fitted("classes").edit(X, np.arange(N) % 2, drop=["a"])
    with pytest.raises(ValueError, match="feature names"):
        fitted("squared").edit(X[["b", "a", "c", "kind"]], TARGETS["squared"], drop=["a"])
    with pytest.raises(TypeError, match="exposure"):
        fitted("logistic").edit(X, TARGETS["logistic"], drop=["a"], exposure=np.ones(N))


# ------------------------------------------------------------------- purification


def test_purified_effects():
    """Orthogonal under the joint distribution of the rows, and the same model up to a constant."""
    rng = np.random.default_rng(0)
    Z = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 400)
    model = AdditiveKernelRegressor().fit(Z, Z[:, 0] * Z[:, 1] + 0.1 * rng.normal(size=400))
    pure = model.effects(purify=True)
    surface = pure["x0 × x1"]
    size = np.abs(surface.values).max()
    np.testing.assert_allclose((surface.density * surface.values).sum(axis=0), 0, atol=1e-8 * size)
    np.testing.assert_allclose((surface.density * surface.values).sum(axis=1), 0, atol=1e-8 * size)
    p, q = np.meshgrid(*(g.points for g in surface.grids), indexing="ij")
    total = surface.values.copy()
    total += np.interp(p, pure["x0"].grids[0].points, pure["x0"].values)
    total += np.interp(q, pure["x1"].grids[0].points, pure["x1"].values)
    difference = total.ravel() - model.predict(np.column_stack([p.ravel(), q.ravel()]))
    np.testing.assert_allclose(difference, difference[0], atol=1e-9)
    # under a correlation the product holds a parabola of each feature, which is given back to the curves
    assert np.ptp(pure["x0"].values) > 1.5 * np.ptp(model.effects_["x0"].values)


def test_effects_as_they_are():
    model = fitted("squared")
    assert model.effects() == model.effects_
    assert model.effects() is not model.effects_
    assert model.effects(purify=True, against="marginals").keys() == model.effects_.keys()
    with pytest.raises(ValueError, match="against must be"):
        model.effects(purify=True, against="rows")
