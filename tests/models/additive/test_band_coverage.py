"""Bands of every loss cover the curves that data were drawn from."""

import numpy as np
import pytest
from outcome_draws import CURVES, OUTCOMES, drawn

from pellucid import AdditiveKernelClassifier, AdditiveKernelRegressor


def covered(loss, seed, n=300):
    """Share of the rows at which the 95 % band of each curve holds it; none of a curve not found."""
    X, y = drawn(loss, np.random.default_rng(seed), n)
    level = {"quantile": 0.8} if loss in ("quantile", "expectile") else {}
    kind = AdditiveKernelClassifier if loss == "ordinal" else AdditiveKernelRegressor
    model = kind(0, loss=loss, **level).fit(X, y)
    shares = []
    for j, curve in enumerate(CURVES):
        effect = model.effects_[f"x{j}"]
        low, high = effect.band(1.96)
        true = curve(effect.grids[0].points) - curve(X[:, j]).mean()
        shares.append(float(effect.density @ ((low <= true) & (true <= high))))
    return shares


@pytest.mark.parametrize("loss", OUTCOMES)
def test_bands_cover_the_curves(loss):
    assert np.mean([covered(loss, seed) for seed in range(6)]) > 0.8  # of 0.95; 0.91 to 0.98 of 60
