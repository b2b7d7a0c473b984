import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from pellucid.kernels import RBF, Linear, PairFunction


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(6, 3)), columns=["a", "b", "c"])


def test_columns_by_number(X, Y):
    assert_array_equal(RBF().on([2, 0])(X, Y), RBF()(X[:, [2, 0]], Y[:, [2, 0]]))
    assert_array_equal(RBF().on(1)(X), RBF()(X[:, [1]]))
    assert_array_equal(RBF().on([-1])(X), RBF()(X[:, [2]]))
    assert_array_equal(RBF().on(np.array([0, 2]))(X), RBF()(X[:, [0, 2]]))


def test_length_scales_follow_the_columns(X):
    assert_array_equal(RBF([2.0, 3.0]).on([2, 0])(X), RBF([2.0, 3.0])(X[:, [2, 0]]))


def test_numbers_within_numbers(X):
    assert_array_equal(RBF().on([0]).on([2, 1])(X), RBF()(X[:, [2]]))


def test_names_within_names(table):
    B = table[["b"]].to_numpy()
    assert_array_equal(RBF().on(["b"]).on(["b", "c"])(table), RBF()(B))
    assert_array_equal(RBF().on(["b"]).on(["c", "b"])(table), RBF()(B))
    assert_array_equal(RBF().on(["b"]).on([2, 1])(table), RBF()(B))
    assert_array_equal(RBF().on([1]).on(["c", "b"])(table), RBF()(B))
    nested = (RBF().on("b") + Linear()).on(["c", "b"])
    CB = table[["c", "b"]].to_numpy()
    assert_array_equal(nested(table), RBF()(B) + Linear()(CB))


def test_a_name_that_the_outer_selection_hides(table):
    with pytest.raises(ValueError, match=r"names columns that X does not have: \['a'\]"):
        RBF().on(["a"]).on(["b", "c"])(table)


def test_binding_returns_a_kernel_for_arrays(table):
    kernel = RBF().on(["c"]) + Linear()
    bound = kernel.bind(["a", "b", "c"])
    assert_array_equal(bound(table.to_numpy()), kernel(table))
    assert bound == kernel
    assert_array_equal(bound(table[["c", "b", "a"]]), kernel(table[["c", "b", "a"]]))  # looked up anew
    with pytest.raises(ValueError, match="X has no column names"):
        kernel(table.to_numpy())


def test_binding_is_free_where_nothing_is_named():
    kernel = RBF().on([0])
    assert kernel.bind(["a"]) is kernel
    assert RBF().on(["a"]).bind(None) == RBF().on(["a"])


@pytest.mark.parametrize("columns", [[], [0, 0], ["a", "a"]])
def test_none_or_twice(columns):
    with pytest.raises(ValueError, match="needs at least one column and none twice"):
        RBF().on(columns)


@pytest.mark.parametrize("columns", [[1.5], [True, False], [None], True])
def test_neither_name_nor_number(columns):
    with pytest.raises(TypeError, match="takes names and numbers of columns"):
        RBF().on(columns)


def test_columns_out_of_range(X, table):
    for columns in ([3], [-4]):
        with pytest.raises(ValueError, match="asks for columns that X, with 3, does not have"):
            RBF().on(columns)(X)
    with pytest.raises(ValueError, match="asks for a column of X, which has 3, twice"):
        RBF().on([0, -3])(X)
    with pytest.raises(ValueError, match="asks for columns that X, with 3, does not have"):
        RBF().on(["a", 5])(table)


def test_functions_see_the_strings_of_a_named_column():
    people = pd.DataFrame({"name": ["ann", "anna", "bob"], "age": [1.0, 2.0, 3.0]})
    same = PairFunction(lambda x, y: float(x[0][0] == y[0][0])).on(["name"])
    expected = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert_array_equal(same(people), expected)
    assert_array_equal((same * RBF().on(["age"]))(people), expected * RBF()(people[["age"]]))
