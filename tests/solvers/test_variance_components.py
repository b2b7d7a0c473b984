"""Ridges, restricted likelihood and evidence against dense Gaussian formulas; the size of the score test."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.stats import multivariate_normal

from pellucid.effects.mixture_chi2 import mixture_tail
from pellucid.linalg.moments import weighted_moments
from pellucid.solvers.monotone import held_by
from pellucid.solvers.variance_components import Equations, evidence, score_tests

GROUP = np.repeat([0, 1, 2], [3, 5, 4])
SECOND = slice(3, 8)
RIDGE = np.repeat([0.5, 3.0, 20.0], [3, 5, 4])
NOISE = 0.49


def data(seed, n=80, tau=(2.0, 0.3, 0.0)):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 12))
    beta = rng.normal(size=12) * np.array(tau)[GROUP]
    return Z, 1.0 + Z @ beta + 0.7 * rng.normal(size=n)


def equations_of(Z, z, scale=None, w=None):
    w = np.ones(len(z)) if w is None else w
    moments = weighted_moments(lambda rows: Z[rows].T.copy(), w, z, Z.shape[1])
    return Equations(moments, scale, float(w.sum()))


def contrasts(Z, z):
    """An orthonormal basis of all that the intercept does not touch: integrating it out leaves just this."""
    N = null_space(np.ones((1, len(z)))).T
    return N @ Z, N @ z


def log_likelihood(Z, z, variances, scale):
    """Restricted log likelihood, from its definition."""
    NZ, Nz = contrasts(Z, z)
    return multivariate_normal(cov=scale * np.eye(len(Nz)) + (NZ * variances) @ NZ.T).logpdf(Nz)


def test_solution_against_dense_formulas():
    Z, z = data(2)
    fit = equations_of(Z, z).solve(RIDGE)
    C = Z - Z.mean(axis=0)
    H = C.T @ C + np.diag(RIDGE)
    beta = np.linalg.solve(H, C.T @ (z - z.mean()))
    np.testing.assert_allclose(fit.beta, beta, rtol=1e-9, atol=1e-12)
    smoother = np.linalg.inv(H) @ C.T @ C
    np.testing.assert_allclose(fit.edf, np.diag(smoother), rtol=1e-9)
    rss = np.sum((z - z.mean() - C @ beta) ** 2)
    assert fit.rss == pytest.approx(rss)
    assert fit.scale == pytest.approx(rss / (len(z) - 1 - np.trace(smoother)))
    np.testing.assert_allclose(fit.root.T @ fit.root, np.linalg.inv(H), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(
        fit.covariance_block(np.array([4, 7])), np.linalg.inv(H)[np.ix_([4, 7], [4, 7])], atol=1e-12
    )
    hat = np.trace(smoother) + 1
    assert fit.gcv(len(z)) == pytest.approx(rss / len(z) / (1 - hat / len(z)) ** 2)
    assert equations_of(Z, z, 0.3).solve(RIDGE).scale == 0.3


def test_weights_are_repeats():
    Z, z = data(3)
    w = np.random.default_rng(0).integers(0, 4, len(z))
    a = equations_of(Z, z, w=w.astype(float)).solve(RIDGE)
    b = equations_of(np.repeat(Z, w, axis=0), np.repeat(z, w)).solve(RIDGE)
    np.testing.assert_allclose(a.beta, b.beta, rtol=1e-8, atol=1e-10)
    assert a.scale == pytest.approx(b.scale)
    assert a.likelihood == pytest.approx(b.likelihood)


@pytest.mark.parametrize("n", [8, 80])
def test_likelihood_of_known_noise_is_the_restricted_one(n):
    Z, z = data(4, n)
    variances = [NOISE / RIDGE, 5.0 / RIDGE[::-1], np.full(12, 1e-9)]
    equations = equations_of(Z, z, NOISE)
    found = [equations.solve(NOISE / d).likelihood for d in variances]
    expected = [log_likelihood(Z, z, d, NOISE) for d in variances]
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-7)


def test_likelihood_of_unknown_noise_is_the_largest_one():
    """At σ² = wᵀ(I + ZΛ⁻¹Zᵀ)⁻¹w / (n - 1), for the contrasts w of the targets."""
    Z, z = data(4)
    found, expected = [], []
    for ridge in (RIDGE, RIDGE[::-1] / 3, np.full(12, 1e9)):
        found.append(equations_of(Z, z).solve(ridge).likelihood)
        NZ, w = contrasts(Z, z)
        scale = w @ np.linalg.solve(np.eye(len(w)) + (NZ / ridge) @ NZ.T, w) / len(w)
        expected.append(log_likelihood(Z, z, scale / ridge, scale))
        for other in (0.9, 1.1):
            assert log_likelihood(Z, z, other * scale / ridge, other * scale) < expected[-1]
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-7)


def test_no_columns():
    _, z = data(4)
    fit = equations_of(np.empty((80, 0)), z).solve(np.empty(0))
    assert len(fit.beta) == 0
    assert fit.rss == pytest.approx(79 * z.var(ddof=1))
    assert fit.scale == pytest.approx(z.var(ddof=1))
    assert np.isfinite(fit.likelihood)


@pytest.mark.parametrize("unit", [1e-60, 1.0, 1e100])
def test_units_of_columns_and_targets_do_not_matter(unit):
    Z, z = data(5)
    fit = equations_of(Z, z).solve(RIDGE)
    columns = equations_of(unit * Z, z).solve(unit**2 * RIDGE)
    np.testing.assert_allclose(unit * columns.beta, fit.beta, rtol=1e-9)
    targets = equations_of(Z, unit * z).solve(RIDGE)
    np.testing.assert_allclose(targets.beta / unit, fit.beta, rtol=1e-9)
    assert targets.scale / unit**2 == pytest.approx(fit.scale)
    B, b = (evidence(f, SECOND).log_bayes_factor(np.array([0.5, 2.0])) for f in (targets, fit))
    np.testing.assert_allclose(B, b, rtol=1e-8)


def test_duplicates_constants_and_exact_fits():
    """Two columns alike, one of zeros, more columns than rows, and targets without noise."""
    Z, _ = data(8, n=8)
    Z[:, 1], Z[:, 2] = Z[:, 0], 0.0
    fit = equations_of(Z, Z @ np.ones(12)).solve(np.full(12, 1e-6))
    assert fit.beta[0] == pytest.approx(fit.beta[1])
    assert fit.beta[2] == fit.edf[2] == 0
    assert fit.scale > 0
    curve = evidence(fit, SECOND).log_bayes_factor(np.array([1e-8, 1.0, 1e8]))
    assert np.all(np.isfinite([*curve, fit.likelihood]))
    nothing = equations_of(Z, np.ones(8)).solve(RIDGE)
    assert np.all(nothing.beta == 0)
    assert np.isfinite(nothing.likelihood)


def test_moments_that_are_not_finite():
    Z, z = data(8)
    equations = equations_of(Z, z)
    for G in (equations.moments.G * np.nan, -equations.moments.G):
        broken = Equations(replace(equations.moments, G=G), None, 80.0)
        with pytest.raises(FloatingPointError, match="not finite"):
            broken.solve(np.ones(12))


# ----------------------------------------------------------------- evidence


FACTORS = np.array([1e-6, 0.01, 0.5, 1.0, 3.0, 400.0])


def scaled(c):
    variances = NOISE / RIDGE
    variances[SECOND] *= c
    return variances


def test_evidence_is_the_likelihood_of_a_variance_that_is_multiplied():
    Z, z = data(9)
    found = evidence(equations_of(Z, z, NOISE).solve(RIDGE), SECOND).log_bayes_factor(FACTORS)
    null = log_likelihood(Z, z, scaled(0.0), NOISE)
    expected = [log_likelihood(Z, z, scaled(c), NOISE) - null for c in FACTORS]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_moments_of_functions_are_those_of_the_mixture():
    """Posterior given each factor from the joint Gaussian of coefficients and targets."""
    Z, z = data(9)
    weight = np.array([0.1, 0.2, 0.3, 0.2, 0.1, 0.1])
    functions = np.random.default_rng(0).normal(size=(7, 5))
    posterior = evidence(equations_of(Z, z, NOISE).solve(RIDGE), SECOND)
    first, second = posterior.function_moments(functions, FACTORS, weight)
    C, r = Z - Z.mean(axis=0), z - z.mean()
    means, squares = [], []
    for c in FACTORS:
        V = np.linalg.inv(C.T @ C / NOISE + np.diag(1 / scaled(c)))
        mean = functions @ (V @ (C.T @ r) / NOISE)[SECOND]
        means.append(mean)
        squares.append(mean**2 + np.einsum("ij,jk,ik->i", functions, V[SECOND, SECOND], functions))
    np.testing.assert_allclose(first, weight @ np.array(means), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(second, weight @ np.array(squares), rtol=1e-6, atol=1e-9)
    alone, _ = posterior.function_moments(np.eye(5), np.ones(1), np.ones(1))
    np.testing.assert_allclose(alone, equations_of(Z, z, NOISE).solve(RIDGE).beta[SECOND])


def test_evidence_of_some_of_the_terms_and_under_constraints():
    """Roots that are not triangular: of some columns only, or where constraints hold."""
    Z, z = data(9)
    fit = equations_of(Z, z, NOISE).solve(RIDGE)
    whole = evidence(fit, SECOND).log_bayes_factor(FACTORS)
    part = replace(fit, beta=fit.beta[3:], ridge=fit.ridge[3:], edf=fit.edf[3:], root=fit.root[:, 3:])
    np.testing.assert_allclose(evidence(part, slice(0, 5)).log_bayes_factor(FACTORS), whole)
    A = np.zeros((1, 12))
    A[0, [9, 4]] = 1.0, -1.0  # β_9 = β_4
    V = np.linalg.inv(fit.root.T @ fit.root)
    W = np.delete(np.eye(12), 9, axis=1)
    W[9, 4] = 1.0
    V = W @ np.linalg.inv(W.T @ V @ W) @ W.T
    held = evidence(replace(fit, root=held_by(fit.root, A)), SECOND)
    expected = NOISE * np.diag(V)[SECOND]
    first, second = held.function_moments(np.eye(5), np.ones(1), np.ones(1))
    np.testing.assert_allclose(second - first**2, expected, rtol=1e-6)


# ---------------------------------------------------------------- score test


def test_score_statistic_from_the_fit_without_the_columns():
    Z, z = data(9)
    fit = equations_of(Z, z).solve(RIDGE)
    shape = np.array([0.4, 0.3, 0.2, 0.1, 0.0])
    ((Q, weights),) = score_tests(fit, SECOND, shape[None])
    C = Z - Z.mean(axis=0)
    others = GROUP != 1
    A = C[:, others]
    P = np.eye(len(z)) - A @ np.linalg.solve(A.T @ A + np.diag(RIDGE[others]), A.T)
    u = C[:, SECOND].T @ P @ (z - z.mean())
    assert pytest.approx(u @ (shape * u) / fit.scale) == Q
    M = np.sqrt(shape)[:, None] * (C[:, SECOND].T @ P @ C[:, SECOND]) * np.sqrt(shape)
    np.testing.assert_allclose(np.sort(weights), np.linalg.eigvalsh(M)[1:], rtol=1e-7)  # the last has no part


def test_score_test_has_about_the_right_size():
    """Five per cent of 400 null terms, within four standard errors."""
    rejected = []
    for seed in range(400):
        Z, z = data(100 + seed, n=60, tau=(1.0, 0.0, 0.3))
        fit = equations_of(Z, z).solve(np.repeat([NOISE, 5.0, NOISE / 0.09], [3, 5, 4]))
        rejected.append(mixture_tail(*score_tests(fit, SECOND, np.full((1, 5), 0.2))[0]) < 0.05)
    assert abs(np.mean(rejected) - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 400)
