import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from pellucid import kernels
from pellucid.kernels import NTK, RBF, Constant, Linear, Matern, PairFunction, Periodic, Polynomial

NAMES = {name: getattr(kernels, name) for name in kernels.__all__}
a, b, c = RBF(0.7), Linear(1.3), Matern(0.9, nu=2.5)


def test_the_printed_formula_is_the_kernel(transparent_kernel, X):
    kernel = transparent_kernel
    again = eval(repr(kernel), NAMES)
    assert again == kernel
    assert type(again) is type(kernel)
    assert repr(again) == repr(kernel)
    assert_array_equal(again(X), kernel(X))


def test_copies_are_equal_and_other_things_are_not(kernel, X):
    for copied in (clone, copy.copy, copy.deepcopy, lambda k: pickle.loads(pickle.dumps(k))):
        again = copied(kernel)
        assert again is not kernel
        assert again == kernel
        assert str(again) == str(kernel)
        assert_array_equal(again(X), kernel(X))
    assert kernel != Periodic(9.9)
    assert kernel != "rbf"
    assert kernel != kernel + 17.5


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (a + b, b + a),
        (a + b + c, c + (b + a)),
        (a * b * c, c * (a * b)),
        (2 * a, a * 2),
        ((a + b) * c, c * (b + a)),
        ((a + b) ** 2, (b + a) ** 2),
        ((a * b).exp(), (b * a).exp()),
        ((a + b).on([0]), (b + a).on([0])),
        (RBF([1.0, 2.0]), RBF(np.array([1, 2]))),
        (RBF(2), RBF(2.0)),
    ],
)
def test_equal_up_to_order(one, other):
    assert one == other


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (a + b, a * b),
        (a + b, a + b + b),
        (RBF(1.0), RBF(1.1)),
        (RBF(1.0), RBF([1.0])),
        (RBF(1.0), Matern(1.0)),
        (a.on([0]), a.on([1])),
        (a.on([0, 1]), a),
        (a**2, a**3),
        (a**2, a * a),
    ],
)
def test_unequal(one, other):
    assert one != other


@pytest.mark.parametrize(
    ("kernel_", "text"),
    [
        (RBF(), "RBF(length_scale=1.0)"),
        (1 + RBF(), "1.0 + RBF(length_scale=1.0)"),
        (RBF() + 1, "RBF(length_scale=1.0) + 1.0"),
        (2 * RBF(), "2.0 * RBF(length_scale=1.0)"),
        (2 * (RBF() + 1), "2.0 * (RBF(length_scale=1.0) + 1.0)"),
        (Linear() ** 2 * RBF(), "Linear(length_scale=1.0) ** 2 * RBF(length_scale=1.0)"),
        ((Linear() + 1) ** 2, "(Linear(length_scale=1.0) + 1.0) ** 2"),
        ((Linear() ** 2) ** 3, "(Linear(length_scale=1.0) ** 2) ** 3"),
        ((Linear() ** 2).on([0]), "(Linear(length_scale=1.0) ** 2).on([0])"),
        ((2 * RBF()).exp(), "(2.0 * RBF(length_scale=1.0)).exp()"),
        (RBF().on(["age"]).exp(), "RBF(length_scale=1.0).on(['age']).exp()"),
        (Constant(2) * Constant(3), "Constant(value=2.0) * Constant(value=3.0)"),
        (Linear(2.0, origin=1.0), "Linear(length_scale=2.0, origin=1.0)"),
        (Linear(2.0, origin=[0.0]), "Linear(length_scale=2.0, origin=[0.0])"),
        (Polynomial(), "Polynomial(degree=3, length_scale=1.0, bias=1.0)"),
        (NTK(), "NTK(depth=2, length_scale=1.0, bias=1.0)"),
        (PairFunction(len), "PairFunction(len)"),
    ],
)
def test_printed(kernel_, text):
    assert repr(kernel_) == text


def test_str_is_short():
    assert str(RBF(1 / 3)) == "RBF(length_scale=0.3333)"
    assert str(RBF(np.arange(1.0, 101.0))) == "RBF(length_scale=[1, 2, 3, 4, 5, 6, ... 100 values])"
    assert len(repr(RBF(np.arange(1.0, 101.0)))) > 400


def test_kernels_have_no_hash():
    with pytest.raises(TypeError, match="unhashable"):
        hash(RBF())
