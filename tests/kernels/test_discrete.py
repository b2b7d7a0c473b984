import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from pellucid.kernels import Categorical, Constant


def test_strings():
    X = np.array([["red", "S"], ["red", "L"], ["blue", "L"]])
    expected = [[1.0, 0.2, 0.04], [0.2, 1.0, 0.2], [0.04, 0.2, 1.0]]
    np.testing.assert_allclose(Categorical(0.2)(X), expected)
    assert_array_equal(Categorical(0.2)(X), Categorical(0.2)(X.astype(object)))
    assert_array_equal(Categorical(0.2)(X), Categorical(0.2)(X.tolist()))


def test_levels_never_seen_are_unlike_all_others():
    K = Categorical(0.25)([["red"], ["blue"]], [["green"], ["red"]])
    assert_array_equal(K, [[0.25, 1.0], [0.25, 0.25]])


def test_numbers_equal_whatever_their_type():
    X, Y = np.array([[1], [0]]), np.array([[1.0], [2.0]])
    assert_array_equal(Categorical(0.0)(X, Y), [[1.0, 0.0], [0.0, 0.0]])
    assert_array_equal(Categorical(0.0)(X, Y.astype(object)), [[1.0, 0.0], [0.0, 0.0]])
    assert_array_equal(Categorical(0.0)(np.array([["1"], ["0"]]), Y), np.zeros((2, 2)))


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA, float("nan")])
def test_missing_values_are_a_level(missing):
    X = np.array([["a"], [missing], ["b"], [missing]], dtype=object)
    kernel = Categorical(0.5)
    assert_array_equal(kernel(X)[1], [0.5, 1.0, 0.5, 1.0])
    assert_array_equal(np.diag(kernel(X)), kernel.diag(X))


def test_missing_numbers_are_a_level():
    assert_array_equal(Categorical(0.5)(np.array([[1.0], [np.nan]])), [[1.0, 0.5], [0.5, 1.0]])


def test_constant(X):
    assert_array_equal(Constant(2.5)(X, X[:2]), np.full((12, 2), 2.5))
    assert_array_equal(Constant(2.5).diag(X), np.full(12, 2.5))
