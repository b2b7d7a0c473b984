"""Ridges chosen by restricted maximum likelihood: brute force, dense formulas, the size of the score test."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from pellucid.effects.mixture_chi2 import mixture_tail
from pellucid.features.axis import Axis
from pellucid.linalg.moments import weighted_moments
from pellucid.solvers import variance_components
from pellucid.solvers.variance_components import (
    VariancePrior,
    _Equations,
    fit_components,
    noise_groups,
    score_test,
    score_test_on_points,
    score_test_with_dropped,
)

GROUP = np.repeat([0, 1, 2], [3, 5, 4])


def data(seed, n=80, tau=(2.0, 0.3, 0.0)):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 12))
    beta = rng.normal(size=12) * np.array(tau)[GROUP]
    return Z, 1.0 + Z @ beta + 0.7 * rng.normal(size=n)


def moments_of(Z, z, w=None):
    w = np.ones(len(z)) if w is None else w
    return weighted_moments(lambda rows: Z[rows].T.copy(), w, z, Z.shape[1])


def restricted(log_ridge, Z, z):
    """Minus twice the restricted log-likelihood with the noise profiled out, from its definition."""
    n = len(z)
    V = np.eye(n) + (Z / np.exp(log_ridge)[GROUP]) @ Z.T
    inv = np.linalg.inv(V)
    one = np.ones(n)
    mean = one @ inv @ z / (one @ inv @ one)
    q = (z - mean) @ inv @ (z - mean)
    return np.linalg.slogdet(V)[1] + np.log(one @ inv @ one) + (n - 1) * np.log(q / (n - 1))


@pytest.mark.parametrize("seed", [0, 1])
def test_fixed_point_is_the_maximum_of_the_restricted_likelihood(seed):
    Z, z = data(seed, tau=(2.0, 0.5, 0.2))
    fit = fit_components(moments_of(Z, z), GROUP, np.ones(3), n_iter=3000, tol=1e-10)
    best = minimize(
        restricted, np.zeros(3), (Z, z), method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-10}
    )
    at = np.log(fit.ridge)
    assert restricted(at, Z, z) <= best.fun + 1e-6
    live = fit.edf > 0.05
    np.testing.assert_allclose(at[live], best.x[live], atol=2e-2)
    slope = [(restricted(at + d, Z, z) - restricted(at - d, Z, z)) / 2e-4 for d in 1e-4 * np.eye(3)]
    np.testing.assert_allclose(slope, 0, atol=1e-3)


def test_solution_against_dense_formulas():
    Z, z = data(2)
    ridge = np.array([0.5, 3.0, 20.0])
    fit = fit_components(moments_of(Z, z), GROUP, ridge, n_iter=0)
    C = Z - Z.mean(axis=0)
    H = C.T @ C + np.diag(ridge[GROUP])
    beta = np.linalg.solve(H, C.T @ (z - z.mean()))
    np.testing.assert_allclose(fit.beta, beta, rtol=1e-9, atol=1e-12)
    smoother = np.linalg.inv(H) @ C.T @ C
    np.testing.assert_allclose(fit.edf, np.bincount(GROUP, np.diag(smoother)), rtol=1e-9)
    rss = np.sum((z - z.mean() - C @ beta) ** 2)
    assert fit.rss == pytest.approx(rss)
    assert fit.scale == pytest.approx(rss / (len(z) - 1 - np.trace(smoother)))
    np.testing.assert_allclose(fit.root.T @ fit.root, np.linalg.inv(H), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(
        fit.covariance_block(np.array([4, 7])), np.linalg.inv(H)[np.ix_([4, 7], [4, 7])], atol=1e-12
    )
    hat = np.trace(smoother) + 1
    assert fit.gcv(len(z)) == pytest.approx(rss / len(z) / (1 - hat / len(z)) ** 2)


def test_weights_are_repeats():
    Z, z = data(3)
    w = np.random.default_rng(0).integers(0, 4, len(z))
    a = fit_components(moments_of(Z, z, w.astype(float)), GROUP, np.ones(3), n_iter=50)
    b = fit_components(moments_of(np.repeat(Z, w, axis=0), np.repeat(z, w)), GROUP, np.ones(3), n_iter=50)
    np.testing.assert_allclose(a.beta, b.beta, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(a.ridge, b.ridge, rtol=1e-6)
    assert a.scale == pytest.approx(b.scale)


def test_infinite_ridges_leave_groups_out():
    Z, z = data(4)
    fit = fit_components(moments_of(Z, z), GROUP, np.array([1.0, np.inf, 2.0]), n_iter=5)
    assert np.all(fit.beta[GROUP == 1] == 0)
    assert fit.edf[1] == 0
    assert np.isinf(fit.ridge[1])
    lean = fit_components(
        moments_of(Z[:, GROUP != 1], z), np.repeat([0, 1], [3, 4]), np.array([1.0, 2.0]), n_iter=5
    )
    np.testing.assert_allclose(fit.beta[GROUP != 1], lean.beta, rtol=1e-9)
    assert np.all(fit.root_of(np.flatnonzero(GROUP == 1)) == 0)


def test_nothing_left():
    Z, z = data(4)
    m = moments_of(Z, z)
    fit = fit_components(m, GROUP, np.full(3, np.inf))
    assert np.all(fit.beta == 0)
    assert fit.rss == m.square


def test_known_scale_and_prior_on_the_spread():
    Z, z = data(5)
    m = moments_of(Z, z)
    free = fit_components(m, GROUP, np.ones(3), n_iter=200, scale=0.5, tol=1e-8)
    assert free.scale == 0.5
    spread = np.bincount(GROUP, np.diag(m.G)) / m.total
    held = fit_components(
        m, GROUP, np.ones(3), n_iter=200, scale=0.5, tol=1e-8, prior=VariancePrior(spread=spread)
    )
    power = np.bincount(GROUP, held.beta**2)
    tau = np.sqrt(0.5 / held.ridge)
    expected = 0.5 * (held.edf + tau * np.sqrt(spread)) / power
    np.testing.assert_allclose(held.ridge, expected, rtol=1e-4)
    assert np.all(held.ridge >= free.ridge * (1 - 1e-6))  # the prior pulls towards zero


def test_noise_is_pruned_and_signal_is_not():
    Z, z = data(6, n=400, tau=(1.0, 0.5, 0.0))
    fit = fit_components(moments_of(Z, z), GROUP, np.ones(3), n_iter=20, prune=2.0)
    assert list(np.isfinite(fit.ridge)) == [True, True, False]
    full = fit_components(moments_of(Z, z), GROUP, np.ones(3), n_iter=20)
    assert list(noise_groups(full, GROUP, 2.0)) == [False, False, True]
    assert list(noise_groups(full, GROUP, np.array([1e9, 2.0, 2.0]))) == [True, False, True]


@pytest.mark.parametrize("prune", [None, 0.5])
def test_many_columns_in_single_precision_on_the_way(monkeypatch, prune):
    Z, z = data(7)
    m = moments_of(Z, z)
    exact = fit_components(m, GROUP, np.ones(3), n_iter=10, prune=prune)
    monkeypatch.setattr(variance_components, "_SINGLE", 1)
    rough = fit_components(m, GROUP, np.ones(3), n_iter=10, prune=prune)
    np.testing.assert_array_equal(np.isfinite(rough.ridge), np.isfinite(exact.ridge))
    np.testing.assert_allclose(rough.beta, exact.beta, rtol=1e-3, atol=1e-4)
    assert rough.root.dtype == np.float64  # the last solve is exact


def test_moments_that_are_not_finite():
    Z, z = data(8)
    m = moments_of(Z, z)
    for G in (m.G * np.nan, -m.G):
        with pytest.raises(FloatingPointError, match="not finite"):
            fit_components(replace(m, G=G), GROUP, np.ones(3), n_iter=0)


def test_score_statistic_from_the_fit_without_the_group():
    Z, z = data(9)
    ridge = np.array([0.5, 3.0, 20.0])
    fit = fit_components(moments_of(Z, z), GROUP, ridge, n_iter=0)
    members = np.flatnonzero(GROUP == 1)
    Q, weights = score_test(fit, members, ridge[GROUP[members]])
    C = Z - Z.mean(axis=0)
    others = GROUP != 1
    A = C[:, others]
    beta = np.linalg.solve(A.T @ A + np.diag(ridge[GROUP[others]]), A.T @ (z - z.mean()))
    u = C[:, members].T @ (z - z.mean() - A @ beta)
    assert pytest.approx(u @ u / fit.scale) == Q
    P = np.eye(len(z)) - A @ np.linalg.solve(A.T @ A + np.diag(ridge[GROUP[others]]), A.T)
    M = C[:, members].T @ P @ C[:, members]
    np.testing.assert_allclose(np.sort(weights), np.linalg.eigvalsh(M), rtol=1e-7)


@pytest.mark.parametrize("dropped", [[4, 5], [3, 4, 5, 6, 7], []])
def test_score_statistic_with_columns_that_were_dropped(dropped):
    """Columns of one group, some left out of the fit: all are tested, against the dense formula."""
    Z, z = data(10)
    group = GROUP.copy()
    group[dropped] = 3
    ridge = np.array([0.5, 3.0, 20.0, np.inf])
    moments = moments_of(Z, z)
    fit = fit_components(moments, group, ridge, n_iter=0)
    members = np.flatnonzero(GROUP == 1)
    Q, weights = score_test_with_dropped(moments, fit, members)
    C = Z - Z.mean(axis=0)
    A = C[:, GROUP != 1]
    P = np.eye(len(z)) - A @ np.linalg.solve(A.T @ A + np.diag(ridge[GROUP[GROUP != 1]]), A.T)
    u = C[:, members].T @ P @ (z - z.mean())
    assert pytest.approx(u @ u / fit.scale) == Q
    np.testing.assert_allclose(
        np.sort(weights), np.linalg.eigvalsh(C[:, members].T @ P @ C[:, members]), rtol=1e-7
    )


def test_score_test_has_about_the_right_size():
    """Five per cent of 400 null groups, within four standard errors."""
    rejected = []
    for seed in range(400):
        Z, z = data(100 + seed, n=60, tau=(1.0, 0.0, 0.3))
        fit = fit_components(moments_of(Z, z), GROUP, np.ones(3), n_iter=10)
        members = np.flatnonzero(GROUP == 1)
        Q, weights = score_test(fit, members, np.full(len(members), fit.ridge[1]))
        rejected.append(mixture_tail(Q, weights) < 0.05)
    assert abs(np.mean(rejected) - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 400)


def test_pooled_variances_are_means_of_the_kind_and_of_the_group():
    Z, z = data(3, tau=(2.0, 0.5, 0.2))
    m, kind, a, extra = moments_of(Z, z), np.array([0, 0, 1]), 3.0, 0.5
    start = fit_components(m, GROUP, np.array([1.0, 2.0, 3.0]), n_iter=0)
    power = np.array([np.sum(start.beta[g == GROUP] ** 2) for g in range(3)])
    usual = np.array([power[:2].sum() / start.edf[:2].sum()] * 2 + [power[2] / start.edf[2]])
    expected = start.scale * (start.edf + extra + a) / (power + a * usual)
    once = fit_components(
        m, GROUP, start.ridge, n_iter=1, prior=VariancePrior(pool=a, kind=kind, extra=extra)
    )
    np.testing.assert_allclose(once.ridge, expected, rtol=1e-10)


def test_infinite_pooling_is_one_variance_per_kind():
    Z, z = data(4, tau=(2.0, 0.5, 0.2))
    m, kind = moments_of(Z, z), np.array([0, 0, 1])
    pooled = fit_components(
        m, GROUP, np.ones(3), n_iter=2000, tol=1e-12, prior=VariancePrior(pool=1e9, kind=kind)
    )
    merged = fit_components(m, kind[GROUP], np.ones(2), n_iter=2000, tol=1e-12)
    np.testing.assert_allclose(pooled.ridge, merged.ridge[kind], rtol=1e-4)
    np.testing.assert_allclose(pooled.beta, merged.beta, rtol=1e-4)


def test_pooling_keeps_weak_effects_together():
    rng = np.random.default_rng(5)
    group = np.repeat(np.arange(40), 2)
    Z = rng.normal(size=(150, 80))
    beta = 0.15 * rng.normal(size=80)
    z = Z @ beta + rng.normal(size=150)
    m, ridge = moments_of(Z, z), np.full(40, 50.0)
    alone = fit_components(m, group, ridge, n_iter=200, scale=1.0)
    pooled = fit_components(
        m, group, ridge, n_iter=200, scale=1.0, prior=VariancePrior(pool=4.0, kind=np.zeros(40, dtype=int))
    )
    error = [float(np.sum((fit.beta - beta) ** 2)) for fit in (pooled, alone)]
    assert error[0] < 0.8 * error[1]


def test_score_test_on_points_is_that_of_the_rows():
    rng = np.random.default_rng(5)
    axis = Axis.numeric(rng.normal(size=40), np.ones(40), 12)
    x, w, r = rng.normal(size=300), rng.uniform(0.1, 2.0, 300), rng.normal(size=300)
    T = np.vstack([rng.normal(size=(len(axis), 4)), np.zeros(4)])  # the last point is nowhere
    Q, weights = score_test_on_points(*axis.sums(x, w, r), T, 1.7)
    i, share = axis.locate(x)
    Z = (1 - share)[:, None] * T[i] + share[:, None] * T[i + 1]
    u = Z.T @ (r - w * r.sum() / w.sum())
    Z = Z - w @ Z / w.sum()
    np.testing.assert_allclose(Q, u @ u / 1.7)
    np.testing.assert_allclose(weights, np.linalg.eigvalsh((Z.T * w) @ Z), rtol=1e-8)


def test_where_few_groups_matter_the_usual_variance_is_a_geometric_mean():
    Z, z = data(3, tau=(2.0, 0.5, 0.2))
    m, kind, a = moments_of(Z, z), np.array([0, 0, 1]), 3.0
    start = fit_components(m, GROUP, np.array([1.0, 2.0, 3.0]), n_iter=0)
    power = np.array([np.sum(start.beta[g == GROUP] ** 2) for g in range(3)])
    ratio = power / start.edf
    usual = np.array([np.sqrt(ratio[0] * ratio[1])] * 2 + [ratio[2]])
    expected = start.scale * (start.edf + a) / (power + a * usual)
    few = np.array([True, True, False])
    once = fit_components(m, GROUP, start.ridge, n_iter=1, prior=VariancePrior(pool=a, kind=kind, sparse=few))
    np.testing.assert_allclose(once.ridge, expected, rtol=1e-10)
    none = fit_components(
        m,
        GROUP,
        start.ridge,
        n_iter=1,
        prior=VariancePrior(pool=a, kind=kind, sparse=np.zeros(3, dtype=bool)),
    )
    other = fit_components(m, GROUP, start.ridge, n_iter=1, prior=VariancePrior(pool=a, kind=kind))
    np.testing.assert_array_equal(none.ridge, other.ridge)


def test_strong_groups_lend_noise_no_variance_where_few_matter():
    rng = np.random.default_rng(8)
    group = np.repeat(np.arange(20), 5)
    Z = rng.normal(size=(400, 100))
    z = Z[:, :10] @ rng.normal(size=10) + rng.normal(size=400)  # two groups of twenty
    m, kind = moments_of(Z, z), np.zeros(20, dtype=int)
    fits = [
        fit_components(
            m, group, np.ones(20), n_iter=100, scale=1.0, prior=VariancePrior(pool=1.0, kind=kind, sparse=few)
        )
        for few in (None, np.ones(20, dtype=bool))
    ]
    many, few = (fit.edf[2:].sum() for fit in fits)
    assert few < 0.5 * many
    np.testing.assert_allclose(fits[1].beta[:10], fits[0].beta[:10], rtol=0.2, atol=0.05)


@pytest.mark.parametrize("unit", [1e-60, 1.0, 1e60])
def test_single_precision_takes_moments_of_any_size(unit):
    Z, z = data(5)
    m = moments_of(Z, z)
    equations = _Equations(replace(m, G=unit * m.G), GROUP, None, len(z))
    some, s = np.array([0, 2, 3, 9]), np.array([1.0, 2.0, 0.5, 3.0])
    for columns, scales in ((some, s), (some, 2.0 * s), (np.arange(12), np.ones(12))):
        A = equations.scaled(columns, scales / np.sqrt(unit), single=True)
        assert A.dtype == np.float32
        np.testing.assert_allclose(A, scales[:, None] * m.G[np.ix_(columns, columns)] * scales, rtol=1e-5)
