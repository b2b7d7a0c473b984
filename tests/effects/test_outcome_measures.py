"""Measures of each loss against scikit-learn's and plain sums; by group; targets that are all the same."""

import numpy as np
import pytest
from sklearn import metrics

from pellucid import KernelGLMRegressor, KernelRidge, build_report, compare, conformal, fairness
from pellucid.effects.fairness import groups_of_outcomes
from pellucid.effects.outcome_measures import losses_of, outcome_of
from pellucid.kernels import Linear
from pellucid.losses import Binomial, Expectile, Huber, NegativeBinomial, Poisson, Quantile, Squared, Tweedie


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def times(rng):
    """Features, times with events, and groups."""
    X = rng.normal(size=(120, 2))
    free, left = rng.exponential(np.exp(-X[:, 0])), rng.exponential(2.0, size=120)
    return X, np.column_stack([np.minimum(free, left), free <= left]), np.repeat(["a", "b"], 60)


def test_quantiles_and_expectiles(rng):
    y, mu, w = rng.normal(size=80), rng.normal(size=(80, 2)), rng.uniform(0.5, 2, size=80)
    found = outcome_of([Quantile(0.2), Quantile(0.7)], y, mu, w).measures()
    pinball = [
        metrics.mean_pinball_loss(y, q, sample_weight=w, alpha=a)
        for a, q in zip((0.2, 0.7), mu.T, strict=True)
    ]
    assert found["pinball"] == pytest.approx(np.mean(pinball), rel=1e-12)
    assert found["below 0.7"] == pytest.approx(w[y <= mu[:, 1]].sum() / w.sum())
    half = outcome_of([Expectile(0.5)], y, mu[:, 0], w).measures()
    assert half["expectile_loss"] == pytest.approx(
        metrics.mean_squared_error(y, mu[:, 0], sample_weight=w) / 2
    )


def test_numbers_have_r2_and_other_losses_what_they_explain(rng):
    y, mu = rng.poisson(2.0, size=60).astype(float), rng.uniform(0.5, 3, size=60)
    assert set(outcome_of([Squared()], y, mu).measures()) == {"r2", "rmse", "mae"}
    found = outcome_of([Poisson()], y, mu).measures()
    assert found["explained"] == pytest.approx(metrics.d2_tweedie_score(y, mu, power=1))
    assert set(outcome_of([Huber(1.0)], y, mu).measures()) == {"explained", "rmse", "mae"}


def test_expected_events_add_up_to_those_observed(times):
    X, y, groups = times
    model = KernelGLMRegressor(Linear(), loss="cox", alpha=1e-6).fit(X, y)
    outcome = outcome_of(losses_of(model), y, model.predict(X))
    assert outcome.expected_events().sum() == pytest.approx(y[:, 1].sum(), rel=1e-6)  # no ties
    table = fairness(model, X, y, groups)
    a = groups == "a"
    assert table.values["share of events"][0] == pytest.approx(y[a, 1].mean())
    assert table.values["expected / observed"][0] == pytest.approx(
        outcome.expected_events()[a].sum() / y[a, 1].sum()
    )
    assert table.values["concordance"][0] == pytest.approx(model.concordance(X[a], y[a]))


def test_two_models_of_times_are_compared_by_concordance(times):
    X, y, groups = times
    old, new = (KernelGLMRegressor(Linear(), loss="cox", alpha=alpha).fit(X, y) for alpha in (1.0, 100.0))
    found = compare(old, new, X, y, groups=groups)
    assert found.scores["concordance"] == pytest.approx((old.concordance(X, y), new.concordance(X, y)))
    assert found.scores["share of the deviance explained"] == pytest.approx(
        (old.score(X, y), new.score(X, y))
    )
    with pytest.raises(ValueError, match="predict_survival"):
        conformal(old, X, y)


@pytest.mark.parametrize("form", ["columns", "structured"])
def test_a_report_of_times(times, form):
    X, y, groups = times
    given = y
    if form == "structured":
        given = np.array([(bool(e), t) for t, e in y], dtype=[("event", bool), ("time", float)])
    model = KernelGLMRegressor(Linear(), loss="cox", alpha=1.0).fit(X, given)
    html = build_report(model, X, given, groups=groups, earlier=model).html
    assert "Do events come as often as expected?" in html
    assert "events expected" in html
    assert "Predicted and observed" not in html
    censored = y[y[:, 1] == 0, 0]
    assert any(f"{t:g}+" in html for t in censored)


def test_a_report_of_quantiles(rng):
    X = rng.normal(size=(80, 2))
    y = X[:, 0] + rng.normal(size=80)
    model = KernelGLMRegressor(loss="quantile", quantile=[0.1, 0.5, 0.9], alpha=1.0).fit(X, y)
    html = build_report(model, X, y).html
    assert "Do quantiles hold their level?" in html
    assert "share below the 90 % quantile" in html
    assert "Are predictions right on average?" not in html


def test_a_model_of_several_quantiles_is_a_band(rng):
    X = rng.normal(size=(300, 1))
    y = X[:, 0] + rng.normal(size=300)
    model = KernelGLMRegressor(Linear(), loss="quantile", quantile=[0.9, 0.5, 0.1], alpha=1.0).fit(
        X[:100], y[:100]
    )
    found = conformal(model, X[100:], y[100:])
    low, high = found.interval(X[100:], coverage=0.8)
    assert 0.8 <= np.mean((low <= y[100:]) & (y[100:] <= high)) < 0.83
    assert "band" in str(found.summary())


def test_successes_and_failures_count_as_trials(rng):
    X, trials = rng.normal(size=(60, 1)), rng.integers(1, 20, size=60)
    hits = rng.binomial(trials, 1 / (1 + np.exp(-X[:, 0])))
    y, groups = np.column_stack([hits, trials - hits]), np.repeat(["a", "b"], 30)
    model = KernelGLMRegressor(Linear(), loss="binomial", alpha=1.0).fit(X, y)
    table = fairness(model, X, y, groups)
    assert table.values["mean target"][1] == pytest.approx(hits[30:].sum() / trials[30:].sum())
    assert "share of the deviance" in build_report(model, X, y).html


def test_weighted_means_of_equal_weights_have_the_usual_errors(rng):
    y, mu, groups = rng.normal(size=40), rng.normal(size=40), np.repeat(["a", "b"], 20)
    table = groups_of_outcomes(outcome_of([Squared()], y, mu), groups)
    wrong = (mu - y)[:20]
    assert table.errors["mean error"][0] == pytest.approx(wrong.std(ddof=1) / np.sqrt(20))


@pytest.mark.parametrize(("loss", "y"), [
    (Poisson(), 0.0), (NegativeBinomial(1.0), 0.0), (Tweedie(1.5), 0.0), (Binomial(), 0.0), (Binomial(), 1.0),
])  # fmt: skip
def test_no_share_is_explained_of_targets_that_are_all_at_the_end(loss, y):
    for mean in (0.2, 1e-5):
        found = outcome_of([loss], np.full(10, y), np.full(10, mean if y == 0 else 1 - mean)).explained()
        assert found == 0.0


def test_all_zero_counts_of_a_mean_of_zero_are_explained():
    assert outcome_of([Poisson()], np.zeros(5), np.zeros(5)).explained() == 1.0


def test_models_without_a_loss_of_their_own_are_scored_as_numbers(rng):
    X = rng.normal(size=(40, 1))
    model = KernelRidge(alpha=1.0).fit(X, X[:, 0])
    assert set(compare(model, model, X, X[:, 0]).scores) == {"R²", "RMSE", "mean absolute error"}
