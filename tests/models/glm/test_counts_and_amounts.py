"""Tweedie, negative binomial and binomial losses against statsmodels and scikit-learn."""

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.linear_model import TweedieRegressor
from sklearn.metrics import d2_tweedie_score

from pellucid import InterpretableKernelRegressor, KernelGLMRegressor, load, save, to_onnx, to_python
from pellucid.kernels import RBF, Linear
from pellucid.losses import Binomial, NegativeBinomial, Tweedie

rng = np.random.default_rng(0)
N = 300
X = rng.normal(size=(N, 2))
ETA = 0.3 + X @ [0.6, -0.4]
TIME = rng.uniform(0.3, 3.0, N)
WEIGHT = rng.integers(1, 4, N).astype(float)
COUNTS = rng.poisson(TIME * np.exp(ETA) * rng.gamma(2.0, 0.5, N)).astype(float)
AMOUNTS = rng.poisson(np.exp(ETA)) * rng.gamma(2.0, 1.0, N)
TRIALS = rng.integers(0, 12, N)
HITS = rng.binomial(TRIALS, 1 / (1 + np.exp(-ETA)))
TINY = {"kernel": Linear(), "alpha": 1e-8}
A = sm.add_constant(X)


def _lines(predictor):
    at = predictor(np.vstack([np.zeros(2), np.eye(2)]))
    return np.append(at[0], at[1:] - at[0])


@pytest.mark.parametrize("alpha", [0.1, 10.0])
def test_tweedie_regression_of_scikit_learn(alpha):
    model = KernelGLMRegressor(Linear(), loss=Tweedie(1.4), alpha=alpha).fit(X, AMOUNTS, WEIGHT)
    other = TweedieRegressor(power=1.4, alpha=alpha / WEIGHT.sum(), link="log", tol=1e-10, max_iter=10_000)
    other.fit(X, AMOUNTS, sample_weight=WEIGHT)
    np.testing.assert_allclose(model.predict(X), other.predict(X), rtol=1e-5)
    expected = d2_tweedie_score(AMOUNTS, other.predict(X), sample_weight=WEIGHT, power=1.4)
    assert model.score(X, AMOUNTS, WEIGHT) == pytest.approx(expected, abs=1e-6)


def test_the_power_is_estimated_with_the_fit():
    model = KernelGLMRegressor(loss="tweedie", alpha="loo").fit(X, AMOUNTS)
    assert model.loss_.power == pytest.approx(4 / 3, abs=0.06)  # gamma shape two
    again = KernelGLMRegressor(model.kernel_, loss=model.loss_, alpha=model.alpha_).fit(X, AMOUNTS)
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-8)


def test_negative_binomial_regression_of_statsmodels():
    other = sm.NegativeBinomial(COUNTS, A, exposure=TIME).fit(disp=0, maxiter=500, gtol=1e-10)
    fixed = NegativeBinomial(other.params[3])
    model = KernelGLMRegressor(loss=fixed, **TINY).fit(X, COUNTS, exposure=TIME)
    np.testing.assert_allclose(_lines(lambda x: np.log(model.predict(x))), other.params[:3], atol=1e-5)
    found = KernelGLMRegressor(loss="negative_binomial", **TINY).fit(X, COUNTS, exposure=TIME)
    assert found.loss_.dispersion == pytest.approx(other.params[3], rel=0.1)  # rows left out vary a bit more


def test_binomial_regression_of_statsmodels():
    some = TRIALS > 0
    pairs = np.column_stack([HITS, TRIALS - HITS])
    other = sm.GLM(pairs[some], A[some], family=sm.families.Binomial()).fit(tol=1e-12)
    model = KernelGLMRegressor(loss="binomial", **TINY).fit(X, pairs)
    np.testing.assert_allclose(
        _lines(lambda x: model.loss_.predictor(model.predict(x))), other.params, atol=1e-6
    )
    null = sm.GLM(pairs[some], A[some, :1], family=sm.families.Binomial()).fit(tol=1e-12)
    assert model.score(X, pairs) == pytest.approx(1 - other.deviance / null.deviance, abs=1e-7)
    shares = KernelGLMRegressor(loss=Binomial(), **TINY)
    shares.fit(X[some], HITS[some] / TRIALS[some], TRIALS[some])
    np.testing.assert_allclose(shares.predict(X), model.predict(X), atol=1e-9)
    coefficients = InterpretableKernelRegressor(Linear(), loss="binomial", alpha=1e-8, certify=0).fit(
        X, pairs
    )
    error = coefficients.coefficient_frame()["standard_error"]
    np.testing.assert_allclose(error, other.bse[1:], rtol=0.01)


@pytest.mark.parametrize("loss", ["tweedie", "negative_binomial"])
def test_standard_errors_of_statsmodels(loss):
    model = InterpretableKernelRegressor(Linear(), loss=loss, alpha=1e-8, certify=0)
    y = AMOUNTS if loss == "tweedie" else COUNTS
    model.fit(X, y)
    kinds = sm.families
    family = (
        kinds.Tweedie(var_power=model.loss_.power)
        if loss == "tweedie"
        else kinds.NegativeBinomial(alpha=model.loss_.dispersion)
    )
    other = sm.GLM(y, A, family=family).fit()
    np.testing.assert_allclose(model.coef_, other.params[1:], atol=1e-4)
    np.testing.assert_allclose(model.coefficient_frame()["standard_error"], other.bse[1:], rtol=0.1)


@pytest.mark.parametrize("loss", [Tweedie(1.4), NegativeBinomial(0.5), Binomial()])
def test_weight_two_is_the_row_twice(loss):
    y = np.minimum(COUNTS, 1.0) if loss.name == "binomial" else COUNTS
    times = WEIGHT.astype(int)
    known = {} if loss.name == "binomial" else {"exposure": TIME}
    model = KernelGLMRegressor(RBF(2.0), loss=loss, alpha=0.5).fit(X, y, WEIGHT, **known)
    known = {key: np.repeat(value, times) for key, value in known.items()}
    twin = KernelGLMRegressor(RBF(2.0), loss=loss, alpha=0.5)
    twin.fit(np.repeat(X, times, 0), np.repeat(y, times), **known)
    np.testing.assert_allclose(model.predict(X), twin.predict(X), rtol=1e-7)


def test_predictions_are_calibrated_on_new_rows():
    rng = np.random.default_rng(1)
    U = rng.uniform(-2, 2, size=(3000, 1))
    mean = np.exp(np.sin(2 * U[:, 0]))
    y = rng.poisson(mean * rng.gamma(2.0, 0.5, 3000))
    model = KernelGLMRegressor(loss="negative_binomial", alpha="loo").fit(U[:400], y[:400])
    assert model.loss_.dispersion == pytest.approx(0.5, abs=0.2)
    new = model.predict(U[400:])
    groups = np.array_split(np.argsort(new), 5)
    for rows in groups:
        assert np.mean(y[400:][rows]) == pytest.approx(np.mean(new[rows]), rel=0.2)


@pytest.mark.parametrize("loss", ["tweedie", "negative_binomial", "binomial"])
def test_files_graphs_and_sources(loss, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    y = np.minimum(COUNTS, 1.0) if loss == "binomial" else COUNTS
    model = KernelGLMRegressor(RBF(1.0), loss=loss, alpha=1.0).fit(X, y)
    save(model, tmp_path / "m.pellucid")
    copy = load(tmp_path / "m.pellucid")
    assert copy.loss_ == model.loss_
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    np.testing.assert_allclose(session.run(["prediction"], {"X": X})[0], model.predict(X), rtol=1e-9)
    lines = InterpretableKernelRegressor(RBF(1.0), loss=loss, alpha=1.0, certify=0).fit(X, y)
    module = {}
    exec(to_python(lines), module)
    row = {"x0": X[0, 0], "x1": X[0, 1]}
    assert module["predict"](row) == pytest.approx(lines.predict(X[:1])[0])


def test_refusals():
    with pytest.raises(ValueError, match="not be negative"):
        KernelGLMRegressor(loss="binomial").fit(X[:3], [[1, 2], [-1, 2], [0, 1]])
    with pytest.raises(ValueError, match="from 0 to 1"):
        KernelGLMRegressor(loss="binomial").fit(X[:3], [0.5, 2.0, 1.0])
    with pytest.raises(ValueError, match="log link"):
        KernelGLMRegressor(RBF(), loss="binomial", alpha=1.0).fit(X[:3], [0.5, 0.2, 1.0], exposure=np.ones(3))
