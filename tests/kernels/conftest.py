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
    """Every kernel inside others, most with a length-scale for each column."""
    a, b, c = RBF(0.7), Linear(1.3), Matern(0.9, nu=2.5)
    by_pair, by_matrix = PairFunction.examples()[0], GramFunction.examples()[0]
    foreign = SklearnKernel.examples()[0]
    ard, origin = np.array([0.5, 1.0, 2.0]), np.array([0.1, -0.2, 0.3])
    return [
        a * b + c,
        (a + b) * (c + Periodic(2.7, 1.1)),
        0.5 * a * 3.0 + 1.5,
        Constant(2.0) * Constant(3.0),
        2 * b * (b + 0.5) ** 2,
        (a + 0.3 * c).exp() ** 2,
        a.on(-1) + b.on(0),
        (a.on([0]) + b).on([2, 1]),
        ((a + 1) ** 2).on([1, 2]).exp(),
        RBF(ard) * Matern(ard, nu=0.5) + RationalQuadratic(ard, 0.8),
        Laplacian(ard) + Periodic(3.0, ard) * Linear(ard, origin=origin),
        Polynomial(2, ard, 0.5, 0.2) + NTK(2, ard, 0.5, origin),
        AdditivePairs("matern", ard) * RBF(ard) + Linear(ard[:2]).on([0, 2]),
        Categorical(0.3).on([2]) * a.on([0, 1]),
        (2.0 * by_pair) ** 2,
        by_matrix + a,
        a * foreign.on([0, 1]),
    ]


def _transparent(kernel):
    """Whether a kernel is made of this library's formulas alone, without functions from elsewhere."""
    return not any(isinstance(node, PairFunction | GramFunction | SklearnKernel) for node in kernel._nodes())


def _smooth(kernel):
    """Whether a kernel has derivatives with respect to its inputs."""
    return _transparent(kernel) and not kernel.reads_levels


VECTORS = [name for name in sorted(REGISTRY) if REGISTRY[name].example_rows() is None]
OBJECTS = sorted(set(REGISTRY) - set(VECTORS))
ZOO = [k for name in VECTORS for k in REGISTRY[name].examples()] + _compositions()
SELECTIONS = {
    "kernel": ZOO,
    "transparent_kernel": [k for k in ZOO if _transparent(k)],
    "smooth_kernel": [k for k in ZOO if _smooth(k)],
    "rough_kernel": [k for k in ZOO if not _smooth(k)],
    "object_kernel": [k for name in OBJECTS for k in REGISTRY[name].examples()],
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
