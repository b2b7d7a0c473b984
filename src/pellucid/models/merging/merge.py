"""Joining models that were fitted to different rows with one structure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

Model = TypeVar("Model", bound=BaseEstimator)


def merge(models: Sequence[Model]) -> Model:
    """Join models of different rows into the model of all of them, from sums alone.

    Sites that cannot share rows fit one structure: the first one fits a model, the others call its
    ``refit(X, y)`` with rows of their own. What this function adds up are sums over the rows of each site, so
    its answer is that of ``refit`` with the rows of all sites. See the user guide on what such sums disclose.

    Parameters
    ----------
    models : sequence of fitted models
        Models with ``updatable=True`` and squared loss, of one kind and one structure; in any order.

    Returns
    -------
    The model of all rows. Those given stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import AdditiveKernelRegressor, merge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(400, 2))
    >>> y = np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=400)
    >>> here = AdditiveKernelRegressor(updatable=True).fit(X[:200], y[:200])
    >>> there = here.refit(X[200:], y[200:])
    >>> both = merge([here, there])
    >>> both.n_rows_, bool(np.allclose(both.predict(X), here.refit(X, y).predict(X)))
    (400, True)
    """
    models = list(models)
    if not models:
        raise ValueError("There is nothing to merge: models is empty.")
    first = models[0]
    for model in models:
        if type(model) is not type(first):
            raise ValueError(
                f"Only models of one kind can be merged, got a {type(first).__name__} and a "
                f"{type(model).__name__}."
            )
        if not hasattr(model, "_merged"):
            raise ValueError(
                f"A {type(model).__name__} cannot be merged: sums over rows do not determine it. An "
                f"AdditiveKernelRegressor or a KernelRidge with updatable=True can."
            )
        check_is_fitted(model)
    merged: Model = first._merged(models[1:])
    return merged
