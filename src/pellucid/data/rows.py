"""Rows that a kernel compares: numbers, columns with levels, objects, or rows of a kernel matrix."""

from collections import Counter
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel as ForeignKernel
from sklearn.utils.validation import validate_data

from pellucid.data.beyond import refuse_rows_beyond_memory
from pellucid.data.cells import cells_of, is_numeric, level_name
from pellucid.data.table import feature_frame
from pellucid.data.unseen import listening
from pellucid.kernels import Constant, Kernel, Precomputed, Restricted
from pellucid.kernels.base import object_rows
from pellucid.kernels.checks import is_missing
from pellucid.kernels.convert import ALIASES, as_kernel
from pellucid.linalg import SparseRows


def check_rows(estimator: Any, X: Any, kernel: Any, *, reset: bool) -> np.ndarray:
    """Return ``X`` as rows that ``kernel`` accepts; float32 stays float32.

    Vector kernels get a numeric matrix through scikit-learn's own checks. A kernel that compares levels of
    categories may see columns of strings. Functions of two objects may see anything that has a length.
    Kernels of strings, graphs and molecules see a list of these, or a column of a table that ``on`` names;
    columns that the kernel does not read are not looked at then.

    Levels of the columns that are compared as categories are remembered in training (``reset``), so that
    others can be told of later.
    """
    rows = _rows_of(estimator, X, kernel, reset=reset)
    if reset:
        vars(estimator).pop("levels_", None)
    listener = listening()
    if isinstance(kernel, Kernel) and kernel.reads_levels and (reset or listener is not None):
        levels = _levels(estimator, rows, kernel)
        if reset:
            most = max(len(rows), 4) // 2  # a column with more only names the rows
            estimator.levels_ = {
                name: tuple(counts) for name, counts in levels.items() if len(counts) <= most
            }
        elif listener is not None:
            for name, known in getattr(estimator, "levels_", {}).items():
                seen = set(known)
                listener.add(name, {v: n for v, n in levels.get(name, {}).items() if v not in seen})
    return rows


def _levels(estimator: Any, rows: Any, kernel: Kernel) -> dict[str, dict[str, int]]:
    """Names of the levels in columns that a kernel compares as categories, with the number of their rows."""
    if not isinstance(rows, np.ndarray) or rows.ndim != 2:
        return {}
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        kernel = kernel.bind([str(name) for name in names])
    found = {}
    for column in sorted(_columns_read(kernel, rows.shape[1], levels=True)):
        values = rows[:, column].tolist()
        counts = Counter(level_name(v) for v in values if not is_missing(v))
        found[str(column if names is None else names[column])] = dict(counts)
    return found


def _rows_of(estimator: Any, X: Any, kernel: Any, *, reset: bool) -> Any:
    """The rows, by the way in which they come."""
    of_objects = isinstance(kernel, Kernel) and kernel.reads_objects
    if not (of_objects and isinstance(X, str)):  # which is one object rather than a path
        refuse_rows_beyond_memory(estimator, X)
    frame = feature_frame(estimator, X, reset=reset)
    text = []
    if frame is not None:
        X = frame.to_native()
        text = [str(column.name) for column in frame.iter_columns() if not is_numeric(column)]
    if isinstance(X, SparseRows) or hasattr(X, "toarray") or _is_sparse_frame(X):
        return _sparse_rows(estimator, X, kernel, reset=reset)
    if isinstance(kernel, Kernel) and kernel.reads_objects:
        return _structured_rows(estimator, X, kernel, frame, reset=reset)
    if isinstance(kernel, Kernel) and kernel.reads_levels and (text or _holds_text(X)):
        return _mixed_rows(estimator, X, frame, reset=reset)
    if _holds_objects(X, kernel):
        if len(X) == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        return object_rows(X)
    if text:
        raise ValueError(
            f"could not convert string to float: columns {text} are not numeric. Encode them, or say how "
            f"they are to be compared with a kernel such as RBF().on([...]) * Categorical().on({text!r})."
        )
    return validate_data(estimator, X, reset=reset, dtype=[np.float64, np.float32], ensure_min_samples=1)


def reads_sparse(kernel: Any) -> bool:
    """Whether a kernel, as users give it, compares sparse rows without filling them in."""
    if isinstance(kernel, str):
        return kernel in ALIASES and ALIASES[kernel].build(np.ones(1), np.zeros(1)).takes_sparse
    return isinstance(kernel, ForeignKernel) and as_kernel(kernel).takes_sparse


def reads_vectors(kernel: Any) -> bool:
    """Whether a kernel, as users give it, compares rows of numbers, and not objects or rows of a matrix."""
    if isinstance(kernel, Kernel):
        return kernel.vectors and not kernel.reads_objects and not is_precomputed(kernel)
    return isinstance(kernel, ForeignKernel) or (isinstance(kernel, str) and kernel in ALIASES)


def _is_sparse_frame(X: Any) -> bool:
    """Whether all columns of a pandas data frame are sparse; scikit-learn's checks read such frames."""
    kinds = list(X.dtypes) if hasattr(X, "iloc") and X.ndim == 2 else []
    return bool(kinds) and all(hasattr(kind, "fill_value") for kind in kinds)


def _sparse_rows(estimator: Any, X: Any, kernel: Any, *, reset: bool) -> Any:
    """Rows of a sparse matrix of any kind, which stay sparse."""
    if not reads_sparse(kernel):
        shown = f"of {kernel}" if is_precomputed(kernel) else f"{kernel}"
        raise TypeError(
            f"Sparse data was passed for X, but the kernel {shown} compares rows column by column and needs "
            f"them dense: pass X.toarray() if memory allows, or use a kernel of distances or products, such "
            f"as 'rbf', 'laplacian', 'linear' or 'polynomial'."
        )
    if isinstance(X, SparseRows):
        X = X.matrix
    kinds = [np.float64, np.float32]
    X = validate_data(estimator, X, reset=reset, dtype=kinds, accept_sparse="csr", ensure_min_samples=1)
    return SparseRows.of(X)


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


def _structured_rows(estimator: Any, X: Any, kernel: Kernel, frame: Any, *, reset: bool) -> np.ndarray:
    """Rows of a kernel that reads objects: one object each, or a table with columns of them."""
    if frame is None and not (isinstance(X, np.ndarray) and X.ndim == 2):
        rows = object_rows(X)
        if len(rows) == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        if reset:
            estimator.n_features_in_ = 1
            vars(estimator).pop("feature_names_in_", None)
        return kernel.read_objects(rows)
    rows = _cells(estimator, X, frame, reset=reset)
    names = [str(c) for c in range(rows.shape[1])] if frame is None else list(frame.columns)
    if frame is not None:
        kernel = kernel.bind(names)
    for column in sorted(_columns_read(kernel, rows.shape[1])):
        for i, value in enumerate(rows[:, column]):
            if is_missing(value):
                raise ValueError(
                    f"Input X contains NaN or a missing value in column {names[column]!r}, row {i}. Fill it "
                    f"or drop the row first."
                )
    return kernel.read_objects(rows)


def _columns_read(kernel: Kernel, n_columns: int, *, levels: bool = False) -> set[int]:
    """Numbers of the columns that some part of a kernel reads, or of those that it compares as categories."""
    if isinstance(kernel, Constant) or (levels and not kernel.reads_levels):
        return set()
    if isinstance(kernel, Restricted):
        return {position % n_columns for position in kernel._positions or []}
    if not kernel.children:
        return set(range(n_columns))
    return set().union(*(_columns_read(child, n_columns, levels=levels) for child in kernel.children))


def _mixed_rows(estimator: Any, X: Any, frame: Any, *, reset: bool) -> np.ndarray:
    """Rows of a kernel that compares levels: numbers and strings side by side."""
    rows = _cells(estimator, X, frame, reset=reset)
    if frame is None:
        columns = enumerate(rows.T)
        empty = [c for c, values in columns if any(is_missing(value) for value in values)]
    else:
        empty = [column.name for column in frame.iter_columns() if cells_of("", column).missing.any()]
    if empty:
        raise ValueError(
            f"Input X contains NaN or missing values in columns {empty}. Fill or drop them first."
        )
    return rows


def _cells(estimator: Any, X: Any, frame: Any, *, reset: bool) -> np.ndarray:
    """The cells of a table as objects, whatever its columns are made of."""
    if frame is None:
        rows = validate_data(
            estimator, X, reset=reset, dtype=None, ensure_all_finite=False, ensure_min_samples=1
        )
        return np.asarray(rows, dtype=object)
    validate_data(estimator, X, reset=reset, skip_check_array=True)  # names of the columns
    if len(frame) == 0:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    rows = np.empty(frame.shape, dtype=object)
    for j, column in enumerate(frame.iter_columns()):
        values = np.asarray(column.to_numpy())
        rows[:, j] = values.astype(f"{values.dtype.kind}8[us]") if values.dtype.kind in "mM" else values
    return rows


def _holds_text(X: Any) -> bool:
    """Whether an array is a table in which some cells are strings."""
    if not isinstance(X, np.ndarray) or X.ndim != 2:
        return False
    return X.dtype.kind in "US" or (X.dtype == object and any(isinstance(v, str) for v in X.ravel()))


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
