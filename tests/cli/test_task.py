"""Which task a target sets."""

import numpy as np
import pandas as pd
import pytest

from pellucid.cli.errors import UserError
from pellucid.cli.task import read_target


def target(values, *rest, **options):
    return read_target(pd.Series(values, name="y"), *rest, **options)


@pytest.mark.parametrize(
    ("values", "task"),
    [
        ([1.5, 2.5, 3.5], "regression"),
        ([1, 2, 3, 4], "regression"),
        ([-1, 0, 0, 0, 3], "regression"),
        ([0, 0, 0, 1, 2], "counts"),
        ([0, 0, 0, 1, 1], "classification"),
        ([0.5, 1.5, 0.5], "classification"),
        ([True, False, True], "classification"),
        (["true", "false"], "classification"),
        (["a", "b", "c"], "classification"),
    ],
)
def test_guess(values, task):
    assert target(values).task == task


def test_exposure_and_poisson_loss_make_counts():
    assert target([0, 1, 1], exposure=True).task == "counts"
    assert target([3, 1, 2], loss="poisson").task == "counts"


def test_the_task_can_be_said():
    assert target([1, 2, 3], "classification").values.dtype == np.int64
    assert target([0, 1, 1], "regression").values.dtype == np.float64
    assert target([0.5, 1.5, 2.5], "classification").values.tolist() == ["0.5", "1.5", "2.5"]


def test_signs_are_classes():
    found = target(["+", "-", "-", "+"])
    assert found.task == "classification"
    assert found.values.tolist() == ["+", "-", "-", "+"]


def test_a_hint_where_whole_numbers_may_be_classes():
    assert "--task classification" in target([1, 2, 3]).hint
    assert target(np.arange(50)).hint == ""


@pytest.mark.parametrize(
    ("values", "task", "message"),
    [
        ([3, 3, 3], None, "same value, 3, in every row"),
        (["1", "2", "3", "abc"], None, r"mixes numbers and text such as 'abc' \(1 of 4 rows\)"),
        (["2024-01-01", "2024-01-02"], None, "holds dates"),
        ([f"name {i}x" for i in range(200)], None, "200 different values: is this the right column"),
        (["a", "b"], "regression", "--task regression needs numbers, and the target 'y' holds 'a'"),
        ([-1, 0, 2], "counts", "Counts cannot be below zero, and the target 'y' holds -1"),
    ],
)
def test_targets_that_cannot_be(values, task, message):
    with pytest.raises(UserError, match=message):
        target(values, task)


def test_continuous_numbers_are_no_classes():
    rng = np.random.default_rng(0)
    few = pd.Series(np.repeat([0.5, 1.0, 1.5, 2.0], 10), name="stars")
    assert read_target(few, "classification").task == "classification"
    codes = pd.Series(np.repeat(np.arange(150), 3), name="code")
    assert read_target(codes, "classification").task == "classification"
    for values in (rng.normal(size=50), rng.normal(size=1000).round(1), rng.permutation(5000)[:300]):
        with pytest.raises(UserError, match=r"is continuous.*--task regression"):
            read_target(pd.Series(values, name="price"), "classification")
