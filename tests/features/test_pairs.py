"""The arithmetic of pairwise Fourier features against formulas written out."""

import numpy as np
import pytest

from pellucid.features import fourier_loops
from pellucid.features.pairs import PairMap

D, M, N = 5, 4, 70


@pytest.fixture
def case():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, D)), rng.normal(size=(M, 2)), rng.normal(size=D * (D - 1) * M)


def written_out(U, omega):
    """Equation (2) of the paper, feature by feature."""
    D, m = U.shape[1], len(omega)
    columns = []
    for p in range(D):
        for q in range(p + 1, D):
            for w1, w2 in omega:
                angle = w1 * U[:, p] + w2 * U[:, q]
                columns += [np.cos(angle), np.sin(angle)]
    return np.sqrt(2.0 / (D * (D - 1) // 2 * 2 * m)) * np.column_stack(columns)


def split(U, omega, w):
    """The split of cosines and sines into parts of single columns and a rest, term by term."""
    D, m = U.shape[1], len(omega)
    scale = np.sqrt(2.0 / (D * (D - 1) // 2 * 2 * m))
    main, pairs, k = np.zeros((len(U), D)), [], 0
    for p in range(D):
        for q in range(p + 1, D):
            rest = np.zeros(len(U))
            for w1, w2 in omega:
                for f, weight in ((np.cos, w[k]), (np.sin, w[k + 1])):
                    first, second = f(w1 * U[:, p]), f(w2 * U[:, q])
                    main[:, p] += scale * weight * first
                    main[:, q] += scale * weight * second
                    rest += scale * weight * (f(w1 * U[:, p] + w2 * U[:, q]) - first - second)
                k += 2
            pairs.append(rest)
    return np.column_stack([main, *pairs])


@pytest.mark.parametrize(("dtype", "atol"), [(np.float64, 1e-14), (np.float32, 3e-7)])
def test_features_are_those_of_the_paper(case, dtype, atol):
    U, omega, _ = case
    Z = PairMap(omega, D, dtype).features(U)
    assert Z.dtype == dtype
    np.testing.assert_allclose(Z, written_out(U, omega), atol=atol)
    np.testing.assert_allclose((Z**2).sum(axis=1), 1.0, atol=10 * atol)


@pytest.mark.parametrize("D", [2, 3, 12, 13, 33])
def test_every_number_of_columns(D):
    rng = np.random.default_rng(D)
    U, omega = rng.normal(size=(50, D)), rng.normal(size=(3, 2))
    np.testing.assert_allclose(PairMap(omega, D, np.float64).features(U), written_out(U, omega), atol=1e-14)


def test_products_without_the_matrix(case):
    U, omega, w = case
    pairs = PairMap(omega, D, np.float64)
    Z, factors = written_out(U, omega), pairs.factors(U)
    r = np.random.default_rng(1).normal(size=N)
    np.testing.assert_allclose(pairs.times(factors, w), Z @ w, atol=1e-13)
    np.testing.assert_allclose(pairs.transposed_times(factors, r), Z.T @ r, atol=1e-13)


def test_split_sums_back_exactly(case):
    U, omega, w = case
    pairs = PairMap(omega, D, np.float64)
    parts = pairs.components(pairs.factors(U), w)
    np.testing.assert_allclose(parts, split(U, omega, w), atol=1e-13)
    np.testing.assert_allclose(parts.sum(axis=1), written_out(U, omega) @ w, atol=1e-13)


def test_some_terms_only(case):
    U, omega, w = case
    pairs = PairMap(omega, D, np.float64)
    terms = [(2,), (0, 3), (4,), (3, 4)]
    every = [(p,) for p in range(D)] + pairs.pairs
    whole = pairs.components(pairs.factors(U), w)
    np.testing.assert_array_equal(
        pairs.components(pairs.factors(U), w, terms), whole[:, [every.index(t) for t in terms]]
    )


def test_curves_and_surfaces_are_the_components(case):
    U, omega, w = case
    pairs = PairMap(omega, D, np.float64)
    parts = pairs.components(pairs.factors(U), w)
    np.testing.assert_allclose(pairs.curve(U[:, 2], 2, w), parts[:, 2], atol=1e-13)
    surface = pairs.surface(U[:, 1], U[:, 3], (1, 3), w)
    np.testing.assert_allclose(np.diagonal(surface), parts[:, D + pairs.pairs.index((1, 3))], atol=1e-13)


def test_large_angles_keep_their_digits():
    # float32 angles of 1e6 would be off by 0.06
    rng = np.random.default_rng(0)
    U, omega = rng.normal(size=(40, 3)), 1e6 * rng.normal(size=(2, 2))
    exact = written_out(U, omega)
    np.testing.assert_allclose(PairMap(omega, 3).features(U), exact, atol=1e-6)


@pytest.mark.parametrize("D", [4, 14, 40])
def test_numba_changes_nothing_beyond_rounding(monkeypatch, D):
    pytest.importorskip("numba")
    rng = np.random.default_rng(1)
    U, omega = 5.0 * rng.normal(size=(300, D)), rng.normal(size=(5, 2))
    pairs, w = PairMap(omega, D), rng.normal(size=D * (D - 1) * 5)
    found = {}
    monkeypatch.setattr(fourier_loops, "_WORTH_COMPILING", 0)
    for switch in "01":
        monkeypatch.setenv("PELLUCID_NUMBA", switch)
        assert (fourier_loops.compiled() is None) == (switch == "0")
        factors = pairs.factors(U)
        found[switch] = (pairs.features(U), factors.a, pairs.components(factors, w))
    for plain, quick in zip(found["0"], found["1"], strict=True):
        np.testing.assert_allclose(quick, plain, atol=3e-6 * max(1.0, float(np.abs(plain).max())))


def test_inner_products_converge_to_the_mean_of_pair_kernels_like_one_over_root_d():
    from pellucid.kernels import AdditivePairs

    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 4))
    exact = AdditivePairs("rbf", 1.0)(X)
    sizes, errors = np.array([8, 32, 128, 512]), []
    for d in sizes:
        square = 0.0
        for seed in range(30):
            omega = np.random.RandomState(seed).standard_normal((d // 2, 2))
            Z = PairMap(omega, 4, np.float64).features(X)
            square += np.mean((Z @ Z.T - exact) ** 2)
        errors.append(np.sqrt(square / 30))
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.07)
