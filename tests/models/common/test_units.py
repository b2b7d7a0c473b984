"""Targets in another unit give the same model in that unit, as far as numbers reach."""

import numpy as np
import pytest

from pellucid import AdditiveKernelRegressor, InterpretableKernelRegressor, KernelGLMRegressor, KernelRidge
from pellucid.kernels import RBF

UNITS = [1e-200, 1e-60, 1e-12, 1.0, 1e12, 1e160]
MODELS = {
    "ridge": KernelRidge(),
    "ridge, given alpha": KernelRidge(RBF(), alpha=1.0),
    "squared": KernelGLMRegressor(loss="squared"),
    "squared, leave-one-out": KernelGLMRegressor(RBF(), loss="squared", alpha="loo"),
    "coefficients": InterpretableKernelRegressor(),
    "coefficients, given alpha": InterpretableKernelRegressor(RBF(3.0), alpha=1.0),
}
every_model = pytest.mark.parametrize("name", MODELS)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=80) + 3.0


def fitted(name, X, y, **options):
    from sklearn.base import clone

    return clone(MODELS[name]).fit(X, y, **options)


@every_model
@pytest.mark.parametrize("c", UNITS)
def test_predictions_have_the_unit_of_the_targets(name, data, c):
    X, y = data
    one, other = fitted(name, X, y), fitted(name, X, c * y)
    np.testing.assert_allclose(other.predict(X), c * one.predict(X), rtol=1e-9)
    np.testing.assert_allclose(other.dual_coef_, c * one.dual_coef_, rtol=1e-7)
    assert other.intercept_ == pytest.approx(c * one.intercept_, rel=1e-9)
    assert other.alpha_ == pytest.approx(one.alpha_, rel=1e-9)
    if 1e-150 < c < 1e150 or "ridge" not in name:  # squares of the targets are numbers, or are not needed
        assert other.score(X, c * y) == pytest.approx(one.score(X, y), rel=1e-9)
    assert "nan" not in str(other.summary())


@pytest.mark.parametrize("c", UNITS)
def test_coefficients_have_it_too(data, c):
    X, y = data
    one, other = (InterpretableKernelRegressor(alpha="loo").fit(X, u * y) for u in (1.0, c))
    np.testing.assert_allclose(other.coef_, c * one.coef_, rtol=1e-9)
    np.testing.assert_allclose(other.predict(X, how="kernel"), c * one.predict(X, how="kernel"), rtol=1e-9)
    assert other.certificate_.fidelity == pytest.approx(one.certificate_.fidelity)
    assert other.certificate_.in_sample_gap == pytest.approx(one.certificate_.in_sample_gap)
    assert other.certificate_.score_linear == pytest.approx(one.certificate_.score_linear)
    for kind in ("model", "robust"):
        mine, its = one.coefficient_frame(kind=kind), other.coefficient_frame(kind=kind)
        np.testing.assert_allclose(its["p_value"], mine["p_value"], rtol=1e-6, atol=1e-12)
        for column in ("coefficient", "per_sd", "standard_error", "low", "high"):
            np.testing.assert_allclose(its[column], c * mine[column], rtol=1e-7)
    if 1e-150 < c < 1e150:  # squares of the targets are numbers
        np.testing.assert_allclose(other.alpha_path_.deviance, c**2 * one.alpha_path_.deviance, rtol=1e-7)


@pytest.mark.parametrize("c", UNITS)
def test_offsets_have_it_too(data, c):
    X, y = data
    offset = np.random.default_rng(2).normal(size=80)
    model = KernelGLMRegressor(RBF(), loss="squared", alpha=1.0)
    expected = c * model.fit(X, y, offset=offset).predict(X, offset=offset)
    model.fit(X, c * y, offset=c * offset)
    np.testing.assert_allclose(model.predict(X, offset=c * offset), expected, rtol=1e-9)


@pytest.mark.parametrize("c", UNITS)
@pytest.mark.parametrize("alpha", ["loo", 1.0])
def test_what_a_ridge_reports(data, alpha, c):
    X, y = data
    one, other = (KernelRidge(RBF(), alpha=alpha).fit(X, u * y) for u in (1.0, c))
    assert other.loo_.rmse == pytest.approx(c * one.loo_.rmse, rel=1e-9)
    np.testing.assert_allclose(other.loo_.residuals, c * one.loo_.residuals, rtol=1e-7)
    np.testing.assert_allclose(other.predict_interval(X), c * one.predict_interval(X), rtol=1e-9)
    mine, its = dict(one.summary().facts), dict(other.summary().facts)
    assert its["leave-one-out R²"] == pytest.approx(mine["leave-one-out R²"])
    if alpha == "loo":
        free = len(y) - 1
        assert other.log_marginal_likelihood_ == pytest.approx(
            one.log_marginal_likelihood_ - free * np.log(c), rel=1e-9
        )
    if 1e-150 < c < 1e150:
        std = one.predict(X, return_std=True)[1] * (c if alpha == "loo" else 1.0)
        np.testing.assert_allclose(other.predict(X, return_std=True)[1], std, rtol=1e-7)
    elif alpha == "loo":
        with pytest.raises(ValueError, match=r"no variance in floating point.* give y in another unit"):
            other.predict(X, return_std=True)
        with pytest.raises(ValueError, match="give y in another unit"):
            other.marginal_effects()


def test_a_process_of_scale_one_is_what_it_is(data):
    """With a given alpha, targets far below the process say nothing, and targets far above are impossible."""
    X, y = data
    small, smaller, huge = (
        KernelRidge(RBF(), alpha=1.0).fit(X, c * y).log_marginal_likelihood_ for c in (1e-60, 1e-200, 1e160)
    )
    assert small == pytest.approx(smaller)
    assert huge == -np.inf


@every_model
def test_what_varies_too_much_is_refused(name, data):
    X, y = data
    far = np.where(y == y.max(), 1e305, y)
    with pytest.raises(ValueError, match=r"Targets vary by 1e\+305, so much .* choose a larger unit"):
        fitted(name, X, far)


@pytest.mark.parametrize("unit", [1e-200, 1e-60, 1e60, 1e160])
def test_scores_of_kernel_ridge_have_no_unit(unit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] ** 2 + X[:, 1] + 0.1 * rng.normal(size=60)
    expected = KernelRidge().fit(X, y).score(X, y)
    assert KernelRidge().fit(X, unit * y).score(X, unit * y) == pytest.approx(expected, rel=1e-9)
    both = np.column_stack([y, unit * y])
    assert KernelRidge().fit(X, both).score(X, both) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("unit", [1e-200, 1e160])
def test_additive_models_refuse_units_whose_powers_are_no_numbers(unit):
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(ValueError, match="choose another unit"):
        AdditiveKernelRegressor().fit(X, unit * X[:, 0])
