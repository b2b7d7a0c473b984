"""The receipt: what a machine of all orders finds where there is something, and where there is not."""

import numpy as np
import pytest

from pellucid.models.additive.receipt import _found_in


@pytest.mark.parametrize("n", [40, 150, 300])  # no more rows than landmarks
def test_nothing_is_found_in_noise(n):
    shares = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        noise, U = rng.normal(size=n), rng.normal(size=(n, 4))
        found, all_of_it = _found_in(noise, rng.uniform(0.5, 2.0, n), U)
        shares.append(found / all_of_it)
    assert np.mean(shares) < 0.1


def test_what_is_there_is_found():
    rng = np.random.default_rng(0)
    U = rng.uniform(-1.7, 1.7, size=(250, 3))
    signal, noise = U[:, 0] * U[:, 1], rng.normal(size=250)
    found, all_of_it = _found_in(signal + 0.3 * noise, np.ones(250), U)
    assert 0.7 < found / all_of_it < 0.95
