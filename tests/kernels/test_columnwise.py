"""Kernels taken apart into kernels of single columns."""

import numpy as np
import pytest

from pellucid.kernels import (
    RBF,
    AdditivePairs,
    Categorical,
    Constant,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
)
from pellucid.kernels.columnwise import column_terms
from pellucid.linalg.attribution import symmetric_value

ELL = np.array([0.7, 1.3, 2.0])
KERNELS = [
    RBF(ELL),
    Laplacian(ELL),
    Periodic(3.0, ELL),
    Linear(ELL, np.array([0.1, 0.2, 0.3])),
    AdditivePairs("matern", ELL),
    Categorical(0.3),
    2.0 * RBF(1.5) * Linear() + 3.0,
    AdditivePairs() * RBF(2.0).on([1]),
    (RBF(1.0).on([0, 2]) + 0.5) ** 2,
    Matern(0.8).on([0]) * Matern(1.2, 2.5).on([2]) + Polynomial().on([-2]),
    (RBF() + Linear().on([1])).on([2, 0]) * Constant(0.5),
]


@pytest.mark.parametrize("given", KERNELS, ids=str)
def test_terms_add_up_to_the_kernel(given):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(6, 3)).round(1), rng.normal(size=(5, 3)).round(1)
    X[:3] = Y[:3]
    total = np.zeros((6, 5))
    for term in column_terms(given, 3):
        Z = [term.values(c, X, Y) for c in term.columns]
        total += term.factor * (symmetric_value(Z, term.order) if Z else 1.0)
        spread = np.zeros((6, 5))
        for part in term.multiplied_out():
            spread += part.factor * symmetric_value([part.values(c, X, Y) for c in part.columns], part.order)
        assert not Z or np.allclose(spread, term.factor * symmetric_value(Z, term.order))
    assert np.allclose(total, given(X, Y), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "given", [Matern(), Polynomial(), Matern().on([0, 1]) * RBF().on([2]), RBF().exp()], ids=str
)
def test_kernels_of_several_columns_at_once_are_refused(given):
    with pytest.raises(ValueError, match=r"compares [23] columns at once.*Kernels that are: RBF"):
        column_terms(given, 3)


def test_sums_that_are_too_many_to_multiply_out_are_refused():
    with pytest.raises(ValueError, match="too many"):
        column_terms(Linear() * AdditivePairs(), 30)
