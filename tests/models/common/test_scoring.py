"""The score of regressors: R² for squared loss, the share of deviance explained for counts and amounts."""

import numpy as np
import pytest
from sklearn.metrics import d2_tweedie_score, r2_score
from sklearn.model_selection import cross_val_score

from pellucid import InterpretableKernelRegressor, KernelGLMRegressor
from pellucid.effects.measures import measures_of_counts
from pellucid.kernels import RBF

KINDS = pytest.mark.parametrize("kind", [KernelGLMRegressor, InterpretableKernelRegressor])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    hours = rng.uniform(0.5, 4.0, 90)
    counts = rng.poisson(hours * np.exp(0.3 + X[:, 0]))
    return X, hours, counts, rng.uniform(0.2, 3.0, 90)


@KINDS
def test_squared_loss_has_r2(kind, data):
    X, _, counts, weight = data
    y = counts + X[:, 1]
    model = kind(RBF(2.0), loss="squared", alpha=1.0).fit(X[:60], y[:60])
    for w in (None, weight[60:]):
        expected = r2_score(y[60:], model.predict(X[60:]), sample_weight=w)
        assert model.score(X[60:], y[60:], sample_weight=w) == pytest.approx(expected, rel=1e-12)
    r2 = cross_val_score(model, X, y, scoring="r2", cv=3)
    assert cross_val_score(model, X, y, cv=3) == pytest.approx(r2)


@KINDS
@pytest.mark.parametrize(("loss", "power"), [("poisson", 1), ("gamma", 2)])
def test_other_losses_have_the_share_of_deviance(kind, loss, power, data):
    X, _, counts, weight = data
    y = counts + (loss == "gamma")
    model = kind(RBF(2.0), loss=loss, alpha=1.0).fit(X[:60], y[:60])
    mean = model.predict(X[60:])
    for w in (None, weight[60:]):
        expected = d2_tweedie_score(y[60:], mean, sample_weight=w, power=power)
        assert model.score(X[60:], y[60:], sample_weight=w) == pytest.approx(expected, rel=1e-9)


@KINDS
def test_exposure_is_known_to_both_models(kind, data):
    X, hours, counts, _ = data
    model = kind(RBF(2.0), loss="poisson", alpha=1.0).fit(X, counts, exposure=hours)
    score = model.score(X, counts, exposure=hours)

    def deviance(mean):
        return np.sum(model.loss_.deviance(counts, np.log(mean)))

    mean, null = model.predict(X, exposure=hours), hours * counts.sum() / hours.sum()
    assert score == pytest.approx(1 - deviance(mean) / deviance(null), rel=1e-9)
    assert score == pytest.approx(model.score(X, counts, offset=np.log(hours)))


@KINDS
def test_an_offset_of_squared_loss(kind, data):
    X, hours, counts, _ = data
    model = kind(RBF(2.0), loss="squared", alpha=1.0).fit(X, counts, offset=hours)
    mean = model.predict(X, offset=hours)
    assert model.score(X, counts, offset=hours) == pytest.approx(r2_score(counts - hours, mean - hours))


@KINDS
def test_targets_that_do_not_vary(kind, data):
    X, _, counts, _ = data
    model = kind(RBF(2.0), loss="squared", alpha=1.0).fit(X, counts)
    assert model.score(X, np.full(90, 0.1)) == 0
    assert model.score(X[:1], model.predict(X[:1])) == 1


def test_rates_are_scored_without_another_warning(data):
    X, _, counts, _ = data
    model = KernelGLMRegressor(RBF(2.0), alpha=1.0).fit(X, counts)
    assert model.score(X, counts / 3.0) < 1


def test_columns_of_targets(data):
    X, _, counts, _ = data
    model = KernelGLMRegressor(RBF(2.0), alpha=1.0).fit(X, counts)
    with pytest.raises(ValueError, match="should be a 1d array"):
        model.score(X, np.column_stack([counts, counts]))


@KINDS
def test_counts_that_are_all_zero_leave_nothing_to_explain(kind, data):
    X, _, counts, _ = data
    model = kind(RBF(2.0), loss="poisson", alpha=1.0).fit(X, counts)
    assert model.score(X, np.zeros(90)) == 0.0
    weight = (counts == 0).astype(float)  # rows that do not count may have counts
    assert model.score(X, counts, sample_weight=weight) == 0.0
    found = measures_of_counts(np.zeros(90), model.predict(X), np.ones(90), np.ones(90))
    assert np.isnan(found["explained"])
    assert found["deviance"] == pytest.approx(2.0 * model.predict(X).mean())
