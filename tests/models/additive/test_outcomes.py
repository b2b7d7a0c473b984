"""Losses beside the squared one: against statsmodels, weights as repeats, levels, files, exports."""

from functools import partialmethod

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from outcome_draws import drawn
from scipy.stats import expectile
from sklearn.exceptions import ConvergenceWarning
from statsmodels.duration.hazard_regression import PHReg
from statsmodels.miscmodels.ordinal_model import OrderedModel

from pellucid import (
    AdditiveKernelClassifier,
    AdditiveKernelRegressor,
    load,
    save,
    to_json,
    to_onnx,
    to_python,
    to_sql,
    to_tables,
)
from pellucid._progress import Progress
from pellucid.data.table import Column
from pellucid.export.document import from_json
from pellucid.features.term_basis import TermBasis, first_picks
from pellucid.losses import Expectile, Huber, NegativeBinomial, Quantile, Tweedie, as_loss
from pellucid.losses.ordinal import Ordinal
from pellucid.models.additive.engine.state import Problem
from pellucid.models.additive.engine.structure import build_axes
from pellucid.models.additive.refit import refit

RNG = np.random.default_rng(5)
N = 240
X = RNG.uniform(-1, 1, (N, 2))
SIGNAL = np.sin(3 * X[:, 0]) + 0.5 * X[:, 1]
AMOUNT = np.array([RNG.gamma(2.0, 0.5, k).sum() for k in RNG.poisson(np.exp(SIGNAL))])
COUNT = RNG.poisson(np.exp(SIGNAL) * RNG.gamma(2.0, 0.5, N)).astype(float)
TRIALS = RNG.integers(1, 9, N)
SUCCESSES = RNG.binomial(TRIALS, 1 / (1 + np.exp(-SIGNAL)))
EVENT_AT, LEFT_AT = RNG.exponential(np.exp(-SIGNAL)), RNG.exponential(2.0, N)
TIME, EVENT = np.ceil(20 * np.minimum(EVENT_AT, LEFT_AT)), EVENT_AT <= LEFT_AT
GRADE = np.digitize(SIGNAL + RNG.logistic(size=N), [-1.0, 0.2, 1.5])
NUMBER = SIGNAL + 0.4 * RNG.normal(size=N)

TARGETS = {
    "huber": NUMBER,
    "quantile": NUMBER,
    "expectile": NUMBER,
    "negative_binomial": COUNT,
    "tweedie": AMOUNT,
    "gamma": AMOUNT + 0.1,
    "binomial": np.column_stack([SUCCESSES, TRIALS - SUCCESSES]),
    "cox": np.column_stack([TIME, EVENT]),
    "ordinal": GRADE,
}


def estimator(loss, **more):
    if loss == "ordinal":
        return AdditiveKernelClassifier(0, loss=loss, **more)
    if loss in ("quantile", "expectile"):
        more = {"quantile": [0.25, 0.8]} | more
    return AdditiveKernelRegressor(0, loss=loss, **more)


FITTED = {}


@pytest.fixture(params=TARGETS)
def fitted(request):
    if request.param not in FITTED:
        FITTED[request.param] = estimator(request.param).fit(X, TARGETS[request.param])
    return FITTED[request.param], TARGETS[request.param]


def answers(model, rows):
    return model.predict_proba(rows) if hasattr(model, "classes_") else model.predict(rows)


# ---------------------------------------------------------- the limit without penalty
LEVEL = RNG.integers(0, 4, N).astype(float)
DUMMIES = np.eye(4)[LEVEL.astype(int)]


def without_penalty(loss, y, weight=None, offset=None):
    """Linear predictor of each level of one category, with ridges of nothing, less that of the first."""
    weight = np.ones(N) if weight is None else weight
    offset = np.zeros(N) if offset is None else offset
    problem = Problem(LEVEL[:, None], np.asarray(y, float), weight, offset, loss)
    axes = build_axes(problem.X, weight, [Column("level", levels=("a", "b", "c", "d"))])
    basis = TermBasis.of(axes, first_picks(axes, [(0,)], 10))
    state = refit(problem, basis, np.full(basis.size, 1e-9))
    first = [int(np.flatnonzero(k == LEVEL)[0]) for k in range(4)]
    return (state.eta - offset)[first], state


def test_generalised_linear_models_of_statsmodels():
    offset = 0.3 * RNG.normal(size=N)
    families = {
        "poisson": (as_loss("poisson"), COUNT, sm.families.Poisson()),
        "gamma": (as_loss("gamma"), AMOUNT + 0.1, sm.families.Gamma(sm.families.links.Log())),
        "tweedie": (
            Tweedie(1.4),
            AMOUNT,
            sm.families.Tweedie(link=sm.families.links.Log(), var_power=1.4),
        ),
        "nb": (NegativeBinomial(0.7), COUNT, sm.families.NegativeBinomial(alpha=0.7)),
        "binomial": (as_loss("binomial"), SUCCESSES / TRIALS, sm.families.Binomial()),
    }
    for name, (loss, y, family) in families.items():
        weight = TRIALS.astype(float) if name == "binomial" else np.ones(N)
        other = sm.GLM(y, DUMMIES, family=family, offset=offset, var_weights=weight).fit(tol=1e-12)
        got, state = without_penalty(loss, y, weight, offset)
        np.testing.assert_allclose(got, other.params, atol=1e-6)
        if name in ("poisson", "binomial"):  # bands: the curvature is that of the information
            V = state.fit.covariance_block(slice(None))
            table = state.basis.functions(0, [np.arange(4)])
            contrast = table[1] - table[0]
            wanted = other.cov_params()
            assert contrast @ V @ contrast == pytest.approx(wanted[0, 0] + wanted[1, 1], rel=1e-5)


def test_robust_regression_of_statsmodels():
    """Huber's estimate at a threshold in the unit of the targets, level by level."""
    got, _ = without_penalty(Huber(0.5), NUMBER)
    for k in range(4):
        y = NUMBER[k == LEVEL]
        m = y.mean()
        for _ in range(500):  # the weighted mean that is its own
            w = np.minimum(1.0, 0.5 / np.maximum(np.abs(y - m), 1e-300))
            m = w @ y / w.sum()
        assert got[k] == pytest.approx(m, abs=1e-6)


def test_quantiles_and_expectiles_of_each_level():
    got, _ = without_penalty(Quantile(0.7, bandwidth=1e-3), NUMBER)
    expected = [np.quantile(NUMBER[k == LEVEL], 0.7, method="inverted_cdf") for k in range(4)]
    np.testing.assert_allclose(got, expected, atol=0.01)
    loss = as_loss("expectile")
    got, _ = without_penalty(loss, NUMBER)
    np.testing.assert_allclose(got, [NUMBER[k == LEVEL].mean() for k in range(4)], atol=1e-8)
    got, _ = without_penalty(Expectile(0.8), NUMBER)
    np.testing.assert_allclose(got, [expectile(NUMBER[k == LEVEL], 0.8) for k in range(4)], atol=1e-6)


def test_proportional_hazards_of_statsmodels():
    got, state = without_penalty(as_loss("cox"), np.where(EVENT, TIME, -TIME))
    other = PHReg(TIME, DUMMIES[:, 1:], status=EVENT, ties="efron").fit(disp=0)
    np.testing.assert_allclose(got[1:] - got[0], other.params, atol=1e-6)
    assert state.converged


def test_proportional_odds_of_statsmodels():
    got, _ = without_penalty(Ordinal.of_classes(4), GRADE)
    other = OrderedModel(GRADE, DUMMIES[:, 1:], distr="logit").fit(disp=0, method="newton", maxiter=200)
    np.testing.assert_allclose(got[1:] - got[0], other.params[:3], atol=1e-5)


# ------------------------------------------------------------------------------- laws
def test_parts_sum_to_the_predictor_and_shares_are_shares(fitted):
    model, y = fitted
    eta = model._predictor(X)
    np.testing.assert_allclose(model.contributions(X).sum(axis=1) + model.intercept_, eta, atol=1e-10)
    assert 0 < model.loo_deviance_explained_ < model.deviance_explained_ < 1
    assert model.term_names_[0] == "x0"
    assert np.isfinite(model.edf_)
    assert model.scale_ > 0
    assert all(np.all(effect.se > 0) for effect in model.effects_.values())
    assert model.tests_[0][0][2] < 1e-4
    assert model.loss_.name in str(model.summary())
    if not hasattr(model, "classes_"):
        assert model.score(X, y) == pytest.approx(model.deviance_explained_, abs=0.02)


@pytest.mark.parametrize("loss", [loss for loss in TARGETS if loss != "binomial"])
def test_weight_two_is_the_row_twice(loss):
    """Without ties between events, as of times copies are."""
    times = RNG.integers(1, 3, N)
    y = TARGETS[loss]
    if loss == "cox":
        y = np.column_stack([RNG.permutation(N) + 1.0, np.ones(N)])
        times = np.ones(N, dtype=int)
    weighted = estimator(loss).fit(X, y, times)
    twin = estimator(loss).fit(np.repeat(X, times, 0), np.repeat(y, times, 0))
    size = np.ptp(answers(twin, X))
    np.testing.assert_allclose(answers(weighted, X), answers(twin, X), atol=2e-3 * size)


def test_units_do_not_matter():
    for loss in ("huber", "quantile", "expectile"):
        one, other = (estimator(loss).fit(X, u * NUMBER + 7.0 * u) for u in (1.0, 1e6))
        np.testing.assert_allclose(other.predict(X), 1e6 * one.predict(X), rtol=1e-4)
        bands = [m.effects_["x0"].se for m in (one, other)]
        np.testing.assert_allclose(bands[1], 1e6 * bands[0], rtol=1e-3)
        assert other.deviance_explained_ == pytest.approx(one.deviance_explained_, abs=1e-4)
        assert other.receipt_.main == pytest.approx(one.receipt_.main, abs=1e-3)


def test_offset_and_exposure():
    exposure = RNG.uniform(0.5, 2.0, N)
    for loss in ("negative_binomial", "tweedie", "gamma"):
        y = TARGETS[loss]
        model = estimator(loss).fit(X, y, exposure=exposure)
        same = estimator(loss).fit(X, y, offset=np.log(exposure))
        np.testing.assert_allclose(model.predict(X), same.predict(X))
        np.testing.assert_allclose(
            model.predict(X, exposure=exposure), exposure * model.predict(X), rtol=1e-10
        )
    with pytest.raises(ValueError, match="log link"):
        estimator("cox").fit(X, TARGETS["cox"], exposure=exposure)
    known = 0.5 * X[:, 1]
    model = estimator("cox").fit(X, TARGETS["cox"], offset=known)
    np.testing.assert_allclose(model.predict(X, offset=known), np.exp(known) * model.predict(X))


# ------------------------------------------------------------------------------ levels
def test_levels_hold_on_new_rows_and_do_not_cross():
    levels = [0.9, 0.1, 0.5]
    shares = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x = rng.uniform(-1, 1, (2300, 2))
        y = np.sin(3 * x[:, 0]) + (0.3 + 0.5 * (x[:, 1] > 0)) * rng.standard_t(4, 2300)
        model = AdditiveKernelRegressor(0, loss="quantile", quantile=levels).fit(x[:300], y[:300])
        q = model.predict(x[300:])
        assert np.all(np.diff(q[:, [1, 2, 0]], axis=1) >= 0)
        shares.append((y[300:, None] <= q).mean(axis=0))
    np.testing.assert_allclose(np.mean(shares, axis=0), levels, atol=0.02)  # error 0.3 / sqrt(1800)
    assert model.outputs_ == ["0.9", "0.1", "0.5"]
    assert model.effects_["x0"].outputs == ("0.9", "0.1", "0.5")


def test_outliers_leave_huber_cold():
    wild = NUMBER.copy()
    wild[::12] += 40.0
    error = {}
    for loss in ("huber", "squared"):
        clean, dirty = (AdditiveKernelRegressor(0, loss=loss).fit(X, y).predict(X) for y in (NUMBER, wild))
        error[loss] = np.sqrt(np.mean((dirty - clean) ** 2))
    assert error["huber"] < 0.3 < 1.0 < error["squared"]


# ------------------------------------------------------------------- what is estimated
def test_numbers_of_losses_are_found():
    rng = np.random.default_rng(8)
    x = rng.uniform(-1, 1, (1500, 1))
    mean = np.exp(1.0 + np.sin(3 * x[:, 0]))
    count = rng.poisson(mean * rng.gamma(2.0, 0.5, 1500))
    model = AdditiveKernelRegressor(loss="negative_binomial").fit(x, count)
    assert model.loss_.dispersion == pytest.approx(0.5, rel=0.25)
    amount = np.array([rng.gamma(2.0, 0.5, k).sum() for k in rng.poisson(mean)])  # power (2 + 2) / (2 + 1)
    model = AdditiveKernelRegressor(loss="tweedie").fit(x, amount)
    assert model.loss_.power == pytest.approx(4 / 3, abs=0.06)
    model = AdditiveKernelRegressor(loss="huber").fit(x, np.sin(3 * x[:, 0]) + 0.5 * rng.normal(size=1500))
    assert model.loss_.threshold == pytest.approx(1.345 * 0.5, rel=0.1)
    assert model.losses_ == [model.loss_]
    fixed = AdditiveKernelRegressor(loss=Tweedie(1.7)).fit(x, amount)
    assert fixed.loss_.power == 1.7


def test_dispersion_of_proportions_without_trials_is_found():
    share = np.clip(1 / (1 + np.exp(-SIGNAL)) + 0.05 * RNG.normal(size=N), 0.01, 0.99)
    assert AdditiveKernelRegressor(0, loss="binomial").fit(X, share).scale_ < 0.1
    counts = AdditiveKernelRegressor(0, loss="binomial").fit(X, SUCCESSES / TRIALS, TRIALS)
    assert counts.scale_ == 1.0
    pairs = AdditiveKernelRegressor(0, loss="binomial").fit(X, TARGETS["binomial"])
    np.testing.assert_allclose(pairs.predict(X), counts.predict(X))


def foreseen(model, x, y):
    """What a model says of new rows, and what was seen of them."""
    if hasattr(model, "classes_"):
        return model.predict_proba(x)[:, 2:].sum(axis=1), y >= 2
    if (
        model.loss == "cox"
    ):  # survival of half a unit; of those alive exp(-1/4) have not left, whatever the hazard
        return model.predict_survival(x, times=[0.5])[:, 0], (y[:, 0] > 0.5) / np.exp(-0.25)
    return model.predict(x), y[:, 0] / y.sum(axis=1) if model.loss == "binomial" else y


@pytest.mark.parametrize("loss", ["negative_binomial", "tweedie", "gamma", "binomial", "ordinal", "cox"])
def test_means_and_shares_are_calibrated_on_new_rows(loss):
    """In each of four groups of new rows, by prediction, what was predicted is what is observed."""
    pairs = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        model = estimator(loss).fit(*drawn(loss, rng, 300))
        pairs.append(foreseen(model, *drawn(loss, rng, 1500)))
    predicted, seen = np.hstack(pairs)
    for rows in np.array_split(np.argsort(predicted), 4):
        assert np.mean(seen[rows]) == pytest.approx(np.mean(predicted[rows]), rel=0.12, abs=0.04)


# ---------------------------------------------------------------------- times, classes
def test_survival_curves_and_concordance():
    model = FITTED.get("cox") or estimator("cox").fit(X, TARGETS["cox"])
    curves = model.predict_survival(X[:5])
    assert curves.shape == (5, len(model.baseline_.times))
    assert np.all(np.diff(curves, axis=1) <= 0)
    assert np.all((curves > 0) & (curves <= 1))
    np.testing.assert_allclose(
        -np.log(curves[:, 3]), model.predict(X[:5]) * model.baseline_.cumulative_hazard[3]
    )
    assert model.concordance(X, TARGETS["cox"]) > 0.65
    signed = estimator("cox").fit(X, np.where(EVENT, TIME, -TIME))
    np.testing.assert_array_equal(signed.predict(X), model.predict(X))
    assert abs(model._loo_weight @ model.loo_.residuals) < 0.1 * EVENT.sum()  # of martingales


def test_ordered_classes():
    model = FITTED.get("ordinal") or estimator("ordinal").fit(X, GRADE)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(model.decision_function(X)), P)
    assert model.intercept_ == 0.0
    assert model.loo_.error_rate == pytest.approx(1 - model.score(X, GRADE), abs=0.05)
    named = pd.Categorical.from_codes(GRADE, ["low", "fair", "good", "best"], ordered=True)
    other = AdditiveKernelClassifier(0, loss="ordinal").fit(X, named)
    np.testing.assert_array_equal(other.predict_proba(X), P)
    assert other.classes_.tolist() == ["low", "fair", "good", "best"]
    with pytest.raises(ValueError, match="order of the classes"):
        AdditiveKernelClassifier(loss="ordinal").fit(X, np.array(["low", "fair", "good", "best"])[GRADE])
    held = AdditiveKernelClassifier(0, loss="ordinal", monotone={0: "decreasing"}).fit(X, GRADE)
    line = np.column_stack([np.linspace(-1, 1, 50), np.zeros(50)])
    assert np.all(np.diff(held.predict_proba(line)[:, 0]) >= -1e-12)
    two = AdditiveKernelClassifier(0, loss="ordinal").fit(X, GRADE > 1)
    np.testing.assert_array_equal(
        two.predict_proba(X), AdditiveKernelClassifier(0).fit(X, GRADE > 1).predict_proba(X)
    )


def test_class_weight():
    label = np.where(SIGNAL + RNG.logistic(size=N) > 1.5, "yes", "no")
    share = np.mean(label == "yes")
    balanced = AdditiveKernelClassifier(0, class_weight="balanced").fit(X, label)
    by_hand = np.where(label == "yes", 0.5 / share, 0.5 / (1 - share))
    same = AdditiveKernelClassifier(0).fit(X, label, by_hand)
    np.testing.assert_allclose(balanced.predict_proba(X), same.predict_proba(X))
    assert share < 0.3 < 0.4 < balanced.predict_proba(X)[:, 1].mean() < 0.55
    named = AdditiveKernelClassifier(0, class_weight={"yes": 3}).fit(X, label)
    same = AdditiveKernelClassifier(0).fit(X, label, np.where(label == "yes", 3.0, 1.0))
    np.testing.assert_allclose(named.predict_proba(X), same.predict_proba(X))
    for wrong, message in (("even", "'balanced' or a dict"), ({"maybe": 2}, "names the class 'maybe'")):
        with pytest.raises(ValueError, match=message):
            AdditiveKernelClassifier(class_weight=wrong).fit(X, label)
    with pytest.raises(ValueError, match="positive number"):
        AdditiveKernelClassifier(class_weight={"yes": 0}).fit(X, label)


# --------------------------------------------------------------------- several targets
def test_several_targets_are_models_side_by_side():
    Y = pd.DataFrame({"u": NUMBER, "v": 1e4 * X[:, 1] + 1e3 * RNG.normal(size=N)})
    both = AdditiveKernelRegressor().fit(X, Y)
    for k, name in enumerate(Y):
        alone = AdditiveKernelRegressor().fit(X, Y[name])
        np.testing.assert_allclose(both.predict(X)[:, k], alone.predict(X), rtol=1e-9)
        np.testing.assert_allclose(both.loo_.residuals[:, k], alone.loo_.residuals, rtol=1e-7)
        low, high = (end[:, k] for end in both.predict_interval(X))
        np.testing.assert_allclose(np.column_stack([low, high]), np.column_stack(alone.predict_interval(X)))
    assert both.outputs_ == ["u", "v"]
    assert both.score(X, Y) == pytest.approx(both.deviance_explained_, abs=1e-9)
    assert "outputs u, v" in str(both.summary())
    lean = both.edit(X, Y, drop=["x0"])
    assert lean.term_names_ == [name for name in both.term_names_ if name != "x0"]
    with pytest.raises(ValueError, match="one target"):
        AdditiveKernelRegressor(updatable=True).fit(X, Y)
    with pytest.raises(ValueError, match="The model has 2 targets"):
        both.refit(X, NUMBER)
    with pytest.raises(ValueError, match="y has 3 columns"):
        both.refit(X, np.column_stack([Y, NUMBER]))


# ---------------------------------------------------------------------- files, exports
def test_files_and_edits(fitted, tmp_path):
    model, y = fitted
    path = tmp_path / "model.pellucid"
    save(model, path)
    again = load(path)
    np.testing.assert_array_equal(answers(again, X), answers(model, X))
    assert again.loss_ == model.loss_
    assert again.losses_ == model.losses_
    changed = again.edit(X, y, smooth={"x0": 1.0})
    size = np.ptp(answers(model, X))
    np.testing.assert_allclose(answers(changed, X), answers(model, X), atol=5e-3 * size)
    held = again.edit(X, y, drop=["x1"] if "x1" in model.term_names_ else (), freeze=["x0"])
    np.testing.assert_array_equal(held.effects_["x0"].values, model.effects_["x0"].values)


def test_exports_predict_the_same(fitted, tmp_path):
    model, _ = fitted
    expected = model.predict(X[:40])
    rows = [{"x0": a, "x1": b} for a, b in X[:40]]
    module = {}
    exec(to_python(model), module)
    np.testing.assert_allclose([module["predict"](row) for row in rows], expected, rtol=1e-9)
    np.testing.assert_allclose(from_json(to_json(model)).predict(rows), expected, rtol=1e-9)
    to_tables(model, tmp_path / "model.xlsx")
    ort = pytest.importorskip("onnxruntime")
    to_onnx(model, tmp_path / "model.onnx")
    session = ort.InferenceSession((tmp_path / "model.onnx").read_bytes())
    np.testing.assert_allclose(session.run(None, {"X": X[:40]})[0], expected, rtol=1e-7)
    if len(getattr(model, "outputs_", ())) > 1:
        if model.loss_.name == "quantile":
            with pytest.raises(ValueError, match="order is part"):
                to_sql(model)
        return
    duckdb = pytest.importorskip("duckdb")
    table = pd.DataFrame(X[:40], columns=["x0", "x1"]).assign(row=np.arange(40))
    with duckdb.connect() as connection:
        connection.register("rows", table)
        found = connection.sql(to_sql(model, "rows", keep=["row"])).df().sort_values("row")
    np.testing.assert_allclose(found["prediction"], expected, rtol=1e-9)
    if hasattr(model, "classes_"):
        np.testing.assert_allclose(found.iloc[:, 2:], model.predict_proba(X[:40]), atol=1e-12)


# -------------------------------------------------------------------------------- time
def test_a_fit_whose_time_is_up_says_what_it_left_out(capsys):
    y = NUMBER + X[:, 0] * X[:, 1]
    with pytest.warns(ConvergenceWarning, match=r"max_time of 1e-09 s: left out were pairs, smoothness"):
        short = AdditiveKernelRegressor(max_time=1e-9).fit(X, y)
    assert all(len(term) == 1 for term in short.terms_)
    assert short.score(X, y) > 0.5
    whole = AdditiveKernelRegressor(max_time=1e6).fit(X, y)
    np.testing.assert_array_equal(whole.predict(X), AdditiveKernelRegressor().fit(X, y).predict(X))
    with pytest.raises(ValueError, match="max_time must be a positive number"):
        AdditiveKernelRegressor(max_time=0).fit(X, y)
    assert capsys.readouterr().err == ""


def test_steps_are_told(capsys, monkeypatch):
    monkeypatch.setattr("pellucid._progress._EVERY", 0.0)
    monkeypatch.setattr(Progress, "__init__", partialmethod(Progress.__init__, patience=0.0))
    AdditiveKernelClassifier(0, verbose=1).fit(X, GRADE)
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith("fitting: 3 of 80, ")
    assert told[0].endswith("s left main effects")
    assert "minimum" in told[-1]
