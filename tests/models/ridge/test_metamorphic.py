"""What must not change the answer, and what must change it in a known way."""

import numpy as np
import pytest
from oracles import blobs, curve

from pellucid import KernelFisherDiscriminant, KernelRidge, KernelRidgeClassifier, LooSearch
from pellucid.kernels import RBF, Linear, Matern

X, Y = curve(30, 2, q=2)
y = Y[:, 0]
X_NEW = np.random.default_rng(5).uniform(-2, 2, size=(12, 2))
COUNTS = np.random.default_rng(6).integers(0, 4, size=30)
MODELS = {
    "named": KernelRidge("rbf"),
    "matern": KernelRidge("matern"),
    "linear": KernelRidge("linear"),
    "gcv": KernelRidge(RBF(), alpha="gcv"),
    "ml": KernelRidge(Matern(), alpha="ml"),
    "given": KernelRidge("rbf", alpha=0.3),
    "no intercept": KernelRidge(RBF() + Linear(), fit_intercept=False),
    "grid": LooSearch(KernelRidge(RBF()), {"kernel__length_scale": [0.5, 1.0, 2.0]}),
}
DESCENTS = {
    "ard": LooSearch(KernelRidge("rbf"), ard=True),
    "descent by likelihood": LooSearch(KernelRidge(RBF(), alpha="ml")),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
every_descent = pytest.mark.parametrize("model", DESCENTS.values(), ids=DESCENTS)


def chosen(model):
    inner = getattr(model, "best_estimator_", model)
    return inner.alpha_, inner.kernel_.theta


def same_choice(one, other):
    (alpha, theta), (other_alpha, other_theta) = chosen(one), chosen(other)
    return np.isclose(alpha, other_alpha, rtol=1e-8) and np.allclose(theta, other_theta)


@every_model
def test_a_whole_weight_is_a_repeated_row(model):
    rows = np.repeat(np.arange(30), COUNTS)
    weighted = _copy(model).fit(X, y, sample_weight=COUNTS)
    repeated = _copy(model).fit(X[rows], y[rows])
    assert same_choice(weighted, repeated)
    assert np.allclose(weighted.predict(X_NEW), repeated.predict(X_NEW), rtol=1e-6)
    one, other = (getattr(m, "best_estimator_", m) for m in (weighted, repeated))
    assert np.isclose(one.log_marginal_likelihood_, other.log_marginal_likelihood_, rtol=1e-6)
    assert np.allclose(one.noise_variance_, other.noise_variance_, rtol=1e-5)
    assert np.isclose(one.scale_, other.scale_, rtol=1e-6)
    std, other_std = (m.predict(X_NEW, return_std=True)[1] for m in (weighted, repeated))
    assert np.allclose(std, other_std, rtol=1e-4, atol=1e-8)


@every_model
def test_weight_zero_is_a_row_removed(model):
    kept = COUNTS > 0
    weight = kept * np.random.default_rng(1).uniform(0.5, 2.0, size=30)
    zero = _copy(model).fit(X, y, sample_weight=weight)
    removed = _copy(model).fit(X[kept], y[kept], sample_weight=weight[kept])
    assert chosen(zero)[0] == chosen(removed)[0]
    assert np.array_equal(zero.predict(X_NEW), removed.predict(X_NEW))
    loo = zero.loo_
    assert np.allclose(loo.residuals[kept], removed.loo_.residuals)
    assert np.allclose(loo.predictions[~kept], zero.predict(X[~kept]))
    assert np.all(loo.leverages[~kept] == 0)


@every_model
def test_the_order_of_rows_does_not_matter(model):
    order = np.random.default_rng(2).permutation(30)
    one, other = _copy(model).fit(X, y), _copy(model).fit(X[order], y[order])
    assert same_choice(one, other)
    assert np.allclose(one.predict(X_NEW), other.predict(X_NEW), rtol=1e-6)
    # alpha may be as small as 1e-8, so that rounding costs half of the digits
    assert np.allclose(one.loo_.residuals[order], other.loo_.residuals, rtol=1e-5, atol=1e-6)


@every_model
def test_the_order_of_columns_does_not_matter(model):
    one, other = _copy(model).fit(X, y), _copy(model).fit(X[:, ::-1], y)
    assert np.isclose(chosen(one)[0], chosen(other)[0], rtol=1e-8)
    assert np.allclose(one.predict(X_NEW), other.predict(X_NEW[:, ::-1]), rtol=1e-6)


@every_model
@pytest.mark.parametrize(("factor", "offset"), [(1024.0, 0.0), (-3e-7, 0.0), (1.0, 1e3), (5e4, -1e6)])
def test_targets_in_other_units(model, factor, offset):
    inner = getattr(model, "estimator", model)
    offset = offset if inner.fit_intercept else 0.0  # without an intercept the origin of y matters
    one, other = _copy(model).fit(X, y), _copy(model).fit(X, factor * y + offset)
    assert same_choice(one, other)
    expected = factor * one.predict(X_NEW) + offset
    assert np.allclose(other.predict(X_NEW), expected, rtol=1e-7, atol=1e-7 * abs(factor))
    assert np.isclose(other.loo_.rmse, abs(factor) * one.loo_.rmse, rtol=1e-6)


@every_descent
def test_a_descent_ends_as_well_whatever_the_form_of_the_data(model):
    """It stops when progress is small, so its end may differ by as much, but no more."""
    rows = np.random.default_rng(2).permutation(np.repeat(np.arange(30), 1 + COUNTS))
    weighted = _copy(model).fit(X, y, sample_weight=1 + COUNTS)
    others = [
        _copy(model).fit(X[rows], y[rows]),
        _copy(model).fit(X[:, ::-1], y, sample_weight=1 + COUNTS),
        _copy(model).fit(X, 5e4 * y - 1e6, sample_weight=1 + COUNTS),
    ]
    for other in others:
        mine, its = (m.best_estimator_._criteria for m in (weighted, other))
        assert its["loo"] == pytest.approx(mine["loo"], rel=0.02)
        assert other.results_["criterion"] == weighted.results_["criterion"]


NAMES = ["rbf", "matern", "laplacian", "rational_quadratic", "linear", "polynomial", "ntk", "additive_pairs"]


@pytest.mark.parametrize("name", NAMES)
def test_features_in_other_units_for_named_kernels(name):
    units = np.array([1e-3, 1e5])
    one = KernelRidge(name).fit(X, y)
    other = KernelRidge(name).fit(X * units, y)
    assert np.isclose(one.alpha_, other.alpha_, rtol=1e-6)
    assert np.allclose(one.predict(X_NEW), other.predict(X_NEW * units), rtol=1e-6)


@pytest.mark.parametrize("solver", ["primal", "cholesky", "spectral"])
def test_a_huge_alpha_leaves_the_mean(solver):
    weight = np.random.default_rng(3).uniform(0.1, 3.0, size=30)
    kernel = Linear() if solver == "primal" else RBF()
    model = KernelRidge(kernel, alpha=1e12, solver=solver).fit(X, Y, sample_weight=weight)
    assert np.allclose(model.predict(X_NEW), np.average(Y, axis=0, weights=weight), atol=1e-8)
    assert np.allclose(model.effective_dof_, 1.0)
    flat = KernelRidge(kernel, alpha=1e12, solver=solver, fit_intercept=False).fit(X, Y)
    assert np.allclose(flat.predict(X_NEW), 0.0, atol=1e-8)
    assert np.allclose(flat.effective_dof_, 0.0, atol=1e-8)


@pytest.mark.parametrize("solver", ["cholesky", "spectral"])
def test_a_tiny_alpha_interpolates(solver):
    model = KernelRidge(Matern(nu=0.5), alpha=1e-10, solver=solver).fit(X, Y)
    assert np.allclose(model.predict(X), Y, atol=1e-7)


def test_all_solvers_agree():
    models = [
        KernelRidge(Linear(), alpha="loo", solver=s).fit(X, Y) for s in ("primal", "cholesky", "spectral")
    ]
    first = models[0]
    assert first.coef_.shape == (2, 2)
    assert np.allclose(first.predict(X_NEW), X_NEW @ first.coef_ + first.intercept_)
    for model in models[1:]:
        assert not hasattr(model, "coef_")
        assert np.isclose(model.alpha_, first.alpha_)
        assert np.allclose(model.predict(X_NEW), first.predict(X_NEW))
        assert np.allclose(model.dual_coef_, first.dual_coef_)
        assert np.allclose(model.intercept_, first.intercept_)
        assert np.allclose(model.loo_.path.mse, first.loo_.path.mse)
        assert np.allclose(model.log_marginal_likelihood_, first.log_marginal_likelihood_)
        assert np.allclose(model.predict(X_NEW, return_std=True)[1], first.predict(X_NEW, return_std=True)[1])


def test_the_size_of_blocks_does_not_matter(monkeypatch):
    model = KernelRidge(RBF(), alpha=0.1).fit(X, Y)

    def results():
        model.__dict__.pop("_posterior", None)
        mean, std = model.predict(X_NEW, return_std=True)
        return mean, std, model.predict_interval(X_NEW), model.marginal_effects(X_NEW).pointwise_error

    whole = results()
    from pellucid.effects import marginal
    from pellucid.linalg import row_blocks
    from pellucid.models.common import kernel_machine
    from pellucid.models.ridge import regressor

    for module in (kernel_machine, regressor, marginal):
        monkeypatch.setattr(module, "row_blocks", lambda n, size: row_blocks(n, 1, 5))
    for one, other in zip(whole, results(), strict=True):
        assert np.allclose(one, other, rtol=1e-12, atol=1e-14)


def test_an_alpha_of_its_own_for_each_output():
    noisy = np.column_stack([y, Y[:, 1] + np.random.default_rng(0).normal(size=30)])
    together = KernelRidge(RBF(), alpha_per_output=True).fit(X, noisy)
    apart = [KernelRidge(RBF()).fit(X, column) for column in noisy.T]
    assert together.alpha_.shape == (2,)
    assert together.alpha_[0] != together.alpha_[1]
    assert np.allclose(together.alpha_, [m.alpha_ for m in apart])
    assert np.allclose(together.predict(X_NEW), np.column_stack([m.predict(X_NEW) for m in apart]))
    stds = np.column_stack([m.predict(X_NEW, return_std=True)[1] for m in apart])
    assert np.allclose(together.predict(X_NEW, return_std=True)[1], stds)
    intervals = np.stack([m.predict_interval(X_NEW) for m in apart], axis=2)
    assert np.allclose(together.predict_interval(X_NEW), intervals)
    given = KernelRidge(RBF(), alpha=together.alpha_).fit(X, noisy)
    assert np.allclose(given.predict(X_NEW), together.predict(X_NEW))
    assert np.allclose(given.loo_.residuals, together.loo_.residuals)


def test_given_alphas_of_outputs_choose_one_length_scale():
    alphas = np.array([1e-3, 10.0])
    model = KernelRidge("rbf", alpha=alphas).fit(X, Y)
    swapped = KernelRidge("rbf", alpha=alphas[::-1]).fit(X, Y[:, ::-1])
    assert np.allclose(model.predict(X_NEW), swapped.predict(X_NEW)[:, ::-1])


CLASSIFIERS = {
    "signed": KernelRidgeClassifier(RBF()),
    "fisher": KernelRidgeClassifier(RBF(), targets="fisher"),
    "named": KernelRidgeClassifier(),
    "discriminant": KernelFisherDiscriminant(RBF()),
    "grid": LooSearch(KernelRidgeClassifier(RBF()), {"kernel__length_scale": [0.5, 2.0]}),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", CLASSIFIERS.values(), ids=CLASSIFIERS)
def test_whole_weights_and_the_order_of_rows_for_classes(model, n_classes):
    X, labels = blobs(n_classes, n=30)
    rows = np.random.default_rng(4).permutation(np.repeat(np.arange(30), COUNTS))
    weighted, repeated = (
        _copy(model).fit(X, labels, sample_weight=COUNTS),
        _copy(model).fit(X[rows], labels[rows]),
    )
    assert same_choice(weighted, repeated)
    assert np.allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-5, atol=1e-7)
    assert np.allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-5)


def test_small_weights_do_not_wash_out_probabilities():
    X, labels = blobs(2, n=60)
    shares = np.full(60, 1.0 / 60)
    one = KernelRidgeClassifier(RBF(), alpha=0.1).fit(X, labels)
    other = KernelRidgeClassifier(RBF(), alpha=0.1 / 60, weights="counts").fit(X, labels, shares)
    assert np.allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-6)


def _copy(model):
    from sklearn.base import clone

    return clone(model)
