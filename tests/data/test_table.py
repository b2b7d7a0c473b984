"""Tables as they come: what each column is taken for, and the numbers it becomes."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pellucid.data.table import MAX_LEVELS, OTHER, UNKNOWN, Column, read_plain, read_table


def learned(X, weight=None, most=None):
    return read_table(X).learn(np.ones(len(X)) if weight is None else np.asarray(weight, float), most=most)


def read(X, columns=None):
    return read_table(X).rows(columns or learned(X))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_kinds_of_columns(frame):
    X = frame(
        {
            "number": [1.5, 2.5, None],
            "whole": [1, 2, 3],
            "truth": [True, False, True],
            "text": ["b", None, "a"],
            "day": [dt.datetime(1970, 1, 2), dt.datetime(1970, 1, 3, 12), None],
            "lapse": [dt.timedelta(hours=6), dt.timedelta(days=1), None],
        }
    )
    columns = learned(X)
    assert [c.levels for c in columns] == [None, None, None, ("a", "b"), None, None]
    assert [c.dates for c in columns] == [False, False, False, False, True, False]
    expected = [[1.5, 1, 1, 1, 1, 0.25], [2.5, 2, 0, np.nan, 2.5, 1], [np.nan, 3, 1, 0, np.nan, np.nan]]
    np.testing.assert_array_equal(read(X, columns), expected)


def test_categories_of_numbers_are_levels():
    X = pd.DataFrame({"grade": pd.Categorical([3, 1, None, 10])})
    columns = learned(X)
    assert columns[0].levels == ("1", "10", "3")
    np.testing.assert_array_equal(read(X, columns)[:, 0], [2, 0, np.nan, 1])
    # given as plain numbers later, whole or not, they are the same levels
    np.testing.assert_array_equal(read(pd.DataFrame({"grade": [3, 2]}), columns)[:, 0], [2, UNKNOWN])
    np.testing.assert_array_equal(read(np.array([[10.0], [np.nan]]), columns)[:, 0], [1, np.nan])


ORDERED = {
    "pandas": pd.DataFrame({"a": pd.Categorical(["z", "y", None], ["z", "q", "y"], ordered=True)}),
    "numbers": pd.DataFrame({"a": pd.Categorical([30, 4, None], [30, 4], ordered=True)}),
    "polars": pl.DataFrame({"a": pl.Series(["z", "y", None], dtype=pl.Enum(["z", "y"]))}),
    "lazy": pl.LazyFrame({"a": pl.Series(["z", "y", None], dtype=pl.Enum(["z", "y"]))}),
    "arrow": pa.table({"a": pa.DictionaryArray.from_arrays([0, 1, None], ["z", "y"], ordered=True)}),
}
ORDERED["arrow in pandas"] = ORDERED["arrow"].to_pandas(types_mapper=pd.ArrowDtype)


@pytest.mark.parametrize("kind", ORDERED)
def test_ordered_categories_keep_their_order(kind):
    table = read_table(ORDERED[kind])
    (column,) = table.learn(np.ones(3))
    assert column.ordered
    assert column.levels == (("30", "4") if kind == "numbers" else ("z", "y"))
    np.testing.assert_array_equal(table.rows([column])[:, 0], [0, 1, np.nan])
    assert table.cells[0].levels() == list(column.levels)


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": pd.Categorical(["z", "y", None], ["z", "q", "y"])}),
        pl.DataFrame({"a": pl.Series(["z", "y", None], dtype=pl.Categorical)}),
        pa.table({"a": pa.array(["z", "y", None]).dictionary_encode()}),
    ],
    ids=["pandas", "polars", "arrow"],
)
def test_other_categories_are_in_order_of_their_names(X):
    table = read_table(X)
    (column,) = table.learn(np.ones(3))
    assert not column.ordered
    np.testing.assert_array_equal(table.rows([column])[:, 0], [1, 0, np.nan])


def test_dates_in_every_guise():
    days = [dt.date(2020, 1, 1), dt.date(2020, 1, 2), None]
    expected = [18262, 18263, np.nan]
    zone = pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02", None])).dt.tz_localize("UTC")
    for X in (
        pd.DataFrame({"d": days}),  # objects
        pl.DataFrame({"d": days}),
        pd.DataFrame({"d": pd.to_datetime(pd.Series(days))}),
        pd.DataFrame({"d": zone.dt.tz_convert("Asia/Tokyo")}),
        np.array(["2020-01-01", "2020-01-02", "NaT"], dtype="datetime64[D]")[:, None],
        np.array(days, dtype=object)[:, None],
    ):
        columns = learned(X)
        assert columns[0].dates
        np.testing.assert_array_equal(read(X, columns)[:, 0], expected)


def test_arrays_of_objects():
    X = np.array([[1, "a", None], [2.5, None, True], [None, "b", False]], dtype=object)
    columns = learned(X)
    assert [c.name for c in columns] == ["x0", "x1", "x2"]
    assert [c.levels for c in columns] == [None, ("a", "b"), None]
    np.testing.assert_array_equal(read(X), [[1, 0, np.nan], [2.5, np.nan, 1], [np.nan, 1, 0]])


def test_nullable_numbers():
    X = pd.DataFrame({"i": pd.array([1, None], dtype="Int64"), "b": pd.array([None, True], dtype="boolean")})
    np.testing.assert_array_equal(read(X), [[1, np.nan], [np.nan, 1]])


def test_unknown_levels_and_other():
    many = np.array([f"k{i:03d}" for i in range(MAX_LEVELS + 45)] * 2 + ["k007"] * 3, dtype=object)[:, None]
    columns = learned(many, most=MAX_LEVELS)
    levels = columns[0].levels
    assert len(levels) == MAX_LEVELS
    assert levels[-1] == OTHER
    assert "k007" in levels
    codes = read(np.array([["k007"], ["never seen"]], dtype=object), columns)[:, 0]
    np.testing.assert_array_equal(codes, [levels.index("k007"), levels.index(OTHER)])
    few = learned(np.array([["a"], ["b"]], dtype=object))
    assert read(np.array([["c"]], dtype=object), few)[0, 0] == UNKNOWN


def test_levels_are_those_of_rows_that_count():
    X = np.array([["a"], ["b"], ["c"]], dtype=object)
    assert learned(X, weight=[1, 0, 2])[0].levels == ("a", "c")


def test_rarest_levels_are_gathered_by_weight():
    X = np.array([f"k{i:03d}" for i in range(300)], dtype=object)[:, None]
    weight = np.full(300, 3.0)
    weight[:50] = 2.0
    assert {f"k{i:03d}" for i in range(50, 300)} <= set(learned(X, weight, most=MAX_LEVELS)[0].levels)


def test_text_where_numbers_were():
    columns = (Column("age"),)
    np.testing.assert_array_equal(read(np.array([["1.5"], [None]], dtype=object), columns), [[1.5], [np.nan]])
    with pytest.raises(ValueError, match="Column 'age' held numbers in training, and holds 'old' now"):
        read(np.array([["old"]], dtype=object), columns)


def test_infinity_names_its_column():
    with pytest.raises(ValueError, match=r"infinity.*'b'"):
        read(pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, np.inf]}))


def test_objects_of_no_use():
    with pytest.raises(TypeError, match="'a' holds values of type list"):
        read(pd.DataFrame({"a": [[1], [2]]}))


def test_equal_but_different_levels():
    X = np.array([["1"], [True], [1.0], ["True"]], dtype=object)
    columns = learned(X)
    assert columns[0].levels == ("1", "True")
    np.testing.assert_array_equal(read(X, columns)[:, 0], [0, 1, 0, 1])


def test_plain_tables_are_read_the_same_without_detours():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=5), "b": rng.integers(0, 9, 5), "c": rng.random(5) < 0.5})
    frame.loc[2, "a"] = np.nan
    columns = (Column("a"), Column("b"), Column("c"))
    plain = frame[["a", "b"]]
    np.testing.assert_array_equal(read_plain(plain, columns[:2], ["a", "b"]), read(plain, columns[:2]))
    for kind in (bool, np.int8, np.uint64, np.float32, float):
        array = rng.integers(0, 2, (4, 3)).astype(kind)
        got = read_plain(array, columns, None)
        assert got.dtype == np.float64
        np.testing.assert_array_equal(got, read(array, columns))


@pytest.mark.parametrize(
    "X",
    [
        np.array([[1.0, np.inf]]),
        np.array([["1", "2"]], dtype=object),
        np.empty((0, 2)),
        np.zeros((3, 3)),
        np.zeros(2),
        [[1.0, 2.0]],
        pd.DataFrame({"b": [1.0], "a": [2.0]}),
        pd.DataFrame({"a": [1.0], "b": ["x"]}),
        pd.DataFrame({"a": pd.to_datetime(["2020-01-01"]), "b": pd.to_datetime(["2020-01-01"])}),
    ],
)
def test_other_tables_take_the_long_way(X):
    assert read_plain(X, (Column("a"), Column("b")), ["a", "b"]) is None


def test_levels_take_the_long_way():
    assert read_plain(np.zeros((1, 1)), (Column("a", ("0", "1")),), None) is None
