"""Classes: from targets to codes, and from scores back to classes and probabilities."""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from pellucid.data.targets import as_target, one_column


def check_labels(y: Any, rows: Any, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes of positive weight, sorted, and the number of each row's class among them.

    Rows of weight zero whose class occurs nowhere else get the number of a neighbouring class.
    """
    if y is None:
        raise ValueError("This classifier requires y to be passed, but the target y is None.")
    y = one_column(as_target(y, one=True))
    assert_all_finite(y, input_name="y")
    if y.dtype == object and any(label is None for label in y):
        row = next(i for i, label in enumerate(y) if label is None)
        raise ValueError(f"Input y contains no class in row {row}: drop rows without a class first.")
    check_classification_targets(y)
    check_consistent_length(rows, y)
    classes = np.unique(y[weight > 0])
    if len(classes) < 2:
        only = classes[0].item() if isinstance(classes[0], np.generic) else classes[0]
        raise ValueError(
            f"Found only one class ({only!r}) with positive weight; a classifier needs at least 2 classes."
        )
    return classes, np.minimum(np.searchsorted(classes, y), len(classes) - 1)


def check_ordered_labels(y: Any, rows: Any, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As :func:`check_labels`, in the order of numbers, or of the categories of an ordered categorical."""
    labels = as_target(y, one=True)
    kind: Any = getattr(labels, "dtype", None)
    if getattr(kind, "ordered", False):
        categories = np.asarray(kind.categories)
        codes = np.asarray(getattr(labels, "cat", labels).codes)
        if np.any(codes < 0):
            raise ValueError("Input y contains rows without a class: drop them first.")
        found, numbers = check_labels(codes, rows, weight)
        return categories[found], numbers
    found, numbers = check_labels(labels, rows, weight)
    if found.dtype.kind not in "biuf" and len(found) > 2:
        raise ValueError(
            f"The ordinal loss needs to know the order of the classes {', '.join(map(str, found[:5]))}: pass "
            f"numbers, or an ordered categorical, as pd.Categorical(y, categories=[...], ordered=True)."
        )
    return found, numbers


def class_factors(
    class_weight: Any, classes: np.ndarray, number: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """What each row counts for by its class, from a dict from classes to factors or the word "balanced".

    Balanced factors give all classes the same weight, and leave the sum of all weights as it is.

    Examples
    --------
    >>> class_factors("balanced", np.array(["a", "b"]), np.array([0, 0, 0, 1]), np.ones(4))
    array([0.66666667, 0.66666667, 0.66666667, 2.        ])
    """
    if class_weight is None:
        return np.ones(len(number))
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(f"class_weight must be 'balanced' or a dict, got {class_weight!r}.")
        total = np.bincount(number, weight, len(classes))
        return (weight.sum() / (len(classes) * total))[number]
    if not isinstance(class_weight, Mapping):
        raise ValueError(f"class_weight must be 'balanced' or a dict from classes, got {class_weight!r}.")
    known = {label: k for k, label in enumerate(classes.tolist())}
    factor = np.ones(len(classes))
    for label, value in class_weight.items():
        label = label.item() if isinstance(label, np.generic) else label
        if label not in known:
            raise ValueError(f"class_weight names the class {label!r}; the classes are {classes.tolist()}.")
        if not isinstance(value, Real) or not 0 < float(value) < np.inf:
            raise ValueError(f"class_weight of {label!r} must be a positive number, got {value!r}.")
        factor[known[label]] = float(value)
    return factor[number]


def winner(scores: np.ndarray) -> np.ndarray:
    """Number of the class that scores say: one column, positive for the second of two, or one per class.

    Examples
    --------
    >>> winner(np.array([-1.0, 2.0])), winner(np.array([[1.0, 3.0, 2.0]]))
    (array([0, 1]), array([1]))
    """
    scores = scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 1 else scores
    return (scores > 0).astype(np.intp) if scores.ndim == 1 else np.argmax(scores, axis=1)


def class_probabilities(mean: np.ndarray) -> np.ndarray:
    """Probabilities of shape (n, classes) from means of the second class, or of each class against the rest.

    Examples
    --------
    >>> class_probabilities(np.array([0.25])), class_probabilities(np.array([[0.2, 0.2, 0.4]]))
    (array([[0.75, 0.25]]), array([[0.25, 0.25, 0.5 ]]))
    """
    mean = mean[:, 0] if mean.ndim == 2 and mean.shape[1] == 1 else mean
    return np.column_stack([1.0 - mean, mean]) if mean.ndim == 1 else mean / mean.sum(axis=1, keepdims=True)
