"""Kernels of bags against loops over pairs of members."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from pellucid import KernelRidge
from pellucid.kernels import RBF, Linear, MeanEmbedding

numbers = st.floats(-3.0, 3.0)
bags = st.lists(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=4), min_size=1, max_size=5)


@settings(max_examples=40, deadline=None)
@given(bags, bags, st.sampled_from([RBF(0.8), Linear(), 2.0 * RBF(0.3).on([1]) + Linear(0.5)]))
def test_mean_over_pairs_of_members(one, other, base):
    expected = [[np.mean([[base([a], [b]) for b in B] for a in A]) for B in other] for A in one]
    kernel = MeanEmbedding(base)
    assert_allclose(kernel(one, other), expected, rtol=1e-10, atol=1e-12)
    own = [np.mean([[base([a], [b]) for b in A] for a in A]) for A in one]
    assert_allclose(kernel.diag(one), own, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("bag", "message"),
    [
        (None, "row 1: a bag is an array of finite numbers"),
        ([], "row 1: a bag is an array of finite numbers"),
        ([[np.nan, 1.0]], "row 1: a bag is an array of finite numbers"),
        ([[1.0, 2.0, 3.0]], "row 1: members have 3 features, but 2 in row 0"),
        ("bag", "row 1: expected a bag of vectors"),
    ],
)
def test_bad_bags(bag, message):
    with pytest.raises(ValueError, match=message):
        MeanEmbedding()([[[1.0, 2.0]], bag])


def test_new_bags_of_another_width():
    model = KernelRidge(MeanEmbedding(), alpha=1.0).fit([[[1.0, 2.0]], [[3.0, 4.0], [1.0, 2.0]]], [1.0, 2.0])
    with pytest.raises(ValueError, match="Members of bags have 3 features, but 2 in the other bags"):
        model.predict([[[1.0, 2.0, 3.0]]])
    with pytest.raises(TypeError, match="Members of bags are vectors"):
        MeanEmbedding(MeanEmbedding())
