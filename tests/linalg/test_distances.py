import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.linalg import (
    contract_squared_differences,
    distances,
    manhattan_distances,
    scaled_squared_distances,
    squared_distances,
)

FEW, MANY = 3, 40  # columns: differenced directly, and by way of a matrix product


def by_loop(X, Y):
    return np.array([[np.sum((x - y) ** 2) for y in Y] for x in X])


@pytest.mark.parametrize("n_columns", [1, FEW, 24, 25, MANY])
def test_squared_distances(n_columns):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, n_columns)), rng.normal(size=(30, n_columns))
    assert_allclose(squared_distances(X, Y), by_loop(X, Y), rtol=1e-12)
    D = squared_distances(X, X)
    assert_allclose(D, by_loop(X, X), rtol=1e-12)
    assert_array_equal(D, D.T)
    assert_array_equal(np.diag(D), 0.0)


def test_both_routes_are_taken(monkeypatch):
    X = np.random.default_rng(0).normal(size=(6, MANY))
    monkeypatch.setattr(distances, "_direct", lambda *args: pytest.fail("not the direct route"))
    squared_distances(X, X)
    with pytest.raises(pytest.fail.Exception, match="not the direct route"):
        squared_distances(X[:, :FEW], X[:, :FEW])


@pytest.mark.parametrize("n_columns", [FEW, MANY])
@pytest.mark.parametrize("gap", [0.0, 1e-14, 1e-9, 1e-4])
def test_near_duplicates_are_as_exact_as_others(n_columns, gap):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, n_columns)) + 10.0
    Y = X.copy()
    Y[:, 0] += gap
    expected = by_loop(X, Y)
    assert_allclose(squared_distances(X, Y), expected, rtol=1e-8)
    both = np.vstack([X, Y])
    assert_allclose(squared_distances(both, both)[:50, 50:], expected, rtol=1e-8)


def test_tight_clusters_far_apart():
    """So many pairs cancel that all are differenced directly."""
    rng = np.random.default_rng(0)
    X = 1e-5 * rng.normal(size=(60, MANY)) + np.repeat([0.0, 1e3], 30)[:, None]
    assert_allclose(squared_distances(X, X), by_loop(X, X), rtol=1e-10)


@pytest.mark.parametrize("n_columns", [FEW, MANY])
def test_a_common_offset_does_not_matter(n_columns):
    X = np.random.default_rng(0).integers(-9, 9, size=(20, n_columns)).astype(float)
    assert_allclose(squared_distances(X + 1e9, X + 1e9), squared_distances(X, X), rtol=1e-9)


@pytest.mark.parametrize("n_columns", [FEW, MANY])
def test_overflow_is_infinity_without_a_warning(n_columns):
    X = np.zeros((3, n_columns))
    X[1] = 1e200
    X[2, 0] = 1.0
    D = squared_distances(X, X)
    assert_array_equal(np.isinf(D), [[False, True, False], [True, False, True], [False, True, False]])
    assert_array_equal(np.diag(D), 0.0)
    assert D[0, 2] == 1.0


@pytest.mark.parametrize("n_columns", [FEW, MANY])
def test_nan_stays_in_its_row(n_columns):
    X = np.ones((3, n_columns))
    X[1, 0] = np.nan
    assert_array_equal(np.isnan(squared_distances(X, X[:1])).ravel(), [False, True, False])


@pytest.mark.parametrize("n_columns", [FEW, MANY])
def test_empty(n_columns):
    X, none = np.ones((3, n_columns)), np.ones((0, n_columns))
    assert squared_distances(none, none).shape == (0, 0)
    assert squared_distances(X, none).shape == (3, 0)
    assert squared_distances(none, X).shape == (0, 3)


@pytest.mark.parametrize("n_columns", [FEW, MANY])
def test_blocks_do_not_show(n_columns, monkeypatch):
    X = np.random.default_rng(0).normal(size=(50, n_columns))
    X[7] = X[3]
    whole = squared_distances(X, X)

    def small_blocks(work, n_rows, row_bytes):
        for start in range(0, n_rows, 7):
            work(slice(start, min(start + 7, n_rows)))

    monkeypatch.setattr(distances, "for_each_block", small_blocks)
    assert_array_equal(squared_distances(X, X), whole)


def test_other_types_and_layouts():
    X = np.random.default_rng(0).integers(0, 9, size=(5, 4))
    expected = by_loop(X, X)
    for A in (X, X.astype(np.float32), np.asfortranarray(X), X[::1, ::-1], X > 4):
        D = squared_distances(A, A)
        assert D.dtype == np.float64
        assert_allclose(D, expected if A.dtype != bool else by_loop(A.astype(float), A.astype(float)))


def test_manhattan():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 3)), rng.normal(size=(5, 3))
    assert_allclose(manhattan_distances(X, Y), np.abs(X[:, None] - Y).sum(axis=2), rtol=1e-13)
    assert np.all(np.isfinite(manhattan_distances(1e200 * X, 1e200 * Y)))


_MATRICES = arrays(float, (4, 30), elements=st.floats(-1e3, 1e3, allow_subnormal=False))


@given(X=_MATRICES, Y=_MATRICES)
@settings(max_examples=50, deadline=None)
def test_never_negative_and_close_to_the_loop(X, Y):
    D = squared_distances(X, Y)
    assert np.all(D >= 0)
    assert_allclose(D, by_loop(X, Y), rtol=1e-8, atol=1e-300)


def test_very_wide_rows_are_scaled_by_blocks():
    rng = np.random.default_rng(0)
    X, Y, scale = rng.normal(size=(4, 9000)), rng.normal(size=(3, 9000)), rng.uniform(0.5, 2.0, size=9000)
    assert_allclose(scaled_squared_distances(X, Y, scale), by_loop(X / scale, Y / scale), rtol=1e-12)
    assert_allclose(scaled_squared_distances(X, X, 2.0), by_loop(X / 2, X / 2), rtol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_contraction_of_squared_differences(offset):
    """Against the triple loop: any square matrix, constant columns, and an offset that is not there."""
    rng = np.random.default_rng(4)
    M, A = rng.normal(size=(7, 7)), rng.integers(-9, 9, size=(7, 4)).astype(float)
    A[:, 2] = 5.0
    slow = [sum(M[i, j] * (a[i] - a[j]) ** 2 for i in range(7) for j in range(7)) for a in A.T]
    found = contract_squared_differences(M, A + offset)
    assert_allclose(found, slow, rtol=1e-9, atol=1e-7)
    assert found[2] == 0.0
