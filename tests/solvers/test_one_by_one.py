"""Variances changed one group after another: evidence and state against whole solutions."""

from itertools import pairwise

import numpy as np
import pytest

from pellucid.linalg.moments import weighted_moments
from pellucid.solvers import one_by_one
from pellucid.solvers.one_by_one import OneByOne
from pellucid.solvers.variance_components import Equations, evidence


def equations(m, scale=None, n=120):
    rng = np.random.default_rng(m)
    Z = rng.normal(size=(n, m + 5)) * np.geomspace(3.0, 0.1, m + 5)
    z = Z[:, 5:] @ rng.normal(size=m) * 0.2 + rng.normal(size=n)
    moments = weighted_moments(lambda rows: Z[rows].T.copy(), np.ones(n), z, m + 5)
    return Equations(moments, scale, float(n)), slice(5, m + 5)


def factors():
    return np.exp(np.linspace(-9.0, 6.0, 20))


@pytest.mark.parametrize("m", [1, 6, 40, 90])
def test_evidence_of_known_noise_is_that_from_eigenvectors(m):
    known, group = equations(m, scale=1.0)
    fit = known.solve(np.geomspace(0.1, 100.0, m + 5))
    look = OneByOne(fit).look(group)
    found = look.log_bayes_factor(fit.scale / look.ridge, factors())
    np.testing.assert_allclose(found, evidence(fit, group).log_bayes_factor(factors()), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("scale", [0.7, None])
@pytest.mark.parametrize("m", [1, 8])
def test_evidence_is_the_difference_of_restricted_likelihoods(m, scale):
    """Of known noise, and with its variance at its best for each of the variances compared."""
    unknown, group = equations(m, scale)
    ridge, shape = np.full(m + 5, 2.0), np.linspace(1.0, 0.1, m)
    fit = unknown.solve(ridge)
    found = OneByOne(fit).look(group).log_bayes_factor(shape, factors())

    def likelihood(c):
        at = ridge.copy()
        at[group] = fit.scale / (c * shape)
        return unknown.solve(at).likelihood

    expected = [likelihood(c) for c in factors()]
    np.testing.assert_allclose(found - found[0], np.subtract(expected, expected[0]), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("flush", [1, 10, 1000])
def test_state_after_changes_is_that_of_a_new_solution(monkeypatch, flush):
    monkeypatch.setattr(one_by_one, "_FLUSH", flush)
    monkeypatch.setattr(one_by_one, "_CLOSE", 0.0)
    monkeypatch.setattr(one_by_one, "_NOTHING", 0.0)
    known, _ = equations(20, scale=0.5)
    start = known.solve(np.full(25, 1.0))
    now = OneByOne(start)
    groups = [slice(*ends) for ends in pairwise([0, 4, 5, 15, 25])]
    for k in (2, 0, 3, 1, 2):
        ridge = np.geomspace(0.01, 1e6, groups[k].stop - groups[k].start) * (k + 1.0)
        now.change(groups[k], now.look(groups[k]), ridge)
    whole = known.solve(now.ridge)
    np.testing.assert_allclose(now.beta, whole.beta, rtol=1e-8, atol=1e-12)
    penalised = whole.rss + float(whole.ridge @ whole.beta**2)
    assert now.square == pytest.approx(penalised / whole.scale)
    for group in groups:
        look = now.look(group)
        np.testing.assert_allclose(look.own, whole.covariance_block(group), rtol=1e-7, atol=1e-13)
        np.testing.assert_allclose(look.edf, whole.edf[group], rtol=1e-6, atol=1e-9)
    assert np.array_equal(start.ridge, np.full(25, 1.0))


def test_changes_that_make_no_difference_are_left_out():
    known, group = equations(6, scale=1.0)
    now = OneByOne(known.solve(np.full(11, 1e12)))
    now.change(group, now.look(group), np.full(6, 1e11))
    assert np.all(now.ridge == 1e12)
    now.change(group, now.look(group), np.full(6, 10.0))
    assert np.all(now.ridge[group] == 10.0)


def test_of_two_copies_one_is_enough():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    z = x + rng.normal(size=200)
    Z = np.column_stack([x, x])
    moments = weighted_moments(lambda rows: Z[rows].T.copy(), np.ones(200), z, 2)
    now = OneByOne(Equations(moments, 1.0, 200.0).solve(np.full(2, 1.0)))
    alone = now.look(slice(1, 2)).without - now.look(slice(1, 2)).square
    assert alone < 1.0  # nothing beside the other
    now.change(slice(0, 1), now.look(slice(0, 1)), np.full(1, 1e9))
    look = now.look(slice(1, 2))
    assert look.without - look.square > 50.0
