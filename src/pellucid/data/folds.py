"""Folds for cross-validation, over the rows that count."""

from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

Fold = tuple[np.ndarray, np.ndarray]


def check_folds(cv: Any, y: np.ndarray, kept: np.ndarray, *, classifier: bool, remedy: str) -> list[Fold]:
    """Return (training, held-out) rows of each fold, numbered among the rows that are ``kept``.

    A splitter sees only these rows, as those of weight zero count as absent. Folds that were passed in number
    all rows. ``remedy`` ends the message where there are too few rows for the folds.

    Examples
    --------
    >>> folds = [([0, 1], [2, 3]), ([2, 3], [0, 1])]
    >>> kept = np.array([True, False, True, True])
    >>> check_folds(folds, np.arange(4.0), kept, classifier=False, remedy="")[0]
    (array([0]), array([1, 2]))
    """
    counted = cv is None or isinstance(cv, int)
    if counted or hasattr(cv, "split"):
        splitter = check_cv(cv, y[kept], classifier=classifier)
        if counted:  # rows often come sorted
            splitter.shuffle, splitter.random_state = True, 0
        try:
            return list(splitter.split(np.zeros((int(kept.sum()), 1)), y[kept]))
        except ValueError as error:
            raise ValueError(f"{error} {remedy}") from None
    position = np.cumsum(kept) - 1
    return [
        tuple(position[rows][kept[rows]] for rows in (np.asarray(train), np.asarray(test)))
        for train, test in check_cv(cv, y, classifier=classifier).split(np.zeros((len(y), 1)), y)
    ]
