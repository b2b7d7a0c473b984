"""Coefficients are X⁺η, in the exact and in the projected case, and the certificate says which it is."""

import numpy as np
import pytest
from glm_oracles import centering, rbf, sample, side, spectral

from pellucid import InterpretableKernelRegressor, KernelGLMRegressor
from pellucid.effects.linear import WeightedColumns
from pellucid.kernels import RBF, Linear

N = 30
SHAPES = pytest.mark.parametrize("p", [4, 29, 30, 50])


def fitted(p, kernel=None, **options):
    X, y = sample("squared", N, p=p)
    kernel = RBF.from_gamma(0.3 / p) if kernel is None else kernel
    return X, y, InterpretableKernelRegressor(kernel, alpha=0.1, certify=0, **options).fit(X, y)


@SHAPES
def test_coefficients_are_the_pseudo_inverse_of_the_fit(p):
    X, _, model = fitted(p)
    eta = model._unit * model._Z @ model._fits[0].delta
    J = centering(N)
    np.testing.assert_allclose(model.coef_, np.linalg.pinv(J @ X) @ J @ eta, atol=1e-9)
    fit = X @ model.coef_ + model.intercept_
    np.testing.assert_allclose(model.predict(X), fit, atol=1e-10)
    np.testing.assert_allclose(fit, eta + model._unit * model._fits[0].intercept, atol=1e-8)


@SHAPES
def test_exact_means_that_the_kernel_is_reproduced(p):
    X, _, model = fitted(p)
    gap = np.abs(model.predict(X) - model.predict(X, how="kernel")).max()
    assert model.certificate_.exact == (p >= N - 1)
    assert (model.kaf_ == 1) == model.certificate_.exact
    assert (gap < 1e-8) == model.certificate_.exact
    assert (model.certificate_.in_sample_gap < 1e-8) == model.certificate_.exact


def test_a_linear_kernel_is_exact_with_few_features():
    X, _, model = fitted(4, Linear())
    assert model.certificate_.exact
    assert model.kaf_ == 1
    np.testing.assert_allclose(model.predict(X), model.predict(X, how="kernel"), atol=1e-9)


@SHAPES
def test_kernel_accounted_for(p):
    X, _, model = fitted(p)
    J = centering(N)
    K, P = J @ rbf(X, gamma=0.3 / p) @ J, (J @ X) @ np.linalg.pinv(J @ X)
    assert model.kaf_ == pytest.approx(np.sum((P @ K @ P) ** 2) / np.sum(K**2), abs=1e-9)


@SHAPES
def test_penalty_in_terms_of_the_coefficients(p):
    X, _, model = fitted(p)
    J = centering(N)
    Xp = np.linalg.pinv(J @ X)
    A = Xp @ (J @ rbf(X, gamma=0.3 / p) @ J) @ Xp.T
    # the ridge on δ, with the intercept taken out, is that of the centred kernel
    delta = np.linalg.lstsq(J @ model._Z, J @ model._Z @ model._fits[0].delta, rcond=None)[0]
    assert model.coef_ @ np.linalg.pinv(A, rcond=1e-10) @ model.coef_ == pytest.approx(
        model._unit**2 * delta @ delta, rel=1e-6
    )


@pytest.mark.parametrize("p", [4, 50])
def test_projected_model_is_a_ridge_with_the_projected_kernel(p):
    X, y, model = fitted(p)
    J = centering(N)
    P = (J @ X) @ np.linalg.pinv(J @ X)
    K = P @ J @ rbf(X, gamma=0.3 / p) @ J @ P
    eta = y.mean() + K @ np.linalg.solve(K + 0.1 * np.eye(N), y - y.mean())
    np.testing.assert_allclose(model.predict(X), eta, atol=1e-8)


def test_new_rows_are_centred_with_the_training_means():
    X, y = sample("squared", N)
    X_new = sample("squared", 7, seed=5)[0]
    model = KernelGLMRegressor(RBF.from_gamma(0.3), loss="squared", alpha=0.1).fit(X, y)
    K, K_new, J = rbf(X), rbf(X_new, X), centering(N)
    K_test = (K_new - K.mean(axis=0)) @ J
    centred = y.mean() + K_test @ np.linalg.solve(J @ K @ J + 0.1 * np.eye(N), y - y.mean())
    np.testing.assert_allclose(model.predict(X_new), centred, atol=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_weighted_columns_against_dense_formulas(fit_intercept):
    X, y = sample("squared", N)
    weight = side(N)[0]
    share = weight / weight.sum() if fit_intercept else np.zeros(N)
    R = np.sqrt(weight)[:, None]
    F = spectral(rbf(X))
    Xw, Fw = R * (X - share @ X), R * (F - share @ F)
    P = Xw @ np.linalg.pinv(Xw)
    columns = WeightedColumns.of(X, weight, fit_intercept=fit_intercept)
    K = Fw @ Fw.T
    assert columns.kaf(F) == pytest.approx(np.sum((P @ K @ P) ** 2) / np.sum(K**2), rel=1e-9)
    Z = R * columns.projected_features(F)
    np.testing.assert_allclose(Z @ Z.T, P @ K @ P, atol=1e-9)
    f = y[:, None]
    gamma = np.linalg.pinv(Xw) @ (R * (f - share @ f))
    np.testing.assert_allclose(columns.coefficients(f), gamma, atol=1e-10)
    np.testing.assert_allclose(columns.fitted(f), X @ gamma + share @ f - share @ X @ gamma, atol=1e-10)
