"""Sparse rows, shifted, scaled and weighted, against the same matrix filled in."""

import numpy as np
import pytest
from scipy import sparse

from pellucid.linalg import ColumnSpace, SparseRows, column_moments, scaled_squared_distances
from pellucid.linalg.distances import contract_squared_differences, manhattan_distances

RNG = np.random.default_rng(0)
S = sparse.random_array((30, 50), density=0.2, rng=RNG, format="csr")
S.data = RNG.normal(1.0, 2.0, S.nnz)
SHIFT, SCALE, ROOT = RNG.normal(size=50), RNG.uniform(0.5, 3.0, 50), RNG.uniform(0.1, 2.0, 30)


def moved(rows):
    return rows.shifted(SHIFT).scaled(SCALE).weighted(ROOT).shifted(0.0)


DENSE = ROOT[:, None] * (S.toarray() - SHIFT) / SCALE
OTHER = SparseRows.of(S[:7]).shifted(0.5)
ROWS = SparseRows.of(S)


@pytest.mark.parametrize(("rows", "dense"), [(ROWS, S.toarray()), (moved(ROWS), DENSE)])
def test_every_product_is_that_of_the_matrix_filled_in(rows, dense):
    V, U = RNG.normal(size=(50, 3)), RNG.normal(size=(30, 2))
    np.testing.assert_allclose(rows @ V, dense @ V, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(rows @ V[:, 0], dense @ V[:, 0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(rows.transposed_times(U), dense.T @ U, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(rows.products(rows), dense @ dense.T, rtol=1e-11, atol=1e-11)
    other = S[:7].toarray() - 0.5
    np.testing.assert_allclose(rows.products(OTHER), dense @ other.T, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(OTHER.products(rows), other @ dense.T, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(rows.column_products(), dense.T @ dense, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(rows.squares(), np.sum(dense**2, axis=1), rtol=1e-12)
    blocks = np.hstack([block for _, block in rows.column_blocks(budget=2000)])
    np.testing.assert_allclose(blocks, dense, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("key", [slice(3, 9), slice(5, 2), slice(None, None, 2), np.array([4, 1, 1])])
def test_rows_are_picked_as_from_an_array(key):
    np.testing.assert_allclose(moved(ROWS)[key] @ np.eye(50), DENSE[key], atol=1e-13)
    mask = ROOT > 1.0
    np.testing.assert_allclose(moved(ROWS)[mask] @ np.eye(50), DENSE[mask], atol=1e-13)
    np.testing.assert_allclose(moved(ROWS)[:, [3, 1]] @ np.eye(2), DENSE[:, [3, 1]], atol=1e-13)


def test_entries_given_twice_are_added_and_the_callers_matrix_is_left_alone():
    twice = sparse.csr_array((np.array([1.0, 2.0, 5.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), (2, 2))
    rows = SparseRows.of(twice)
    np.testing.assert_array_equal(rows @ np.eye(2), [[0.0, 3.0], [5.0, 0.0]])
    assert twice.nnz == 3


def test_filling_in_is_refused_with_a_remedy():
    with pytest.raises(TypeError, match=r"X\.toarray\(\)"):
        np.asarray(ROWS)


def test_damaged_indices_do_not_reach_compiled_code():
    damaged = SparseRows(np.ones(2), np.array([0, 10**6]), np.array([0, 1, 2]), 3)
    with pytest.raises(ValueError, match="indices"):
        damaged @ np.ones(3)


def test_moments_are_those_of_the_columns_constant_empty_and_far_ones_included():
    dense = S.toarray()
    dense[:, 0], dense[:, 1], dense[:, 2] = 0.0, 0.3, 1e9 + dense[:, 2]
    weight = RNG.uniform(0.1, 3.0, 30)
    mean, deviation = column_moments(SparseRows.of(dense), weight)
    expected = column_moments(dense, weight)
    np.testing.assert_allclose(mean, expected[0], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(deviation, expected[1], rtol=1e-7)
    assert deviation[0] == deviation[1] == 1.0


def test_distances_of_rows_that_are_nearly_or_quite_equal_do_not_cancel():
    dense = np.vstack([S[:4].toarray(), S[:4].toarray()])
    dense[4, 0] += 1e-9
    rows = SparseRows.of(dense)
    expected = scaled_squared_distances(dense, dense, SCALE)
    found = scaled_squared_distances(rows, rows, SCALE)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=0)
    assert found[5, 1] == 0.0 < found[4, 0]
    np.testing.assert_allclose(scaled_squared_distances(rows, dense, SCALE), expected, rtol=1e-10)
    np.testing.assert_allclose(manhattan_distances(rows, rows), manhattan_distances(dense, dense), rtol=1e-12)
    M = RNG.normal(size=(8, 8))
    sums = contract_squared_differences(M, dense)
    np.testing.assert_allclose(contract_squared_differences(M, rows), sums, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("shape", [(30, 50), (30, 12)])
def test_the_column_space_is_that_of_the_matrix_filled_in(shape):
    part = S[:, : shape[1]]
    space, sparse_space = ColumnSpace.of(part.toarray()), ColumnSpace.of(SparseRows.of(part))
    V = RNG.normal(size=(30, 2))
    assert space.rank == sparse_space.rank
    assert space.exact == sparse_space.exact
    np.testing.assert_allclose(sparse_space.project(V), space.project(V), atol=1e-12)
    np.testing.assert_allclose(sparse_space.pinv_apply(V), space.pinv_apply(V), atol=1e-11)
    assert sparse_space.kaf(V) == pytest.approx(space.kaf(V), abs=1e-12)
