"""The two ways to a support vector machine, and what folds may bring."""

import numpy as np
import pytest
from glm_oracles import rbf, sample, side, spectral

from pellucid.losses import Hinge
from pellucid.solvers import GLMProblem, fit_hinge, hinge


def setting(n=80):
    X, y = sample("hinge", n)
    return spectral(rbf(X)), GLMProblem(y, side(n)[0], np.zeros(n), Hinge())


@pytest.mark.parametrize("alpha", [1e-5, 1e-2, 1.0, 100.0])
def test_both_ways_lead_to_the_same_machine(alpha, monkeypatch):
    Z, problem = setting()
    usual = fit_hinge(Z, problem, alpha)
    monkeypatch.setattr(hinge, "_by_libsvm", lambda Z, problem, alpha: (np.zeros(len(Z)), 0.0, 0))
    other = fit_hinge(Z, problem, alpha)
    np.testing.assert_allclose(other.delta, usual.delta, atol=1e-8 * np.abs(usual.delta).max())
    assert other.intercept == pytest.approx(usual.intercept, abs=1e-7)


def test_more_rows_than_features():
    X, y = sample("hinge", 80)
    problem = GLMProblem(y, np.ones(80), np.full(80, 0.1), Hinge())
    fit = fit_hinge(X, problem, 0.5)
    assert fit.converged
    assert fit.optimality < 1e-9


def test_rows_of_one_class_get_a_constant():
    Z, problem = setting()
    part = problem.rows(np.flatnonzero(problem.y == 1))
    fit = fit_hinge(Z[problem.y == 1], part, 0.1)
    assert not fit.delta.any()
    assert fit.intercept >= 1


def test_identical_rows_of_both_classes():
    fit = fit_hinge(
        np.ones((4, 1)), GLMProblem(np.array([0, 1, 0, 1.0]), np.ones(4), np.zeros(4), Hinge()), 1.0
    )
    assert fit.converged
    np.testing.assert_allclose(fit.delta, 0, atol=1e-12)


def test_too_few_steps_are_owned_up_to(monkeypatch):
    Z, problem = setting()
    monkeypatch.setattr(hinge, "_by_libsvm", lambda Z, problem, alpha: (np.zeros(len(Z)), 0.0, 0))
    monkeypatch.setattr(hinge, "_ROUNDS", 1)
    assert not fit_hinge(Z, problem, 1e-3, max_iter=1).converged
