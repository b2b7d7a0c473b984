"""Any loss with many rows: blocks that are not stored, alpha on a sample, the exact answer by iteration."""

import numpy as np
import pytest
from glm_oracles import sample
from scipy import sparse

from pellucid import InterpretableKernelRegressor, KernelClassifier, KernelGLMRegressor, load, save
from pellucid.kernels import RBF, Laplacian, Matern
from pellucid.linalg import BlockFeatures
from pellucid.models.glm_fit import tall
from pellucid.models.kernel_fit import kernel_features, tall_fit

KERNEL = Matern(1.5, nu=2.5)
RNG = np.random.default_rng(0)


def kind(name):
    return KernelClassifier if name in ("logistic", "multinomial", "squared_hinge") else KernelGLMRegressor


def make(name, **options):
    loss = "logistic" if name == "multinomial" else name
    return kind(name)(options.pop("kernel", KERNEL), loss=loss, **({"alpha": 0.3} | options))


def scores(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else np.log(model.predict(X))


def test_features_in_blocks_are_the_features_stored():
    K, T = RNG.normal(size=(50, 6)), np.triu(RNG.normal(size=(6, 6)))
    w, V, U = RNG.uniform(0.1, 2.0, 50), RNG.normal(size=(6, 2)), RNG.normal(size=(50, 3))
    for coarse in (None, lambda rows: K[rows].astype(np.float32)):
        Z = BlockFeatures(lambda rows: K[rows], coarse, T, np.arange(50), 1.0)
        near = {"rtol": 1e-10, "atol": 1e-12} if coarse is None else {"rtol": 1e-5, "atol": 1e-4}
        dense = K @ T
        np.testing.assert_allclose(Z @ V, dense @ V, rtol=1e-12)
        np.testing.assert_allclose(Z.transposed_times(U), dense.T @ U, rtol=1e-10)
        np.testing.assert_allclose(Z[10:30].stored(), dense[10:30], rtol=1e-12)
        for center in (True, False):
            A, mean = Z.weighted_products(w, center=center)
            expected = w @ dense / w.sum() if center else np.zeros(6)
            np.testing.assert_allclose(mean, expected, **near)
            np.testing.assert_allclose(A, (dense - expected).T @ (w[:, None] * (dense - expected)), **near)


@pytest.mark.parametrize("name", ["poisson", "logistic", "multinomial", "gamma"])
def test_blocks_that_are_not_stored_give_the_same_model(name, monkeypatch):
    X, y = sample(name, 300)
    stored = make(name, n_components=300).fit(X, y)
    monkeypatch.setattr(kernel_features, "_STORED_BYTES", 0.0)
    model = make(name, n_components=300).fit(X, y)
    expected = scores(stored, X)
    np.testing.assert_allclose(scores(model, X), expected, atol=1e-4 * np.abs(expected).max())
    report = model.solver_report_
    assert report.precision == "float32"
    assert report.gap < 1e-3
    assert report.expected_bytes < stored.solver_report_.expected_bytes
    assert model.kernel_accuracy_ > 1 - 1e-6


@pytest.mark.parametrize("name", ["poisson", "logistic", "gamma", "squared_hinge"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_newton_around_conjugate_gradients_is_the_exact_answer(name, fit_intercept, monkeypatch):
    X, y = sample(name, 300)
    weight = RNG.uniform(0.5, 2.0, 300)
    exact = make(name, fit_intercept=fit_intercept).fit(X, y, weight)
    monkeypatch.setattr(tall_fit, "_TILE", 64)
    model = make(name, fit_intercept=fit_intercept, solver="iterative", n_components=20).fit(X, y, weight)
    expected = exact._scores_fit
    np.testing.assert_allclose(model._scores_fit, expected, atol=3e-4 * expected.std())
    near = make(name, fit_intercept=fit_intercept, solver="landmarks", n_components=20).fit(X, y, weight)
    assert np.abs(near._scores_fit - expected).max() > 3.0 * np.abs(model._scores_fit - expected).max()
    new = X + 0.01
    np.testing.assert_allclose(model._scores(new), exact._scores(new), atol=1e-3 * expected.std())
    assert model.solver_report_.gap <= 1e-5
    assert "gap to the exact answer" in str(model.summary())


def test_the_gap_of_landmarks_is_measured(tmp_path):
    X, y = sample("poisson", 300)
    gaps = [make("poisson", n_components=m).fit(X, y).solver_report_.gap for m in (3, 10, 60, 300)]
    assert gaps[0] > gaps[1] > gaps[2] > gaps[3]
    model = make("poisson", n_components=10).fit(X, y)
    save(model, tmp_path / "m.pellucid")
    assert load(tmp_path / "m.pellucid").solver_report_ == model.solver_report_
    assert not hasattr(model.set_params(n_components=None).fit(X, y), "solver_report_")


def test_alpha_is_chosen_on_a_sample_of_many_rows(monkeypatch):
    X, y = sample("logistic", 600)
    whole = KernelClassifier(KERNEL, n_components=40).fit(X, y)
    monkeypatch.setattr(tall, "ALPHA_ROWS", 400)
    model = KernelClassifier(KERNEL, n_components=40, cv=3).fit(X, y)
    assert abs(np.log10(model.alpha_ / whole.alpha_)) <= 1.5
    monkeypatch.setattr(kernel_features, "_STORED_BYTES", 0.0)
    again = KernelClassifier(KERNEL, n_components=40, cv=3).fit(X, y)
    assert abs(np.log10(again.alpha_ / whole.alpha_)) <= 1.5


def test_sparse_rows_and_kernels_without_float32_go_the_same_ways(monkeypatch):
    X, y = sample("poisson", 200)
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    monkeypatch.setattr(kernel_features, "_STORED_BYTES", 0.0)
    for kernel in (RBF(1.5), Laplacian(2.0)):
        for options in ({"n_components": 200}, {"solver": "iterative", "n_components": 30}):
            exact = make("poisson", kernel=kernel).fit(X, y).predict(X)
            for rows in (X, sparse.csr_array(X)):
                model = make("poisson", kernel=kernel, **options).fit(rows, y)
                np.testing.assert_allclose(model.predict(rows), exact, rtol=1e-3)


def test_landmarks_grow_with_the_rows_and_memory_is_asked_for(monkeypatch):
    counts = [kernel_features.landmark_count(n, None) for n in (5000, 100_000, 10**6)]
    assert counts == [1000, 1264, 2500]
    monkeypatch.setenv("PELLUCID_MEMORY", "1e5")
    X, y = sample("squared", 100)
    with pytest.raises(MemoryError, match="n_components"):
        InterpretableKernelRegressor(KERNEL, n_components=90, alpha=1.0).fit(X, y)


def test_iteration_refuses_losses_that_it_is_not_for():
    X, y = sample("multinomial", 100)
    with pytest.raises(ValueError, match="smooth losses"):
        make("multinomial", solver="iterative").fit(X, y)
    with pytest.raises(ValueError, match="solver must be"):
        make("multinomial", solver="newton").fit(X, y)
