import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from pellucid.kernels import RBF, REGISTRY, Linear


def test_shape_and_fresh_memory(kernel, X, Y):
    for A, B, K in [(X, X, kernel(X)), (X, Y, kernel(X, Y)), (Y, X, kernel(Y, X))]:
        assert K.shape == (len(A), len(B))
        assert K.dtype == np.float64
        assert K.flags.c_contiguous
        assert K.flags.writeable
        assert not np.shares_memory(K, A)
        assert not np.shares_memory(K, B)
    first = kernel(X)
    kept = first.copy()
    first[:] = -1.0
    assert_array_equal(kernel(X), kept)
    diagonal = kernel.diag(X)
    kept = diagonal.copy()
    diagonal[:] = -1.0
    assert_array_equal(kernel.diag(X), kept)


def test_symmetric(kernel, X, Y):
    assert_allclose(kernel(X), kernel(X).T, rtol=1e-13, atol=1e-14)
    assert_allclose(kernel(X, Y), kernel(Y, X).T, rtol=1e-13, atol=1e-14)
    # the Gram matrix is the matrix between the rows and themselves
    assert_allclose(kernel(X), kernel(X, X.copy()), rtol=1e-12, atol=1e-13)


def test_positive_semi_definite(kernel, X, Y):
    values = np.linalg.eigvalsh(kernel(np.vstack([X, Y, X[:3]])))
    assert values[0] >= -1e-12 * values[-1]


def test_diagonal(kernel, X):
    assert kernel.diag(X).shape == (len(X),)
    assert_allclose(kernel.diag(X), np.diag(kernel(X)), rtol=1e-12)


def test_rows_one_by_one_and_in_any_order(kernel, X, Y):
    K = kernel(X, Y)
    order = np.random.default_rng(0).permutation(len(X))
    assert_allclose(kernel(X[order], Y), K[order], rtol=1e-12, atol=1e-14)
    assert_allclose(kernel(X[:1]), kernel(X)[:1, :1], rtol=1e-12)
    for i, j in [(0, 0), (3, 1), (11, 4)]:
        assert_allclose(kernel(X[i : i + 1], Y[j : j + 1])[0, 0], K[i, j], rtol=1e-12, atol=1e-14)
        if kernel.vectors:
            value = kernel(X[i], Y[j])
            assert type(value) is float
            assert_allclose(value, K[i, j], rtol=1e-12, atol=1e-14)


def test_any_numeric_type(kernel, X, Y):
    for dtype in (np.int64, np.bool_, np.float32, object):
        A, B = (2 * X).astype(dtype), (2 * Y).astype(dtype)
        expected = kernel(A.astype(float), B.astype(float))
        K = kernel(A, B)
        assert K.dtype == np.float64
        assert_allclose(K, expected, rtol=1e-12, atol=1e-14)
        assert_allclose(kernel.diag(A), kernel.diag(A.astype(float)), rtol=1e-12)


def test_lists_and_sparse(kernel, X, Y):
    if kernel.vectors:
        assert_array_equal(kernel(X.tolist(), Y.tolist()), kernel(X, Y))
    assert_allclose(kernel(sparse.csr_array(X), sparse.csc_matrix(Y)), kernel(X, Y), rtol=1e-12, atol=1e-14)
    assert_allclose(kernel.diag(sparse.csr_array(X)), kernel.diag(X), rtol=1e-12)


def test_no_rows(transparent_kernel, X, Y):
    kernel = transparent_kernel
    assert kernel(X[:0]).shape == (0, 0)
    assert kernel(X[:0], Y).shape == (0, 5)
    assert kernel(X, Y[:0]).shape == (12, 0)
    assert kernel.diag(X[:0]).shape == (0,)


def test_one_dimensional_data_are_refused(X):
    for kernel in (RBF(), RBF().on([0]) + Linear()):
        with pytest.raises(ValueError, match="Expected a 2-D array of rows, got 1 dimension"):
            kernel(X[:, 0])


ONE_COLUMN = {name for name, cls in REGISTRY.items() if cls.example_rows() is None}


@pytest.mark.parametrize("name", sorted(ONE_COLUMN - {"AdditivePairs", "Precomputed", "Restricted"}))
def test_one_column(name, X, Y):
    for kernel in REGISTRY[name].examples():
        K = kernel(X[:, :1])
        assert_allclose(np.diag(K), kernel.diag(X[:, :1]), rtol=1e-12)
        assert np.linalg.eigvalsh(K)[0] >= -1e-12 * np.trace(K)
        assert kernel(X[:, :1], Y[:, :1]).shape == (12, 5)
