"""Paths of sparse models: what is in, what came first, and how it prints."""

import numpy as np
import pytest

from pellucid.effects import SparsePath

NORMS = np.array([[0.0, 0.0, 0.0], [0.0, 0.3, 0.0], [0.1, 0.5, 0.0], [0.0, 0.6, 0.0]])
PATH = SparsePath(np.array([1.0, 0.5, 0.2, 0.1]), NORMS, ("a", "b", "c"), 2)


def test_number_of_terms():
    np.testing.assert_array_equal(PATH.n_terms, [0, 1, 2, 1])


def test_order_of_entry():
    assert PATH.entered() == ["b", "a"]  # c never enters, and a enters although it leaves again


def test_nothing_enters():
    assert SparsePath(np.ones(1), np.zeros((1, 2)), ("a", "b"), 0).entered() == []


@pytest.mark.parametrize("error", [None, np.array([3.0, 2.0, 1.0, 4.0])])
def test_print(error):
    lines = str(SparsePath(PATH.alphas, NORMS, PATH.names, 2, error)).split("\n")
    assert len(lines) == 5
    assert [line.endswith("<") for line in lines] == [False, False, False, True, False]
    assert ("held-out loss" in lines[0]) == (error is not None)
    assert lines[3].split()[:2] == ["0.2", "2"]
