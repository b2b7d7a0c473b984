"""Spectral samplers: the mean of cos(ωᵀ(x − y)) over the frequencies is the kernel."""

import numpy as np
import pytest

from pellucid.kernels import RBF, Laplacian, Linear, Matern, Periodic, RationalQuadratic

SAMPLED = [
    RBF(0.7),
    RBF([0.5, 2.0]),
    Matern(0.8, nu=0.5),
    Matern(0.8, nu=1.5),
    Matern(1.3, nu=2.5),
    RationalQuadratic(0.9, shape=0.6),
    Laplacian(1.2),
    Laplacian([0.6, 3.0]),
]


@pytest.mark.parametrize("sampled", SAMPLED, ids=str)
def test_mean_cosine_is_the_kernel(sampled):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(6, 2)), rng.normal(size=(6, 2))
    omega = sampled.sample_frequencies(200_000, 2, np.random.RandomState(0))
    assert omega.shape == (200_000, 2)
    estimate = np.array([[np.cos(omega @ (x - y)).mean() for y in Y] for x in X])
    # the standard error of a mean of cosines is at most 1/√(2n) = 0.0016
    np.testing.assert_allclose(estimate, sampled(X, Y), atol=0.007)


def test_draws_follow_the_seed():
    first, second, other = (Matern().sample_frequencies(5, 3, np.random.RandomState(s)) for s in (1, 1, 2))
    np.testing.assert_array_equal(first, second)
    assert not np.allclose(first, other)


@pytest.mark.parametrize("other", [Linear(), Periodic(), RBF() + RBF()], ids=str)
def test_other_kernels_say_that_they_have_none(other):
    with pytest.raises(TypeError, match=r"no spectral sampler.*RBF"):
        other.sample_frequencies(3, 2, np.random.RandomState(0))
