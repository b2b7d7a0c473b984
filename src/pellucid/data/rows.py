"""Rows that a kernel compares: numbers, columns with levels, objects, or rows of a kernel matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from pellucid.kernels import Kernel, Precomputed
from pellucid.kernels.base import column_names, object_rows


def check_rows(estimator: Any, X: Any, kernel: Any, *, reset: bool) -> np.ndarray:
    """Return ``X`` as rows that ``kernel`` accepts; float32 stays float32.

    Vector kernels get a numeric matrix through scikit-learn's own checks. A kernel that compares levels of
    categories may see columns of strings. Functions of two objects may see anything that has a length.
    """
    if isinstance(kernel, Kernel) and kernel.reads_levels and text_columns(X):
        return _mixed_rows(estimator, X, reset=reset)
    if _holds_objects(X, kernel):
        if len(X) == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        return object_rows(X)
    text = text_columns(X)
    if text:
        raise ValueError(
            f"could not convert string to float: columns {text} are not numeric. Encode them, or say how "
            f"they are to be compared with a kernel such as RBF().on([...]) * Categorical().on({text!r})."
        )
    return validate_data(estimator, X, reset=reset, dtype=[np.float64, np.float32], ensure_min_samples=1)


def check_square(K: np.ndarray) -> None:
    """Raise unless ``K`` is square, as a precomputed kernel matrix of training rows must be."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"Precomputed matrix must be a square matrix of training rows by training rows, got shape "
            f"{K.shape}."
        )


def is_precomputed(kernel: Any) -> bool:
    """Whether the rows of ``X`` are rows of a kernel matrix."""
    if isinstance(kernel, Kernel):
        return any(isinstance(node, Precomputed) for node in kernel._nodes())
    return isinstance(kernel, str) and kernel == "precomputed"


def text_columns(X: Any) -> list[str]:
    """Names of the columns of a data frame that are not numbers or booleans."""
    names = column_names(X)
    if names is None:
        return []
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return []
    return [name for name in names if not (frame[name].dtype.is_numeric() or frame[name].dtype == nw.Boolean)]


def _mixed_rows(estimator: Any, X: Any, *, reset: bool) -> np.ndarray:
    import narwhals as nw

    rows = validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=False, ensure_min_samples=1)
    frame = nw.from_native(X, eager_only=True)
    empty = [name for name in frame.columns if frame[name].is_null().any() or _has_nan(frame[name])]
    if empty:
        raise ValueError(
            f"Input X contains NaN or missing values in columns {empty}. Fill or drop them first."
        )
    return rows.astype(object)


def _has_nan(column: Any) -> bool:
    return bool(column.dtype.is_float() and column.is_nan().any())


def _holds_objects(X: Any, kernel: Any) -> bool:
    """Whether the rows are objects for a function of two rows, rather than numeric vectors."""
    foreign = (isinstance(kernel, Kernel) and not kernel.vectors) or (
        callable(kernel) and not isinstance(kernel, Kernel)
    )
    if not foreign or hasattr(X, "columns") or hasattr(X, "column_names") or hasattr(X, "toarray"):
        return False
    if isinstance(X, np.ndarray):
        return X.ndim not in (0, 2) or X.dtype.kind in "US"
    if not hasattr(X, "__len__"):
        return False
    try:
        return np.asarray(X).ndim < 2 or np.asarray(X).dtype.kind not in "fiub"
    except ValueError:  # rows of different lengths
        return True
