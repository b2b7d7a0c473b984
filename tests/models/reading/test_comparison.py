"""Two models beside each other: terms, rows, scores, drift and groups."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from pellucid import (
    AdditiveKernelClassifier,
    AdditiveKernelRegressor,
    KernelGLMRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    SparseAdditiveRegressor,
    compare,
    drift,
    fairness,
    shapley_values,
)

rng = np.random.default_rng(0)
N = 240


def make(shift=0.0):
    return pd.DataFrame(
        {
            "age": rng.normal(50 + shift, 10, N),
            "city": rng.choice(["Lima", "Oslo", "Rome"], N),
            "dose": np.where(rng.random(N) < 0.1, np.nan, rng.uniform(0, 1, N)),
        }
    )


def mean_of(table, rome):
    return np.sin(table["age"] / 10) + rome * (table["city"] == "Rome") + table["dose"].fillna(0)


TRAIN, NOW = make(), make(6.0)
Y_OLD, Y_NEW = mean_of(TRAIN, 0.0), mean_of(NOW, 2.0)
OLD = AdditiveKernelRegressor(0).fit(TRAIN, Y_OLD + 0.1 * rng.normal(size=N))
NEW = AdditiveKernelRegressor(0).fit(NOW, Y_NEW + 0.1 * rng.normal(size=N))


def test_terms_rows_and_scores_of_additive_models():
    found = compare(OLD, NEW, NOW, Y_NEW, groups="city", top=3)
    assert found.attribution == "terms"
    difference = NEW.predict(NOW) - OLD.predict(NOW)
    assert np.allclose(found.difference, difference)
    first = found.terms[0]
    assert (first.name, first.status) == ("city", "changed" if "city" in OLD.term_names_ else "added")
    a, b = (dict(zip(m.term_names_, m.contributions(NOW).T, strict=True)) for m in (OLD, NEW))
    for term in found.terms:
        if term.name == "intercept":
            assert term.shift == pytest.approx(NEW.intercept_ - OLD.intercept_)
            continue
        change = b.get(term.name, np.zeros(N)) - a.get(term.name, np.zeros(N))
        assert term.size == pytest.approx(change.std(), abs=1e-12)
        assert term.shift == pytest.approx(change.mean(), abs=1e-12)
        assert abs(term.largest) == pytest.approx(np.abs(change).max())
        assert term.largest == pytest.approx(change[term.row])
    assert [row.row for row in found.rows] == np.argsort(-np.abs(difference), kind="stable")[:3].tolist()
    one = found.rows[0]
    assert one.new - one.old == pytest.approx(one.change)
    parts = {name: v[one.row] for name, v in b.items()} | {"intercept": NEW.intercept_}
    for name, value in one.terms:
        before = OLD.intercept_ if name == "intercept" else a.get(name, np.zeros(N))[one.row]
        assert value == pytest.approx(parts.get(name, 0.0) - before)
    assert found.scores["RMSE"][1] == pytest.approx(np.sqrt(np.mean((NEW.predict(NOW) - Y_NEW) ** 2)))
    assert found.drift.names == tuple(n for n in ("age", "city", "dose") if n in OLD.term_names_)
    assert np.allclose(found.groups[1].values["mean target"], Y_NEW.groupby(NOW["city"]).mean())
    for text in (str(found), found._repr_html_()):
        assert "For whom it changed most" in text
        assert "New model by group" in text


def test_a_model_beside_itself_does_not_change():
    found = compare(OLD, OLD, TRAIN)
    assert {term.status for term in found.terms} == {"same"}
    assert found.rows == ()
    assert np.all(found.difference == 0)


def test_classifiers_count_decisions():
    a = AdditiveKernelClassifier(0).fit(TRAIN, Y_OLD > 1)
    b = AdditiveKernelClassifier(0).fit(NOW, Y_NEW > 1)
    found = compare(a, b, NOW, Y_NEW > 1, top=1)
    assert np.allclose(found.difference, b.predict_proba(NOW)[:, 1] - a.predict_proba(NOW)[:, 1])
    assert found.decisions == np.mean(a.predict(NOW) != b.predict(NOW))
    three = np.digitize(Y_NEW, [0.5, 1.5])
    c, d = AdditiveKernelClassifier(0).fit(NOW, three), AdditiveKernelClassifier([(0, 1)]).fit(NOW, three)
    found = compare(c, d, NOW)
    assert np.allclose(found.difference, np.abs(c.predict_proba(NOW) - d.predict_proba(NOW)).sum(axis=1) / 2)
    assert found.rows[0].output in ("0", "1", "2")
    assert {t.status for t in found.terms if t.name == "age × city"} <= {"added"}


def test_kernel_models_are_compared_by_shapley_values():
    X = np.random.default_rng(2).normal(size=(40, 2))
    a, b = KernelRidge(alpha=0.1).fit(X, X[:, 0]), KernelRidge(alpha=0.1).fit(X, X[:, 0] + X[:, 1] ** 2)
    found = compare(a, b, X)
    assert found.attribution == "Shapley values"
    assert found.terms[0].name == "x1"
    change = (
        shapley_values(b, X, X, independent=True).values - shapley_values(a, X, X, independent=True).values
    )
    assert found.terms[0].size == pytest.approx(change[:, 1].std())
    mixed = compare(SparseAdditiveRegressor(1e-2, n_basis=4).fit(X, X[:, 0]), b, X)
    assert mixed.attribution == "Shapley values"
    rough = compare(a, KernelRidge("matern", alpha=0.1).fit(X, X[:, 0]), X)
    assert (rough.attribution, rough.terms, len(rough.rows)) == ("", (), 5)
    assert "not taken apart" in rough.notes[0]


def test_drift_of_kernel_models_and_of_terms():
    assert drift(OLD, TRAIN).psi.max() < 0.01
    found = drift(OLD, NOW.assign(city=NOW["city"].replace("Oslo", "Kyiv")))
    shifted = dict(zip(found.names, found.shifted, strict=True))
    assert shifted["age"]
    if "city" in shifted:
        assert shifted["city"]
    numbers = TRAIN[["age", "dose"]].fillna(0.5)
    ridge = KernelRidge(alpha=1.0).fit(numbers, Y_OLD)
    assert drift(ridge, numbers.to_numpy()).psi.max() < 1e-6
    assert drift(ridge, numbers + np.array([30, 0])).shifted.tolist() == [True, False]
    with pytest.raises(ValueError, match="no column dose"):
        drift(ridge, numbers[["age"]])
    with pytest.raises(ValueError, match="does not know the rows"):
        drift(KernelGLMRegressor(alpha=1.0, n_components=5).fit(numbers, np.ones(N)), numbers)


@pytest.mark.parametrize("pipeline", [False, True])
def test_each_model_takes_its_own_columns(pipeline):
    """One model knows a feature that the other does not, and the group is a feature of neither."""
    lean = AdditiveKernelRegressor(0)
    lean = (make_pipeline(lean) if pipeline else lean).fit(TRAIN[["dose", "age"]], Y_OLD)
    with_group = NOW.assign(plant=np.where(np.arange(N) % 3 == 0, "a", "b"))
    change = compare(lean, NEW, with_group, Y_NEW, groups="plant")
    assert {term.name: term.status for term in change.terms}["city"] == "added"
    said = lean.predict(NOW[["dose", "age"]])
    np.testing.assert_array_equal(change.difference, NEW.predict(NOW) - said)
    mean = change.groups[0].values["mean prediction"]
    np.testing.assert_allclose(mean, [said[::3].mean(), np.delete(said, np.s_[::3]).mean()])
    with pytest.raises(ValueError, match="feature names"):
        compare(lean, NEW, NOW[["age", "dose"]])


def test_groups_of_counts_and_refusals():
    X, counts = TRAIN[["age"]], rng.poisson(2.0, N)
    model = KernelGLMRegressor(alpha=1.0).fit(X, counts, exposure=np.full(N, 2.0))
    table = fairness(model, X, counts, TRAIN["city"], exposure=np.full(N, 2.0))
    own = (TRAIN["city"] == "Oslo").to_numpy()
    ratio = model.predict(X, exposure=np.full(N, 2.0))[own].sum() / counts[own].sum()
    assert table.values["predicted / observed"][1] == pytest.approx(ratio)
    with pytest.raises(ValueError, match="no column 'town'"):
        fairness(model, X, counts, "town")
    with pytest.raises(ValueError, match="every few rows"):
        fairness(model, X, counts, X["age"])
    with pytest.raises(ValueError, match="groups need y"):
        compare(OLD, NEW, NOW, groups="city")
    labelled = KernelRidgeClassifier(alpha=1.0).fit(X, Y_OLD > 1)
    with pytest.raises(ValueError, match="one numbers, the other the classes"):
        compare(model, labelled, X)
