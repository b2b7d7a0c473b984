"""Data as columns, and the digest by which they are recognised."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from pellucid.report.columns import fingerprint, read_columns

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")


def test_kinds_of_columns():
    X = pandas.DataFrame(
        {
            "n": [1, 2, 3],
            "f": [0.5, np.nan, 2.0],
            "b": [True, False, True],
            "t": ["x", None, "y"],
            "c": pandas.Categorical([2, 1, 2]),
        }
    )
    n, f, b, t, c = read_columns(X)
    assert [column.numeric for column in (n, f, b, t, c)] == [True, True, True, False, False]
    assert f.missing.tolist() == [False, True, False]
    assert t.plain(np.arange(3)) == ["x", None, "y"]
    assert c.levels() == ["1", "2"]  # levels that are numbers stay levels
    assert b.plain(np.array([0, 1])) == [1.0, 0.0]
    assert f.plain(np.array([1])) == [None]


def test_dates_are_days():
    days = pandas.DataFrame({"when": pandas.to_datetime(["1970-01-02 00:00", None, "1969-12-31 12:00"])})
    for table in (days, polars.from_pandas(days)):
        (column,) = read_columns(table)
        assert column.dates
        assert column.plain(np.arange(3)) == [1.0, None, -0.5]


def test_arrays_matrices_and_what_is_no_table():
    assert [c.name for c in read_columns(np.zeros((2, 3)))] == ["x0", "x1", "x2"]
    assert [
        c.name for c in read_columns(np.zeros((2, 2)), SimpleNamespace(feature_names_in_=["u", "v"]))
    ] == ["u", "v"]
    assert read_columns(sparse.csr_matrix(np.eye(2)))[1].values.tolist() == [0.0, 1.0]
    assert not read_columns(np.array([["a", "b"]]))[0].numeric
    assert read_columns(["one text", "another"]) == []
    assert read_columns([[1], [1, 2]]) == []


def test_the_same_data_in_any_table_have_one_digest():
    values = {"u": [1.0, 2.5, float("nan")], "v": ["a", None, "c"]}
    y = [1.0, 2.0, 3.0]
    digests = {
        fingerprint(read_columns(made), y) for made in (pandas.DataFrame(values), polars.DataFrame(values))
    }
    assert len(digests) == 1
    ints = fingerprint(read_columns(np.arange(4).reshape(2, 2)), [0, 1])
    assert ints == fingerprint(read_columns(np.arange(4.0).reshape(2, 2)), [0.0, 1.0])


def test_any_change_changes_the_digest():
    X = pandas.DataFrame({"u": [1.0, 2.0], "v": ["a", "b"]})
    same = fingerprint(read_columns(X), [0.0, 1.0])
    changed = [
        (X.assign(u=[1.0, np.nextafter(2.0, 3.0)]), [0.0, 1.0]),
        (X.assign(v=["a", None]), [0.0, 1.0]),
        (X.assign(v=["ab", ""]), [0.0, 1.0]),
        (X.rename(columns={"u": "w"}), [0.0, 1.0]),
        (X[["v", "u"]], [0.0, 1.0]),
        (X.iloc[::-1], [0.0, 1.0]),
        (X, [0.0, 2.0]),
        (X, ["0.0", "1.0"]),
    ]
    others = {fingerprint(read_columns(made), y) for made, y in changed}
    assert len(others) == len(changed)
    assert same not in others
