"""A variance that all pairs have in common is not one of the best of many."""

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


def test_pairs_chosen_from_noise_have_none():
    """Of 435 pairs the best are tried, which together look as if there were something in all."""
    rng = np.random.default_rng(30)
    state = fitted(rng.normal(size=(700, 30)), rng.normal(size=700))
    assert state.prior.kinds[2].common == 0.0
    assert sum(len(term) == 2 for term in state.basis.terms) == 0
