import functools
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import rbf_kernel

from pellucid.kernels import RBF, GramFunction, Linear, PairFunction, Precomputed, SklearnKernel, as_kernel


class Shifted:
    """A callable object with data of its own."""

    def __init__(self, shift):
        self.shift = np.full(1000, shift)

    def __call__(self, x, y):
        return float(x @ y + self.shift[0])


def common_letters(a, b):
    return len(set(a) & set(b))


def test_strings_one_by_one():
    words = ["spam", "ham", "eggs"]
    expected = [[common_letters(a, b) for b in words] for a in words]
    kernel = PairFunction(common_letters)
    assert_array_equal(kernel(words), expected)
    assert_array_equal(kernel(np.array(words)), expected)
    assert_array_equal(kernel(words, ["maps"]), [[4], [2], [1]])
    assert_array_equal(kernel.diag(words), [4, 3, 3])
    assert_array_equal((2 * kernel + 1)(words), 2.0 * np.array(expected) + 1)


def test_rows_of_unequal_lengths():
    rows = [[1, 2, 3], [2], []]
    kernel = PairFunction(common_letters)
    assert_array_equal(kernel(rows), [[3, 1, 0], [1, 1, 0], [0, 0, 0]])


def test_each_pair_is_computed_once():
    calls = []

    def counted(x, y):
        calls.append(1)
        return float(x @ y)

    PairFunction(counted)(np.ones((6, 2)))
    assert len(calls) == 21


def test_as_many_rows_on_both_sides():
    X, Y = np.random.default_rng(0).normal(size=(2, 4, 3))
    assert_allclose(PairFunction(lambda x, y: float(x @ y))(X, Y), X @ Y.T)


def test_what_is_positive_semi_definite_by_construction():
    assert not PairFunction(common_letters).mercer
    assert not (RBF() + GramFunction(rbf_kernel)).mercer
    assert not Precomputed().mercer
    assert (RBF() * Linear().on([0]) ** 2).mercer


def test_functions_are_shared_by_copies():
    function = Shifted(2.0)
    kernel = PairFunction(function)
    composed = 2.0 * kernel + RBF()
    assert composed == 2.0 * PairFunction(function) + RBF()
    assert clone(composed) == composed
    assert clone(kernel).function is function
    partial = functools.partial(rbf_kernel, gamma=0.5)
    assert clone(GramFunction(partial)) == GramFunction(partial)
    assert PairFunction(Shifted(2.0)) != kernel
    assert PairFunction("ab".count) == PairFunction("ab".count)  # a bound method is a new object each time


def test_functions_pickle():
    kernel = PairFunction(common_letters) + GramFunction(rbf_kernel)
    assert pickle.loads(pickle.dumps(GramFunction(rbf_kernel))) == GramFunction(rbf_kernel)
    assert kernel == PairFunction(common_letters) + GramFunction(rbf_kernel)


def test_matrix_functions(X, Y):
    kernel = GramFunction(rbf_kernel)
    assert_array_equal(kernel(X, Y), rbf_kernel(X, Y))
    fortran = GramFunction(lambda X, Y: np.asfortranarray(X @ Y.T))
    assert fortran(X).flags.c_contiguous


def test_a_matrix_of_the_wrong_shape(X):
    with pytest.raises(ValueError, match=r"array of shape \(12,\); expected \(12, 12\).*PairFunction"):
        GramFunction(lambda X, Y: X[:, 0])(X)


@pytest.mark.parametrize("kind", [PairFunction, GramFunction])
def test_not_a_function(kind):
    with pytest.raises(TypeError, match="needs a function, got 3"):
        kind(3)


def test_precomputed():
    K = np.asfortranarray([[2.0, 1.0], [1.0, 3.0]])
    result = Precomputed()(K)
    assert_array_equal(result, K)
    assert result.flags.c_contiguous
    assert not np.shares_memory(result, K)
    assert_array_equal(Precomputed().diag(K), [2.0, 3.0])
    with pytest.raises(ValueError, match="of new rows is unknown"):
        Precomputed().diag(np.ones((3, 2)))
    assert Precomputed() == Precomputed()


SKLEARN = [
    gp.RBF([0.5, 1.0, 2.0]),
    gp.ConstantKernel(2.0) * gp.Matern(0.8, nu=1.5) + gp.DotProduct(0.7),
    gp.WhiteKernel(0.3) + gp.RationalQuadratic(),
    gp.ExpSineSquared() ** 2,
]


@pytest.mark.parametrize("theirs", SKLEARN)
def test_scikit_learn_kernels(theirs, X, Y):
    ours = as_kernel(theirs)
    assert isinstance(ours, SklearnKernel)
    assert_allclose(ours(X), theirs(X))
    assert_allclose(ours(X, Y), theirs(X, Y))
    assert_allclose(ours.diag(X), theirs.diag(X))
    assert_allclose(ours.theta, theirs.theta)
    assert ours.get_params().keys() == theirs.get_params().keys()


def test_a_scikit_learn_kernel_is_copied():
    theirs = gp.RBF(2.0)
    ours = as_kernel(theirs)
    ours.set_params(length_scale=5.0)
    assert theirs.length_scale == 2.0


def test_scikit_learn_kernels_in_our_algebra(X):
    theirs, ours = gp.RBF(2.0), Linear()
    expected = theirs(X) + ours(X)
    kernel = ours + theirs
    assert_allclose(kernel(X), expected)
    assert kernel.theta.size == kernel.parameter_gradient(X, np.ones((12, 12))).size == 2
    assert_allclose((ours * theirs)(X), theirs(X) * ours(X))


def test_our_kernels_in_scikit_learns_algebra(X):
    theirs, ours = gp.RBF(2.0), Linear()
    for built, rebuilt in [
        (theirs + ours, SklearnKernel(theirs) + ours),
        (theirs * ours, SklearnKernel(theirs) * ours),
        ((theirs + ours) ** 2, (SklearnKernel(theirs) + ours) ** 2),
        (2.0 * (theirs * ours), SklearnKernel(gp.ConstantKernel(2.0)) * SklearnKernel(theirs) * ours),
    ]:
        kernel = as_kernel(built)
        assert kernel == rebuilt
        assert_allclose(kernel(X), built(X))
        assert kernel.theta.size == len(kernel.theta_names)
