import numpy as np
import pytest

from pellucid.linalg import LowRank, conjugate_gradients, low_rank_preconditioner, symmetric_product

RNG = np.random.default_rng(5)
F = RNG.standard_normal((60, 60)) * 2.0 ** -np.arange(60.0)
A = F @ F.T + 1e-3 * np.eye(60)
B = RNG.standard_normal((60, 4))


def test_many_right_hand_sides_are_each_solved_as_alone():
    B0 = B.copy()
    B0[:, 2] = 0.0
    found = conjugate_gradients(lambda P: A @ P, B0, tol=1e-12, max_iter=500)
    assert found.converged
    np.testing.assert_allclose(found.x, np.linalg.solve(A, B0), rtol=1e-7, atol=1e-9)
    assert not found.x[:, 2].any()
    for k in range(4):
        one = conjugate_gradients(lambda p: A @ p, B0[:, k], tol=1e-12, max_iter=500)
        np.testing.assert_allclose(one.x, found.x[:, k], rtol=1e-7, atol=1e-9)


def test_tolerances_of_columns_are_kept_and_a_start_saves_steps():
    tol = np.array([1e-2, 1e-10, 1e-4, 1e-1])
    found = conjugate_gradients(lambda P: A @ P, B, tol=tol, max_iter=500)
    off = np.linalg.norm(B - A @ found.x, axis=0) / np.linalg.norm(B, axis=0)
    assert np.all(off <= 1.5 * tol)
    again = conjugate_gradients(lambda P: A @ P, B, start=found.x, tol=2.0 * tol)
    assert again.n_iter == 0


def test_preconditioning_saves_steps_for_every_alpha_from_one_factor():
    low = LowRank.of(F[:, :20].copy())
    for alpha in (1e-3, 1e-1):
        K = F @ F.T + alpha * np.eye(60)
        plain = conjugate_gradients(lambda P, K=K: K @ P, B, tol=1e-8)
        helped = conjugate_gradients(lambda P, K=K: K @ P, B, precondition=low.inverse(alpha), tol=1e-8)
        assert helped.converged
        assert helped.n_iter < 0.5 * plain.n_iter
        M = low.inverse(alpha)(np.eye(60))
        np.testing.assert_allclose(np.diag(M), low.inverse_diagonal(alpha), rtol=1e-10)
        np.testing.assert_allclose(M, low_rank_preconditioner(F[:, :20].copy(), alpha)(np.eye(60)))


def test_both_ways_to_the_singular_vectors_agree(monkeypatch):
    direct = LowRank.of(F[:, :10].copy())
    monkeypatch.setattr("pellucid.linalg.preconditioner._TALL", 0)
    by_products = LowRank.of(F[:, :10].copy())
    np.testing.assert_allclose(by_products.values, direct.values, rtol=1e-8)
    np.testing.assert_allclose(by_products.inverse(0.1)(B), direct.inverse(0.1)(B), rtol=1e-6)


def test_an_indefinite_matrix_does_not_pass_for_solved():
    found = conjugate_gradients(lambda P: np.diag([1.0, -1.0]) @ P, np.ones((2, 1)))
    assert not found.converged


@pytest.mark.parametrize("step", [7, 30, 60, 100])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_symmetric_product_does_not_depend_on_tiles(step, kind):
    asked = []

    def tile(i, j):
        asked.append((i, j))
        return A[i, j].astype(kind)

    found = symmetric_product(tile, B, step=step)
    np.testing.assert_allclose(found, A @ B, rtol=1e-12, atol=1e-12 if kind is np.float64 else 1e-5)
    assert all(i.start >= j.start for i, j in asked)
