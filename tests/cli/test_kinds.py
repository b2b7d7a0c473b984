"""What columns of text are taken for."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from pellucid.cli.errors import UserError
from pellucid.cli.kinds import as_text, convert, understand


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2", "-3.5e2"], "number"),
        (["1", "", " 2 "], "number"),
        (["1", "NA", "?", "null"], "number"),
        (["NA", "NA", "IT"], "category"),
        (["007", "123"], "category"),
        (["0", "0.5"], "number"),
        (["true", "False"], "boolean"),
        (["2024-01-31", "2024-02-29 12:30"], "date"),
        (["2024-01-31", "2024-02-30"], "category"),
        (["31.12.2024", "01.01.2025"], "category"),
        (["", ""], "number"),
        (["a", "b"], "category"),
    ],
)
@pytest.mark.parametrize("dtype", ["str", object])
def test_rule(cells, kind, dtype):
    assert understand(pd.Series(cells, dtype=dtype)).kind == kind


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pd.Series(["a", "b", None], dtype="category"), "category"),
        (pd.Series([3, 5, 3], dtype="category"), "category"),
        (pd.Series([datetime.date(2024, 1, 1), None]), "date"),
        (pd.Series([Decimal("1.5"), Decimal("2")]), "number"),
        (pd.Series([1, None], dtype="Int64"), "number"),
        (pd.Series([True, None], dtype="boolean"), "number"),
        (pd.Series([True, False], dtype="boolean"), "boolean"),
        (pd.Series([1, "x", 2.0], dtype=object), "category"),
        (pd.Series(pd.to_timedelta([1, 36], unit="h")), "number"),
        (pd.Series([1, 2], dtype="uint8"), "number"),
        (pd.Series(pd.to_datetime(["2024-01-01"]).tz_localize("Asia/Tokyo")), "date"),
    ],
)
def test_columns_that_come_with_a_type(column, kind):
    told = understand(column)
    assert told.kind == kind
    np.testing.assert_array_equal(told.values.isna(), column.isna())
    if kind == "number":
        assert told.values.dtype in (np.float64, np.int64)


def test_values_of_numbers():
    told = understand(pd.Series(["1", "", "NA", "2.5"], dtype="str"))
    np.testing.assert_array_equal(told.values, [1.0, np.nan, np.nan, 2.5])


def test_a_few_words_among_numbers_are_named():
    told = understand(pd.Series(["1", "2", "3", "abc", "oops"], dtype="str"))
    assert told.kind == "category"
    assert told.strange == ("abc", "oops")
    assert told.n_strange == 2


def test_decimal_commas_only_where_commas_do_not_separate():
    column = pd.Series(["1,5", "2"], dtype="str")
    assert understand(column).kind == "category"
    np.testing.assert_array_equal(understand(column, comma=True).values, [1.5, 2.0])


def test_dates_with_zones_are_in_utc():
    told = understand(pd.Series(["2024-01-01T00:30:00+01:00"], dtype="str"))
    assert told.values[0] == pd.Timestamp("2023-12-31 23:30")


def test_missing_truth_values_are_missing_numbers():
    told = understand(pd.Series(["true", "", "false"], dtype="str"))
    np.testing.assert_array_equal(told.values, [1.0, np.nan, 0.0])


def test_text_of_numbers_is_as_in_a_csv_file():
    assert as_text(pd.Series([1.0, 2.5, np.nan])).tolist() == ["1", "2.5", None]
    assert as_text(pd.Series(["  a ", ""], dtype="str")).tolist() == ["a", None]


def test_columns_are_brought_back_to_their_kind():
    assert convert(pd.Series([12, 7], name="zip"), "category").tolist() == ["12", "7"]
    assert convert(pd.Series(["", ""], name="day", dtype="str"), "date").isna().all()
    with pytest.raises(UserError, match=r"'age' held numbers in training, and holds 'old' now"):
        convert(pd.Series(["old", "3"], name="age", dtype="str"), "number")
    with pytest.raises(UserError, match=r"'day' held dates in training, and holds 'soon' now"):
        convert(pd.Series(["soon"], name="day", dtype="str"), "date")
