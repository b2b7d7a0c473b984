"""Leave-one-out at the level of the estimators: n refits through their own interface."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import blobs, curve, relative_error

from pellucid import KernelFisherDiscriminant, KernelRidge, KernelRidgeClassifier
from pellucid.kernels import RBF, Linear, Matern, Polynomial

KERNELS = [RBF(1.1), Matern([0.8, 1.5], nu=0.5) + 0.3, Linear(), Polynomial(2)]


@st.composite
def cases(draw):
    kernel = draw(st.sampled_from(KERNELS))
    solvers = ["auto", "cholesky", "spectral"]
    solver = draw(st.sampled_from([*solvers, "primal"] if kernel.feature_count(2) else solvers))
    n, q, seed = draw(st.integers(4, 20)), draw(st.integers(1, 3)), draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    weight = None
    if draw(st.booleans()):
        weight = rng.uniform(0.1, 5.0, size=n)
        if draw(st.booleans()):
            weight[:2] = 0.0
    options = {
        "alpha": 10.0 ** draw(st.floats(-2, 1)),
        "fit_intercept": draw(st.booleans()),
        "solver": solver,
    }
    X, Y = curve(n, 2, q=q, seed=seed)
    return KernelRidge(kernel, **options), X, Y, weight


def refit_residuals(model, X, Y, weight):
    weight = np.ones(len(X)) if weight is None else weight
    residuals = np.empty(Y.shape)
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        fitted = model.fit(X[rest], Y[rest], sample_weight=weight[rest])
        residuals[i] = Y[i] - fitted.predict(X[i : i + 1])[0]
    return residuals


@given(case=cases())
@settings(deadline=None, max_examples=60)
def test_residuals_equal_n_refits(case):
    model, X, Y, weight = case
    loo = model.fit(X, Y, sample_weight=weight).loo_
    expected = refit_residuals(model, X, Y, weight)
    assert relative_error(loo.residuals, expected) < 1e-8
    assert np.allclose(loo.predictions + loo.residuals, Y)
    assert np.allclose(loo.mse, np.average(expected**2, axis=0, weights=weight))
    assert np.allclose(loo.rmse, np.sqrt(loo.mse))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("targets", ["signed", "fisher"])
@pytest.mark.parametrize("solver", ["cholesky", "spectral"])
def test_classifier_scores_equal_n_refits_of_the_codes(targets, n_classes, weighted, solver):
    X, y = blobs(n_classes, n=24)
    weight = np.random.default_rng(0).uniform(0.2, 3.0, size=24) if weighted else np.ones(24)
    options = {"alpha": 0.2, "solver": solver}
    model = KernelRidgeClassifier(RBF(), targets=targets, **options).fit(X, y, sample_weight=weight)
    columns = range(1, 2) if n_classes == 2 else range(n_classes)
    total = weight.sum()
    inside = np.array([weight[y == c].sum() for c in range(n_classes)])
    high, low = (1.0, -1.0) if targets == "signed" else (total / inside, -total / (total - inside))
    high, low = np.broadcast_to(high, n_classes), np.broadcast_to(low, n_classes)
    codes = np.column_stack([np.where(y == c, high[c], low[c]) for c in columns])
    residuals = refit_residuals(KernelRidge(RBF(), **options), X, codes, weight)
    assert relative_error(model.loo_.residuals.reshape(codes.shape), residuals) < 1e-8
    scores = model.loo_.predictions.reshape(codes.shape)
    offset = (scores - (codes - residuals)).mean(axis=0)  # Fisher scores have a zero of their own
    assert relative_error(scores - offset, codes - residuals) < 1e-8
    assert targets == "fisher" or np.allclose(offset, 0.0)
    winners = (scores[:, 0] > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
    assert model.loo_.error_rate == pytest.approx(np.average(winners != y, weights=weight))


def test_error_rate_by_the_formula_of_a_single_fit():
    """ŷ_loo = ŷ − λβ with λ = 1/[(K + αI)⁻¹]_ii − α and β the dual coefficients."""
    X, y = blobs(2, n=40, seed=1, spread=2.0)
    kernel, alpha = RBF(0.8), 0.1
    model = KernelRidgeClassifier(kernel, alpha=alpha, fit_intercept=False).fit(X, y)
    inverse = np.linalg.inv(kernel(X) + alpha * np.eye(40))
    beta = inverse @ np.where(y == 1, 1.0, -1.0)
    left_out = kernel(X) @ beta - (1.0 / np.diag(inverse) - alpha) * beta
    assert np.allclose(model.loo_.predictions, left_out)
    assert np.allclose(model.dual_coef_, beta)
    assert model.loo_.error_rate == np.mean((left_out > 0) != (y == 1))
    assert 0.0 < model.loo_.error_rate < 0.5


def test_fisher_discriminant_scores_equal_n_refits():
    X, y = blobs(3, n=24)
    model = KernelFisherDiscriminant(RBF(), alpha=0.2).fit(X, y)
    indicators = np.eye(3)[y]
    residuals = refit_residuals(KernelRidge(RBF(), alpha=0.2), X, indicators, None)
    assert relative_error(model.loo_.residuals, residuals) < 1e-8


@pytest.mark.parametrize("solver", ["cholesky", "spectral"])
def test_leverages_are_derivatives(solver):
    X, y = curve(15)
    model = KernelRidge(RBF(), alpha=0.1, solver=solver).fit(X, y)
    for i in (0, 7):
        moved = y.copy()
        moved[i] += 1.0
        change = KernelRidge(RBF(), alpha=0.1).fit(X, moved).predict(X)[i] - model.predict(X)[i]
        assert model.loo_.leverages[i] == pytest.approx(change)
    assert model.effective_dof_ == pytest.approx(model.loo_.leverages.sum())


def test_shapes_follow_the_targets():
    X, Y = curve(20, q=2)
    single, several = KernelRidge(RBF()).fit(X, Y[:, 0]), KernelRidge(RBF()).fit(X, Y)
    column = KernelRidge(RBF()).fit(X, Y[:, :1])
    m = len(single.loo_.path.alphas)
    assert isinstance(single.loo_.mse, float)
    assert isinstance(single.loo_.rmse, float)
    assert single.loo_.residuals.shape == (20,)
    assert single.loo_.path.mse.shape == single.loo_.path.gcv.shape == (m,)
    assert several.loo_.mse.shape == several.loo_.rmse.shape == (2,)
    assert several.loo_.leverages.shape == (20, 2)
    assert several.loo_.path.log_marginal_likelihood.shape == (m, 2)
    assert column.loo_.residuals.shape == column.predict(X).shape == (20, 1)
    assert KernelRidge(RBF(), alpha=1.0).fit(X, Y).loo_.path is None
