"""What a factor in all weights does: nothing to precisions, and what repeated rows do to counts."""

import numpy as np
import pytest

from pellucid import (
    InterpretableKernelClassifier,
    InterpretableKernelRegressor,
    KernelClassifier,
    KernelFisherDiscriminant,
    KernelGLMRegressor,
    KernelRidge,
    KernelRidgeClassifier,
)
from pellucid.exceptions import WeightWarning
from pellucid.kernels import RBF

pytestmark = pytest.mark.filterwarnings("ignore::pellucid.exceptions.FidelityWarning")
MODELS = {
    "ridge": KernelRidge(),
    "ridge, given alpha": KernelRidge(RBF(), alpha=1.0),
    "classifier": KernelRidgeClassifier(),
    "discriminant": KernelFisherDiscriminant(),
    "counts": KernelGLMRegressor(RBF(), alpha=1.0),
    "squared": KernelGLMRegressor(loss="squared"),
    "logistic": KernelClassifier(RBF(), alpha=0.1),
    "coefficients": InterpretableKernelRegressor(alpha="loo"),
    "coefficients of classes": InterpretableKernelClassifier(RBF(2.0), alpha=0.1),
}
every_model = pytest.mark.parametrize("name", MODELS)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    return X, rng.poisson(np.exp(X[:, 0])), rng.uniform(0.5, 1.5, 200)


def fitted(name, data, weight, **options):
    from sklearn.base import clone

    X, counts, _ = data
    y = (counts > 1).astype(int) if "class" in name or name in ("discriminant", "logistic") else counts
    return clone(MODELS[name]).set_params(**options).fit(X, y, sample_weight=weight)


def answer(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


@every_model
def test_precisions_only_compare_rows(name, data):
    X, _, weight = data
    one = fitted(name, data, weight / weight.mean(), weights="counts")
    for factor in (0.005, 1.0, 20.0, 1e12):
        other = fitted(name, data, factor * weight, weights="precision")
        np.testing.assert_allclose(answer(other, X), answer(one, X), rtol=1e-6, atol=1e-6)


@every_model
def test_weights_far_from_one_are_taken_for_precisions(name, data):
    X = data[0]
    plain = fitted(name, data, None)
    assert answer(fitted(name, data, np.ones(200)), X) == pytest.approx(answer(plain, X), rel=1e-12)
    for size in (0.005, 20.0, 1e12):
        with pytest.warns(WeightWarning, match="taken for precisions"):
            other = fitted(name, data, np.full(200, size))
        np.testing.assert_allclose(answer(other, X), answer(plain, X), rtol=1e-6, atol=1e-6)
        if hasattr(plain, "effective_dof_"):
            assert other.effective_dof_ == pytest.approx(plain.effective_dof_)


@every_model
def test_counts_are_counts_however_many(name, data):
    X = data[0]
    twenty = fitted(name, data, np.full(200, 20.0), weights="counts")
    plain = fitted(name, data, None)
    assert not np.allclose(answer(twenty, X), answer(plain, X), rtol=1e-3)
    if isinstance(plain.alpha, float):  # the objective as it is written
        lower = fitted(name, data, None, alpha=plain.alpha / 20.0)
        np.testing.assert_allclose(twenty.dual_coef_, lower.dual_coef_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["squared", "coefficients"])
def test_too_many_observations_are_blamed_on_the_weights(name, data):
    with pytest.raises(ValueError, match=r"Weights with a mean of 1e\+12 .* weights='precision'"):
        fitted(name, data, np.full(200, 1e12), weights="counts", alpha="cv")


@every_model
def test_readings_have_names(name, data):
    with pytest.raises(ValueError, match="'auto', 'counts' or 'precision', got 'frequency'"):
        fitted(name, data, None, weights="frequency")
