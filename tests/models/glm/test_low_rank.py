"""Landmarks: as good as they say, better the more there are, and taken by themselves for many rows."""

import numpy as np
import pytest
from glm_oracles import rbf, sample

from pellucid import InterpretableKernelClassifier, KernelClassifier, KernelGLMRegressor
from pellucid.kernels import RBF, Linear
from pellucid.models.kernel_fit import kernel_features

KERNEL = RBF.from_gamma(0.3)


@pytest.mark.parametrize("name", ["squared", "poisson", "logistic", "hinge", "multinomial"])
def test_more_landmarks_come_closer_to_the_exact_model(name):
    X, y = sample(name, 150)
    X_new = sample(name, 40, seed=9)[0]
    classes = name in ("logistic", "hinge", "multinomial")
    kind = KernelClassifier if classes else KernelGLMRegressor
    options = {"loss": "logistic" if name == "multinomial" else name, "alpha": 0.5}
    method = "decision_function" if classes else "predict"
    exact = getattr(kind(KERNEL, **options).fit(X, y), method)(X_new)
    errors, accuracy = [], []
    for m in (5, 20, 60, 150):
        model = kind(KERNEL, n_components=m, **options).fit(X, y)
        errors.append(np.abs(getattr(model, method)(X_new) - exact).max())
        accuracy.append(model.kernel_accuracy_)
        assert len(model.X_fit_) == len(model.dual_coef_) <= m
    assert np.all(np.diff(accuracy) >= 0)
    assert errors[3] < errors[2] < errors[0]
    assert errors[3] < 2e-3 * np.abs(exact).max()


def test_accuracy_is_the_share_of_the_trace():
    X, y = sample("logistic", 100)
    model = KernelClassifier(KERNEL, alpha=0.5, n_components=15).fit(X, y)
    landmarks = model.X_fit_
    C = rbf(X, landmarks)
    nystrom = C @ np.linalg.pinv(rbf(landmarks), rcond=1e-13) @ C.T
    assert model.kernel_accuracy_ == pytest.approx(np.trace(nystrom) / 100, abs=1e-8)
    assert KernelClassifier(KERNEL, alpha=0.5).fit(X, y).kernel_accuracy_ == 1


@pytest.mark.parametrize("alpha", [1e-8, 0.5])
@pytest.mark.parametrize("n_components", [None, 15])
def test_predictions_of_the_training_rows_are_the_fit(n_components, alpha):
    X, y = sample("logistic", 100)
    model = KernelClassifier(KERNEL, alpha=alpha, n_components=n_components).fit(X, y)
    fit = model._scores_fit[:, 0]
    np.testing.assert_allclose(model.decision_function(X), fit, atol=1e-9 * np.abs(fit).max())
    assert ("landmarks" in str(model.summary())) == (n_components is not None)


def test_landmarks_of_a_precomputed_kernel():
    X, y = sample("logistic", 100)
    K = rbf(X)
    weight = (np.arange(100) % 4 > 0).astype(float)
    model = KernelClassifier("precomputed", alpha=0.5, n_components=20).fit(K, y, sample_weight=weight)
    other = KernelClassifier(KERNEL, alpha=0.5, n_components=20).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.decision_function(K), other.decision_function(X), atol=1e-8)


def test_many_rows_take_landmarks(monkeypatch):
    X, y = sample("logistic", 4001)
    model = KernelClassifier(Linear(), alpha=1.0).fit(X, y)
    assert model._centres is not None
    assert model.kernel_accuracy_ > 1 - 1e-6
    monkeypatch.setattr(kernel_features, "EXACT_ROWS", 5000)
    exact = KernelClassifier(Linear(), alpha=1.0, n_components=3).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), exact.decision_function(X), atol=1e-6)


def test_coefficients_of_many_rows():
    X, y = sample("logistic", 4500)
    model = InterpretableKernelClassifier(RBF.from_gamma(0.05), alpha=1.0, certify=2).fit(X, y)
    assert model._centres is not None
    assert model.kernel_accuracy_ > 1 - 2e-6
    assert 0 < model.kaf_ < 1
    assert model.coef_.shape == (3,)
    assert model.certificate_.fidelity is not None
