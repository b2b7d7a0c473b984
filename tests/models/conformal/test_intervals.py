"""Calibrated intervals: coverage in all, and where it is easy and where it is hard."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from pellucid import (
    AdditiveKernelRegressor,
    KernelGLMRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    conformal,
)
from pellucid.effects.conformal import conformal_reach
from pellucid.kernels import RBF

rng = np.random.default_rng(0)


def uneven(n):
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, X[:, 0] + np.exp(1.5 * X[:, 1]) * rng.normal(size=n)


def covered(interval, y):
    low, high = interval
    return (low <= y) & (y <= high)


X, Y = uneven(200)
X_CAL, Y_CAL = uneven(600)
X_NEW, Y_NEW = uneven(4000)
HARD = X_NEW[:, 1] > 0.5


@pytest.mark.parametrize(
    "model",
    [
        KernelRidge(RBF(2.0)),
        AdditiveKernelRegressor(0),
        KernelGLMRegressor(RBF(2.0), loss="squared", alpha=1.0),
    ],
)
def test_scaled_intervals_cover_where_it_is_hard(model):
    model.fit(X, Y)
    scaled, plain = (
        conformal(model, X_CAL, Y_CAL, width=width).interval(X_NEW) for width in ("scaled", "constant")
    )
    for interval in (scaled, plain):
        assert abs(covered(interval, Y_NEW).mean() - 0.9) < 0.035
    assert abs(covered(scaled, Y_NEW)[HARD].mean() - 0.9) < 0.06
    assert covered(plain, Y_NEW)[HARD].mean() < 0.8


def test_the_jackknife_of_kernel_ridge_can_be_scaled():
    model = KernelRidge(RBF(2.0)).fit(X, Y)
    scaled, plain = (model.predict_interval(X_NEW, width=width).T for width in ("scaled", "constant"))
    assert np.array_equal(plain, model.predict_interval(X_NEW).T)
    assert abs(covered(scaled, Y_NEW).mean() - 0.9) < 0.07
    assert covered(scaled, Y_NEW)[HARD].mean() > covered(plain, Y_NEW)[HARD].mean() + 0.05
    both = KernelRidge(RBF(2.0)).fit(X, np.column_stack([Y, 1e9 * Y])).predict_interval(X_NEW, width="scaled")
    assert np.allclose(both[:, :, 1], 1e9 * both[:, :, 0], rtol=1e-6)
    with pytest.raises(ValueError, match="'constant' or 'scaled'"):
        model.predict_interval(X_NEW, width="wide")


def test_constant_width_is_split_conformal():
    model = LinearRegression().fit(X, Y)
    reach = conformal_reach(np.abs(Y_CAL - model.predict(X_CAL)), 0.8)
    low, high = conformal(model, X_CAL, Y_CAL, width="constant").interval(X_NEW, 0.8)
    assert np.allclose(high - model.predict(X_NEW), reach)
    assert np.allclose(model.predict(X_NEW) - low, reach)


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_counts_and_amounts(loss):
    def draw(n):
        X = rng.uniform(-1, 1, size=(n, 2))
        time = rng.uniform(0.5, 2.0, n)
        mean = 4 * time * np.exp(X[:, 0])
        amounts = rng.gamma(2.0, mean / 2.0)
        return X, rng.poisson(rng.gamma(3.0, mean / 3.0)) if loss == "poisson" else amounts, time

    Xs, y, time = draw(300)
    model = AdditiveKernelRegressor(0, loss=loss).fit(Xs, y, exposure=time)
    Xs, y, time = draw(500)
    found = conformal(model, Xs, y, exposure=time)
    Xs, y, time = draw(3000)
    low, high = found.interval(Xs, exposure=time)
    assert np.all(low >= 0)
    assert 0.87 < covered((low, high), y).mean() < 0.96  # counts are more than Poisson, and ends are whole
    few, many = (
        covered((low, high), y)[Xs[:, 0] < -0.5].mean(),
        covered((low, high), y)[Xs[:, 0] > 0.5].mean(),
    )
    assert min(few, many) > 0.83
    if loss == "poisson":
        assert np.all(low == np.rint(low))
    assert "deviance residual" in str(found.summary())


def test_a_band_of_two_models():
    class End:
        def __init__(self, z):
            self.z = z

        def predict(self, X):
            return X[:, 0] + self.z * np.exp(1.5 * X[:, 1])

    found = conformal((End(-0.5), End(0.5)), X_CAL, Y_CAL)
    inside = covered(found.interval(X_NEW), Y_NEW)
    assert abs(inside.mean() - 0.9) < 0.035
    assert "band" in str(found.summary())


def test_tables_perfect_fits_and_refusals():
    frame = pd.DataFrame({"a": X[:, 0], "kind": np.where(X[:, 1] > 0, "wild", "tame")})
    y = X[:, 0] + np.where(X[:, 1] > 0, 2.0, 0.1) * rng.normal(size=200)
    model = AdditiveKernelRegressor(0).fit(frame[:80], y[:80])
    found = conformal(model, frame[80:], y[80:])
    assert "kind" in str(found.summary())
    low, high = found.interval(frame)
    width = pd.Series(high - low).groupby(frame["kind"]).mean()
    assert width["wild"] > 4 * width["tame"]
    line = LinearRegression().fit(X, X[:, 0])
    low, high = conformal(line, X, line.predict(X)).interval(X)
    assert np.allclose(low, high)
    with pytest.raises(ValueError, match="classes have probabilities"):
        conformal(KernelRidgeClassifier(alpha=1.0).fit(X, Y > 0), X, Y > 0)
    with pytest.raises(ValueError, match="two models, got 3"):
        conformal((line, line, line), X, Y)
    with pytest.raises(ValueError, match="'scaled' or 'constant'"):
        conformal(line, X, Y, width="thin")
    with pytest.raises(ValueError, match="one target at a time"):
        conformal(LinearRegression().fit(X, X), X, Y)
    with pytest.raises(ValueError, match="one finite number"):
        conformal(line, X, np.where(Y > 2, np.nan, Y))


@pytest.mark.parametrize("loss", ["tweedie", "negative_binomial"])
def test_ends_of_amounts_and_counts_are_not_negative(loss):
    from pellucid import KernelGLMRegressor

    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 1))
    y = rng.negative_binomial(2, 1 / (1 + np.exp(X[:, 0]))).astype(float)
    y = y if loss == "negative_binomial" else y * rng.gamma(2.0, 0.5, 120)
    low, high = conformal(KernelGLMRegressor(loss=loss, alpha=1.0).fit(X, y), X, y).interval(X)
    assert np.all(low >= 0)
    assert np.all(high >= low)
    if loss == "negative_binomial":
        np.testing.assert_array_equal(low, np.rint(low))
    assert not np.any(np.signbit(low))
