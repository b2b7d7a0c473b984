import numpy as np
import pytest

from pellucid.kernels import RBF, Constant, Laplacian, Linear, Matern, RationalQuadratic
from pellucid.kernels.tiles import gram_tiles, has_fast_tiles

RNG = np.random.default_rng(11)
X = np.vstack([RNG.normal(3.0, 1.0, (40, 4)), RNG.normal(3.0, 1.0, (1, 4))])
X[7] = X[3]  # a copy
KERNELS = [
    RBF([1.0, 0.5, 2.0, 1.5]),
    Matern(1.3, nu=0.5),
    Matern(1.3, nu=1.5),
    Matern(1.3, nu=2.5),
    RationalQuadratic(0.9, shape=2.0),
    2.0 * RBF(0.8) + RBF(3.0) * Matern(2.0, nu=2.5) + Constant(0.3),
    RBF(1.0) + Linear(2.0),
    Laplacian(2.0),
    RBF(1.0).on([0, 2]) * Matern(1.0),
]


@pytest.mark.parametrize("similarity", KERNELS, ids=str)
@pytest.mark.parametrize("single", [False, True])
def test_rectangles_are_those_of_the_gram_matrix(similarity, single):
    kernel = similarity
    K, tolerance = kernel(X), 1e-4 if single else 1e-12
    tile = gram_tiles(kernel, X, single=single)
    for i, j in ((slice(0, 41), slice(0, 41)), (slice(5, 20), slice(0, 9)), (slice(20, 41), slice(20, 41))):
        np.testing.assert_allclose(tile(i, j), K[i, j], atol=tolerance * K.max())
    part = gram_tiles(kernel, X, X[:5], single=single)
    rows = np.array([3, 7, 30])
    np.testing.assert_allclose(part(rows, slice(None)), K[rows, :5], atol=30 * tolerance * K.max())
    if single and has_fast_tiles(kernel):
        assert tile(slice(0, 3), slice(0, 3)).dtype == np.float32
        np.testing.assert_allclose(np.diag(tile(slice(0, 9), slice(0, 9))), kernel.diag(X)[:9], rtol=1e-6)
