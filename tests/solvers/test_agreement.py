"""Every solver against the bordered system and against n refits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import bordered, loo_residuals, relative_error, solve

from pellucid.solvers import CholeskySolver, PrimalSolver, SpectralSolver

SOLVERS = {"cholesky": CholeskySolver, "spectral": SpectralSolver, "primal": PrimalSolver}


@st.composite
def problems(draw):
    """Features, targets, weights and an intercept or not; more features than rows, or fewer."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, f, q = draw(st.integers(3, 25)), draw(st.integers(1, 30)), draw(st.integers(1, 3))
    Phi = rng.normal(size=(n, f)) * 10.0 ** draw(st.integers(-2, 2)) + draw(st.sampled_from([0.0, 3.0]))
    weighting = draw(st.sampled_from(["none", "whole", "any"]))
    weight = {
        "none": np.ones(n),
        "whole": rng.integers(1, 5, size=n).astype(float),
        "any": rng.uniform(0.2, 5.0, size=n),
    }[weighting]
    alpha = 10.0 ** draw(st.floats(-3.0, 2.0)) * np.mean(Phi**2) * f
    return Phi, rng.normal(size=(n, q)) + 2.0, weight, float(alpha), draw(st.booleans())


def start(name, Phi, weight, fit_intercept):
    data = Phi.copy() if name == "primal" else Phi @ Phi.T
    return SOLVERS[name].start(data, weight, fit_intercept=fit_intercept)


@pytest.mark.parametrize("name", SOLVERS)
@given(problem=problems())
@settings(deadline=None, max_examples=60)
def test_leave_one_out_equals_n_refits(name, problem):
    Phi, Y, weight, alpha, fit_intercept = problem
    fits = start(name, Phi, weight, fit_intercept).fits(Y, np.array([alpha]))
    expected = loo_residuals(Phi @ Phi.T, Y, weight, alpha, fit_intercept)
    assert relative_error(fits.loo_residuals[0], expected) < 1e-8


@pytest.mark.parametrize("name", SOLVERS)
@given(problem=problems())
@settings(deadline=None, max_examples=30)
def test_solution_equals_the_bordered_system(name, problem):
    Phi, Y, weight, alpha, fit_intercept = problem
    K = Phi @ Phi.T
    solver = start(name, Phi, weight, fit_intercept)
    alphas = alpha * np.array([1.0, 7.0])
    fits = solver.fits(Y, alphas)
    for i, value in enumerate(alphas):
        a, b = solve(K, Y, weight, value, fit_intercept)
        M = bordered(K, weight, value, fit_intercept)
        n = len(K)
        B = np.linalg.inv(M)[:n, :n]
        assert relative_error(fits.dual_coef[i], a) < 1e-7
        assert relative_error(fits.residuals[i], Y - K @ a - b) < 1e-8
        assert np.allclose(fits.slack[i], value * np.diag(B) / weight, rtol=1e-7, atol=1e-12)
        assert np.allclose(fits.quadratic[i], np.diag(Y.T @ B @ Y), rtol=1e-7)
        # the determinant of the bordered matrix is that of K + α S⁻¹ times −1ᵀ(K + α S⁻¹)⁻¹1
        assert np.isclose(fits.log_det[i], np.linalg.slogdet(M)[1], rtol=1e-9, atol=1e-7)
        if name == "primal":
            coef = solver.coefficients(Y, np.full(Y.shape[1], value))
            intercept = solver.intercept(Y, coef)
            assert relative_error(Phi @ coef + intercept, K @ a + b) < 1e-8
        else:
            intercept = solver.intercept(Y, fits.dual_coef[i])
        assert np.allclose(intercept, b, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_consuming_the_matrix_changes_nothing(fit_intercept):
    rng = np.random.default_rng(0)
    Phi, Y = rng.normal(size=(20, 4)), rng.normal(size=(20, 2))
    alphas = np.array([0.1, 1.0, 10.0])
    kept = start("cholesky", Phi, np.ones(20), fit_intercept).fits(Y, alphas)
    consumed = start("cholesky", Phi, np.ones(20), fit_intercept).fits(Y, alphas, consume=True)
    assert np.array_equal(kept.residuals, consumed.residuals)
    assert np.array_equal(kept.slack, consumed.slack)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [1e-9, 1e-4, 1.0])
def test_low_rank_is_no_special_case(fit_intercept, alpha):
    """Repeated rows leave directions without kernel, whose vectors the spectral solver does not compute."""
    rng = np.random.default_rng(1)
    Phi, Y = rng.normal(size=(9, 12)), rng.normal(size=(9, 1))
    counts = rng.integers(1, 6, size=9)
    alphas = np.array([alpha])
    weighted = start("spectral", Phi, counts.astype(float), fit_intercept).fits(Y, alphas)
    order = rng.permutation(np.repeat(np.arange(9), counts))
    repeated = start("spectral", Phi[order], np.ones(counts.sum()), fit_intercept).fits(Y[order], alphas)
    held_out = weighted.held_out_residuals[0][order]
    assert np.allclose(repeated.held_out_residuals[0], held_out, rtol=1e-9, atol=1e-12)
    assert np.isclose(repeated.criterion("loo")[0, 0], weighted.criterion("loo")[0, 0], rtol=1e-9)
    assert np.isclose(repeated.criterion("gcv")[0, 0], weighted.criterion("gcv")[0, 0], rtol=1e-6)
    assert np.isclose(repeated.criterion("ml")[0, 0], weighted.criterion("ml")[0, 0], rtol=1e-6)


@pytest.mark.parametrize("name", ["cholesky", "spectral"])
def test_dual_coefficients_add_up_to_zero_however_large_the_mean_of_the_targets(name):
    """Rounding leaves a trace of the mean along the intercept, and 1/alpha would make much of it."""
    rng = np.random.default_rng(0)
    Phi, Y = rng.normal(size=(30, 2)), 1e12 + 100.0 * rng.normal(size=(30, 1))
    a = start(name, Phi, np.ones(30), True).fits(Y, np.array([1e-3])).dual_coef
    assert abs(a.sum()) <= 1e-12 * np.abs(a).sum()
