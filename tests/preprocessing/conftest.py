import numpy as np
import pandas as pd
import pytest


@pytest.fixture(name="positive")
def _positive():
    return np.random.default_rng(0).lognormal(sigma=1.5, size=(30, 6))


@pytest.fixture(name="counts")
def _counts():
    """Counts with many zeros, but none of the rows or columns all zero."""
    rng = np.random.default_rng(1)
    counts = rng.poisson(rng.lognormal(sigma=1.5, size=(40, 6))).astype(float)
    counts[:, 0] += 1
    assert (counts == 0).mean() > 0.2
    assert counts.any(axis=0).all()
    return counts


@pytest.fixture(name="soils")
def _soils():
    return pd.DataFrame({"sand": [70.0, 40.0, 55.0], "silt": [20.0, 50.0, 30.0], "clay": [10.0, 10.0, 15.0]})
