"""Factors, inverses of triangles and sums of squares, with and without the addresses of routines."""

import numpy as np
import pytest

from pellucid.linalg import lapack, lower_factor, lower_inverse
from pellucid.linalg.lapack import add_squares


@pytest.fixture(params=["addresses", "functions"])
def way(request, monkeypatch):
    """Both ways to LAPACK."""
    if request.param == "functions":
        monkeypatch.setattr(lapack, "_routine", lambda name, n_arguments: None)
    else:
        assert lapack._routine("dpotrf", 5) is not None


def positive_definite(n, dtype=np.float64):
    B = np.random.default_rng(n).standard_normal((n, n + 3))
    return (B @ B.T + np.eye(n)).astype(dtype)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 130])
def test_factor_and_inverse(n, dtype):
    A = positive_definite(n, dtype)
    L = lower_factor(A.copy())
    tolerance = 1e-4 if dtype is np.float32 else 1e-12
    np.testing.assert_allclose(L, np.linalg.cholesky(A.astype(float)), atol=tolerance * n)
    assert L.dtype == dtype
    assert np.all(np.triu(L, 1) == 0.0)
    R = lower_inverse(L.copy(order="F"))
    np.testing.assert_allclose(R @ L, np.eye(n), atol=tolerance * n)
    assert np.all(np.triu(R, 1) == 0.0)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
def test_what_is_not_positive_definite_is_told(wrong):
    A = positive_definite(20)
    A[7, 7] = wrong
    with pytest.raises(FloatingPointError, match="not positive definite"):
        lower_factor(A)


def test_nothing_is_done_to_a_copy_by_mistake():
    with pytest.raises(ValueError, match="contiguous"):
        lower_factor(np.asfortranarray(positive_definite(5)))
    with pytest.raises(ValueError, match="float32 or float64"):
        lower_factor(np.eye(3, dtype=complex))
    for wrong in (np.ones((2, 3)), np.broadcast_to(np.ones((1, 1)), (1, 1))):
        with pytest.raises(ValueError, match="square, and overwritten"):
            lower_factor(wrong)
    with pytest.raises(ValueError, match="matrices"):
        lower_factor(np.ones(3))


def test_a_routine_of_other_arguments_is_not_called():
    lapack._routine.cache_clear()
    assert lapack._routine("dpotrf", 4) is None
    assert lapack._routine("no such routine", 5) is None


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(5, 40), (40, 5), (3, 0), (0, 4)])
def test_sums_of_squares(shape, dtype):
    Zt = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    before = np.asfortranarray(np.arange(shape[0] ** 2).reshape(shape[0], shape[0]), dtype=dtype)
    C = before.copy(order="F")
    add_squares(C, Zt)
    np.testing.assert_allclose(np.tril(C), np.tril(before + Zt @ Zt.T), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(np.triu(C, 1), np.triu(before, 1))


@pytest.mark.parametrize(("dtype", "size"), [(np.float32, 4), (np.float64, 3)])
def test_sums_that_do_not_fit_are_refused(dtype, size):
    with pytest.raises(ValueError, match="do not fit"):
        add_squares(np.zeros((size, size), order="F"), np.ones((4, 2), dtype=dtype))
