import pytest
from numpy.testing import assert_allclose

from pellucid.kernels import RBF, Constant, Linear, Polynomial


def test_features_reproduce_the_kernel(kernel, X):
    count = kernel.feature_count(X.shape[1])
    if count is None:
        with pytest.raises(TypeError, match="no finite set of explicit features"):
            kernel.features(X)
        return
    Phi = kernel.features(X)
    assert Phi.shape == (len(X), count)
    K = kernel(X)
    assert_allclose(Phi @ Phi.T, K, rtol=1e-10, atol=1e-12 * abs(K).max())


@pytest.mark.parametrize(
    ("kernel_", "count"),
    [
        (Linear(), 3),
        (Linear().on([1]), 1),
        (Linear() + 1, 4),
        (2 * Linear() * Linear(), 9),
        (Linear() ** 2, 6),
        (Polynomial(2), 10),
        (Polynomial(2, bias=0.0), 6),
        ((Linear() + Constant()) ** 2, 10),
        (Linear() + RBF(), None),
        (Linear() * RBF(), None),
        (RBF() ** 2, None),
        (Linear().exp(), None),
        (RBF().on([1]), None),
    ],
)
def test_number_of_features(kernel_, count):
    assert kernel_.feature_count(3) == count
