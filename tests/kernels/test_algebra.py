import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from pellucid.kernels import RBF, Constant, Linear, Matern, Power, Product, Sum

a, b, c, d = RBF(0.7), Linear(1.3), Matern(0.9, nu=2.5), RBF([0.5, 1.0, 2.0])

FORMULAS = [
    lambda a, b, c, d: a * b + c,
    lambda a, b, c, d: a + b * c,
    lambda a, b, c, d: (a + b) * (c + d),
    lambda a, b, c, d: a * (b + c) * d,
    lambda a, b, c, d: a + b + c + d,
    lambda a, b, c, d: a * b * c * d,
    lambda a, b, c, d: (a * b) * (c * d) + (a + b),
    lambda a, b, c, d: 2 * a,
    lambda a, b, c, d: a * 2,
    lambda a, b, c, d: 1 + a,
    lambda a, b, c, d: a + 1,
    lambda a, b, c, d: np.float64(2.0) * a + np.int64(3),
    lambda a, b, c, d: a * np.float32(0.5),
    lambda a, b, c, d: sum([a, b, c]),
    lambda a, b, c, d: 0 + a,
    lambda a, b, c, d: a + 0.0,
    lambda a, b, c, d: a**1,
    lambda a, b, c, d: a**3,
    lambda a, b, c, d: (a + b) ** 2,
    lambda a, b, c, d: (a + b) ** 2 * c + d,
    lambda a, b, c, d: 2 * (a + 0.5 * b) ** 2 + 3 * c * (1 + d),
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_formulas_hold_for_the_values(formula, X, Y):
    kernel = formula(a, b, c, d)
    assert_allclose(kernel(X), formula(a(X), b(X), c(X), d(X)), rtol=1e-12)
    assert_allclose(kernel(X, Y), formula(a(X, Y), b(X, Y), c(X, Y), d(X, Y)), rtol=1e-12)
    assert_allclose(kernel.diag(X), formula(a.diag(X), b.diag(X), c.diag(X), d.diag(X)), rtol=1e-12)


def test_exponential(X, Y):
    kernel = (a + b).exp()
    assert_allclose(kernel(X, Y), np.exp(a(X, Y) + b(X, Y)), rtol=1e-12)


_LEAVES = st.sampled_from([(k, i) for i, k in enumerate([a, b, c, d])])


def _grown(smaller):
    return st.one_of(
        st.tuples(st.just("+"), smaller, smaller),
        st.tuples(st.just("*"), smaller, smaller),
        st.tuples(st.just("scale"), smaller, st.floats(0.1, 3.0)),
        st.tuples(st.just("shift"), smaller, st.floats(0.1, 3.0)),
        st.tuples(st.just("**"), smaller, st.integers(1, 3)),
    )


def _evaluate(tree, leaf):
    if len(tree) == 2:
        return leaf(tree[0])
    sign, left, right = tree
    left = _evaluate(left, leaf)
    if sign == "+":
        return left + _evaluate(right, leaf)
    if sign == "*":
        return left * _evaluate(right, leaf)
    return {"scale": lambda: right * left, "shift": lambda: left + right, "**": lambda: left**right}[sign]()


@given(tree=st.recursive(_LEAVES, _grown, max_leaves=6))
@settings(max_examples=60, deadline=None)
def test_any_formula_equals_numpy_and_prints_itself(tree):
    X = np.random.default_rng(0).normal(size=(4, 3))
    kernel = _evaluate(tree, lambda k: k)
    assert_allclose(kernel(X), _evaluate(tree, lambda k: k(X)), rtol=1e-10)
    names = {"RBF": RBF, "Linear": Linear, "Matern": Matern, "Constant": Constant}
    assert eval(repr(kernel), names) == kernel
    assert kernel.theta.size == len(kernel.theta_names) == kernel.parameter_gradient(X, np.ones((4, 4))).size


def test_operands_of_one_kind_are_merged_and_others_never():
    assert len((a + (b + c)).children) == 3
    assert len((a * b * (c * d)).children) == 4
    assert len((a + b * c).children) == 2
    assert len(((a + b) * c).children) == 2


def test_only_kernels_and_numbers_combine():
    for other in ("rbf", None, [1.0], True):
        with pytest.raises(TypeError):
            a + other
        with pytest.raises(TypeError):
            other * a
    with pytest.raises(TypeError):
        np.ones(3) * a
    with pytest.raises(TypeError):
        a - b
    with pytest.raises(TypeError, match="Sum takes kernels and numbers, got 'rbf'"):
        Sum(a, "rbf")
    with pytest.raises(TypeError, match="Product needs at least two operands, got 1"):
        Product(a)
    assert Sum(1.0, a) == 1 + a


@pytest.mark.parametrize("number", [0, -1.0, np.inf, np.nan])
def test_numbers_must_be_positive(number):
    with pytest.raises(ValueError, match="constant kernel must be a positive finite number"):
        number * a
    if number != 0:
        with pytest.raises(ValueError, match="constant kernel must be a positive finite number"):
            a + number


@pytest.mark.parametrize("exponent", [0, -1, 0.5, "2", None, np.nan, np.inf, True])
def test_exponents_are_whole(exponent):
    with pytest.raises(ValueError, match="exponent of a kernel must be a whole number of at least 1"):
        a**exponent


def test_a_whole_float_is_an_exponent_too():
    assert a**2.0 == Power(a, 2) == a ** np.int64(2)


def test_overflow_is_infinity_and_no_warning():
    X = np.full((2, 2), 1e60)
    assert np.all(np.isinf((Linear() ** 3)(X)))
    assert np.all(np.isinf(Linear().exp()(X)))
    assert np.all(np.isinf((Linear() ** 3).diag(X)))
