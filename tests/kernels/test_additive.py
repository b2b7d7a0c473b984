import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid.kernels import RBF, AdditivePairs, Matern


@pytest.mark.parametrize(("base", "kind"), [("rbf", RBF), ("matern", Matern)])
@pytest.mark.parametrize("n_columns", [2, 3, 6])
def test_equals_the_double_loop(base, kind, n_columns):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(7, n_columns)), rng.normal(size=(4, n_columns))
    scales = rng.uniform(0.5, 2.0, size=n_columns)
    total, pairs = np.zeros((7, 4)), 0
    for p in range(n_columns):
        for q in range(p + 1, n_columns):
            total += kind(scales[p]).on([p])(X, Y) * kind(scales[q]).on([q])(X, Y)
            pairs += 1
    assert_allclose(AdditivePairs(base, scales)(X, Y), total / pairs, rtol=1e-12)


def test_needs_two_columns():
    X = np.ones((3, 1))
    kernel = AdditivePairs()
    for call in (
        lambda: kernel(X),
        lambda: kernel.diag(X),
        lambda: list(kernel.input_gradients(X, X)),
        lambda: kernel.parameter_gradient(X, np.ones((3, 3))),
    ):
        with pytest.raises(ValueError, match="needs at least two columns"):
            call()
