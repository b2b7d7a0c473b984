"""Hundreds of columns: every pair of them is a component, and the fit is a matter of seconds."""

from time import perf_counter

import numpy as np
import pytest

from pellucid import ISKClassifier


@pytest.mark.slow
def test_three_hundred_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 300))
    y = (X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=300) > 0).astype(int)
    start = perf_counter()
    model = ISKClassifier().fit(X, y)
    assert perf_counter() - start < 60  # it took more than eight minutes; about 12 s of one core now
    assert model.score(X, y) > 0.9
