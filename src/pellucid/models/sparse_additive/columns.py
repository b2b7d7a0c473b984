"""A table as a list of columns: numbers, and categories as objects."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils.validation import validate_data

from pellucid.data.rows import text_columns


def enter_columns(estimator: Any, X: Any, *, reset: bool) -> list[np.ndarray]:
    """Return the columns of ``X``: float64, or objects for text, categories and other levels of a data frame.

    Which columns are categories is decided in training and kept in ``estimator.categorical_``.
    """
    text = set(text_columns(X))
    if reset:
        estimator.categorical_ = np.zeros(0, dtype=bool)
    categories = set() if reset else _categories(estimator)
    if not text and not categories:
        rows = validate_data(estimator, X, reset=reset, dtype=np.float64, ensure_min_samples=1)
        if reset:
            estimator.categorical_ = np.zeros(rows.shape[1], dtype=bool)
        return list(rows.T)
    if not isinstance(nw.from_native(X, eager_only=True, pass_through=True), nw.DataFrame):
        raise ValueError(
            f"The model was fitted on a data frame with categories in the columns {sorted(categories)}: "
            f"pass a data frame."
        )
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    frame = nw.from_native(X, eager_only=True)
    if reset:
        estimator.categorical_ = np.array([name in text for name in frame.columns])
        categories = text
    wrong = sorted(text - categories)
    if wrong:
        raise ValueError(
            f"Columns {wrong} were numbers in training and are text now: convert them to numbers."
        )
    if len(frame) == 0:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    return [_column(frame[name], name, name in categories) for name in frame.columns]


def _categories(estimator: Any) -> set[str]:
    names = getattr(estimator, "feature_names_in_", None)
    return set() if names is None else set(np.asarray(names)[estimator.categorical_].tolist())


def _column(column: Any, name: str, levels: bool) -> np.ndarray:
    empty = bool(column.is_null().any()) or bool(column.dtype.is_float() and column.is_nan().any())
    if empty:
        raise ValueError(
            f"Input X contains NaN or missing values in column {name!r}. Fill or drop them first."
        )
    if levels:
        return np.array(column.to_list(), dtype=object)
    values = np.asarray(column.to_numpy(), dtype=np.float64)
    if not np.all(np.isfinite(values)):
        raise ValueError(f"Input X contains infinity in column {name!r}.")
    return values
