"""Offsets and exposures are a known part of the linear predictor."""

import numpy as np
import pytest
from glm_oracles import sample, side

from pellucid import KernelClassifier, KernelGLMRegressor
from pellucid.exceptions import RateWarning
from pellucid.kernels import RBF

KERNEL = RBF.from_gamma(0.3)


def test_a_constant_offset_only_moves_the_intercept():
    X, y = sample("poisson")
    plain = KernelGLMRegressor(KERNEL, alpha=1.0).fit(X, y)
    moved = KernelGLMRegressor(KERNEL, alpha=1.0).fit(X, y, offset=np.full(60, 2.0))
    assert moved.intercept_ == pytest.approx(plain.intercept_ - 2)
    np.testing.assert_allclose(moved.dual_coef_, plain.dual_coef_, atol=1e-9)
    np.testing.assert_allclose(moved.predict(X, offset=np.full(60, 2.0)), plain.predict(X), rtol=1e-9)


def test_exposure_is_the_logarithm_of_an_offset():
    X, y = sample("poisson")
    hours = np.exp(side(60)[1])
    one = KernelGLMRegressor(KERNEL, alpha=1.0).fit(X, y, exposure=hours)
    other = KernelGLMRegressor(KERNEL, alpha=1.0).fit(X, y, offset=np.log(hours))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_allclose(one.predict(X, exposure=hours), hours * one.predict(X))


def test_squared_offset_is_subtracted_from_the_targets():
    X, y = sample("squared")
    offset = side(60)[1]
    one = KernelGLMRegressor(KERNEL, loss="squared", alpha=1.0).fit(X, y, offset=offset)
    other = KernelGLMRegressor(KERNEL, loss="squared", alpha=1.0).fit(X, y - offset)
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-10)


def test_rates_weighted_by_exposure_are_counts_with_exposure():
    X, y = sample("poisson")
    hours = 0.5 * np.random.default_rng(0).integers(1, 9, 60)
    counts = KernelGLMRegressor(KERNEL, alpha=1.0).fit(X, y, exposure=hours)
    rates = KernelGLMRegressor(KERNEL, alpha=1.0).fit(X, y / hours, sample_weight=hours)
    np.testing.assert_allclose(rates.predict(X), counts.predict(X), rtol=1e-9)


def test_fractions_without_exposure_are_taken_as_rates_with_a_warning():
    X, y = sample("poisson")
    with pytest.warns(RateWarning, match="exposure="):
        model = KernelGLMRegressor(KERNEL, alpha=1.0).fit(X, y / 3)
    other = KernelGLMRegressor(KERNEL, alpha=3.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), other.predict(X) / 3, rtol=1e-8)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
def test_offset_of_a_classifier(loss):
    X, y = sample("logistic")
    offset = side(60)[1]
    model = KernelClassifier(KERNEL, loss=loss, alpha=0.3).fit(X, y, offset=offset)
    scores = model.decision_function(X, offset=offset)
    np.testing.assert_allclose(scores, model.decision_function(X) + offset)
    np.testing.assert_array_equal(model.predict(X, offset=offset), model.classes_[(scores > 0).astype(int)])
    assert model.optimality_ < 1e-8
