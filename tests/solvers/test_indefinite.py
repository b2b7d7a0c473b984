"""Matrices that are no kernels: found out, or clipped."""

import numpy as np
import pytest

from pellucid.exceptions import IndefiniteKernelError
from pellucid.linalg import prepare
from pellucid.solvers import SpectralSolver, check_positive, clip, positive_part


def matrix(values):
    Q = np.linalg.qr(np.random.default_rng(2).normal(size=(len(values), len(values))))[0]
    return (Q * np.asarray(values)) @ Q.T


INDEFINITE = matrix([-9.0, -0.5, 0.0, 0.1, 1.0, 10.0])
INTERCEPT = pytest.mark.parametrize("fit_intercept", [True, False])


@INTERCEPT
def test_the_worst_eigenvalue_is_named_even_where_the_trace_is_small(fit_intercept):
    J = np.eye(6) - fit_intercept / 6
    worst = np.linalg.eigvalsh(J @ INDEFINITE @ J).min()
    with pytest.raises(IndefiniteKernelError, match=f"the worst is {worst:.4g}"):
        SpectralSolver.start(INDEFINITE.copy(), np.ones(6), fit_intercept=fit_intercept, trusted=False)
    with pytest.raises(IndefiniteKernelError, match=f"the worst is {worst:.4g}"):
        check_positive(prepare(INDEFINITE.copy(), np.ones(6), fit_intercept=fit_intercept), 1e-6)


@INTERCEPT
def test_rounding_is_not_held_against_a_matrix(fit_intercept):
    K = matrix([-1e-9, 0.0, 0.1, 1.0, 3.0, 10.0])
    solver = SpectralSolver.start(K.copy(), np.ones(6), fit_intercept=fit_intercept, trusted=False)
    assert np.all(solver.values >= 0)
    check_positive(prepare(K.copy(), np.ones(6), fit_intercept=fit_intercept), 1e-6)


def test_conditionally_positive_matrices_pass_with_an_intercept():
    """Minus the distance is not a kernel, but centred it is one."""
    x = np.random.default_rng(3).normal(size=8)
    K = -np.abs(x[:, None] - x)
    SpectralSolver.start(K.copy(), np.ones(8), fit_intercept=True, trusted=False)
    with pytest.raises(IndefiniteKernelError):
        SpectralSolver.start(K.copy(), np.ones(8), fit_intercept=False, trusted=False)


def test_clipping_gives_the_nearest_positive_matrix():
    values, U = np.linalg.eigh(INDEFINITE)
    clipped, kept = clip(INDEFINITE.copy(), np.ones(6))
    assert np.allclose(clipped, (U * np.maximum(values, 0.0)) @ U.T)
    a = np.random.default_rng(4).normal(size=(6, 2))
    assert np.allclose(INDEFINITE @ positive_part(a, kept, np.ones(6)), clipped @ a)


def test_clipping_with_weights_is_clipping_repeated_rows():
    counts = np.array([1, 3, 2, 1, 2, 1])
    rows = np.repeat(np.arange(6), counts)
    clipped, kept = clip(INDEFINITE.copy(), counts.astype(float))
    repeated, _ = clip(INDEFINITE[np.ix_(rows, rows)], np.ones(len(rows)))
    assert np.allclose(clipped[np.ix_(rows, rows)], repeated)
    a = np.random.default_rng(4).normal(size=(6, 2))
    assert np.allclose(INDEFINITE @ positive_part(a, kept, counts.astype(float)), clipped @ a)
