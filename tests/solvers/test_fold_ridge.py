"""Ridge from sums of folds: against scikit-learn, against refits, and against itself in the dual."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from pellucid.solvers import fold_ridge
from pellucid.solvers.fold_ridge import DualRidge, PrimalRidge, Sums

N, F, K = 90, 14, 4
RNG = np.random.default_rng(0)
Z = RNG.normal(size=(N, F)) + 3.0
Y = RNG.normal(size=(N, 2)) + Z[:, :2]
S = RNG.uniform(0.5, 2.0, N)
FOLD = np.arange(N) % K


def primal(dtype=np.float64):
    parts = [Sums.zeros(F, 2, dtype) for _ in range(K)]
    for f, part in enumerate(parts):
        for rows in np.array_split(np.flatnonzero(f == FOLD), 3):
            part.add(Z[rows].astype(dtype), Y[rows], S[rows])
    total = Sums.zeros(F, 2)
    for part in parts:
        total += part
    return PrimalRidge(total, parts)


def dual():
    return DualRidge(Z @ Z.T, Y, S, [np.flatnonzero(f == FOLD) for f in range(K)])


def refits(alpha):
    """Weights without each fold, and the mean squared error on what was held out."""
    error, weights = 0.0, []
    for f in range(K):
        train, test = f != FOLD, f == FOLD
        model = Ridge(alpha=alpha).fit(Z[train], Y[train], S[train])
        error += np.sum(S[test] @ (Y[test] - model.predict(Z[test])) ** 2)
        weights.append(model.coef_.T)
    return error / S.sum(), weights


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 100.0])
def test_fit_is_weighted_ridge_with_intercept(alpha):
    expected = Ridge(alpha=alpha).fit(Z, Y, S)
    solution = primal().fit(alpha)
    np.testing.assert_allclose(solution.W, expected.coef_.T, atol=1e-10)
    np.testing.assert_allclose(solution.b, expected.intercept_, atol=1e-9)
    rows = dual().fit(alpha)
    np.testing.assert_allclose(Z.T @ rows.W, expected.coef_.T, atol=1e-7)
    np.testing.assert_allclose(rows.b, expected.intercept_, atol=1e-6)


@pytest.mark.parametrize("alpha", [1e-2, 10.0])
def test_cross_validation_is_that_of_refits(alpha):
    error, weights = refits(alpha)
    for ridge, back in ((primal(), lambda W: W), (dual(), lambda W: Z.T @ W)):
        found, solutions = ridge.cross_validate(alpha)
        assert found == pytest.approx(error, rel=1e-9)
        for solution, expected in zip(solutions, weights, strict=True):
            np.testing.assert_allclose(back(solution.W), expected, atol=1e-7)


@pytest.mark.parametrize("alpha", [0.1, 10.0])
def test_conjugate_gradients_find_the_same(monkeypatch, alpha):
    monkeypatch.setattr(fold_ridge, "_DIRECT", 0)
    error, _ = refits(alpha)
    assert primal().cross_validate(alpha)[0] == pytest.approx(error, rel=1e-4)
    monkeypatch.setattr(fold_ridge, "_CG_TOLERANCE", 1e-10)
    ridge = primal()
    ridge.cross_validate(3 * alpha)  # where the next one starts
    assert ridge.cross_validate(alpha)[0] == pytest.approx(error, rel=1e-9)


def test_float32_sums_are_near():
    assert primal(np.float32).cross_validate(1.0)[0] == pytest.approx(refits(1.0)[0], rel=1e-4)


def test_order_of_rows_and_blocks_do_not_matter():
    whole = Sums.zeros(F, 2)
    whole.add(Z, Y, S)
    total = primal().total
    for name in ("N", "z", "y", "c", "yy", "G"):
        np.testing.assert_allclose(getattr(whole, name), getattr(total, name), rtol=1e-12)
