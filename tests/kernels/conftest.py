"""Every registered kernel and many compositions: a test with an argument ``kernel`` runs on each."""

import numpy as np
import pytest

from pellucid.kernels import (
    NTK,
    RBF,
    REGISTRY,
    AdditivePairs,
    Categorical,
    Constant,
    GramFunction,
    Laplacian,
    Linear,
    Matern,
    PairFunction,
    Periodic,
    Polynomial,
    RationalQuadratic,
    SklearnKernel,
)


def _compositions():
    a, b, c, d = RBF(0.7), Linear(1.3), Matern(0.9, nu=2.5), Periodic(2.7, 1.1)
    function = REGISTRY["PairFunction"].examples()[0]
    foreign = REGISTRY["SklearnKernel"].examples()[0]
    ard = np.array([0.5, 1.0, 2.0])
    return [
        a * b + c,
        a + b * c,
        (a + b) * (c + d),
        2 * a,
        a * 2,
        1 + a,
        a + 1,
        0.5 * a * 3.0 + 1.5,
        sum([a, b]),
        a**3,
        b**2 * c,
        (a + b) ** 2,
        (b**2) ** 2,
        a.exp(),
        (a + 0.3 * c).exp() ** 2,
        (a * b).exp() + c,
        Constant(2.0) * Constant(3.0),
        Constant(2.0) + Constant(3.0) + a,
        a.on([1]),
        a.on(-1) + b.on(0),
        (a * b + c).on([2, 0]),
        ((a + 1) ** 2).on([1, 2]).exp(),
        (a.on([0]) + b).on([2, 1]),
        a.on([0]) * c.on([1]) + b,
        RBF(ard),
        Matern(ard, nu=0.5),
        RationalQuadratic(ard, 0.8),
        Laplacian(ard),
        Periodic(3.0, ard),
        Linear(ard, origin=np.array([0.1, -0.2, 0.3])),
        Polynomial(2, ard, 0.5, 0.2),
        NTK(2, ard, 0.5, np.array([0.1, -0.2, 0.3])),
        AdditivePairs("rbf", ard),
        AdditivePairs("matern", ard) * RBF(ard) + Linear(ard[:2]).on([0, 2]),
        2.0 * RBF(ard) * Periodic() + 0.5 * (Linear() + RBF()) ** 2 + 1.0,
        Categorical(0.3).on([2]) * a.on([0, 1]),
        Categorical().on([2]) + b.on([0]),
        function + a,
        (2.0 * function) ** 2,
        foreign + a,
        a * foreign.on([0, 1]),
        (NTK(1) + AdditivePairs()) * Laplacian(2.0),
    ]


def _transparent(kernel):
    """Whether a kernel is made of this library's formulas alone, without functions from elsewhere."""
    return not any(isinstance(node, PairFunction | GramFunction | SklearnKernel) for node in kernel._nodes())


def _smooth(kernel):
    """Whether a kernel has derivatives with respect to its inputs."""
    return _transparent(kernel) and not kernel.reads_levels


ZOO = [k for name in sorted(REGISTRY) for k in REGISTRY[name].examples()] + _compositions()
SELECTIONS = {
    "kernel": ZOO,
    "transparent_kernel": [k for k in ZOO if _transparent(k)],
    "smooth_kernel": [k for k in ZOO if _smooth(k)],
    "rough_kernel": [k for k in ZOO if not _smooth(k)],
}


def pytest_generate_tests(metafunc):
    for argument, selection in SELECTIONS.items():
        if argument in metafunc.fixturenames:
            metafunc.parametrize(argument, selection, ids=[f"{i}: {k}"[:70] for i, k in enumerate(selection)])


@pytest.fixture(name="X")
def _rows():
    """Twelve rows: two continuous columns and one of few levels, which cannot be written to."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(12, 3))
    X[:, 2] = rng.integers(0, 3, size=12) - 0.75
    X.flags.writeable = False
    return X


@pytest.fixture(name="Y")
def _other_rows():
    """Five rows that share no value with ``X``, but for the levels of the last column."""
    rng = np.random.default_rng(8)
    Y = rng.normal(size=(5, 3))
    Y[:, 2] = rng.integers(0, 3, size=5) - 0.75
    Y.flags.writeable = False
    return Y
