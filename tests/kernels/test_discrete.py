import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from pellucid import KernelRidge
from pellucid.kernels import RBF, Categorical, Constant


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


def test_levels_in_an_array_of_objects():
    """Columns by their numbers, as in a table without names."""
    rows = np.array([[0.1, "a"], [0.4, "b"], [0.9, "a"], [0.2, "b"]], dtype=object)
    y = np.arange(4.0)
    kernel = RBF().on([0]) * Categorical().on([1])
    model = KernelRidge(kernel, alpha=0.1).fit(rows, y)
    frame = pd.DataFrame({"dose": rows[:, 0].astype(float), "town": rows[:, 1]})
    assert_array_equal(model.predict(rows), KernelRidge(kernel, alpha=0.1).fit(frame, y).predict(frame))
    rows[2, 1] = None
    with pytest.raises(ValueError, match=r"missing values in columns \[1\]"):
        model.predict(rows)
