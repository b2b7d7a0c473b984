"""A fitted model by groups of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length

from pellucid.data.roles import table_in_memory
from pellucid.data.table import as_frame, collected
from pellucid.effects.fairness import GroupTable, groups_of_classes, groups_of_numbers, groups_of_outcomes
from pellucid.effects.outcome_measures import losses_of, outcome_of
from pellucid.models.reading.answers import has_probabilities, known_to, own_columns


def fairness(
    model: Any, X: Any, y: Any, groups: Any, *, offset: Any = None, exposure: Any = None
) -> GroupTable:
    """Measure a fitted model group by group.

    Parameters
    ----------
    model : fitted estimator or pipeline
        A model of numbers, quantiles, counts, amounts, times or classes.
    X : array-like or data frame of shape (n, n_features)
        Rows, best such that the model has not seen.
    y : array-like of shape (n,), or str
        Their targets; a text names a column of ``X``, and so for offset and exposure.
    groups : str or array-like of shape (n,)
        Group of each row, or the name of a column of ``X``. The groups need not be known to the model.
    offset, exposure : array-like of shape (n,), optional
        Passed to ``predict``.

    Returns
    -------
    GroupTable
        Mean prediction beside mean target, errors and calibration; of two classes the rates of false
        positives and false negatives; of quantiles the shares below them; of times the events beside those
        expected. Each with a standard error, as small groups differ by chance.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import KernelRidge, fairness
    >>> rng = np.random.default_rng(0)
    >>> X, group = rng.normal(size=(200, 1)), np.repeat(["a", "b"], 100)
    >>> y = X[:, 0] + 2.0 * (group == "b") + 0.1 * rng.normal(size=200)
    >>> table = fairness(KernelRidge().fit(X, y), X, y, group)
    >>> table.values["mean error"].round(1)
    array([ 1., -1.])
    """
    labels = _groups(X, groups)
    X, given = table_in_memory(X, y=y, offset=offset, exposure=exposure)
    y = given.pop("y")
    known = {key: value for key, value in given.items() if value is not None}
    y = collected(y, "y")
    check_consistent_length(X, y, labels)
    X = own_columns(model, X)
    said = np.asarray(model.predict(X, **known_to(model, known)))
    if hasattr(model, "classes_"):
        P = model.predict_proba(X, **known_to(model, known)) if has_probabilities(model) else None
        return groups_of_classes(np.asarray(y), said, labels, P, model.classes_)
    losses = losses_of(model)
    if losses and said.size == len(said) * len(losses):
        return groups_of_outcomes(outcome_of(losses, y, said, **known), labels)
    if said.ndim > 1:
        raise ValueError("Groups are measured for one target at a time: this model has several.")
    return groups_of_numbers(np.asarray(y, dtype=float), said.astype(float), labels)


def _groups(X: Any, groups: Any) -> np.ndarray:
    if isinstance(groups, str):
        frame = as_frame(X)
        if frame is None or groups not in frame.columns:
            raise ValueError(f"X has no column {groups!r}; pass the group of each row instead.")
        groups = frame.get_column(groups).to_list()
    values = np.asarray(groups, dtype=object).ravel()
    names = np.array(["(missing)" if v is None or v != v else str(v) for v in values], dtype=object)
    if len(np.unique(names)) > max(50, len(names) // 5):
        raise ValueError("groups has a group for every few rows; cut numbers into a few ranges first.")
    return names
