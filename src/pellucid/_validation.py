"""The one gate through which data enter: rows, targets, weights, ridge strengths."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_consistent_length, validate_data

from pellucid.kernels import Kernel, Precomputed
from pellucid.kernels.base import column_names, object_rows


def check_rows(estimator: Any, X: Any, kernel: Any, *, reset: bool) -> np.ndarray:
    """Return ``X`` as rows that ``kernel`` accepts; float32 stays float32.

    Vector kernels get a numeric matrix through scikit-learn's own checks. A kernel that compares levels of
    categories may see columns of strings. Functions of two objects may see anything that has a length.
    """
    if isinstance(kernel, Kernel) and kernel.reads_levels and _text_columns(X):
        return _mixed_rows(estimator, X, reset=reset)
    if _holds_objects(X, kernel):
        if len(X) == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        return object_rows(X)
    text = _text_columns(X)
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


def check_weight(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Return weights as float64, ones where none were given."""
    if sample_weight is None:
        return np.ones(n_rows)
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_rows, float(sample_weight))
    weight = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got shape {weight.shape}.")
    if len(weight) != n_rows:
        raise ValueError(f"sample_weight has {len(weight)} entries, but X has {n_rows} rows.")
    if np.any(weight < 0):
        raise ValueError(
            "Negative values in data passed to `sample_weight`: a row cannot count less than nothing."
        )
    if not np.any(weight > 0):
        raise ValueError("All entries of sample_weight are zero: no row is left to fit.")
    return weight


def check_targets(y: Any, X: np.ndarray) -> np.ndarray:
    """Return numeric targets as float64 of shape (n,) or (n, outputs)."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    if isinstance(y, Real):
        raise ValueError("y must have one or two dimensions, got 0.")
    Y = check_array(y, ensure_2d=False, allow_nd=True, dtype=np.float64, input_name="y")
    if Y.ndim > 2:
        raise ValueError(f"y must have one or two dimensions, got {Y.ndim}.")
    check_consistent_length(X, Y)
    return Y


def check_alpha(alpha: Any, n_outputs: int) -> str | np.ndarray:
    """Return the name of a criterion, or positive ridge strengths, one per output."""
    if isinstance(alpha, str):
        if alpha not in ("loo", "gcv", "ml"):
            raise ValueError(f"alpha must be a positive number, 'loo', 'gcv' or 'ml', got {alpha!r}.")
        return alpha
    values = np.atleast_1d(np.asarray(alpha, dtype=float))
    if not np.all(np.isfinite(values)) or np.any(values <= 0):
        raise ValueError(
            f"alpha must be positive, got {alpha!r}. To follow the data closely, pass a small value such as "
            f"1e-10."
        )
    if values.shape not in ((1,), (n_outputs,)):
        raise ValueError(f"alpha has {values.size} entries, but y has {n_outputs} output(s).")
    return np.broadcast_to(values, (n_outputs,)).copy()


def check_alphas(alphas: Any, name: str = "alphas") -> np.ndarray:
    """Return candidate ridge strengths, positive and in increasing order."""
    try:
        values = np.unique(np.atleast_1d(np.asarray(alphas, dtype=float)))
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.size == 0 or not np.all(np.isfinite(values)) or values[0] <= 0:
        raise ValueError(f"{name} must be positive and finite, got {alphas!r}.")
    return values


def check_count(value: Any, name: str, least: int) -> None:
    """Raise unless ``value`` is a whole number of at least ``least``."""
    if not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}.")


def is_precomputed(kernel: Any) -> bool:
    """Whether the rows of ``X`` are rows of a kernel matrix."""
    if isinstance(kernel, Kernel):
        return any(isinstance(node, Precomputed) for node in kernel._nodes())
    return isinstance(kernel, str) and kernel == "precomputed"


def _text_columns(X: Any) -> list[str]:
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


def check_offset(offset: Any, exposure: Any, n_rows: int, *, log_link: bool) -> np.ndarray:
    """Return the known part of the linear predictor: the offset plus the logarithm of the exposure."""
    known = np.zeros(n_rows)
    if offset is not None:
        values = check_array(offset, ensure_2d=False, dtype=np.float64, input_name="offset")
        if values.shape != (n_rows,):
            raise ValueError(f"offset must have one entry per row ({n_rows}), got shape {values.shape}.")
        known = known + values
    if exposure is not None:
        if not log_link:
            raise ValueError("exposure is for losses with a log link (poisson, gamma); use offset instead.")
        values = check_array(exposure, ensure_2d=False, dtype=np.float64, input_name="exposure")
        if values.shape != (n_rows,):
            raise ValueError(f"exposure must have one entry per row ({n_rows}), got shape {values.shape}.")
        if np.any(values <= 0):
            raise ValueError(
                "exposure must be positive for every row: drop the rows that were never at risk."
            )
        known = known + np.log(values)
    return known
