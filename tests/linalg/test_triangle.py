"""Cholesky factors and inverses of triangles, whether SciPy's addresses are to be had or not."""

import numpy as np
import pytest

from pellucid.linalg import lower_factor, lower_inverse, triangle


@pytest.fixture(params=["addresses", "functions"])
def way(request, monkeypatch):
    """Both ways to LAPACK."""
    if request.param == "functions":
        monkeypatch.setattr(triangle, "_routine", lambda name, n_arguments: None)
    else:
        assert triangle._routine("dpotrf", 5) is not None


def positive_definite(n, dtype=np.float64):
    B = np.random.default_rng(n).standard_normal((n, n + 3))
    return (B @ B.T + np.eye(n)).astype(dtype)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 7, 130])
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


def test_a_routine_of_other_arguments_is_not_called():
    triangle._routine.cache_clear()
    assert triangle._routine("dpotrf", 4) is None
    assert triangle._routine("no such routine", 5) is None
