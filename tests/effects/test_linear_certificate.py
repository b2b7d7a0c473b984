"""What the certificate says, and how it reads."""

import numpy as np
import pytest
from glm_oracles import sample

from pellucid import InterpretableKernelClassifier, InterpretableKernelRegressor
from pellucid.effects.linear import fidelity, in_sample_gap
from pellucid.exceptions import FidelityWarning
from pellucid.kernels import RBF, Linear


def test_gap_and_fidelity_of_equal_and_of_useless_predictors():
    rng = np.random.default_rng(0)
    kernel, weight = rng.normal(size=(50, 1)), rng.uniform(size=50)
    mean = np.full((50, 1), weight @ kernel / weight.sum())
    assert in_sample_gap(kernel, kernel, weight) == 0
    assert fidelity(kernel, kernel, weight) == 1
    assert in_sample_gap(kernel, mean, weight) == pytest.approx(1)
    assert fidelity(kernel, mean, weight) == pytest.approx(0, abs=1e-12)
    assert fidelity(mean, mean, weight) == 1
    assert in_sample_gap(mean, mean, weight) == 0


def test_a_linear_kernel_is_faithful_on_new_rows():
    X, y = sample("squared", 80)
    model = InterpretableKernelRegressor(Linear(), alpha=0.1).fit(X, y)
    c = model.certificate_
    assert c.fidelity == pytest.approx(1, abs=1e-9)
    assert c.score_linear == pytest.approx(c.score_kernel, abs=1e-9)
    assert "exact" in str(c)
    assert "5-fold" in str(c)


def test_poor_fidelity_warns_where_the_coefficients_predict():
    X, y = sample("squared", 40, p=60)
    model = InterpretableKernelRegressor(RBF.from_gamma(0.5), alpha=0.1).fit(X, y)
    assert model.certificate_.exact
    assert model.certificate_.fidelity < 0.5
    with pytest.warns(FidelityWarning, match="how='kernel'"):
        model.predict(X)
    model.predict(X, how="kernel")  # silent


def test_held_out_scores_are_those_of_fits_without_the_fold():
    X, y = sample("squared", 40)
    model = InterpretableKernelRegressor(RBF.from_gamma(0.3), alpha=0.1, certify=4).fit(X, y)
    linear, kernel = np.empty(40), np.empty(40)
    for test in np.array_split(np.random.default_rng(0).permutation(40), 4):
        rest = np.setdiff1d(np.arange(40), test)
        part = InterpretableKernelRegressor(RBF.from_gamma(0.3), alpha=0.1, certify=0).fit(X[rest], y[rest])
        linear[test], kernel[test] = part.predict(X[test]), part.predict(X[test], how="kernel")
    total = np.sum((y - y.mean()) ** 2)
    c = model.certificate_
    assert c.score_linear == pytest.approx(1 - np.sum((y - linear) ** 2) / total, abs=1e-8)
    assert c.score_kernel == pytest.approx(1 - np.sum((y - kernel) ** 2) / total, abs=1e-8)
    assert c.fidelity == pytest.approx(fidelity(kernel[:, None], linear[:, None], np.ones(40)), abs=1e-8)


@pytest.mark.parametrize("name", ["logistic", "multinomial"])
def test_classes_have_agreement(name):
    X, y = sample(name, 60)
    model = InterpretableKernelClassifier(RBF.from_gamma(0.1), alpha=1.0).fit(X, y)
    assert 0 < model.certificate_.agreement <= 1
    assert 0 < model.certificate_.score_linear <= 1
    assert "same class" in str(model.certificate_)


@pytest.mark.parametrize("certify", [0, 5])
def test_few_rows_or_no_folds_leave_it_out(certify):
    X, y = sample("squared", 8)
    model = InterpretableKernelRegressor(RBF(), alpha=0.1, certify=certify).fit(X, y)
    assert model.certificate_.fidelity is None
    assert model.certificate_.how == "not computed"
    assert "held-out fidelity  not computed" in str(model.certificate_)


def test_linear_view_prints_the_largest_effects_first():
    X, y = sample("squared", 60, p=12)
    model = InterpretableKernelRegressor(Linear(), alpha=0.1).fit(X * np.arange(1, 13), y)
    view = model.linear_view()
    text = str(view)
    largest = np.argmax(np.abs(model.coef_ * model.feature_sd_))
    assert text.splitlines()[1].startswith(f"x{largest} ")
    assert "2 more" in text
    assert view.kaf == 1
    np.testing.assert_allclose(view.predict(X), model.predict(X), atol=1e-9)
