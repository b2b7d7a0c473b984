"""Kernel parameters of models with any loss: by the ridge problem of their first Newton step.

Leave-one-out of other than squared losses has no gradient in closed form. The first Newton step from the null
model is a weighted ridge, which has one, and knows which features matter, and how much. What the loss makes
of them is then fitted with the kernel that was found, and compared by held-out deviance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from pellucid.models.glm_fit.base import KernelGLMBase
from pellucid.models.ridge.regressor import KernelRidge
from pellucid.models.search.gradient_search import MOST_ROWS


def held_out_deviance(model: KernelGLMBase) -> float:
    """Mean deviance of rows left out at the alpha that was chosen."""
    if not hasattr(model, "alpha_path_"):
        raise ValueError(
            f"A search compares models by held-out deviance, and a {type(model).__name__} has one where it "
            f"chooses alpha: pass alpha='cv' or alpha='loo', or several numbers as alphas."
        )
    return float(model.alpha_path_.deviance.min())


def first_ridge(
    estimator: KernelGLMBase, X: Any, y: Any, sample_weight: Any, known: dict[str, Any]
) -> tuple[KernelRidge, np.ndarray, np.ndarray, np.ndarray]:
    """Kernel ridge with the rows, targets and weights on which to search; of many rows a sample."""
    kernel, rows, targets, weight = clone(estimator).working_ridge(X, y, sample_weight, **known)
    if len(rows) > MOST_ROWS:  # always the same rows for the same data
        some = np.sort(np.random.default_rng(0).choice(len(rows), MOST_ROWS, replace=False))
        rows, targets, weight = rows[some], targets[some], weight[some]
    ridge = KernelRidge(kernel, fit_intercept=bool(estimator.fit_intercept), weights="counts")
    return ridge, rows, targets, weight
