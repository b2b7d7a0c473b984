"""New rows beside those of the training."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.data.table import as_frame, collected, read_table
from pellucid.effects.drift import Bins, Drift, bins_of_effects, measure_drift
from pellucid.effects.explanation import unwrapped


def drift(model: Any, X: Any) -> Drift:
    """Measure how far new rows are from those of the training, feature by feature.

    Parameters
    ----------
    model : fitted estimator
        A model of terms, whose effects know where the rows of the training were, or a kernel model, which
        keeps them.
    X : array-like or data frame of shape (n, n_features)
        New rows.

    Returns
    -------
    Drift
        Population stability index and Hellinger distance of each feature of the model, and what share of the
        rows has values that training had not.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import KernelRidge, drift
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> found = drift(KernelRidge(alpha=1.0).fit(X, X[:, 0]), X + [0.0, 1.0])
    >>> found.shifted
    array([False,  True])
    """
    model, (X,) = unwrapped(model, X)
    X = collected(X)
    table = read_table(np.asarray(X) if as_frame(X) is None else X)
    names: Any = getattr(model, "feature_names_in_", None)
    cells = {cell.name if names is not None else f"x{j}": cell for j, cell in enumerate(table.cells)}
    if names is not None and as_frame(X) is None:
        cells = {str(name): cell for name, cell in zip(names, table.cells, strict=True)}
    n_train = np.inf
    if getattr(model, "effects_", None) is not None:
        bins = bins_of_effects(list(model.effects_.values()))
        n_train = getattr(model, "n_rows_", np.inf)
    elif getattr(model, "X_fit_", None) is not None and model._centres is None and not model._precomputed:
        train, weight = np.asarray(model.X_fit_), np.asarray(model.weight_fit_, dtype=float)
        if train.ndim != 2:
            raise ValueError("The rows of this model are no table, so no feature can drift.")
        n_train = len(train)
        columns = read_table(train).cells
        bins = [Bins.of_cells(model._names[j], cell, weight) for j, cell in enumerate(columns)]
    else:
        raise ValueError(
            f"This {type(model).__name__} does not know the rows of its training: drift needs a model of "
            f"terms, or a kernel model that keeps its rows."
        )
    absent = [one.name for one in bins if one.name not in cells]
    if absent:
        raise ValueError(f"X has no column {', '.join(absent[:5])}, which the model was fitted on.")
    return measure_drift(bins, [cells[one.name] for one in bins], n_train)


def drift_or_none(model: Any, X: Any) -> Drift | None:
    """As :func:`drift`; ``None`` where that is not known."""
    try:
        found = drift(model, X)
    except ValueError:  # no table, or nothing known of the training
        return None
    return found if len(found.names) else None
