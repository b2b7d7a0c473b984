import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.linalg import prepare, rank_one_update

N = 8


@pytest.fixture(name="K")
def _matrix():
    Z = np.random.default_rng(0).normal(size=(N, 12))
    return Z @ Z.T


WEIGHTS = {
    "ones": np.ones(N),
    "positive": np.random.default_rng(1).uniform(0.2, 3.0, size=N),
    "some zero": np.array([1.0, 0.0, 2.0, 1.0, 0.0, 3.0, 1.0, 0.5]),
}


@pytest.fixture(params=WEIGHTS)
def weight(request):
    return WEIGHTS[request.param]


def test_without_intercept(K, weight):
    R = np.diag(np.sqrt(weight))
    prepared = prepare(K.copy(), weight, fit_intercept=False)
    assert_allclose(prepared.matrix, R @ K @ R, rtol=1e-13)
    assert prepared.q is None
    Y = np.random.default_rng(2).normal(size=(N, 2))
    assert_allclose(prepared.project(Y), R @ Y)
    assert_array_equal(prepared.intercept(Y, Y), [0.0, 0.0])


def test_with_intercept(K, weight):
    R = np.diag(np.sqrt(weight))
    q = R @ np.ones(N) / np.linalg.norm(R @ np.ones(N))
    P = np.eye(N) - np.outer(q, q)
    prepared = prepare(K.copy(), weight, fit_intercept=True)
    assert_allclose(prepared.q, q)
    assert_allclose(prepared.matrix, P @ R @ K @ R @ P + prepared.tau * np.outer(q, q), atol=1e-12)
    assert_allclose(prepared.matrix @ q, prepared.tau * q, atol=1e-12)
    assert prepared.tau > np.linalg.eigvalsh(P @ R @ K @ R @ P)[-1]
    Y = np.random.default_rng(2).normal(size=(N, 2))
    assert_allclose(prepared.project(Y), P @ R @ Y, atol=1e-13)


@pytest.mark.parametrize("name", ["ones", "positive"])
def test_it_solves_the_bordered_system(K, name):
    weight, alpha = WEIGHTS[name], 0.3
    Y = np.random.default_rng(2).normal(size=(N, 2))
    bordered = np.block(
        [[K + alpha * np.diag(1 / weight), np.ones((N, 1))], [np.ones((1, N)), np.zeros((1, 1))]]
    )
    solution = np.linalg.solve(bordered, np.vstack([Y, np.zeros((1, 2))]))
    prepared = prepare(K.copy(), weight, fit_intercept=True)
    tilted = np.linalg.solve(prepared.matrix + alpha * np.eye(N), prepared.project(Y))
    dual = prepared.root[:, None] * tilted
    assert_allclose(dual, solution[:N], atol=1e-11)
    assert_allclose(prepared.intercept(Y, dual), solution[N], atol=1e-11)


def test_in_place(K):
    matrix = K.copy()
    assert np.shares_memory(prepare(matrix, np.ones(N), fit_intercept=True).matrix, matrix)
    assert np.shares_memory(prepare(matrix, np.ones(N), fit_intercept=False).matrix, matrix)


def test_a_large_common_offset_is_centred_away(K):
    small = prepare(K.copy(), np.ones(N), fit_intercept=True)
    large = prepare(K + 1e9, np.ones(N), fit_intercept=True)
    assert_allclose(large.matrix, small.matrix, atol=1e-5)


def test_a_constant_kernel_has_nothing_left():
    prepared = prepare(np.ones((N, N)), np.ones(N), fit_intercept=True)
    assert prepared.tau > 0
    assert_allclose(prepared.matrix, prepared.tau * np.outer(prepared.q, prepared.q), atol=1e-15)


def test_one_row():
    prepared = prepare(np.array([[3.0]]), np.array([2.0]), fit_intercept=True)
    assert_allclose(prepared.matrix, [[1.0]])
    assert_allclose(prepared.intercept(np.array([[5.0]]), np.array([[0.0]])), [5.0])


def test_rank_one_update():
    A = np.random.default_rng(0).normal(size=(5, 5))
    A = A + A.T
    v = np.arange(5.0)
    expected = A + 2.5 * np.outer(v, v)
    result = rank_one_update(A, 2.5, v)
    assert_allclose(result, expected)
    assert np.shares_memory(result, A)
    assert result.flags.c_contiguous
