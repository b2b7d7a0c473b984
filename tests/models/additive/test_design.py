"""Products with the design of an additive model, made block by block, against the whole matrix."""

import numpy as np
import pytest

from pellucid.features.term_basis import TermBasis, first_picks
from pellucid.linalg import moments
from pellucid.losses import as_loss
from pellucid.models.additive.engine import design, state
from pellucid.models.additive.engine.design import Design, moments_at, predictor, solved
from pellucid.models.additive.engine.state import Problem
from pellucid.models.additive.engine.structure import build_axes

RNG = np.random.default_rng(5)
N = 700


@pytest.fixture(params=[0, 1 << 27], ids=["made each time", "kept"])
def case(request, monkeypatch):
    monkeypatch.setattr(moments, "_BLOCK", 1)  # 256 rows in a block
    monkeypatch.setattr(design, "_HELD", request.param)
    X = RNG.normal(size=(N, 3))
    problem = Problem(X, RNG.normal(size=N), np.ones(N), RNG.normal(size=N), as_loss("squared"))
    axes = build_axes(X, np.ones(N))
    basis = TermBasis.of(axes, first_picks(axes, [(0,), (1,), (2,)], 5), first_picks(axes, [(0, 2)], 7))
    return problem, basis


def test_products_are_those_of_the_whole_matrix(case):
    problem, basis = case
    Z = basis.design(problem.X)
    products = Design(problem, basis)
    for _ in range(2):  # the second time from what was kept
        beta, slope = RNG.normal(size=basis.size), RNG.normal(size=N)
        np.testing.assert_allclose(products.times(beta), beta @ Z, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(products.sums(slope), Z @ slope, rtol=1e-12, atol=1e-12)


def test_predictor_has_offset_and_intercept_and_skips_terms_without_effect(case):
    problem, basis = case
    beta = RNG.normal(size=basis.size)
    beta[basis.slices[1]] = 0.0
    expected = problem.offset + 2.0 + beta @ basis.design(problem.X)
    np.testing.assert_allclose(predictor(problem, basis, beta, 2.0), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(predictor(problem, basis, 0 * beta, 2.0), problem.offset + 2.0)


def test_moments_are_those_of_the_whole_matrix(case):
    problem, basis = case
    Z, w = basis.design(problem.X), RNG.uniform(size=N)
    C = Z - (Z @ w)[:, None] / w.sum()
    np.testing.assert_allclose(moments_at(problem, basis, w, problem.y).G, (C * w) @ C.T, atol=1e-10)


@pytest.mark.parametrize(("exact", "times"), [(N, 1), (N - 1, 2)])
def test_moments_too_rough_to_solve_are_taken_again(case, monkeypatch, exact, times):
    monkeypatch.setattr(state, "_EXACT", exact)
    problem, basis = case
    seen = []

    def solve(m):
        seen.append(m)
        if len(seen) == 1:
            raise FloatingPointError
        return "solved"

    if times == 1:  # nothing more exact is to be had
        with pytest.raises(FloatingPointError):
            solved(problem, basis, problem.offset, solve)
    else:
        last, answer = solved(problem, basis, problem.offset, solve)
        assert answer == "solved"
        assert last is seen[1]
        assert np.abs(seen[0].G - last.G).max() > 1e-12 * np.abs(last.G).max()
    assert len(seen) == times


def test_no_column_and_no_row(case):
    problem, basis = case
    none = TermBasis.of(basis.axes, {})
    assert Design(problem, none).sums(np.ones(N)).shape == (0,)
    np.testing.assert_array_equal(Design(problem, none).times(np.empty(0)), np.zeros(N))
    np.testing.assert_array_equal(
        Design(problem.part(slice(0)), basis).sums(np.empty(0)), np.zeros(basis.size)
    )
