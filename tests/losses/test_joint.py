"""Losses with inner parameters: profiles and their derivatives against brute force."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from pellucid.losses import Cox, Ordinal

rng = np.random.default_rng(0)
N = 25
WEIGHT = rng.uniform(0.5, 2.0, N)
ETA = rng.normal(size=N)
TIMES = rng.integers(1, 8, N) * np.where(rng.uniform(size=N) < 0.6, 1.0, -1.0)  # many at once
CLASSES = np.append(np.arange(4), rng.integers(0, 4, N - 4)).astype(float)
CASES = [(Cox(), TIMES), (Ordinal.of_classes(4), CLASSES)]


def profile(loss, y, eta, weight):
    return float(weight @ loss.profiled(y, eta, weight).value(y, eta))


def efron(y, eta, s):
    """Minus the logarithm of the partial likelihood, as it is written in textbooks."""
    t, event, r = np.abs(y), ~np.signbit(y), s * np.exp(eta)
    total = 0.0
    for at in np.unique(t[event]):
        tied = event & (t == at)
        d = tied.sum()
        total -= s[tied] @ eta[tied]
        for step in range(d):
            total += s[tied].mean() * np.log(r[t >= at].sum() - step / d * r[tied].sum())
    return total


def test_the_profile_over_the_baseline_is_efrons_partial_likelihood():
    loss = Cox()
    other = rng.normal(size=N)
    ours = profile(loss, TIMES, ETA, WEIGHT) - profile(loss, TIMES, other, WEIGHT)
    assert ours == pytest.approx(efron(TIMES, ETA, WEIGHT) - efron(TIMES, other, WEIGHT), abs=1e-10)
    lost = loss.total_deviance(TIMES, ETA, WEIGHT) - loss.total_deviance(TIMES, other, WEIGHT)
    assert lost == pytest.approx(2 * ours, abs=1e-10)


def test_the_deviance_vanishes_where_scores_foresee_all():
    for y in (TIMES, np.arange(1.0, N + 1)):
        t, event = np.abs(y), ~np.signbit(y)
        perfect = -22.0 * t + 10.0 * event
        assert Cox().total_deviance(y, perfect, WEIGHT) == pytest.approx(0.0, abs=1e-2)
        assert Cox().total_deviance(y, ETA, WEIGHT) > 1.0


def test_the_profile_over_thresholds_is_the_best_there_is():
    def lost(theta):
        P = np.diff(expit(np.concatenate([[-np.inf], theta, [np.inf]]) - ETA[:, None]), axis=1)
        return -WEIGHT @ np.log(np.maximum(P[np.arange(N), CLASSES.astype(int)], 1e-300))

    found = Ordinal.of_classes(4).profiled(CLASSES, ETA, WEIGHT)
    best = minimize(lost, [-1.0, 0.0, 1.0], method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(found.thresholds, best.x, atol=1e-5)
    assert WEIGHT @ found.value(CLASSES, ETA) == pytest.approx(best.fun, rel=1e-10)
    P = found.probabilities(ETA)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_allclose(-np.log(P[np.arange(N), CLASSES.astype(int)]), found.value(CLASSES, ETA))


@pytest.mark.parametrize(("own", "y"), CASES, ids=["cox", "ordinal"])
def test_gradient_and_hessian_of_the_profile_by_differences(own, y):
    at = own.profiled(y, ETA, WEIGHT)
    g = WEIGHT * at.gradient(y, ETA)
    M = at.coupling(y, ETA, WEIGHT, np.eye(N))
    H = np.diag(WEIGHT * at.curvature(y, ETA)) - M.T @ M
    h = 1e-5
    for i in range(N):
        up, down = ETA + h * np.eye(N)[i], ETA - h * np.eye(N)[i]
        assert g[i] == pytest.approx(
            (profile(own, y, up, WEIGHT) - profile(own, y, down, WEIGHT)) / (2 * h), abs=1e-7
        )
        column = [WEIGHT * own.profiled(y, eta, WEIGHT).gradient(y, eta) for eta in (up, down)]
        np.testing.assert_allclose(H[i], (column[0] - column[1]) / (2 * h), atol=1e-6)
    np.testing.assert_allclose(H @ np.ones(N), 0.0, atol=1e-9)  # a shift of all scores changes nothing
    assert np.linalg.eigvalsh(H).min() > -1e-9


@pytest.mark.parametrize(("own", "y"), CASES, ids=["cox", "ordinal"])
def test_scores_far_out_are_survived(own, y):
    for size in (50.0, 700.0, 5000.0):
        eta = size * np.sign(ETA)
        at = own.profiled(y, eta, WEIGHT)
        for method in (at.value, at.gradient, at.curvature, at.deviance):
            assert np.all(np.isfinite(method(y, eta)))
        assert np.all(np.isfinite(at.coupling(y, eta, WEIGHT, np.eye(N))))


def test_degenerate_data():
    assert Cox().profiled([-1.0, -2.0], [0.0, 0.0]).baseline.survival[0] == pytest.approx(1.0)
    assert Cox().total_deviance([-1.0, -2.0], [0.0, 1.0], [1.0, 1.0]) == 0.0
    missing = Ordinal.of_classes(4).profiled([0.0, 0.0, 3.0], [0.0, 0.1, 0.2])
    assert np.all(np.isfinite(missing.thresholds))
    assert missing.probabilities([0.1])[0, 1:3].sum() < 1e-3
    with pytest.raises(ValueError, match="increasing"):
        Ordinal((1.0, 0.0))
    with pytest.raises(ValueError, match="0 to 1"):
        Ordinal().check_targets([0, 2])
