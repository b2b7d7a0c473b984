import numpy as np
from numpy.testing import assert_allclose
from scipy import sparse

from pellucid.linalg import count_products, count_table, unary


def counts(rng, n, p, density):
    return sparse.csr_array(rng.poisson(density, size=(n, p)).astype(float))


def test_products_of_frequent_and_rare_columns():
    rng = np.random.default_rng(0)
    for densities in ([0.001], [0.5], [0.001, 0.5]):
        A = sparse.csr_array(sparse.hstack([counts(rng, 60, 40, d) for d in densities]))
        B = sparse.csr_array(sparse.hstack([counts(rng, 30, 40, d) for d in densities]))
        assert_allclose(count_products(A, B), A.toarray() @ B.toarray().T)
        assert_allclose(count_products(A, A), A.toarray() @ A.toarray().T)
    assert count_products(A[:0], B).shape == (0, 30)


def test_equal_places_are_added_up():
    table = count_table(np.array([1, 0, 1]), np.array([2, 1, 2]), np.array([1.0, 2.0, 0.5]), (2, 3))
    assert_allclose(table.toarray(), [[0, 2, 0], [0, 0, 1.5]])


def test_products_of_unary_counts_are_sums_of_minima():
    A = counts(np.random.default_rng(1), 12, 7, 1.5)
    ones = unary(A)
    dense = A.toarray()
    assert_allclose(count_products(ones, ones), np.minimum(dense[:, None], dense).sum(axis=2))
    assert unary(A[:0]).shape[0] == 0


def test_tables_of_few_and_of_many_cells_are_the_same():
    """A few cells are summed in place; with many, places are sorted."""
    rng = np.random.default_rng(2)
    row, column, value = rng.integers(5, size=200), rng.integers(9, size=200), rng.random(200)
    dense = np.zeros((5, 9))
    np.add.at(dense, (row, column), value)
    for n_columns in (9, 9000):
        table = count_table(row, column, value, (5, n_columns))
        assert_allclose(table.toarray()[:, :9], dense)
        assert table.has_sorted_indices
        assert table.nnz == np.count_nonzero(dense)
    nothing = np.zeros(0, dtype=int)
    assert count_table(nothing, nothing, np.zeros(0), (0, 0)).shape == (0, 0)
    assert count_table(nothing, nothing, np.zeros(0), (3, 0)).shape == (3, 0)
