"""Cox models against statsmodels; targets in every form; survival curves; concordance; files."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.duration.hazard_regression import PHReg

from pellucid import InterpretableKernelRegressor, KernelGLMRegressor, load, save, to_onnx
from pellucid.effects.concordance import concordance
from pellucid.kernels import RBF, Linear

rng = np.random.default_rng(0)
N = 250
X = rng.normal(size=(N, 2))
RATE = np.exp(X @ [0.8, -0.5])
FREE, LEFT = rng.exponential(1 / RATE), rng.exponential(2.0, N)
TIME, EVENT = np.ceil(5 * np.minimum(FREE, LEFT)), FREE <= LEFT  # many at the same time
Y = np.column_stack([TIME, EVENT])


@pytest.fixture(scope="module")
def model():
    return KernelGLMRegressor(RBF(2.0), loss="cox", alpha=0.5).fit(X, Y)


def test_the_proportional_hazards_model_of_statsmodels():
    known = 0.3 * rng.normal(size=N)
    for offset in (None, known):
        other = PHReg(TIME, X, status=EVENT, ties="efron", offset=offset).fit(disp=0)
        model = KernelGLMRegressor(Linear(), loss="cox", alpha=1e-8).fit(X, Y, offset=offset)
        np.testing.assert_allclose(model.linear_view().coef, other.params, atol=1e-6)


def test_the_baseline_is_breslows_without_ties():
    t = rng.permutation(N) + 1.0
    model = KernelGLMRegressor(RBF(2.0), loss="cox", alpha=0.5).fit(X, np.column_stack([t, EVENT]))
    risk = model.predict(X)
    masses = [1 / risk[t >= at].sum() for at in np.sort(t[EVENT])]
    np.testing.assert_allclose(model.baseline_.cumulative_hazard, np.cumsum(masses), rtol=1e-9)
    np.testing.assert_array_equal(model.baseline_.times, np.sort(t[EVENT]))


@pytest.mark.parametrize("form", ["list", "frame", "event first", "structured", "signed", "polars"])
def test_targets_in_every_form(form, model):
    pl = pytest.importorskip("polars")
    structured = np.array(list(zip(EVENT, TIME, strict=True)), dtype=[("died", bool), ("time", float)])
    y = {
        "list": Y.tolist(),
        "frame": pd.DataFrame({"time": TIME, "event": EVENT}),
        "event first": np.column_stack([EVENT, TIME]),
        "structured": structured,
        "signed": np.where(EVENT, TIME, -TIME),
        "polars": pl.DataFrame({"time": TIME, "event": EVENT}),
    }[form]
    other = KernelGLMRegressor(RBF(2.0), loss="cox", alpha=0.5).fit(X, y)
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    assert other.score(X, y) == model.score(X, Y)
    assert other.concordance(X, y) == model.concordance(X, Y)


def test_survival_curves(model):
    S = model.predict_survival(X, [0.0, 1.0, 2.0, 5.0, 1e9])
    np.testing.assert_array_equal(S[:, 0], 1.0)
    assert np.all(np.diff(S, axis=1) <= 0)
    order = np.argsort(model.predict(X))
    assert np.all(np.diff(S[order, 3]) <= 0)
    whole = model.predict_survival(X[:1])
    np.testing.assert_allclose(whole[0], model.baseline_.survival ** model.predict(X[:1]))
    assert np.average(np.log(model.predict(X))) == pytest.approx(0.0, abs=1e-10)


def test_survival_is_calibrated_on_new_rows():
    u = rng.uniform(-2, 2, size=(2000, 1))
    free, left = rng.exponential(np.exp(-np.sin(2 * u[:, 0]))), rng.exponential(3.0, 2000)
    y = np.column_stack([np.minimum(free, left), free <= left])
    model = KernelGLMRegressor(loss="cox", alpha="loo").fit(u[:500], y[:500])
    S = model.predict_survival(u[500:], [0.5, 1.5])
    for k, t in enumerate([0.5, 1.5]):
        for rows in np.array_split(np.argsort(S[:, k]), 4):
            assert np.mean(free[500:][rows] > t) == pytest.approx(S[rows, k].mean(), abs=0.08)


@pytest.mark.parametrize("alpha", ["cv", "loo"])
def test_alpha_is_chosen(alpha):
    model = KernelGLMRegressor(RBF(2.0), loss="cox", alpha=alpha).fit(X, Y)
    assert 0.01 < model.alpha_ < 1000
    assert model.concordance(X, Y) > 0.68
    assert 0.05 < model.score(X, Y) < 1
    noise = KernelGLMRegressor(RBF(2.0), loss="cox", alpha=alpha).fit(rng.normal(size=(N, 2)), Y)
    assert noise.alpha_ > model.alpha_


def test_leave_one_out_is_near_refits():
    from pellucid.losses import Cox
    from pellucid.solvers import GLMProblem, fit_joint

    y, rows, Z = np.where(EVENT, TIME, -TIME)[:60], np.arange(60), X[:60]
    p = GLMProblem(y, np.ones(60), np.zeros(60), Cox())
    fit = fit_joint(Z, p, 1.0)
    moved = fit.loo_eta(Z, p, np.ones(60)) - fit.eta
    true = np.empty(60)
    for i in rows:
        part = fit_joint(np.delete(Z, i, 0), p.rows(np.delete(rows, i)), 1.0)
        true[i] = (Z[i] - fit.center) @ (part.delta - fit.delta)
    assert np.corrcoef(moved, true)[0, 1] > 0.95
    assert np.abs(moved - true).mean() < 0.7 * np.abs(true).mean()


def test_weights_of_rows_at_different_times():
    t = rng.permutation(N) + 1.0
    y, times = np.column_stack([t, EVENT]), rng.integers(0, 2, N)
    weighted = KernelGLMRegressor(RBF(2.0), loss="cox", alpha=0.5).fit(X, y, times)
    twin = KernelGLMRegressor(RBF(2.0), loss="cox", alpha=0.5).fit(X[times > 0], y[times > 0])
    np.testing.assert_allclose(weighted.predict(X), twin.predict(X), rtol=1e-9)
    double = KernelGLMRegressor(RBF(2.0), loss="cox", alpha=1.0).fit(X, y, np.full(N, 2.0))
    np.testing.assert_allclose(
        double.predict(X), KernelGLMRegressor(RBF(2.0), loss="cox", alpha=0.5).fit(X, y).predict(X)
    )


def test_concordance_by_all_pairs():
    for n in (1, 2, 7, 60):
        t, e = rng.integers(1, 9, n).astype(float), rng.uniform(size=n) < 0.6
        risk, w = rng.integers(0, 6, n).astype(float), rng.uniform(size=n)
        first = e[:, None] & ((t[:, None] < t) | ((t[:, None] == t) & ~e))
        pairs = first * np.outer(w, w)
        won = pairs * ((risk[:, None] > risk) + 0.5 * (risk[:, None] == risk))
        with np.errstate(invalid="ignore"):
            expected = won.sum() / pairs.sum()
        np.testing.assert_allclose(concordance(t, e, risk, w), expected)


def test_files_and_graphs(model, tmp_path):
    save(model, tmp_path / "m.pellucid")
    copy = load(tmp_path / "m.pellucid")
    assert copy.loss_ == model.loss_
    np.testing.assert_array_equal(copy.predict_survival(X, [1.0, 3.0]), model.predict_survival(X, [1.0, 3.0]))
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    np.testing.assert_allclose(session.run(["prediction"], {"X": X})[0], model.predict(X), rtol=1e-9)


def test_what_is_wrong_is_said(model):
    bad = {
        "must say whether": np.column_stack([TIME, 2.0 * EVENT]),
        "not be negative": np.column_stack([TIME - 50, EVENT]),
    }
    for words, y in bad.items():
        with pytest.raises(ValueError, match=words):
            KernelGLMRegressor(loss="cox").fit(X, y)
    with pytest.raises(ValueError, match="log link"):
        KernelGLMRegressor(loss="cox").fit(X, Y, exposure=TIME)
    poisson = KernelGLMRegressor(RBF(), alpha=1.0).fit(X, TIME)
    for name in ("predict_survival", "concordance", "baseline_"):
        assert hasattr(model, name)
        assert not hasattr(poisson, name)
    with pytest.raises(ValueError, match="does not take the loss 'cox'"):
        InterpretableKernelRegressor(loss="cox").fit(X, Y)
    with pytest.raises(ValueError, match="event"):
        KernelGLMRegressor(loss="cox").fit(X, np.column_stack([TIME, 0 * TIME]))
