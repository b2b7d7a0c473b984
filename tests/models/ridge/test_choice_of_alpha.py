"""Alpha chosen by a criterion is the best of those tried, by brute force."""

import numpy as np
import pytest
from oracles import curve, loo_residuals, solve
from scipy.stats import multivariate_normal

from pellucid import KernelRidge, KernelRidgeClassifier
from pellucid.kernels import RBF, Linear

X, Y = curve(25, 2, q=2)
y = Y[:, 0]
ALPHAS = np.geomspace(1e-4, 1e2, 13)
K = RBF()(X)
N = len(y)


def brute_force(alpha):
    """Leave-one-out error, GCV and the profile likelihood of a model without intercept."""
    A = K + alpha * np.eye(N)
    H = K @ np.linalg.inv(A)
    scale = y @ np.linalg.solve(A, y) / N
    return {
        "loo": np.mean(loo_residuals(K, y[:, None], np.ones(N), alpha, False) ** 2),
        "gcv": np.mean((y - H @ y) ** 2) / (1.0 - np.trace(H) / N) ** 2,
        "ml": -multivariate_normal(np.zeros(N), scale * A).logpdf(y),
    }


@pytest.mark.parametrize("solver", ["cholesky", "spectral"])
@pytest.mark.parametrize("criterion", ["loo", "gcv", "ml"])
def test_the_best_on_the_path_is_chosen(criterion, solver):
    model = KernelRidge(RBF(), alpha=criterion, alphas=ALPHAS[::-1], fit_intercept=False, solver=solver)
    path = model.fit(X, y).loo_.path
    expected = [brute_force(alpha) for alpha in ALPHAS]
    assert np.allclose(path.alphas, ALPHAS)
    assert np.allclose(path.mse, [e["loo"] for e in expected])
    assert np.allclose(path.gcv, [e["gcv"] for e in expected])
    assert np.allclose(path.log_marginal_likelihood, [-e["ml"] for e in expected])
    assert np.allclose(path.dof, [np.trace(K @ np.linalg.inv(K + a * np.eye(N))) for a in ALPHAS])
    assert model.alpha_ == ALPHAS[np.argmin([e[criterion] for e in expected])]


def test_default_alphas_span_twelve_decades_around_the_kernel():
    path = KernelRidge(7.0 * RBF()).fit(X, y).loo_.path
    centred = 7.0 * (K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean())
    unit = np.trace(centred) / N
    assert np.allclose(path.alphas[[0, -1]], unit * np.array([1e-9, 1e3]))
    assert np.allclose(np.diff(np.log10(path.alphas)), 0.25)


def test_outputs_share_an_alpha_that_weighs_them_by_their_spread():
    scaled = Y * np.array([1.0, 1e4])
    assert KernelRidge(RBF()).fit(X, Y).alpha_ == KernelRidge(RBF()).fit(X, scaled).alpha_


def test_ties_go_to_the_larger_alpha():
    model = KernelRidge(RBF(), alphas=ALPHAS).fit(X, np.full(N, 3.0))
    assert model.alpha_ == ALPHAS[-1]


def test_the_path_of_error_rates():
    labels = (y > np.median(y)).astype(int)
    model = KernelRidgeClassifier(RBF(), alphas=ALPHAS).fit(X, labels)
    codes = np.where(labels == 1, 1.0, -1.0)[:, None]
    for alpha, rate in zip(ALPHAS, model.loo_.path.error_rate, strict=True):
        scores = codes - loo_residuals(K, codes, np.ones(N), alpha, True)
        assert rate == pytest.approx(np.mean((scores[:, 0] > 0) != labels))
    assert model.loo_.error_rate == model.loo_.path.error_rate[list(ALPHAS).index(model.alpha_)]


def test_noise_variance_is_estimated_from_the_residuals():
    model = KernelRidge(RBF(), alpha=0.2).fit(X, y)
    a, b = solve(K, y[:, None], np.ones(N), 0.2, True)
    residuals = y - K @ a[:, 0] - b[0]
    expected = residuals @ residuals / (N - model.effective_dof_)
    assert np.allclose(model.noise_variance_, expected)


def test_the_length_scale_of_a_named_kernel_is_the_best_of_its_grid():
    """Not far from what a fine grid finds: the search is local, but this problem has one minimum."""
    X, y = curve(60, 1, noise=0.05, seed=3)
    model = KernelRidge("rbf").fit(X, y)
    spread = X[:, 0].std()
    errors = [KernelRidge(RBF(spread * 2.0 ** (j / 2))).fit(X, y).loo_.mse for j in range(-10, 11)]
    assert model.loo_.mse <= 1.03 * min(errors)
    exponent = 2 * np.log2(model.kernel_.length_scale[0] / spread)
    assert exponent == pytest.approx(round(exponent))


@pytest.mark.parametrize("alpha", ["loo", 0.1])
def test_many_rows_take_the_short_way(alpha, monkeypatch):
    """Above a number of rows only the alphas that the search visited are on the path."""
    from pellucid.models.kernel_fit import length_scale

    X, y = curve(120, 2)
    full = KernelRidge("matern", alpha=alpha).fit(X, y)
    monkeypatch.setattr(length_scale, "_FULL_PATH", 50)
    monkeypatch.setattr(length_scale, "_SAMPLE", 60)
    short = KernelRidge("matern", alpha=alpha).fit(X, y)
    assert short.solver_ == "cholesky"
    assert short.loo_.mse <= 1.05 * full.loo_.mse
    if alpha == "loo":
        assert len(short.loo_.path.alphas) < len(full.loo_.path.alphas)
        assert short.alpha_ in short.loo_.path.alphas
        assert np.all(np.diff(short.loo_.path.alphas) > 0)


def test_what_was_used_is_told():
    model = KernelRidge(Linear()).fit(X, y)
    assert model.solver_ == "primal"
    assert "2 explicit features" in model.solver_reason_
    assert KernelRidge(RBF(), alpha=1.0).fit(X, y).solver_ == "cholesky"
    assert KernelRidge(RBF()).fit(X, y).solver_ == "spectral"
