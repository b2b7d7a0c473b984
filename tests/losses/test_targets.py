import numpy as np
import pandas as pd
import pytest

from pellucid.exceptions import RateWarning
from pellucid.losses import Gamma, Multinomial, Poisson, Squared


def test_targets_come_back_as_float64(loss, sample):
    y, _ = sample(loss, np.random.default_rng(0))
    checked = loss.check_targets(y)
    assert checked.dtype == np.float64
    np.testing.assert_array_equal(checked, y)
    for other in ([1, 1, 1], np.ones(3, dtype=np.int8), np.ones(3, dtype=bool), pd.Series([1.0, 1.0, 1.0])):
        checked = loss.check_targets(other)
        assert checked.dtype == np.float64
        np.testing.assert_array_equal(checked, [1.0, 1.0, 1.0])


def test_what_is_no_target_of_any_loss_is_refused(loss):
    for y in (["a", "b"], [1 + 2j, 1.0], [{}, {}], [None, 1.0, "x"]):
        with pytest.raises(ValueError, match="numeric targets"):
            loss.check_targets(y)
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match="NaN or infinity"):
            loss.check_targets([1.0, bad])
    for empty in ([], 1.0):
        with pytest.raises(ValueError, match="at least one row"):
            loss.check_targets(empty)


def test_two_classes_are_zero_and_one(binary_loss):
    for y in ([-1, 1], [1, 2], [0.0, 0.5], [0, 1, 2]):
        with pytest.raises(ValueError, match=r"0 and 1, got .*Encode"):
            binary_loss.check_targets(y)


def test_squared_takes_several_outputs():
    assert Squared().check_targets(np.zeros((4, 2))).shape == (4, 2)


def test_counts_are_not_negative():
    with pytest.raises(ValueError, match=r"got -1\. .*squared"):
        Poisson().check_targets([0, 3, -1])


def test_counts_are_whole_and_rates_go_into_exposure():
    with pytest.warns(RateWarning, match="exposure="):
        rates = Poisson().check_targets([0.0, 2.5])
    np.testing.assert_array_equal(rates, [0.0, 2.5])
    np.testing.assert_array_equal(Poisson().check_targets([0.0, 2.5], np.array([1.3, 2.0])), rates)
    nearly = Poisson().check_targets([0.0, 3 - 1e-12, 3 + 1e-10, 1e15])
    np.testing.assert_array_equal(nearly, [0.0, 3.0, 3.0, 1e15])


@pytest.mark.parametrize("y", [[1.0, 0.0], [1.0, -2.0]])
def test_amounts_are_positive(y):
    with pytest.raises(ValueError, match="positive targets"):
        Gamma().check_targets(y)


@pytest.mark.parametrize("y", [[0, -1], [0.0, 0.5], np.zeros((3, 2))])
def test_class_numbers(y):
    with pytest.raises(ValueError, match="return_inverse"):
        Multinomial().check_targets(y)
