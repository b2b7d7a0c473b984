"""Criteria against their definitions: one observation left out, GCV's formula, a Gaussian density."""

import numpy as np
import pytest
from oracles import loo_residuals, solve
from scipy.stats import multivariate_normal

from pellucid.solvers import CRITERIA, CholeskySolver, SpectralSolver

N, ALPHA = 14, 0.3


def problem():
    """A kernel matrix, targets, and how often each row stands for."""
    rng = np.random.default_rng(0)
    Phi = rng.normal(size=(N, 20))
    return Phi @ Phi.T / 20, rng.normal(size=(N, 2)) + 1.0, rng.integers(1, 4, size=N)


K, Y, COUNTS = problem()
REPEATED = np.repeat(np.arange(N), COUNTS)
INTERCEPT = pytest.mark.parametrize("fit_intercept", [True, False])


def fits(weight=None, fit_intercept=True, matrix=K, targets=Y):
    weight = np.ones(len(matrix)) if weight is None else weight
    return CholeskySolver.start(matrix.copy(), weight, fit_intercept=fit_intercept).fits(targets, [ALPHA])


@INTERCEPT
def test_loo_is_the_mean_square_of_n_refits(fit_intercept):
    expected = np.mean(loo_residuals(K, Y, np.ones(N), ALPHA, fit_intercept) ** 2, axis=0)
    assert np.allclose(fits(fit_intercept=fit_intercept).criterion("loo")[0], expected)


@INTERCEPT
@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_whole_weight_counts_as_so_many_rows(fit_intercept, criterion):
    weighted = fits(COUNTS.astype(float), fit_intercept)
    repeated = fits(None, fit_intercept, K[np.ix_(REPEATED, REPEATED)], Y[REPEATED])
    assert np.allclose(weighted.criterion(criterion), repeated.criterion(criterion))
    assert np.allclose(weighted.log_likelihood(1.7), repeated.log_likelihood(1.7))
    assert np.allclose(weighted.scale, repeated.scale)
    assert np.allclose(weighted.dof, repeated.dof)
    assert np.allclose(weighted.held_out_residuals[0][REPEATED], repeated.loo_residuals[0])


@INTERCEPT
def test_gcv_is_its_formula(fit_intercept):
    H = np.column_stack(
        [K @ a + b for a, b in (solve(K, e[:, None], np.ones(N), ALPHA, fit_intercept) for e in np.eye(N))]
    )
    expected = np.mean((Y - H @ Y) ** 2, axis=0) / (1.0 - np.trace(H) / N) ** 2
    found = fits(fit_intercept=fit_intercept)
    assert np.allclose(found.criterion("gcv")[0], expected)
    assert np.isclose(found.dof[0], np.trace(H))


def test_likelihood_is_a_gaussian_density():
    weight = np.random.default_rng(1).uniform(0.2, 1.0, size=N)
    covariance = 1.7 * (K + ALPHA * np.diag(1.0 / weight))
    expected = [multivariate_normal(np.zeros(N), covariance).logpdf(y) for y in Y.T]
    found = fits(weight, fit_intercept=False)
    assert np.allclose(found.log_likelihood(1.7)[0], expected)
    around = [found.log_likelihood(found.scale * factor)[0] for factor in (0.99, 1.0, 1.01)]
    assert np.all(around[1] > around[0])
    assert np.all(around[1] > around[2])
    assert np.allclose(found.profile_log_likelihood[0], around[1])


def test_restricted_likelihood_is_the_density_of_contrasts():
    """With an intercept, of any N − 1 orthonormal contrasts, but for the constant ½ log N."""
    contrasts = np.linalg.svd(np.ones((1, N)))[2][1:]
    covariance = contrasts @ (K + ALPHA * np.eye(N)) @ contrasts.T
    expected = [multivariate_normal(np.zeros(N - 1), covariance).logpdf(contrasts @ y) for y in Y.T]
    assert np.allclose(fits().log_likelihood(1.0)[0], expected - 0.5 * np.log(N))


def test_an_unknown_criterion_is_named():
    with pytest.raises(ValueError, match="'aic'"):
        fits().criterion("aic")


def test_spectral_and_cholesky_give_one_path():
    alphas = np.geomspace(1e-6, 1e3, 10)
    spectral = SpectralSolver.start(K.copy(), np.ones(N), fit_intercept=True).fits(Y, alphas)
    cholesky = CholeskySolver.start(K.copy(), np.ones(N), fit_intercept=True).fits(Y, alphas)
    for criterion in CRITERIA:
        assert np.allclose(spectral.criterion(criterion), cholesky.criterion(criterion), rtol=1e-8)
