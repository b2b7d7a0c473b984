import numpy as np
import pytest

from pellucid.kernels import (
    NTK,
    RBF,
    AdditivePairs,
    Categorical,
    Constant,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    RationalQuadratic,
)

SCALED = [RBF, Matern, RationalQuadratic, Laplacian, Periodic, Linear, Polynomial, NTK, AdditivePairs]


@pytest.mark.parametrize(
    ("scale", "error", "message"),
    [
        (0, ValueError, "length_scale must be a positive finite number, got 0"),
        (-1.0, ValueError, "length_scale must be a positive finite number, got -1.0"),
        (np.inf, ValueError, "length_scale must be a positive finite number, got inf"),
        (np.nan, ValueError, "length_scale must be a positive finite number, got nan"),
        ("wide", TypeError, "length_scale must be a number, got 'wide'"),
        (None, TypeError, "length_scale must be a number, got None"),
        ([1.0, 0.0], ValueError, "length_scale must be positive for every column"),
        ([1.0, np.nan], ValueError, "length_scale must be a number or a 1-D array of finite numbers"),
        ([[1.0]], ValueError, "length_scale must be a number or a 1-D array of finite numbers"),
        ([], ValueError, "length_scale must be a number or a 1-D array of finite numbers"),
        (["a", "b"], TypeError, "length_scale must be a number or a 1-D array of numbers"),
    ],
)
def test_length_scale(scale, error, message):
    for kind in SCALED:
        with pytest.raises(error, match=message):
            kind(length_scale=scale)


@pytest.mark.parametrize("kind", SCALED)
def test_length_scale_for_other_columns(kind, X):
    with pytest.raises(ValueError, match="length_scale has 2 entries, but X has 3 columns"):
        kind(length_scale=[1.0, 2.0])(X)


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (
            lambda: Matern(nu=1.0),
            ValueError,
            "nu must be 0.5, 1.5 or 2.5, got 1.0; for a smoother kernel use RBF",
        ),
        (lambda: Matern(nu="3/2"), ValueError, "nu must be 0.5, 1.5 or 2.5, got '3/2'"),
        (lambda: RationalQuadratic(shape=0.0), ValueError, "shape must be a positive finite number"),
        (lambda: Periodic(period=-1.0), ValueError, "period must be a positive finite number"),
        (lambda: Periodic(period=[1.0, 2.0]), TypeError, "period must be a number"),
        (lambda: Polynomial(degree=0), ValueError, "degree must be a whole number of at least 1, got 0"),
        (lambda: Polynomial(degree=1.5), ValueError, "degree must be a whole number of at least 1, got 1.5"),
        (lambda: Polynomial(bias=-0.1), ValueError, "bias must be a finite number of at least 0"),
        (lambda: Linear(origin=np.inf), ValueError, "origin must be finite, got inf"),
        (lambda: Linear(origin="here"), TypeError, "origin must be a number, got 'here'"),
        (lambda: NTK(depth=0), ValueError, "depth must be a whole number of at least 1, got 0"),
        (lambda: NTK(depth=True), ValueError, "depth must be a whole number of at least 1, got True"),
        (lambda: NTK(bias=np.nan), ValueError, "bias must be a finite number of at least 0"),
        (lambda: AdditivePairs("cosine"), ValueError, "base must be 'rbf' or 'matern', got 'cosine'"),
        (lambda: Constant(0.0), ValueError, "constant kernel must be a positive finite number, got 0.0"),
        (lambda: Constant("1x"), TypeError, "constant kernel must be a number, got '1x'"),
        (lambda: Categorical(1.0), ValueError, "similarity must be below 1, got 1.0"),
        (lambda: Categorical(-0.1), ValueError, "similarity must be a finite number of at least 0, got -0.1"),
        (lambda: Categorical("low"), TypeError, "similarity must be a number, got 'low'"),
        (lambda: RBF.from_gamma(0.0), ValueError, "gamma must be a positive finite number, got 0.0"),
        (lambda: Laplacian.from_gamma(-1), ValueError, "gamma must be a positive finite number, got -1"),
        (
            lambda: Polynomial.from_gamma(np.inf),
            ValueError,
            "gamma must be a positive finite number, got inf",
        ),
    ],
)
def test_bad_parameters(build, error, message):
    with pytest.raises(error, match=message):
        build()


def test_origin_for_other_columns(X):
    with pytest.raises(ValueError, match="origin has 2 entries, but X has 3 columns"):
        Linear(origin=[1.0, 2.0])(X)


def test_the_checks_also_guard_set_params():
    with pytest.raises(ValueError, match="length_scale must be a positive finite number"):
        (RBF() + Linear()).set_params(rbf__length_scale=-1.0)
    with pytest.raises(ValueError, match="exponent of a kernel must be a whole number"):
        (RBF() ** 2).set_params(power__exponent=0.5)


def test_numpy_numbers_are_stored_as_python_numbers():
    assert type(RBF(np.float32(0.5)).length_scale) is float
    assert type(Polynomial(np.int64(2)).degree) is int
    assert type((RBF() ** np.int64(2)).exponent) is int
