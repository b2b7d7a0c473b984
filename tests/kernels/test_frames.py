import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.kernels import RBF, Categorical, Linear, PairFunction
from pellucid.kernels.base import column_names

DATA = {"age": [31.0, 45.0, 27.0, 45.0], "size": [1, 2, 3, 4], "city": ["Bern", "Rom", "Bern", "Oslo"]}
MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.fixture(params=MAKERS, name="make")
def _make(request):
    return MAKERS[request.param]


def test_named_column_of_numbers(make):
    table = make({"age": DATA["age"], "size": DATA["size"]})
    age = np.array(DATA["age"])[:, None]
    assert_array_equal(RBF(10.0).on(["age"])(table), RBF(10.0)(age))
    assert_array_equal(RBF(10.0).on(["age"]).diag(table), np.ones(4))
    assert_array_equal(Linear().on(["size", "age"])(table), Linear()(np.column_stack([DATA["size"], age])))


def test_numbers_and_strings(make):
    table = make(DATA)
    kernel = Categorical(0.2).on(["city"]) * RBF(10.0).on(["age"])
    city = np.array(DATA["city"])
    same = np.where(city[:, None] == city, 1.0, 0.2)
    assert_allclose(kernel(table), same * RBF(10.0)(np.array(DATA["age"])[:, None]), rtol=1e-13)
    assert_array_equal(kernel.diag(table), np.ones(4))


def test_between_two_tables(make):
    kernel = Categorical().on(["city"]) + RBF(10.0).on(["age"])
    K = kernel(make(DATA), make({"age": [45.0], "size": [9], "city": ["Rom"]}))
    assert_array_equal(K[1], [2.0])


def test_two_tables_whose_columns_differ(make):
    table, new = make(DATA), make({"city": ["Rom"], "age": [45.0], "size": [9]})
    with pytest.raises(ValueError, match=r"same columns in the same order, got .*'city', 'age'"):
        Categorical().on(["city"])(table, new)


def test_wrong_name(make):
    with pytest.raises(
        ValueError, match=r"on\(\['height'\]\) names columns that X does not have: \['height'\]"
    ):
        RBF().on(["height"])(make(DATA))


def test_names_without_a_table():
    with pytest.raises(ValueError, match=r"names its columns, but X has no column names\. Pass a data frame"):
        RBF().on(["age"])(np.ones((2, 2)))
    with pytest.raises(ValueError, match="names its columns, but X has no column names"):
        RBF().on(["age"])(np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match="names its columns, but X has no column names"):
        RBF().on(["age"]).diag(np.ones((2, 2)))


def test_whole_tables(make):
    table = make({"age": DATA["age"], "size": DATA["size"]})
    rows = np.column_stack([DATA["age"], DATA["size"]])
    assert_array_equal(RBF(10.0)(table), RBF(10.0)(rows))
    assert_array_equal(PairFunction(lambda x, y: float(x @ y))(table), rows @ rows.T)


def test_strings_where_numbers_are_needed(make):
    with pytest.raises(ValueError, match="could not convert string to float"):
        RBF()(make(DATA))


def test_column_names():
    assert all(column_names(make(DATA)) == ["age", "size", "city"] for make in MAKERS.values())
    assert column_names(pd.DataFrame(np.ones((2, 2)))) is None
    assert column_names(np.ones((2, 2))) is None
    assert column_names([[1.0]]) is None
