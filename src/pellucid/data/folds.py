"""Folds for cross-validation, over the rows that count."""

import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

_USUAL = 5  # folds

Fold = tuple[np.ndarray, np.ndarray]


def check_folds(cv: Any, y: np.ndarray, kept: np.ndarray, *, classifier: bool, instead: str) -> list[Fold]:
    """Return (training, held-out) rows of each fold, numbered among the rows that are ``kept``.

    A splitter sees only these rows, as those of weight zero count as absent. Folds that were passed in number
    all rows. A number of folds up to the usual five is lowered to what rows allow: one row to hold out in
    each, and of classes one of the largest class. ``instead`` is what can be passed where folds are not
    possible.

    Examples
    --------
    >>> folds = [([0, 1], [2, 3]), ([2, 3], [0, 1])]
    >>> kept = np.array([True, False, True, True])
    >>> check_folds(folds, np.arange(4.0), kept, classifier=False, instead="")[0]
    (array([0]), array([1, 2]))
    """
    counted = cv is None or isinstance(cv, int)
    if counted or hasattr(cv, "split"):
        if counted:
            cv = _as_rows_allow(cv, y[kept], classifier, instead)
        splitter = check_cv(cv, y[kept], classifier=classifier)
        if counted:  # rows often come sorted
            splitter.shuffle, splitter.random_state = True, 0
        try:
            with warnings.catch_warnings():
                # a class of few rows is in fewer folds, which is all that can be done
                warnings.filterwarnings("ignore", "The least populated class", UserWarning)
                return list(splitter.split(np.zeros((int(kept.sum()), 1)), y[kept]))
        except ValueError as error:
            raise ValueError(f"{error} Pass fewer folds as cv, or {instead}.") from None
    position = np.cumsum(kept) - 1
    return [
        tuple(position[rows][kept[rows]] for rows in (np.asarray(train), np.asarray(test)))
        for train, test in check_cv(cv, y, classifier=classifier).split(np.zeros((len(y), 1)), y)
    ]


def _as_rows_allow(cv: int | None, y: np.ndarray, classifier: bool, instead: str) -> int:
    """The number of folds, lowered where there are fewer rows; folds by the dozen have to be possible."""
    wanted = _USUAL if cv is None else int(cv)
    most = int(np.unique(y, return_counts=True)[1].max()) if classifier and len(y) else len(y)
    if wanted <= most or not 2 <= wanted <= _USUAL:
        return wanted
    if most < 2:
        few = "no class has two rows" if classifier else f"there are n_samples={len(y)} rows"
        raise ValueError(f"Folds need at least two rows, one to hold out, and {few}. Pass {instead}.")
    return most
