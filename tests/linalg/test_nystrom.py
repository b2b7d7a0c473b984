import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.exceptions import IndefiniteKernelError
from pellucid.linalg import nystrom
from pellucid.linalg.nystrom import pivoted_cholesky


def run(K, max_rank, seed=0, **options):
    return pivoted_cholesky(lambda index: K[:, index], np.diag(K), max_rank, random_state=seed, **options)


def rbf(X, Y, length_scale=1.0):
    return np.exp(-0.5 * np.sum((X[:, None] - Y) ** 2, axis=2) / length_scale**2)


def points(n, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def with_spectrum(values, seed=0):
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))
    return (Q * values) @ Q.T


@pytest.mark.parametrize("rank", [1, 20, 60])
def test_the_factor_is_the_nystrom_approximation_of_its_pivots(rank):
    X = points(150, d=5)
    K = rbf(X, X)
    low_rank = run(K, rank, tolerance=0.0)
    F, pivots, transfer = low_rank.factor, low_rank.pivots, low_rank.transfer
    assert F.shape == (150, rank)
    assert len(np.unique(pivots)) == rank
    assert_allclose(F, K[:, pivots] @ transfer, atol=1e-10)
    assert_allclose(F @ F.T, K[:, pivots] @ np.linalg.solve(K[np.ix_(pivots, pivots)], K[pivots]), atol=1e-10)
    assert_allclose((F @ F.T)[pivots], K[pivots], atol=1e-10)
    assert_allclose(low_rank.accuracy, 1 - np.trace(K - F @ F.T) / np.trace(K), atol=1e-12)
    assert_array_equal(np.triu(F[pivots], 1), 0.0)
    assert_array_equal(np.tril(transfer, -1), 0.0)


def test_new_rows():
    X, new = points(300), points(40, seed=1)
    K = rbf(X, X)
    low_rank = run(K, 200, tolerance=1e-10)
    F_new = rbf(new, X[low_rank.pivots]) @ low_rank.transfer
    assert_allclose(F_new @ low_rank.factor.T, rbf(new, X), atol=1e-3)


def test_the_same_seed_gives_the_same_pivots():
    K = rbf(points(100), points(100))
    first, second = run(K, 30), run(K, 30)
    assert_array_equal(first.pivots, second.pivots)
    assert_array_equal(first.factor, second.factor)
    assert not np.array_equal(first.pivots, run(K, 30, seed=99).pivots)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-5, 1e-9])
def test_it_stops_at_the_tolerance(tolerance):
    X = points(200)
    K = rbf(X, X, length_scale=2.0)
    low_rank = run(K, 200, tolerance=tolerance)
    F = low_rank.factor
    assert 1 - tolerance <= low_rank.accuracy <= 1.0
    assert np.trace(K - F @ F.T) <= tolerance * np.trace(K) * (1 + 1e-6) + 1e-12
    before = F[:, :-20]  # a block earlier it was not yet reached
    assert np.trace(K - before @ before.T) > tolerance * np.trace(K)


def test_rank_deficient():
    Z = points(100, d=6)
    K = Z @ Z.T
    low_rank = run(K, 100, tolerance=0.0)
    assert low_rank.factor.shape == (100, 6)
    assert_allclose(low_rank.factor @ low_rank.factor.T, K, atol=1e-10)
    assert_allclose(low_rank.accuracy, 1.0, atol=1e-14)
    assert_allclose(K[:, low_rank.pivots] @ low_rank.transfer, low_rank.factor, atol=1e-10)


def test_duplicate_rows_are_used_once():
    X = np.repeat(points(12, d=4), 10, axis=0)
    K = rbf(X, X)
    low_rank = run(K, 120, tolerance=0.0)
    assert low_rank.factor.shape[1] == 12
    assert len(np.unique(low_rank.pivots // 10)) == 12
    assert_allclose(low_rank.factor @ low_rank.factor.T, K, atol=1e-10)


def test_zeros_on_the_diagonal():
    Z = points(30, d=40)
    Z[::3] = 0.0
    K = Z @ Z.T
    low_rank = run(K, 30, tolerance=0.0)
    assert low_rank.factor.shape[1] == 20
    assert np.all(low_rank.pivots % 3 != 0)
    assert_allclose(low_rank.factor @ low_rank.factor.T, K, atol=1e-10)
    nothing = run(np.zeros((5, 5)), 3)
    assert nothing.factor.shape == (5, 0)
    assert nothing.transfer.shape == (0, 0)
    assert nothing.accuracy == 1.0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny(n):
    X = points(n)
    K = rbf(X, X)
    low_rank = run(K, 10, tolerance=0.0)
    assert_allclose(low_rank.factor @ low_rank.factor.T, K, atol=1e-12)
    assert sorted(low_rank.pivots) == list(range(n))


@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_extreme_scales(size):
    X = points(60)
    K = rbf(X, X)
    plain, extreme = run(K, 15), run(size * K, 15)
    assert_array_equal(plain.pivots, extreme.pivots)
    assert_allclose(extreme.factor / np.sqrt(size), plain.factor, atol=1e-8)
    assert_allclose(extreme.accuracy, plain.accuracy, atol=1e-12)


def test_numerically_singular():
    """Pivots end where rounding begins, so the factor stays bounded and the transfer usable."""
    x = np.linspace(0, 1, 300)[:, None]
    K = rbf(x, x)
    low_rank = run(K, 300, tolerance=0.0)
    F = low_rank.factor
    assert F.shape[1] < 30
    assert_allclose(F @ F.T, K, atol=1e-11)
    assert_allclose(K[:, low_rank.pivots] @ low_rank.transfer, F, atol=1e-7)


DECAYS = {"geometric": 0.8 ** np.arange(200), "algebraic": 1.0 / np.arange(1, 201) ** 2}


@pytest.mark.parametrize("decay", DECAYS.values(), ids=DECAYS)
def test_near_optimal_on_decaying_spectra(decay):
    """The theorem: with m ≥ r / ε + r log(1 / (ε η_r)) columns the mean error is at most (1 + ε) η_r.

    Here η_r is the relative error of the best factor of rank r.
    """
    m = 40
    K = with_spectrum(decay)
    errors = [1 - run(K, m, tolerance=0.0, seed=seed).accuracy for seed in range(20)]
    rank, epsilon = np.arange(1, m)[:, None], np.geomspace(0.05, 5.0, 40)
    eta = np.array([decay[r:].sum() / decay.sum() for r in range(1, m)])[:, None]
    applies = m >= rank / epsilon + rank * np.log(1 / (epsilon * eta))
    assert np.mean(errors) <= ((1 + epsilon) * eta)[applies].min()
    assert np.min(errors) >= decay[m:].sum() / decay.sum()


def test_the_random_pivots_are_those_of_the_textbook(monkeypatch):
    """Mean error of the plain algorithm on the whole matrix against that of blocks with rejection."""
    X = points(120) * np.linspace(0.1, 2.0, 120)[:, None]
    K = rbf(X, X)
    errors, rng = [], np.random.default_rng(0)
    monkeypatch.setattr(nystrom, "_N_BLOCKS", 1)  # all pivots are proposed at once
    for _ in range(60):
        R = K.copy()
        for _ in range(20):
            d = np.maximum(np.diag(R), 0.0)
            i = rng.choice(len(K), p=d / d.sum())
            R -= np.outer(R[:, i], R[i]) / R[i, i]
        errors.append(np.trace(R) / np.trace(K))
    ours = [1 - run(K, 20, tolerance=0.0, seed=seed).accuracy for seed in range(60)]
    spread = np.sqrt(np.var(errors) / 60 + np.var(ours) / 60)
    assert abs(np.mean(ours) - np.mean(errors)) < 3 * spread


def test_blocks_do_not_change_the_distribution(monkeypatch):
    """The rejection step makes one block of proposals worth as much as pivots drawn one by one."""
    X = np.vstack([points(180) * 0.05, points(20, seed=1) * 3.0])  # a cluster that a naive block would flood
    K = rbf(X, X)
    errors = []
    for n_blocks in (1, 20):
        monkeypatch.setattr(nystrom, "_N_BLOCKS", n_blocks)
        errors.append(np.mean([1 - run(K, 20, seed, tolerance=0.0).accuracy for seed in range(60)]))
    assert_allclose(*errors, rtol=0.2)


def test_only_the_columns_that_are_asked_for_are_evaluated():
    X, asked = points(500), []

    def column(index):
        asked.append(len(index))
        return rbf(X, X[index])

    low_rank = pivoted_cholesky(column, np.ones(500), 50, tolerance=0.0, random_state=0)
    assert low_rank.factor.shape[1] == 50
    assert sum(asked) <= 150
    assert max(asked) <= 5


def test_refusals():
    K = np.eye(4)
    for bad in (np.nan, np.inf, -1.0):
        with pytest.raises(IndefiniteKernelError, match="diagonal of the kernel matrix"):
            pivoted_cholesky(lambda index: K[:, index], np.array([1.0, bad, 1.0, 1.0]), 2, random_state=0)
    with pytest.raises(IndefiniteKernelError, match="contains NaN"):
        pivoted_cholesky(lambda index: np.nan * K[:, index], np.ones(4), 2, random_state=0)
    with pytest.raises(IndefiniteKernelError, match="negative eigenvalues"):
        run(np.array([[1.0, 2.0], [2.0, 1.0]]), 2)
