"""Pairs of noise."""

import numpy as np

from pellucid.data.table import Column
from pellucid.losses import as_loss
from pellucid.models.additive.engine.state import Problem
from pellucid.models.additive.engine.structure import build_axes, fit_additive


def fitted(X, y):
    n = len(y)
    axes = build_axes(X, np.ones(n), [Column(f"x{j}") for j in range(X.shape[1])])
    problem = Problem(X, y / y.std(), np.ones(n), np.zeros(n), as_loss("squared"))
    return fit_additive(problem, axes, None, None)


def test_none_of_very_many_pairs_of_noise_stays():
    """Of 435 pairs the best are tried, which look as if there were something in them."""
    rng = np.random.default_rng(30)
    state = fitted(rng.normal(size=(700, 30)), rng.normal(size=700))
    assert sum(len(term) == 2 for term in state.basis.terms) == 0
