"""Two fitted models on the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, check_consistent_length

from pellucid.data.roles import table_in_memory
from pellucid.effects.comparison import (
    ModelComparison,
    Parts,
    RowChange,
    TermChange,
    leading_terms,
    term_changes,
    term_differences,
)
from pellucid.effects.explanation import unwrapped
from pellucid.effects.measures import measures_of_classes, measures_of_numbers, title
from pellucid.effects.outcome_measures import losses_of, outcome_of
from pellucid.models.reading.answers import answers_of, has_probabilities, known_to, own_columns
from pellucid.models.reading.attribution import shapley_values
from pellucid.models.reading.drift import drift_or_none
from pellucid.models.reading.fairness import fairness

_EXPLAINED = 300  # rows whose Shapley values are computed to see how features changed


def compare(
    old: Any,
    new: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    top: int = 5,
    offset: Any = None,
    exposure: Any = None,
) -> ModelComparison:
    """Compare two fitted models on the same rows: which terms changed, by how much, and for whom.

    Changes of models of terms are those of their contributions. Other models are compared by their exact
    Shapley values against these rows with independent features, where these are known; else by predictions
    alone.

    Parameters
    ----------
    old, new : fitted estimators or pipelines
        Models of the same target, of the same kind or not.
    X : array-like or data frame of shape (n, n_features)
        Rows, for instance the latest ones. Of a data frame each model takes the columns that it was fitted
        on.
    y : array-like of shape (n,), or str, optional
        Their targets, for scores of both models; a text names a column of ``X``, and so for offset and
        exposure.
    groups : str or array-like of shape (n,), optional
        Group of each row, or a column of ``X``: with ``y``, both models are measured by group.
    top : int, default=5
        How many of the rows of largest change to explain.
    offset, exposure : array-like of shape (n,), optional
        Passed to ``predict``.

    Returns
    -------
    ModelComparison
        Printed, it is a page of text; in a notebook it is a page of tables.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import AdditiveKernelRegressor, compare
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(400, 3))
    >>> y = X[:, 0] + 0.1 * rng.normal(size=400)
    >>> old = AdditiveKernelRegressor().fit(X, y)
    >>> new = AdditiveKernelRegressor().fit(X, y + 2 * X[:, 1])
    >>> change = compare(old, new, X)
    >>> change.terms[0].name, round(change.terms[0].size, 1)
    ('x1', 1.1)
    """
    X, given = table_in_memory(X, y=y, offset=offset, exposure=exposure)
    y = given.pop("y")
    known = {key: value for key, value in given.items() if value is not None}
    own = own_columns(old, X), own_columns(new, X)
    before, after = answers_of(old, own[0], known), answers_of(new, own[1], known)
    classes = _shared_classes(old, new)
    if before.shape != after.shape:
        raise ValueError("The models predict different things: one has more outputs than the other.")
    change = after - before
    size = change[:, 0] if change.shape[1] == 1 else np.abs(change).sum(axis=1) / 2
    order = np.argsort(-np.abs(size), kind="stable")[: max(top, 0)]
    taken, how, notes = _attributed((old, new), own, order)
    terms: tuple[TermChange, ...] = ()
    said = tuple(
        np.asarray(model.predict(rows, **known_to(model, known)))
        for model, rows in zip((old, new), own, strict=True)
    )
    if taken is not None:
        where, (a, b) = taken
        terms = tuple(term_changes(a, b, where))
        names, moved = term_differences(a, b)
        of_row = {int(i): moved[k] for k, i in enumerate(where)}
    else:
        names, of_row = [], {}
    none = np.zeros((0, 1))
    rows = tuple(
        _row(names, of_row.get(int(i), none), int(i), said, size, change, classes)
        for i in order
        if size[i] != 0
    )
    scores: dict[str, tuple[float, float]] = {}
    tables = None
    if y is not None:
        check_consistent_length(X, y)
        first, second = (_scores(model, rows, y, known) for model, rows in zip((old, new), own, strict=True))
        scores = {title(name): (first[name], second[name]) for name in first if name in second}
    if groups is not None:
        if y is None:
            raise ValueError("groups need y: measures by group compare predictions with targets.")
        tables = (fairness(old, X, y, groups, **known), fairness(new, X, y, groups, **known))
    kind = "predictions" if classes is None else ("probabilities" if has_probabilities(old) else "scores")
    return ModelComparison(
        len(size), size, kind, how, terms, rows,
        None if classes is None else float(np.mean(said[0] != said[1])),
        scores, drift_or_none(old, own[0]), tables, tuple(notes),
    )  # fmt: skip


def _row(
    names: list[str], moved: np.ndarray, i: int, said: Any, size: np.ndarray, change: np.ndarray, classes: Any
) -> RowChange:
    k = int(np.argmax(np.abs(change[i]))) if moved.shape[-1] > 1 else 0
    output = "" if moved.shape[-1] == 1 else str(classes[k] if classes is not None else f"output {k}")
    return RowChange(
        i, said[0][i].item() if hasattr(said[0][i], "item") else said[0][i],
        said[1][i].item() if hasattr(said[1][i], "item") else said[1][i],
        float(size[i]), leading_terms(names, moved[:, k]), output,
    )  # fmt: skip


def _shared_classes(old: Any, new: Any) -> np.ndarray | None:
    found: list[Any] = [getattr(model, "classes_", None) for model in (old, new)]
    a, b = found
    if (a is None) != (b is None) or (a is not None and not np.array_equal(a, b)):
        one, other = ("numbers" if c is None else f"the classes {list(c)}" for c in (a, b))
        raise ValueError(f"The models predict different things: one {one}, the other {other}.")
    if a is not None and has_probabilities(old) != has_probabilities(new):
        raise ValueError("One model has probabilities and the other scores: they cannot be compared.")
    return a


def _attributed(
    models: tuple[Any, Any], tables: tuple[Any, Any], order: np.ndarray
) -> tuple[tuple[np.ndarray, tuple[Parts, Parts]] | None, str, list[str]]:
    """Parts of both predictors, with the numbers of the rows that they are of; and how they were made."""
    n = len(tables[0])
    inner = [unwrapped(model, X) for model, X in zip(models, tables, strict=True)]
    if all(hasattr(model, "contributions") and hasattr(model, "term_names_") for model, _ in inner):
        found = [
            _with_level(model.term_names_, model.contributions(rows[0]), model.intercept_, "intercept")
            for model, rows in inner
        ]
        return (np.arange(n), (found[0], found[1])), "terms", []
    rows = np.union1d(np.linspace(0, n - 1, min(n, _EXPLAINED)).round().astype(int), order)
    try:
        some = [_safe_indexing(X, rows) for X in tables]
        values = [
            shapley_values(model, X, X, independent=True) for model, X in zip(models, some, strict=True)
        ]
    except ValueError as error:
        return None, "", [f"Changes are not taken apart: {error}"]
    found = [_with_level(v.names, v.values, v.base, "(mean of all)") for v in values]
    if found[0][1].shape[2] != found[1][1].shape[2]:
        return None, "", ["Changes are not taken apart: the models have different linear predictors."]
    notes = [] if len(rows) == n else [f"Shapley values are of {len(rows)} of the rows, against each other."]
    return (rows, (found[0], found[1])), "Shapley values", notes


def _with_level(names: Sequence[str], parts: np.ndarray, level: Any, label: str) -> Parts:
    """Parts with an axis of outputs, and the constant as one more of them."""
    parts = parts if parts.ndim == 3 else parts[:, :, None]
    constant = np.broadcast_to(np.asarray(level, dtype=float), (len(parts), 1, parts.shape[2]))
    return [*names, label], np.concatenate([parts, constant], axis=1)


def _scores(model: Any, X: Any, y: Any, known: dict[str, Any]) -> dict[str, float]:
    said = np.asarray(model.predict(X, **known_to(model, known)))
    weight = np.ones(len(said))
    if not hasattr(model, "classes_"):
        losses = losses_of(model)
        if losses and np.size(said) == len(said) * len(losses):
            return outcome_of(losses, y, said, **known).measures()
        return measures_of_numbers(np.asarray(y, float), said.astype(float), weight) if said.ndim == 1 else {}
    y = np.asarray(y)
    P = model.predict_proba(X, **known_to(model, known)) if has_probabilities(model) else None
    return measures_of_classes(y, said, model.classes_.tolist(), weight, P)
